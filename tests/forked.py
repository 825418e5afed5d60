"""`python -m MODULE ...` as a process, without the second in which each process imports the judge.

A `ForkedProcess` is a `subprocess.Popen` for the same words, and a process of its own in every way: its parent is the
caller, and it has the arguments, environment, directory, streams, session and signals of a new one (a new session's
stdin, if it is a terminal, is that which controls it). It was forked by a process that has imported the judge
before, and runs the module from its first line. Where a test is about
the command's own start, its command line in /proc, or another user, it uses `Popen`.
"""

import atexit
import ctypes
import fcntl
import gc
import importlib
import io
import os
import pickle
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, AnyStr, NoReturn

import judge.cli
import judge.contest
import judge.games
import judge.intake
import judge.live
import judge.protocols
import judge.registry
from judge.garbage import importing

_PR_SET_CHILD_SUBREAPER = 36
_MESSAGE_BYTES = 1 << 20

begun: list[int] = []
"""The ids of all that were forked for this process, in order."""


@dataclass(frozen=True)
class _Order:
    """What a new process runs, and in which surroundings."""

    module: str
    arguments: Sequence[str]
    environment: Mapping[str, str]
    directory: str
    cores: frozenset[int]
    umask: int
    new_session: bool


class ForkedProcess(subprocess.Popen[AnyStr]):
    """`Popen([sys.executable, "-m", MODULE, ...])`, forked by a process that has imported the judge."""

    def _execute_child(self, args: Any, executable: Any, preexec_fn: Any, close_fds: Any, *rest: Any) -> None:
        # The place where Popen starts a process; the arguments are those of Python 3.11 to 3.13.
        pass_fds, cwd, env, _, _, shell, *fds = rest[:12]
        restore_signals, _, _, _, umask, new_session = rest[12:18]
        interpreter, option, module, *words = args
        assert (interpreter, option) == (sys.executable, "-m")
        assert not any((executable, preexec_fn, pass_fds, shell))
        assert all((close_fds, restore_signals))
        order = _Order(
            module,
            [os.fspath(word) for word in words],
            dict(os.environ if env is None else env),
            str(Path(cwd or ".").resolve()),
            frozenset(os.sched_getaffinity(0)),
            _umask() if umask == -1 else umask,
            new_session,
        )
        p2cread, _, _, c2pwrite, _, errwrite = fds
        streams = [own if fd == -1 else fd for own, fd in enumerate((p2cread, c2pwrite, errwrite))]
        self.pid = _Forker.of_this_process().fork(order, streams)
        begun.append(self.pid)
        self._child_created = True
        self._close_pipe_fds(*fds)  # type: ignore[attr-defined]


def run(words: Sequence[str], **options: Any) -> subprocess.CompletedProcess[Any]:
    """As `subprocess.run`, with `capture_output`, but by a ForkedProcess."""
    pipe = subprocess.PIPE
    timeout = options.pop("timeout", None)
    given = options.pop("input", None)
    if given is not None:
        options["stdin"] = pipe
    with ForkedProcess(words, stdout=pipe, stderr=pipe, **options) as process:
        try:
            out, err = process.communicate(given, timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(words, process.returncode, out, err)


class _Forker:
    """The process that has imported the judge, started with the first order."""

    _mine: "_Forker | None" = None

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            code = f"from tests.forked import serve; serve({theirs.fileno()})"
            command = [sys.executable, "-c", code]
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        self._socket = ours
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _MESSAGE_BYTES)

    @classmethod
    def of_this_process(cls) -> "_Forker":
        """The one of this process of a test run; it ends with it."""
        if cls._mine is None:
            cls._mine = cls()
        return cls._mine

    def fork(self, order: _Order, streams: Sequence[int]) -> int:
        """A new process, a child of this one, and its id."""
        # The forker's child forks in turn and ends, and its orphan is given to the nearest process that takes orphans.
        _take_orphans(True)
        try:
            socket.send_fds(self._socket, [pickle.dumps(order)], list(streams))
            return int(self._socket.recv(64))
        finally:
            _take_orphans(False)


def _take_orphans(takes: bool) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(takes), 0, 0, 0)


def _umask() -> int:
    mask = os.umask(0o77)
    os.umask(mask)
    return mask


# --- in the process that has imported the judge ----------------------------------------------------------------------


def serve(number: int) -> None:
    """Fork a process for each order that comes through a socket, until it is closed."""
    with importing():  # a collection would copy all that the processes share
        _import_all()
        gc.collect()
    orders = socket.socket(fileno=number)
    while True:
        data, streams, _, _ = socket.recv_fds(orders, _MESSAGE_BYTES, 3)
        if not data:
            return
        told, tell = os.pipe()
        between = os.fork()
        if between == 0:
            between = os.getpid()
            child = os.fork()
            if child:
                os.write(tell, str(child).encode())
                os._exit(0)
            while os.getppid() == between:
                os.sched_yield()
            for fd in (told, tell, orders.detach()):
                os.close(fd)
            _become(pickle.loads(data), streams)  # noqa: S301 our own
            return
        pid = os.read(told, 64)
        os.waitpid(between, 0)
        orders.send(pid)
        for fd in (told, tell, *streams):
            os.close(fd)


def _become(order: _Order, streams: Sequence[int]) -> None:
    """Be the process that was ordered, and run its module to the end."""
    for fd in streams:  # out of the way of 0, 1 and 2
        assert fd > 2
    for own, fd in enumerate(streams):
        os.dup2(fd, own)
        os.close(fd)
    if order.new_session:
        os.setsid()
        if os.isatty(0):
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(order.directory)
    os.umask(order.umask)
    os.sched_setaffinity(0, order.cores)
    os.environ.clear()
    os.environ.update(order.environment)
    _see_packages(order.environment.get("PYTHONPATH", ""))
    tempfile.tempdir = None
    line_wise = bool(order.environment.get("PYTHONUNBUFFERED"))
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), encoding="utf-8")
    sys.stdout, sys.stderr = _writer(1, line_wise), _writer(2, True)
    sys.argv = [order.module, *order.arguments]
    _run_to_the_end(order.module)


def _run_to_the_end(module: str) -> NoReturn:
    """As the interpreter runs a module and ends, but for taking apart all that was imported: most of a short
    command's CPU time."""
    code = 0
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if isinstance(end.code, int):
            code = end.code
        elif end.code is not None:
            sys.stderr.write(f"{end.code}\n")
            code = 1
    except BaseException as error:  # noqa: BLE001 the interpreter catches all
        sys.excepthook(type(error), error, error.__traceback__)
        code = 128 + signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code & 0xFF)


def _see_packages(paths: str) -> None:
    """Put PYTHONPATH before all other paths; what it holds of games and protocols is registered."""
    new = [path for path in paths.split(os.pathsep) if path]
    sys.path[:0] = new
    if new:
        importlib.invalidate_caches()
        judge.registry.forget()


def _writer(fd: int, line_wise: bool) -> io.TextIOWrapper:
    buffered = io.BufferedWriter(io.FileIO(fd, "w", closefd=False))
    errors = "backslashreplace" if fd == 2 else "strict"
    return io.TextIOWrapper(buffered, encoding="utf-8", errors=errors, line_buffering=line_wise or os.isatty(fd))


IMPORTED_LATE = ("docker.api", "sqlalchemy.dialects.sqlite", "structlog.dev", "uvicorn", "anyio._backends._asyncio")
"""What commands import only when they need it, and most do in the end."""


def _import_all() -> None:
    """Import what commands import, but for the judges of many machines."""
    for room in (judge.cli, judge.contest, judge.games, judge.intake, judge.live, judge.protocols):
        for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    for name in IMPORTED_LATE:
        importlib.import_module(name)
