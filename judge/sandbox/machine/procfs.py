"""What the kernel says of processes under /proc, of any process of this pid namespace."""

import os
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")

BUSY_STATES = "RD"
"""The states of a thread that runs or is ready to (R), or waits for a disk or a page (D)."""


def process_ids() -> list[int]:
    """The processes that this user may see."""
    return [int(path.name) for path in PROC.iterdir() if path.name.isdecimal()]


def stat_fields(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the state on (field 3 of proc(5)); OSError if there is no such process."""
    text = (PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    return text.rpartition(")")[2].split()  # the name before it may hold anything


def started_ticks(pid: int) -> int | None:
    """When a process started, in clock ticks since boot; None if there is none (a zombie counts as none)."""
    try:
        fields = stat_fields(pid)
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def status_field(pid: int | str, name: str) -> str:
    """A field of /proc/PID/status, such as `PPid`; empty if there is no such process or field."""
    with suppress(OSError):
        for line in (PROC / str(pid) / "status").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith(f"{name}:"):
                return line.partition(":")[2].strip()
    return ""


def status_fields(pid: int) -> dict[str, str]:
    """All fields of /proc/PID/status; OSError if there is no such process."""
    text = (PROC / str(pid) / "status").read_text(encoding="utf-8", errors="replace")
    return {name: value.strip() for name, _, value in (line.partition(":") for line in text.splitlines())}


def apparmor_label(pid: int) -> str:
    """How AppArmor confines a process, such as `docker-default (enforce)`; empty where it does not."""
    with suppress(OSError):
        return (PROC / str(pid) / "attr/apparmor/current").read_text(encoding="utf-8", errors="replace").strip()
    return ""


def memory_bytes(pid: int | str, name: str = "VmHWM") -> int:
    """A field of /proc/PID/status that counts memory, by default the peak; 0 if there is none."""
    words = status_field(pid, name).split()
    return int(words[0]) << 10 if words else 0


def children_of(pid: int) -> list[int]:
    """The children of all threads of a process; none if it is gone."""
    found: list[int] = []
    for path in (PROC / str(pid) / "task").glob("*/children"):
        with suppress(OSError):
            found += map(int, path.read_text(encoding="ascii").split())
    return found


def program_name(pid: int) -> str:
    """The name of a process's program; empty if it is gone."""
    with suppress(OSError):
        return (PROC / str(pid) / "comm").read_text(encoding="utf-8", errors="replace").strip()
    return ""


def environment_of(pid: int) -> bytes:
    """The environment of a process, as it was started with; raises OSError if this user may not read it."""
    # All processes are asked when a box is closed: this takes a third of the time that pathlib takes.
    file = os.open(f"{PROC}/{pid}/environ", os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = iter(lambda: os.read(file, 1 << 16), b"")
        return b"".join(parts)
    finally:
        os.close(file)
