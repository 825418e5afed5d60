"""When Python looks for garbage: each time it looks at all objects, and most of ours last as long as the process."""

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager


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


@contextmanager
def exempt() -> Iterator[None]:
    """No collection in the block looks at what there is before it."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
