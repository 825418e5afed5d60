"""What a viewer sees of a game that is refereed."""

from collections.abc import Callable, Mapping

from judge.games.types import Event
from judge.protocols.types import Clock, Note
from judge.referee.side import Ply


class Observer:
    """Sees what the referee and the protocols exchange; each method may be overridden."""

    def see_request(self, seat: int, clock: Clock) -> None:
        """The seat is asked; `clock` is the one sent to it."""

    def see_event(self, seat: int, event: Event) -> None:
        """The seat's protocol receives an event of the game."""

    def see_search(self, seat: int, values: Mapping[str, str]) -> None:
        """The agent reports figures of its search."""

    def see_note(self, seat: int, note: Note) -> None:
        """A message of the agent, or of the judge on it."""

    def see_answer(self, ply: Ply) -> None:
        """The game has not yet applied it."""


class AnswerObserver(Observer):
    """Passes answers on."""

    def __init__(self, watch: Callable[[Ply], None]) -> None:
        self._watch = watch

    def see_answer(self, ply: Ply) -> None:
        self._watch(ply)
