"""Every recorded game of the UCC manager of 2013, played again: the same bytes to both seats, the same log and result.

Where ours differs on purpose it does so by a rule (`reproduces`), and nothing else may differ.
"""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from judge.base.resources import IMAGES
from judge.formats.quantum_chess.log import QchessLog, qchess_options, read_log, replay_qchess_log, write_log
from judge.games.quantum_chess import ContradictionError, QuantumChess
from judge.games.quantum_chess.board import COLOURS
from judge.protocols.qchess import Qchess, QchessOptions
from judge.protocols.time_control import TimeControl
from judge.protocols.types import Open, Ready, SeatLimits, Write
from tests.conformance.others import program, sample
from tests.conformance.qchess_driver import (
    RANDOM,
    Case,
    Recording,
    Wire,
    bundled,
    case_of,
    play_again,
    with_moments_of,
)
from tests.examples import RecordFigure, evidence

RESUMED = "replay_continue"
"""A log that was read with a limit of moves; it has tests of its own."""

KEPT = bundled()
"""A selection of the recordings."""

GAMES = [name for name in KEPT if name not in (RANDOM, RESUMED)]


def dead_seat(case: Case) -> int | None:
    """Whose stream ended when it was asked: it said fewer lines than it was asked for, and nobody waited in vain."""
    if case.result.endswith("TIMEOUT"):
        return None
    for seat, wire in enumerate(case.wires):
        if b"".join(wire.said).count(b"\n") < len(wire.said):
            return seat
    return None


def texts(log: QchessLog) -> list[str]:
    return [said.text for said in log.events]


def reproduces(name: str, files: Recording) -> None:
    """To the byte, but for two rules of ours.

    The end of a stream is a death: the manager read it as an empty line, or an unended line as a whole one (GIBBERISH,
    a lost turn), until writing to the dead agent killed the manager. Ours charges a process that is gone with that, and
    tells the other the end.
    A manager that crashed has no say in the result: all that it had said until then stands.
    """
    case = case_of(name, files)
    ours = play_again(case)
    dead = dead_seat(case)
    result = case.result if dead is None else f"{COLOURS[dead]} UNRESPONSIVE"
    assert result == ours.result
    for seat, (wire, sent) in enumerate(zip(case.wires, ours.sent, strict=True)):
        theirs = tuple(line for line in wire.sent if not line.startswith("QUIT"))
        goodbye = () if seat == dead else (f"QUIT {result}",)
        if dead is None:
            assert wire.sent == sent
        else:
            # Where an unended line was played, more came of it than we have.
            assert sent == (*theirs[: len(sent) - len(goodbye)], *goodbye)
    if dead is None:
        assert case.log_bytes == with_moments_of(ours.log, case.log)
    else:
        said = texts(ours.log)
        assert said == texts(case.log)[: len(said)]
        assert said == texts(case.log) or case.wires[dead].said[-1]
        assert case.log.board == ours.log.board


@pytest.mark.parametrize("name", GAMES)
def test_a_recorded_game_is_reproduced_to_the_byte(name: str) -> None:
    reproduces(name, KEPT[name])


@pytest.mark.parametrize("name", sorted(file[:-4] for file in KEPT[RANDOM] if file.endswith(".log")))
def test_a_random_game_is_replayed_without_contradiction(name: str) -> None:
    """A random game's log is free of contradictions, is written back as it was, and ends as its result says."""
    files = KEPT[RANDOM]
    data = files[f"{name}.log"].encode("latin-1")
    log = read_log(data, f"{name}.log")
    replayed = replay_qchess_log(log, f"{name}.log")

    assert {"variant": "quantum"} == qchess_options(log)
    assert files[f"{name}.result"].strip() == replayed.game.result(log.names)
    assert data == write_log(log)


def test_both_rules_are_needed() -> None:
    """In some of the kept recordings a stream ends, and in one of them the manager crashes by it."""
    dead = [case for case in (case_of(name, KEPT[name]) for name in GAMES) if dead_seat(case) is not None]

    assert 9 <= len(dead)
    assert {"", 'white GIBBERISH ""'} <= {case.result for case in dead}


def resumed() -> tuple[QchessLog, dict[str, object]]:
    """The log of RESUMED, and the options of its game."""
    log = read_log(KEPT[RESUMED]["game.log"].encode("latin-1"))
    return log, {"position": [piece.model_dump() for piece in log.board], "played": texts(log)}


def test_unfinished_game_is_sent_as_a_board_with_its_moves() -> None:
    """All that both seats were told when the manager read a log, the missing blank before `at` included."""
    log, options = resumed()
    game = QuantumChess.from_options(options)

    for seat, colour in enumerate(("white", "black")):
        wire = Wire.parse(KEPT[RESUMED][f"{colour}_python_sample.wire"])
        effects = Qchess(QchessOptions()).feed(
            Open(seat, game.describe(), log.names, SeatLimits(TimeControl(turn_ms=0), 0))
        )
        assert [Write("".join(f"{line}\n" for line in wire.sent).encode()), Ready()] == effects


def test_a_game_that_is_over_is_not_gone_on_with() -> None:
    """The manager's limit (more than 6 moves) struck while it read the log: it stopped without a word to the agents,
    and its result was `DRAW` without a colour. Ours refuses to start such a game."""
    assert "DRAW" == KEPT[RESUMED]["manager.stdout"].strip()
    with pytest.raises(ContradictionError, match="'0 1 -> 0 2' ends the game"):
        QuantumChess.from_options(resumed()[1] | {"max_moves": 6})


def test_agent_ignoring_quit_is_killed_after_the_grace() -> None:
    """The manager promised SIGKILL after 2 seconds (UCC's text API, Game ends) and left such an agent running."""
    assert (0,) == play_again(case_of("edge_quit_ignored", KEPT["edge_quit_ignored"])).killed


@evidence
@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_new_games_under_the_original_manager_are_reproduced_to_the_byte(
    tmp_path: Path, record_property: RecordFigure
) -> None:
    """Every second game is classical. One reply of a hundred is odd in two of four games."""
    manager, games, answers = program("qchess-2013"), sample(20), 0
    shutil.copy(Path(__file__).with_name("qchess_agent.py"), tmp_path / "agent")
    (tmp_path / "agent").chmod(0o755)
    for game in range(games):
        variant = [] if game % 2 else ["--classical"]
        command = [str(manager), "--no-graphics", "./agent", "./agent", "--log=game.log", "--delay=0", *variant]
        environment = {
            **os.environ,
            "QCHESS_STARTER": str(IMAGES / "starter-qchess-python/starter.py"),
            "QCHESS_SEED": str(game),
            "QCHESS_ODDITY": str(game // 2 % 2 / 100),
        }
        ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
        files = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.suffix in (".wire", ".log")}
        files |= {"command.txt": shlex.join(command).encode(), "manager.stdout": ended.stdout}
        texts_of = {name: data.decode("latin-1") for name, data in files.items()}
        reproduces(f"new game {game}", texts_of)
        answers += sum(text.count("\nA> ") for text in texts_of.values())
    record_property("figure", f"{games} games, {answers} answers, 0 differences")
