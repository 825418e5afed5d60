"""A whole game in real processes in which the judge itself fails: what it makes of that, and what it keeps."""

import errno
import platform
from collections.abc import Sequence
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from judge.agents.agents import stage_agent
from judge.games.gomoku import Gomoku
from judge.games.gomoku.options import GomokuOptions
from judge.games.types import Event, Reply, Verdict
from judge.host.house_agents import build_house_agents
from judge.referee.play import Venue, play, play_until_scored
from judge.referee.policy import load_policy
from judge.referee.referee import Referee
from judge.referee.side import TRANSITIONS, SeatState
from judge.referee.spec import GameSpec, RecordFile
from judge.referee.transcript import EntryKind, unseal
from judge.referee.verify import verify
from judge.sandbox import BoxKind, BoxPolicy, Limits, Tenant
from judge.sandbox.box import Box
from judge.sandbox.process.process_box import ProcessBox


class Stumbling(Gomoku):
    """A game with a mistake in it: it cannot stand the third answer."""

    def apply(self, reply: Reply) -> Sequence[Event]:
        if len(self.stones) == 2:
            raise TypeError(f"what is {reply!r}?")
        return super().apply(reply)


class Unmakeable(ProcessBox):
    """A box that cannot be made, for a reason that nobody thought of."""

    error: Exception = OSError(errno.ENAMETOOLONG, "File name too long")

    def prepare(self) -> None:
        raise self.error


class Unforeseen(Unmakeable):
    error = RuntimeError("Symlink loop")


@pytest.fixture
def spec_and_program(tmp_path: Path) -> tuple[GameSpec, dict[str, Path]]:
    build_house_agents()
    agent = stage_agent("house-instant", tmp_path)
    policy = load_policy("gomocup-freestyle")
    first, second = (agent.seat(policy).model_copy(update={"name": name}) for name in ("one", "two"))
    spec = GameSpec(seats=(first, second), policy=policy, box="process")
    return spec, {agent.digest: agent.program}


def test_a_mistake_of_the_judge_is_a_void_with_all_that_led_to_it(
    spec_and_program: tuple[GameSpec, dict[str, Path]],
) -> None:
    """The record names the agent and the entry that it was about; the log has the input and where it failed."""
    spec, programs = spec_and_program
    game = Stumbling(GomokuOptions(**spec.game_options()))
    with capture_logs() as logs:
        file = play(spec, programs, game=game)

    again = RecordFile.model_validate_json(file.model_dump_json())
    assert Verdict.VOID is again.record.verdict
    assert platform.node() == again.record.placement.host
    assert [] == list(verify(again).problems)
    last = [entry for entry in unseal(again.transcript) if entry.kind is EntryKind.READ][-1]
    reason = again.record.reason
    assert f"the judge failed after output of one (seat 0) at {last.ns / 1e6:.3f} ms" in reason
    assert "TypeError" in reason
    (failed,) = [line for line in logs if line["event"] == "the judge failed"]
    assert spec.id == failed["game"]
    assert repr(last.data) == failed["input"]
    assert "what is Reply(" in failed["traceback"]


def test_impossible_transition_of_a_seat_is_a_void(
    spec_and_program: tuple[GameSpec, dict[str, Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, programs = spec_and_program
    monkeypatch.setitem(TRANSITIONS, SeatState.ASKED, {})
    with capture_logs():
        file = play(spec, programs)

    assert Verdict.VOID is file.record.verdict
    assert "the judge failed after output of one (seat 0)" in file.record.reason
    assert "SeatStateError; this is a bug in judge" in file.record.reason


@pytest.mark.parametrize(
    ("kind", "reason"),
    [(Unmakeable, "File name too long"), (Unforeseen, "the judge failed before any output of an agent: RuntimeError")],
)
def test_any_error_while_boxes_are_made_is_a_void_with_a_record(
    spec_and_program: tuple[GameSpec, dict[str, Path]], kind: type[Unmakeable], reason: str
) -> None:
    spec, programs = spec_and_program

    def build(_kind: BoxKind, tenant: Tenant, limits: Limits, policy: BoxPolicy) -> Box:
        return (kind if tenant.seat else ProcessBox)(tenant, limits, policy)

    file = play(spec, programs, venue=Venue(build=build))

    again = RecordFile.model_validate_json(file.model_dump_json())
    assert Verdict.VOID is again.record.verdict
    assert reason in again.record.reason
    assert [] == list(verify(again).problems)


def test_a_mistake_of_the_judge_after_the_end_changes_no_result(
    spec_and_program: tuple[GameSpec, dict[str, Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_referee: Referee) -> None:
        raise FileNotFoundError("/proc/1/task")

    spec, programs = spec_and_program
    with monkeypatch.context() as patch, capture_logs() as logs:
        patch.setattr(Referee, "_close", fail)
        file = play(spec, programs)

    assert Verdict.DRAW is file.record.verdict
    assert "FileNotFoundError; this is a bug in judge" in file.record.unclosed
    assert [] == list(verify(file).problems)
    assert ["the judge failed"] == [line["event"] for line in logs if line["log_level"] == "error"]


@pytest.mark.parametrize(("stumbles", "verdicts"), [(2, ["void", "void", "draw"]), (9, ["void", "void", "void"])])
def test_void_game_is_replayed_until_it_counts_or_attempts_run_out(
    spec_and_program: tuple[GameSpec, dict[str, Path]], stumbles: int, verdicts: list[str]
) -> None:
    spec, programs = spec_and_program
    begun: list[int] = []
    ended: list[str] = []

    def new_game() -> Gomoku:
        kind = Stumbling if len(begun) <= stumbles else Gomoku
        return kind(GomokuOptions(**spec.game_options()))

    with capture_logs():
        file = play_until_scored(
            spec,
            programs,
            new_game=new_game,
            before=begun.append,
            after=lambda file: ended.append(file.record.verdict),
        )

    assert [1, 2, 3] == begun
    assert verdicts == ended
    assert (3, verdicts[-1]) == (file.record.attempt, file.record.verdict)
