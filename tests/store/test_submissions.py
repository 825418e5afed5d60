"""Receive, process, decide: every upload is kept, every change says who and why, no late worker changes anything."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judge.base.errors import InputError
from judge.journal.events import Announced, SubmissionState
from judge.store.contests import Store
from judge.store.files import Files
from judge.store.submissions import Register
from judge.store.types import (
    ENTERS,
    NameTakenError,
    NotFoundError,
    NotNowError,
    ProcessingResult,
    Submission,
    TooMuchError,
    Upload,
    UploadLimits,
    UploadStep,
)
from tests.examples import examples
from tests.store.conftest import Clock


def upload(author: str = "ada", name: str = "five", size: int = 100, title: str = "") -> Upload:
    return Upload(author, name, "five.zip", "a" * 64, size, title)


def good(name: str = "five") -> ProcessingResult:
    return ProcessingResult("", name, "d" * 64, '{"an": "agent"}', "b" * 64, "c" * 64)


def bad(name: str = "five", why: str = "it loses on time") -> ProcessingResult:
    return ProcessingResult(why, name, "d" * 64, '{"an": "agent"}', "b" * 64, "c" * 64)


def taken(register: Register, worker: str = "w") -> Submission:
    found = register.take(worker)
    assert found is not None
    return found


def through(
    register: Register,
    result: ProcessingResult,
    author: str = "ada",
    name: str = "five",
    title: str = "",
    **options: int,
) -> Submission:
    return ended(register, register.receive(upload(author, name, title=title)), result, **options)


def ended(register: Register, received: Submission, result: ProcessingResult, **options: int) -> Submission:
    found = register.take("w", received.id)
    assert found is not None
    return register.finish(received.id, found.attempt, result, **options)


def changes_of(register: Register, number: int) -> list[tuple[str, str, str]]:
    return [(change.who, change.state, change.why) for change in register.journal(number)]


def test_an_upload_passes_and_becomes_an_entry(register: Register) -> None:
    received = register.receive(upload())
    assert (SubmissionState.RECEIVED, None, 0) == (received.state, received.version, received.attempt)
    assert [] == register.entries()
    work = taken(register)
    assert (received.id, SubmissionState.PROCESSING, 1) == (work.id, work.state, work.attempt)
    passed = register.finish(work.id, 1, good())
    assert (SubmissionState.PASSED, 1, "d" * 64) == (passed.state, passed.version, passed.digest)
    assert [passed] == register.entries() == register.submissions()
    expected = [("ada", "received", ""), ("judge", "processing", ""), ("judge", "passed", "")]
    assert expected == changes_of(register, passed.id)


def test_author_with_too_many_agents_is_refused(register: Register) -> None:
    def sent(name: str, author: str = "ada") -> Submission:
        return through(register, good(name), author, name, agents_per_author=1)

    first = sent("five")
    assert SubmissionState.PASSED == sent("FIVE").state
    refused = sent("six")
    assert SubmissionState.REFUSED == refused.state
    assert refused.why.startswith("an author may enter 1 agent, and yours are FIVE: withdraw one")
    assert SubmissionState.PASSED == sent("six", "bob").state
    for each in (first.id, first.id + 1):
        register.withdraw(each, "ada", "a new program")
    assert SubmissionState.PASSED == sent("seven").state


def test_contest_log_has_submissions_and_their_results(register: Register, store: Store) -> None:
    """With digests, so a receipt can be given for it; who sent it and why it was refused is nobody's business."""
    through(register, good())
    store.announce("cup", None, None, Announced())
    through(register, good())
    through(register, bad(why="it prints my-secret"))
    register.withdraw(2, "ada", "my-secret")

    lines = store.journal("cup")
    assert [
        ("announced", "", None),
        ("received", "submission 2", "a" * 64),
        ("passed", "submission 2: five", "d" * 64),
        ("received", "submission 3", "a" * 64),
        ("refused", "submission 3: five", "d" * 64),
        ("withdrawn", "submission 2: five", "d" * 64),
    ] == [(line.event, line.text, line.digest) for line in lines]
    assert not [line for line in lines if "ada" in str(line) or "my-secret" in str(line)]
    assert [*range(6)] == [line.number for line in lines]
    assert not register.has_begun()
    store.create("cup", "{}", [])
    assert register.has_begun()


def test_refused_agent_stays_in_quarantine_until_the_organiser_gives_a_reason(register: Register) -> None:
    refused = through(register, bad())
    assert (SubmissionState.REFUSED, "it loses on time") == (refused.state, refused.why)
    assert [] == register.entries()
    approved = register.approve(refused.id, "organiser", "the host was busy")
    assert SubmissionState.APPROVED is approved.state
    assert [approved] == register.entries()
    assert ("organiser", "approved", "the host was busy") == changes_of(register, refused.id)[-1]
    assert ("judge", "refused", "it loses on time") == changes_of(register, refused.id)[-2]
    without_an_agent = through(register, ProcessingResult("it does not compile", "", None, None, "b" * 64, None))
    with pytest.raises(NotNowError, match="did not produce a playable agent: it does not compile"):
        register.approve(without_an_agent.id, "organiser", "please")
    passed = through(register, good())
    with pytest.raises(NotNowError, match="is passed: only a refused one"):
        register.approve(passed.id, "organiser", "please")


def test_versions_are_numbered_and_the_latest_that_passed_is_the_entry(register: Register) -> None:
    first = through(register, good())
    refused = through(register, bad())
    third = through(register, good("FIVE"))
    other = through(register, good("six"), name="six")
    assert [1, 2, 3, 1] == [one.version for one in (first, refused, third, other)]
    assert [third.id, other.id] == [entry.id for entry in register.entries()]
    register.withdraw(third.id, "ada", "it is slower")
    assert [first.id, other.id] == [entry.id for entry in register.entries()]
    assert first == register.get(first.id)
    # A name of the manifest is known after reading.
    assert "" == register.receive(upload(name="")).name
    passed = register.finish(taken(register).id, 1, good("deep"))
    assert ("deep", 1) == (passed.name, passed.version)


def test_name_belongs_to_the_first_author_who_passed_with_it(register: Register) -> None:
    both = [register.receive(upload(author, "")) for author in ("ada", "eve")]
    states = [ended(register, received, good("Deep")) for received in both]
    assert [SubmissionState.PASSED, SubmissionState.REFUSED] == [one.state for one in states]
    assert "another author is called 'Deep'" in states[1].why
    with pytest.raises(NameTakenError):
        register.receive(upload("eve", "dEEP"))
    with pytest.raises(NameTakenError):
        register.approve(states[1].id, "organiser", "why not")
    assert SubmissionState.RECEIVED is register.receive(upload("ada", "deep")).state


def test_an_authors_are_processed_in_their_order_and_one_at_a_time(register: Register) -> None:
    first, second = register.receive(upload()), register.receive(upload())
    others = register.receive(upload("bob", "bobs"))
    assert [first.id, others.id] == [taken(register).id, taken(register).id]
    assert register.take("w") is None
    register.finish(first.id, 1, good())
    assert second.id == taken(register).id


def test_authors_are_processed_in_turn(register: Register) -> None:
    pile = [register.receive(upload("eve", "")).id for _ in range(4)]
    ada, bob = register.receive(upload("ada", "")).id, register.receive(upload("bob", "")).id
    order = []
    while (work := register.take("w")) is not None:
        order.append(work.id)
        register.finish(work.id, work.attempt, bad(""))
        if len(order) == 2:
            ada_again = register.receive(upload("ada", "")).id
    assert [pile[0], ada, bob, pile[1], ada_again, pile[2], pile[3]] == order


def test_author_whose_submission_makes_the_host_fail_waits_again(register: Register) -> None:
    heavy, light = register.receive(upload("eve", "")).id, register.receive(upload("ada", "")).id
    assert heavy == taken(register).id
    register.fail(heavy, 1, "it took more than 3600 s", allowed=3, again_s=0)
    assert light == taken(register).id


def test_retry_counts_as_waiting(register: Register) -> None:
    number = register.receive(upload(), UploadLimits(waiting_per_author=1)).id
    register.fail(number, taken(register).attempt, "no Engine", allowed=2, again_s=60)
    with pytest.raises(TooMuchError, match="1 of your submissions are waiting"):
        register.receive(upload(), UploadLimits(waiting_per_author=1))
    with pytest.raises(TooMuchError, match="too many submissions are waiting"):
        register.receive(upload("bob"), UploadLimits(waiting=1))
    assert register.take("w", number) is None  # not due yet
    register.withdraw(number, "ada", "")
    register.receive(upload(), UploadLimits(waiting_per_author=1))


def test_old_files_that_no_submission_names_are_removed(register: Register, clock: Clock, tmp_path: Path) -> None:
    files = Files(tmp_path / "submissions")
    named, log, report, orphan = (files.put(word.encode()) for word in ("upload", "log", "report", "orphan"))
    work = register.receive(Upload("ada", "five", "five.zip", named, 6), worker="w")
    register.finish(work.id, work.attempt, ProcessingResult("", "five", "d" * 64, "{}", log, report))
    past = clock() - timedelta(days=2)
    for digest in (named, log, report):
        os.utime(files.path(digest), (past.timestamp(), past.timestamp()))

    assert 0 == register.remove_unregistered(files, clock.now.replace(year=2000))
    assert 1 == register.remove_unregistered(files, clock.now)
    assert {named, log, report} == set(files.digests())
    assert orphan not in set(files.digests())


def test_a_failure_of_the_host_is_tried_again_later_and_later(register: Register, clock: Clock) -> None:
    """tests/store/test_queue.py has the rules of all queues."""
    number = register.receive(upload()).id
    for wait_s in (60, 120):
        work = taken(register)
        assert SubmissionState.FAILED is register.fail(number, work.attempt, "no Engine", allowed=3, again_s=60).state
        clock.passes(wait_s - 1)
        assert register.take("w") is None
        clock.passes(1)
    failed = register.fail(number, taken(register).attempt, "no Engine", allowed=3, again_s=60)
    assert failed.due_at is None
    register.retry(number, "organiser", "the Engine is back")
    work = taken(register)
    assert (number, 4) == (work.id, work.attempt)
    register.step(number, UploadStep("received", True, "1 MiB", 0.1, attempt=3))
    register.step(number, UploadStep("built", True, "", 1.0, attempt=4))
    assert SubmissionState.PROCESSING is register.finish(number, 3, bad()).state
    assert SubmissionState.PASSED is register.finish(number, 4, good()).state
    assert [(4, "built")] == [(step.attempt, step.stage) for step in register.steps(work)]


def test_submission_withdrawn_during_processing_has_no_effect(register: Register) -> None:
    number = register.receive(upload()).id
    taken(register)
    register.withdraw(number, "ada", "the wrong file")
    register.withdraw(number, "ada", "again")
    assert SubmissionState.WITHDRAWN is register.finish(number, 1, good()).state
    assert [] == register.entries()
    assert ("ada", "withdrawn", "the wrong file") == changes_of(register, number)[-1]
    with pytest.raises(NotNowError):
        register.retry(number, "organiser", "")


def test_an_author_sees_and_ends_only_its_own(register: Register) -> None:
    number = through(register, good()).id
    through(register, good("eves"), "eve", "eves")
    assert [number] == [one.id for one in register.submissions("ada")]
    for asked in (number, 10**30, -1):
        with pytest.raises(NotFoundError):
            register.get(asked, "eve")
    with pytest.raises(NotFoundError):
        register.withdraw(number, "eve", "", "eve")
    assert SubmissionState.PASSED is register.get(number, "ada").state


def test_a_long_list_is_asked_for_by_pages(register: Register) -> None:
    numbers = [register.receive(upload()).id for _ in range(5)]
    page = [one.id for one in register.submissions(limit=2)]
    assert numbers[:2:-1] == page
    assert numbers[2:0:-1] == [one.id for one in register.submissions(before=page[-1], limit=2)]


def test_contests_in_one_database_know_nothing_of_each_other(register: Register, url: str, clock: Clock) -> None:
    number = through(register, good()).id
    other = Register(url, "other cup")
    other._now = clock
    assert [] == other.submissions()
    with pytest.raises(NotFoundError):
        other.get(number)
    assert SubmissionState.PASSED is through(other, good(), "eve").state
    other.close()


def test_an_author_has_limits(register: Register, clock: Clock) -> None:
    hourly = UploadLimits(uploads_per_hour=2, waiting_per_author=0)
    for _ in range(2):
        register.receive(upload(), hourly)
    with pytest.raises(TooMuchError, match="2 uploads in the last hour") as refused:
        register.may_receive("ada", "", 1, hourly)
    assert 1800 == refused.value.retry_s
    register.receive(upload("bob"), hourly)
    clock.passes(3601)
    register.receive(upload(), hourly)
    for limits, why in (
        (UploadLimits(waiting_per_author=3), "3 of your submissions are waiting"),
        (UploadLimits(waiting_per_author=0, waiting=4), "too many submissions are waiting"),
        (UploadLimits(waiting_per_author=0, author_bytes=399), "more than 399 bytes"),
    ):
        with pytest.raises(TooMuchError, match=why):
            register.receive(upload(), limits)
    register.receive(upload(), UploadLimits(waiting_per_author=4, waiting=5, author_bytes=400))


def test_no_two_workers_get_the_same_and_no_two_uploads_the_same_version(register: Register, url: str) -> None:
    got: list[Submission] = []

    def receive_and_drain(number: int) -> None:
        with closing(Register(url, "cup")) as thread_register:
            for _ in range(3):
                thread_register.receive(upload(f"author {number}", f"agent{number}"))
            while (found := thread_register.take(f"worker {number}")) is not None:
                got.append(thread_register.finish(found.id, found.attempt, good(found.name)))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(receive_and_drain, range(8)))
    while (left := register.take("w")) is not None:
        got.append(register.finish(left.id, left.attempt, good(left.name)))
    assert 24 == len({one.id for one in got}) == len(got)
    assert {1} == {one.attempt for one in got}
    assert {(f"agent{n}", v) for n in range(8) for v in (1, 2, 3)} == {(one.name, one.version) for one in got}


@settings(deadline=None, max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves=st.lists(st.tuples(st.sampled_from("urtfpbwagl"), st.integers(1, 4), st.integers(1, 3)), max_size=25))
def test_only_passed_or_approved_submissions_enter_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, moves: list[tuple[str, int, int]]
) -> None:
    """Uploads, takes, ends, failures, crashes and decisions, for attempts that are current, past or never were."""
    folder: Path = tmp_path_factory.mktemp("s")
    register = Register(f"sqlite:///{folder / 'cup.db'}", "cup")
    do: dict[str, Callable[[int, int], object]] = {
        "u": lambda _, __: register.receive(upload()),
        "t": lambda _, __: register.take("w"),
        "r": lambda number, _: register.retry(number, "organiser", ""),
        "f": lambda number, attempt: register.fail(number, attempt, "", 3, 0),
        "p": lambda number, attempt: register.finish(number, attempt, good()),
        "b": lambda number, attempt: register.finish(number, attempt, bad()),
        "w": lambda number, _: register.withdraw(number, "ada", ""),
        "a": lambda number, _: register.approve(number, "organiser", "so"),
        "l": lambda number, attempt: register.release(number, attempt, ""),
        "g": lambda number, attempt: register.give_back(number, attempt, 0),
    }
    for move, number, attempt in moves:
        try:
            do[move](number, attempt)
        except InputError:
            # No such submission, or not now.
            continue
    every = register.submissions()
    for one in every:
        assert register.journal(one.id)[-1].state is one.state
        assert (one.state in ENTERS) <= (one.agent is not None and one.version is not None)
    versions = [one.version for one in every if one.version is not None]
    assert len(versions) == len(set(versions))
    assert [one.id for one in every if one.state in ENTERS][:1] == [entry.id for entry in register.entries()]
    register.close()


def test_first_version_has_the_display_name_of_its_upload_and_later_ones_keep_it(register: Register) -> None:
    for title, shown in (("Žofinka 五", "Žofinka 五"), ("", "Žofinka 五"), ("New", "New")):
        assert shown == through(register, good(), title=title).title
    assert SubmissionState.PASSED is through(register, good("FIVE"), name="", title="New").state
    register.rename("five", "ada", "")
    through(register, good())
    assert {""} == {each.title for each in register.submissions()}


def test_display_name_that_is_set_during_the_check_is_kept(register: Register) -> None:
    through(register, good(), title="Old")
    waiting = register.receive(upload(title="Uploaded"))
    work = taken(register)
    register.rename("five", "ada", "Renamed")
    assert "Renamed" == register.finish(waiting.id, work.attempt, good()).title


@pytest.mark.parametrize("shown", ["FIVE", "Zofinka", "zofinka", "Ｚofinka", "Zоfinka", "Zofin\ufe0fka"])  # noqa: RUF001
def test_names_that_look_like_those_of_another_agent_are_refused(register: Register, shown: str) -> None:
    through(register, good(), title="Zofinka")
    for author in ("ada", "eve"):
        with pytest.raises(NameTakenError, match=f"another agent is called '{shown}': choose another name"):
            register.receive(upload(author, "six", title=shown))
        with pytest.raises(NameTakenError):
            register.may_receive(author, "six", 1, None, shown)
    refused = through(register, good("Zofinka"), "eve", "")
    assert ("refused", "another agent is called 'Zofinka': choose another name") == (refused.state, refused.why)
    with pytest.raises(NameTakenError, match="another agent is called 'Zofinka'"):
        register.approve(refused.id, "Olga", "they are one author")
    through(register, good("six"), "eve", "six", "6")
    with pytest.raises(NameTakenError):
        register.rename("six", "eve", shown)


def test_display_name_that_another_agent_took_in_the_meantime_is_dropped(register: Register) -> None:
    first = through(register, good(), title="Zofinka")
    register.withdraw(first.id, "ada", "it is ill", "ada")
    assert "Zofinka" == through(register, good("six"), "eve", "six", "Zofinka").title
    again = through(register, good())
    assert (SubmissionState.PASSED, "") == (again.state, again.title)


def test_display_name_of_a_refused_version_does_not_refuse_the_next_one(register: Register) -> None:
    through(register, good(), title="Zofinka")
    waiting = register.receive(upload(title="Six"))
    through(register, good("six"), "eve", "six")
    refused = ended(register, waiting, good())
    assert ("refused", "another agent is called 'Six': choose another name") == (refused.state, refused.why)
    assert "Zofinka" == through(register, good()).title


def test_names_of_listed_agents_are_taken_as_display_names_before_the_start(url: str) -> None:
    with closing(Register(url, "cup", listed_names=lambda: ["Anna"])) as register:
        through(register, good())
        with pytest.raises(NameTakenError, match="another agent is called 'ANNA'"):
            register.rename("five", "ada", "ANNA")
        with pytest.raises(NameTakenError, match="another agent is called 'аnna'"):  # noqa: RUF001
            register.receive(upload(title="аnna"))  # noqa: RUF001


def test_names_that_look_like_versions_are_refused_in_a_ladder(url: str) -> None:
    def passes(register: Register, name: str, author: str = "ada") -> bool:
        return SubmissionState.PASSED is through(register, good(name), author, name).state

    with closing(Register(url, "cup", listed_names=lambda: ["Anna"], joins_later=True)) as register:
        assert all(passes(register, name) for name in ("rapfi.2021", "rapfi", "rapfi.2021"))
        for name, agent, author in (
            ("RAPFI.2", "rapfi", "ada"),
            ("rapfi.3-17", "rapfi", "eve"),
            ("anna.2", "Anna", "eve"),
        ):
            with pytest.raises(NameTakenError, match=f"'{name}' looks like a version of the agent '{agent}': choose"):
                register.receive(upload(author, name))
        assert passes(register, "rapfi.x", "eve")
    with closing(Register(url, "another cup")) as register:
        assert passes(register, "rapfi")
        assert passes(register, "rapfi.2")
