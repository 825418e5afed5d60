"""An interview as a game for the real protocol, referee and rules. Each question is in its own game."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judge.catalog.entry import Question
from judge.games import new_game
from judge.games.types import (
    AgentFault,
    Decision,
    End,
    Event,
    Game,
    Reply,
    Request,
    RuleResult,
    Verdict,
    opening_options,
)

AGENT = 0

_OVER = RuleResult(Verdict.DRAW, None, "all was asked")


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    """An answer and its fault by the rules."""

    question: Question
    said: str
    decision: Decision | None
    fault: End | None = None

    @property
    def is_right(self) -> bool:
        wanted = self.question.answers
        return not wanted or self.decision in wanted


class Interview:
    """See `judge.games.types.Game`."""

    def __init__(
        self,
        name: str,
        options: Mapping[str, Any],
        questions: Sequence[Question],
        opponent: Callable[[Request], Reply],
        pause_s: float = 0.0,
    ) -> None:
        """Each question begins a game `name`. `opponent` answers for the other seat. `pause_s` follows each answer.

        `end` is set once all was asked, or the agent cannot answer any more; `question` is the current or last one.
        """
        plain = new_game(name, options)
        self.requests, self.events = plain.requests, plain.events
        self.answers: list[ProbeAnswer] = []
        self.end: End | None = None
        self._describe = plain.describe()
        self._name, self._options = name, dict(options)
        self._left = list(questions)
        self._opponent = opponent
        self._pause_s = pause_s
        self._begin()

    @property
    def longest(self) -> int:
        return len(self._left) + 1

    def describe(self) -> dict[str, Any]:
        return self._describe

    def renegotiate(self) -> bool:
        """The board size is fixed."""
        return False

    def pending(self) -> Request:
        return replace(self._game.pending(), seat=AGENT)

    def apply(self, reply: Reply) -> Sequence[Event]:
        events = list(self._game.apply(reply))
        self.answers.append(ProbeAnswer(self.question, reply.said, reply.decision, _fault(self._game, self._seat)))
        time.sleep(self._pause_s)
        self._turns -= 1
        if self._turns and self._game.end is None:
            events += self._play_for_opponent()
        if not self._turns or self._game.end is not None:
            self._begin()
        return events

    def forfeit(self, fault: AgentFault) -> Sequence[Event]:
        self.end = fault
        return ()

    def result(self, names: tuple[str, str]) -> str:  # noqa: ARG002 an interview has no winner
        return ""

    def _begin(self) -> None:
        if not self._left:
            self.end = _OVER
            return
        self.question = self._left.pop(0)
        self._game: Game = new_game(self._name, self._options | opening_options(self.question.opening))
        seat = self.question.seat
        self._seat = self._game.pending().seat if seat is None else seat
        self._turns = self.question.turns
        self._play_for_opponent()

    def _play_for_opponent(self) -> list[Event]:
        events: list[Event] = []
        while self._game.end is None and (request := self._game.pending()).seat != self._seat:
            events += self._game.apply(self._opponent(request))
        return events


def _fault(game: Game, seat: int) -> End | None:
    match game.end:
        case AgentFault() as fault:
            return fault
        case RuleResult(verdict=Verdict.FOUL, winner=winner) as foul if winner != seat:
            return foul
        case _:
            return None
