"""A progress bar with the remaining time, after two seconds."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from judge.base.progress import Tracker, untracked

Item = TypeVar("Item")

SHOWN_AFTER_S = 2.0


def progress_bar() -> Tracker:
    """A tracker that draws a bar on stderr, if it is a terminal."""
    return _Bar(SHOWN_AFTER_S) if sys.stderr.isatty() else untracked


class _Bar:
    def __init__(self, shown_after_s: float) -> None:
        self._shown_after_s = shown_after_s

    def __call__(self, items: Iterable[Item], total: int, what: str) -> Iterator[Item]:
        # Slow to import.
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        bar = Progress(*columns, console=Console(stderr=True), transient=True)
        task = bar.add_task(what, total=total)
        began = time.monotonic()
        try:
            for item in items:
                yield item
                bar.advance(task)
                if not bar.live.is_started and time.monotonic() - began >= self._shown_after_s:
                    bar.start()
        finally:
            bar.stop()
