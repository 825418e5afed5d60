"""A place of processing that reserves nothing."""

from contextlib import AbstractContextManager, nullcontext

from judge.play.venue import Slot
from judge.submissions.pipeline import Workplace


class Anywhere(Workplace):
    """Reserves no cores, and builds no images."""

    def aside(self) -> AbstractContextManager[tuple[int, ...]]:
        return nullcontext(())

    def slot(self) -> AbstractContextManager[Slot]:
        return nullcontext(Slot())

    def free_slot(self) -> AbstractContextManager[Slot | None]:
        return nullcontext(Slot())

    def need(self, image: str) -> None:
        pass
