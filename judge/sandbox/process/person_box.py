"""A box without an agent: a person answers through a pipe that somebody else writes what was typed into."""

from collections.abc import Callable, Sequence

from judge.sandbox.box import Box, Channel, EventSource
from judge.sandbox.machine.pipes import PipeSource, await_readable
from judge.sandbox.machine.process_meter import IdleMeter


class PersonBox(Box):
    """A seat of a person's. `answers` is the reading end of the pipe; `left` raises what the end of it means.

    The pipe outlives the box: a person plays game after game, and may think at any time. What the person is told is
    shown from the transcript.
    """

    name = "person"
    meter = IdleMeter()

    def __init__(self, answers: int, left: Callable[[], None]) -> None:
        self._answers = _Answers(answers, left)

    @property
    def sources(self) -> Sequence[EventSource]:
        return [self._answers]

    def prepare(self) -> None:
        """Forget what was typed before the game."""
        while await_readable(self._answers.fd, 0):
            self._answers.read()

    def write(self, data: bytes) -> int:
        return len(data)


class _Answers(PipeSource):
    """What is typed; its end is no end of file of an agent's."""

    def __init__(self, fd: int, left: Callable[[], None]) -> None:
        super().__init__(fd, Channel.OUT)
        self._left = left

    def read(self) -> Sequence[tuple[Channel, bytes]]:
        read = super().read()
        if self.ended:
            self._left()
        return read
