"""A finished game step by step, with text and times."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from judge.records.outcome import outcome_sentence
from judge.records.views import BoardView
from judge.referee.spec import GameRecord

Played = TypeVar("Played")


@dataclass(slots=True)  # frozen takes three times as long
class ReplayStep:
    """The first step is the start position."""

    view: BoardView
    seat: int | None = None
    said: str = ""
    """Callers must escape it."""
    ms: float | None = None
    search: Mapping[str, str] = field(default_factory=dict)
    messages: tuple[str, ...] = ()
    """Since the previous answer, with the judge's notes. Callers must escape them."""
    left_ms: tuple[int | None, int | None] = (None, None)
    """Times by seat; None: unlimited or unknown."""
    memory_bytes: int | None = None
    at_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Stepped:
    """A whole game."""

    title: str
    names: tuple[str, str]
    steps: Sequence[ReplayStep]
    result: str
    problem: str = ""
    record: GameRecord | None = None

    def titled(self, titles: tuple[str, str]) -> "Stepped":
        """With display names; an empty one keeps the name."""
        names = (titles[0] or self.names[0], titles[1] or self.names[1])
        record = self.record
        if names == self.names or record is None:
            return self
        result = outcome_sentence(record.verdict, record.winner, names, record.reason)
        return replace(self, names=names, result=result)


class LogSteps(Generic[Played]):
    """Collects the steps of a replayed log."""

    def __init__(self, view: Callable[[Played], BoardView]) -> None:
        self.steps: list[ReplayStep] = []
        self._view = view

    def begin(self, game: Played) -> None:
        if not self.steps:
            self.steps.append(ReplayStep(self._view(game)))

    def add(self, game: Played, seat: int, said: str) -> None:
        self.steps.append(ReplayStep(self._view(game).since(self.steps[-1].view), seat, said))

    def see_effect(self, game: Played) -> None:
        if len(self.steps) > 1:
            last = self.steps.pop()
            view = self._view(game).since(self.steps[-1].view)
            self.steps.append(ReplayStep(view, last.seat, last.said))
