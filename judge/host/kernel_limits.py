"""Host-wide kernel limits, and their protection from agents."""

from dataclasses import dataclass
from typing import Literal

from judge.sandbox.box import Limits
from judge.sandbox.docker.hardening import INIT_FILES, WINE_FILES

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


def suffices(limit: KernelLimit, value: str, boxes: int) -> bool:
    """Whether `boxes` boxes leave half of a shared limit."""
    return not limit.per_box or not value.isdigit() or int(value) // 2 >= limit.per_box * boxes


def uncharged_maps_bytes(maps: int) -> int:
    """Memory that a box's maps use outside of its cap, if each process may have `maps`."""
    return min(maps * _DEFAULT.processes, _DEFAULT.cap_bytes // CHARGED_MAP_BYTES) * UNCHARGED_MAP_BYTES
