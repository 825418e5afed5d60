"""A box runs one agent.

Life of a box: `prepare` (no agent and no clock runs), `enter` (it gets the slot's cores), `start` (the agent runs), any
number of `freeze` and `thaw`, `kill`, `leave` (its cores are free), `close` (all is removed). `leave` and `close` may
be called at any time and repeatedly.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Literal, Protocol

from pydantic import Field

from judge.base.parsing import FailFastTuple, FrozenModel
from judge.sandbox.evidence import Evidence

BoxKind = Literal["docker", "process"]

ImageWay = Literal["engine", "packages"]
"""How an image of judge was built: from a base image, or from the packages of a host."""

NO_FREEZER = "none"
"""Freezer of a box that is never stopped."""

ENGINE_FREEZER = "engine"
"""Freezer of a user who may not write cgroup files: the Engine's pause, about 10 ms a call."""


class ImageFacts(FrozenModel):
    """What an Engine has of a runtime's image; equal where two Engines have equal files from the same origin."""

    content: str = Field(pattern=r"^((sha256:)?[0-9a-f]{64})?$")
    """SHA-256 (hex) of all that programs find in it; the id of an image that judge did not make; empty: missing."""
    way: ImageWay | None = None
    """None for an image that judge did not make."""
    base: str = Field(default="", pattern=r"^[a-z0-9:]{0,100}$")
    """Digest of the base image; with the way `packages`, the release of the host's distribution."""
    packages: FailFastTuple[str] = ()
    """Name and version of each."""

    def __str__(self) -> str:
        origin = f"way {self.way} ({self.base}), {len(self.packages)} packages, " if self.way else ""
        return f"{origin}content {self.content.removeprefix('sha256:')[:12]}"


class FolderKind(StrEnum):
    """One of an agent's two folders."""

    TEMPORARY = "temporary"
    """A sub-folder of the working directory with the agent's name, kept during a contest."""
    PERSISTENT = "persistent"
    """The directory of INFO folder, kept permanently."""


PERSISTENT = "/persistent"
"""An agent's persistent folder in a container."""
DIRECTORIES = {FolderKind.TEMPORARY: "home", FolderKind.PERSISTENT: "persistent"}
"""Names of the folders of an agent in a process box."""

WINE = "wine"
"""Runtime for Windows programs, and its launcher."""
WINDOWS_ROOT = "Z:"


def path_for(runtime: str, path: str) -> str:
    """A path in a box as programs of this runtime write it: `/agent/x.exe` is `Z:\\agent\\x.exe` under Wine."""
    if runtime != WINE:
        return path
    drive = WINDOWS_ROOT if path.startswith("/") else ""
    return drive + path.replace("/", "\\")


def persistent_path(kind: BoxKind, runtime: str) -> str:
    """Path of an agent's persistent folder: equal in every game, without spaces.

    Relative in a process box, whose working directory changes.
    """
    path = PERSISTENT if kind == "docker" else f"../{DIRECTORIES[FolderKind.PERSISTENT]}"
    return path_for(runtime, path)


class Channel(StrEnum):
    """Origin of bytes from a box."""

    OUT = "out"
    """Stdout; empty data is its final end of file."""
    ERR = "err"
    """Stderr; empty data is its end of file."""
    REPORT = "report"
    OOM = "oom"
    """Only a hint to take readings. With v1 cgroups only root can watch it: see `Box.unreported_kills`."""


class EventSource(Protocol):
    """A pollable file descriptor."""

    fd: int
    events: int
    """Poll mask: `select.EPOLLIN`, or `EPOLLPRI` for a cgroup's event file."""

    ended: bool
    """Remove it from the poll set, because `fd` may stay readable."""

    def read(self) -> Sequence[tuple[Channel, bytes]]:
        """Available data without blocking, at most 64 KiB."""


KERNEL_BYTES = 16 << 20
"""For sockets, threads, mappings, names of files, and page tables of small programs. Starters use 2 MB; no honest
program that was measured used more than 17 MB (docs/enforcement.md).
"""


class Limits(FrozenModel):
    """Limits that the kernel enforces for one agent, in bytes and counts."""

    memory_bytes: int = Field(default=367001600, ge=16 << 20)
    """Memory of the agent. The cap of its cgroup is this plus every writable directory, whose pages are memory."""
    temporary_bytes: int = Field(default=20971520, ge=0)
    temporary_inodes: int = Field(default=2048, ge=16)
    persistent_bytes: int = Field(default=0, ge=0)
    """Size of the persistent folder; 0: no folder. (For the working directory 0 means read-only.)"""
    persistent_inodes: int = Field(default=2048, ge=16)
    scratch_bytes: int = Field(default=16 << 20, ge=0)
    scratch_inodes: int = Field(default=1024, ge=16)
    shm_bytes: int = Field(default=1 << 20, ge=0)
    """Size of /dev/shm, which POSIX semaphores and shared memory need; 0: not mounted. At most one file per 4,096
    bytes.
    """
    processes: int = Field(default=64, ge=2)
    open_files: int = Field(default=128, ge=16)
    """Of each process; twice as many with Wine. The kernel does not charge up to 1 KiB of each."""
    file_bytes: int = Field(default=64 << 20, ge=0)
    """Maximum file size; larger than a folder, so that a full folder gives ENOSPC and not a signal that ends the agent.
    """
    stack_bytes: int = Field(default=8 << 20, ge=0)
    address_bytes: int = Field(default=16 << 30, ge=0)
    """Address space per process; 0: no limit. It bounds the duration of a system call that walks through it, because
    a process cannot be stopped within a call. The JVM and Wine need 2 GiB, AddressSanitizer terabytes.
    """

    @property
    def cap_bytes(self) -> int:
        folders = self.temporary_bytes + self.persistent_bytes
        return self.memory_bytes + folders + self.scratch_bytes + self.shm_bytes

    @property
    def kernel_bytes(self) -> int:
        """Maximum of the kernel's memory for the agent, which the judge checks.

        The cap includes it, but the kernel charges objects and not their pages. Pages that keep one object of many
        are memory outside the cap. The second part is for page tables of 16 processes that share all memory.
        """
        return KERNEL_BYTES + self.memory_bytes // 32


ONE_KERNEL = ("", "runc", "crun")
"""Engine runtimes (empty: its default) on the host's kernel. Others, such as `runsc`, cannot open named pipes of the
host.
"""


CONTESTS_NEED_PIPES = (
    "a contest needs named pipes to its boxes, because over the Engine's stream each clock includes the Engine's delay"
)


class BoxPolicy(FrozenModel):
    """How a box is built: the isolation settings of a contest."""

    freeze: Literal["auto", "unified", "v1", "engine", "none"] = "auto"
    """How agents are stopped out of turn. `auto`: the first available of unified, v1, engine. `none`: they run on, on
    the opponent's cores; `clock.ponder` gives each agent its own.
    """
    transport: Literal["auto", "pipes", "attach"] = "auto"
    """`auto`: named pipes if judge and agent share a kernel, else the Engine's stream, which is slower. Contests need
    named pipes.
    """
    seccomp_of: dict[str, str] = Field(default_factory=dict)
    """Allowed system calls of single runtimes, by runtime name or image: `"local/wine:1" = "wine32"`. A profile of
    policies/seccomp, a profile file, or `engine` for the Engine's own profile. The default is `native`, and `wine32`
    for `wine`.
    """
    runtime: str = ""
    """Runtime of the Engine (such as `runsc`), which must be installed; empty: the Engine's default."""
    reuse: Literal["never", "agent", "auto"] = "never"
    """`never`: each game has a fresh box. `agent`: a box is reused for its agent's next game on the slot after it was
    verified as clean; see `judge.sandbox.docker.renewal`. `auto`: as `agent`, without a log entry where reuse is
    impossible.
    """
    sharing: int = Field(default=1, ge=1)
    """Maximum number of simultaneous games on the same cores. Above one, clocks include an unknown amount of the other
    games' work, and no overrun is void because of it. For agents that mostly wait.
    """

    @property
    def attach_reason(self) -> str:
        """Why the Engine's stream is used on every host; empty if it is not."""
        if self.transport == "attach":
            return "box.transport = 'attach' selects the Engine's stream"
        if self.runtime not in ONE_KERNEL:
            return f"box.runtime = {self.runtime!r} has a separate kernel, which cannot open the host's named pipes"
        return ""

    @property
    def once(self) -> "BoxPolicy":
        return self if self.reuse == "never" else self.model_copy(update={"reuse": "never"})


@dataclass(frozen=True, slots=True)
class Tenant:
    """The agent of a box.

    `program` is mounted read-only at /agent; `judge.sandbox.layout.command_in_box` converts `command`. `runtime` is one
    of ours or a local image. `cores` are processor numbers.
    """

    name: str
    program: Path
    command: tuple[str, ...]
    runtime: str
    seat: int
    game_id: str
    cores: tuple[int, ...] = ()
    parking_cores: tuple[int, ...] = ()
    """Here the box is created, waits and is removed, to keep the slot's cores undisturbed; empty: the slot's."""
    cpu_shares: int = 1024
    environment: tuple[tuple[str, str], ...] = ()
    runs_scratch: bool = False
    """Programs in scratch space may be executed; only for builds, never for agents."""
    digest: str = ""
    """SHA-256 of the agent's files; empty: its box is not kept."""
    uid: int | None = None
    """Owner of its kept folders. None: the box reserves one."""
    folders: Mapping[FolderKind, str] = field(default_factory=dict)
    """Volumes for a container, directories for a process. Other folders are fresh and removed with the box."""


@dataclass(frozen=True, slots=True)
class Nearby:
    """Shared resources whose stalls the box may cause."""

    files: tuple[Path, ...] = ()
    cgroup: Path | None = None
    """Accounts its memory together with other boxes'."""


class Meter:
    """Counters of a box; None if not available within microseconds. Only `readings` may take longer."""

    def __init__(self) -> None:
        self.exhausted_cap: int | None = None
        """Set if the kernel killed the box for memory and removed its cgroup before this could be counted."""

    def readings(self) -> Evidence:
        """All counters, also the last ones of an ended box, until `Box.close`."""
        read, cap = self._read(), self.exhausted_cap
        if cap is None or read.oom_kills:
            return read
        killed = {"memory_peak_bytes": cap, "memory_cap_bytes": cap, "oom_kills": 1, "reached_cap": None}
        return read.model_copy(update=killed)

    def _read(self) -> Evidence:
        return Evidence()

    def memory_bytes(self) -> int | None:
        """As counted for the box's cap."""
        return None

    def kernel_bytes(self) -> int | None:
        """The kernel's own memory for the box: its peak with cgroup v1, with v2 the highest value of all calls."""
        return None

    def cpu_ns(self) -> int | None:
        return None

    def waited_ns(self) -> int | None:
        """Time in which its processes were runnable and none ran, because others used the core."""
        return None

    def is_busy(self) -> bool | None:
        """Whether a process runs, is runnable, or waits for a disk."""
        return None

    def pressure_ns(self, *, of_any: bool = False) -> int | None:  # noqa: ARG002
        """Time in which the whole box (with `of_any`: any of its processes) waited for memory or a disk.

        An agent can cause both.
        """
        return None

    def restart(self) -> None:
        """Raises OSError if this is impossible."""
        raise OSError("its counters cannot be restarted")

    def close(self) -> None: ...


class Box(ABC):
    """The box of one agent. Every method except `leave` and `close` may raise `HostError`.

    The defaults are for a box without processes.
    """

    name: str
    """In records: `docker-pipes`, `docker-attach` or `process`."""

    shows_host_evidence: bool = False
    """Its agent runs on this kernel and cannot reach the judge's processes, so delays by the host can be told from the
    agent's.
    """

    is_elsewhere: bool = False
    """Its agent may run while this machine is suspended."""

    @property
    def image(self) -> ImageFacts | None:
        """Of its runtime, after `prepare`; None without an image."""
        return None

    @property
    def is_reused(self) -> bool:
        return False

    @property
    def freezer(self) -> str:
        """As in `box.freeze`; NO_FREEZER if it is never stopped."""
        return NO_FREEZER

    @property
    def meter(self) -> Meter:
        """Also valid after the agent's end. Changes in `prepare`."""
        return Meter()

    @property
    @abstractmethod
    def sources(self) -> Sequence[EventSource]:
        """Polled from `prepare` on."""

    @abstractmethod
    def write(self, data: bytes) -> int:
        """Write to stdin without blocking: bytes written, 0 if it is full, -1 without a reader."""

    @property
    def stdin_fd(self) -> int:
        """Descriptor to poll for room to write; -1 without a reader."""
        return -1

    def prepare(self) -> None:
        """The agent does not run yet."""

    def enter(self) -> None:
        """Move to the slot's cores."""

    def start(self) -> None:
        """The agent's start and end are reported on the REPORT channel."""

    def freeze(self) -> None:
        """Returns at once; `is_frozen` confirms."""

    def is_frozen(self) -> bool:
        """True without a freezer."""
        return True

    def thaw(self) -> None: ...

    def is_held(self) -> bool | None:
        """Whether another program keeps the box frozen after the thaw, or has ever paused it.

        None if unknown. An agent cannot cause it.
        """
        return None

    def unreported_kills(self) -> int:
        """Kills for memory so far, if no event source reports them; else 0."""
        return 0

    def nearby(self) -> Nearby:
        return Nearby()

    def file_bytes(self) -> int:
        """Memory that files in the agent's folders and in its scratch space take; an upper bound if unknown."""
        return 0

    def kill(self) -> None:
        """Evidence remain. Processes end after their system calls: see `is_gone`."""

    def is_gone(self) -> bool:
        return True

    def leave(self) -> float:
        """Free the slot's cores; readings remain.

        Returns when the last process is gone: the seconds for which killed processes still ran.
        """
        return 0.0

    def close(self) -> None: ...
