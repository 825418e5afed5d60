"""Worker processes: each runs one task at a time, and can be killed without affecting others.

The workers of a crew share one process, with a thread each, which saves memory; if it is lost, so are all their tasks.

A worker is a new interpreter, or a fork of a single-threaded parent, which starts at once. It has no open files of the
parent. The kernel kills it when the thread that started it ends; Ctrl-C only reaches the parent.
"""

import ctypes
import multiprocessing
import os
import pickle
import signal
import time
import traceback
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from itertools import chain, islice
from multiprocessing import connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Thread
from typing import Any, Generic, ParamSpec, TypeVar

from judge.base.garbage import collect_rarely, exempt, importing

Result = TypeVar("Result")
Given = TypeVar("Given")
P = ParamSpec("P")
AnyWorker = TypeVar("AnyWorker", bound="Worker[Any]")

MAX_SERIAL_TASKS = 64
"""Up to this number, short tasks run in this process."""
TASKS_PER_CHUNK = 16
CHUNKS_PER_PROCESS = 8
"""Chunks per process, including the running one."""
MAX_PROCESSES = 32

EXIT_S = 60.0
"""Timeout of a process after its pipe was closed. Removing containers may take long."""

_END = object()

_PR_SET_PDEATHSIG = 1
_SIGNALS = {signal.SIGINT, signal.SIGTERM}
_SPAWN = multiprocessing.get_context("spawn")


class WorkerLostError(Exception):
    """The worker's process ended before its task."""


class Worker(Generic[Result]):
    """A process, which starts with the first task and restarts after it ended."""

    def __init__(self, initializer: Callable[..., object] | None = None, *args: Any, fork: bool = False) -> None:
        """`initializer(*args)` is called in each new process. Both must be picklable.

        `fork` requires a parent without other threads: their locks would never be released in the fork.
        """
        self._initializer = (initializer, args)
        self._fork = fork
        self._process: BaseProcess | None = None
        self._pipe: connection.Connection | None = None
        self._sender: Thread | None = None
        self._answer: tuple[Result | None, Exception | None] | None = None

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def start(self, task: Callable[P, Result], *args: P.args, **kwargs: P.kwargs) -> None:
        """Raises OSError without a process, RuntimeError without a thread; then `kill` it.

        The previous task must have ended. The task, its arguments and its result must be picklable.
        """
        data = pickle.dumps((task, args, kwargs))
        if self._process is not None and not self._process.is_alive():
            self.kill()
        if self._process is None or self._pipe is None:
            self._process, self._pipe = self._new_process()
        self._answer = None
        # A new process does not read yet, and the pipe's buffer may be too small.
        sender = Thread(target=_send, args=(self._pipe, data), daemon=True)
        sender.start()
        self._sender = sender

    def exception(self) -> Exception | None:
        """Wait for the task: its exception, WorkerLostError if the process is gone, or None."""
        return self._ended()[1]

    def result(self) -> Result:
        """Wait for the task's result. Raises its exception, or WorkerLostError."""
        result, error = self._ended()
        if error is not None:
            raise error
        return result  # type: ignore[return-value]  # the task's own, which may be None

    def kill(self) -> None:
        """Wait until the process is gone. An unfinished task is lost."""
        kill([self])

    def reset(self) -> None:
        """Use a new process: a failed task left the old one in an unknown state."""
        self.kill()

    def close(self) -> None:
        """Wait until the process is gone. No task may be running."""
        if self._pipe is not None and self._process is not None:
            self._pipe.close()
            self._process.join(EXIT_S)
        self.kill()

    def _new_process(self) -> tuple[BaseProcess, connection.Connection]:
        process, (pipe,) = _start_process(1, self._initializer, fork=self._fork)
        return process, pipe

    def _ended(self) -> tuple[Result | None, Exception | None]:
        if self._answer is None:
            self._answer = self._receive()
        return self._answer

    def _receive(self) -> tuple[Result | None, Exception | None]:
        if self._process is None or self._pipe is None:
            return None, WorkerLostError("its process was ended")
        process, pipe = self._process, self._pipe
        connection.wait([pipe, process.sentinel])
        try:
            if pipe.poll():
                answer: tuple[Result | None, Exception | None] = pipe.recv()
                return answer
        except (EOFError, OSError):
            process.join(EXIT_S)
        self.kill()
        code = process.exitcode
        if code is None:
            return None, WorkerLostError("its process is gone")
        reason = f"was killed by signal {-code}" if code < 0 else f"exited: {code}"
        return None, WorkerLostError(f"its process {reason}")

    def _handles(self) -> list[Any]:
        if self._process is None or self._pipe is None:
            return []
        return [self._pipe, self._process.sentinel]


class Crew(Generic[Result]):
    """Workers that share a process. It starts with the first task, and restarts after it was lost."""

    def __init__(
        self, size: int, initializer: Callable[..., object] | None = None, *args: Any, fork: bool = False
    ) -> None:
        self.workers: Sequence[Worker[Result]] = [_Member(self, number) for number in range(size)]
        self._initializer = (initializer, args)
        self._fork = fork
        self._process: BaseProcess | None = None
        self._pipes: Sequence[connection.Connection] = ()

    def join(self, number: int) -> tuple[BaseProcess, connection.Connection]:
        """The pipe is the worker's. Raises OSError without a process."""
        if self._process is None or not self._process.is_alive() or self._pipes[number].closed:
            kill(self.workers)
            self._process, self._pipes = _start_process(len(self.workers), self._initializer, fork=self._fork)
        return self._process, self._pipes[number]

    def leave(self, number: int) -> None:
        """After the last worker, wait until the process is gone."""
        if self._process is None:
            return
        self._pipes[number].close()
        if all(pipe.closed for pipe in self._pipes):
            self._process.join(EXIT_S)
            kill(self.workers)
            self._process = None


class _Member(Worker[Result]):
    def __init__(self, crew: Crew[Result], number: int) -> None:
        super().__init__()
        self._crew = crew
        self._number = number

    def reset(self) -> None:
        """Others use the process."""

    def close(self) -> None:
        self._crew.leave(self._number)

    def _new_process(self) -> tuple[BaseProcess, connection.Connection]:
        return self._crew.join(self._number)


def _start_process(
    pipes: int, initializer: tuple[Callable[..., object] | None, tuple[Any, ...]], *, fork: bool
) -> tuple[BaseProcess, Sequence[connection.Connection]]:
    ours, theirs = zip(*(multiprocessing.Pipe() for _ in range(pipes)), strict=True)
    # A parent that ends without `close` does not wait for a daemon.
    process: BaseProcess
    if fork:
        # Descriptors by device and inode, without the standard streams.
        listed = [int(path.name) for path in Path("/proc/self/fd").iterdir()]
        files = {fd: found for fd in listed if fd > 2 and (found := _identity(fd))}
        process = multiprocessing.get_context("fork").Process(
            target=_serve_forked, args=(files, theirs, *initializer), daemon=True
        )
    else:
        process = _SPAWN.Process(target=_serve, args=(theirs, *initializer), daemon=True)
        # First, because the tracker's start unblocks SIGINT.
        from multiprocessing import resource_tracker

        resource_tracker.ensure_running()
    # Until the child has set its handlers.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        process.start()
    except BaseException:
        for pipe in ours:
            pipe.close()
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for pipe in theirs:
            pipe.close()
    return process, ours


def wait(workers: Collection[AnyWorker], timeout_s: float) -> list[AnyWorker]:
    """All workers that ended or lost their task, at the latest after `timeout_s`."""
    gone = [worker for worker in workers if not worker._handles()]
    if gone or not workers:
        return gone
    handles = {handle: worker for worker in workers for handle in worker._handles()}
    ready = connection.wait(list(handles), timeout_s)
    return list(dict.fromkeys(handles[handle] for handle in ready))


def kill(workers: Iterable["Worker[Any]"], polite_s: float = 0) -> None:
    """Kill the workers' processes, and wait until they are gone.

    If `polite_s` is not 0, send SIGTERM first, and wait up to `polite_s` seconds for all of them together.
    """
    alive = [(worker, worker._process) for worker in workers if worker._process is not None]
    if polite_s:
        for _, process in alive:
            process.terminate()
        deadline = time.monotonic() + polite_s
        for _, process in alive:
            process.join(max(0, deadline - time.monotonic()))
    for _, process in alive:
        process.kill()
    for worker, process in alive:
        process.join()
        if worker._sender is not None:
            worker._sender.join()
        if worker._pipe is not None:
            worker._pipe.close()
        worker._process = worker._pipe = None


def in_parallel(
    task: Callable[[Given], Result], given: Iterable[Given], between: Iterable[object] = ()
) -> Iterator[Result]:
    """Results of a short task in order, in parallel if there are many items.

    `given` is consumed only a few chunks ahead. While no result is ready, this process consumes `between`.
    """
    waiting = iter(given)
    first = list(islice(waiting, MAX_SERIAL_TASKS + 1))
    if len(first) <= MAX_SERIAL_TASKS:
        yield from map(task, first)
        return
    processes = min(_processors(), MAX_PROCESSES)
    chunks, own = _chunks(chain(first, waiting)), iter(between)
    with ProcessPoolExecutor(processes, mp_context=_SPAWN, initializer=_begin_short_tasks) as pool:
        running = deque(pool.submit(_do_each, task, chunk) for chunk in islice(chunks, CHUNKS_PER_PROCESS * processes))
        while running:
            while not running[0].done() and next(own, _END) is not _END:
                pass
            yield from running.popleft().result()
            running.extend(pool.submit(_do_each, task, chunk) for chunk in islice(chunks, 1))


def _processors() -> int:
    usable: Callable[[int], set[int]] | None = getattr(os, "sched_getaffinity", None)  # missing on Windows
    return os.cpu_count() or 1 if usable is None else len(usable(0))


def _chunks(given: Iterator[Given]) -> Iterator[list[Given]]:
    while chunk := list(islice(given, TASKS_PER_CHUNK)):
        yield chunk


def _do_each(task: Callable[[Given], Result], chunk: list[Given]) -> list[Result]:
    return list(map(task, chunk))


def _identity(fd: int) -> tuple[int, int] | None:
    try:
        found = os.fstat(fd)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _send(pipe: connection.Connection, data: bytes) -> None:
    with suppress(OSError):
        pipe.send_bytes(data)


# --- in the worker process -------------------------------------------------------------------------------------------


def _serve(
    pipes: Sequence[connection.Connection], initializer: Callable[..., object] | None, args: tuple[Any, ...]
) -> None:
    _obey_parent()
    for pipe in pipes:
        os.set_inheritable(pipe.fileno(), False)  # not for programs started by a task
    first: list[Any] = []
    with importing():
        if initializer is not None:
            initializer(*args)
        if len(pipes) == 1:
            with suppress(EOFError):
                first.append(pipes[0].recv())  # imports the task's modules
    if len(pipes) == 1:
        _do_tasks(pipes[0], first)
        return
    from judge.base.descriptors import raise_descriptor_limit

    raise_descriptor_limit()  # the soft limit is for a single task
    threads = [Thread(target=_do_tasks, args=(pipe,)) for pipe in pipes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _do_tasks(pipe: connection.Connection, first: Sequence[Any] = ()) -> None:
    with suppress(EOFError):
        for task in chain(first, iter(pipe.recv, None)):
            _answer(pipe, *task)


def _answer(
    pipe: connection.Connection, task: Callable[..., object], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> None:
    try:
        pipe.send((task(*args, **kwargs), None))
    except Exception as error:  # noqa: BLE001 it is raised where the task was started
        error.add_note(traceback.format_exc())
        pipe.send((None, _picklable(error)))


def _serve_forked(
    files: Mapping[int, tuple[int, int]], pipes: Sequence[connection.Connection], *initializer: Any
) -> None:
    """Serve without the parent's files.

    /dev/null replaces them, because inherited objects (mappings, sockets) close files by number. The parent's garbage
    is not collected, because of its finalizers.

    Files are compared by identity: between listing and fork, the parent may reuse a number for the pipe that reports
    this process's end.
    """
    ours = {pipe.fileno() for pipe in pipes}
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd, identity in files.items():
        if fd not in ours and _identity(fd) == identity:
            os.dup2(nothing, fd, inheritable=False)
    os.close(nothing)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with exempt():
        _serve(pipes, *initializer)


def _picklable(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 our own
    except Exception:  # noqa: BLE001 any class of error
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def die_with_parent(parent: int) -> None:
    """Die with the thread of `parent` that started this process."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent != os.getppid():
        os._exit(1)


def _begin_short_tasks() -> None:
    if hasattr(signal, "pthread_sigmask"):  # not on Windows
        _obey_parent()
    collect_rarely()


def _obey_parent() -> None:
    parent = multiprocessing.parent_process()
    die_with_parent(os.getppid() if parent is None or parent.pid is None else parent.pid)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
