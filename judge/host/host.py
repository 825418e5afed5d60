"""Reads a host's files, numbers and Engine once, for `doctor`.

It also tries boxes, because an Engine may not do what it reports.
"""

import os
import platform
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

from judge.base import procfs
from judge.base.errors import HostError
from judge.base.owner import Owner, owned_directory
from judge.host.distribution import host_release, release_fields
from judge.sandbox.box import Box, BoxPolicy, Limits, Tenant
from judge.sandbox.docker.engine import Engine
from judge.sandbox.docker.hardening import container_config
from judge.sandbox.docker.images import EngineImage, find_runtime, listing
from judge.sandbox.docker.requirements import differences_without_root, maps_users
from judge.sandbox.docker.run_in_box import Command, run_in_box
from judge.sandbox.docker.seccomp import NATIVE, load_profile
from judge.sandbox.evidence import Evidence
from judge.sandbox.host_activity.core_use import counts_interrupts
from judge.sandbox.machine import cores
from judge.sandbox.machine.users import claim_user
from judge.sandbox.open_box import open_box

TRIAL_TIMEOUT_S = 60.0
FREEZES = 5
FOLDER_BYTES = 1 << 20
SCRIPT = f"""
head -c 4M /dev/zero >/probe/file 2>/dev/null
found=0
[ "$(wc -c </probe/file)" = {FOLDER_BYTES} ] || found=1
(: <>/dev/ptmx) && [ -t 3 ] 3<>/dev/ptmx && found=$((found + 2))
(echo 0 >/proc/self/oom_score_adj) && found=$((found + 4))
exit $found
"""
"""Forbidden actions. The exit code shows which succeeded."""
NO_END, TERMINAL, LESS_LIKELY = 1, 2, 4

SURFACE = """
kernel() {
    find /proc /sys -path '/proc/[0-9]*' -prune -o -type f "$1" -exec stat -c %F '{}' + 2>/dev/null | grep -c regular
}
echo $(kernel -readable) $(kernel -writable) $(find /dev '(' -type c -o -type b ')' | wc -l)
"""
"""Reachable kernel files, except those of the agent's processes in /proc."""
SURFACE_BYTES = 4096


@dataclass(frozen=True, slots=True)
class KernelSurface:
    """Visible to an agent, counted inside a box."""

    calls: int
    readable_files: int
    """In /proc and /sys, except those of the agent's processes."""
    writable_files: int
    devices: int


@dataclass(frozen=True, slots=True)
class BoxTrial:
    """Abilities of boxes on this host."""

    box: str
    """`docker-pipes` if judge and Engine share a kernel, otherwise `docker-attach`."""
    freezer: str
    """Selected by `box.freeze = "auto"`."""
    freeze_us: int
    readings: Evidence
    folder_ends: bool
    opens_terminals: bool = False
    """An agent can, although terminals are masked."""
    lowers_oom_score: bool = False
    """An agent can, so that other processes are killed first."""
    surface: KernelSurface | None = None


def try_boxes() -> BoxTrial:
    """Test a box and a volume. Raises HostError."""
    policy = BoxPolicy()
    with owned_directory() as program:
        program.chmod(0o755)
        tenant = Tenant("probe", program, ("probe",), "native", 0, "probe")
        with closing(open_box("docker", tenant, Limits(), policy)) as box:
            box.prepare()
            box.enter()
            freeze_us = min(_freeze(box) for _ in range(FREEZES))
            name, freezer, readings = box.name, box.freezer, box.meter.readings()
        found = _found_inside(tenant, policy)
        return BoxTrial(
            name,
            freezer,
            freeze_us,
            readings,
            folder_ends=not found & NO_END,
            opens_terminals=bool(found & TERMINAL),
            lowers_oom_score=bool(found & LESS_LIKELY),
            surface=_surface(program, policy),
        )


def _freeze(box: Box) -> int:
    began = time.monotonic_ns()
    box.freeze()
    while not box.is_frozen():
        if time.monotonic_ns() - began > TRIAL_TIMEOUT_S * 1e9:
            raise HostError(f"the freezer {box.freezer} did not freeze a container in {TRIAL_TIMEOUT_S} s")
    took = time.monotonic_ns() - began
    box.thaw()
    return took // 1000


def _found_inside(tenant: Tenant, policy: BoxPolicy) -> int:
    options = {"type": "tmpfs", "device": "tmpfs", "o": f"size={FOLDER_BYTES},nr_inodes=16,mode=0777"}
    driver = {"Name": "local", "Options": options}
    volume = {"Type": "volume", "Target": "/probe", "VolumeOptions": {"DriverConfig": driver}}
    with closing(claim_user()) as user, closing(Engine()) as engine:
        config = container_config(
            image=find_runtime("native").id,
            command=["-c", SCRIPT],
            tenant=tenant,
            limits=Limits(),
            policy=policy,
            owner=Owner.me().encode(),
            uid=user.uid,
            maps_users=maps_users(engine.info()),
        )
        # In place of PID 1, with the rights of an agent.
        config["Entrypoint"], config["User"], config["HostConfig"]["CapAdd"] = ["/bin/sh"], f"{user.uid}:{user.uid}", []
        config["HostConfig"]["Mounts"].append(volume)
        container = engine.create(config)
        try:
            engine.start(container)
            engine.wait(container)
            return int(engine.state(container)["ExitCode"])
        finally:
            engine.remove(container)


def _surface(program: Path, policy: BoxPolicy) -> KernelSurface:
    command = Command(
        "probe", program, ("/bin/sh", "-c", SURFACE), "native", Limits(), TRIAL_TIMEOUT_S, SURFACE_BYTES, SURFACE_BYTES
    )
    output = BytesIO()
    result = run_in_box(command, policy, output)
    if not result.is_success:
        raise HostError(f"a box could not count what it can reach of the kernel: {result.report}, {result.stderr}")
    return KernelSurface(len(load_profile(NATIVE).calls), *map(int, output.getvalue().split()))


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
    images: Sequence[EngineImage] | None = None
    trial: BoxTrial | None = None
    without_root: Sequence[str] = ()
    """What differs for this user; empty for root."""
    lacks: Mapping[str, str] = field(default_factory=dict)
    """Why `engine`, `images` or `trial` is missing."""


def read_host(settings: Sequence[str], pause_s: float = 1.0) -> Host:
    """Takes `pause_s` and a few seconds, because it tests containers. Never raises."""
    lacks: dict[str, str] = {}
    engine = _or_why(_engine_info, "engine", lacks)
    images = _or_why(listing, "images", lacks) if engine else None
    trial = _or_why(try_boxes, "trial", lacks) if engine else None
    paths = [Path(path) for path in FILES]
    for pattern in GLOBS:
        paths += Path("/sys").glob(pattern)
    files = {str(path): text for path in paths if (text := _text(path)) is not None}
    values = {name: _text(SETTINGS / name.replace(".", "/")) for name in settings}
    before = _text(Path("/proc/stat")) or ""
    time.sleep(pause_s)
    samples = (before, _text(Path("/proc/stat")) or "")
    return Host(
        name=platform.node(),
        system=release_fields(host_release()).get("PRETTY_NAME", platform.system()),
        kernel=platform.release(),
        cores=tuple(sorted(cores.available())),
        files=files,
        settings={name: text.strip() for name, text in values.items() if text is not None},
        samples=samples,
        free_bytes=_free(engine or {}),
        engine_at=os.environ.get("DOCKER_HOST", ""),
        engine=engine,
        engine_cores=_engine_cores() if engine else {},
        counts_interrupts=counts_interrupts(),
        images=images,
        trial=trial,
        without_root=differences_without_root(BoxPolicy()),
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
