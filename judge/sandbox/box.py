"""A box is where one agent lives: this is all that the referee may know of it.

The life of a box: `prepare` (everything ready, the agent not yet running: nobody's clock), `enter` (it has its slot's
cores), `start` (the agent runs), any number of `freeze` and `thaw`, `kill`, `leave` (the cores are the next
game's), `close` (nothing is left). `leave` and `close` may be called at any time, more than once, and never raise.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

BoxKind = Literal["docker", "process"]
"""A container, or a process without walls."""

NO_FREEZER = "none"
"""The freezer of a box that is never stopped; also the word of `BoxPolicy.freeze` for it."""


class FolderKind(StrEnum):
    """Which of an agent's two folders."""

    TEMPORARY = "temporary"
    """A sub-folder of the working directory with the agent's name, kept through a contest."""
    PERSISTENT = "persistent"
    """The directory of INFO folder, kept for good."""


class Channel(StrEnum):
    """Where bytes of a box come from."""

    OUT = "out"
    """The agent's stdout; empty data is its end of file, which is final."""
    ERR = "err"
    """The agent's stderr; empty data is its end of file."""
    REPORT = "report"
    """What PID 1 says of the agent; `data` is a `ProcessReport` in its text form."""
    OOM = "oom"
    """The box ran out of memory and the kernel kills for it; `data` is empty. Only a hint to look at the readings: not
    every host lets every user watch (v1 cgroups need root)."""


@dataclass(frozen=True, slots=True)
class ProcessReport:
    """What happened to the agent's process, from PID 1, which the agent cannot reach.

    `started`; `exec-failed` with the errno; `exited` with the code; `signalled` with the signal number; `lost`: the
    container is gone without a report.
    """

    kind: Literal["started", "exec-failed", "exited", "signalled", "lost"]
    number: int = 0

    def encode(self) -> bytes:
        """The text form in a transcript, such as `exited 3`."""
        return f"{self.kind} {self.number}".encode()

    @classmethod
    def decode(cls, data: bytes) -> "ProcessReport":
        """The report of a text form; raises ValueError for anything else."""
        kind, _, number = data.decode("ascii").partition(" ")
        if kind not in ("started", "exec-failed", "exited", "signalled", "lost"):
            raise ValueError(f"not a report: {data!r}")
        return cls(kind, int(number))  # type: ignore[arg-type]


class EventSource(Protocol):
    """A file descriptor of a box that can be polled."""

    fd: int
    events: int
    """The poll mask to watch for: `select.EPOLLIN`, or `EPOLLPRI` for a cgroup's event file."""

    ended: bool
    """Nothing more will come: take it out of the poll set, for `fd` may stay readable for ever."""

    def read(self) -> Sequence[tuple[Channel, bytes]]:
        """What is there now, without blocking; empty when nothing is. Takes at most 64 KiB at a time."""


@dataclass(frozen=True, slots=True)
class Readings:
    """The kernel's counters of a box; None for those that this box or this host does not have."""

    memory_peak_bytes: int | None = None
    memory_cap_bytes: int | None = None
    oom_kills: int | None = None
    cpu_ns: int | None = None
    reached_cap: bool | None = None
    """Whether the box was at its own cap. If not, a kill for memory has another cause: the host, or a cgroup above the
    box."""


class Limits(BaseModel):
    """What the kernel enforces on one agent, in bytes and counts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    memory_bytes: int = Field(default=367001600, ge=16 << 20)
    """The agent's own memory; the cap of its cgroup is this plus every writable directory (their pages are memory)."""
    temporary_bytes: int = Field(default=20971520, ge=0)
    temporary_inodes: int = Field(default=2048, ge=16)
    persistent_bytes: int = Field(default=0, ge=0)
    """Size of the persistent folder; 0: there is none. (Of the working directory 0 means: nothing can be written.)"""
    persistent_inodes: int = Field(default=2048, ge=16)
    scratch_bytes: int = Field(default=16 << 20, ge=0)
    scratch_inodes: int = Field(default=1024, ge=16)
    shm_bytes: int = Field(default=1 << 20, ge=0)
    """Size of /dev/shm, which POSIX semaphores and shared memory need; 0: there is none. It holds at most one file for
    each 4,096 bytes."""
    processes: int = Field(default=64, ge=2)
    open_files: int = Field(default=256, ge=16)
    file_bytes: int = Field(default=64 << 20, ge=0)
    """Largest file; more than a folder holds, so that a full one is ENOSPC and not a signal that ends the agent."""
    stack_bytes: int = Field(default=8 << 20, ge=0)
    address_bytes: int = Field(default=16 << 30, ge=0)
    """How much address space each process may reserve, used or not; 0: no limit. It bounds how long one system call can
    walk through it: nothing stops a process in the middle of a call. The JVM and Wine need 2 GiB, AddressSanitizer
    terabytes."""

    @property
    def cap_bytes(self) -> int:
        """What the cgroup is capped at."""
        folders = self.temporary_bytes + self.persistent_bytes
        return self.memory_bytes + folders + self.scratch_bytes + self.shm_bytes


ONE_KERNEL = ("", "runc", "crun")
"""Runtimes of the Engine (empty: its default) whose containers have the host's kernel. Another, such as `runsc`, has
one of its own, which opens no named pipe of the host."""


class BoxPolicy(BaseModel):
    """How a box is built: what a contest may choose about isolation."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    freeze: Literal["auto", "unified", "v1", "engine", "none"] = "auto"
    """Out of turn: `auto` takes the first that this host has of unified, v1, engine; `none` allows pondering."""
    transport: Literal["auto", "pipes", "attach"] = "auto"
    """`auto`: named pipes where judge and agent share a kernel, else the Engine's stream, which is slower."""
    uid: int = Field(default=20001, ge=1000)
    """The first user (and group) that agents are. Each box has one that no other box of the host has meanwhile."""
    uids: int = Field(default=4096, ge=2, le=40000)
    """How many users there are from `uid` on: as many boxes as that may run on a host at once."""
    seccomp: str = "native"
    """Which system calls an agent may make: a profile of policies/seccomp, a profile file, or `engine` for the Engine's
    own profile."""
    seccomp_of: dict[str, str] = Field(default_factory=dict)
    """Other profiles for single runtimes, by the runtime's name or its image: `"local/wine:1" = "wine32"`. `wine` has
    `wine32` unless something else stands here."""
    apparmor: str = "auto"
    """`auto`: the Engine's profile where the host has AppArmor; else the name of a profile that the host must have."""
    user_namespace: Literal["auto", "required"] = "auto"
    """`required`: only an Engine that shifts the users of its containers (`userns-remap`) will do."""
    runtime: str = ""
    """The Engine's runtime (`runsc`), which the Engine must have; empty: the Engine's default."""
    reuse: Literal["never", "agent", "auto"] = "never"
    """`never`: each game has a fresh box. `agent`: a box is kept for its agent's next game on the slot if it is proved
    from outside that the former game left nothing; see `judge.sandbox.docker.renewal`. `auto`: as `agent`, without a
    line in the log where a box cannot be kept."""
    sharing: int = Field(default=1, ge=1)
    """How many games may have the same cores at once. If it is more than one, clocks include the work of the others,
    by an unknown amount: no overrun is void for it. For agents that wait more than they compute."""
    start_timeout_s: float = Field(default=60.0, gt=0)
    """How long the Engine may take for a step before the host is at fault."""

    @property
    def may_use_pipes(self) -> bool:
        """Whether named pipes are to be tried."""
        return self.transport == "pipes" or (self.transport == "auto" and self.runtime in ONE_KERNEL)

    @property
    def once(self) -> "BoxPolicy":
        """This policy for a box that serves one game, or a part of one."""
        return self if self.reuse == "never" else self.model_copy(update={"reuse": "never"})


@dataclass(frozen=True, slots=True)
class Tenant:
    """The agent of a box: the staged program, how it is run and where it may run.

    `program` is a directory of the judge's own, mounted read-only at /agent; `command` is as the agent's manifest has
    it (its words that name files of `program`, and `.`, become paths that the agent can open); `runtime` is ours
    or a local image; `cores` are the numbers of the processors of its slot.
    """

    name: str
    program: Path
    command: tuple[str, ...]
    runtime: str
    seat: int
    game_id: str
    cores: tuple[int, ...] = ()
    parking_cores: tuple[int, ...] = ()
    """Where the box is made, waits for its slot and is removed, so that this does not disturb the slot's cores; empty:
    on those."""
    cpu_shares: int = 1024
    """Its part of the processors where others want them too; 1,024 is what a container of the Engine's has."""
    environment: tuple[tuple[str, str], ...] = ()
    runs_scratch: bool = False
    """Whether programs in its scratch space may be run, and loaded as libraries: for builds that need it, never for an
    agent."""
    digest: str = ""
    """SHA-256 of the agent's files; empty: its box is kept for nobody."""
    uid: int | None = None
    """The user (and group) that owns its kept folders. None: the box claims a free one."""
    folders: Mapping[FolderKind, str] = field(default_factory=dict)
    """Where a keeper holds this agent's folders: volumes of a container, directories of a process. A folder that is
    not named here is fresh, and gone with the box."""


@dataclass(frozen=True, slots=True)
class Nearby:
    """Where what stalls a box stalls others too."""

    files: tuple[Path, ...] = ()
    """Files on the disks that its files are on."""
    cgroup: Path | None = None
    """The cgroup that counts its memory together with that of other boxes."""


class Meter:
    """The counters of a box. This class is of a box whose counters are unknown.

    A method returns None if its counter is not available within some microseconds; `readings` may take longer.
    """

    def __init__(self) -> None:
        self.exhausted_cap: int | None = None
        """Set when the kernel killed the box for memory and removed its cgroup before this could be counted."""

    def readings(self) -> Readings:
        """All counters; of a box that has ended, the last ones. Works until `Box.close`."""
        read, cap = self._read(), self.exhausted_cap
        if cap is None or read.oom_kills:
            return read
        return replace(read, memory_peak_bytes=cap, memory_cap_bytes=cap, oom_kills=1, reached_cap=None)

    def _read(self) -> Readings:
        return Readings()

    def memory_bytes(self) -> int | None:
        """Memory in use now, as the box's cap counts it."""
        return None

    def cpu_ns(self) -> int | None:
        """CPU time used by everything in the box so far."""
        return None

    def waited_ns(self) -> int | None:
        """Time in which processes of the box were ready to run, and none ran because others had the core.

        Time in which the box's own processes wait for each other does not count.
        """
        return None

    def is_busy(self) -> bool | None:
        """Whether anything in the box runs, is ready to run, or waits for a disk."""
        return None

    def pressure_ns(self, *, of_any: bool = False) -> int | None:  # noqa: ARG002
        """Time in which the box waited for memory or a disk, and nothing in it ran.

        With `of_any`, time in which any process in it waited so. An agent can cause both.
        """
        return None

    def restart(self) -> None:
        """Count from now on, as in a new box. Raises OSError where this is impossible."""
        raise OSError("its counters cannot be restarted")

    def close(self) -> None:
        """Close its files."""


class Box(ABC):
    """The box of one agent. Every method may raise `HostError`, except `leave` and `close`.

    The defaults are of a box in which nothing runs.
    """

    name: str
    """What kind of box this is, for the record: `docker-pipes`, `docker-attach`, `process`."""

    @property
    def is_reused(self) -> bool:
        """Whether it has served a former game of the same agent."""
        return False

    @property
    def freezer(self) -> str:
        """How the box is stopped, in the words of `box.freeze`; NO_FREEZER if it never is."""
        return NO_FREEZER

    @property
    def meter(self) -> Meter:
        """Its counters, also after the agent's death; get it again after `prepare`."""
        return Meter()

    @property
    @abstractmethod
    def sources(self) -> Sequence[EventSource]:
        """What to poll, from `prepare` on."""

    @abstractmethod
    def write(self, data: bytes) -> int:
        """Write to the agent's stdin without blocking; the number of bytes taken, 0 when full, -1 when nobody reads."""

    @property
    def stdin_fd(self) -> int:
        """What to poll for room to write; -1 when nobody reads any more."""
        return -1

    def prepare(self) -> None:
        """Make everything ready; the agent does not run yet."""

    def enter(self) -> None:
        """Move to the cores of the slot; the agent does not run yet."""

    def start(self) -> None:
        """Let the agent run; whether it started, and how it ends, comes on the REPORT channel."""

    def freeze(self) -> None:
        """Stop the whole box; returns at once, `is_frozen` confirms."""

    def is_frozen(self) -> bool:
        """Whether everything in the box is stopped (True if the box has no freezer)."""
        return True

    def thaw(self) -> None:
        """Let the whole box continue."""

    def is_held(self) -> bool | None:
        """Whether another program keeps the box frozen that the judge thawed, or has ever paused it.

        None if this is unknown. An agent cannot cause it.
        """
        return None

    def nearby(self) -> Nearby:
        """Where what stalls this box stalls others too."""
        return Nearby()

    def kill(self) -> None:
        """Kill all processes of the agent; readings stay. A process in a system call ends after it: see `is_gone`."""

    def is_gone(self) -> bool:
        """Whether nothing of the agent's runs any more."""
        return True

    def leave(self) -> float:
        """Free the cores of the slot: the game is over. Readings stay.

        Returns when the last process is gone: the seconds for which killed processes ran on.
        """
        return 0.0

    def close(self) -> None:
        """Remove every trace."""
