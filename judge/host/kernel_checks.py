"""What `doctor` finds about the host's kernel: its settings, its limits, and what they leave open to agents."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from judge.host.findings import Check, HostFinding, Light, finding
from judge.host.host import Host
from judge.sandbox.box import Limits
from judge.sandbox.docker.hardening import INIT_FILES, WINE_FILES
from judge.sandbox.docker.requirements import maps_users

MODPROBE, MODULES_DISABLED = "kernel.modprobe", "kernel.modules_disabled"
WITHOUT_BINFMT_MODULES = (6, 14)
"""First kernel that starts no `modprobe` for a program of an unknown format."""
UNCHARGED_MAPS = (6, 1)
"""First kernel that keeps maps in nodes that it charges to no box."""


MAX_WATCHES = 16384
"""Highest `fs.epoll.max_user_watches` of which PID 1 takes all but 256 (`ROW` in images/init/init.c)."""
RECOMMENDED_WATCHES = 8192
"""PID 1 takes the watches in 5 ms when a box starts. A lower limit can be too small for the Engine, a proxy and `judge
serve` with up to 5,000 viewers.
"""

MAX_MAPS = 2048
"""Highest `vm.max_map_count` that leaves at most 8 MiB of them outside of a box's cap; files use the other 8 MiB."""
CHARGED_MAP_BYTES, UNCHARGED_MAP_BYTES = 200, 52
"""Of the kernel's memory for each map (Linux 6.18)."""

Kind = Literal["denied", "user", "process", "charged"]
KINDS: dict[Kind, str] = {
    "denied": "no agent can use it",
    "user": "counted for each user, and each box has its own",
    "process": "counted for each process or socket, and its memory is charged to the box",
    "charged": "all boxes share it, far from its end",
}


@dataclass(frozen=True, slots=True)
class KernelLimit:
    """A kernel setting that limits the whole host."""

    name: str
    kind: Kind
    why: str
    per_box: int = 0
    """Maximum under the default limits."""


_DEFAULT = Limits()

WATCHES = KernelLimit(
    "fs.epoll.max_user_watches",
    "user",
    "PID 1 keeps all but 256 of its user's watches, if the limit is at most 16,384",
)
MAPS = KernelLimit(
    "vm.max_map_count",
    "process",
    "maps and page tables are charged to the box, the nodes that keep maps since Linux 6.1 not",
)
LIMITS = (
    WATCHES,
    KernelLimit("net.core.bpf_jit_limit", "denied", "filters of sockets and seccomp are denied"),
    KernelLimit("net.core.optmem_max", "denied", "socket options that use memory are denied"),
    KernelLimit("fs.aio-max-nr", "denied", "io_setup is denied"),
    KernelLimit("fs.inotify.max_user_instances", "denied", "inotify_init is denied"),
    KernelLimit("fs.inotify.max_user_watches", "denied", "inotify_init is denied"),
    KernelLimit("fs.fanotify.max_user_groups", "denied", "fanotify_init is denied"),
    KernelLimit("fs.mqueue.queues_max", "denied", "mq_open is denied, RLIMIT_MSGQUEUE is 0, /dev/mqueue is masked"),
    KernelLimit("fs.mount-max", "denied", "mount is denied"),
    KernelLimit("kernel.keys.maxkeys", "denied", "add_key, request_key and keyctl are denied"),
    KernelLimit("kernel.keys.maxbytes", "denied", "add_key, request_key and keyctl are denied"),
    KernelLimit("kernel.pty.max", "denied", "/dev/ptmx is masked"),
    KernelLimit("kernel.shmmni", "denied", "shmget is denied"),
    KernelLimit("kernel.msgmni", "denied", "msgget is denied"),
    KernelLimit("kernel.sem", "denied", "semget is denied"),
    KernelLimit("user.max_user_namespaces", "denied", "unshare, setns and clone's flags are denied"),
    KernelLimit("user.max_mnt_namespaces", "denied", "unshare, setns and clone's flags are denied"),
    KernelLimit("user.max_net_namespaces", "denied", "unshare, setns and clone's flags are denied"),
    KernelLimit("kernel.perf_event_mlock_kb", "denied", "perf_event_open is denied"),
    KernelLimit("vm.nr_hugepages", "denied", "a box has no hugetlbfs, and mmap with MAP_HUGETLB is denied"),
    KernelLimit("net.netfilter.nf_conntrack_max", "denied", "sockets are AF_UNIX only"),
    KernelLimit("fs.pipe-user-pages-soft", "user", "F_SETPIPE_SZ is denied, a pipe has 16 pages, charged to the box"),
    KernelLimit("fs.pipe-user-pages-hard", "user", "F_SETPIPE_SZ is denied, a pipe has 16 pages, charged to the box"),
    KernelLimit("fs.nr_open", "process", "RLIMIT_NOFILE is lower"),
    MAPS,
    KernelLimit("net.unix.max_dgram_qlen", "process", "messages are charged to the box"),
    KernelLimit(
        "fs.file-max",
        "charged",
        "RLIMIT_NOFILE times the processes of a box",
        per_box=_DEFAULT.processes * _DEFAULT.open_files * WINE_FILES + INIT_FILES,
    ),
    KernelLimit("kernel.pid_max", "charged", "pids.max of a box", per_box=_DEFAULT.processes + 1),
    KernelLimit("kernel.threads-max", "charged", "pids.max of a box", per_box=_DEFAULT.processes + 1),
)
"""All that an agent could exhaust, with the reason why it cannot."""


@dataclass(frozen=True, slots=True)
class Setting:
    """`good` accepts its safe values."""

    name: str
    good: Callable[[str], bool]
    fix: str
    why: str


def _at_least_1(value: str) -> bool:
    return value.lstrip("-").isdigit() and int(value) >= 1


SETTINGS = (
    Setting(
        "kernel.core_pattern",
        lambda value: not value.startswith("|"),
        "core",
        "the crash of an agent starts this program on the host, outside all limits",
    ),
    Setting("fs.protected_hardlinks", _at_least_1, "1", "users can make links to files of other users"),
    Setting("fs.protected_symlinks", _at_least_1, "1", "links in /tmp are followed for other users"),
    Setting("fs.protected_fifos", _at_least_1, "1", "pipes of other users in /tmp are opened"),
    Setting("fs.protected_regular", _at_least_1, "1", "files of other users in /tmp are opened"),
    Setting("kernel.yama.ptrace_scope", _at_least_1, "1", "any process can trace others of its user"),
    Setting("kernel.unprivileged_bpf_disabled", _at_least_1, "1", "every user can use bpf"),
    Setting("kernel.unprivileged_userns_clone", "0".__eq__, "0", "every user can make user namespaces"),
)


NAMES = (*(setting.name for setting in SETTINGS), *(limit.name for limit in LIMITS), MODPROBE, MODULES_DISABLED)


def _set(name: str, value: object) -> str:
    return f"sysctl -w {name}={value}, and in /etc/sysctl.d/ to keep it"


def _kernel(host: Host) -> Iterator[HostFinding]:
    present = [setting for setting in SETTINGS if setting.name in host.settings]
    unsafe = [setting for setting in present if not setting.good(host.settings[setting.name])]
    if safe := [setting.name for setting in present if setting not in unsafe]:
        yield HostFinding("kernel", Light.GREEN, f"safe values: {', '.join(safe)}")
    for setting in unsafe:
        says = f"{setting.name} = {host.settings[setting.name]}: {setting.why}"
        yield HostFinding("kernel", Light.YELLOW, says, _set(setting.name, setting.fix))


def _watches(host: Host) -> Iterator[HostFinding]:
    """PID 1 can reserve its user's epoll watches, and servers still have enough."""
    value = host.settings.get(WATCHES.name, "")
    if not value.isdigit():
        return
    says = f"{WATCHES.name} = {value}"
    fix = _set(WATCHES.name, RECOMMENDED_WATCHES)
    if int(value) > MAX_WATCHES:
        bad = f"{says}: one event of an agent can block a core of its opponent or the judge for seconds"
        yield HostFinding("watches", Light.RED, bad, fix)
    else:
        few = f"{says}: the Engine and a server of the same user may run out of them"
        yield finding("watches", int(value) >= RECOMMENDED_WATCHES, f"{says}, of which an agent has 256", few, fix)


def _shared_limits(host: Host) -> Iterator[HostFinding]:
    boxes = 2 * max(1, len(host.cores) - 1)
    present = [limit for limit in LIMITS if limit is not WATCHES and limit.name in host.settings]
    for kind, meaning in KINDS.items():
        numbers = [f"{one.name} = {' '.join(host.settings[one.name].split())}" for one in present if one.kind == kind]
        if numbers:
            yield HostFinding("shared", Light.GREEN, f"{meaning}: {', '.join(numbers)}")
    for limit in present:
        value = host.settings[limit.name]
        used = limit.per_box * boxes
        if used and value.isdigit() and int(value) // 2 < used:  # others need the other half
            says = f"{limit.name} = {value}: {boxes} boxes can use {used} of it"
            yield HostFinding("shared", Light.RED, says, _set(limit.name, 4 * used))


def _maps(host: Host) -> Iterator[HostFinding]:
    """Uncharged kernel memory of an agent's maps."""
    value = host.settings.get(MAPS.name, "")
    if not value.isdigit() or kernel_version(host.kernel) < UNCHARGED_MAPS:
        return
    maps = min(int(value) * _DEFAULT.processes, _DEFAULT.cap_bytes // CHARGED_MAP_BYTES)
    mib = maps * UNCHARGED_MAP_BYTES / (1 << 20)
    says = (
        f"{MAPS.name} = {value}: the maps of an agent use up to {mib:.0f} MiB of the kernel's memory outside of its cap"
    )
    fix = f"{_set(MAPS.name, MAX_MAPS)}; a Node program with 300 MiB has 1,100"
    yield finding("maps", int(value) <= MAX_MAPS, says, says, fix)


def _modules(host: Host) -> Iterator[HostFinding]:
    """Whether an agent can have the host start `modprobe`."""
    program = host.settings.get(MODPROBE)
    if program is None:  # a kernel without modules
        return
    holds = (
        not program
        or host.settings.get(MODULES_DISABLED) == "1"
        or kernel_version(host.kernel) >= WITHOUT_BINFMT_MODULES
    )
    yield finding(
        "modules",
        holds,
        "agents cannot have modules loaded",
        f"{MODPROBE} = {program}: an agent that executes a file of an unknown format starts this program on the host, "
        "outside all limits",
        f'sysctl -w {MODPROBE}="" when all modules are loaded, and in /etc/sysctl.d/ to keep it; or a kernel of 6.14',
    )


def _queues(host: Host) -> Iterator[HostFinding]:
    """Whether the kernel lets a box have short queues of connections."""
    if host.engine is not None:
        yield finding(
            "queues",
            not maps_users(host.engine),
            "one connection waits at each socket of a box",
            "the Engine maps users, so the kernel hides net.core.somaxconn from boxes: connections that wait "
            "use memory outside of an agent's cap, up to 36 % of it",
            "leave that much memory of the host free, or do not set userns-remap",
        )


def _numbers(host: Host) -> Iterator[HostFinding]:
    if host.engine is not None:
        says = (
            "agents can send a few bits by numbers of the host's kernel (inodes, free memory): see docs/system-calls.md"
        )
        yield HostFinding("numbers", Light.GREEN, says)


def kernel_version(release: str) -> tuple[int, ...]:
    """Of `6.12.48`: (6, 12); empty if unknown."""
    return tuple(map(int, re.findall(r"\d+", release)[:2]))


CHECKS: tuple[Check, ...] = (_kernel, _watches, _shared_limits, _maps, _modules, _queues, _numbers)
