"""A small recorded game of each family, played by scripts in a world; each file verifies."""

from collections.abc import Sequence

from judge.record.policy import Policy
from judge.record.spec import GameSpec, RecordFile, SeatSpec
from judge.testing import Act, Agent, Say, ScriptedGame, World
from tests.games.stratego_positions import blue, red
from tests.referee import test_qchess as qchess
from tests.referee import test_stratego as stratego
from tests.referee.games import BLACK_ROW, WHITE_ROW, a_file, brain
from tests.referee.games import spec as gomoku_spec

HOSTILE = '<b>&"evil"\x1b]0;x\x07\u202e]]>'
"""A name that would be markup, an escape sequence and a turned reading direction."""


def named(spec: GameSpec, first: str, second: str) -> GameSpec:
    """The same game between agents of these names."""
    seats = [
        SeatSpec.model_validate(seat.model_dump() | {"name": name})
        for seat, name in zip(spec.seats, (first, second), strict=True)
    ]
    return spec.model_copy(update={"seats": (seats[0], seats[1])})


def recorded(first: Agent, second: Agent, spec: GameSpec) -> RecordFile:
    """The record of a game between two scripts."""
    return a_file(ScriptedGame(World(first, second), spec), spec)


def talker(*moves: str, messages: Sequence[str] = ()) -> Agent:
    """A brain that says something of its search before each move."""
    plain = brain(*moves)

    def hear(line: str) -> Sequence[Act]:
        acts = plain(line)
        if line.split()[:1] in (["BEGIN"], ["TURN"], ["DONE"]):
            return [*(Say(f"MESSAGE {text}\r\n".encode()) for text in messages), *acts]
        return acts

    return hear


def gomoku() -> RecordFile:
    """Black wins along the upper edge; it talks, and what it says is an attack."""
    black = talker(*BLACK_ROW, messages=("depth 3 ev 12 pv h8", "\x1b[2J[red]boo[/]"))
    return recorded(black, brain(*WHITE_ROW), named(gomoku_spec(), "anna", "bert"))


def full_board(size: int) -> RecordFile:
    """Nobody makes five; both talk at length of each search."""
    squares = [(x, y) for y in range(size) for x in range(size)]
    black, white = (
        talker(
            *(f"{x},{y}" for x, y in squares if (x + 2 * y) // 2 % 2 == half),
            messages=("depth 12-20 ev 123 n 345K n/ms 1234 tm 5000 pv h8 h9 j10 k11 l12 m13",),
        )
        for half in (0, 1)
    )
    board = {"name": "test", "game": {"name": "gomoku", "options": {"width": size, "height": size}}}
    spec = gomoku_spec().model_copy(update={"policy": Policy.model_validate(board)})
    return recorded(black, white, named(spec, "embryo21_e", "rapfi-2026-avx2"))


def stratego_game() -> RecordFile:
    """RED's scout takes the flag, after one fight."""
    reds = red(x0y3="9", x5y3="5")
    blues = blue(x0y6="9", x5y6="6", x9y6="8")
    spec = stratego.spec("stratego-seed")
    return recorded(
        stratego.agent("5 3 DOWN", "5 4 DOWN", "5 5 DOWN", "SURRENDER", rows=reds),
        stratego.agent("9 6 UP", "9 5 UP", "9 4 UP", "9 3 UP", rows=blues),
        named(spec, "anna", "bert"),
    )


def chess() -> RecordFile:
    """Ordinary chess in the words of Quantum Chess; white takes the king."""
    spec = named(qchess.spec(), "anna", "bert")
    return recorded(qchess.player(*qchess.KNIGHT), qchess.player(*qchess.PAWN), spec)


def quantum() -> RecordFile:
    """Hidden types; black answers nothing that could be played."""
    spec = named(qchess.spec("qchess-2013"), "anna", "bert")
    return recorded(qchess.player("0 6", "0 5", "0 5"), qchess.player("9 9"), spec)
