"""A finished game step by step: the position before the first answer and after each, with what was said and when."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from judge.records.views import BoardView
from judge.referee.spec import GameRecord

Played = TypeVar("Played")
"""The type of a game."""


@dataclass(frozen=True, slots=True)
class ReplayStep:
    """The game after an answer; the first one is before any."""

    view: BoardView
    seat: int | None = None
    """Whose answer it was."""
    said: str = ""
    """As it was said: to be escaped."""
    ms: float | None = None
    """The time charged for it; None where nobody knows."""
    search: Mapping[str, str] = field(default_factory=dict)
    messages: tuple[str, ...] = ()
    """What this seat said beside it, and what the judge noted, since its answer before; to be escaped."""
    left_ms: tuple[int | None, int | None] = (None, None)
    """What each seat had left of its game time; None where there is no limit or nobody knows."""
    memory_bytes: int | None = None
    """What the box of this seat used after the answer; None where nobody knows."""


@dataclass(frozen=True, slots=True)
class Stepped:
    """A whole game. `title` says what was played, `result` how it ended."""

    title: str
    names: tuple[str, str]
    steps: Sequence[ReplayStep]
    result: str
    problem: str = ""
    record: GameRecord | None = None


class LogSteps(Generic[Played]):
    """Collects the steps of a game that is played again from a log; `view` is the game's picture."""

    def __init__(self, view: Callable[[Played], BoardView]) -> None:
        self.steps: list[ReplayStep] = []
        self._view = view

    def begin(self, game: Played) -> None:
        """The step before the first answer, once nature has drawn what is drawn before."""
        if not self.steps:
            self.steps.append(ReplayStep(self._view(game)))

    def add(self, game: Played, seat: int, said: str) -> None:
        """The step of an answer that the game has taken."""
        self.steps.append(ReplayStep(self._view(game).since(self.steps[-1].view), seat, said))

    def see_effect(self, game: Played) -> None:
        """What nature decided belongs to the answer that asked for it."""
        if len(self.steps) > 1:
            last = self.steps.pop()
            view = self._view(game).since(self.steps[-1].view)
            self.steps.append(ReplayStep(view, last.seat, last.said))
