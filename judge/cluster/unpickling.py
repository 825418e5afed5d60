"""No pickle from strangers: a process of a cluster makes no object of a pickle but those that the games need.

dask cannot do without pickle, and whoever may speak to one of its processes may send one. A pickle runs code by naming
something that is then called, and Python asks its audit hooks before each such name, whoever reads the pickle. The
names that are left make values and tasks that play games. What a worker says of a game is JSON, which needs none.
"""

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from distributed.protocol.serialize import pickle_dumps, pickle_loads, register_serialization_family

VALUES = frozenset({("builtins", "bytes"), ("builtins", "memoryview")})
"""What the contest's host needs: the type of an answer."""

TASKS = VALUES | {
    ("dask._expr", "LLGExpr"),
    ("dask._expr", "Expr._reconstruct"),
    ("dask._task_spec", "Alias"),
    ("dask._task_spec", "Task"),
    ("distributed.shuffle._worker_plugin", "ShuffleWorkerPlugin"),
    ("judge.cluster.tasks", "play"),
    ("judge.cluster.tasks", "receive"),
}
"""What the scheduler and the workers need: the tasks that `judge.cluster.cluster` submits, and a plugin that dask gives
to each worker."""

_thread = threading.local()


class PickleRefusedError(AttributeError):
    """A pickle names something that it may not: to its reader, as if that did not exist."""


def refuse_pickles(allowed: frozenset[tuple[str, str]], *, except_here: bool = False) -> None:
    """From now on no pickle that this process reads may name anything else, `except_here`: in the thread that calls.

    There is no way back.
    """
    _thread.reads_own = except_here

    def hook(event: str, names: tuple[Any, ...]) -> None:
        if event == "pickle.find_class" and names not in allowed and not getattr(_thread, "reads_own", False):
            raise PickleRefusedError(f"a pickle that names {names[0]}.{names[1]} is refused")

    sys.addaudithook(hook)
    register_serialization_family("pickle", pickle_dumps, _load)


@contextmanager
def own_pickles() -> Iterator[None]:
    """In this thread pickles are read as ever, for they come from processes that this one has started."""
    before, _thread.reads_own = getattr(_thread, "reads_own", False), True
    try:
        yield
    finally:
        _thread.reads_own = before


def _load(header: dict[str, Any], frames: Sequence[Any]) -> Any:
    """A value; the error in its place if it is refused, for dask would close the connection that brought it."""
    try:
        return pickle_loads(header, list(frames))
    except PickleRefusedError as error:
        return error
