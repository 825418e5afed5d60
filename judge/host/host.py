"""Reads a host's files, numbers and Engine once, for `doctor`."""

import os
import platform
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from judge.base.errors import HostError
from judge.host import probes
from judge.sandbox.docker.engine import Engine
from judge.sandbox.docker.images import ImageState, listing
from judge.sandbox.host_activity.core_use import counts_interrupts
from judge.sandbox.machine import cores, procfs

ENGINE_TIMEOUT_S = 10.0

FILES = (
    "/proc/cpuinfo",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/net/protocols",
    "/proc/self/mountinfo",
    "/proc/swaps",
    "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    "/sys/devices/system/cpu/cpufreq/boost",
    "/sys/devices/system/cpu/intel_pstate/no_turbo",
)
GLOBS = (
    "devices/system/cpu/cpu[0-9]*/cache/index[0-9]*/level",
    "devices/system/cpu/cpu[0-9]*/cache/index[0-9]*/shared_cpu_list",
    "devices/system/cpu/cpu[0-9]*/topology/thread_siblings_list",
    "devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor",
)
SETTINGS = Path("/proc/sys")
ENGINE_PROGRAMS = ("dockerd", "containerd")

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Host:
    """Unreadable parts are missing; `lacks` has the reasons."""

    name: str = ""
    system: str = ""
    kernel: str = ""
    cores: tuple[int, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    """Values by name: `kernel.core_pattern`."""
    users: Mapping[int, str] = field(default_factory=dict)
    samples: tuple[str, str] = ("", "")
    """/proc/stat twice, at most a second apart, while the judge was idle."""
    free_bytes: Mapping[str, int] = field(default_factory=dict)
    """By the use of a disk: `this folder, temporary files`."""
    engine_at: str = ""
    """DOCKER_HOST, or empty."""
    engine: Mapping[str, Any] | None = None
    engine_cores: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """Usable processors by program of the Engine; empty for another host's."""
    counts_interrupts: bool | None = None
    images: Sequence[ImageState] | None = None
    trial: probes.BoxTrial | None = None
    lacks: Mapping[str, str] = field(default_factory=dict)
    """Why `engine`, `images` or `trial` is missing."""


def read_host(settings: Sequence[str], pause_s: float = 1.0) -> Host:
    """Takes `pause_s` and a few seconds, because it tests containers. Never raises."""
    lacks: dict[str, str] = {}
    engine = _or_why(_engine_info, "engine", lacks)
    images = _or_why(listing, "images", lacks) if engine else None
    trial = _or_why(probes.try_boxes, "trial", lacks) if engine else None
    paths = [Path(path) for path in FILES]
    for pattern in GLOBS:
        paths += Path("/sys").glob(pattern)
    files = {str(path): text for path in paths if (text := _text(path)) is not None}
    values = {name: _text(SETTINGS / name.replace(".", "/")) for name in settings}
    import pwd  # missing on Windows, where records can be read

    before = _text(Path("/proc/stat")) or ""
    time.sleep(pause_s)
    samples = (before, _text(Path("/proc/stat")) or "")
    return Host(
        name=platform.node(),
        system=_system(),
        kernel=platform.release(),
        cores=tuple(sorted(cores.available())),
        files=files,
        settings={name: text.strip() for name, text in values.items() if text is not None},
        users={user.pw_uid: user.pw_name for user in pwd.getpwall()},
        samples=samples,
        free_bytes=_free(engine or {}),
        engine_at=os.environ.get("DOCKER_HOST", ""),
        engine=engine,
        engine_cores=_engine_cores() if engine else {},
        counts_interrupts=counts_interrupts(),
        images=images,
        trial=trial,
        lacks=lacks,
    )


def _or_why(get: Callable[[], Found], what: str, lacks: dict[str, str]) -> Found | None:
    try:
        return get()
    except (HostError, OSError) as error:
        lacks[what] = str(error)
        return None


def _engine_info() -> Mapping[str, Any]:
    with closing(Engine(ENGINE_TIMEOUT_S)) as engine:
        return engine.info()


def _engine_cores() -> dict[str, frozenset[int]]:
    found: dict[str, frozenset[int]] = {}
    for pid in procfs.process_ids():
        name = procfs.program_name(pid)
        if name in ENGINE_PROGRAMS:
            with suppress(ValueError):  # has ended
                allowed = cores.parse_processors(procfs.status_field(pid, "Cpus_allowed_list"))
                found[name] = found.get(name, frozenset()) | allowed
    return found


def _system() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        return platform.system()


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def _free(engine: Mapping[str, Any]) -> dict[str, int]:
    places = {
        "this folder": str(Path.cwd()),
        "temporary files": tempfile.gettempdir(),
        "the Engine's root": str(engine.get("DockerRootDir", "")),
    }
    disks: dict[int, list[str]] = {}
    for what, place in places.items():
        if place and os.access(place, os.X_OK):
            disks.setdefault(Path(place).stat().st_dev, []).append(what)
    return {", ".join(kept): shutil.disk_usage(places[kept[0]]).free for kept in disks.values()}
