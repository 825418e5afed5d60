"""What a host can and cannot enforce: one check a line, each from a look at the host to a light, a sentence and a fix.

Green: it holds. Yellow: contests can be played, but something is weaker or coarser than it could be. Red: a promise of
the judge does not hold here, or nothing can be played.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from judge.host.host import Host
from judge.sandbox.box import BoxPolicy
from judge.sandbox.cgroup import UNIFIED, parse_mounts
from judge.sandbox.requirements import security_options

BUSY_FIELDS = (0, 1, 2, 5, 6, 7)
"""Of a line of /proc/stat: user, nice, system, irq, softirq, steal. Not idle and iowait; guest is in user already."""


class Light(StrEnum):
    """How a check ended, the worst last."""

    GREEN = "green"
    YELLOW = "yellow"
    RED = "red"


@dataclass(frozen=True, slots=True)
class HostFinding:
    """One line of the report."""

    check: str
    light: Light
    says: str
    fix: str = ""
    """What to do about it; empty where nothing needs to be done."""


Check = Callable[[Host], Iterator[HostFinding]]

GIB = 1 << 30
AGENTS = range(BoxPolicy().uid, BoxPolicy().uid + BoxPolicy().uids)
"""The users that agents are where a policy says nothing else."""
FIXED_ENGINE = (29, 5, 1)
"""CVE-2026-41567, -41568 and -42306 are fixed from here on."""
FIXED_RUNC = (1, 3, 6)
"""CVE-2026-41579 is fixed from here on (and in 1.4.3)."""
STEAL_INDEX = 7
BUSY_SHARE = 0.1
"""The share of a core that others may take before a turn lost on time is void, as policies have it."""
STEAL_SHARE = 0.01
CHEAP_CLOCKS = ("tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter")
"""Clock sources that are read without a call into the kernel."""
LEAST_FREE = GIB
LITTLE_FREE = 10 * GIB
LEAST_MEMORY = GIB
LITTLE_MEMORY = 4 * GIB


@dataclass(frozen=True, slots=True)
class Setting:
    """A kernel setting that is a second wall behind the box's own; `good` says which values do."""

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
        "a crash of an agent starts this program on the host, outside of every limit",
    ),
    Setting("fs.protected_hardlinks", _at_least_1, "1", "links to files of others can be made"),
    Setting("fs.protected_symlinks", _at_least_1, "1", "links in /tmp are followed for others"),
    Setting("fs.protected_fifos", _at_least_1, "1", "pipes of others in /tmp are opened"),
    Setting("fs.protected_regular", _at_least_1, "1", "files of others in /tmp are opened"),
    Setting("kernel.yama.ptrace_scope", _at_least_1, "1", "any process may trace its equals"),
    Setting("kernel.unprivileged_bpf_disabled", _at_least_1, "1", "bpf is open to everybody"),
    Setting("kernel.unprivileged_userns_clone", "0".__eq__, "0", "anybody can make user namespaces"),
)


def run_checks(host: Host) -> list[HostFinding]:
    """All findings about a host, in the order of the report."""
    return [finding for check in CHECKS for finding in check(host)]


def worst_light(findings: list[HostFinding]) -> Light:
    """The worst light among them."""
    return max((finding.light for finding in findings), key=list(Light).index, default=Light.GREEN)


# --- the Engine ----------------------------------------------------------------------------------


def engine(host: Host) -> Iterator[HostFinding]:
    """Whether it answers, and whether its known holes are fixed."""
    if host.engine is None:
        fix = "apt-get install docker.io, or ./scripts/engine start; then adduser YOU docker"
        yield HostFinding("engine", Light.RED, host.lacks.get("engine", "No Engine answers"), fix)
        return
    version = str(host.engine.get("ServerVersion", ""))
    at = f" at {host.engine_at}" if host.engine_at else ""
    yield _dated("engine", f"Docker Engine {version}{at}", version, FIXED_ENGINE)
    commit = str((host.engine.get("RuncCommit") or {}).get("ID", ""))
    if _version(commit):
        yield _dated("runc", f"runc {commit}", commit, FIXED_RUNC)


def _dated(check: str, says: str, version: str, fixed: tuple[int, ...]) -> HostFinding:
    if _version(version) >= fixed:
        return HostFinding(check, Light.GREEN, says)
    newer = ".".join(map(str, fixed))
    fix = f"update to {newer} or newer, unless your distribution has fixed this one"
    return HostFinding(check, Light.YELLOW, f"{says}: older than the fixes of {newer}", fix)


def _version(text: str) -> tuple[int, ...]:
    """The first dotted number in a text; empty where there is none."""
    found = re.search(r"\d+\.\d+\.\d+", text)
    return tuple(map(int, found[0].split("."))) if found else ()


def storage(host: Host) -> Iterator[HostFinding]:
    """What containers' file systems are made by."""
    if host.engine is None:
        return
    driver = str(host.engine.get("Driver", ""))
    backing = dict(host.engine.get("DriverStatus") or []).get("Backing Filesystem", "")
    says = driver + (f" on {backing}" if backing else "")
    if driver in ("vfs", "devicemapper", "aufs"):
        fix = 'set "storage-driver": "overlay2" in /etc/docker/daemon.json'
        yield HostFinding("storage", Light.YELLOW, f"{says}: starting a box is slow", fix)
    else:
        yield HostFinding("storage", Light.GREEN, says)


def walls(host: Host) -> Iterator[HostFinding]:
    """What stands between an agent and the kernel beside the rights that are taken from it."""
    if host.engine is None:
        return
    has = security_options(host.engine)
    if "seccomp" in has:
        yield HostFinding("seccomp", Light.GREEN, "system calls are filtered")
    else:
        fix = "use a kernel with CONFIG_SECCOMP_FILTER"
        yield HostFinding("seccomp", Light.RED, "system calls cannot be filtered", fix)
    there = "AF_VSOCK" in host.files.get("/proc/net/protocols", "")
    says = "here: the profiles of the judge deny it, the Engine's own may not"
    yield HostFinding("vsock", Light.GREEN, says if there else "not to be seen here")
    if named := sorted(has & {"apparmor", "selinux"}):
        yield HostFinding("mac", Light.GREEN, f"containers are confined by {' and '.join(named)}")
    else:
        fix = "apt-get install apparmor, boot with it, restart the Engine"
        yield HostFinding("mac", Light.YELLOW, "no AppArmor, no SELinux: one wall fewer", fix)
    shifted = bool(has & {"userns", "rootless"})
    how = "shifted" if shifted else "not shifted (userns-remap would); agents are never root"
    clashing = [name for uid, name in host.users.items() if uid in AGENTS]
    if clashing and not shifted:
        says = f"agents may be {', '.join(sorted(clashing))} of this host: they are {AGENTS[0]} to {AGENTS[-1]}"
        yield HostFinding("users", Light.YELLOW, says, "give box.uid in the policy a free range")
    else:
        yield HostFinding("users", Light.GREEN, f"users of containers are {how}")
    runtimes = sorted(host.engine.get("Runtimes") or {})
    second = "runsc is there: box.runtime = 'runsc' gives agents a kernel of their own"
    none = "the host's kernel is shared; runsc (gVisor), if installed, would be a second one"
    yield HostFinding("runtimes", Light.GREEN, second if "runsc" in runtimes else none)


# --- limits --------------------------------------------------------------------------------------


def cgroups(host: Host) -> Iterator[HostFinding]:
    """Which hierarchies count and limit, and whether all controllers are there."""
    kind = cgroup_kind(host.files.get("/proc/self/mountinfo", ""))
    if not kind and host.engine:
        kind = f"v{host.engine.get('CgroupVersion', '1')}, by the Engine's word"
    if not kind:
        fix = "mount /sys/fs/cgroup, or run this on the Engine's host"
        yield HostFinding("cgroups", Light.YELLOW, "no hierarchy is to be seen here", fix)
    elif kind == "v1":
        fix = "boot with systemd.unified_cgroup_hierarchy=1"
        yield HostFinding("cgroups", Light.YELLOW, "v1 only: its freezer can be delayed", fix)
    else:
        yield HostFinding("cgroups", Light.GREEN, kind)
    words = {"MemoryLimit": "memory", "PidsLimit": "processes", "CPUSet": "processors"}
    lost = [word for key, word in words.items() if host.engine and not host.engine.get(key)]
    if lost:
        fix = "boot with cgroup_enable=memory, and a kernel with all controllers"
        says = f"the Engine cannot limit: {', '.join(lost)}"
        yield HostFinding("limits", Light.RED, says, fix)


def cgroup_kind(mountinfo: str) -> str:
    """`v1`, `v2`, `hybrid` (both, the counters in v1), or empty: what the text of a /proc/self/mountinfo shows."""
    try:
        mounted = set(parse_mounts(mountinfo))
    except ValueError:
        return ""
    has_v1 = bool(mounted & {"memory", "cpuacct", "freezer", "pids"})
    if UNIFIED in mounted:
        return "hybrid" if has_v1 else "v2"
    return "v1" if has_v1 else ""


def swap(host: Host) -> Iterator[HostFinding]:
    """Whether memory can go where no cap counts it."""
    lines = host.files.get("/proc/swaps", "").splitlines()[1:]
    counted = bool(host.engine and host.engine.get("SwapLimit"))
    if not lines:
        yield HostFinding("swap", Light.GREEN, "off")
    elif counted or host.engine is None:
        says = f"on ({lines[0].split()[0]}): agents get none, but the judge may be swapped out"
        yield HostFinding("swap", Light.YELLOW, says, "swapoff -a for the contest")
    else:
        says = "on, and the Engine cannot count it: an agent can use more than its cap"
        fix = "swapoff -a, or boot with swapaccount=1"
        yield HostFinding("swap", Light.RED, says, fix)


def boxes(host: Host) -> Iterator[HostFinding]:
    """What two real containers have shown."""
    trial = host.trial
    if trial is None:
        if host.engine is not None:
            why = host.lacks.get("trial", "not tried")
            yield HostFinding("box", Light.RED, why)
        return
    if trial.box == "docker-pipes":
        yield HostFinding("pipes", Light.GREEN, "named pipes: judge and Engine share a kernel")
    else:
        says = "the Engine's attach stream: some 130 us a move more"
        fix = "run the judge on the Engine's own host, with a TMPDIR that the Engine sees"
        yield HostFinding("pipes", Light.YELLOW, says, fix)
    yield _freezer(trial.freezer, trial.freeze_us)
    counted = trial.readings
    numbers = (counted.memory_peak_bytes, counted.oom_kills, counted.cpu_ns)
    names = ("memory peak", "kills for memory", "CPU time")
    lost = [name for name, number in zip(names, numbers, strict=True) if number is None]
    if lost:
        says = f"not to be read of a box: {', '.join(lost)}"
        fix = "use a kernel of 5.19 or newer, on the Engine's own host"
        yield HostFinding("readings", Light.YELLOW, says, fix)
    else:
        yield HostFinding("readings", Light.GREEN, ", ".join(names))
    if trial.folder_ends:
        yield HostFinding("folders", Light.GREEN, "a volume ends at its byte")
    else:
        fix = "use an Engine on Linux whose local volumes may be tmpfs"
        yield HostFinding("folders", Light.RED, "a sized volume does not end at its byte", fix)
    yield from _inside(trial.opens_terminals, trial.lowers_oom_score)


def _inside(opens_terminals: bool, lowers_oom_score: bool) -> Iterator[HostFinding]:
    """What a container could do that an agent's should not."""
    if opens_terminals:
        says = "boxes can open them: one agent can use up the host's, and have kernel threads work"
        fix = "use an Engine and a runtime that heed MaskedPaths"
        yield HostFinding("terminals", Light.RED, says, fix)
    else:
        yield HostFinding("terminals", Light.GREEN, "boxes have none")
    if lowers_oom_score:
        says = "a host out of memory may kill the judge before an agent, who can lower its score"
        fix = "leave memory free, or start the Engine with CAP_SYS_RESOURCE"
        yield HostFinding("oom", Light.YELLOW, says, fix)
    else:
        yield HostFinding("oom", Light.GREEN, "a host out of memory kills an agent before the judge")


def _freezer(name: str, took_us: int) -> HostFinding:
    says = f"{name}: stood still after {took_us} us"
    if name == "unified":
        return HostFinding("freezer", Light.GREEN, says)
    fix = "run the judge as root on the Engine's host, with cgroup v2"
    worse = "can be delayed by an agent" if name == "v1" else "costs some 10 ms a turn"
    return HostFinding("freezer", Light.YELLOW, f"{says}; it {worse}", fix)


# --- time ----------------------------------------------------------------------------------------


def processors(host: Host) -> Iterator[HostFinding]:
    """How many games can be played at once, and what their cores share."""
    count = len(host.cores)
    if count < 2:
        fix = "give the judge a core of its own: 2 or more"
        says = f"{count} core: judge and agents share it, clocks are coarser"
        yield HostFinding("cores", Light.YELLOW, says, fix)
    else:
        games = "one game" if count == 2 else f"{count - 1} games at once"
        says = f"{count} cores: {games}, and one core for the judge"
        yield HostFinding("cores", Light.GREEN, says)
    if pairs := siblings(host.files):
        says = f"cores share their hardware: {' '.join(pairs)}"
        fix = "echo off >/sys/devices/system/cpu/smt/control, or give a slot both of a pair"
        yield HostFinding("siblings", Light.YELLOW, says, fix)
    else:
        yield HostFinding("siblings", Light.GREEN, "no core shares its hardware, as far as is told")
    yield _governor(host.files)


def siblings(files: Mapping[str, str]) -> list[str]:
    """The groups of processors that are one core, as the kernel writes them: `0,4` or `0-1`; empty where none are."""
    lists = {text.strip() for path, text in files.items() if path.endswith("thread_siblings_list")}
    return sorted(group for group in lists if not group.isdigit() and group)


def _governor(files: Mapping[str, str]) -> HostFinding:
    names = {text.strip() for path, text in files.items() if path.endswith("scaling_governor")}
    turbo = files.get("/sys/devices/system/cpu/cpufreq/boost", "").strip() == "1"
    no_turbo = files.get("/sys/devices/system/cpu/intel_pstate/no_turbo", "").strip()
    if not names:
        return HostFinding("governor", Light.GREEN, "no frequency control is to be seen here")
    says = ", ".join(sorted(names)) + (", turbo on" if turbo or no_turbo == "0" else "")
    if names == {"performance"}:
        return HostFinding("governor", Light.GREEN, says)
    fix = "cpupower frequency-set -g performance"
    return HostFinding("governor", Light.YELLOW, f"{says}: the first moves are slower", fix)


def shares(before: str, after: str) -> dict[str, tuple[float, float]]:
    """For each processor the shares of time that it was busy for somebody here and that the hypervisor kept, between
    two texts of /proc/stat; from boot on where `before` is empty."""
    old = _ticks(before)
    found = {}
    for name, now in _ticks(after).items():
        spent = [new - was for new, was in zip(now, old.get(name, [0] * len(now)), strict=False)]
        total = sum(spent[: STEAL_INDEX + 1])
        steal = spent[STEAL_INDEX] if len(spent) > STEAL_INDEX else 0
        busy = sum(spent[index] for index in BUSY_FIELDS if index < len(spent)) - steal
        found[name] = (busy / total, steal / total) if total > 0 else (0.0, 0.0)
    return found


def _ticks(stat: str) -> dict[str, list[int]]:
    """The tick counts of each processor in a text of /proc/stat."""
    lines = (line.split() for line in stat.splitlines() if re.match(r"cpu\d", line))
    return {name: [*map(int, fields)] for name, *fields in lines}


def load(host: Host) -> Iterator[HostFinding]:
    """What others take of the processors, here and behind the hypervisor."""
    now, ever = shares(*host.samples), shares("", host.samples[1])
    busy = max((share for share, _ in now.values()), default=0.0)
    average = host.files.get("/proc/loadavg", "?").split()[0]
    says = f"others took up to {busy:.0%} of a core, load average {average}"
    if busy > BUSY_SHARE:
        fix = "stop what else runs here: turns lost meanwhile are void and played again"
        yield HostFinding("load", Light.YELLOW, says, fix)
    else:
        yield HostFinding("load", Light.GREEN, says)
    is_virtual = bool(re.search(r"^flags\s*:.*\bhypervisor\b", _cpuinfo(host), re.MULTILINE))
    steal = max((share for _, share in now.values()), default=0.0)
    before = max((share for _, share in ever.values()), default=0.0)
    if max(steal, before) > STEAL_SHARE:
        says = f"the hypervisor keeps {steal:.0%} of a core now, {before:.0%} since boot"
        fix = "use a machine with processors of its own (dedicated, not shared)"
        yield HostFinding("steal", Light.YELLOW, says, fix)
    else:
        yield HostFinding("steal", Light.GREEN, "none" + (", on a hypervisor" if is_virtual else ""))


def _cpuinfo(host: Host) -> str:
    return host.files.get("/proc/cpuinfo", "")


def clock(host: Host) -> Iterator[HostFinding]:
    """What a look at the clock costs."""
    path = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
    source = host.files.get(path, "").strip()
    if source in CHEAP_CLOCKS:
        yield HostFinding("clock", Light.GREEN, source)
    elif source:
        fix = "boot with clocksource=tsc, if this machine's is stable"
        yield HostFinding("clock", Light.YELLOW, f"{source}: a look at it costs microseconds", fix)
    else:
        yield HostFinding("clock", Light.GREEN, "its source is not to be seen here")


# --- the rest ------------------------------------------------------------------------------------


def kernel(host: Host) -> Iterator[HostFinding]:
    """Settings that are a second wall; one line for all that are well."""
    there = [setting for setting in SETTINGS if setting.name in host.settings]
    bad = [setting for setting in there if not setting.good(host.settings[setting.name])]
    if well := [setting.name for setting in there if setting not in bad]:
        yield HostFinding("kernel", Light.GREEN, f"as they should be: {', '.join(well)}")
    for setting in bad:
        says = f"{setting.name} = {host.settings[setting.name]}: {setting.why}"
        fix = f"sysctl -w {setting.name}={setting.fix}, and in /etc/sysctl.d/ for good"
        yield HostFinding("kernel", Light.YELLOW, says, fix)


def room(host: Host) -> Iterator[HostFinding]:
    """Disk and memory."""
    for places, free in host.free_bytes.items():
        says = f"{free / GIB:.1f} GiB free for {places}"
        yield _roomy("disk", says, free, LEAST_FREE, LITTLE_FREE, "make room")
    found = re.search(r"^MemAvailable:\s*(\d+) kB", host.files.get("/proc/meminfo", ""), re.MULTILINE)
    if found:
        free = int(found[1]) * 1024
        says = f"{free / GIB:.1f} GiB available; two agents of 350 MiB need 0.8 GiB"
        yield _roomy("memory", says, free, LEAST_MEMORY, LITTLE_MEMORY, "end other programs")


def _roomy(check: str, says: str, free: int, least: int, little: int, fix: str) -> HostFinding:
    if free >= little:
        return HostFinding(check, Light.GREEN, says)
    return HostFinding(check, Light.YELLOW if free >= least else Light.RED, says, fix)


def images(host: Host) -> Iterator[HostFinding]:
    """What agents run in."""
    if host.images is None:
        return
    wanted = [image for image in host.images if image.id or not image.is_optional]
    old = [f"{image.tag} is {'out of date' if image.id else 'missing'}" for image in wanted if not image.current]
    if old:
        yield HostFinding("images", Light.RED, ", ".join(old), "judge images build")
    else:
        yield HostFinding("images", Light.GREEN, ", ".join(image.tag for image in wanted))


CHECKS: tuple[Check, ...] = (
    engine,
    storage,
    walls,
    cgroups,
    swap,
    boxes,
    images,
    processors,
    load,
    clock,
    kernel,
    room,
)
"""All that is looked at, in the order of the report."""
