"""What an agent's container is allowed: pure, from tenant, limits and policy to the Engine's create arguments."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from judge.sandbox.box import BoxPolicy, Limits, Tenant
from judge.sandbox.layout import ACCOUNT_FILES, FOLDERS, HOME, PERSISTENT, PROGRAM, SCRATCH, environment

INIT = "/judge/init"
"""PID 1, in every image."""
INIT_FILES = 300
"""Open files of PID 1, which keeps the epoll watches that an agent is not to have."""
PIPES = "/io"
SHARED_MEMORY = "/dev/shm"  # noqa: S108 - a mount point inside the container
PAGE_BYTES = 4096
"""Size of a page of memory. A file in /dev/shm that is not empty uses at least one."""
MOUNT_FLAGS = "rw,nosuid,nodev,noexec"
RUNS_FLAGS = "rw,nosuid,nodev,exec"
"""Of the scratch space of a build that runs what it has built."""

MASKED_WHY: Mapping[str, tuple[str, ...]] = {
    "the Engine's own list, of all its versions": (
        "/proc/acpi",
        "/proc/asound",
        "/proc/interrupts",
        "/proc/kcore",
        "/proc/keys",
        "/proc/latency_stats",
        "/proc/sched_debug",
        "/proc/scsi",
        "/proc/timer_list",
        "/proc/timer_stats",
        "/sys/firmware",
    ),
    "terminals: the host has a few thousand for all boxes, and kernel threads do the work of writing to one": (
        "/dev/pts",
        "/dev/ptmx",
    ),
    "message queues, which are made by opening a file too": ("/dev/mqueue",),
    "reading takes a lock of the whole host, or time in proportion to what others have": (
        "/proc/allocinfo",
        "/proc/buddyinfo",
        "/proc/bus",
        "/proc/fs",
        "/proc/iomem",
        "/proc/ioports",
        "/proc/kallsyms",
        "/proc/locks",
        "/proc/modules",
        "/proc/pagetypeinfo",
        "/proc/slabinfo",
        "/proc/swaps",
        "/proc/vmallocinfo",
        "/proc/zoneinfo",
    ),
    "a trigger in it makes a kernel thread work": ("/proc/pressure",),
    "shows what other processes of the host do": (
        "/proc/diskstats",
        "/proc/irq",
        "/proc/key-users",
        "/proc/mdstat",
        "/proc/partitions",
        "/proc/schedstat",
        "/proc/softirqs",
        "/proc/sys/fs",
        "/proc/vmstat",
        "/sys/fs/bcachefs",
        "/sys/fs/btrfs",
        "/sys/fs/ext4",
        "/sys/fs/f2fs",
        "/sys/fs/nfs",
        "/sys/fs/xfs",
        "/sys/kernel",
        "/sys/module",
    ),
    "programs have no use for it": (
        "/proc/cmdline",
        "/proc/config.gz",
        "/proc/consoles",
        "/proc/crypto",
        "/proc/dma",
        "/proc/driver",
        "/proc/dynamic_debug",
        "/proc/execdomains",
        "/proc/kmsg",
        "/proc/misc",
        "/proc/mtrr",
        "/proc/sysrq-trigger",
    ),
    "of the box's cgroup of version 2: events of its freezing, triggers, counters behind a lock of all cgroups": (
        "/sys/fs/cgroup/cgroup.events",
        "/sys/fs/cgroup/cgroup.pressure",
        "/sys/fs/cgroup/cpu.pressure",
        "/sys/fs/cgroup/cpu.stat",
        "/sys/fs/cgroup/cpu.stat.local",
        "/sys/fs/cgroup/io.pressure",
        "/sys/fs/cgroup/io.stat",
        "/sys/fs/cgroup/irq.pressure",
        "/sys/fs/cgroup/memory.events",
        "/sys/fs/cgroup/memory.events.local",
        "/sys/fs/cgroup/memory.numa_stat",
        "/sys/fs/cgroup/memory.pressure",
        "/sys/fs/cgroup/memory.stat",
        "/sys/fs/cgroup/pids.events",
    ),
}
"""Paths by the reason why an agent does not see them. A list that is given replaces the Engine's own."""

MASKED = tuple(path for paths in MASKED_WHY.values() for path in paths)
"""What an agent finds empty; a path that a host does not have is ignored."""

DEVICES = Path("/sys/devices")
SYSTEM, PROCESSORS = "system", "cpu"
"""The one folder of `DEVICES` that an agent sees: `system/cpu`."""

SELINUX = Path("/sys/fs/selinux/enforce")
READONLY = ("/proc",)
"""What is read-only, with all below it: an agent changes no setting in /proc, of its own processes neither."""
ENGINE_READONLY = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger")
"""The Engine's own list, where the kernel has SELinux: the runtime writes to /proc there after paths are read-only."""

OOM_SCORE_ADJ = 1000
"""The highest: a host that is out of memory kills agents first, and no agent can make another one a likelier victim."""


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
) -> dict[str, Any]:
    """The body of the Engine's `POST /containers/create` (API 1.41 or newer).

    `uid` is the agent's user and group. `program` is the directory to mount at /agent instead of the tenant's own;
    `pipes` is the directory to mount at /io, if any; `accounts` is the directory of the `ACCOUNT_FILES` to mount in
    /etc, if any; `seccomp` is the text of a profile instead of the Engine's own.
    """
    return {
        "Image": image,
        "Entrypoint": [INIT, str(limits.address_bytes), str(limits.open_files)],
        "Cmd": list(command),
        "User": f"{uid}:{uid}",
        "WorkingDir": HOME,
        "Hostname": "box",
        "Env": [f"{name}={value}" for name, value in environment(HOME, SCRATCH, tenant).items()],
        "Labels": {"judge.game": tenant.game_id, "judge.seat": str(tenant.seat), "judge.owner": owner},
        "Tty": False,  # the streams stay apart
        "OpenStdin": True,
        "StdinOnce": True,  # PID 1 sees the end of its stdin when the judge is gone
        "AttachStdin": True,
        "AttachStdout": True,
        "AttachStderr": True,
        "NetworkDisabled": True,
        "StopTimeout": 1,
        "HostConfig": {
            **_isolation(policy, seccomp),
            **_quotas(limits),
            **_files(tenant, limits, program or tenant.program, pipes, accounts, uid),
            "CpuShares": tenant.cpu_shares,
            "CpusetCpus": ",".join(map(str, tenant.parking_cores or tenant.cores)),
        },
    }


def _isolation(policy: BoxPolicy, seccomp: str | None) -> dict[str, Any]:
    """What the agent cannot reach."""
    security = ["no-new-privileges"]
    if seccomp is not None:
        security.append(f"seccomp={seccomp}")
    if policy.apparmor != "auto":
        security.append(f"apparmor={policy.apparmor}")
    return {
        "CapDrop": ["ALL"],
        "Privileged": False,
        "SecurityOpt": security,
        "ReadonlyRootfs": True,
        "MaskedPaths": [*MASKED, *_devices()],
        "ReadonlyPaths": list(ENGINE_READONLY if SELINUX.exists() else READONLY),
        "NetworkMode": "none",
        "CgroupnsMode": "private",  # no host path in /proc/self/cgroup
        "Init": False,  # PID 1 is ours
        "RestartPolicy": {"Name": "no"},
        "AutoRemove": False,  # its state is read after its end
        "LogConfig": {"Type": "none"},  # a log file would be a way to fill the host's disk
        "Runtime": policy.runtime,
    }


@cache
def _devices() -> tuple[str, ...]:
    """The folders of hardware of this host, which show temperatures and what disks and interfaces do."""
    system = DEVICES / SYSTEM
    try:
        names = [*DEVICES.iterdir(), *system.iterdir()]
    except OSError:
        names = []
    return tuple(sorted(str(path) for path in names if path not in (system, system / PROCESSORS)))


def _quotas(limits: Limits) -> dict[str, Any]:
    """What the agent cannot exceed. No RLIMIT_NPROC (it counts the whole host); RLIMIT_AS is PID 1's to set."""
    return {
        "Memory": limits.cap_bytes,
        "MemorySwap": limits.cap_bytes,  # equal: no swap
        "OomScoreAdj": OOM_SCORE_ADJ,
        "PidsLimit": limits.processes + 1,  # PID 1 is ours
        "Ulimits": [
            _ulimit("core", 0),
            _ulimit("cpu", -1),  # time is the referee's; PID 1 takes a limit of its own for an attack
            _ulimit("fsize", limits.file_bytes),
            _ulimit("memlock", 0),
            _ulimit("msgqueue", 0),
            _ulimit("nice", 0),
            _ulimit("nofile", max(limits.open_files, INIT_FILES)),  # PID 1 sets the agent's
            _ulimit("rtprio", 0),
            _ulimit("sigpending", limits.processes),  # Mono stops each thread by a signal that is queued
            {"Name": "stack", "Soft": limits.stack_bytes, "Hard": -1},
        ],
    }


def _ulimit(name: str, value: int) -> dict[str, Any]:
    return {"Name": name, "Soft": value, "Hard": value}


def _files(
    tenant: Tenant, limits: Limits, program: Path, pipes: Path | None, accounts: Path | None, uid: int
) -> dict[str, Any]:
    """The files that an agent sees: its program, folders and scratch space. A tmpfs ends with ENOSPC, to the byte."""
    mounts = [_mount(program.resolve(), PROGRAM)]
    if pipes is not None:
        mounts.append(_mount(pipes, PIPES))
    if accounts is not None:
        mounts += [_mount(accounts / name, f"/etc/{name}") for name in ACCOUNT_FILES]
    for kind, path in FOLDERS.items():
        if kind in tenant.folders:
            # Its volume has the quota, and forbids what a fresh folder forbids.
            options = {"NoCopy": True}
            mounts.append({"Type": "volume", "Source": tenant.folders[kind], "Target": path, "VolumeOptions": options})
    tmpfs = {path: f"{MOUNT_FLAGS},{options}" for path, options in _tmpfs(tenant, limits, uid).items()}
    if tenant.runs_scratch and SCRATCH in tmpfs:
        tmpfs[SCRATCH] = tmpfs[SCRATCH].replace(MOUNT_FLAGS, RUNS_FLAGS, 1)
    return {
        "Mounts": mounts,
        "Tmpfs": tmpfs,
        "IpcMode": "none",  # the Engine's own /dev/shm has no limit on the number of files
    }


def writable(config: Mapping[str, Any]) -> Mapping[str, str]:
    """Every file system of a container that its agent can write to and that is gone with it: mount options by path.

    All are mounted with `MOUNT_FLAGS`; `config` is as `container_config` makes it for an agent.
    """
    tmpfs = config["HostConfig"]["Tmpfs"]
    return {path: options.removeprefix(f"{MOUNT_FLAGS},") for path, options in tmpfs.items()}


def _tmpfs(tenant: Tenant, limits: Limits, uid: int) -> dict[str, str]:
    sizes = {
        SCRATCH: (limits.scratch_bytes, limits.scratch_inodes),
        HOME: (limits.temporary_bytes, limits.temporary_inodes),
        PERSISTENT: (limits.persistent_bytes, limits.persistent_inodes),
        SHARED_MEMORY: (limits.shm_bytes, 1 + limits.shm_bytes // PAGE_BYTES),  # its directory is a file, too
    }
    mine = f"mode=0700,uid={uid},gid={uid}"
    kept = {FOLDERS[kind] for kind in tenant.folders}
    return {
        path: f"size={size_bytes},nr_inodes={inodes},{mine}"
        for path, (size_bytes, inodes) in sizes.items()
        if size_bytes and path not in kept  # to a tmpfs, 0 means no limit
    }


def _mount(source: Path, target: str) -> dict[str, Any]:
    """A read-only bind mount. `Mounts` and not `Binds`: the Engine says so when it does not see the source."""
    return {
        "Type": "bind",
        "Source": str(source),
        "Target": target,
        "ReadOnly": True,
        "BindOptions": {"Propagation": "rprivate", "NonRecursive": True},
    }
