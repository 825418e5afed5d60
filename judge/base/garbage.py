"""Limits garbage collection, which scans all objects, most of which are permanent."""

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_THRESHOLDS = (50_000, 20, 50)
"""Most garbage is freed without collection: those of an export or of a table of 100,000 games find nothing."""

_lock = Lock()
_games = 0


@contextmanager
def importing() -> Iterator[None]:
    """Disable collection, exempt the objects that exist at the end of the block, and collect rarely after it.

    This saves a third of the CPU time of a short command. Garbage cycles created in the block are never freed.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)


@contextmanager
def exempt() -> Iterator[None]:
    """Collections during games skip objects that existed before the first of them: no game waits for a long one."""
    global _games
    with _lock:
        if not _games:
            gc.freeze()
        _games += 1
    try:
        yield
    finally:
        with _lock:
            _games -= 1
            if not _games:
                gc.unfreeze()
