"""What `doctor` finds about the host's kernel: its settings, its limits, and what they leave open to agents."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from judge.host.findings import Check, HostFinding, Light, finding
from judge.host.host import Host
from judge.host.kernel_limits import (
    KINDS,
    LIMITS,
    MAPS,
    MAX_MAPS,
    MAX_WATCHES,
    RECOMMENDED_WATCHES,
    WATCHES,
    suffices,
    uncharged_maps_bytes,
)
from judge.sandbox.docker.requirements import maps_users

MODPROBE, MODULES_DISABLED = "kernel.modprobe", "kernel.modules_disabled"
WITHOUT_BINFMT_MODULES = (6, 14)
"""First kernel that starts no `modprobe` for a program of an unknown format."""
UNCHARGED_MAPS = (6, 1)
"""First kernel that keeps maps in nodes that it charges to no box."""


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


def _kernel(host: Host) -> Iterator[HostFinding]:
    present = [setting for setting in SETTINGS if setting.name in host.settings]
    unsafe = [setting for setting in present if not setting.good(host.settings[setting.name])]
    if safe := [setting.name for setting in present if setting not in unsafe]:
        yield HostFinding("kernel", Light.GREEN, f"safe values: {', '.join(safe)}")
    for setting in unsafe:
        says = f"{setting.name} = {host.settings[setting.name]}: {setting.why}"
        fix = f"sysctl -w {setting.name}={setting.fix}, and in /etc/sysctl.d/ to keep it"
        yield HostFinding("kernel", Light.YELLOW, says, fix)


def _watches(host: Host) -> Iterator[HostFinding]:
    """PID 1 can reserve its user's epoll watches, and servers still have enough."""
    value = host.settings.get(WATCHES.name, "")
    if not value.isdigit():
        return
    says = f"{WATCHES.name} = {value}"
    fix = f"sysctl -w {WATCHES.name}={RECOMMENDED_WATCHES}, and in /etc/sysctl.d/ to keep it"
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
        if not suffices(limit, value, boxes):
            says = f"{limit.name} = {value}: {boxes} boxes can use {limit.per_box * boxes} of it"
            fix = f"sysctl -w {limit.name}={4 * limit.per_box * boxes}, and in /etc/sysctl.d/ to keep it"
            yield HostFinding("shared", Light.RED, says, fix)


def _maps(host: Host) -> Iterator[HostFinding]:
    """Uncharged kernel memory of an agent's maps."""
    value = host.settings.get(MAPS.name, "")
    if not value.isdigit() or kernel_version(host.kernel) < UNCHARGED_MAPS:
        return
    mib = uncharged_maps_bytes(int(value)) / (1 << 20)
    says = (
        f"{MAPS.name} = {value}: the maps of an agent use up to {mib:.0f} MiB of the kernel's memory outside of its cap"
    )
    fix = f"sysctl -w {MAPS.name}={MAX_MAPS}, and in /etc/sysctl.d/ to keep it; a Node program with 300 MiB has 1,100"
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
