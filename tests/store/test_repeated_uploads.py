"""The same bytes of an author are one submission while it waits or takes part."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from judge.base.errors import HostError
from judge.record.policy import load_policy
from judge.store.files import Incoming
from judge.store.submissions import Register
from judge.store.types import ProcessingResult, Submission, TooMuchError, Upload, UploadLimits
from judge.submissions.service import IntakeDirectory, ReceivedUpload, receive_upload

FIRST = Upload("ada", "", "mine.zip", "a" * 64, 10)
OTHER = replace(FIRST, upload="b" * 64)


@pytest.fixture
def directory(url: str, tmp_path: Path) -> IntakeDirectory:
    return IntakeDirectory("cup", load_policy("gomocup-freestyle"), tmp_path, url)


@pytest.fixture
def register(directory: IntakeDirectory) -> Iterator[Register]:
    opened = directory.register()
    yield opened
    opened.close()


def sent(
    directory: IntakeDirectory, register: Register, upload: Upload = FIRST, limits: UploadLimits | None = None
) -> ReceivedUpload:
    with Incoming(directory.uploads) as incoming:
        return receive_upload(directory, register, upload, incoming, limits)


def passed(register: Register, number: int, name: str, digest: str = "d") -> Submission:
    taken = register.take("w", number)
    assert taken
    return register.finish(number, taken.attempt, ProcessingResult("", name, digest * 64, "{}", None, None))


@pytest.mark.parametrize(
    ("other", "is_repeated"),
    [
        (FIRST, True),
        (replace(FIRST, filename="mine2.zip"), True),
        (replace(FIRST, name="MINE"), True),
        (OTHER, False),
        (replace(FIRST, author="eve", filename="hers.zip"), False),
        (replace(FIRST, name="second"), False),
        (replace(FIRST, title="Mine"), False),
    ],
)
def test_upload_of_the_same_bytes_author_name_and_title_is_the_one_that_takes_part(
    other: Upload, is_repeated: bool, directory: IntakeDirectory, register: Register
) -> None:
    number = passed(register, sent(directory, register).submission.id, "mine").id

    found = sent(directory, register, other)

    assert is_repeated == found.is_repeated == (number == found.submission.id)
    assert (1 if is_repeated else 2) == len(register.submissions())


def test_upload_that_waits_is_returned_and_its_file_is_not_kept(directory: IntakeDirectory, register: Register) -> None:
    first = sent(directory, register, FIRST, UploadLimits(waiting_per_author=1))
    (kept,) = directory.files.digests()
    directory.files.remove(kept)
    again = sent(directory, register, FIRST, UploadLimits(waiting_per_author=1))

    assert (first.submission.id, True) == (again.submission.id, again.is_repeated)
    assert not [*directory.files.digests()]


def test_file_and_submission_are_stored_together(
    directory: IntakeDirectory, register: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent(directory, register, FIRST, UploadLimits(waiting_per_author=1))
    (kept,) = directory.files.digests()
    directory.files.remove(kept)
    with pytest.raises(TooMuchError):
        sent(directory, register, OTHER, UploadLimits(waiting_per_author=1))
    assert not [*directory.files.digests()]

    def full(_: Incoming) -> None:
        raise HostError("the disk is full")

    monkeypatch.setattr(Incoming, "keep", full)
    with pytest.raises(HostError, match="the disk is full"):
        sent(directory, register, replace(FIRST, author="bob"))
    assert 1 == len(register.submissions())


def test_simultaneous_uploads_of_the_same_bytes_are_one(directory: IntakeDirectory, register: Register) -> None:
    with ThreadPoolExecutor(8) as threads:
        found = [each.result() for each in [threads.submit(sent, directory, register) for _ in range(16)]]

    assert 1 == len({each.submission.id for each in found}) == len(register.submissions())
    assert 15 == sum(each.is_repeated for each in found)


@pytest.mark.parametrize("end", ["refused", "withdrawn", "replaced", "perhaps replaced"])
def test_upload_that_takes_no_part_is_processed_again(end: str, directory: IntakeDirectory, register: Register) -> None:
    number = passed(register, sent(directory, register).submission.id, "mine").id
    if end == "refused":
        register.refuse(number, "Olga", "it loses")
    elif end == "withdrawn":
        register.withdraw(number, "ada", "it loses")
    else:
        other = sent(directory, register, OTHER).submission.id
        if end == "replaced":
            passed(register, other, "mine", "e")

    assert not sent(directory, register).is_repeated


def test_agent_with_the_files_of_another_is_named_to_its_author(directory: IntakeDirectory, register: Register) -> None:
    passed(register, sent(directory, register).submission.id, "mine")
    second = passed(register, sent(directory, register, replace(FIRST, name="second")).submission.id, "second")

    assert second.why.startswith("you have another agent with the same files: mine;")
    assert "--name mine" in second.why
