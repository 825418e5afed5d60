"""When a test gives up what it waits for; no test passes by reaching it, so it is long enough for a slow, busy host."""

import os
import time
from collections.abc import Callable

PATIENCE_S = float(os.environ.get("JUDGE_TEST_PATIENCE_S", "180"))
"""Seconds."""


def until(is_so: Callable[[], object], what: str | Callable[[], str] = "", every_s: float = 0.01) -> None:
    """Wait until `is_so` is true; it is called again after `every_s`. Raises AssertionError with `what` in the end."""
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        if time.monotonic() > deadline:
            raise AssertionError(f"after {PATIENCE_S:g} s: {what if isinstance(what, str) else what()}")
        time.sleep(every_s)
