"""What `judge check` asks of agents that play five in a row, and what their opponent plays meanwhile."""

from collections.abc import Mapping
from typing import Any

from judge.catalog.entry import Question, Questions
from judge.games import GameRules
from judge.games.gomoku.positions import Position, positions, squares_of
from judge.games.gomoku.requests import (
    AnswerSwap,
    ChooseFifth,
    LayStones,
    OfferFifths,
    PlaceStone,
    Square,
    Stone,
    Stones,
    StonesRequest,
    square_name,
)
from judge.games.types import Decision, Reply, Request, decided

PLAIN = {"swap": "none", "fifths": 1}
"""Options of a game without an opening stage."""


def questions(rules: GameRules, options: Mapping[str, Any]) -> Questions:
    """The commands first, then the positions."""
    game = rules.new({**options, **PLAIN}).describe()
    width, height = game["width"], game["height"]
    asked = [
        Question("begin", "an empty board", seat=0, turns=2),
        Question("turn", "the opponent began", seat=1),
    ]
    asked += [_question(position, width, height) for position in positions(game["rule"], width, height)]
    middle = squares_of("h8h9i9g7j8f8k9i8h7h6i10", width, height)
    return Questions(asked, answer_harmlessly, name_stone, PLAIN, Question("stop", opening=middle))


def _question(position: Position, width: int, height: int) -> Question:
    """One turn where the answer is forced, or in an opening, about which many think as long as they may; else two."""
    stones, answers = (squares_of(text, width, height) for text in (position.stones, position.answers))
    turns = 1 if answers or len(stones) <= OPENED else 2
    wanted = tuple(Stone(*at) for at in answers)
    return Question(position.check, position.what or position.stones, stones, turns=turns, answers=wanted)


def name_stone(decision: Decision) -> str:
    """A stone by its square; nothing for other decisions."""
    return square_name(decision.x, decision.y) if isinstance(decision, Stone) else ""


def answer_harmlessly(request: Request) -> Reply:
    """A harmless, legal answer: the middle of the board in the opening, away from the other stones later."""
    match request:
        case PlaceStone() | AnswerSwap():
            return decided(Stone(*_free(request)[0]))
        case LayStones(count=count):
            return decided(Stones(tuple(_free(request)[:count])))
        case OfferFifths(free=free):
            return decided(Stone(*free[0]))
        case ChooseFifth(offers=offers):
            return decided(Stone(*offers[0]))
        case _:
            raise TypeError(f"the interviewer cannot answer {request!r}")


OPENED = 5
"""The stones after which no opening stage goes on."""
APART = 3
"""So far from every other stone the interviewer plays later: it makes no threat there, and no foul."""


def _free(request: StonesRequest) -> list[Square]:
    """Free squares, the best first: nearest to the middle, and later on away from the stones."""
    taken = {(x, y) for x, y, _ in request.stones}
    squares = [(x, y) for y in range(request.height) for x in range(request.width) if (x, y) not in taken]
    middle = request.width // 2, request.height // 2
    is_late = len(taken) >= OPENED

    def badness(at: Square) -> tuple[bool, int]:
        return is_late and any(_distance(at, stone) < APART for stone in taken), _distance(at, middle)

    return sorted(squares, key=badness)


def _distance(one: Square, other: Square) -> int:
    """In steps of a king."""
    return max(abs(one[0] - other[0]), abs(one[1] - other[1]))
