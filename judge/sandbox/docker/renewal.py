"""Renews a container between two games of its agent, and verifies that it is as new. See decision 0011."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import zip_longest
from multiprocessing.util import Finalize
from pathlib import Path
from threading import Lock
from typing import Any

from judge.base.procfs import read_kernel_file, stat_fields, status_fields
from judge.sandbox.docker import inside
from judge.sandbox.docker.container_box import Container
from judge.sandbox.docker.first_process import FirstProcess
from judge.sandbox.docker.freezer import EnginePause, is_ordered_frozen
from judge.sandbox.layout import PROGRAM
from judge.sandbox.machine.cgroup import UNIFIED, parse_mounts
from judge.sandbox.machine.pipes import await_readable

CLEAN_TIMEOUT_S = 5.0

PATIENCE_S = 5.0

ROOM_BYTES = 2 << 20
"""Allowed growth since before the first game: program pages and batched counters."""

FREED_S, FREED_LOOK_S = 1.0, 0.01

STATUS = (
    "Umask", "Uid", "Gid", "Groups", "NSpid", "TracerPid", "Threads", "SigPnd", "ShdPnd", "SigBlk", "SigIgn", "SigCgt",
    "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "Seccomp_filters", "THP_enabled",
)  # fmt: skip

STAT = {"session": 3, "priority": 15, "nice": 16, "rt_priority": 37, "policy": 38}
"""By their position after the name in /proc/PID/stat."""

FILES = ("limits", "oom_score_adj", "coredump_filter", "personality", "timerslack_ns", "cgroup", "loginuid")

SHOWN = {
    "memory": ("memory.limit_in_bytes", "memory.soft_limit_in_bytes", "memory.memsw.limit_in_bytes"),
    "cpu": ("cpu.cfs_period_us", "cpu.cfs_quota_us", "cpu.shares"),
    "pids": ("pids.max",),
    UNIFIED: (
        "cgroup.controllers", "cpu.max", "cpu.weight", "memory.high", "memory.max", "memory.swap.max", "pids.max",
    ),
}  # fmt: skip


EPOLL = "anon_inode:[eventpoll]"

RUN_QUEUE = "game"

LAST_PID = 1
"""The agent is the first process after PID 1 in each game."""

NAMESPACES = ("mnt", "pid", "ipc", "net", "cgroup", "uts")


class UncleanError(Exception):
    """The text is the reason."""


class NamespaceHelper:
    """One per process; see `judge.sandbox.docker.inside`."""

    def __init__(self) -> None:
        """Raises OSError."""
        self._lock = Lock()
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.settimeout(PATIENCE_S)
        with theirs:
            words = [sys.executable, "-I", "-S", inside.__file__, str(theirs.fileno())]
            self._process = subprocess.Popen(words, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)

    def ask(self, handle: int, request: Mapping[str, Any]) -> None:
        """Raises UncleanError."""
        try:
            with self._lock:
                socket.send_fds(self._socket, [json.dumps(request).encode()], [handle])
                answer: Mapping[str, Any] = json.loads(self._socket.recv(inside.LARGEST))
        except (OSError, ValueError) as error:
            self.close()
            raise UncleanError(f"the helper inside of containers does not answer: {error}") from None
        if "error" in answer:
            raise UncleanError(str(answer["error"]))

    @property
    def has_ended(self) -> bool:
        return self._process.returncode is not None

    def close(self) -> None:
        self._socket.close()
        self._process.kill()
        self._process.wait()


def helper() -> NamespaceHelper:
    """Raises UncleanError if this judge may not enter its containers."""
    if os.geteuid() != 0:
        raise UncleanError("only a judge that is root may enter the namespaces of its containers")
    if not Path(inside.LAST_PID).exists():
        raise UncleanError("this kernel does not let process numbers be set (CONFIG_CHECKPOINT_RESTORE)")
    started = _helper_of(os.getpid())
    if started.has_ended:
        _helper_of.cache_clear()
        started = _helper_of(os.getpid())
    return started


@cache
def _helper_of(_process: int) -> NamespaceHelper:
    """A forked process starts its own helper."""
    try:
        started = NamespaceHelper()
    except OSError as error:
        raise UncleanError(f"no helper inside of containers can be started: {error}") from None
    Finalize(None, started.close, exitpriority=0)
    return started


KeptContainer = Container[FirstProcess]


@dataclass(slots=True)
class Renewal:
    """The renewal of one container, with its state before the first game."""

    container: KeptContainer
    _before: Mapping[str, str] = field(default_factory=dict)
    _memory_bytes: int = 0
    _limits: Mapping[str, str] = field(default_factory=dict)

    def begin(self) -> None:
        """Hide what cannot be renewed, renew the rest, and store the state.

        Raises UncleanError, and OSError if counters cannot be restarted.
        """
        if not self.container.groups:
            raise UncleanError("its cgroups are hidden")
        if isinstance(self.container.freezer, EnginePause):
            raise UncleanError("this judge may not write the files of its cgroups")
        self._clean()
        # Requests in the host's namespaces would change the host.
        for name in NAMESPACES:
            if _namespace(self._first.pid, name) == _namespace("self", name):
                raise UncleanError(f"it has no separate {name} namespace")
        made = self._file_systems()
        self._renew_run_queue()
        self._renew(self._shown())
        if (now := self._file_systems()) != made:
            raise UncleanError(f"file systems of the same options are other ones: {made} and {now}")
        self._before = self._look()
        self._memory_bytes = self._used_bytes()
        self.container.restart_counters()

    def renew(self) -> None:
        """Undo a game's effects and verify the result. Raises UncleanError and HostError."""
        self._clean()
        self.prove_alone()
        self._renew_run_queue()
        if self.container.program is not None:
            self.container.program.make()
        self._renew(None)
        self._give_memory_back()
        self.prove()

    def prove(self) -> None:
        """Compare everything with the stored state. Raises UncleanError naming the difference."""
        self.prove_alone()
        now = self._look()
        for name, before in self._before.items():
            if (found := now.get(name, "")) != before:
                lines = zip_longest(before.splitlines(), found.splitlines())
                first = next(pair for pair in lines if pair[0] != pair[1])
                was, is_now = (" ".join((text or "nothing").split())[:200] for text in first)
                raise UncleanError(f"{name}: it was {was}, and is {is_now}")
        if (more := self._used_bytes() - self._memory_bytes) > ROOM_BYTES:
            raise UncleanError(f"{more} bytes of memory are not given back")

    @property
    def _first(self) -> FirstProcess:
        return self.container.first

    def _clean(self) -> None:
        if not self.container.stream.clean(CLEAN_TIMEOUT_S):
            raise UncleanError("PID 1 does not confirm that no process is left")

    def _file_systems(self) -> Mapping[str, str]:
        found = {}
        for line in _text(f"/proc/{self._first.pid}/mountinfo").splitlines():
            mount, _, system = line.partition(" - ")
            found[mount.split(" ")[4]] = system
        return {path: found.get(path, "") for path in self.container.tmpfs}

    def _renew(self, hide: Mapping[str, str] | None) -> None:
        copy, tmpfs = self.container.program, dict(self.container.tmpfs)
        program = None if copy is None else [str(copy.path), PROGRAM]
        request = {"hide": hide, "renew": tmpfs, "program": program, "last_pid": LAST_PID}
        helper().ask(self._first.fd, request)

    def _renew_run_queue(self) -> None:
        """Restart `se.vruntime` of /proc/self/sched, which contains the work of former games."""
        if (group := self.container.groups.get("cpu")) is not None:
            queue = group / RUN_QUEUE
            (group / "cgroup.procs").write_text(str(self._first.pid), encoding="ascii")
            if queue.exists():
                queue.rmdir()
            queue.mkdir()
            (queue / "cgroup.procs").write_text(str(self._first.pid), encoding="ascii")

    def prove_alone(self) -> None:
        """Verify that PID 1 runs, alone, with one thread, and is not stopped."""
        if await_readable(self._first.fd, 0):
            raise UncleanError("its PID 1 has ended")
        if is_ordered_frozen(self.container.groups):
            raise UncleanError("another program has frozen it")
        for hierarchy in {"pids", "memory", UNIFIED} & self.container.groups.keys():
            for name in ("cgroup.procs", "cgroup.threads" if hierarchy == UNIFIED else "tasks"):
                found = _text(f"{self.container.groups[hierarchy]}/{name}").split()
                if found != [str(self._first.pid)]:
                    raise UncleanError(f"there are other processes: {name} of {hierarchy or 'cgroup'} has {found[:5]}")
        with suppress(FileNotFoundError):
            if _text(f"{self.container.groups.get('pids', self.container.groups.get(UNIFIED))}/pids.current") != "1":
                raise UncleanError("there are processes that have ended and are not gone")

    def _look(self) -> Mapping[str, str]:
        try:
            return dict(self._seen())
        except OSError as error:
            raise UncleanError(f"its state cannot be read: {error}") from None

    def _seen(self) -> Iterator[tuple[str, str]]:
        process = f"/proc/{self._first.pid}"
        status = status_fields(self._first.pid)
        yield from ((f"{name} of PID 1", status.get(name, "")) for name in STATUS)
        stat = stat_fields(self._first.pid)
        yield from ((f"{name} of PID 1", stat[place]) for name, place in STAT.items())
        for name in FILES:
            with suppress(FileNotFoundError):
                yield f"{name} of PID 1", _text(f"{process}/{name}")
        for name in ("cwd", "root", "exe"):
            yield f"{name} of PID 1", os.readlink(f"{process}/{name}")  # noqa: PTH115 faster
        for name in sorted(os.listdir(f"{process}/fd")):  # noqa: PTH208 faster
            file = os.readlink(f"{process}/fd/{name}")  # noqa: PTH115 faster
            # Only its streams can be shared with the agent. Listing an epoll's watches takes milliseconds.
            flags = "" if file == EPOLL else _text(f"{process}/fdinfo/{name}").splitlines()[1]
            yield f"file {name} of PID 1", f"{file} {flags}"
        # Without ids of mount, parent and file system.
        mounts = (line.split(" ", 3)[3] for line in _text(f"{process}/mountinfo").splitlines())
        yield "mounts", "\n".join(sorted(mounts))
        sockets = _text(f"{process}/net/unix").splitlines()[1:]
        yield "sockets", "\n".join(sockets)
        yield "keys", "\n".join(_keys_of(str(self.container.uid)))
        yield from ((f"limit {name}", _text(path)) for name, path in self._limits.items())

    def _shown(self) -> Mapping[str, str]:
        points = parse_mounts(_text(f"/proc/{self._first.pid}/mountinfo"))
        self._limits = {
            str((points[hierarchy][1] / name).relative_to(inside.CGROUPS)): str(self.container.groups[hierarchy] / name)
            for hierarchy, names in SHOWN.items()
            if hierarchy in self.container.groups
            and hierarchy in points
            and points[hierarchy][1].is_relative_to(inside.CGROUPS)
            for name in names
            if (self.container.groups[hierarchy] / name).exists()
        }
        return {name: _text(path) + "\n" for name, path in self._limits.items()}

    def _used_bytes(self) -> int:
        used = self.container.meter.memory_bytes()
        if used is None:
            raise UncleanError("its memory cannot be read")
        return used

    def _give_memory_back(self) -> None:
        groups = self.container.groups
        is_v1 = "memory" in groups
        drop = groups["memory"] / "memory.force_empty" if is_v1 else groups[UNIFIED] / "memory.reclaim"
        deadline = time.monotonic() + FREED_S
        while (more := self._used_bytes() - self._memory_bytes) > ROOM_BYTES and time.monotonic() < deadline:
            with suppress(OSError):  # some memory could not be dropped; it is counted
                drop.write_text(str(more), encoding="ascii")
            time.sleep(FREED_LOOK_S)


def _text(path: str) -> str:
    return read_kernel_file(path).decode("utf-8", "replace").rstrip("\n")


def _namespace(pid: int | str, name: str) -> str:
    return str((Path("/proc") / str(pid) / "ns" / name).readlink())


def _keys_of(uid: str) -> list[str]:
    try:
        lines = _text("/proc/key-users").splitlines()
    except FileNotFoundError:
        return []
    return [line.strip() for line in lines if line.split(":")[0].strip() == uid]
