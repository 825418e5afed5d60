"""Processes that run Python, without the second in which each of them imports the judge.

A `ForkedProcess` is a `subprocess.Popen` for `python -m MODULE ...`, and a process of its own in every way: its parent
is the caller, and it has the arguments, environment, directory, streams, session and signals of a new one (a new
session's stdin, if it is a terminal, is that which controls it). It was forked by a process that has imported the judge
before, and runs the module from its first line. Where a test is about the command's own start, its command line in
/proc, or another user, it uses `Popen`.

`fork_workers` does the same for the processes that multiprocessing starts, of tests and of services that were forked.
"""

import atexit
import ctypes
import fcntl
import gc
import importlib
import io
import multiprocessing.util
import os
import pickle
import pkgutil
import runpy
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, AnyStr, NoReturn

import judge.base.registry
import judge.cli
import judge.contest
import judge.games
import judge.protocols
import judge.web.intake
import judge.web.live
from judge.base.garbage import importing

_ROOT = Path(__file__).parents[1]
_PR_SET_CHILD_SUBREAPER = 36
_MESSAGE_BYTES = 1 << 20
_MAX_FILES = 16
_CLUSTER = ("judge.cluster.daemons", "judge.cluster.cluster", "judge.cluster.checkers")
"""The judges of many machines, which only few processes import."""
_OF_CLUSTERS = {"worker", "scheduler", "--cluster"}
"""Words of the commands that do."""
_START_WORKERS = {"serve", "submit", "worker", "--cluster"}
"""Words of the commands that start workers by multiprocessing."""

begun: list[int] = []
"""The ids of all that were forked for this process, in order."""


def _umask() -> int:
    mask = os.umask(0o77)
    os.umask(mask)
    return mask


@dataclass(frozen=True)
class _Order:
    """What a new process runs, and in which surroundings: where nothing is said, those of the process that orders."""

    words: Sequence[str]
    """As the interpreter takes them: -m MODULE or -c CODE, and arguments."""
    files: Sequence[int]
    """The numbers of its open files."""
    imports: Sequence[str] = ()
    """What the process that forks it imports, unless it has."""
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    directory: str = field(default_factory=os.getcwd)
    umask: int = field(default_factory=_umask)
    cores: frozenset[int] = field(default_factory=lambda: frozenset(os.sched_getaffinity(0)))
    nice: int = field(default_factory=lambda: os.getpriority(os.PRIO_PROCESS, 0))
    blocked: frozenset[int] = field(default_factory=lambda: frozenset(signal.pthread_sigmask(signal.SIG_BLOCK, ())))
    new_session: bool = False

    @property
    def starts_workers(self) -> bool:
        """Whether it is a command that starts workers by multiprocessing."""
        return self.words[1] == "judge.cli" and not _START_WORKERS.isdisjoint(self.words)


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
        arguments: list[str] = [os.fspath(word) for word in words]
        order = _Order(
            [option, module, *arguments],
            files=(0, 1, 2),
            imports=() if _OF_CLUSTERS.isdisjoint(arguments) else _CLUSTER,
            environment=dict(os.environ if env is None else env),
            directory=str(Path(cwd or ".").resolve()),
            umask=_umask() if umask == -1 else umask,
            new_session=new_session,
        )
        p2cread, _, _, c2pwrite, _, errwrite = fds
        streams = [number if fd == -1 else fd for number, fd in enumerate((p2cread, c2pwrite, errwrite))]
        self.pid = _Forker.of_this_process().fork(order, streams)
        begun.append(self.pid)
        self._child_created = True
        self._close_pipe_fds(*fds)  # type: ignore[attr-defined]

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        """A test that fails does not wait for the process: it is killed."""
        if kind is not None:
            self.kill()
        super().__exit__(kind, *rest)


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


def run_line(line: str, directory: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a line in a shell. A `judge` command that needs no shell is forked, which saves its imports."""
    if line.startswith("judge ") and not set(line) & set("$*?|<>&;"):
        command = [sys.executable, "-m", "judge.cli", *shlex.split(line)[1:]]
        return run(command, cwd=directory, env=environment, text=True)
    command = ["sh", "-c", line]
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)


start_anew = multiprocessing.util.spawnv_passfds
"""How multiprocessing starts a process without `fork_workers`."""


def fork_workers() -> None:
    """From now on the processes that multiprocessing would start anew are forked by one that has imported the judge."""
    multiprocessing.util.spawnv_passfds = _spawnv_passfds  # type: ignore[assignment] # no numbers but int


def _spawnv_passfds(_path: bytes, arguments: Sequence[str | bytes], passed: Sequence[int]) -> int:
    words = [os.fsdecode(argument) for argument in arguments]
    files = sorted({0, 1, 2, *map(int, passed)})
    imports = _CLUSTER if "judge.cluster.checkers" in sys.modules else ()
    return _Forker.of_this_process().fork(_Order(words[words.index("-c") :], files, imports), files)


class _Forker:
    """The process that has imported the judge and forks what is ordered."""

    _mine: "_Forker | None" = None

    def __init__(self, orders: socket.socket, process: "subprocess.Popen[bytes] | None" = None) -> None:
        self._orders = orders
        self._process = process
        self._owner = os.getpid()
        self._lock = threading.Lock()
        orders.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _MESSAGE_BYTES)

    @classmethod
    def of_this_process(cls) -> "_Forker":
        """The one of this process, started now if there is none; it ends with it."""
        if cls._mine is None or cls._mine._owner != os.getpid():
            ours, theirs = _socketpair()
            with theirs:
                # It may begin with a safe path.
                call = f"sys.path.insert(0, {str(_ROOT)!r}); from tests.forked import serve; serve({theirs.fileno()})"
                command = [sys.executable, "-c", f"import sys; {call}"]
                process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
            cls._mine = cls(ours, process)
        return cls._mine

    @classmethod
    def fork_one(cls, files: Sequence[int]) -> None:
        """Make a fork of this process, which has only imported yet, the one of this process; `files` are not for it."""
        ours, theirs = _socketpair()
        if os.fork() == 0:
            for fd in (ours.detach(), *files):
                os.close(fd)
            for number in _SIGNALS:  # the terminal's are for the service and its workers
                signal.signal(number, signal.SIG_IGN)
            _serve(theirs)
        theirs.close()
        cls._mine = cls(ours)

    def fork(self, order: _Order, files: Sequence[int]) -> int:
        """A new process, a child of this one, and its id; its files are copies of these, in the order's numbers."""
        # The forker's child forks in turn and ends, and its orphan is given to the nearest process that takes orphans.
        with self._lock:
            _take_orphans(True)
            try:
                socket.send_fds(self._orders, [pickle.dumps(order)], list(files))
                return int(self._orders.recv(64))
            finally:
                _take_orphans(False)


_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _socketpair() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def _take_orphans(takes: bool) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(takes), 0, 0, 0)


def serve(number: int) -> None:
    """Fork a process for each order that comes through a socket, until it is closed."""
    with importing():  # a collection would copy all that the processes share
        _import_all()
        gc.collect()
    _serve(socket.socket(fileno=number))


def _serve(orders: socket.socket) -> NoReturn:
    while True:
        data, files, _, _ = socket.recv_fds(orders, _MESSAGE_BYTES, _MAX_FILES)
        if not data:
            os._exit(0)
        order: _Order = pickle.loads(data)  # noqa: S301 our own
        with importing():
            for name in order.imports:
                importlib.import_module(name)
        read_end, write_end = os.pipe()
        between = os.fork()
        if between == 0:
            between = os.getpid()
            child = os.fork()
            if child:
                os.write(write_end, str(child).encode())
                os._exit(0)
            while os.getppid() == between:
                os.sched_yield()
            for fd in (read_end, write_end, orders.detach()):
                os.close(fd)
            _become(order, files)
        pid = os.read(read_end, 64)
        os.waitpid(between, 0)
        orders.send(pid)
        for fd in (read_end, write_end, *files):
            os.close(fd)


def _become(order: _Order, files: Sequence[int]) -> NoReturn:
    """Be the process that was ordered, and run to the end."""
    if order.new_session:
        os.setsid()
    if order.starts_workers:
        _Forker.fork_one(files)
        fork_workers()
    _have_files(files, order.files)
    for number in _SIGNALS:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, order.blocked)
    if order.new_session and os.isatty(0):
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(order.directory)
    os.umask(order.umask)
    os.sched_setaffinity(0, order.cores)
    os.setpriority(os.PRIO_PROCESS, 0, order.nice)
    os.environ.clear()
    os.environ.update(order.environment)
    _see_packages(order.environment.get("PYTHONPATH", ""))
    tempfile.tempdir = None
    line_wise = bool(order.environment.get("PYTHONUNBUFFERED"))
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), encoding="utf-8")
    sys.stdout, sys.stderr = _writer(1, line_wise), _writer(2, True)
    _run_to_the_end(*order.words)


def _have_files(files: Sequence[int], numbers: Sequence[int]) -> None:
    """Have open files under these numbers, and no longer under their own."""
    above = 1 + max(numbers)
    copies = [fcntl.fcntl(fd, fcntl.F_DUPFD, above) for fd in files]
    for fd in files:
        os.close(fd)
    for copy, number in zip(copies, numbers, strict=True):
        os.dup2(copy, number)
        os.close(copy)


def _run_to_the_end(option: str, program: str, *arguments: str) -> NoReturn:
    """As the interpreter runs a module or code and ends, but for taking apart all that was imported: most of a short
    command's CPU time."""
    code = 0
    try:
        if option == "-m":
            sys.argv = [program, *arguments]
            runpy.run_module(program, run_name="__main__", alter_sys=True)
        else:
            sys.argv = ["-c", *arguments]
            sys.modules["__main__"] = main = ModuleType("__main__")
            exec(program, vars(main))  # noqa: S102 the code of multiprocessing
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
        judge.base.registry.forget()


def _writer(fd: int, line_wise: bool) -> io.TextIOWrapper:
    buffered = io.BufferedWriter(io.FileIO(fd, "w", closefd=False))
    errors = "backslashreplace" if fd == 2 else "strict"
    return io.TextIOWrapper(buffered, encoding="utf-8", errors=errors, line_buffering=line_wise or os.isatty(fd))


IMPORTED_LATE = (
    *("docker.api", "sqlalchemy.dialects.sqlite", "structlog.dev", "uvicorn", "anyio._backends._asyncio"),
    *("networkx", "judge.tournament.certain_places"),
)
"""What commands import only when they need it, and most do in the end."""


def _import_all() -> None:
    """Import what commands import, but for the judges of many machines."""
    for room in (judge.cli, judge.contest, judge.games, judge.web.intake, judge.web.live, judge.protocols):
        for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    for name in IMPORTED_LATE:
        importlib.import_module(name)
