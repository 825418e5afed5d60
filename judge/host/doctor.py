"""Turns a `Host` into findings with a light, a text and a fix.

Green: fine. Yellow: contests can be played, with weaker or less exact enforcement. Red: this host breaks a promise of
the judge, or no game can be played.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from judge.host import kernel_checks
from judge.host.distribution import commands_for_engine
from judge.host.findings import Check, HostFinding, Light, finding
from judge.host.host import Host
from judge.sandbox.docker.requirements import LIMITS_FIX, maps_users, missing_limits, security_options
from judge.sandbox.machine.cgroup import UNIFIED, parse_mounts
from judge.sandbox.machine.cores import CorePlacement, group_cores, parse_processors, place_slots

BUSY_FIELDS = (0, 1, 2, 5, 6, 7)
"""Busy fields of /proc/stat: user (includes guest), nice, system, irq, softirq, steal."""


GIB = 1 << 30
FIXED_ENGINE = (29, 5, 1)
"""First version that fixes CVE-2026-41567, -41568 and -42306."""
FIXED_RUNC = (1, 3, 6)
"""First version that fixes CVE-2026-41579 (1.4.3 also does)."""
STEAL_INDEX = 7
BUSY_SHARE = 0.1
"""Share of a core; above it a time loss is void. The policies' default."""
STEAL_SHARE = 0.01
CHEAP_CLOCKS = ("tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter")
FIXED_STALLS = (6, 3)
"""First kernel in which creating many containers does not stall others through shared locks."""
FEW_SLOTS = 4
"""Above it `doctor` warns of such stalls."""
MIN_FREE_BYTES = GIB
LOW_FREE_BYTES = 10 * GIB
MIN_MEMORY_BYTES = GIB
LOW_MEMORY_BYTES = 4 * GIB


def run_checks(host: Host) -> list[HostFinding]:
    """All findings, in order."""
    return [finding for check in CHECKS for finding in check(host)]


def worst_light(findings: Sequence[HostFinding]) -> Light:
    """GREEN without findings."""
    return max((finding.light for finding in findings), key=list(Light).index, default=Light.GREEN)


# --- the Engine ----------------------------------------------------------------------------------


def _engine(host: Host) -> Iterator[HostFinding]:
    if host.engine is None:
        why = host.lacks.get("engine", "no Engine answers")
        yield HostFinding("engine", Light.RED, why, commands_for_engine(why))
        return
    version = str(host.engine.get("ServerVersion", ""))
    address = f" at {host.engine_at}" if host.engine_at else ""
    yield _has_fixes("engine", f"Docker Engine {version}{address}", version, FIXED_ENGINE)
    commit = str((host.engine.get("RuncCommit") or {}).get("ID", ""))
    if _version(commit):
        yield _has_fixes("runc", f"runc {commit}", commit, FIXED_RUNC)


def _has_fixes(check: str, says: str, version: str, fixed: tuple[int, ...]) -> HostFinding:
    newer = ".".join(map(str, fixed))
    fix = f"update to {newer} or newer, unless your distribution has fixed this version"
    return finding(check, _version(version) >= fixed, says, f"{says}: lacks the security fixes of {newer}", fix)


def _version(text: str) -> tuple[int, ...]:
    match = re.search(r"\d+\.\d+\.\d+", text)
    return tuple(map(int, match[0].split("."))) if match else ()


def _storage(host: Host) -> Iterator[HostFinding]:
    if host.engine is not None:
        driver = str(host.engine.get("Driver", ""))
        backing = dict(host.engine.get("DriverStatus") or []).get("Backing Filesystem", "")
        says = driver + (f" on {backing}" if backing else "")
        fix = 'set "storage-driver": "overlay2" in /etc/docker/daemon.json'
        is_slow = driver in ("vfs", "devicemapper", "aufs")
        yield finding("storage", not is_slow, says, f"{says}: boxes start slowly", fix)


def _isolation(host: Host) -> Iterator[HostFinding]:
    if host.engine is None:
        return
    has = security_options(host.engine)
    yield finding(
        "seccomp",
        "seccomp" in has,
        "system calls are filtered",
        "system calls cannot be filtered",
        "use a kernel with CONFIG_SECCOMP_FILTER",
        Light.RED,
    )
    has_vsock = "AF_VSOCK" in host.files.get("/proc/net/protocols", "")
    says = "available; the judge's profiles deny it, the Engine's own profile may not" if has_vsock else "not available"
    yield HostFinding("vsock", Light.GREEN, says)
    modules = sorted(has & {"apparmor", "selinux"})
    yield finding(
        "mac",
        bool(modules),
        f"containers are confined by {' and '.join(modules)}",
        "neither AppArmor nor SELinux confines containers",
        "apt-get install apparmor, boot with it, restart the Engine",
    )
    is_mapped = maps_users(host.engine)
    how = "mapped to other ids" if is_mapped else "not mapped (userns-remap does that); agents are never root"
    yield HostFinding("users", Light.GREEN, f"users of containers are {how}")
    runsc = (
        "runsc is available: box.runtime = 'runsc' gives each agent a separate kernel, and lets an agent cause voids; "
        "contests refuse it"
    )
    shared = "agents share the host's kernel; runsc (gVisor) would separate them: see SECURITY.md first"
    runtimes = host.engine.get("Runtimes") or {}
    crun = "; with box.runtime = 'crun' boxes start in 20 % less time" if "crun" in runtimes else ""
    yield HostFinding("runtimes", Light.GREEN, (runsc if "runsc" in runtimes else shared) + crun)


# --- limits --------------------------------------------------------------------------------------


def _cgroups(host: Host) -> Iterator[HostFinding]:
    kind = cgroup_kind(host.files.get("/proc/self/mountinfo", ""))
    if not kind:
        says = f"v{host.engine.get('CgroupVersion', '1')}, as the Engine reports" if host.engine else "none"
        says += "; hidden from this process, so an agent delayed by other programs loses on time"
        fix = "run the judge on the Engine's host, where /sys/fs/cgroup is mounted; ip netns exec hides it"
        yield HostFinding("cgroups", Light.YELLOW, says, fix)
    else:
        fix = "boot with systemd.unified_cgroup_hierarchy=1"
        yield finding("cgroups", kind != "v1", kind, "v1 only: an agent can delay its freezer", fix)
    if host.engine and (missing := missing_limits(host.engine)):
        yield HostFinding("limits", Light.RED, f"the Engine cannot limit: {', '.join(missing)}", LIMITS_FIX)


def cgroup_kind(mountinfo: str) -> str:
    """From /proc/self/mountinfo: `v1`, `v2`, `hybrid` (both; counters in v1), or empty."""
    try:
        mounted = set(parse_mounts(mountinfo))
    except ValueError:
        return ""
    has_v1 = bool(mounted & {"memory", "cpuacct", "freezer", "pids"})
    if UNIFIED in mounted:
        return "hybrid" if has_v1 else "v2"
    return "v1" if has_v1 else ""


def _swap(host: Host) -> Iterator[HostFinding]:
    """An agent could use memory beyond its limit."""
    lines = host.files.get("/proc/swaps", "").splitlines()[1:]
    if not lines:
        yield HostFinding("swap", Light.GREEN, "off")
    elif host.engine is None or host.engine.get("SwapLimit"):
        says = f"on ({lines[0].split()[0]}): agents cannot use it, but the judge can be swapped out"
        yield HostFinding("swap", Light.YELLOW, says, "swapoff -a during the contest")
    else:
        says = "on, and the Engine does not count it: an agent can use more than its cap"
        yield HostFinding("swap", Light.RED, says, "swapoff -a, or boot with swapaccount=1")


def _rights(host: Host) -> Iterator[HostFinding]:
    fix = "run the judge as root; docs/enforcement.md, Without root, has the consequences"
    says = f"without root: {'; '.join(host.without_root)}"
    yield finding("root", not host.without_root, "the judge is root", says, fix)


def _boxes(host: Host) -> Iterator[HostFinding]:
    trial = host.trial
    if trial is None:
        if host.engine is not None:
            yield HostFinding("box", Light.RED, host.lacks.get("trial", "not tested"))
        return
    yield finding(
        "pipes",
        trial.box == "docker-pipes",
        "named pipes: the judge and the Engine share a kernel",
        "the Engine's attach stream, which contests refuse: each clock includes the Engine's delay",
        "run the judge on the Engine's own host, with a TMPDIR that the Engine can see",
        Light.RED,
    )
    delay = "an agent can delay it" if trial.freezer == "v1" else "it takes about 10 ms per turn"
    says = f"{trial.freezer}: froze a box in {trial.freeze_us} us"
    fix = "run the judge as root on the Engine's host, with cgroup v2"
    yield finding("freezer", trial.freezer == "unified", says, f"{says}; {delay}", fix)
    readings = {
        "memory peak": trial.readings.memory_peak_bytes,
        "kernel memory": trial.readings.kernel_peak_bytes or None,  # 0 with cgroup.memory=nokmem
        "kills for memory": trial.readings.oom_kills,
        "CPU time": trial.readings.cpu_ns,
    }
    missing = [name for name, value in readings.items() if value is None]
    fix = "use a kernel of 5.19 or newer, on the Engine's own host"
    says = f"a box does not report: {', '.join(missing)}"
    yield finding("readings", not missing, ", ".join(readings), says, fix)
    yield finding(
        "folders",
        trial.folder_ends,
        "the size of a volume is enforced",
        "the size of a volume is not enforced",
        "use an Engine on Linux whose local volumes can be tmpfs",
        Light.RED,
    )
    yield finding(
        "terminals",
        not trial.opens_terminals,
        "boxes have no terminals",
        "boxes can open terminals: an agent can use up those of the host, and make kernel threads work for it",
        "use an Engine and a runtime that apply MaskedPaths",
        Light.RED,
    )
    if (surface := trial.surface) is not None:
        says = (
            f"an agent can make {surface.calls} system calls, and open {surface.readable_files} files of the kernel "
            f"to read, {surface.writable_files} to write, and {surface.devices} devices"
        )
        yield HostFinding("surface", Light.GREEN, says)
    yield finding(
        "oom",
        not trial.lowers_oom_score,
        "a host that is out of memory kills an agent first, and no agent can lower its own score",
        "an agent can lower its score, so a host that is out of memory may kill its opponent or the judge",
        "use an Engine and a runtime that apply ReadonlyPaths, or start the Engine with CAP_SYS_RESOURCE",
    )


# --- time ----------------------------------------------------------------------------------------


def _processors(host: Host) -> Iterator[HostFinding]:
    count = len(host.cores)
    games = "one game" if count == 2 else f"{count - 1} games at the same time"
    yield finding(
        "cores",
        count >= 2,
        f"{count} cores: {games}, and one core for the judge",
        f"{count} core: the judge and the agents share it, so clocks are less exact",
        "use at least 2 cores, so that the judge has its own",
    )
    groups = hyperthread_groups(host.files)
    fix = "echo off >/sys/devices/system/cpu/smt/control, or give a slot both of a pair"
    says = f"cores share their hardware: {' '.join(groups)}"
    yield finding("siblings", not groups, "no cores are known to share their hardware", says, fix)
    governors = {text.strip() for path, text in host.files.items() if path.endswith("scaling_governor")}
    turbo = host.files.get("/sys/devices/system/cpu/cpufreq/boost", "").strip() == "1"
    no_turbo = host.files.get("/sys/devices/system/cpu/intel_pstate/no_turbo", "").strip()
    says = ", ".join(sorted(governors)) + (", turbo on" if turbo or no_turbo == "0" else "")
    yield finding(
        "governor",
        governors <= {"performance"},
        says if governors else "no frequency control is visible",
        f"{says}: the first moves are slower",
        "cpupower frequency-set -g performance",
    )


def _stalls(host: Host) -> Iterator[HostFinding]:
    """Resources that slots share despite separate cores: kernel locks, caches and the Engine."""
    whole = group_cores(host.cores, [parse_processors(group) for group in hyperthread_groups(host.files)])
    if len(whole) <= 1:
        return
    # As in a contest.
    placement = place_slots(whole, len(whole) - 1)
    slots = {core for slot in placement.slots for core in slot}
    count, version = len(placement.slots), kernel_checks.kernel_version(host.kernel)
    if version:
        is_safe = version >= FIXED_STALLS or count <= FEW_SLOTS
        says = f"{host.kernel}: {count} games at the same time" if count > 1 else f"{host.kernel}: one game at a time"
        stalls = f"{says}: creating containers can stall agents for seconds"
        fix = f"use a kernel of 6.3 or newer, or play at most {FEW_SLOTS} games at the same time (--slots {FEW_SLOTS})"
        yield finding("stalls", is_safe, says, stalls, fix)
    shared = [cache for cache in last_level_caches(host.files) if len(_slots_on(placement, cache)) > 1]
    most = max((len(_slots_on(placement, cache)) for cache in shared), default=1)
    yield finding(
        "cache",
        not shared,
        "no slots are known to share a last-level cache",
        f"up to {most} slots share a last-level cache: their games slow each other",
        "play fewer games at the same time (--slots, --cores), so that each slot has its own cache",
    )
    loose = sorted(name for name, allowed in host.engine_cores.items() if allowed & slots)
    if host.engine_cores:
        judge = ",".join(map(str, placement.judge))
        yield finding(
            "pinned",
            not loose,
            "the Engine does not run on the cores of slots",
            f"{' and '.join(loose)} can run on the cores of slots: creating a box takes time from the agents there",
            f"taskset -acp {judge} PID of each, or CPUAffinity={judge} in the [Service] section of their units",
        )


def _slots_on(placement: CorePlacement, cache: frozenset[int]) -> list[tuple[int, ...]]:
    return [slot for slot in placement.slots if cache & set(slot)]


def last_level_caches(files: Mapping[str, str]) -> set[frozenset[int]]:
    """Processors of each last-level cache; empty if unknown."""
    levels: dict[str, list[tuple[int, str]]] = {}
    for path, text in files.items():
        match = re.fullmatch(r"(.*/cpu\d+/cache)/(index\d+)/level", path)
        if match and text.strip().isdigit():
            levels.setdefault(match[1], []).append((int(text), match[2]))
    lists = (files.get(f"{cache}/{max(indexes)[1]}/shared_cpu_list", "") for cache, indexes in levels.items())
    return {parse_processors(text) for text in lists if text.strip()}


def hyperthread_groups(files: Mapping[str, str]) -> list[str]:
    """Groups in the kernel's notation: `0,4` or `0-1`."""
    lists = {text.strip() for path, text in files.items() if path.endswith("thread_siblings_list")}
    return sorted(group for group in lists if not group.isdigit() and group)


def shares(before: str, after: str) -> dict[str, tuple[float, float]]:
    """(busy, stolen) by processor.

    The interval is that between two texts of /proc/stat; since boot if `before` is empty.
    """
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
    lines = (line.split() for line in stat.splitlines() if re.match(r"cpu\d", line))
    return {name: [*map(int, fields)] for name, *fields in lines}


def _load(host: Host) -> Iterator[HostFinding]:
    now, since_boot = shares(*host.samples), shares("", host.samples[1])
    busy = max((share for share, _ in now.values()), default=0.0)
    average = host.files.get("/proc/loadavg", "?").split()[0]
    says = f"other processes use up to {busy:.0%} of a core, load average {average}"
    fix = "stop other programs: turns lost while they run are void and played again"
    yield finding("load", busy <= BUSY_SHARE, says, says, fix)
    cpuinfo = host.files.get("/proc/cpuinfo", "")
    is_virtual = bool(re.search(r"^flags\s*:.*\bhypervisor\b", cpuinfo, re.MULTILINE))
    steal = max((share for _, share in now.values()), default=0.0)
    average_steal = max((share for _, share in since_boot.values()), default=0.0)
    yield finding(
        "steal",
        max(steal, average_steal) <= STEAL_SHARE,
        "none" + (", on a hypervisor" if is_virtual else ""),
        f"the hypervisor takes {steal:.0%} of a core now, {average_steal:.0%} since boot",
        "use a machine with dedicated processors",
    )


def _clock(host: Host) -> Iterator[HostFinding]:
    path = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
    source = host.files.get(path, "").strip()
    says = f"{source}: each reading takes microseconds"
    fix = "boot with clocksource=tsc, if this machine's is stable"
    holds = not source or source in CHEAP_CLOCKS
    yield finding("clock", holds, source or "its source is not visible", says, fix)


def _interrupts(host: Host) -> Iterator[HostFinding]:
    """No verdict depends on it."""
    if host.counts_interrupts is not None:
        counted = "the kernel measures them; records have their share of a late turn"
        lacking = "the kernel does not measure them (CONFIG_IRQ_TIME_ACCOUNTING), so records lack their share of a turn"
        yield HostFinding("interrupts", Light.GREEN, counted if host.counts_interrupts else lacking)


# --- kernel, disk and images ---------------------------------------------------------------------


def _space(host: Host) -> Iterator[HostFinding]:
    for places, free in host.free_bytes.items():
        says = f"{free / GIB:.1f} GiB free for {places}"
        light = Light.YELLOW if free >= MIN_FREE_BYTES else Light.RED
        yield finding("disk", free >= LOW_FREE_BYTES, says, says, "free some space", light)
    match = re.search(r"^MemAvailable:\s*(\d+) kB", host.files.get("/proc/meminfo", ""), re.MULTILINE)
    if match:
        free = int(match[1]) * 1024
        says = f"{free / GIB:.1f} GiB available; two agents of 350 MiB need 0.8 GiB"
        light = Light.YELLOW if free >= MIN_MEMORY_BYTES else Light.RED
        yield finding("memory", free >= LOW_MEMORY_BYTES, says, says, "close other programs", light)


def _images(host: Host) -> Iterator[HostFinding]:
    if host.images is not None:
        needed = [image for image in host.images if image.id or not image.recipe.is_optional]
        old = [
            f"{image.recipe.tag} is {'out of date' if image.id else 'not built'}"
            for image in needed
            if not image.current
        ]
        tags = ", ".join(image.recipe.tag for image in needed)
        fix = "; ".join(image.recipe.build_command for image in needed if not image.current)
        yield finding("images", not old, tags, ", ".join(old), fix, Light.RED)


CHECKS: tuple[Check, ...] = (
    _engine,
    _storage,
    _isolation,
    _cgroups,
    _swap,
    _rights,
    _boxes,
    _images,
    _processors,
    _stalls,
    _load,
    _clock,
    _interrupts,
    *kernel_checks.CHECKS,
    _space,
)
