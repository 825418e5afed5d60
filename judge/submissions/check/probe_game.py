"""An interview is a game to the referee: it asks one seat a list of questions, each from a game of its own.

So every question is put by the real protocol, timed and judged by the real referee, and its answer checked by the real
rules. What the opponent would do in between, the interviewer does.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judge.games import new_game
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
)
from judge.games.types import (
    AgentFault,
    End,
    Event,
    Game,
    Reply,
    Request,
    RuleResult,
    Verdict,
    decided,
)

AGENT = 0
"""The seat that is interviewed."""

_OVER = RuleResult(Verdict.DRAW, None, "all was asked")


@dataclass(frozen=True, slots=True)
class Question:
    """What the agent is asked: to play some turns from a position, in the seat whose turn it is unless one is given."""

    check: str
    what: str = ""
    opening: tuple[Square, ...] = ()
    seat: int | None = None
    turns: int = 1
    answers: frozenset[Square] = frozenset()
    """The squares that are right; empty: all that are legal."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One turn of a question: what was said, and the fault that the rules find with it."""

    question: Question
    said: str
    decision: object
    fault: End | None = None

    @property
    def is_right(self) -> bool:
        """Whether it is one of the answers wanted."""
        wanted = self.question.answers
        if not wanted:
            return True
        return isinstance(self.decision, Stone) and (self.decision.x, self.decision.y) in wanted


class Interview:
    """Implements `judge.games.types.Game`."""

    def __init__(
        self,
        name: str,
        options: Mapping[str, Any],
        questions: Sequence[Question],
        pause_s: float = 0.0,
    ) -> None:
        """Each question begins a game called `name` with these options. `pause_s` is let pass after every answer."""
        plain = new_game(name, options)
        self.requests, self.events = plain.requests, plain.events
        self.answers: list[Answer] = []
        self._describe = plain.describe()
        self._name, self._options = name, dict(options)
        self._left = list(questions)
        self._pause_s = pause_s
        self._end: End | None = None
        self._begin()

    # --- what the referee sees ---------------------------------------------------------------------------------------

    @property
    def end(self) -> End | None:
        """The end of the interview: all was asked, or the agent cannot answer any more."""
        return self._end

    @property
    def question(self) -> Question:
        """The question that is being asked, or was asked last."""
        return self._question

    @property
    def longest(self) -> int:
        """One answer a question."""
        return len(self._left) + 1

    def describe(self) -> dict[str, Any]:
        """The game of the questions."""
        return self._describe

    def renegotiate(self) -> bool:
        """No: the size of the board is asked for as it is."""
        return False

    def pending(self) -> Request:
        """The agent's next decision."""
        return replace(self._game.pending(), seat=AGENT)

    def apply(self, reply: Reply) -> Sequence[Event]:
        """Hold an answer against the rules, and go on to what comes next."""
        events = list(self._game.apply(reply))
        self.answers.append(
            Answer(self._question, reply.said, reply.decision, _fault(self._game, self._seat))
        )
        time.sleep(self._pause_s)
        self._turns -= 1
        if self._turns and self._game.end is None:
            events += self._oblige()
        if not self._turns or self._game.end is not None:
            self._begin()
        return events

    def forfeit(self, fault: AgentFault) -> Sequence[Event]:
        """The agent is not there any more, or does not answer."""
        self._end = fault
        return ()

    def result(self, names: tuple[str, str]) -> str:  # noqa: ARG002 an interview has no winner
        """Nothing."""
        return ""

    # --- the interviewer ---------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        if not self._left:
            self._end = _OVER
            return
        self._question = self._left.pop(0)
        opening = [list(square) for square in self._question.opening]
        self._game: Game = new_game(
            self._name, self._options | ({"opening": opening} if opening else {})
        )
        seat = self._question.seat
        self._seat = self._game.pending().seat if seat is None else seat
        self._turns = self._question.turns
        self._oblige()

    def _oblige(self) -> list[Event]:
        """Play for the opponent until it is the agent's turn."""
        events: list[Event] = []
        while self._game.end is None and (request := self._game.pending()).seat != self._seat:
            events += self._game.apply(obliging(request))
        return events


def _fault(game: Game, seat: int) -> End | None:
    """How the last answer ended the game against whoever gave it, if it did."""
    match game.end:
        case AgentFault() as fault:
            return fault
        case RuleResult(verdict=Verdict.FOUL, winner=winner) as foul if winner != seat:
            return foul
        case _:
            return None


def obliging(request: Request) -> Reply:
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
    squares = [
        (x, y) for y in range(request.height) for x in range(request.width) if (x, y) not in taken
    ]
    middle = request.width // 2, request.height // 2
    is_late = len(taken) >= OPENED

    def badness(at: Square) -> tuple[bool, int]:
        return is_late and any(_distance(at, stone) < APART for stone in taken), _distance(
            at, middle
        )

    return sorted(squares, key=badness)


def _distance(one: Square, other: Square) -> int:
    """In steps of a king."""
    return max(abs(one[0] - other[0]), abs(one[1] - other[1]))
