"""A finished game step by step: the position before and after each answer, with text and times."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from judge.records.views import BoardView
from judge.referee.spec import GameRecord

Played = TypeVar("Played")


@dataclass(frozen=True, slots=True)
class ReplayStep:
    """The game after an answer. The first step is the start position."""

    view: BoardView
    seat: int | None = None
    said: str = ""
    """The agent's text. Callers must escape it."""
    ms: float | None = None
    """Time charged; None if unknown."""
    search: Mapping[str, str] = field(default_factory=dict)
    messages: tuple[str, ...] = ()
    """Messages and judge's notes since the previous answer. Callers must escape them."""
    left_ms: tuple[int | None, int | None] = (None, None)
    """Each seat's remaining game time; None if unlimited or unknown."""
    memory_bytes: int | None = None
    """Memory use of the box; None if unknown."""


@dataclass(frozen=True, slots=True)
class Stepped:
    """A whole game. `title` describes the game, `result` its end."""

    title: str
    names: tuple[str, str]
    steps: Sequence[ReplayStep]
    result: str
    problem: str = ""
    record: GameRecord | None = None


class LogSteps(Generic[Played]):
    """Collects the steps of a game that is replayed from a log."""

    def __init__(self, view: Callable[[Played], BoardView]) -> None:
        self.steps: list[ReplayStep] = []
        self._view = view

    def begin(self, game: Played) -> None:
        """Add the start position, after the initial random choices."""
        if not self.steps:
            self.steps.append(ReplayStep(self._view(game)))

    def add(self, game: Played, seat: int, said: str) -> None:
        """Add the step of an applied answer."""
        self.steps.append(ReplayStep(self._view(game).since(self.steps[-1].view), seat, said))

    def see_effect(self, game: Played) -> None:
        """Update the last step with the random choice that it triggered."""
        if len(self.steps) > 1:
            last = self.steps.pop()
            view = self._view(game).since(self.steps[-1].view)
            self.steps.append(ReplayStep(view, last.seat, last.said))
