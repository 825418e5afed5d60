"""CPU time that a box uses while it is stopped is charged to its seat, and too much of it loses the game."""

from collections.abc import Callable
from pathlib import Path

import pytest

from judge.games.types import Verdict
from judge.play.venue import Slot
from judge.record.spec import RecordFile
from judge.record.transcript import EntryKind, unseal
from judge.referee import referee
from judge.referee.wire import StoppedCpu
from tests.attacks.games import compiled, play_commands
from tests.examples import of_evidence

pytestmark = pytest.mark.docker

HONEST = ("thinks", "150")
"""It thinks for this many milliseconds: the helpers are killed in the middle of it."""
HELPERS = ("killed_helpers", "alarm", "8", "1", "50")
"""Interval timers end its helpers: agents have no other timers."""
CHANGES = (
    "game.options.width=5", "game.options.height=5", "clock.turn_ms=60000", "clock.match_ms=0", "clock.starved_share=1",
)  # fmt: skip

Play = Callable[..., RecordFile]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of both programs."""
    return compiled(tmp_path_factory.mktemp("stopped"), "killed_helpers", "thinks")


@pytest.fixture
def played(slot: Slot, program: Path) -> Play:
    """Plays a command of the program against the honest one."""

    def play_one(command: tuple[str, ...], seat: int = 0) -> RecordFile:
        both = (command, HONEST)
        return play_commands(slot, program, both if seat == 0 else both[::-1], *CHANGES)

    return play_one


def stopped_ms(file: RecordFile, seat: int) -> float:
    """CPU time that a seat used while it was stopped."""
    entries = [e for e in unseal(file.transcript) if e.kind is EntryKind.STOPPED_CPU and e.seat == seat]
    return sum(StoppedCpu.decode(entry.data).ns for entry in entries) / 1e6


@pytest.mark.parametrize("seat", [0, *of_evidence(1)])
def test_seat_whose_helpers_exit_in_the_opponents_time_loses(played: Play, seat: int) -> None:
    file = played(HELPERS, seat)

    assert (Verdict.TURN_TIME, 1 - seat) == (file.record.verdict, file.record.winner)
    assert "did not stop when its turn was over" in file.record.reason
    assert file.record.seats[1 - seat].fault is None


def test_without_the_bound_its_opponent_loses_the_time_and_the_seat_is_charged_for_it(
    played: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: each answer takes CPU time of the opponent's turn."""
    monkeypatch.setattr(referee, "RAN_ON_MS", 1_000_000)
    file = played(HELPERS)
    stopped = stopped_ms(file, 0)

    assert (Verdict.CRASH, 1) == (file.record.verdict, file.record.winner)
    assert stopped > 20
    assert file.record.seats[0].charged_ms >= stopped
    assert 0 == stopped_ms(file, 1)


def test_an_honest_seat_uses_no_cpu_time_while_it_is_stopped(played: Play) -> None:
    file = played(HONEST)

    assert Verdict.DRAW is file.record.verdict
    assert [0, 0] == [stopped_ms(file, seat) for seat in (0, 1)]
