"""When Python looks for garbage: each time it looks at all objects, and most of ours last as long as the process."""

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock


@contextmanager
def uncollected() -> Iterator[None]:
    """No collection in the block."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def importing() -> Iterator[None]:
    """No collection in the block, and none later looks at what there is after it, not even at the end of the process.

    Together these take a third of the CPU time of a short command. A cycle of objects that is dropped in the block
    stays until the process ends.
    """
    with uncollected():
        yield
    gc.freeze()
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)


class _Exemption:
    """What the blocks of several threads have together: it lasts from the first one's begin to the last one's end."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._blocks = 0

    def begin(self) -> None:
        with self._lock:
            if not self._blocks:
                gc.freeze()
            self._blocks += 1

    def end(self) -> None:
        with self._lock:
            self._blocks -= 1
            if not self._blocks:
                gc.unfreeze()


_EXEMPTION = _Exemption()


@contextmanager
def exempt() -> Iterator[None]:
    """No collection in the block looks at what there is before it; of blocks in several threads, before the first."""
    _EXEMPTION.begin()
    try:
        yield
    finally:
        _EXEMPTION.end()
