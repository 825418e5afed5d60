"""The moments of a contest's file: read or refused, and what happens at them, once, whatever clocks do."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from judge.base.errors import InputError
from judge.contest.begin import announce
from judge.contest.contest import open_store
from judge.contest.orders.contest_orders import Pause
from judge.contest.plan import load_plan
from judge.contest.run_process import ContestProcess, start_run
from judge.contest.window_keeper import WindowKeeper, past_windows
from judge.journal.events import Resumed
from judge.sandbox.machine.cores import available
from judge.store.orders import OrganiserOrder
from judge.store.submissions import Register
from judge.store.types import NotNowError, ProcessingResult, Upload
from judge.submissions.service import SubmissionGate
from judge.web.player.contest_player import ContestPlayer
from judge.web.player.status import PlayerFiles
from tests.broadcast.logs import PAIR
from tests.contest.test_plan import HEAD, ROUND_ROBIN, plan
from tests.publish.cups import Cup

PRAGUE = "Europe/Prague"


@pytest.mark.parametrize(
    ("zone", "moments", "sentence"),
    [
        ("", "submissions.closes = 2026-11-22T18:00:00", "submissions.closes has no offset: write such"),
        ("Europe/Prag", "contest.starts = 2026-11-22T18:00:00", "is not known here"),
        ("../../etc", "contest.starts = 2026-11-22T18:00:00", "is not known here"),
        (
            PRAGUE,
            "submissions.opens = 2026-10-25T02:30:00",
            r"happens twice in Europe/Prague.* write 2026-10-25T02:30:00\+02:00 or 2026-10-25T02:30:00\+01:00",
        ),
        (PRAGUE, "contest.starts = 2026-03-29T02:30:00", "does not exist in Europe/Prague.* write 2026-03-29T03:30:00"),
        (
            PRAGUE,
            "submissions = { opens = 2026-11-22T18:00:00, closes = 2026-11-22T18:00:00+01:00 }",
            r"submissions.closes is .*, before submissions.opens",
        ),
        (
            "",
            "submissions.closes = 2026-11-22T18:00:00Z\ncontest.starts = 2026-11-22T17:00:00Z",
            "contest.starts is 2026-11-22 17:00:00 UTC, before submissions.closes",
        ),
        ("", "contest.starts = 1763827200", "line 4: contest.starts: write a date .* such as 2027-03-31T18"),
        ("", "contest.starts = 2026-11-22", "line 4: contest.starts: write a date .* such as 2027-03-31T18"),
        ("", 'contest.starts = "2026-11-22T18:00:00Z"', "line 4: contest.starts: write a date .* without quotes"),
        ("", "submissions.close = 2026-11-22T18:00:00Z", "line 4: unknown key .* did you mean 'closes'"),
    ],
)
def test_ambiguous_time_is_refused_with_the_fix(tmp_path: Path, zone: str, moments: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        plan(tmp_path, f'{HEAD}zone = "{zone}"\n{moments}\n{ROUND_ROBIN}')


def test_a_local_time_is_of_the_zone_that_the_file_names(tmp_path: Path) -> None:
    text = "submissions = { opens = 2026-07-01T08:00:00, closes = 2026-12-01T18:00:00-05:00 }\n"

    windows = plan(tmp_path, f'{HEAD}zone = "Europe/Prague"\n{text}{ROUND_ROBIN}').plan.windows

    assert windows.opens is not None
    assert datetime(2026, 7, 1, 6, tzinfo=UTC) == windows.opens.astimezone(UTC)
    said = "submissions open at 2026-07-01 08:00:00 CEST (Europe/Prague), close at 2026-12-01 18:00:00 UTC-05:00"
    assert said == windows.words


NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


def moments(opens: int, closes: int, starts: int) -> str:
    """The tables, in minutes from noon."""
    opened, closed, started = ((NOON + timedelta(minutes=m)).isoformat() for m in (opens, closes, starts))
    return f"[submissions]\nopens = {opened}\ncloses = {closed}\n[contest]\nstarts = {started}\n"


@dataclass
class Desk:
    """A contest that has been announced, with a clock that the test sets."""

    folder: Path
    register: Register
    minute: float = -60
    started: list[float] = field(default_factory=list)

    def now(self) -> datetime:
        return NOON + timedelta(minutes=self.minute)

    def service(self) -> tuple[SubmissionGate, Callable[[], None]]:
        """A service that has just been started, and what it does then; the one before was killed."""
        planned = load_plan(self.folder)
        gate = SubmissionGate(planned.plan.windows)
        gate.now = self.now  # type: ignore[method-assign]
        gate.remember(past_windows(planned))
        process = ContestProcess(planned.path)
        process.ensure = self._start  # type: ignore[method-assign]
        keeper = WindowKeeper(planned, gate)
        player = ContestPlayer(planned, self.register, process, PlayerFiles(planned.folder, planned.name))
        player.now = self.now  # type: ignore[method-assign]

        def act() -> None:
            keeper.apply()
            player.act()

        return gate, act

    def _start(self) -> bool:
        self.started.append(self.minute)
        return True

    def journal(self) -> Sequence[tuple[str, str | None]]:
        planned = load_plan(self.folder)
        with closing(open_store(planned)) as store:
            return [(line.event, line.who) for line in store.leaves(planned.name, 1, 1000)]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    planned = plan(tmp_path, HEAD + ROUND_ROBIN + moments(0, 10, 20))
    with closing(open_store(planned)) as store:
        announce(store, planned)
    with closing(Register(planned.store_url, planned.name)) as register:
        found = Desk(tmp_path, register)
        register._now = found.now
        yield found


def is_open(gate: SubmissionGate) -> bool:
    try:
        gate.check()
    except NotNowError:
        return False
    return True


@pytest.mark.parametrize("is_killed", [False, True], ids=["one service", "a new service at each look"])
def test_everything_happens_once_at_its_moment_and_stays_when_the_clock_goes_back(desk: Desk, is_killed: bool) -> None:
    gate, act = desk.service()
    seen = []
    for minute in (-1, 0, 5, -30, 9.99, 10, 3, 19, 20, 12, 25, -100, 30):
        desk.minute = minute
        if is_killed:
            gate, act = desk.service()
        act()
        seen.append((minute, is_open(gate), bool(desk.started)))

    assert [
        (-1, False, False),
        *((minute, True, False) for minute in (0, 5, -30, 9.99)),
        *((minute, False, False) for minute in (10, 3, 19)),
        *((minute, False, True) for minute in (20, 12, 25, -100, 30)),
    ] == seen
    assert [(event, "the clock") for event in ("window", "opened", "closed", "begins")] == desk.journal()


def test_a_refusal_names_the_moment_and_the_zone(desk: Desk) -> None:
    gate, _ = desk.service()
    with pytest.raises(NotNowError, match=r"submissions open at 2026-11-22 12:00:00 UTC: send it again then"):
        gate.check()
    desk.minute = 10
    with pytest.raises(NotNowError, match=r"submissions closed at 2026-11-22 12:10:00 UTC: ask the organiser"):
        gate.check()


def test_a_changed_window_holds_at_once_and_is_in_the_journal(desk: Desk) -> None:
    gate, act = desk.service()
    desk.minute = 15
    act()
    assert not is_open(gate)
    path = desk.folder / "contest.toml"
    path.write_text("nonsense")
    act()
    assert not is_open(gate)

    path.write_text(HEAD + ROUND_ROBIN + moments(0, 30, 40))
    act()
    assert is_open(gate)
    desk.minute = 30
    act()
    act()
    assert not is_open(gate)

    assert ["window", "opened", "closed", "window", "closed"] == [event for event, _ in desk.journal()]
    assert [] == desk.started


def test_the_start_waits_for_submissions_that_came_before_it(desk: Desk) -> None:
    _, act = desk.service()
    desk.minute = 5
    taken = desk.register.receive(Upload("ada", "five", "five.zip", "0" * 64, 1), worker="0" * 32)
    desk.minute = 20
    act()
    assert [] == desk.started
    desk.minute = 21
    desk.register.finish(taken.id, taken.attempt, ProcessingResult("it is slow", "five", None, None, "0" * 64, None))
    act()
    assert [21] == desk.started


def test_pause_from_before_the_set_moment_ends_then_and_a_later_one_stays(tmp_path: Path) -> None:
    with Cup(tmp_path, PAIR, more="[contest]\nresumes = 2099-01-01T00:00:00Z\n") as cup:
        gate, states = SubmissionGate(cup.planned.plan.windows), list[str]()
        keeper = WindowKeeper(cup.planned, gate)
        for year in (2098, 2099, 2100):
            Pause(cup.contest, OrganiserOrder("Olga", Pause.action, "", "lunch")).carry_out()
            gate.now = lambda: datetime(year, 1, 2, tzinfo=UTC)  # type: ignore[method-assign] # noqa: B023 used at once
            keeper.apply()
            states.append(cup.store.state(cup.contest.name))
        resumed = cup.store.last_lines(cup.contest.name, 2, Resumed)

    assert ["paused", "open", "paused"] == states
    assert [("the clock", Resumed("the set moment"))] == [(line.who, line.change) for line in resumed]


def test_contest_that_a_service_on_one_processor_starts_may_use_all(tmp_path: Path) -> None:
    given = available()
    os.sched_setaffinity(0, {min(given)})
    try:
        with start_run(tmp_path / "contest.toml") as process:
            assert given == os.sched_getaffinity(process.pid)
    finally:
        os.sched_setaffinity(0, given)


def test_service_runs_no_python_in_a_fork_to_start_a_contest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread of it may have a lock at that moment, which nothing releases in the fork."""
    given: list[object] = []
    started = subprocess.Popen.__init__

    def recorded(self: Any, *words: Any, **options: Any) -> None:
        given.append(options.get("preexec_fn"))
        started(self, *words, **options)

    monkeypatch.setattr(subprocess.Popen, "__init__", recorded)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    with start_run(tmp_path / "contest.toml"):
        assert before == signal.pthread_sigmask(signal.SIG_BLOCK, ())

    assert [None] == given
