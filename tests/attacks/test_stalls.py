"""A stall of the host is no agent's fault: late turns of a correct agent, and of agents that make their own stalls.

A turn here is what it is in a game: a request, a thaw, a deadline, and if that is missed the measuring and the verdict,
by the same wire and the same table.
"""

import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from judge.attacks.attack import Attack
from judge.attacks.programs import build_attacks
from judge.attacks.table import ATTACKS
from judge.games.types import Verdict
from judge.host.build_images import build_images
from judge.referee.blame import Cause, Evidence, Void, judge
from judge.referee.live_wire import LiveWire
from judge.referee.play import Slot, Venue, play
from judge.referee.policy import load_policy
from judge.referee.spec import GameSpec, SeatSpec, write_record
from judge.referee.transcript import EntryKind, Transcript
from judge.referee.wire import Measured
from judge.sandbox.box import Box, BoxPolicy, Limits, Tenant
from judge.sandbox.docker.docker_box import DockerBox
from judge.sandbox.host_activity.core_use import CoreUse
from judge.sandbox.host_activity.stalls import StallWatch
from judge.sandbox.machine.cgroup import parse_mounts
from judge.sandbox.process.person_box import PersonBox
from judge.sandbox.static_builds import compile_static
from tests.attacks.weak_box import below, weak_boxes
from tests.examples import sized

LATE_TURNS = sized(10, 50)
BY_STALLS = [attack for attack in ATTACKS if attack.id.startswith("V11.")]
NEARLY = "89"
"""MiB, nearly the memory of a box."""
STARVED_SHARE = 0.1
TURN_NS = 300_000_000
SOON_NS = 60_000_000_000
"""Far away: what is awaited comes, or the test fails."""
MIB = 1 << 20
STORMERS = 4
"""So many containers are made at once in a storm."""
FULL_LOOKS = 5
"""How often a cgroup must be seen full, one after the other, until it is."""

pytestmark = [
    pytest.mark.docker,
    pytest.mark.alone,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root stalls a host"),
]


@pytest.fixture(scope="module")
def correct(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the correct agent."""
    build_images(["native"])
    folder = tmp_path_factory.mktemp("correct")
    folder.chmod(0o755)
    compile_static([Path(__file__).parent / "stalled.c"], folder / "stalled")
    return folder


def run_judge(*words: str) -> str:
    """What a command says."""
    command = [sys.executable, "-m", "judge.cli", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class LateTurns:
    """One agent in a box, which is asked turn after turn."""

    def __init__(self, slot: Slot, program: Path, command: tuple[str, ...], parent: str, memory_bytes: int) -> None:
        """`parent` is the cgroup that the box is made in; empty: the Engine's own."""
        self.stack = ExitStack()
        self._slot = slot
        tenant = Tenant("agent", program, command, "native", 0, "late", slot.cores, slot.judge_cores)
        limits = Limits(memory_bytes=memory_bytes)

        self.stack.enter_context(weak_boxes([below(parent)], {}, [tenant.name]))
        self.box = self.stack.enter_context(closing(DockerBox(tenant, limits, BoxPolicy())))
        reader, writer = os.pipe()
        self.stack.callback(os.close, reader)
        self.stack.callback(os.close, writer)
        boxes: list[Box] = [self.box, PersonBox(reader, lambda: None)]
        for box in boxes:
            box.prepare()
            box.enter()
        stalls = self.stack.enter_context(closing(StallWatch([self.box.nearby()])))
        transcript = self.stack.enter_context(closing(Transcript()))
        use = CoreUse(slot.cores)
        self.wire = LiveWire(boxes, transcript, lambda _: self.box, use, len(slot.cores), 0, 0, 1, stalls)
        self.stack.callback(self.wire.close)
        self.wire.start(0)
        self.evidence: list[Evidence] = []

    def __enter__(self) -> "LateTurns":
        return self

    def __exit__(self, *_: object) -> None:
        self.stack.close()

    def begin(self, request: bytes) -> int:
        """Ask the agent, whose clock begins now."""
        self.wire.write(0, request)
        return self.wire.thaw(0)

    def is_answered(self, until_ns: int) -> bool:
        """Whether a line comes by then."""
        while (happening := self.wire.wait(until_ns)).kind is not EntryKind.EXPIRED:
            assert happening.kind is not EntryKind.OOM
            if b"\n" in happening.data and happening.kind is EntryKind.READ:
                return True
        return False

    def greet(self, request: bytes) -> None:
        """Have it answer a first request, in whatever time."""
        assert self.is_answered(self.begin(request) + SOON_NS)
        self.wire.freeze(0)

    def verdict(self) -> tuple[str, Evidence]:
        """What the table says of the agent, which is late now."""
        measured = self.wire.measure(0)
        names = set(Measured._fields) & set(Evidence.model_fields) - {"game_stalled_share", "game_slept_share"}
        # Whether its core was taken by others is not asked here: on a busy host that is the case anyhow.
        evidence = Evidence(**{name: getattr(measured, name) for name in names - {"others_share"}})
        found = judge(Cause.TURN_TIME, evidence, STARVED_SHARE, 0)
        return ("void: " + found.reason.partition(":")[0] if isinstance(found, Void) else found.verdict.value), evidence

    def play(
        self, request: bytes, stall: Callable[[], object] = lambda: None, release: Callable[[], object] = lambda: None
    ) -> Counter[str]:
        """Play until enough turns were late; how they were judged."""
        found: Counter[str] = Counter()
        in_time = 0
        while sum(found.values()) < LATE_TURNS:
            assert in_time <= LATE_TURNS, "the agent is not late"
            stall()
            since = self.begin(request)
            if self.is_answered(since + TURN_NS):
                in_time += 1
                release()
            else:
                verdict, evidence = self.verdict()
                found[verdict] += 1
                self.evidence.append(evidence)
                release()
                assert self.is_answered(time.monotonic_ns() + SOON_NS)
            self.wire.freeze(0)
        return found

    def ask(self, request: bytes, turns: int) -> Counter[str]:
        """Play so many turns; how those that were late were judged."""
        found: Counter[str] = Counter()
        for _ in range(turns):
            if not self.is_answered(self.begin(request) + TURN_NS):
                found[self.verdict()[0]] += 1
                assert self.is_answered(time.monotonic_ns() + SOON_NS)
            self.wire.freeze(0)
        return found

    def shares(self, name: str) -> list[float]:
        """A share of the evidence of all late turns, from the smallest up."""
        return sorted(getattr(evidence, name) or 0.0 for evidence in self.evidence)

    def __str__(self) -> str:
        stalled, pressure = self.shares("stalled_share"), self.shares("pressure_share")
        middle = pressure[len(pressure) // 2]
        return (
            f"{len(stalled)} late turns: stalled {stalled[0]:.3f} to {stalled[-1]:.3f}, pressure {middle:.3f} (median)"
        )


# --- stalls by others ------------------------------------------------------------------------------------------------


class Crowd:
    """A cgroup of ours that boxes are made in, with little memory, and somebody who takes all of that."""

    def __init__(self) -> None:
        self.name = f"/judge-test-{os.getpid()}"
        mounts = parse_mounts(Path("/proc/self/mountinfo").read_text())
        self._points = [point for _, point in mounts.values()]
        if "memory" not in mounts:
            pytest.skip(
                "needs version 1 of the memory controller: version 2 has no cgroup whose tasks wait when it is full"
            )
        self.memory = mounts["memory"][1] / self.name[1:]
        self.memory.mkdir()
        self._write("memory.oom_control", "1")
        self._hog: subprocess.Popen[bytes] | None = None

    def _write(self, name: str, value: str) -> None:
        (self.memory / name).write_text(value)

    def _usage(self) -> int:
        return int((self.memory / "memory.usage_in_bytes").read_text())

    def limit(self) -> None:
        """Leave room for the hog and some more."""
        self._write("memory.limit_in_bytes", str(self._usage() + 32 * MIB))

    def stall(self) -> None:
        """Let the hog take all memory, until it waits for more."""
        order = f"echo $$ >{self.memory}/cgroup.procs; exec tail /dev/zero"
        self._hog = subprocess.Popen(["sh", "-c", order])
        until, full = time.monotonic() + SOON_NS / 1e9, 0
        while full < FULL_LOOKS:  # at first it gets what the kernel has charged in advance
            is_full = "under_oom 1" in (self.memory / "memory.oom_control").read_text()
            full = full + 1 if is_full else 0
            assert time.monotonic() < until
            time.sleep(0.005)

    def release(self) -> None:
        """End the hog."""
        if self._hog:
            self._hog.kill()
            self._hog.wait()

    def close(self) -> None:
        """Remove the cgroup, in all hierarchies."""
        self.release()
        for point in self._points:
            for _ in range(100):
                with suppress(FileNotFoundError):
                    try:
                        (point / self.name[1:]).rmdir()
                    except OSError:
                        time.sleep(0.02)  # the kernel removes the box's own a moment after it
                        continue
                break


def test_memory_that_others_take_makes_no_loss_on_time(slot: Slot, correct: Path) -> None:
    """Page faults wait in the kernel until somebody else gives memory back."""
    with (
        closing(Crowd()) as crowd,
        LateTurns(slot, correct, ("stalled", "memory"), crowd.name, 64 * MIB) as agent,
    ):
        agent.greet(b"go\n")
        crowd.limit()
        found = agent.play(b"go\n", crowd.stall, crowd.release)
        print(agent)  # noqa: T201 the figures of a long run

    assert {"void: the host stalled": LATE_TURNS} == found


THROTTLE = Path("/sys/fs/cgroup/blkio")
READS_PER_S = 3


def limit_reads(group: Path, disk: str, per_s: int = READS_PER_S) -> None:
    """Let so many reads of a disk through in a second, for a cgroup's own processes; 0: all."""
    (group / "blkio.throttle.read_iops_device").write_text(f"{disk} {per_s}")


@contextmanager
def slow_disk(folder: Path, program: Path) -> Iterator[tuple[Path, str]]:
    """A disk of its own, with the program and 64 MiB in `data`, nothing of it in memory; and its number."""
    if not (THROTTLE / "blkio.throttle.read_iops_device").is_file():
        pytest.skip("needs the throttle of blkio, version 1")
    image, mounted = folder / "image", folder / "disk"
    mounted.mkdir()
    with ExitStack() as stack:
        image.touch()
        os.truncate(image, 128 * MIB)
        subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True)
        find = ["losetup", "--find", "--show", str(image)]
        loop = subprocess.run(find, check=True, capture_output=True, text=True).stdout.strip()
        stack.callback(lambda: subprocess.run(["losetup", "--detach", loop], check=True))
        subprocess.run(["mount", loop, mounted], check=True)
        stack.callback(lambda: subprocess.run(["umount", mounted], check=True))
        (mounted / "data").write_bytes(os.urandom(64 * MIB))
        shutil.copy(program / "stalled", mounted / "stalled")
        mounted.chmod(0o755)
        (mounted / "data").chmod(0o644)
        subprocess.run(["sync", "-f", mounted], check=True)
        drop_cache(mounted / "data")
        drop_cache(mounted / "stalled")
        number = Path(loop).stat().st_rdev
        yield mounted, f"{os.major(number)}:{os.minor(number)}"


def test_a_slow_disk_under_its_files_makes_no_loss_on_time(slot: Slot, correct: Path, tmp_path: Path) -> None:
    """The kernel lets three reads a second through, the agent's and the probe's."""
    with (
        slow_disk(tmp_path, correct) as (disk, number),
        LateTurns(slot, disk, ("stalled", "file"), "", 350 * MIB) as agent,
        ExitStack() as stack,
    ):
        agent.greet(b"go\n")
        for group in (THROTTLE, THROTTLE / agent_group(agent)):
            limit_reads(group, number)
            stack.callback(limit_reads, group, number, 0)
        found = agent.play(b"go\n")
        print(agent)  # noqa: T201 the figures of a long run

    assert {"void: the host stalled": LATE_TURNS} == found


class OnSlowDisk(DockerBox):
    """A box whose agent's files are on a disk that is slow from the moment at which the box is ready."""

    disk = ""

    def __init__(self, tenant: Tenant, limits: Limits, policy: BoxPolicy) -> None:
        super().__init__(replace(tenant, digest=""), limits, policy)  # no copy of the files, which would be elsewhere

    def enter(self) -> None:
        """Enter the slot, and let the disk become slow."""
        super().enter()
        memory = self.nearby().cgroup
        assert memory
        limit_reads(THROTTLE / memory.name / self._container.id, self.disk)


def test_game_on_a_slow_disk_is_void_with_a_reason(slot: Slot, correct: Path, tmp_path: Path) -> None:
    """The agent's program comes from the disk page by page: it is not ready in time."""
    with slow_disk(tmp_path, correct) as (disk, number), ExitStack() as stack:
        seats = [
            SeatSpec(name=name, digest=name, command=("stalled", "file"), runtime="native", protocol="gomocup")
            for name in ("anna", "bert")
        ]
        policy = load_policy("gomocup-fastgame", ["clock.start_ms=1000", "attempts=1"])
        spec = GameSpec(seats=(seats[0], seats[1]), policy=policy)
        box = type("Box", (OnSlowDisk,), {"disk": number})
        stack.callback(limit_reads, THROTTLE, number, 0)
        limit_reads(THROTTLE, number)
        venue = Venue(slot, build=lambda _kind, *given: box(*given))
        file = play(spec, {"anna": disk, "bert": disk}, venue=venue)

    assert (Verdict.VOID, None) == (file.record.verdict, file.record.winner)
    assert file.record.reason.startswith("the host stalled: for ")
    path = tmp_path / "game.json"
    write_record(path, file)
    assert ": ok: void" in run_judge("verify", str(path))
    page = run_judge("show", str(path), "--evidence")
    assert "host stalled" in page
    assert "clock.starved_share" in page


def drop_cache(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


def agent_group(agent: LateTurns) -> str:
    """The path of the box's cgroup in the hierarchies of version 1."""
    memory = agent.box.nearby().cgroup
    assert memory
    return f"{memory.name}/{agent.box._container.id}"


def test_a_storm_of_container_creation_makes_no_loss_on_time(slot: Slot, correct: Path) -> None:
    """On this kernel it may make no turn late at all: none that is late is lost."""
    is_over, made = Event(), []

    def storm() -> None:
        while not is_over.is_set():
            tenant = Tenant("storm", correct, ("stalled", "process"), "native", 0, "storm", slot.judge_cores)
            with closing(DockerBox(tenant, Limits(memory_bytes=16 * MIB), BoxPolicy())) as box:
                box.prepare()
                made.append(box)

    found: Counter[str] = Counter()
    turns = 0
    with LateTurns(slot, correct, ("stalled", "process"), "", 64 * MIB) as agent, ThreadPoolExecutor(STORMERS) as pool:
        agent.greet(b"go\n")
        storms = [pool.submit(storm) for _ in range(STORMERS)]
        try:
            while len(made) < LATE_TURNS and not any(each.done() for each in storms):
                found += agent.ask(b"go\n", 10)
                turns += 10
        finally:
            is_over.set()
        for each in storms:
            each.result()
    print(f"{turns} turns, {sum(found.values())} late, beside {len(made)} containers")  # noqa: T201

    assert set(found) <= {"void: the host stalled"}


# --- stalls of its own -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("attack", BY_STALLS, ids=lambda attack: attack.id)
def test_an_agent_that_makes_its_own_stalls_earns_no_void(slot: Slot, attack: Attack) -> None:
    mode = attack.words[0]
    command = ("stalls", mode, str(TURN_NS // 1_000_000 + 60), NEARLY)
    programs = build_attacks()
    with LateTurns(slot, programs, command, "", 64 * MIB) as agent:
        for path in programs.iterdir():
            drop_cache(path)  # what it reads is then in its own memory; agents cannot drop pages
        agent.greet(b"START 40\n")
        found = agent.play(b"BEGIN\n")
        print(agent)  # noqa: T201 the figures of a long run

    assert {Verdict.TURN_TIME.value: LATE_TURNS} == found
    if mode == "thrash":
        assert agent.shares("pressure_share")[-1] > STARVED_SHARE, "it makes no stall"
