"""Worker processes: each runs one task at a time, and can be killed without affecting others.

The workers of a crew share one process, with a thread each, which saves memory; if it is lost, so are all their tasks.

Workers are forks of Python's fork server, which imports the modules of the first task once, and has no open files of
the parent. The kernel kills a worker when its parent ends; Ctrl-C only reaches the parent.
"""

import ctypes
import gc
import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import time
import traceback
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache, partial
from itertools import chain, islice
from multiprocessing import connection, reduction, util
from multiprocessing.process import BaseProcess
from threading import Lock, Thread
from types import ModuleType
from typing import Any, Generic, NoReturn, ParamSpec, TypeVar

from judge.base.garbage import importing
from judge.base.owner import make_directory, remove_directory

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
_starting = Lock()
_SPAWN = multiprocessing.get_context("spawn")


class WorkerLostError(Exception):
    """The worker's process ended before its task."""


class Worker(Generic[Result]):
    """A process, which starts with the first task and restarts after it ended."""

    def __init__(
        self, initializer: Callable[..., object] | None = None, *args: Any, starts_workers: bool = False
    ) -> None:
        """`initializer(*args)` is called in each new process. Both must be picklable.

        A worker that `starts_workers` must be killed before this process ends, which would wait for it.
        """
        self._initializer = (initializer, args)
        self._starts_workers = starts_workers
        self._link: tuple[BaseProcess, connection.Connection] | None = None
        self._sender: Thread | None = None
        self._answer: tuple[Result | None, Exception | None] | None = None

    @property
    def pid(self) -> int | None:
        return None if self._link is None else self._link[0].pid

    def start(self, task: Callable[P, Result], *args: P.args, **kwargs: P.kwargs) -> None:
        """Raises OSError if the host has no process, file or thread for it; then `kill` it.

        The previous task must have ended. The task, its arguments and its result must be picklable.
        """
        data = pickle.dumps((task, args, kwargs))
        # The pipe of a process that is gone ends before the fork server reports its exit.
        if self._link is not None and (self._link[1].poll() or not self._link[0].is_alive()):
            self.kill()
        try:
            if self._link is None:
                self._link = self._new_process(getattr(task, "__module__", __name__))
            self._answer = None
            # A new process does not read yet, and the pipe's buffer may be too small.
            sender = Thread(target=_send, args=(self._link[1], data), daemon=True)
            sender.start()
        except EOFError as error:
            raise OSError("the fork server has ended") from error
        except RuntimeError as error:
            raise OSError(str(error)) from error
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
        if self._link is not None:
            process, pipe = self._link
            pipe.close()
            process.join(EXIT_S)
        self.kill()

    def _new_process(self, module: str) -> tuple[BaseProcess, connection.Connection]:
        process, (pipe,) = _start_process(1, self._initializer, module, starts_workers=self._starts_workers)
        return process, pipe

    def _ended(self) -> tuple[Result | None, Exception | None]:
        if self._answer is None:
            self._answer = self._receive()
        return self._answer

    def _receive(self) -> tuple[Result | None, Exception | None]:
        if self._link is None:
            return None, WorkerLostError("its process was ended")
        process, pipe = self._link
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
        return [] if self._link is None else [self._link[1], self._link[0].sentinel]


class Crew(Generic[Result]):
    """Workers that share a process. It starts with the first task, and restarts after it was lost."""

    def __init__(self, size: int, initializer: Callable[..., object] | None = None, *args: Any) -> None:
        self.workers: Sequence[Worker[Result]] = [_Member(self, number) for number in range(size)]
        self._initializer = (initializer, args)
        self._process: BaseProcess | None = None
        self._pipes: Sequence[connection.Connection] = ()

    def join(self, number: int, module: str) -> tuple[BaseProcess, connection.Connection]:
        """The pipe is the worker's. Raises OSError without a process."""
        if self._process is None or not self._process.is_alive() or self._pipes[number].closed:
            kill(self.workers)
            self._process, self._pipes = _start_process(len(self.workers), self._initializer, module)
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

    def _new_process(self, module: str) -> tuple[BaseProcess, connection.Connection]:
        return self._crew.join(self._number, module)


@cache
def give_sockets_a_directory() -> None:
    """Of the fork server's socket. If this process is killed, the next judge removes it."""
    directory = make_directory()
    util.Finalize(None, remove_directory, (directory,), exitpriority=-101)  # after -100, which removes its contents
    before, tempfile.tempdir = tempfile.tempdir, str(directory)
    try:
        util.get_temp_dir()
    finally:
        tempfile.tempdir = before


def start_fork_server(module: str = __name__) -> dict[str, str]:
    """Start the process that forks workers, with this thread's niceness and cores. It imports `module` if it is new.

    Return the environment for workers.
    """
    from multiprocessing import forkserver, resource_tracker  # not on Windows

    with _starting:
        environment = dict(os.environ)
        give_sockets_a_directory()
        forkserver.set_forkserver_preload([module])
        with _safe_path():
            resource_tracker.ensure_running()  # unblocks the signals
            before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)  # until a worker has set its handlers
            try:
                forkserver.ensure_running()
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return environment


@contextmanager
def _safe_path() -> Iterator[None]:
    """Processes that start now import nothing from the current directory, where others may have put files.

    The caller has locked `_starting`: threads share the environment.
    """
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


def _start_process(
    pipes: int,
    initializer: tuple[Callable[..., object] | None, tuple[Any, ...]],
    module: str,
    *,
    starts_workers: bool = False,
) -> tuple[BaseProcess, Sequence[connection.Connection]]:
    environment = start_fork_server(module)
    ours, theirs = zip(*(multiprocessing.Pipe() for _ in range(pipes)), strict=True)
    # A parent that ends without `close` does not wait for a daemon, which can start no processes.
    process = multiprocessing.get_context("forkserver").Process(
        target=_serve, args=(theirs[0], pipes, environment, *initializer), daemon=not starts_workers
    )
    try:
        with _without_main_module():
            process.start()
        for pipe in theirs[1:]:  # a process starts with at most 251 files
            reduction.send_handle(ours[0], pipe.fileno(), process.pid)
    except BaseException:
        for pipe in ours:
            pipe.close()
        raise
    finally:
        for pipe in theirs:
            pipe.close()
    return process, ours


@contextmanager
def _without_main_module() -> Iterator[None]:
    """A process that starts now does not run the program of this one again, which may have no guard."""
    with _starting:
        main, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main


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
    alive = [(worker, *worker._link) for worker in workers if worker._link is not None]
    if polite_s:
        for _, process, _ in alive:
            process.terminate()
        deadline = time.monotonic() + polite_s
        for _, process, _ in alive:
            process.join(max(0, deadline - time.monotonic()))
    for _, process, _ in alive:
        process.kill()
    for worker, process, pipe in alive:
        process.join()
        if worker._sender is not None:
            worker._sender.join()
        pipe.close()
        worker._link = None


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
    # Windows has no affinity.
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    processes, other_work = min(usable, MAX_PROCESSES), iter(between)
    left = chain(first, waiting)
    chunks = iter(lambda: list(islice(left, TASKS_PER_CHUNK)), [])
    with _starting, _safe_path():  # of multiprocessing's own process
        pool = ProcessPoolExecutor(processes, mp_context=_SPAWN, initializer=_begin_short_tasks)
    with pool:
        begun = list(islice(chunks, CHUNKS_PER_PROCESS * processes))

        def submit(some: Iterable[list[Given]]) -> list[Future[list[Result]]]:
            with _without_main_module(), _safe_path():  # each may start a process
                return [pool.submit(_do_each, task, chunk) for chunk in some]

        running = deque(submit(begun))
        while running:
            while not running[0].done() and next(other_work, _END) is not _END:
                pass
            yield from running.popleft().result()
            running.extend(submit(islice(chunks, 1)))


def _do_each(task: Callable[[Given], Result], chunk: list[Given]) -> list[Result]:
    return list(map(task, chunk))


def _send(pipe: connection.Connection, data: bytes) -> None:
    with suppress(OSError):
        pipe.send_bytes(data)


# --- in the worker process -------------------------------------------------------------------------------------------


def _serve(
    pipe: connection.Connection,
    pipes: int,
    environment: Mapping[str, str],
    initializer: Callable[..., object] | None,
    args: tuple[Any, ...],
) -> None:
    _obey_parent()
    os.environ.clear()
    os.environ.update(environment)
    first: list[Callable[[], object]] = []
    with importing():
        if initializer is not None:
            initializer(*args)
        if pipes == 1:
            with suppress(EOFError):
                first.append(_receive_task(pipe))  # imports its modules
    if pipes == 1:
        do_tasks(pipe, first)
        return
    from judge.base.descriptors import raise_descriptor_limit

    raise_descriptor_limit()  # the soft limit is for a single task
    others = [connection.Connection(reduction.recv_handle(pipe)) for _ in range(pipes - 1)]
    threads = [Thread(target=_do_tasks_or_exit, args=(each,)) for each in (pipe, *others)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def do_tasks(pipe: connection.Connection, first: Sequence[Callable[[], object]] = ()) -> None:
    """Answer tasks until the pipe ends."""
    with suppress(EOFError):
        for task in chain(first, iter(partial(_receive_task, pipe), None)):
            _answer(pipe, task)


def _do_tasks_or_exit(pipe: connection.Connection) -> None:
    """A thread that ends alone would leave its caller waiting, unless the caller has closed the pipe."""
    try:
        do_tasks(pipe)
    except OSError:
        return
    except BaseException:  # noqa: BLE001 as in a process with one thread
        traceback.print_exc()
        os._exit(1)


def _receive_task(pipe: connection.Connection) -> Callable[[], object]:
    """The next task; if it cannot be unpickled, it raises that error when it is called. Raises EOFError at the end."""
    data = pipe.recv_bytes()
    try:
        task, args, kwargs = pickle.loads(data)  # noqa: S301 our own
    except Exception as error:  # noqa: BLE001 it is raised where the task was started
        return partial(_raise, error)
    return partial(task, *args, **kwargs)


def _raise(error: Exception) -> NoReturn:
    raise error


def _answer(pipe: connection.Connection, task: Callable[[], object]) -> None:
    try:
        pipe.send((task(), None))
    except Exception as error:  # noqa: BLE001 it is raised where the task was started
        error.add_note(traceback.format_exc())
        try:
            pickle.loads(pickle.dumps(error))  # noqa: S301 our own
        except Exception:  # noqa: BLE001 any class of error
            pipe.send((None, RuntimeError(f"{type(error).__name__}: {error}")))
        else:
            pipe.send((None, error))


def die_with_parent(parent: int) -> None:
    """Die with the thread of `parent` that started this process."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent != os.getppid():
        os._exit(1)


def _begin_short_tasks() -> None:
    gc.freeze()
    if hasattr(signal, "pthread_sigmask"):  # not on Windows
        parent = multiprocessing.parent_process()
        die_with_parent(os.getppid() if parent is None or parent.pid is None else parent.pid)
        _ignore_ctrl_c()


def _obey_parent() -> None:
    """Die with the parent: the kernel sends SIGKILL when the pipe from it closes. Also die with the fork server."""
    import fcntl

    die_with_parent(os.getppid())
    if parent := multiprocessing.parent_process():
        fcntl.fcntl(parent.sentinel, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(parent.sentinel, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(parent.sentinel, fcntl.F_SETFL, os.O_ASYNC)
        if not parent.is_alive():
            os._exit(1)
    _ignore_ctrl_c()


def _ignore_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
