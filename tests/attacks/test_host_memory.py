"""The host's memory: kills below a box's cap, objects of the kernel without a charge, pages that keep few objects."""

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple, TypeVar

import pytest

from judge.attacks.runner import ATTACKER
from judge.games.types import Verdict
from judge.host.kernel_checks import MAX_MAPS, UNCHARGED_MAP_BYTES
from judge.play.venue import Slot
from judge.record.spec import GameRecord
from judge.sandbox.box import BoxPolicy, Limits, Tenant
from judge.sandbox.evidence import Evidence
from judge.sandbox.machine.cgroup import UNIFIED, find_cgroups
from judge.sandbox.open_box import open_box
from tests.attacks.games import NAMES, compiled, new_cgroup, play_commands
from tests.attacks.weak_box import below, weak_boxes, with_long_queues
from tests.examples import EVIDENCE, evidence, of_evidence
from tests.sandbox.guest import Guest

pytestmark = [pytest.mark.docker, pytest.mark.skipif(os.geteuid() != 0, reason="only root makes cgroups")]

MIB, PAGE_BYTES = 1 << 20, 4096
ROOM_MIB, CAP_MIB = 64, 200
"""What the cgroup above the box has, and what the box itself may use."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("grows"), "grows", "fills", "holes")


@pytest.fixture
def small_host() -> Iterator[str]:
    """A cgroup with too little memory for the box in it, as on a host whose memory is used up."""
    with new_cgroup() as (name, group):
        limit = group / "memory.limit_in_bytes"
        (limit if limit.exists() else group / "memory.max").write_text(str(ROOM_MIB * MIB))
        yield name


def game(slot: Slot, program: Path, above: str, *attack: str) -> tuple[GameRecord, Evidence | None]:
    """A game of a program in seat 0, and the evidence about it."""
    with weak_boxes([below(above)], {}, NAMES[:1]):
        record = play_commands(slot, program, (attack, ("grows", "0")), f"limits.memory_bytes={CAP_MIB * MIB}").record
    return record, record.seats[0].evidence


def test_a_kill_below_the_cap_is_void(slot: Slot, program: Path, small_host: str) -> None:
    record, evidence = game(slot, program, small_host, "grows", str(CAP_MIB - 50))

    assert Verdict.VOID is record.verdict
    assert "its box was never at its cap" in record.reason
    assert evidence is not None
    assert evidence.oom_kills
    assert False is evidence.reached_cap


def test_a_kill_at_the_cap_is_the_fault_of_the_agent(slot: Slot, program: Path) -> None:
    record, evidence = game(slot, program, "", "grows", str(4 * CAP_MIB))

    assert (Verdict.MEMORY, 1) == (record.verdict, record.winner)
    assert evidence is not None
    assert evidence.reached_cap


MAX_UNCHARGED_BYTES = 16 * MIB
OTHERS_BYTES = 2 * MIB
"""What other processes of the host can make in the meantime."""
SLABS = Path("/proc/slabinfo")
OBJECTS_OF_A_SLAB, SLABS_OF_AN_OBJECT = 10, 5
"""A kind of slab belongs to the objects made if it has grown by a tenth to five times their number."""
ROUNDS = 5
FEW = 1000
"""Fewer objects are noise of the host, and little memory."""
MANY = 1_000_000
"""More than the limits allow."""


class Kind(NamedTuple):
    most: int = MANY
    """As many objects as have room in a box."""
    uncharged_bytes: int = 0
    """Of each object."""


SECURITY_BYTES = 56
"""Of each file and inode, where the kernel has security modules."""
FILE = Kind(uncharged_bytes=SECURITY_BYTES)
KINDS = {
    "connections": Kind(uncharged_bytes=832 + 128 + SECURITY_BYTES),  # a message's head, the listener's address
    "addresses": Kind(uncharged_bytes=128 + SECURITY_BYTES),
    "messages": Kind(150_000), "stream-bytes": Kind(150_000), "packets": Kind(150_000),
    "pipes": Kind(3000, SECURITY_BYTES),
    "events": Kind(uncharged_bytes=64 + SECURITY_BYTES),
    "epolls": Kind(uncharged_bytes=256 + SECURITY_BYTES),
    "watches": FILE, "open-files": FILE,
    "system-files": Kind(uncharged_bytes=2 * 192 + SECURITY_BYTES),
    "mappings": Kind(uncharged_bytes=UNCHARGED_MAP_BYTES),
    "named-mappings": Kind(), "page-tables": Kind(60_000), "names": Kind(200_000, 32), "files": FILE,
    "links": FILE, "short-links": Kind(uncharged_bytes=128 + SECURITY_BYTES),
    "timers": Kind(), "signals": Kind(), "polls": Kind(),
}  # fmt: skip
"""Charge of each kind of object."""
EVERYTHING = "everything"


class Sample(NamedTuple):
    slabs: Mapping[str, tuple[int, int]]
    """Number and size of the kernel's objects, by kind."""
    available_bytes: int
    kernel_bytes: int
    """Memory of the kernel that is charged to the box."""
    charged_bytes: int


def sample(pid: int) -> Sample:
    groups = find_cgroups(pid, "")
    assert groups is not None
    if "memory" in groups:
        names = ("memory.kmem.usage_in_bytes", "memory.usage_in_bytes")
        kernel, charged = (int((groups["memory"] / name).read_text()) for name in names)
    else:
        group = groups[UNIFIED]
        kernel = int(dict(line.split() for line in (group / "memory.stat").read_text().splitlines())["kernel"])
        charged = int((group / "memory.current").read_text())
    rows = (line.split() for line in SLABS.read_text(encoding="ascii").splitlines()[2:])
    slabs = {name: (int(count), int(size)) for name, count, _, size, *_ in rows}
    host = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    return Sample(slabs, int(host["MemAvailable"].split()[0]) * 1024, kernel, charged)


class Filled(NamedTuple):
    made: int
    uncharged_bytes: int
    """Growth of the slabs that the objects made are in, less the charge."""
    unavailable_bytes: int
    """Decrease of the host's available memory, less the charge."""


def fill(program: Path, kind: str, most: int) -> Filled:
    with begun(program, "fills", kind, str(most), str(MAX_MAPS)) as (guest, pid):
        assert "ready" == guest.line()
        before = sample(pid)
        made = int(guest.ask("fill").split()[1])
        after = sample(pid)
    grown = {name: (count - before.slabs.get(name, (0, 0))[0], size) for name, (count, size) in after.slabs.items()}
    least, largest = max(FEW, made // OBJECTS_OF_A_SLAB), made * SLABS_OF_AN_OBJECT
    if kind == EVERYTHING:
        least = FEW
    theirs = {name: pair for name, pair in grown.items() if least < pair[0] < largest}
    uncharged = sum(count * size for count, size in theirs.values()) - max(0, after.kernel_bytes - before.kernel_bytes)
    charged = after.charged_bytes - before.charged_bytes
    unavailable = before.available_bytes - after.available_bytes - charged
    logging.getLogger(__name__).info("%s %s: %s; %s, %s, %s", made, kind, theirs, charged, uncharged, unavailable)
    return Filled(made, uncharged, unavailable)


NEEDS_SLABS = pytest.mark.skipif(not os.access(SLABS, os.R_OK), reason="this kernel shows no slabs")
T = TypeVar("T")


def repeated(make: Callable[[], T], is_good: Callable[[T], bool]) -> list[T]:
    """Up to `ROUNDS`. The full lane ends with the first good one."""
    found = []
    for _ in range(ROUNDS):
        found.append(make())
        if is_good(found[-1]) and not EVIDENCE:
            break
    return found


@contextmanager
def begun(program: Path, *command: str) -> Iterator[tuple[Guest, int]]:
    """A program in a box under default limits, and the process of its PID 1."""
    tenant = Tenant(ATTACKER, program, command, "native", 0, command[0])
    with closing(Guest(open_box("docker", tenant, Limits(), BoxPolicy()), program)) as guest:
        guest.move_in()
        yield guest, getattr(guest.box, "_container").first.pid  # noqa: B009 - PID 1 of a box of the Engine


OF_FULL_LANE = ("connections", "mappings", "page-tables", "files")
"""One kind each for sockets, memory, tables and files."""


@NEEDS_SLABS
@pytest.mark.parametrize("kind", [*OF_FULL_LANE, *of_evidence(*(kind for kind in KINDS if kind not in OF_FULL_LANE))])
def test_objects_of_the_kernel_have_their_known_charge(program: Path, kind: str) -> None:
    def is_charged() -> bool:
        filled = fill(program, kind, KINDS[kind].most)
        return filled.uncharged_bytes <= filled.made * KINDS[kind].uncharged_bytes + OTHERS_BYTES

    assert any(is_charged() for _ in range(ROUNDS))


@NEEDS_SLABS
def test_all_objects_of_the_kernel_together_use_at_most_16_mib_outside_of_the_cap(program: Path) -> None:
    rounds = repeated(
        lambda: fill(program, EVERYTHING, MANY),
        lambda filled: (
            filled.uncharged_bytes <= MAX_UNCHARGED_BYTES
            and filled.unavailable_bytes <= MAX_UNCHARGED_BYTES + OTHERS_BYTES
        ),
    )

    assert min(filled.uncharged_bytes for filled in rounds) <= MAX_UNCHARGED_BYTES
    assert min(filled.unavailable_bytes for filled in rounds) <= MAX_UNCHARGED_BYTES + OTHERS_BYTES


@NEEDS_SLABS
def test_connections_in_long_queues_use_more_than_16_mib_outside_of_the_cap(program: Path) -> None:
    with weak_boxes([with_long_queues], {}, [ATTACKER]):
        filled = fill(program, "connections", 60_000)

    assert filled.uncharged_bytes > MAX_UNCHARGED_BYTES


MAX_HOLES_BYTES = 128 * MIB
"""Of pages outside of the cap, below the limit of the kernel's memory."""
PROCESSES_BYTES = 4 * MIB
"""The kernel's memory for the program itself and for PID 1."""
ALLOWED_BYTES = Limits().kernel_bytes - PROCESSES_BYTES
UNLIMITED_BYTES = Limits().cap_bytes - 20 * MIB


class Holes(NamedTuple):
    kernel_peak_bytes: int
    outside_bytes: int
    """Growth of the slabs' pages, less the charge."""


def slab_bytes() -> int:
    rows = (line.split() for line in SLABS.read_text(encoding="ascii").splitlines()[2:])
    return sum(int(row[row.index("slabdata") + 2]) * int(row[5]) * PAGE_BYTES for row in rows)


def leave_holes(program: Path, charge: int) -> Holes:
    """Have a box leave pages, with a charge that is at no time more."""
    with begun(program, "holes", str(charge), str(MAX_MAPS - 148)) as (guest, pid):
        guest.ask("START 20")
        before, charged_before = slab_bytes(), sample(pid).kernel_bytes
        guest.ask("BEGIN")
        outside = slab_bytes() - before - (sample(pid).kernel_bytes - charged_before)
        holes = Holes(guest.box.meter.kernel_bytes() or 0, outside)
    logging.getLogger(__name__).info("%s: %s", charge, holes)
    return holes


@NEEDS_SLABS
def test_pages_that_keep_one_object_use_at_most_128_mib_below_the_limit(program: Path) -> None:
    rounds = repeated(lambda: leave_holes(program, ALLOWED_BYTES), lambda holes: holes.outside_bytes <= MAX_HOLES_BYTES)

    assert ALLOWED_BYTES * 3 // 4 < max(holes.kernel_peak_bytes for holes in rounds) <= Limits().kernel_bytes
    assert min(holes.outside_bytes for holes in rounds) <= MAX_HOLES_BYTES


@evidence
@NEEDS_SLABS
def test_without_the_limit_such_pages_use_more_than_the_cap_again(program: Path) -> None:
    assert leave_holes(program, UNLIMITED_BYTES).outside_bytes > Limits().cap_bytes


def test_agent_that_leaves_more_pages_loses_and_below_the_limit_it_plays_on(slot: Slot, program: Path) -> None:
    record, evidence = game(slot, program, "", "holes", str(CAP_MIB * MIB), "0")

    assert (Verdict.MEMORY, 1) == (record.verdict, record.winner)
    assert "the kernel's memory" in record.reason
    assert evidence is not None
    assert evidence.kernel_limit_bytes == Limits(memory_bytes=CAP_MIB * MIB).kernel_bytes
    assert (evidence.kernel_peak_bytes or 0) > evidence.kernel_limit_bytes

    record, _ = game(slot, program, "", "holes", str(evidence.kernel_limit_bytes - PROCESSES_BYTES), "0")
    assert None is record.seats[0].fault
