"""A box without an agent: a person answers through a pipe that somebody else writes what was typed into."""

from collections.abc import Callable, Sequence

from judge.sandbox.box import NO_FREEZER, Channel, EventSource, Nearby, Readings
from judge.sandbox.machine.meters import Unmetered
from judge.sandbox.machine.pipes import PipeSource, await_readable


class PersonBox(Unmetered):
    """A seat of a person's. `answers` is the reading end of the pipe; `left` raises what the end of it means.

    The pipe outlives the box: a person plays game after game. Nothing runs here, so nothing is frozen or
    killed; what the person is told is shown from the transcript.
    """

    name = "person"

    def __init__(self, answers: int, left: Callable[[], None]) -> None:
        self._answers = _Answers(answers, left)

    @property
    def sources(self) -> Sequence[EventSource]:
        """What is typed."""
        return [self._answers]

    @property
    def stdin_fd(self) -> int:
        """Nobody reads."""
        return -1

    def prepare(self) -> None:
        """Forget what was typed before the game."""
        while await_readable(self._answers.fd, 0):
            self._answers.read()

    def enter(self) -> None:
        """Do nothing."""

    def start(self) -> None:
        """Do nothing."""

    def write(self, data: bytes) -> int:
        """Take everything: it is shown from the transcript."""
        return len(data)

    @property
    def is_reused(self) -> bool:
        """Never."""
        return False

    @property
    def freezer(self) -> str:
        """None: a person may think whenever it likes to."""
        return NO_FREEZER

    def freeze(self) -> None:
        """Do nothing: a person may think at any time."""

    def is_frozen(self) -> bool:
        """There is nothing that runs."""
        return True

    def thaw(self) -> None:
        """Do nothing."""

    def is_held(self) -> bool | None:
        """Not known."""
        return None

    def cpu_ns(self) -> int:
        """Nothing runs."""
        return 0

    def readings(self) -> Readings:
        """There is nothing to read."""
        return Readings()

    def nearby(self) -> Nearby:
        """Nowhere that is looked at."""
        return Nearby()

    def kill(self) -> None:
        """Do nothing."""

    def is_gone(self) -> bool:
        """There is nothing that runs."""
        return True

    def leave(self) -> float:
        """Do nothing."""
        return 0.0

    def close(self) -> None:
        """Do nothing: the pipe is its owner's."""


class _Answers(PipeSource):
    """What is typed; its end is no end of file of an agent's."""

    def __init__(self, fd: int, left: Callable[[], None]) -> None:
        super().__init__(fd, Channel.OUT)
        self._left = left

    def read(self) -> Sequence[tuple[Channel, bytes]]:
        """What is there now."""
        read = super().read()
        if self.ended:
            self._left()
        return read
