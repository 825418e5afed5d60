"""A stall of the host is no agent's fault: late turns of a correct agent, and of agents that make their own stalls.

A turn here is what it is in a game: a request, a thaw, a deadline, and if that is missed the measuring and the verdict,
by the same wire and the same table.
"""

import os
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from judge.attacks.attack import Attack
from judge.attacks.programs import build_attacks
from judge.attacks.table import ATTACKS
from judge.games.types import Verdict
from judge.play.game import play
from judge.play.live_wire import LiveWire
from judge.play.venue import Slot, Venue
from judge.record.policy import load_policy
from judge.record.spec import GameSpec, SeatSpec
from judge.record.transcript import EntryKind, Transcript
from judge.referee.blame import Cause, Void, judge
from judge.referee.verify import verify
from judge.sandbox.box import Box, BoxPolicy, Limits, Tenant
from judge.sandbox.docker.docker_box import DockerBox
from judge.sandbox.evidence import Evidence
from judge.sandbox.host_activity.core_use import CoreUse
from judge.sandbox.host_activity.stalls import StallWatch
from judge.sandbox.machine.cgroup import parse_mounts
from judge.sandbox.process.person_box import PersonBox
from tests.attacks.games import compiled, new_cgroup
from tests.attacks.weak_box import below, weak_boxes
from tests.examples import RecordFigure, evidence, sized
from tests.patience import PATIENCE_S

LATE_TURNS = sized(3, 50)
OF_FULL_LANE = ("V11.faults", "V11.thrash")
"""A stall of the least and one of the most pressure, as far as agents can make any."""
BY_STALLS = [
    pytest.param(attack, id=attack.id, marks=[] if attack.id in OF_FULL_LANE else evidence)
    for attack in ATTACKS
    if attack.id.startswith("V11.")
]
NEARLY = "89"
"""MiB, nearly the memory of a box."""
STARVED_SHARE = 0.1
TURN_NS = 300_000_000
SOON_NS = 60_000_000_000
"""Far away: what is awaited comes, or the test fails."""
MIB = 1 << 20
FULL_LOOKS = 5
"""How often a cgroup must be seen full, one after the other, until it is."""

pytestmark = [
    pytest.mark.docker,
    pytest.mark.alone,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root stalls a host"),
]


@pytest.fixture(scope="module")
def correct(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("correct"), "stalled")


class LateTurns(ExitStack):
    """One agent in a box, which is asked turn after turn."""

    def __init__(self, slot: Slot, program: Path, command: tuple[str, ...], parent: str, memory_bytes: int) -> None:
        """`parent` is the cgroup that the box is made in; empty: the Engine's own."""
        super().__init__()
        tenant = Tenant("agent", program, command, "native", 0, "late", slot.cores, slot.judge_cores)

        self.enter_context(weak_boxes([below(parent)], {}, [tenant.name]))
        self.box = self.enter_context(closing(DockerBox(tenant, Limits(memory_bytes=memory_bytes), BoxPolicy())))
        reader, writer = os.pipe()
        self.callback(os.close, reader)
        self.callback(os.close, writer)
        boxes: list[Box] = [self.box, PersonBox(reader, lambda: None)]
        for box in boxes:
            box.prepare()
            box.enter()
        stalls = self.enter_context(closing(StallWatch([self.box.nearby()])))
        transcript = self.enter_context(closing(Transcript()))
        use = CoreUse(slot.cores)
        self.wire = LiveWire(boxes, transcript, lambda _: self.box, use, len(slot.cores), 0, 0, 1, stalls)
        self.callback(self.wire.close)
        self.wire.start(0)
        self.evidence: list[Evidence] = []

    def begin(self, request: bytes) -> int:
        """Ask the agent, whose clock begins now."""
        self.wire.write_input(0, request)
        return self.wire.thaw(0)

    def is_answered(self, until_ns: int) -> bool:
        while (happening := self.wire.await_event(until_ns)).kind is not EntryKind.EXPIRED:
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
        # Whether its core was taken by others is not asked here: on a busy host that is the case anyhow.
        unasked = dict.fromkeys(("game_stalled_share", "game_slept_share", "others_share"))
        evidence = self.wire.measure(0).model_copy(update=unasked)
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

    def shares(self, name: str) -> list[float]:
        """A share of the evidence of all late turns, from the smallest up."""
        return sorted(getattr(evidence, name) or 0.0 for evidence in self.evidence)

    def __str__(self) -> str:
        stalled, pressure = self.shares("stalled_share"), self.shares("pressure_share")
        middle = pressure[len(pressure) // 2]
        return (
            f"{len(stalled)} late turns: stalled {stalled[0]:.3f} to {stalled[-1]:.3f}, pressure {middle:.3f} (median)"
        )


class Crowd:
    """A cgroup that boxes are made in, with little memory, and another process that takes all of that."""

    def __init__(self, name: str, memory: Path) -> None:
        self.name, self.memory = name, memory
        self._hog: subprocess.Popen[bytes] | None = None
        (memory / "memory.oom_control").write_text("1")

    def limit(self) -> None:
        """Leave room for the hog and some more."""
        used = int((self.memory / "memory.usage_in_bytes").read_text())
        (self.memory / "memory.limit_in_bytes").write_text(str(used + 32 * MIB))

    def stall(self) -> None:
        """Let the hog take all memory, until it waits for more."""
        order = f"echo $$ >{self.memory}/cgroup.procs; exec tail /dev/zero"
        self._hog = subprocess.Popen(["sh", "-c", order])
        until, full = time.monotonic() + PATIENCE_S, 0
        while full < FULL_LOOKS:  # at first it gets what the kernel has charged in advance
            is_full = "under_oom 1" in (self.memory / "memory.oom_control").read_text()
            full = full + 1 if is_full else 0
            assert time.monotonic() < until
            time.sleep(0.005)

    def release(self) -> None:
        if self._hog:
            self._hog.kill()
            self._hog.wait()


@pytest.fixture
def crowd() -> Iterator[Crowd]:
    if "memory" not in parse_mounts(Path("/proc/self/mountinfo").read_text()):
        pytest.skip("needs memory of cgroup v1: version 2 has no cgroup whose tasks wait when it is full")
    with new_cgroup() as (name, memory):
        made = Crowd(name, memory)
        yield made
        made.release()


def test_memory_that_others_take_makes_no_loss_on_time(
    slot: Slot, correct: Path, crowd: Crowd, record_property: RecordFigure
) -> None:
    """Page faults wait in the kernel until somebody else gives memory back."""
    with LateTurns(slot, correct, ("stalled", "memory"), crowd.name, 64 * MIB) as agent:
        agent.greet(b"go\n")
        crowd.limit()
        found = agent.play(b"go\n", crowd.stall, crowd.release)
        record_property("figure", str(agent))

    assert {"void: the host stalled": LATE_TURNS} == found, agent.evidence


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


def test_a_slow_disk_under_its_files_makes_no_loss_on_time(
    slot: Slot, correct: Path, tmp_path: Path, record_property: RecordFigure
) -> None:
    """The kernel lets three reads a second through, the agent's and the probe's."""
    with (
        slow_disk(tmp_path, correct) as (disk, number),
        LateTurns(slot, disk, ("stalled", "file"), "", 350 * MIB) as agent,
        ExitStack() as stack,
    ):
        agent.greet(b"go\n")
        for group in (THROTTLE, box_group(agent.box)):
            limit_reads(group, number)
            stack.callback(limit_reads, group, number, 0)
        found = agent.play(b"go\n")
        record_property("figure", str(agent))

    assert {"void: the host stalled": LATE_TURNS} == found, agent.evidence


def box_group(box: DockerBox) -> Path:
    """The cgroup of a box, which throttles its reads."""
    memory = box.nearby().cgroup
    assert memory
    return THROTTLE / memory.name / box._prepared.id


class OnSlowDisk(DockerBox):
    """A box whose agent's files are on a disk that is slow from the moment at which the box is ready."""

    disk = ""

    def __init__(self, tenant: Tenant, limits: Limits, policy: BoxPolicy) -> None:
        super().__init__(replace(tenant, digest=""), limits, policy)  # no copy of the files, which would be elsewhere

    def enter(self) -> None:
        super().enter()
        limit_reads(box_group(self), self.disk)


def test_game_on_a_slow_disk_is_void_with_a_reason(slot: Slot, correct: Path, tmp_path: Path) -> None:
    """The agent's program comes from the disk page by page: it is not ready in time."""
    with slow_disk(tmp_path, correct) as (disk, number), ExitStack() as stack:
        seat = SeatSpec(name="a", digest="a", command=("stalled", "file"), runtime="native", protocol="gomocup")
        policy = load_policy("gomocup-fastgame", ["clock.start_ms=1000", "attempts=1"])
        spec = GameSpec(seats=(seat, seat.model_copy(update={"name": "b"})), policy=policy)
        box = type("Box", (OnSlowDisk,), {"disk": number})
        stack.callback(limit_reads, THROTTLE, number, 0)
        limit_reads(THROTTLE, number)
        venue = Venue(slot, build=lambda _kind, *given: box(*given))
        file = play(spec, {"a": disk}, venue=venue)

    assert (Verdict.VOID, None) == (file.record.verdict, file.record.winner)
    assert file.record.reason.startswith("the host stalled: for ")
    assert not verify(file).problems


def drop_cache(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


@pytest.mark.parametrize("attack", BY_STALLS)
def test_an_agent_that_makes_its_own_stalls_earns_no_void(
    slot: Slot, attack: Attack, record_property: RecordFigure
) -> None:
    mode = attack.words[0]
    command = ("stalls", mode, str(TURN_NS // 1_000_000 + 60), NEARLY)
    programs = build_attacks()
    with LateTurns(slot, programs, command, "", 64 * MIB) as agent:
        for path in programs.iterdir():
            drop_cache(path)  # what it reads is then in its own memory; agents cannot drop pages
        agent.greet(b"START 40\n")
        found = agent.play(b"BEGIN\n")
        record_property("figure", str(agent))

    assert {Verdict.TURN_TIME.value: LATE_TURNS} == found, agent.evidence
    if mode == "thrash":
        assert agent.shares("pressure_share")[-1] > STARVED_SHARE, "it makes no stall"
