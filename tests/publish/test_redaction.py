"""Private entries go to their author, all of them and to nobody else, and the rest verifies."""

import json
from pathlib import Path

import pytest

from judge.base.errors import InputError
from judge.publish.export.export import publish
from judge.publish.redaction import private_part
from judge.record.spec import RecordFile, public_part
from judge.record.transcript import EntryKind
from judge.referee.verify import verify
from judge.testing import Do, Say
from judge.transparency.keys import make_key
from tests.publish.cups import FORMS, SECRET, Cup, player, referee
from tests.publish.public import Public
from tests.referee.games import brain, spec


@pytest.fixture(scope="module")
def file() -> RecordFile:
    return referee(spec(), [player("one", 0)(1), player("two", 0)(2)])


def test_author_gets_only_the_output_of_their_own_agent_and_the_public_none(file: RecordFile) -> None:
    assert SECRET in file.model_dump_json()
    assert SECRET not in public_part(file).model_dump_json()
    assert len(FORMS) <= sum(ply.seat == 0 for ply in file.record.plies)
    for part in (file.record.model_dump_json(), *(note for s in file.record.seats for note in s.notes)):
        assert SECRET not in part

    first, second = private_part(file, 0), private_part(file, 1)
    assert first.bytes_of(EntryKind.READ).startswith(f"DEBUG {SECRET} one\r\n".encode())
    for private, name, other_name in ((first, b" one ", b" two "), (second, b" two ", b" one ")):
        assert name in private.bytes_of(EntryKind.READ)
        assert other_name not in private.bytes_of(EntryKind.READ)
        assert SECRET.encode() in private.bytes_of(EntryKind.STDERR)


def test_both_parts_and_the_public_one_are_the_whole_record(file: RecordFile) -> None:
    texts = {entry.at: entry.text for seat in (0, 1) for entry in private_part(file, seat).entries}
    public = public_part(file)
    blocks = [
        block.model_copy(update={"private": [texts[at] for at in sorted(texts) if at[0] == number]})
        for number, block in enumerate(public.transcript.blocks)
    ]
    transcript = public.transcript.model_copy(update={"blocks": blocks})

    assert file == RecordFile(record=public.record, transcript=transcript)


@pytest.mark.parametrize(
    "answer",
    [
        b"DEBUG x\r\n7,7\r\n",
        b"DEBUG x\n7,7\n",
        b"DEBUG x\r7,7\r\n8,8\r\n",
        b"DEBUG x\r\r\n7,7\n",
        b"7,7\r\nDEBUG late\r\n",
        b"debug \r\n7,7\r\n",
        b"DEBUG no end of line",
        b"DEBUG " + b"x" * 70_000 + b"\r\n7,7\r\n",
        b"DEBUG \x00\xff\x0b7,7\r\n7,7\r\n",
        b"7,7\nDEBUG ",
        b"7,7\nDEB",
        b"7,7\n \t",
        b"DEBUG one\nDEBUG two\n",
        b"DEBUG one\r\nDEBUG two\r\nDEB",
        b"DEBUG one\rDEBUG two\n",
        b"DEBUG x\n" * 20_000,
    ],
)
def test_withheld_private_data_never_prevents_verification(answer: bytes) -> None:
    """An agent must not be able to spoil the export of a whole contest, also where its line ends in its next turn."""
    for second in (b"8,8\n", b"UG 8,8\n9,9\n", b"x\n8,8\n"):
        first = brain(
            START=[Say(b"DEBUG at first\r\nOK\r\n")],
            ABOUT=[Say(b'DEBUG x\r\nname="x"\r\n')],
            BEGIN=[Do(EntryKind.STDERR, b"on stderr"), Say(answer)],
            TURN=[Say(second)],
        )
        file = referee(spec(), [first, brain("9,9")])

        assert () == tuple(verify(file).problems)
        assert () == tuple(verify(public_part(file)).problems)


def test_no_file_of_the_export_has_a_word_of_it(exported: Public) -> None:
    found = [
        path.name
        for path in exported.directory.rglob("*")
        if path.is_file() and any(part.encode() in path.read_bytes() for part in (SECRET[:13], SECRET[-13:]))
    ]
    assert [] == found


def test_each_author_has_a_directory_of_his_own(exported: Public) -> None:
    """It has every game of his agent, also the void attempt; only the organiser may read all directories."""
    assert 0o700 == exported.private.stat().st_mode & 0o777
    assert {"anna", "bert", "-carl", "dora", "crash.test"} == {path.name for path in exported.private.iterdir()}
    carl = exported.private / "-carl"
    assert {"00003.json", "00003.stderr", "00003.attempt-1.json"} <= {path.name for path in carl.iterdir()}
    for folder in exported.private.iterdir():
        stderr = b"".join(path.read_bytes() for path in folder.glob("*.stderr"))
        assert f"{SECRET} of {folder.name}".encode() in stderr
        assert stderr.count(SECRET.encode()) == stderr.count(f"{SECRET} of {folder.name}:".encode())
        for path in folder.glob("*.json"):
            assert folder.name == json.loads(path.read_bytes())["agent"]


@pytest.mark.parametrize("private", ["public", "public/authors", "."])
def test_private_data_is_never_in_public_files(cup: Cup, tmp_path: Path, private: str) -> None:
    key = make_key(tmp_path / "organiser.key")

    with pytest.raises(InputError, match="the private directory must be outside the public one"):
        publish(cup.contest, tmp_path / "public", tmp_path / private, key)
    assert not (tmp_path / "public").exists()
