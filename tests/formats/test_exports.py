"""A record and the files that are exported from it state the same end, here that a person resigned."""

from judge.catalog import game_entry
from judge.catalog.files import steps_of
from judge.formats.gomoku.piskvork import BY_FAULT
from judge.formats.gomoku.record import five_of
from judge.formats.quantum_chess.log import read_log as read_qchess_log
from judge.formats.quantum_chess.log import replay_qchess_log
from judge.formats.stratego.log import read_log, replay_stratego_log, rules_of
from judge.games.stratego import Stratego
from judge.games.stratego.types import read_result
from judge.games.types import Verdict
from judge.protocols import PERSON
from judge.record.spec import GameSpec, RecordFile
from judge.testing import Agent, Say
from tests.formats.recorded import recorded
from tests.games.stratego_positions import FULL_BLUE, FULL_RED
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


def test_a_log_of_quantum_chess_has_the_result_of_its_record() -> None:
    spec = with_person(qchess.spec("qchess-seed:classical"))
    file = recorded(person("4 6", "resign"), qchess.player(), spec)
    log = read_qchess_log(log_of(file))

    assert Verdict.RESIGNED is file.record.verdict
    assert log.result is not None
    assert file.record.result == log.result.text == replay_qchess_log(log).game.result(log.names)


def test_a_log_of_stratego_has_the_result_of_its_record() -> None:
    spec = with_person(stratego.spec("stratego-seed"))
    file = recorded(person(*FULL_RED, "0 3 DOWN", "resign"), stratego.agent("9 6 UP", rows=FULL_BLUE), spec)
    log = read_log(log_of(file))

    assert Verdict.RESIGNED is file.record.verdict
    assert read_result(file.record.result) == log.result
    _, game = steps_of(file).record_and_game(Stratego, "Stratego")
    assert [(move.turn, move.seat) for move in game.half_moves] == [(line.turn, line.seat) for line in log.half_moves]
    assert file.record.result == replay_stratego_log(log, game.options).result(log.names)
    assert file.record.result == rules_of(log)[1].result(log.names)


def test_files_of_five_in_a_row_have_the_winner_of_their_record() -> None:
    file = recorded(person("7,7", "resign"), brain("8,8", "8,9"), with_person(gomoku_spec()))
    five = five_of(steps_of(file))

    assert file.record.verdict == five.verdict == Verdict.RESIGNED
    assert "white" == five.outcome
    assert BY_FAULT == int(log_of(file, "psq").split()[-1])
    assert "0-1" in log_of(file, "pgn").decode().split()
