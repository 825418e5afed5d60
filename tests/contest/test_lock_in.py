"""Submissions that change while a contest locks in its entries, by other connections."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from sqlalchemy import text

from judge.agents.agents import stage_agent
from judge.agents.store import AgentStore
from judge.base.errors import InputError
from judge.contest.admissions import withdraw_agent, withdraw_submission
from judge.contest.begin import announce
from judge.contest.contest import Contest, open_store
from judge.contest.entries import intake_directory
from judge.contest.orders.submission_orders import Approve, Refuse, WithdrawSubmission
from judge.contest.plan import Planned, load_plan
from judge.journal.events import SubmissionState
from judge.publish.export.export import PageOptions, publish
from judge.publish.verify.export import verify_export
from judge.store.contests import Store
from judge.store.orders import OrganiserOrder
from judge.store.submissions import Register
from judge.store.types import ProcessingResult, SubmissionsChangedError, Upload
from judge.transparency.keys import KEY_FILE, make_key
from tests.contest.racers import AT_ONCE, begin_in_processes, write_contest
from tests.patience import PATIENCE_S, until
from tests.publish.public import Public

PLAN = 'name = "cup"\npolicy = "gomocup-fastgame"\nchange = [{changes}]\nstore = "{store}"\n[format]\nname = "{form}"\n'


@dataclass
class Intake:
    """A contest that is announced, with the agents ada and bob, which passed, and cyd, which was refused."""

    planned: Planned
    store: Store
    register: Register
    other: Register
    """Another connection."""

    def submit(self, name: str, refusal: str = "") -> int:
        with TemporaryDirectory() as staging:
            agent = stage_agent(str(self.planned.folder / "racer-0"), Path(staging))
            AgentStore(self.planned.agents).put(agent.program)
        described = json.dumps(
            {"manifest": agent.manifest.model_dump(mode="json"), "program": agent.digest, "executables": []}
        )
        taken = self.register.receive(Upload(name, name, f"{name}.zip", agent.digest, 1), worker="w")
        self.register.finish(
            taken.id, taken.attempt, ProcessingResult(refusal, name, agent.digest, described, None, None)
        )
        return taken.id

    def begin(self) -> Contest:
        return begin_in_processes(self.store, self.planned)


@pytest.fixture(params=["round-robin"])
def intake(request: pytest.FixtureRequest, url: str, tmp_path: Path) -> Iterator[Intake]:
    plan = PLAN.format(changes=AT_ONCE, store=url, form=request.param)
    planned = load_plan(write_contest(tmp_path / "cup", plan, [0, 4]))
    directory = intake_directory(planned)
    with (
        closing(open_store(planned)) as store,
        closing(directory.register()) as register,
        closing(directory.register()) as other,
    ):
        found = Intake(planned, store, register, other)
        announce(store, planned)
        for name in ("ada", "bob"):
            found.submit(name)
        found.submit("cyd", "it does not move")
        yield found


def order(action: str, number: int) -> OrganiserOrder:
    return OrganiserOrder("Olga", action, str(number), "why")


Change = Callable[[Intake], object]

CHANGES: dict[str, tuple[Change, set[str]]] = {
    "another passes": (lambda intake: intake.submit("dan"), {"ada", "bob", "dan"}),
    "a new version passes": (lambda intake: intake.submit("ada"), {"ada", "bob"}),
    "an author withdraws an agent": (lambda intake: withdraw_agent(intake.other, "ada", "ada"), {"bob"}),
    "an author withdraws a version": (lambda intake: withdraw_submission(intake.other, 1, "ada"), {"bob"}),
    "an author renames": (lambda intake: intake.other.rename("ada", "ada", "Ada's"), {"ada", "bob"}),
    "the organiser refuses": (lambda intake: Refuse(intake.other, order("refuse", 1)).carry_out(), {"bob"}),
    "the organiser withdraws": (
        lambda intake: WithdrawSubmission(intake.other, order("withdraw", 1)).carry_out(),
        {"bob"},
    ),
    "the organiser approves": (
        lambda intake: Approve(intake.other, order("approve", 3)).carry_out(),
        {"ada", "bob", "cyd"},
    ),
}

DECISIONS = [name for name in CHANGES if not name.endswith("passes")]


def before_the_lock_in(monkeypatch: pytest.MonkeyPatch, change: Callable[[], object], times: int = 1) -> None:
    """Let `change` happen between the reading of the entries and their lock-in."""
    freeze, left = Store.freeze, [change] * times

    def interrupted(*given: object) -> int:
        if left:
            left.pop()()
        return freeze(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(Store, "freeze", interrupted)


def is_valid(contest: Contest, folder: Path) -> None:
    public = Public(folder, make_key(folder / KEY_FILE))
    publish(contest, public.directory, public.private, public.key, PageOptions(languages=("en",)))
    assert [] == list(verify_export(public.directory, public.public_key).problems)


@pytest.mark.parametrize("change", CHANGES)
def test_change_before_the_lock_in_is_of_the_contest_that_begins(
    change: str, intake: Intake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    happens, expected = CHANGES[change]
    before_the_lock_in(monkeypatch, lambda: happens(intake))
    contest = intake.begin()
    entries = {entry.name: entry for entry in contest.first.entries}
    assert expected | {"racer-0", "racer-1"} == entries.keys()
    if change == "a new version passes":
        assert 4 == entries["ada"].submission
    if change == "an author renames":
        assert "Ada's" == entries["ada"].title
    is_valid(contest, tmp_path)


def test_contest_does_not_begin_while_submissions_change_again_and_again(
    intake: Intake, monkeypatch: pytest.MonkeyPatch
) -> None:
    before_the_lock_in(monkeypatch, lambda: intake.submit("ada"), 100)
    with pytest.raises(SubmissionsChangedError, match="the submissions of 'cup' changed while its entries were locked"):
        intake.begin()
    assert not intake.register.is_locked_in()
    monkeypatch.undo()
    assert "ada" in intake.begin().snapshot.by_name()


class KilledError(Exception):
    """The judge is killed."""


def lock_in_and_die(intake: Intake) -> None:
    def die(*_: object) -> None:
        raise KilledError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "create", die)
        with pytest.raises(KilledError):
            intake.begin()
    assert intake.register.is_locked_in()


@pytest.mark.parametrize("intake", ["round-robin", "ladder"], indirect=True)
@pytest.mark.parametrize("change", DECISIONS)
def test_decision_after_the_lock_in_is_refused(change: str, intake: Intake, tmp_path: Path) -> None:
    lock_in_and_die(intake)
    with pytest.raises(InputError, match=r"has begun|begins now"):
        CHANGES[change][0](intake)
    contest = intake.begin()
    assert {"ada", "bob", "racer-0", "racer-1"} == contest.first.by_name().keys()
    is_valid(contest, tmp_path)


@pytest.mark.parametrize("name", ["dan", "ada"])
def test_submission_that_passes_after_the_lock_in_does_not_change_the_entries(
    name: str, intake: Intake, tmp_path: Path
) -> None:
    lock_in_and_die(intake)
    number = intake.submit(name)
    contest = intake.begin()
    assert number not in {entry.submission for entry in contest.first.entries}
    assert SubmissionState.PASSED == intake.register.get(number).state
    is_valid(contest, tmp_path)


@pytest.mark.parametrize("change", DECISIONS)
def test_decision_that_waits_for_the_lock_in_is_refused(change: str, intake: Intake) -> None:
    sent = [(each.id, each.title, each.digest) for each in intake.register.first_entries()]
    with ThreadPoolExecutor(1) as pool:
        with intake.store.change() as store:
            store.freeze("cup", "a" * 64, sent)
            decision = pool.submit(CHANGES[change][0], intake)
            wait_for_lock(intake.store)
        with pytest.raises(InputError, match=r"has begun|begins now"):
            decision.result(PATIENCE_S)


def wait_for_lock(store: Store) -> None:
    """Until another connection waits for a lock. SQLite has no list of those that wait."""
    if not store.keeps_files:
        return
    waiting = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
    with store._engine.connect() as connection:
        until(lambda: connection.scalar(waiting), "no connection waits for a lock")
