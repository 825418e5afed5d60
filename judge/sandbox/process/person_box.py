"""The box of a human player, who answers through a pipe."""

from collections.abc import Callable, Sequence

from judge.sandbox.box import Box, Channel, EventSource
from judge.sandbox.machine.pipes import PipeSource, await_readable
from judge.sandbox.process.process_box import IdleMeter


class PersonBox(Box):
    """`answers` is the reading end of the pipe; at its end, `left` raises an error. The pipe outlives the box."""

    name = "person"
    shows_host_evidence = True
    meter = IdleMeter()

    def __init__(self, answers: int, left: Callable[[], None]) -> None:
        self._answers = _Answers(answers, left)

    @property
    def sources(self) -> Sequence[EventSource]:
        return [self._answers]

    def prepare(self) -> None:
        while await_readable(self._answers.fd, 0):
            self._answers.read()

    def write(self, data: bytes) -> int:
        return len(data)


class _Answers(PipeSource):
    def __init__(self, fd: int, left: Callable[[], None]) -> None:
        super().__init__(fd, Channel.OUT)
        self._left = left

    def read(self) -> Sequence[tuple[Channel, bytes]]:
        read = super().read()
        if self.ended:
            self._left()
        return read
