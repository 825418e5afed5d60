"""What is said of a host: whole hosts as they look, a check at a time, and this one for real."""

import gc
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from judge.host import doctor
from judge.host.build_images import build_images
from judge.host.doctor import hyperthread_groups, run_checks, shares, worst_light
from judge.host.findings import HostFinding, Light
from judge.host.host import BoxTrial, Host, read_host
from judge.host.kernel_checks import NAMES
from judge.sandbox.docker.images import EngineImage
from judge.sandbox.docker.seccomp import load_profile
from judge.sandbox.evidence import Evidence
from judge.sandbox.runtimes import recipes
from tests.sandbox.machine.test_cgroup import HYBRID, V1, V2

TOPOLOGY = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"
GOVERNOR = "/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor"
CACHE = "/sys/devices/system/cpu/cpu{}/cache/index{}/{}"
CLOCKSOURCE = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
NO_SWAP = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
SWAP_FILE = NO_SWAP + "/swap.img                               file\t\t4194300\t\t0\t\t-2\n"
READ = Evidence(memory_peak_bytes=3 << 20, memory_cap_bytes=400 << 20, oom_kills=0, cpu_ns=1, kernel_peak_bytes=2 << 20)
CURRENT = [EngineImage(recipes()["native"], "sha256:1", current=True)]

STAT = """\
cpu  968513 88881 219556 1255833 28665 0 7067 239551 0 0
cpu0 466018 38168 108125 660475 11425 0 541 119058 0 0
cpu1 502495 50713 111430 595358 17240 0 6526 120493 0 0
intr 1 2 3
"""
STAT_A_SECOND_LATER = """\
cpu  968613 88881 219556 1255931 28665 0 7067 239553 0 0
cpu0 466018 38168 108125 660573 11425 0 541 119060 0 0
cpu1 502595 50713 111430 595358 17240 0 6526 120493 0 0
"""

SERVER = Host(
    name="contest",
    system="Debian GNU/Linux 13 (trixie)",
    kernel="6.12.48",
    cores=(0, 1, 2, 3),
    files={
        "/proc/self/mountinfo": V2[1],
        "/proc/swaps": NO_SWAP,
        "/proc/loadavg": "0.00 0.01 0.00 1/210 4711\n",
        "/proc/meminfo": "MemTotal:       65843652 kB\nMemAvailable:   64000000 kB\n",
        "/proc/cpuinfo": "processor\t: 0\nflags\t\t: fpu vme tsc\n",
        CLOCKSOURCE: "tsc\n",
        **{TOPOLOGY.format(core): f"{core}\n" for core in range(4)},
        **{GOVERNOR.format(core): "performance\n" for core in range(4)},
    },
    settings={
        "kernel.core_pattern": "core",
        "fs.protected_hardlinks": "1",
        "fs.protected_symlinks": "1",
        "fs.protected_fifos": "1",
        "fs.protected_regular": "2",
        "kernel.yama.ptrace_scope": "1",
        "kernel.unprivileged_bpf_disabled": "2",
        "kernel.unprivileged_userns_clone": "0",
        "fs.epoll.max_user_watches": "16384",
        "net.core.bpf_jit_limit": "528482304",
        "fs.file-max": "9223372036854775807",
        "fs.pipe-user-pages-soft": "16384",
        "kernel.sem": "32000\t1024000000\t500\t32000",
        "kernel.pid_max": "4194304",
    },
    samples=("cpu0 0 0 0 0 0 0 0 0 0 0\n", "cpu0 1 0 0 99 0 0 0 0 0 0\n"),
    free_bytes={"this folder": 200 << 30},
    engine={
        "ServerVersion": "29.5.1",
        "RuncCommit": {"ID": "v1.4.3-0-g9f9c9623"},
        "Driver": "overlayfs",
        "DriverStatus": [["driver-type", "io.containerd.snapshotter.v1"]],
        "SecurityOptions": ["name=apparmor", "name=seccomp,profile=builtin", "name=cgroupns"],
        "CgroupVersion": "2",
        "MemoryLimit": True,
        "SwapLimit": True,
        "PidsLimit": True,
        "CPUSet": True,
        "Runtimes": {"runc": {}, "runsc": {}},
    },
    images=CURRENT,
    trial=BoxTrial("docker-pipes", "unified", 36, READ, True),
)
"""A host made for contests: v2, nothing else on it."""

LAPTOP = replace(
    SERVER,
    name="laptop",
    files={
        **SERVER.files,
        "/proc/swaps": SWAP_FILE,
        "/proc/meminfo": "MemAvailable:    3100000 kB\n",
        **{TOPOLOGY.format(core): f"{core % 2},{core % 2 + 2}\n" for core in range(4)},
        **{GOVERNOR.format(core): "powersave\n" for core in range(4)},
        "/sys/devices/system/cpu/intel_pstate/no_turbo": "0\n",
    },
    settings={"kernel.core_pattern": "|/usr/share/apport/apport -p%p -s%s -c%c -d%d -P%P -u%u -g%g -F%F -- %E"},
    free_bytes={"this folder": 6 << 30},
    trial=replace(SERVER.trial or BoxTrial("", "", 0, READ, True), freezer="engine", freeze_us=11000),
    without_root=("the Engine freezes boxes",),
)
"""An author's own: v2, a user of the docker group, a browser beside it."""

VETERAN = replace(
    SERVER,
    name="veteran",
    cores=(0,),
    files={
        "/proc/self/mountinfo": V1[1],
        "/proc/swaps": SWAP_FILE,
        "/proc/loadavg": "3.10 3.00 2.90 4/310 99\n",
        "/proc/cpuinfo": "flags\t\t: fpu vme hypervisor\n",
        CLOCKSOURCE: "acpi_pm\n",
    },
    settings={},
    samples=(STAT, STAT_A_SECOND_LATER),
    free_bytes={"this folder": 100 << 20},
    engine={
        "ServerVersion": "20.10.7",
        "RuncCommit": {"ID": "9f9c96235cc97674e935002fc3d78361b696a69e"},
        "Driver": "vfs",
        "SecurityOptions": [],
        "MemoryLimit": True,
        "SwapLimit": False,
        "PidsLimit": False,
        "CPUSet": True,
        "Runtimes": {"runc": {}},
    },
    images=[EngineImage(recipes()["python"])],
    trial=BoxTrial("docker-attach", "v1", 158, Evidence(cpu_ns=1), False, True, True),
)
"""A virtual machine of 2018, where hardly anything holds."""


def lights(host: Host) -> dict[str, Light]:
    """The light of each check; of those with several lines the worst."""
    found: dict[str, Light] = {}
    for finding in run_checks(host):
        found[finding.check] = worst_light([finding, HostFinding("", found.get(finding.check, Light.GREEN), "")])
    return found


def one(check: str, host: Host) -> HostFinding:
    (finding,) = [finding for finding in run_checks(host) if finding.check == check]
    return finding


def of_light(host: Host, light: Light) -> set[str]:
    return {check for check, its in lights(host).items() if its is light}


def test_a_host_made_for_contests_is_green() -> None:
    assert set(lights(SERVER).values()) == {Light.GREEN}
    assert not [finding for finding in run_checks(SERVER) if finding.fix]


def test_a_laptop_will_do() -> None:
    assert of_light(LAPTOP, Light.RED) == set()
    assert of_light(LAPTOP, Light.YELLOW) == {
        "swap", "root", "freezer", "siblings", "governor", "kernel", "disk", "memory",
    }  # fmt: skip
    assert one("siblings", LAPTOP).says == "cores share their hardware: 0,2 1,3"
    assert one("governor", LAPTOP).says.startswith("powersave, turbo on")


def test_a_veteran_will_not() -> None:
    assert of_light(VETERAN, Light.RED) == {
        "seccomp", "limits", "swap", "folders", "images", "disk", "terminals", "pipes",
    }  # fmt: skip
    assert of_light(VETERAN, Light.YELLOW) == {
        "engine", "storage", "mac", "cgroups", "freezer", "readings", "cores", "load", "steal", "clock",
        "oom",
    }  # fmt: skip
    assert one("limits", VETERAN).says == "the Engine cannot limit: processes"


def test_a_host_of_which_nothing_is_known_is_red_for_its_engine_only() -> None:
    nothing = Host()
    assert of_light(nothing, Light.RED) == {"engine"}
    assert "load" in lights(nothing)


@pytest.mark.parametrize("host", [SERVER, LAPTOP, VETERAN, Host()], ids=lambda host: host.name)
def test_every_finding_that_is_not_green_names_the_fix(host: Host) -> None:
    assert [] == [finding for finding in run_checks(host) if finding.light is not Light.GREEN and not finding.fix]


def with_caches(level_3: list[str]) -> dict[str, str]:
    """Caches of each core's own, and over them one of the third level that these processors share."""
    files: dict[str, str] = {}
    for core, shared in enumerate(level_3):
        files |= {CACHE.format(core, 2, "level"): "2\n", CACHE.format(core, 2, "shared_cpu_list"): f"{core}\n"}
        files |= {CACHE.format(core, 3, "level"): "3\n", CACHE.format(core, 3, "shared_cpu_list"): f"{shared}\n"}
    return files


def engine(**changes: object) -> dict[str, Any]:
    return {"engine": {**(SERVER.engine or {}), **changes}}


def loads_modules(program: str, disabled: str, kernel: str = "6.1.0-44-amd64") -> dict[str, Any]:
    settings = {"kernel.modprobe": program, "kernel.modules_disabled": disabled}
    return {"kernel": kernel, "settings": settings}


GREEN, YELLOW, RED = Light.GREEN, Light.YELLOW, Light.RED
SWAPS = {"files": {"/proc/swaps": SWAP_FILE}}
PINNED = {"dockerd": frozenset({0}), "containerd": frozenset({0})}

CHECKS: Sequence[tuple[str, dict[str, Any], Light, str]] = (
    ("interrupts", {"counts_interrupts": True}, GREEN, "the kernel measures them"),
    ("interrupts", {"counts_interrupts": False}, GREEN, "CONFIG_IRQ_TIME_ACCOUNTING"),
    ("cgroups", {"files": {}}, YELLOW, "v2, as the Engine reports; hidden from this process"),
    (
        "runtimes",
        engine(Runtimes={"runc": {}, "crun": {}}),
        GREEN,
        "with box.runtime = 'crun' boxes start in 20 % less",
    ),
    ("swap", SWAPS, YELLOW, ""),
    ("swap", {**SWAPS, **engine(SwapLimit=False)}, RED, ""),
    (
        "box",
        {"trial": None, "lacks": {"trial": "The image judge/native:1 is missing"}},
        RED,
        "judge/native:1 is missing",
    ),
    # A setting that this kernel has not is passed over.
    ("kernel", {"settings": {"fs.protected_fifos": "0"}}, YELLOW, "fix: sysctl -w fs.protected_fifos=1"),
    ("watches", {"settings": {"fs.epoll.max_user_watches": "16385"}}, RED, "fix: sysctl -w fs.epoll.max_user_watches="),
    ("watches", {"settings": {"fs.epoll.max_user_watches": "16384"}}, GREEN, ""),
    ("watches", {"settings": {"fs.epoll.max_user_watches": "8192"}}, GREEN, ""),
    (
        "watches",
        {"settings": {"fs.epoll.max_user_watches": "8191"}},
        YELLOW,
        "fix: sysctl -w fs.epoll.max_user_watches=",
    ),
    ("maps", {"settings": {"vm.max_map_count": "2048"}}, GREEN, ""),
    ("maps", {"settings": {"vm.max_map_count": "65530"}}, YELLOW, ""),
    ("modules", loads_modules("/sbin/modprobe", "0"), YELLOW, ""),
    ("modules", loads_modules("", "0"), GREEN, ""),
    ("modules", loads_modules("/sbin/modprobe", "1"), GREEN, ""),
    ("modules", loads_modules("/sbin/modprobe", "0", "6.14.0"), GREEN, ""),
    ("queues", engine(SecurityOptions=["name=userns"]), YELLOW, ""),
    ("vsock", {"files": {"/proc/net/protocols": "AF_VSOCK 1320 0"}}, GREEN, "the judge's profiles deny"),
    ("vsock", {}, GREEN, "not available"),
    ("cache", {"files": with_caches(["0-1", "0-1", "2", "3"])}, GREEN, ""),
    ("cache", {"files": with_caches(["0-1", "0-1", "2-3", "2-3"])}, YELLOW, "up to 2 slots share a last-level cache"),
    ("stalls", {"kernel": "6.1.0-18-amd64", "cores": (*range(5),)}, GREEN, "6.1.0-18-amd64: 4 games at the same time"),
    ("stalls", {"kernel": "6.1.0-18-amd64", "cores": (*range(6),)}, YELLOW, "6.1.0-18-amd64: 5 games at the same time"),
    ("stalls", {"kernel": "6.3.0", "cores": (*range(64),)}, GREEN, ""),
    ("pinned", {"engine_cores": PINNED}, GREEN, ""),
    (
        "pinned",
        {"engine_cores": {**PINNED, "containerd": frozenset({0, 3})}},
        YELLOW,
        "containerd can run on the cores",
    ),
)


@pytest.mark.parametrize("number", range(len(CHECKS)), ids=lambda number: f"{CHECKS[number][0]} {number}")
def test_a_check_of_a_host_has_its_light_and_words(number: int) -> None:
    check, changes, light, words = CHECKS[number]

    finding = one(check, replace(SERVER, **changes))

    assert light is finding.light
    assert words in f"{finding.says}; fix: {finding.fix}"
    assert (light is not Light.GREEN) == bool(finding.fix) or check == "box"


def test_checks_that_do_not_concern_a_host_are_left_out() -> None:
    maps = replace(SERVER, kernel="5.10.0", settings={"vm.max_map_count": "65530"})
    assert {"interrupts", "crun"}.isdisjoint(lights(SERVER))
    assert "maps" not in lights(maps)  # these kernels charge all of them
    assert {"stalls", "cache", "pinned"}.isdisjoint(lights(VETERAN))  # it has no cores for slots


@pytest.mark.parametrize(("case", "kind"), [(V1, "v1"), (V2, "v2"), (HYBRID, "hybrid"), (("", "rubbish\n", {}), "")])
def test_cgroup_hierarchies_are_distinguished(case: tuple[str, str, object], kind: str) -> None:
    assert doctor.cgroup_kind(case[1]) == kind


def test_processor_shares_include_other_work_and_steal_time() -> None:
    assert shares(STAT, STAT_A_SECOND_LATER) == {"cpu0": (0.0, 0.02), "cpu1": (1.0, 0.0)}
    assert round(shares("", STAT)["cpu0"][1], 3) == 0.085  # since the start of the host
    assert shares(STAT, STAT) == {"cpu0": (0.0, 0.0), "cpu1": (0.0, 0.0)}
    assert shares("", "cpu0 1 1 1 1\n") == {"cpu0": (0.75, 0.0)}  # a kernel that tells no more
    assert shares("", "") == {}


def test_siblings_are_groups_of_more_than_one() -> None:
    assert hyperthread_groups({TOPOLOGY.format(0): "0-1\n", TOPOLOGY.format(1): "0-1\n"}) == ["0-1"]
    assert hyperthread_groups({TOPOLOGY.format(0): "0\n"}) == hyperthread_groups({}) == []


def test_limits_of_the_whole_host_are_shown_with_their_numbers() -> None:
    shown = [finding.says for finding in run_checks(SERVER) if finding.check == "shared"]
    assert "no agent can use it: net.core.bpf_jit_limit = 528482304, kernel.sem = 32000 1024000000 500 32000" in shown
    assert any("fs.pipe-user-pages-soft = 16384" in says and says.startswith("counted for each user") for says in shown)


@pytest.mark.parametrize(
    ("name", "least"), [("kernel.pid_max", 2 * 6 * 65), ("kernel.threads-max", 2 * 6 * 65), ("fs.file-max", 12 * 16684)]
)
def test_a_limit_that_boxes_could_use_up_is_red(name: str, least: int) -> None:
    for value, light in ((least, Light.GREEN), (least - 1, Light.RED)):
        found = [f for f in run_checks(replace(SERVER, settings={name: str(value)})) if f.check == "shared"]
        assert light is worst_light(found)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_look_without_an_engine_reports_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent.sock")
    host = read_host(NAMES, pause_s=0.05)
    assert (host.engine, host.images, host.trial) == (None, None, None)
    assert worst_light(run_checks(host)) is Light.RED
    assert one("engine", host).light is Light.RED
    assert host.samples[1]
    gc.collect()  # the Engine's client leaves a socket that it could not connect


@pytest.mark.docker
def test_this_host_s_boxes_are_tried() -> None:
    build_images(["native"])
    host = read_host(NAMES, pause_s=0.05)
    assert host.lacks == {}
    assert host.trial is not None
    assert host.trial.folder_ends
    assert not host.trial.opens_terminals
    surface = host.trial.surface
    assert surface is not None
    assert len(load_profile("native").calls) == surface.calls
    assert 6 == surface.devices  # null, zero, full, random, urandom, tty
    assert 0 == surface.writable_files < surface.readable_files
    said = one("surface", host)
    assert (Light.GREEN, True) == (said.light, f"{surface.readable_files} files of the kernel to read" in said.says)
    assert one("vsock", host).light is Light.GREEN
    assert host.trial.freezer in ("unified", "v1", "engine")
    assert one("seccomp", host).light is Light.GREEN
