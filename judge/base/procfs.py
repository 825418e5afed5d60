"""Reads /proc for any process in this PID namespace."""

import errno
import os
import time
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")

TICK_NS = 1_000_000_000 // (os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100)
"""The unit of times in /proc. Unused on Windows."""

BUSY_STATES = "RD"
"""Running or ready (R), waiting for a disk or a page (D)."""


_PATIENCE_S, _NAP_S = 5.0, 0.001


def _text(pid: int | str, name: str) -> str:
    """Repeated while the kernel has no memory to answer: the process is not gone. Raises OSError."""
    until = time.monotonic() + _PATIENCE_S
    while True:
        try:
            return (PROC / str(pid) / name).read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            if error.errno != errno.ENOMEM or time.monotonic() > until:
                raise
            time.sleep(_NAP_S)


def process_ids() -> list[int]:
    """PIDs visible to this user."""
    return [int(path.name) for path in PROC.iterdir() if path.name.isdecimal()]


def stat_fields(pid: int) -> list[str]:
    """/proc/PID/stat from the state on (field 3 of proc(5)). Raises OSError without the process."""
    return _text(pid, "stat").rpartition(")")[2].split()  # a name can contain anything


def started_ticks(pid: int) -> int | None:
    """Start time since boot; None if gone or a zombie. Raises OSError if it cannot be read."""
    try:
        fields = stat_fields(pid)
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def status_field(pid: int | str, name: str) -> str:
    """A field of /proc/PID/status, such as `PPid`; empty without the process or field."""
    with suppress(OSError):
        return status_fields(pid).get(name, "")
    return ""


def status_fields(pid: int | str) -> dict[str, str]:
    """All fields of /proc/PID/status. Raises OSError if it is gone."""
    lines = _text(pid, "status").split("\n")  # a process may have other line ends in its name
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines) if name}


def count_oom_kills() -> int | None:
    """Of the whole host; None if unknown."""
    with suppress(OSError, ValueError):
        for line in (PROC / "vmstat").read_text(encoding="ascii").splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return None


def apparmor_label(pid: int) -> str:
    """A process's AppArmor label, such as `docker-default (enforce)`; empty if unconfined."""
    with suppress(OSError):
        return _text(pid, "attr/apparmor/current").strip()
    return ""


def memory_bytes(pid: int | str, name: str = "VmHWM") -> int:
    """A memory field of /proc/PID/status, by default the peak; 0 if missing."""
    words = status_field(pid, name).split()
    return int(words[0]) << 10 if words else 0


def children_of(pid: int) -> list[int]:
    """Children of all threads; empty if it is gone."""
    found: list[int] = []
    threads: list[Path] = []
    with suppress(OSError):
        threads = list((PROC / str(pid) / "task").iterdir())
    for thread in threads:
        with suppress(OSError):
            found += map(int, (thread / "children").read_text(encoding="ascii").split())
    return found


def listening_process(port: int) -> int | None:
    """The process that listens on a TCP port of this machine; None if it is unknown, as for those of other users."""
    sockets = set[str]()
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            rows = [line.split() for line in (PROC / "net" / table).read_text(encoding="ascii").splitlines()[1:]]
            # 0A is TCP_LISTEN.
            sockets |= {f"socket:[{row[9]}]" for row in rows if row[3] == "0A" and row[1].endswith(f":{port:04X}")}
    for pid in process_ids() if sockets else ():
        with suppress(OSError):
            if any(str(file.readlink()) in sockets for file in (PROC / str(pid) / "fd").iterdir()):
                return pid
    return None


def program_name(pid: int) -> str:
    """A process's program; empty if it is gone."""
    with suppress(OSError):
        return _text(pid, "comm").strip()
    return ""


def environment_of(pid: int) -> bytes:
    """Initial environment. Raises OSError without permission."""
    return read_kernel_file(f"{PROC}/{pid}/environ")  # closing a box reads every process


def read_kernel_file(path: str) -> bytes:
    """A file of the kernel, in a third of pathlib's time. Raises OSError."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return b"".join(iter(lambda: os.read(file, 1 << 16), b""))
    finally:
        os.close(file)
