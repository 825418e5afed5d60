"""Restricts unpickling in a cluster to the few types that games need.

dask requires pickle, any peer may send one, and a pickle can call any function. Python raises an audit event for each
name; the hook refuses all but those of values and of tasks that play games.
"""

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from distributed.protocol.serialize import pickle_dumps, pickle_loads, register_serialization_family

VALUES = frozenset({("builtins", "bytes"), ("builtins", "memoryview")})

TASKS = VALUES | {
    ("dask._expr", "LLGExpr"),
    ("dask._expr", "Expr._reconstruct"),
    ("dask._task_spec", "Alias"),
    ("dask._task_spec", "Task"),
    ("distributed.shuffle._worker_plugin", "ShuffleWorkerPlugin"),
    ("judge.cluster.tasks", "play"),
    ("judge.cluster.tasks", "receive"),
}

_thread = threading.local()


class PickleRefusedError(AttributeError):
    """A forbidden name in a pickle, as if it did not exist."""


def refuse_pickles(allowed: frozenset[tuple[str, str]], *, except_here: bool = False) -> None:
    """Refuse other names in all pickles of this process, permanently. `except_here`: not in this thread."""
    _thread.reads_own = except_here

    def hook(event: str, names: tuple[Any, ...]) -> None:
        if event == "pickle.find_class" and names not in allowed and not getattr(_thread, "reads_own", False):
            raise PickleRefusedError(f"a pickle that names {names[0]}.{names[1]} is refused")

    sys.addaudithook(hook)
    register_serialization_family("pickle", pickle_dumps, _load)


@contextmanager
def own_pickles() -> Iterator[None]:
    """Allow all names in this thread, for pickles of child processes."""
    before, _thread.reads_own = getattr(_thread, "reads_own", False), True
    try:
        yield
    finally:
        _thread.reads_own = before


def _load(header: dict[str, Any], frames: Sequence[Any]) -> Any:
    """Return a refused error: raising it would make dask close the connection."""
    try:
        return pickle_loads(header, list(frames))
    except PickleRefusedError as error:
        return error
