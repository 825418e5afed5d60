"""Where a container's cgroups are, from texts of real hosts, and what their files say."""

import os
from contextlib import closing
from pathlib import Path

import pytest

from judge.base.errors import HostError
from judge.sandbox.box import Meter
from judge.sandbox.docker import freezer
from judge.sandbox.docker.engine import Engine, EngineRefusalError
from judge.sandbox.evidence import Evidence
from judge.sandbox.machine import cgroup
from judge.sandbox.machine.cgroup import CgroupMeter, Counter, locate

ID = "4f1c9a0d2b7e4f1c9a0d2b7e4f1c9a0d2b7e4f1c9a0d2b7e4f1c9a0d2b7e4f1c"

Case = tuple[str, str, dict[str, str]]
"""A /proc/PID/cgroup, our /proc/self/mountinfo, and the directories that they mean."""

V2: Case = (
    f"0::/system.slice/docker-{ID}.scope\n",
    (
        "24 18 0:22 / /sys rw,nosuid,nodev,noexec,relatime shared:7 - sysfs sysfs rw\n"
        "29 24 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2"
        " rw,nsdelegate,memory_recursiveprot\n"
    ),
    {"": f"/sys/fs/cgroup/system.slice/docker-{ID}.scope"},
)

V1: Case = (
    (f"5:freezer:/docker/{ID}\n4:memory:/docker/{ID}\n3:cpu,cpuacct:/docker/{ID}\n1:name=systemd:/docker/{ID}\n"),
    (
        "31 23 0:28 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755\n"
        "32 31 0:29 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n"
        "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
        "34 31 0:31 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
        "35 31 0:32 / /sys/fs/cgroup/freezer rw,relatime shared:13 - cgroup cgroup rw,freezer\n"
    ),
    {
        "freezer": f"/sys/fs/cgroup/freezer/docker/{ID}",
        "memory": f"/sys/fs/cgroup/memory/docker/{ID}",
        "cpu": f"/sys/fs/cgroup/cpu,cpuacct/docker/{ID}",
        "cpuacct": f"/sys/fs/cgroup/cpu,cpuacct/docker/{ID}",
        "name=systemd": f"/sys/fs/cgroup/systemd/docker/{ID}",
    },
)

HYBRID: Case = (
    (
        f"9:name=systemd:/docker/{ID}\n6:freezer:/docker/{ID}\n4:memory:/docker/{ID}\n"
        f"2:cpuacct:/docker/{ID}\n0::/docker/{ID}\n"
    ),
    (
        "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
        "33 31 0:30 / /sys/fs/cgroup/cpuacct rw,relatime - cgroup cgroup rw,cpuacct\n"
        "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
        "37 31 0:34 / /sys/fs/cgroup/freezer rw,relatime - cgroup cgroup rw,freezer\n"
        "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
    ),
    {
        "freezer": f"/sys/fs/cgroup/freezer/docker/{ID}",
        "memory": f"/sys/fs/cgroup/memory/docker/{ID}",
        "cpuacct": f"/sys/fs/cgroup/cpuacct/docker/{ID}",
        "": f"/sys/fs/cgroup/unified/docker/{ID}",
    },
)

CASES: dict[str, Case] = {
    "v2": V2,
    "v1": V1,
    "hybrid": HYBRID,
    "partly mounted": (
        f"0::/machine/judge/docker/{ID}\n",
        "41 31 0:38 /machine/judge /cgroups\\040here rw - cgroup2 none rw\n",
        {"": f"/cgroups here/docker/{ID}"},
    ),
    "outside of the mount": (f"0::/other/{ID}\n", "41 31 0:38 /machine /cg rw - cgroup2 none rw\n", {}),
    "outside of our namespace": (f"0::/../{ID}\n", V2[1], {}),
    "not mounted": (f"4:memory:/docker/{ID}\n", V2[1], {}),
}


@pytest.mark.parametrize("case", CASES)
def test_a_process_s_cgroups_are_found(case: str) -> None:
    memberships, mountinfo, directories = CASES[case]
    assert locate(memberships, mountinfo) == {name: Path(path) for name, path in directories.items()}


def test_another_s_process_number_is_not_taken_for_the_container_s() -> None:
    assert [None] * 3 == [cgroup.find_cgroups(pid, ID) for pid in (os.getpid(), 2**22 + 1, 0)]


def write(directory: Path, **files: str) -> Path:
    """A cgroup directory; `__` in a name stands for a dot."""
    directory.mkdir(exist_ok=True)
    for name, text in files.items():
        (directory / name.replace("__", ".")).write_text(text, encoding="ascii")
    return directory


READINGS: dict[str, tuple[dict[str, str], Evidence, int | None]] = {
    "v2": (
        {
            "memory.peak": "5000\n",
            "memory.max": "9000\n",
            "memory.events": "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n",
            "cpu.stat": "usage_usec 77\nuser_usec 70\nsystem_usec 7\n",
        },
        Evidence(memory_peak_bytes=5000, memory_cap_bytes=9000, oom_kills=2, cpu_ns=77_000, reached_cap=True),
        None,
    ),
    "v2 whose own limit did not run out": (
        {"memory.events": "low 0\nhigh 0\nmax 12\noom 0\noom_kill 2\noom_group_kill 0\n"},
        Evidence(oom_kills=2, reached_cap=False),
        None,
    ),
    "hybrid": (
        {
            "memory/memory.max_usage_in_bytes": "5000\n",
            "memory/memory.kmem.max_usage_in_bytes": "700\n",
            "memory/memory.limit_in_bytes": "9000\n",
            "memory/memory.usage_in_bytes": "3000\n",
            "memory/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n",
            "cpuacct/cpuacct.usage": "123456789\n",
            "cpu.stat": "usage_usec 1\n",
        },
        Evidence(
            memory_peak_bytes=5000,
            memory_cap_bytes=9000,
            oom_kills=1,
            cpu_ns=123456789,
            reached_cap=True,
            kernel_peak_bytes=700,
        ),
        3000,
    ),
}
"""Files of cgroups, what a meter reads, and what is in use."""


@pytest.mark.parametrize("case", READINGS)
def test_a_meter_reads_its_host(tmp_path: Path, case: str) -> None:
    files, readings, used = READINGS[case]
    for name, text in files.items():
        write((tmp_path / name).parent, **{Path(name).name: text})
    of_v1 = {name: tmp_path / name for name in ("memory", "cpuacct") if (tmp_path / name).is_dir()}
    with closing(CgroupMeter({**of_v1, "": tmp_path})) as meter:
        assert meter.readings() == readings
        assert meter.memory_bytes() == used


@pytest.mark.parametrize(("peak", "reached"), [(99 << 20, False), ((100 << 20) - 4096, True), (100 << 20, True)])
def test_v1_was_at_its_cap_if_its_peak_was(tmp_path: Path, peak: int, reached: bool) -> None:
    memory = write(tmp_path, memory__max_usage_in_bytes=f"{peak}\n", memory__limit_in_bytes=f"{100 << 20}\n")
    with closing(CgroupMeter({"memory": memory})) as meter:
        assert reached is meter.readings().reached_cap


@pytest.mark.parametrize(
    ("outer", "inner", "reached"),
    [
        (f"docker-{'a' * 64}.scope", "container", True),
        (f"docker-{'a' * 64}.scope", "b" * 64, False),
        ("machine.slice", f"docker-{'a' * 64}.scope", False),
    ],
    ids=["crun's cgroup below that of the container", "a container in a container", "a slice without memory"],
)
def test_memory_that_ends_at_the_outer_cgroup_of_a_container_ends_at_its_cap(
    tmp_path: Path, outer: str, inner: str, reached: bool
) -> None:
    write(tmp_path / outer, memory__events="max 12\noom 1\noom_kill 1\n")
    directory = write(tmp_path / outer / inner, memory__events="max 12\noom 0\noom_kill 1\n")
    with closing(CgroupMeter({"": directory})) as meter:
        assert (1, reached) == (meter.readings().oom_kills, meter.readings().reached_cap)


def test_a_meter_of_an_older_v2_keeps_the_most_that_it_saw(tmp_path: Path) -> None:
    directory = write(tmp_path, memory__current="5000\n", memory__max="max\n")
    meter = CgroupMeter({"": directory})
    assert meter.readings() == Evidence(memory_peak_bytes=5000)
    write(tmp_path, memory__current="4000\n")
    assert meter.readings().memory_peak_bytes == 5000
    # What is in use falls.
    assert meter.memory_bytes() == 4000
    meter.close()


def test_kernel_memory_of_v2_is_the_highest_value_that_was_read(tmp_path: Path) -> None:
    def use(count: int) -> None:
        write(tmp_path, memory__stat=f"anon 1\nfile 2\nkernel {count}\nkernel_stack 16384\npagetables 4096\nslab 9\n")

    use(500)
    with closing(CgroupMeter({"": tmp_path})) as meter:
        seen = [meter.kernel_bytes()]
        for count in (900, 300):
            use(count)
            seen.append(meter.kernel_bytes())

        assert [500, 900, 900] == seen
        assert 900 == meter.readings().kernel_peak_bytes
    write(tmp_path, memory__stat="anon 1\nfile 2\nkernel_stack 16384\n")  # before Linux 5.18
    with closing(CgroupMeter({"": tmp_path})) as meter:
        assert None is meter.kernel_bytes()


V1_FILES = {
    "peak": "memory__max_usage_in_bytes", "kills": "memory__oom_control", "cpu": "cpuacct__usage", "cpu_text": "{}\n",
    "kernel": "memory__kmem__max_usage_in_bytes", "kernel_text": "{}\n",
}  # fmt: skip
V2_FILES = {
    "peak": "memory__peak", "kills": "memory__events", "cpu": "cpu__stat", "cpu_text": "usage_usec {}\n",
    "kernel": "memory__stat", "kernel_text": "kernel {}\n",
}  # fmt: skip


@pytest.mark.parametrize(
    ("hierarchies", "files", "unit_ns"), [(("memory", "cpuacct"), V1_FILES, 1), (("",), V2_FILES, 1000)]
)
def test_each_game_of_a_kept_container_is_counted_from_zero(
    tmp_path: Path, hierarchies: tuple[str, ...], files: dict[str, str], unit_ns: int
) -> None:
    def play(peak: int, kills: int, cpu: int) -> None:
        texts = {"peak": f"{peak}\n", "kills": f"oom_kill {kills}\n", "cpu": files["cpu_text"].format(cpu)}
        texts["kernel"] = files["kernel_text"].format(peak // 10)
        write(tmp_path, **{files[name]: text for name, text in texts.items()})

    play(9000, 1, 50)
    with closing(CgroupMeter(dict.fromkeys(hierarchies, tmp_path))) as meter:
        open_files = len(list(Path("/proc/self/fd").iterdir()))
        seen = []
        for game in (1, 2):
            meter.readings()
            meter.restart()
            play(5000 // game, 1 + game, 50 + 70 * game)
            read = meter.readings()
            seen.append((read.memory_peak_bytes, read.oom_kills, read.cpu_ns, read.kernel_peak_bytes))

        assert [(5000, 1, 70 * unit_ns, 500), (2500, 1, 70 * unit_ns, 250)] == seen
        assert open_files == len(list(Path("/proc/self/fd").iterdir()))


def test_meter_without_a_cgroup_reports_that_it_cannot_restart() -> None:
    with pytest.raises(OSError, match="cannot be restarted"):
        Meter().restart()


def test_source_of_kills_that_cannot_be_opened_keeps_no_descriptor(tmp_path: Path) -> None:
    """As without root: the list of events may not be written."""
    group = write(tmp_path / "group", **{"memory.oom_control": "oom_kill 0\n"})
    before = sorted(Path("/proc/self/fd").iterdir())
    (group / "cgroup.event_control").mkdir()
    assert cgroup.OomSource.open({"memory": group}) is None
    (group / "cgroup.event_control").rmdir()
    assert cgroup.OomSource.open({"memory": group}) is None  # without a limit
    assert before == sorted(Path("/proc/self/fd").iterdir())


@pytest.mark.parametrize(("kills", "peak"), [(0, 9000), (2, 5000)])
def test_a_kill_for_memory_that_the_cgroup_did_not_count_is_in_the_readings(
    tmp_path: Path, kills: int, peak: int
) -> None:
    directory = write(tmp_path, memory__peak="5000\n", memory__max="9000\n", memory__events=f"oom_kill {kills}\n")
    with closing(CgroupMeter({"": directory})) as meter:
        meter.exhausted_cap = 9000

        assert (peak, kills or 1) == (meter.readings().memory_peak_bytes, meter.readings().oom_kills)


def test_a_counter_keeps_its_value_when_its_file_has_gone(tmp_path: Path) -> None:
    file = tmp_path / "cpuacct.usage"
    file.write_text("42\n", encoding="ascii")
    fd = os.open(file, os.O_RDONLY)
    counter = Counter(fd)
    assert counter.read() == 42
    os.close(fd)
    assert counter.read() == 42
    fd = os.open(tmp_path, os.O_RDONLY)
    assert Counter(fd, "oom_kill").read() is None
    os.close(fd)


class Pausing(Engine):
    """An Engine that can pause a container, which is tried before an agent runs; nobody asks it anything else."""

    def __init__(self, refusals: int = 0) -> None:
        self.asked: list[str] = []
        self._refusals = refusals

    def pause(self, container: str) -> None:
        self.asked.append(f"pause {container}")
        if len(self.asked) <= self._refusals:
            raise EngineRefusalError("unable to freeze", 500)

    def unpause(self, container: str) -> None:
        self.asked.append(f"unpause {container}")


@pytest.mark.parametrize(
    ("wish", "has", "kind"),
    [
        ("auto", {"", "freezer"}, freezer.FileFreezer),
        ("auto", {"freezer"}, freezer.FileFreezer),
        ("auto", set(), freezer.EnginePause),
        ("engine", {"", "freezer"}, freezer.EnginePause),
        ("none", {"", "freezer"}, freezer.Freezer),
    ],
)
def test_the_first_freezer_that_a_host_has_is_taken(tmp_path: Path, wish: str, has: set[str], kind: type) -> None:
    directories = {name: write(tmp_path / (name or "unified")) for name in has}
    for directory in directories.values():
        write(directory, cgroup__freeze="0\n", cgroup__events="frozen 0\n", freezer__state="THAWED\n")
    engine = Pausing()
    chosen = freezer.choose_freezer(wish, directories, engine, ID)
    assert kind is type(chosen)
    tried = [f"pause {ID}", f"unpause {ID}"] if kind is freezer.EnginePause else []
    assert tried == engine.asked
    chosen.close()


def test_pause_that_is_refused_is_tried_again_before_the_game_but_not_without_end() -> None:
    freezer.EnginePause(engine := Pausing(2), ID).prove()
    assert [*[f"pause {ID}"] * 3, f"unpause {ID}"] == engine.asked

    with pytest.raises(EngineRefusalError, match="unable to freeze"):
        freezer.EnginePause(engine := Pausing(100), ID).prove()
    assert [f"pause {ID}"] * freezer.PROOFS == engine.asked


def test_unified_is_preferred_and_confirmed_by_its_events(tmp_path: Path) -> None:
    directory = write(tmp_path, cgroup__freeze="0", cgroup__events="populated 1\nfrozen 0\n")
    with closing(freezer.choose_freezer("auto", {"": directory, "freezer": tmp_path}, Pausing(), ID)) as chosen:
        chosen.freeze()
        assert (directory / "cgroup.freeze").read_text(encoding="ascii") == "1"
        assert not chosen.is_frozen()
        write(directory, cgroup__events="populated 1\nfrozen 1\n")
        assert chosen.is_frozen()
        chosen.thaw()
        assert (directory / "cgroup.freeze").read_text(encoding="ascii") == "0"


@pytest.mark.parametrize("wish", ["unified", "v1"])
def test_a_freezer_that_is_not_there_is_named(wish: str) -> None:
    with pytest.raises(HostError, match=wish):
        freezer.choose_freezer(wish, {}, Pausing(), ID)
