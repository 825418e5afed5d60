"""A whole game in real processes in which the judge itself fails: what it makes of that, and what it keeps."""

import errno
import gc
import platform
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from judge.agents.agents import stage_agent
from judge.base.errors import HostError, InputError
from judge.base.owner import Owner, directories
from judge.games.gomoku import Gomoku
from judge.games.gomoku.options import GomokuOptions
from judge.games.types import Event, Reply, Verdict
from judge.host.house_agents import build_house_agents
from judge.play.game import play, play_until_scored
from judge.play.venue import Venue
from judge.record.policy import load_policy
from judge.record.spec import GameSpec, RecordFile
from judge.record.transcript import EntryKind, unseal
from judge.referee.referee import Referee
from judge.referee.side import TRANSITIONS, SeatState
from judge.referee.verify import verify
from judge.sandbox.box import Box, BoxKind, BoxPolicy, Limits, Tenant
from judge.sandbox.process.process_box import ProcessBox

Staged = tuple[GameSpec, dict[str, Path]]
"""A game of house-instant against itself in processes, and its program."""


class Stumbling(Gomoku):
    """A game with a mistake in it: it cannot stand the third answer."""

    def apply(self, reply: Reply) -> Sequence[Event]:
        if len(self.stones) == 2:
            raise TypeError(f"what is {reply!r}?")
        return super().apply(reply)


def play_with_failing_box(spec: GameSpec, programs: dict[str, Path], step: str, error: Exception) -> RecordFile:
    """A game in which the second box fails at a step, for a reason that nobody thought of."""

    def fail(box: ProcessBox) -> None:
        if step == "close":
            ProcessBox.close(box)
        raise error

    failing: type[ProcessBox] = type("Box", (ProcessBox,), {step: property(fail) if step == "sources" else fail})

    def build(_kind: BoxKind, tenant: Tenant, limits: Limits, policy: BoxPolicy) -> Box:
        if tenant.seat and step == "build":
            raise error
        return (failing if tenant.seat else ProcessBox)(tenant, limits, policy)

    return play(spec, programs, venue=Venue(build=build))


@pytest.fixture
def staged(tmp_path: Path) -> Staged:
    build_house_agents()
    agent = stage_agent("house-instant", tmp_path)
    policy = load_policy("gomocup-freestyle", ["game.options.draw_at=20"])
    first, second = (agent.seat(policy).model_copy(update={"name": name}) for name in ("one", "two"))
    spec = GameSpec(seats=(first, second), policy=policy, box="process")
    return spec, {agent.digest: agent.program}


def test_a_mistake_of_the_judge_is_a_void_with_all_that_led_to_it(staged: Staged) -> None:
    """The record names the agent and the entry that it was about; the log has the input and where it failed."""
    spec, programs = staged
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


def test_impossible_transition_of_a_seat_is_a_void(staged: Staged, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TRANSITIONS, SeatState.ASKED, {})
    with capture_logs():
        file = play(*staged)

    assert Verdict.VOID is file.record.verdict
    assert "the judge failed after output of one (seat 0)" in file.record.reason
    assert "SeatStateError; this is a bug in judge" in file.record.reason


ERRORS = (
    (OSError(errno.ENAMETOOLONG, "File name too long"), "A box could not be made or closed: .*File name too long"),
    (HostError("the Engine is gone"), "the Engine is gone"),
    (InputError("There is no image x on this Engine"), "There is no image x on this Engine"),
    (RuntimeError("Symlink loop"), "the judge failed before any output of an agent: RuntimeError"),
    (MemoryError(), "the judge failed before any output of an agent: MemoryError"),
    (KeyError("no such seat"), "the judge failed before any output of an agent: KeyError"),
)


@pytest.mark.parametrize("step", ["build", "prepare", "enter", "sources", "start", "freeze"])
@pytest.mark.parametrize(("error", "reason"), ERRORS, ids=[type(error).__name__ for error, _ in ERRORS])
def test_any_error_of_a_box_is_a_void_with_a_record(staged: Staged, step: str, error: Exception, reason: str) -> None:
    with capture_logs():
        file = play_with_failing_box(*staged, step, error)

    again = RecordFile.model_validate_json(file.model_dump_json())
    assert Verdict.VOID is again.record.verdict
    if step in ("build", "prepare", "enter"):
        assert re.search(reason, again.record.reason)
    assert [] == list(verify(again).problems)
    assert [] == [path for path, owner in directories() if owner == Owner.me()]


@pytest.mark.parametrize("step", ["leave", "close"])
@pytest.mark.parametrize("error", [error for error, _ in ERRORS], ids=lambda each: type(each).__name__)
def test_no_error_of_a_box_after_the_end_changes_the_result(staged: Staged, step: str, error: Exception) -> None:
    with capture_logs() as logs:
        file = play_with_failing_box(*staged, step, error)

    assert Verdict.DRAW is file.record.verdict
    assert [] == list(verify(file).problems)
    assert ["after its end"] == [line["when"] for line in logs if line["event"] == "the judge failed"]


@pytest.mark.docker
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("failing", ["image", "Engine", "directory", "program"])
def test_any_error_of_the_engine_or_the_host_is_a_void_with_a_record(
    staged: Staged, failing: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    spec, programs = staged
    spec = spec.model_copy(update={"box": "docker"})
    if failing == "image":
        seats = [seat.model_copy(update={"runtime": "judge-test/missing:1"}) for seat in spec.seats]
        spec = spec.model_copy(update={"seats": tuple(seats)})
    elif failing == "Engine":
        monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/docker.sock")
    elif failing == "directory":
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    else:
        programs = dict.fromkeys(programs, tmp_path / "missing")
    reasons = {"image": "no image", "Engine": "The Engine at", "directory": "TMPDIR", "program": "missing"}

    file = play(spec, programs)
    gc.collect()  # the Engine's client leaves a socket that it could not connect

    assert Verdict.VOID is file.record.verdict
    assert reasons[failing] in file.record.reason
    monkeypatch.undo()
    assert [] == list(verify(RecordFile.model_validate_json(file.model_dump_json())).problems)


def test_spec_that_cannot_be_played_is_refused_before_a_box_is_made(staged: Staged) -> None:
    spec, programs = staged
    seats = [seat.model_copy(update={"protocol": "stratego"}) for seat in spec.seats]
    unplayable = spec.model_copy(update={"seats": tuple(seats)})
    with pytest.raises(InputError, match="stratego"):
        play(unplayable, programs, venue=Venue(build=lambda *_: pytest.fail("a box was made")))


def test_a_mistake_of_the_judge_after_the_end_changes_no_result(
    staged: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_referee: Referee) -> None:
        raise FileNotFoundError("/proc/1/task")

    with monkeypatch.context() as patch, capture_logs() as logs:
        patch.setattr(Referee, "_close", fail)
        file = play(*staged)

    assert Verdict.DRAW is file.record.verdict
    assert "FileNotFoundError; this is a bug in judge" in file.record.unclosed
    assert [] == list(verify(file).problems)
    assert ["the judge failed"] == [line["event"] for line in logs if line["log_level"] == "error"]


@pytest.mark.parametrize(("stumbles", "verdicts"), [(2, ["void", "void", "draw"]), (9, ["void", "void", "void"])])
def test_void_game_is_replayed_until_it_counts_or_attempts_run_out(
    staged: Staged, stumbles: int, verdicts: list[str]
) -> None:
    spec, programs = staged
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
