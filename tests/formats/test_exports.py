"""A record and the files that are exported from it state the same end."""

from collections.abc import Callable

import pytest

from judge.catalog import game_entry
from judge.catalog.files import steps_of
from judge.formats.gomoku.piskvork import BY_FAULT, BY_TIME, UNKNOWN
from judge.formats.gomoku.record import five_of
from judge.formats.gomoku.sgf import read_sgf, write_sgf
from judge.formats.quantum_chess.log import read_log as read_qchess_log
from judge.formats.quantum_chess.replay import replay_qchess_log
from judge.formats.stratego.log import read_log, read_result
from judge.formats.stratego.replay import replay_stratego_log, rules_of
from judge.games.stratego import Stratego
from judge.games.types import Verdict
from judge.protocols import PERSON
from judge.record.spec import GameSpec, RecordFile
from judge.testing import Agent, Say, exits
from tests.formats.recorded import recorded
from tests.formats.recorded import stratego_game as a_stratego_game
from tests.games.stratego_positions import FULL_BLUE, FULL_RED
from tests.publish.cups import voided
from tests.referee import test_qchess as qchess
from tests.referee import test_stratego as stratego
from tests.referee.games import brain
from tests.referee.games import spec as gomoku_spec


def person(*lines: str) -> Agent:
    """Types the next line when it is asked."""
    left = iter(lines)
    return lambda line: [Say(f"{next(left)}\n".encode(), 1.0)] if line.startswith("?") else []


def with_person(spec: GameSpec) -> GameSpec:
    seat = spec.seats[0].model_copy(update={"protocol": PERSON})
    return spec.model_copy(update={"seats": (seat, spec.seats[1])})


def log_of(file: RecordFile, name: str = "log") -> bytes:
    formats = game_entry(file.record.spec.policy.game.name).formats()
    assert formats is not None
    return formats.write([formats.of_record(steps_of(file))], name)


ENDS = {
    Verdict.RESIGNED: "resign",
    Verdict.ILLEGAL: "illegal",
    Verdict.TURN_TIME: "time-out",
    Verdict.CRASH: "crash",
    Verdict.VOID: "void",
}
"""Each verdict of an exported game that the tests play."""


def qchess_game(verdict: Verdict) -> RecordFile:
    spec = qchess.spec("qchess-seed:classical")
    match verdict:
        case Verdict.RESIGNED:
            return recorded(person("4 6", "resign"), qchess.player(), with_person(spec))
        case Verdict.ILLEGAL:
            white = qchess.player("4 6", "4 2")
        case Verdict.TURN_TIME:
            white = qchess.player("4 6")
        case Verdict.CRASH:
            white = qchess.player("4 6", MOVE=exits(1))
        case _:
            return voided(recorded(qchess.player(*qchess.KNIGHT), qchess.player(*qchess.PAWN), spec))
    return recorded(white, qchess.player(*qchess.PAWN), spec)


def stratego_game(verdict: Verdict) -> RecordFile:
    blue = stratego.agent("9 6 UP", rows=FULL_BLUE)
    spec = stratego.spec("stratego-seed")
    match verdict:
        case Verdict.RESIGNED:
            return recorded(person(*FULL_RED, "0 3 DOWN", "resign"), blue, with_person(spec))
        case Verdict.ILLEGAL:
            red = stratego.agent("0 3 LEFT")
        case Verdict.TURN_TIME:
            red = stratego.agent("0 3 DOWN", [])
        case Verdict.CRASH:
            red = stratego.agent("0 3 DOWN", exits(1))
        case _:
            return voided(a_stratego_game())
    return recorded(red, blue, spec)


def gomoku_game(verdict: Verdict) -> RecordFile:
    spec = gomoku_spec()
    white = brain("8,8", "8,9")
    match verdict:
        case Verdict.RESIGNED:
            return recorded(person("7,7", "resign"), white, with_person(spec))
        case Verdict.ILLEGAL:
            black = brain("7,7", "7,7")
        case Verdict.TURN_TIME:
            black = brain("7,7")
        case Verdict.CRASH:
            black = brain("7,7", TURN=exits(1))
        case _:
            return voided(recorded(brain("7,7", "7,8"), white, spec))
    return recorded(black, white, spec)


def each_end(test: Callable[[Verdict], None]) -> Callable[[Verdict], None]:
    return pytest.mark.parametrize("verdict", ENDS, ids=ENDS.values())(test)


@each_end
def test_a_log_of_quantum_chess_has_the_result_of_its_record(verdict: Verdict) -> None:
    file = qchess_game(verdict)
    log = read_qchess_log(log_of(file))

    assert verdict is file.record.verdict
    assert file.record.result == ("" if log.result is None else log.result.text)
    assert (verdict is Verdict.VOID) is (log.result is None)
    assert file.record.result == replay_qchess_log(log).game.result(log.names)


@each_end
def test_a_log_of_stratego_has_the_result_of_its_record(verdict: Verdict) -> None:
    file = stratego_game(verdict)
    log = read_log(log_of(file))

    assert verdict is file.record.verdict
    assert read_result(file.record.result) == log.result
    assert (verdict is Verdict.VOID) is (log.result is None)
    _, game = steps_of(file).record_and_game(Stratego, "Stratego")
    assert [(move.turn, move.seat) for move in game.half_moves] == [(line.turn, line.seat) for line in log.half_moves]
    if verdict is not Verdict.VOID:
        assert file.record.result == replay_stratego_log(log, game.options).result(log.names)
        assert file.record.result == rules_of(log)[1].result(log.names)


@each_end
def test_files_of_five_in_a_row_have_the_winner_of_their_record(verdict: Verdict) -> None:
    file = gomoku_game(verdict)
    five = five_of(steps_of(file))

    assert verdict is file.record.verdict
    assert (verdict, "" if verdict is Verdict.VOID else "white") == (five.verdict, five.outcome)
    (again,) = read_sgf(write_sgf(five))
    assert (five.verdict, five.outcome) == (again.verdict, again.outcome)
    codes = {Verdict.TURN_TIME: BY_TIME, Verdict.VOID: UNKNOWN}
    assert codes.get(verdict, BY_FAULT) == int(log_of(file, "psq").split()[-1])
    assert {"": "*", "white": "0-1"}[five.outcome] in log_of(file, "pgn").decode().split()
