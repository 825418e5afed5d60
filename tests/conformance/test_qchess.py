"""Every recorded game of the UCC manager of 2013, played again: the same bytes to both seats, the same log and result.

Where ours differs on purpose it stands in DEVIATIONS with its reason, and nothing else may differ.
"""

import os
from pathlib import Path
from typing import NamedTuple

import pytest

from judge.games.quantum_chess import ContradictionError, QuantumChess
from judge.protocols.qchess import Qchess, QchessOptions
from judge.protocols.types import Limits, Open, Ready, Write
from judge.records.qchess_log import QchessLog, read_log, write_log
from judge.records.qchess_replay import options_of, replay
from tests.conformance.qchess_driver import (
    RANDOM,
    Case,
    Recording,
    Wire,
    bundled,
    case_of,
    play_again,
    read_directory,
    with_moments_of,
)


class Deviation(NamedTuple):
    """What the manager's result was, what ours is, and why."""

    theirs: str
    ours: str
    why: str


GONE = Deviation(
    'white GIBBERISH ""',
    "white UNRESPONSIVE",
    "white had exited when it was asked: its end of file is a death with its evidence, not an empty line",
)
TRACEBACK = Deviation(
    "",
    "white UNRESPONSIVE",
    "--retry-illegal took the end of file of a dead agent for a lost turn, until writing to it killed the manager;"
    " a process that is gone is charged at once, and the other is told the end",
)

DEVIATIONS = {
    "edge_classical_knight": GONE,
    "edge_classical_move_into_check_allowed": GONE,
    "edge_classical_promotion": GONE,
    "edge_crlf": GONE,
    "edge_exit_white": GONE,
    "edge_extra_tokens_select": GONE,
    "edge_king_selected_cannot_move_passes": GONE,
    "edge_leading_and_double_spaces": GONE,
    "edge_retry_illegal_move": TRACEBACK,
}

RESUMED = "replay_continue"
"""A log that was read with a limit of moves; it has tests of its own."""

KEPT = bundled()
DATA = os.environ.get("JUDGE_DATA")
ALL = read_directory(Path(DATA)) if DATA else {}
WITHOUT_DATA = pytest.mark.skip(
    "set JUDGE_DATA to a directory that has qchess-2013/ of all recordings"
)


def games(recordings: dict[str, Recording]) -> list[str]:
    return [name for name in recordings if name not in (RANDOM, RESUMED)]


def reproduces(name: str, files: Recording) -> None:
    case = case_of(name, files)
    ours = play_again(case)
    deviation = DEVIATIONS.get(name, Deviation(case.result, case.result, ""))
    assert deviation.theirs == case.result
    assert deviation.ours == ours.result
    assert sent_with(deviation, case) == ours.sent
    if name in DEVIATIONS:
        assert texts(case.log) == texts(ours.log)
        assert case.log.board == ours.log.board
    else:
        assert case.log_bytes == with_moments_of(ours.log, case.log)


def sent_with(deviation: Deviation, case: Case) -> tuple[tuple[str, ...], ...]:
    """The recorded lines, with our end in place of the manager's."""
    quit_line = f"QUIT {deviation.ours}"
    if deviation is TRACEBACK:
        white, black = case.wires
        return white.sent, (*black.sent, quit_line)
    return tuple(
        tuple(quit_line if line == f"QUIT {deviation.theirs}" else line for line in wire.sent)
        for wire in case.wires
    )


def texts(log: QchessLog) -> list[str]:
    return [said.text for said in log.events]


def replays(name: str, files: Recording) -> None:
    """A random game's log is free of contradictions, is written back as it was, and ends as its result says."""
    data = files[f"{name}.log"].encode("latin-1")
    log = read_log(data, f"{name}.log")
    replayed = replay(log, f"{name}.log")

    assert {"variant": "quantum"} == options_of(log)
    assert files[f"{name}.result"].strip() == replayed.game.result(log.names)
    assert data == write_log(log)


def random_games(recordings: dict[str, Recording]) -> list[str]:
    return sorted(file[:-4] for file in recordings.get(RANDOM, {}) if file.endswith(".log"))


@pytest.mark.parametrize("name", games(KEPT))
def test_a_recorded_game_is_reproduced_to_the_byte(name: str) -> None:
    reproduces(name, KEPT[name])


@pytest.mark.parametrize("name", random_games(KEPT))
def test_a_random_game_is_replayed_without_contradiction(name: str) -> None:
    replays(name, KEPT[RANDOM])


@pytest.mark.parametrize("name", games(ALL) or [pytest.param("", marks=WITHOUT_DATA)])
def test_every_recorded_game_of_the_data_directory(name: str) -> None:
    reproduces(name, ALL[name])


@pytest.mark.parametrize("name", random_games(ALL) or [pytest.param("", marks=WITHOUT_DATA)])
def test_every_random_game_of_the_data_directory(name: str) -> None:
    replays(name, ALL[RANDOM])


def test_every_deviation_is_one_of_a_kept_recording() -> None:
    assert set(DEVIATIONS) <= set(KEPT)
    assert all(deviation.theirs != deviation.ours for deviation in DEVIATIONS.values())


def test_a_game_that_goes_on_is_told_with_its_board_and_what_was_played() -> None:
    """All that both seats were told when the manager read a log, the missing blank before `at` included."""
    files = KEPT[RESUMED]
    log = read_log(files["game.log"].encode("latin-1"))
    position = [piece.model_dump() for piece in log.board]
    game = QuantumChess.from_options({"position": position, "played": texts(log)})

    for seat, colour in enumerate(("white", "black")):
        wire = Wire.parse(files[f"{colour}_python_sample.wire"])
        effects = Qchess(QchessOptions()).feed(
            Open(seat, game.describe(), log.names, Limits(0, 0, 0))
        )
        assert [Write("".join(f"{line}\n" for line in wire.sent).encode()), Ready()] == effects


def test_a_game_that_is_over_is_not_gone_on_with() -> None:
    """The manager's limit (more than 6 moves) struck while it read the log: it stopped without a word to the agents,
    and its result was `DRAW` without a colour. Ours refuses to start such a game."""
    files = KEPT[RESUMED]
    log = read_log(files["game.log"].encode("latin-1"))
    position = [piece.model_dump() for piece in log.board]

    assert "DRAW" == files["manager.stdout"].strip()
    with pytest.raises(ContradictionError, match="'0 1 -> 0 2' ends the game"):
        QuantumChess.from_options({"position": position, "played": texts(log), "max_moves": 6})


def test_who_ignores_quit_is_killed_after_the_grace() -> None:
    """The manager promised SIGKILL after 2 seconds (seed 000, Game ends) and left such an agent running."""
    assert (0,) == play_again(case_of("edge_quit_ignored", KEPT["edge_quit_ignored"])).killed
