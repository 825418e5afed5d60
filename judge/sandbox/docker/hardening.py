"""The Engine's create arguments for containers, and the constant kernel files that boxes see."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from judge.sandbox.box import ONE_KERNEL, PERSISTENT, BoxPolicy, Limits, Tenant
from judge.sandbox.layout import ACCOUNT_FILES, FOLDERS, HOME, PROGRAM, SCRATCH, environment

INIT = "/judge/init"
INIT_USER = 1
"""User of PID 1, as in images/init/init.c."""
INIT_RIGHTS = ("KILL", "SETGID", "SETPCAP", "SETUID")
"""Capabilities of PID 1 at its start; see decision 0002."""
INIT_FILES = 300
"""Open files of PID 1, which uses up the epoll watches that an agent must not have."""
WINE_FILES = 2
"""Wine's server has three files for each thread of a box: its programs may have twice the open files."""
PIPES = "/io"
SHARED_MEMORY = "/dev/shm"  # noqa: S108 - a mount point inside the container
PAGE_BYTES = 4096
"""Minimum of a non-empty file in /dev/shm."""
MOUNT_FLAGS = "rw,nosuid,nodev,noexec"
RUNS_FLAGS = "rw,nosuid,nodev,exec"

MASKED_WHY: Mapping[str, tuple[str, ...]] = {
    "the Engine's own list, of all its versions": (
        "/proc/acpi", "/proc/asound", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
        "/proc/sched_debug", "/proc/scsi", "/proc/timer_list", "/proc/timer_stats", "/sys/firmware",
    ),
    "terminals: the host has a few thousand for all boxes, and kernel threads do the work of writing to one": (
        "/dev/pts", "/dev/ptmx",
    ),
    "message queues, which can be created by opening a file": (
        "/dev/mqueue",
    ),
    "reading takes a host-wide lock, or time in proportion to the objects of other processes": (
        "/proc/allocinfo", "/proc/buddyinfo", "/proc/bus", "/proc/fs", "/proc/iomem", "/proc/ioports",
        "/proc/kallsyms", "/proc/locks", "/proc/modules", "/proc/pagetypeinfo", "/proc/slabinfo", "/proc/swaps",
        "/proc/vmallocinfo", "/proc/zoneinfo",
    ),
    "a trigger in it makes a kernel thread work": (
        "/proc/pressure",
    ),
    "shows what other processes of the host do": (
        "/proc/diskstats", "/proc/irq", "/proc/key-users", "/proc/mdstat", "/proc/partitions", "/proc/schedstat",
        "/proc/softirqs", "/proc/sys/fs", "/proc/vmstat", "/sys/fs/bcachefs", "/sys/fs/btrfs", "/sys/fs/ext4",
        "/sys/fs/f2fs", "/sys/fs/nfs", "/sys/fs/xfs", "/sys/kernel", "/sys/module",
    ),
    "programs have no use for it": (
        "/proc/cmdline", "/proc/config.gz", "/proc/consoles", "/proc/crypto", "/proc/dma", "/proc/driver",
        "/proc/dynamic_debug", "/proc/execdomains", "/proc/kmsg", "/proc/misc", "/proc/mtrr", "/proc/sysrq-trigger",
    ),
    "in the box's cgroup (version 2): freeze events, triggers, counters with a lock for all cgroups": (
        "/sys/fs/cgroup/cgroup.events", "/sys/fs/cgroup/cgroup.pressure", "/sys/fs/cgroup/cpu.pressure",
        "/sys/fs/cgroup/cpu.stat", "/sys/fs/cgroup/cpu.stat.local", "/sys/fs/cgroup/io.pressure",
        "/sys/fs/cgroup/io.stat", "/sys/fs/cgroup/irq.pressure", "/sys/fs/cgroup/memory.events",
        "/sys/fs/cgroup/memory.events.local", "/sys/fs/cgroup/memory.numa_stat", "/sys/fs/cgroup/memory.pressure",
        "/sys/fs/cgroup/memory.stat", "/sys/fs/cgroup/pids.events",
    ),
}  # fmt: skip
"""Masked paths by reason. Replaces the Engine's default."""

MASKED = tuple(path for paths in MASKED_WHY.values() for path in paths)
"""Appear empty to an agent; missing ones are ignored."""

DEVICES = Path("/sys/devices")
SYSTEM, PROCESSORS = "system", "cpu"
"""An agent sees only `system/cpu` of `DEVICES`."""
COUNTERS = ("cpu*/acpi_cppc", "cpu*/cpuidle", "cpu*/thermal_throttle", "cpufreq")
"""Folders below it that show how busy processors are."""

SETTINGS: Mapping[str, str] = {"net.core.somaxconn": "0"}
"""One connection waits at each listening socket, because 832 bytes of it are not charged."""

SELINUX = Path("/sys/fs/selinux/enforce")
READONLY = ("/proc",)
"""An agent cannot change settings, not even of its processes."""
ENGINE_READONLY = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger")
"""The Engine's default, for SELinux: there the runtime writes to /proc later."""

KERNEL_FILES = ("loadavg", "meminfo", "stat", "uptime")
"""Constant files in place of those of /proc by which an agent could send messages to other boxes. Runtimes accept
mounts on these.
"""

ATTACHED: Mapping[str, Any] = {
    "OpenStdin": True,
    "StdinOnce": True,  # PID 1 sees the judge's end
    "AttachStdin": True,
    "AttachStdout": True,
    "AttachStderr": True,
    "NetworkDisabled": True,
    "StopTimeout": 1,
}
"""Arguments of a container that the judge attaches to."""

OOM_SCORE_ADJ = 1000
"""A host without memory kills agents first, and none can make another one likelier."""


def container_config(
    *,
    image: str,
    command: Sequence[str],
    tenant: Tenant,
    limits: Limits,
    policy: BoxPolicy,
    owner: str,
    uid: int,
    program: Path | None = None,
    pipes: Path | None = None,
    accounts: Path | None = None,
    seccomp: str | None = None,
    maps_users: bool = False,
) -> dict[str, Any]:
    """Body of the Engine's `POST /containers/create` (API 1.41 or newer).

    `uid` is also the agent's group. `program` replaces the tenant's. `pipes` is mounted at /io. `accounts` contains the
    `ACCOUNT_FILES` and `KERNEL_FILES`. `seccomp` is a profile's text; None: the Engine's own. With `maps_users`, the
    kernel hides `SETTINGS`.
    """
    return {
        "Image": image,
        "Entrypoint": [INIT, str(limits.address_bytes), str(limits.open_files), str(uid)],
        "Cmd": list(command),
        "User": "0:0",
        "WorkingDir": HOME,
        "Hostname": "box",
        "Env": [f"{name}={value}" for name, value in environment(HOME, SCRATCH, tenant).items()],
        "Labels": {"judge.game": tenant.game_id, "judge.seat": str(tenant.seat), "judge.owner": owner},
        "Tty": False,  # keeps the streams separate
        **ATTACHED,
        "HostConfig": {
            **_isolation(policy.runtime, seccomp),
            "MaskedPaths": [*MASKED, *_devices(), *(_kernel_files(policy) if accounts is None else ())],
            "Sysctls": {} if maps_users else dict(SETTINGS),
            **_quotas(limits),
            **_files(tenant, limits, program or tenant.program, pipes, accounts, uid, policy),
            "CpuShares": tenant.cpu_shares,
            "CpusetCpus": ",".join(map(str, tenant.parking_cores or tenant.cores)),
        },
    }


def _isolation(runtime: str, seccomp: str | None) -> dict[str, Any]:
    return {
        "CapDrop": ["ALL"],
        "CapAdd": list(INIT_RIGHTS),
        "Privileged": False,
        "SecurityOpt": ["no-new-privileges", *([] if seccomp is None else [f"seccomp={seccomp}"])],
        "ReadonlyRootfs": True,
        "ReadonlyPaths": list(ENGINE_READONLY if SELINUX.exists() else READONLY),
        "NetworkMode": "none",
        "CgroupnsMode": "private",  # no host path in /proc/self/cgroup
        "Init": False,
        "RestartPolicy": {"Name": "no"},
        "AutoRemove": False,  # its state is read later
        "LogConfig": {"Type": "none"},  # could fill the host's disk
        "Runtime": runtime,
    }


def _kernel_files(policy: BoxPolicy) -> list[str]:
    """A separate kernel counts for its box only."""
    return [f"/proc/{name}" for name in KERNEL_FILES] if policy.runtime in ONE_KERNEL else []


@cache
def _devices() -> tuple[str, ...]:
    """They show temperatures and activity of the host."""
    system = DEVICES / SYSTEM
    processors = system / PROCESSORS
    try:
        names = [*DEVICES.iterdir(), *system.iterdir()]
    except OSError:
        names = []
    names += [path for pattern in COUNTERS for path in processors.glob(pattern)]
    return tuple(sorted(str(path) for path in names if path not in (system, processors)))


def _quotas(limits: Limits) -> dict[str, Any]:
    """No RLIMIT_NPROC, because it counts the whole host. PID 1 sets RLIMIT_AS."""
    return {
        "Memory": limits.cap_bytes,
        "MemorySwap": limits.cap_bytes,  # equal: no swap
        "OomScoreAdj": OOM_SCORE_ADJ,
        "PidsLimit": limits.processes + 1,  # the judge's PID 1
        "Ulimits": [
            _ulimit("core", 0),
            _ulimit("cpu", -1),  # the referee limits time
            _ulimit("fsize", limits.file_bytes),
            _ulimit("memlock", 0),
            _ulimit("msgqueue", 0),
            _ulimit("nice", 0),
            _ulimit("nofile", max(limits.open_files, INIT_FILES)),  # PID 1 sets the agent's
            _ulimit("rtprio", 0),
            _ulimit("sigpending", limits.processes),  # Mono stops threads by queued signals
            {"Name": "stack", "Soft": limits.stack_bytes, "Hard": -1},
        ],
    }


def _ulimit(name: str, value: int) -> dict[str, Any]:
    return {"Name": name, "Soft": value, "Hard": value}


def _files(
    tenant: Tenant,
    limits: Limits,
    program: Path,
    pipes: Path | None,
    accounts: Path | None,
    uid: int,
    policy: BoxPolicy,
) -> dict[str, Any]:
    mounts = [_mount(program.resolve(), PROGRAM)]
    if pipes is not None:
        mounts.append(_mount(pipes, PIPES))
    if accounts is not None:
        mounts += [_mount(accounts / name, f"/etc/{name}") for name in ACCOUNT_FILES]
        mounts += [_mount(accounts / Path(path).name, path) for path in _kernel_files(policy)]
    for kind, path in FOLDERS.items():
        if kind in tenant.folders:
            mounts.append(volume_mount(tenant.folders[kind], path))
    flags = {SCRATCH: RUNS_FLAGS} if tenant.runs_scratch else {}
    tmpfs = tmpfs_options(tenant, limits, uid).items()
    return {
        "Mounts": mounts,
        "Tmpfs": {path: f"{flags.get(path, MOUNT_FLAGS)},{options}" for path, options in tmpfs},
        "IpcMode": "none",  # the Engine's /dev/shm has no file limit
    }


def kernel_file_texts(limits: Limits, processors: int) -> dict[str, str]:
    """Contents of the `KERNEL_FILES`."""
    total, ticks = f"{limits.cap_bytes // 1024:>8} kB\n", " 0" * 10
    rest = ("Buffers", "Cached", "SwapCached", "Active", "Inactive", "Shmem", "SwapTotal", "SwapFree")
    counters = ("intr", "ctxt", "btime", "processes")
    return {
        "loadavg": "0.00 0.00 0.00 1/1 1\n",
        "meminfo": f"MemTotal:       {total}MemFree:        {total}MemAvailable:   {total}"
        + "".join(f"{name + ':':<16}{0:>8} kB\n" for name in rest),
        "stat": f"cpu {ticks}\n"
        + "".join(f"cpu{number}{ticks}\n" for number in range(processors))
        + "".join(f"{name} 0\n" for name in counters)
        + f"procs_running 1\nprocs_blocked 0\nsoftirq{ticks} 0\n",
        "uptime": "1.00 1.00\n",
    }


def tmpfs_options(tenant: Tenant, limits: Limits, uid: int) -> dict[str, str]:
    """Mount options, next to `MOUNT_FLAGS`, of every file system that the agent can write to, by path.

    All are removed with the container.
    """
    sizes = {
        SCRATCH: (limits.scratch_bytes, limits.scratch_inodes),
        HOME: (limits.temporary_bytes, limits.temporary_inodes),
        PERSISTENT: (limits.persistent_bytes, limits.persistent_inodes),
        SHARED_MEMORY: (limits.shm_bytes, 1 + limits.shm_bytes // PAGE_BYTES),  # its directory also uses an inode
    }
    mine = f"mode=0700,uid={uid},gid={uid}"
    kept = {FOLDERS[kind] for kind in tenant.folders}
    return {
        path: f"size={size_bytes},nr_inodes={inodes},{mine}"
        for path, (size_bytes, inodes) in sizes.items()
        if size_bytes and path not in kept  # for a tmpfs 0 means no limit
    }


def volume_mount(volume: str, target: str) -> dict[str, Any]:
    """The volume has its quota and restrictions."""
    return {"Type": "volume", "Source": volume, "Target": target, "VolumeOptions": {"NoCopy": True}}


def _mount(source: Path, target: str) -> dict[str, Any]:
    """Read-only. `Mounts` reports a missing source, unlike `Binds`."""
    return {
        "Type": "bind",
        "Source": str(source),
        "Target": target,
        "ReadOnly": True,
        "BindOptions": {"Propagation": "rprivate", "NonRecursive": True},
    }
