"""Worker processes: each does one task at a time, and can be killed without harm to any other.

The workers of a crew have one process together, and a thread each: for many tasks that mostly wait. Its memory is there
once, and what one of them does another one finds in the processor's caches; if it is lost, so are all their tasks.

A worker is a new interpreter, or a fork of a parent that has no other threads: that starts at once and shares what the
parent has imported. It holds none of the parent's files. The kernel kills it when the thread that started it ends, and
Ctrl-C at the terminal is left to its parent. Nothing in the parent wakes up while tasks run: `wait` sleeps in the
kernel until a task has ended or a process is gone.
"""

import ctypes
import multiprocessing
import os
import pickle
import resource
import signal
import time
import traceback
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from itertools import chain, islice
from multiprocessing import connection, resource_tracker
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Thread
from typing import Any, Generic, ParamSpec, TypeVar

from judge.base.garbage import exempt, importing

Result = TypeVar("Result")
Given = TypeVar("Given")
P = ParamSpec("P")
AnyWorker = TypeVar("AnyWorker", bound="Worker[Any]")

FEW = 64
"""So many short tasks are done sooner than processes are started for them."""
CHUNK = 16
"""How many short tasks go to a process at once."""
AHEAD = 4
"""How many chunks each process has, the one that it works on included."""
MAX_PROCESSES = 32

EXIT_S = 60.0
"""How long a process that has closed its pipe, or was told that there is no more to do, may take to exit: it may keep
boxes that the Engine removes, which may be slow."""

_PR_SET_PDEATHSIG = 1
_SIGNALS = {signal.SIGINT, signal.SIGTERM}
_SPAWN = multiprocessing.get_context("spawn")
_FORK = multiprocessing.get_context("fork")


class WorkerLostError(Exception):
    """The process of a worker ended before its task did."""


class Worker(Generic[Result]):
    """A process for one task at a time. It is started with the first task, and with the next one after it has ended."""

    def __init__(self, initializer: Callable[..., object] | None = None, *args: Any, fork: bool = False) -> None:
        """`initializer(*args)` is called in each new process before its first task; both must pickle.

        `fork`: the parent has no threads of its own: a lock that one of them has would never be released in a fork.
        """
        self._initializer = (initializer, args)
        self._fork = fork
        self._process: BaseProcess | None = None
        self._pipe: connection.Connection | None = None
        self._sender: Thread | None = None
        self._answer: tuple[Result | None, Exception | None] | None = None

    @property
    def pid(self) -> int | None:
        """The process; None if there is none."""
        return None if self._process is None else self._process.pid

    def start(self, task: Callable[P, Result], *args: P.args, **kwargs: P.kwargs) -> None:
        """Begin a task; the one before must have ended. Raises OSError where no process can be started.

        The task, its arguments and its result must pickle.
        """
        data = pickle.dumps((task, args, kwargs))
        if self._process is not None and not self._process.is_alive():
            self.kill()
        if self._process is None or self._pipe is None:
            self._process, self._pipe = self._new_process()
        self._answer = None
        # In a thread, for a new process reads nothing before it has started, and the pipe may not take it all.
        self._sender = Thread(target=_send, args=(self._pipe, data), daemon=True)
        self._sender.start()

    def exception(self) -> Exception | None:
        """What the task raised, WorkerLostError where its process is gone, or None; waits for the task's end."""
        return self._ended()[1]

    def result(self) -> Result:
        """What the task returned, waiting for its end; raises what it raised, and WorkerLostError."""
        result, error = self._ended()
        if error is not None:
            raise error
        return result  # type: ignore[return-value]  # the task's own, which may be None

    def kill(self) -> None:
        """End the process now, and return when it is gone; its task, if it had not ended, is lost."""
        kill([self])

    def reset(self) -> None:
        """Have a new process for the next task: the last one failed, and left its own in a state that nobody knows."""
        self.kill()

    def close(self) -> None:
        """Let the process exit, and return when it is gone; it must not be running a task."""
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
        """What is ready when the task has ended."""
        if self._process is None or self._pipe is None:
            return []
        return [self._pipe, self._process.sentinel]


class Crew(Generic[Result]):
    """Workers that have one process together. It is started with the first task, and anew after it was lost."""

    def __init__(
        self, size: int, initializer: Callable[..., object] | None = None, *args: Any, fork: bool = False
    ) -> None:
        """`size` workers; for the rest see `Worker`."""
        self.workers: Sequence[Worker[Result]] = [_Member(self, number) for number in range(size)]
        self._initializer = (initializer, args)
        self._fork = fork
        self._process: BaseProcess | None = None
        self._pipes: Sequence[connection.Connection] = ()

    def join(self, number: int) -> tuple[BaseProcess, connection.Connection]:
        """The process, and the pipe of one of the workers. Raises OSError where no process can be started."""
        if self._process is None or not self._process.is_alive() or self._pipes[number].closed:
            kill(self.workers)
            self._process, self._pipes = _start_process(len(self.workers), self._initializer, fork=self._fork)
        return self._process, self._pipes[number]

    def leave(self, number: int) -> None:
        """One of the workers has no more tasks, or never had one; when all have left, the process is gone on return."""
        if self._process is None:
            return
        self._pipes[number].close()
        if all(pipe.closed for pipe in self._pipes):
            self._process.join(EXIT_S)
            kill(self.workers)
            self._process = None


class _Member(Worker[Result]):
    """A worker of a crew: to kill it kills the process of all."""

    def __init__(self, crew: Crew[Result], number: int) -> None:
        super().__init__()
        self._crew = crew
        self._number = number

    def reset(self) -> None:
        """Go on: others have tasks in the process, and a task leaves nothing behind in it."""

    def close(self) -> None:
        """Leave the process, which exits when all have left it."""
        self._crew.leave(self._number)

    def _new_process(self) -> tuple[BaseProcess, connection.Connection]:
        return self._crew.join(self._number)


def _start_process(
    pipes: int, initializer: tuple[Callable[..., object] | None, tuple[Any, ...]], *, fork: bool
) -> tuple[BaseProcess, Sequence[connection.Connection]]:
    """A new process with a thread for each pipe, and our ends of the pipes."""
    ours, theirs = zip(*(multiprocessing.Pipe() for _ in range(pipes)), strict=True)
    # A daemon: a parent that ends without `close` does not wait for it.
    process: BaseProcess
    if fork:
        # The descriptors of this process, by device and inode, without the standard streams.
        listed = [int(path.name) for path in Path("/proc/self/fd").iterdir()]
        files = {fd: found for fd in listed if fd > 2 and (found := _identity(fd))}
        process = _FORK.Process(target=_serve_forked, args=(files, theirs, *initializer), daemon=True)
    else:
        process = _SPAWN.Process(target=_serve, args=(theirs, *initializer), daemon=True)
        # The tracker's start lets SIGINT through again, so it comes first.
        resource_tracker.ensure_running()
    # The process hears neither before it has said what they mean to it.
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
    """The workers whose tasks have ended or are lost, waiting for one of them, but at most so long."""
    gone = [worker for worker in workers if not worker._handles()]
    if gone or not workers:
        return gone
    handles = {handle: worker for worker in workers for handle in worker._handles()}
    ready = connection.wait(list(handles), timeout_s)
    return list(dict.fromkeys(handles[handle] for handle in ready))


def kill(workers: Iterable["Worker[Any]"], polite_s: float = 0) -> None:
    """End the processes of workers now, and return when they are gone; tasks that have not ended are lost.

    Where `polite_s` is not 0, each gets SIGTERM first, and all of them so many seconds together.
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


def in_parallel(task: Callable[[Given], Result], given: Iterable[Given]) -> Iterator[Result]:
    """The results of a short task for each of `given`, in order; on all processors where there are many.

    `given` is asked for a few chunks ahead of the results that were taken, and no more of it is held.
    """
    waiting = iter(given)
    first = list(islice(waiting, FEW + 1))
    if len(first) <= FEW:
        yield from map(task, first)
        return
    processes = min(len(os.sched_getaffinity(0)), MAX_PROCESSES)
    chunks = _chunks(chain(first, waiting))
    with ProcessPoolExecutor(processes, mp_context=_SPAWN, initializer=_obey_parent) as pool:
        running = deque(pool.submit(_do_each, task, chunk) for chunk in islice(chunks, AHEAD * processes))
        while running:
            yield from running.popleft().result()
            running.extend(pool.submit(_do_each, task, chunk) for chunk in islice(chunks, 1))


def _chunks(given: Iterator[Given]) -> Iterator[list[Given]]:
    while chunk := list(islice(given, CHUNK)):
        yield chunk


def _do_each(task: Callable[[Given], Result], chunk: list[Given]) -> list[Result]:
    return list(map(task, chunk))


def _identity(fd: int) -> tuple[int, int] | None:
    try:
        found = os.fstat(fd)
    except OSError:  # it is closed by now
        return None
    return found.st_dev, found.st_ino


def _send(pipe: connection.Connection, data: bytes) -> None:
    with suppress(OSError):  # a process that is gone is noticed by the code that waits for it
        pipe.send_bytes(data)


# --- in the process of a worker --------------------------------------------------------------------------------------


def _serve(
    pipes: Sequence[connection.Connection], initializer: Callable[..., object] | None, args: tuple[Any, ...]
) -> None:
    _obey_parent()
    for pipe in pipes:
        os.set_inheritable(pipe.fileno(), False)  # no program that a task starts has it
    first: list[Any] = []
    with importing():
        if initializer is not None:
            initializer(*args)
        if len(pipes) == 1:
            with suppress(EOFError):
                first.append(pipes[0].recv())  # what it needs is imported here
    if len(pipes) == 1:
        _do_tasks(pipes[0], first)
        return
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # the limit of old is for one task
    threads = [Thread(target=_do_tasks, args=(pipe,)) for pipe in pipes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _do_tasks(pipe: connection.Connection, first: Sequence[Any] = ()) -> None:
    """Do the tasks of one worker, until its pipe is closed: there is no more to do."""
    with suppress(EOFError):
        for task in chain(first, iter(pipe.recv, None)):
            _answer(pipe, *task)


def _answer(
    pipe: connection.Connection, task: Callable[..., object], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> None:
    """Run a task, and send its result or what it raised."""
    try:
        pipe.send((task(*args, **kwargs), None))
    except Exception as error:  # noqa: BLE001 it is raised where the task was started
        error.add_note(traceback.format_exc())
        pipe.send((None, _picklable(error)))


def _serve_forked(
    files: Mapping[int, tuple[int, int]], pipes: Sequence[connection.Connection], *initializer: Any
) -> None:
    """Serve in a copy of the parent, without its files.

    Their numbers stay taken, by /dev/null: an object of the parent's that goes here (a mapping, a socket) closes a file
    by number, and the number must be nobody else's. Garbage of the parent is not collected: it may do other harm.

    Between the list of the files and the fork the parent may have closed one, and given its number to a pipe that
    tells it of this process's end.
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
    """An error as it is, or its text where it would not come through the pipe."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 our own
    except Exception:  # noqa: BLE001 any class of error
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def die_with_parent(parent: int) -> None:
    """Die with the thread of the process `parent` that started this one; at once, if `parent` has ended before."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent != os.getppid():
        os._exit(1)


def _obey_parent() -> None:
    """Die with the thread that started this process, and leave Ctrl-C to it."""
    parent = multiprocessing.parent_process()
    die_with_parent(os.getppid() if parent is None or parent.pid is None else parent.pid)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
