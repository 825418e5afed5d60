"""The host's memory: kills below a box's cap, and objects of the kernel that are charged to no box."""

import logging
import os
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path

import pytest

from judge.agents.program_files import program_digest
from judge.attacks.weak_box import ATTACKER, Config, weak_builder
from judge.games.types import Verdict
from judge.host.build_images import build_images
from judge.host.kernel_limits import MAPS, MAX_MAPS
from judge.referee.play import Slot, Venue, play
from judge.referee.policy import load_policy
from judge.referee.spec import GameSpec, RecordFile, SeatSpec
from judge.referee.verify import verify
from judge.sandbox import BoxPolicy, Limits, Tenant, open_box
from judge.sandbox.machine.cgroup import UNIFIED, find_cgroups, parse_mounts
from judge.sandbox.static_builds import compile_static
from tests.patience import PATIENCE_S
from tests.sandbox.guest import Guest

pytestmark = [
    pytest.mark.docker,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root makes cgroups"),
]

AGENTS = Path(__file__).parent / "agents"
MIB = 1 << 20
ROOM_MIB, CAP_MIB = 64, 200
"""What the cgroup above the box has, and what the box itself may use."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the programs."""
    build_images(["native"])
    folder = tmp_path_factory.mktemp("grows")
    folder.chmod(0o755)
    for name in ("grows", "fills"):
        compile_static([AGENTS / f"{name}.c"], folder / name)
    return folder


@pytest.fixture
def small_host() -> Iterator[str]:
    """A cgroup with too little memory for the box in it, as on a host whose memory is used up."""
    name = f"judge-test-{uuid.uuid4().hex[:12]}"
    mounts = parse_mounts(Path("/proc/self/mountinfo").read_text())
    above = mounts["memory" if "memory" in mounts else UNIFIED][1] / name
    above.mkdir()
    limit = "memory.limit_in_bytes" if "memory" in mounts else "memory.max"
    (above / limit).write_text(str(ROOM_MIB * MIB))
    yield f"/{name}"
    for mount in {point for _, point in mounts.values()}:
        deadline = time.monotonic() + PATIENCE_S
        while (mount / name).is_dir():  # the Engine removes the cgroup of a container after the container
            with suppress(OSError):
                # The judge's own stall probe stays where its last box was.
                for pid in (mount / name / "cgroup.procs").read_text().split():
                    (mount / "cgroup.procs").write_text(pid)
            with suppress(OSError):
                (mount / name).rmdir()
            assert time.monotonic() < deadline
            time.sleep(0.05)


def game(slot: Slot, program: Path, above: str, mib: int) -> RecordFile:
    """A game in which seat 0 fills so much memory."""

    def put_below(config: Config, _names: Mapping[str, str]) -> None:
        if above:
            config["HostConfig"]["CgroupParent"] = above

    def seat(name: str, words: tuple[str, ...]) -> SeatSpec:
        return SeatSpec(name=name, digest=digest, command=words, runtime="native", protocol="gomocup")

    digest = program_digest(program)
    seats = (seat(ATTACKER, ("grows", str(mib))), seat("small", ("grows", "0")))
    policy = load_policy("gomocup-freestyle", [f"limits.memory_bytes={CAP_MIB * MIB}"])
    spec = GameSpec(seats=seats, policy=policy)
    return play(spec, {digest: program}, 1, Venue(slot, build=weak_builder(put_below, {})))


def test_a_kill_below_the_cap_is_void(slot: Slot, program: Path, small_host: str) -> None:
    file = game(slot, program, small_host, CAP_MIB - 50)
    evidence = file.record.seats[0].evidence

    assert Verdict.VOID is file.record.verdict
    assert "its box was never at its cap" in file.record.reason
    assert evidence is not None
    assert evidence.oom_kills
    assert False is evidence.reached_cap
    assert not verify(file).problems


def test_a_kill_at_the_cap_is_the_fault_of_the_agent(slot: Slot, program: Path) -> None:
    file = game(slot, program, "", 4 * CAP_MIB)
    evidence = file.record.seats[0].evidence

    assert (Verdict.MEMORY, 1) == (file.record.verdict, file.record.winner)
    assert evidence is not None
    assert evidence.reached_cap
    assert not verify(file).problems


# --- objects of the kernel -----------------------------------------------------------------------

MAX_UNCHARGED_BYTES = 16 * MIB
SLABS = Path("/proc/slabinfo")
OBJECTS_OF_A_SLAB, SLABS_OF_AN_OBJECT = 10, 5
"""A kind of slab belongs to the objects made if it has grown by a tenth to five times their number."""
ROUNDS = 3
FEW = 2000
"""Fewer objects are noise of the host, and little memory."""

KINDS = {
    "connections": 1_000_000, "addresses": 1_000_000, "messages": 150_000, "stream-bytes": 150_000, "packets": 150_000,
    "pipes": 3000, "events": 1_000_000, "watches": 1_000_000, "open-files": 1_000_000, "mappings": 1_000_000,
    "named-mappings": 1_000_000, "page-tables": 60_000, "names": 200_000, "files": 1_000_000, "links": 1_000_000,
    "timers": 1_000_000, "signals": 1_000_000, "polls": 1_000_000,
}  # fmt: skip
"""Kinds of fills.c, with as many objects as have room in a box; a million: as many as the limits allow."""


def slabs() -> dict[str, tuple[int, int]]:
    """Number and size of the kernel's objects, by kind."""
    rows = (line.split() for line in SLABS.read_text(encoding="ascii").splitlines()[2:])
    return {name: (int(count), int(size)) for name, _, count, size, *_ in rows}


def kernel_bytes(pid: int) -> int:
    """Memory of the kernel that is charged to the box of a process."""
    groups = find_cgroups(pid, "")
    assert groups is not None
    if "memory" in groups:
        return int((groups["memory"] / "memory.kmem.usage_in_bytes").read_text())
    rows = dict(line.split() for line in (groups[UNIFIED] / "memory.stat").read_text().splitlines())
    return int(rows["kernel"])


def fill(program: Path, kind: str, most: int) -> tuple[int, dict[str, tuple[int, int]], int]:
    """Objects made, all slabs with them, and the charge of the kernel's memory."""
    tenant = Tenant("fills", program, ("fills", kind, str(most)), "native", 0, "fills")
    with closing(Guest(open_box("docker", tenant, Limits(), BoxPolicy()), program)) as guest:
        guest.move_in()
        made = int(guest.line().split()[1])
        first = getattr(guest.box, "_container").first  # noqa: B009 - PID 1 of a box of the Engine
        return made, slabs(), kernel_bytes(first.pid)


def uncharged_bytes(program: Path, kind: str) -> int:
    """Growth of the slabs that the objects made are in, less what is charged to the box."""
    _, before, empty = fill(program, kind, 1)
    made, after, full = fill(program, kind, KINDS[kind])
    grown = {name: (count - before.get(name, (0, 0))[0], size) for name, (count, size) in after.items()}
    least, most = max(FEW, made // OBJECTS_OF_A_SLAB), made * SLABS_OF_AN_OBJECT
    theirs = {name: pair for name, pair in grown.items() if least < pair[0] < most}
    uncharged = sum(count * size for count, size in theirs.values()) - max(0, full - empty)
    logging.getLogger(__name__).info("%s %s: %s, %s bytes charged, %s not", made, kind, theirs, full - empty, uncharged)
    return uncharged


@pytest.mark.skipif(not os.access(SLABS, os.R_OK), reason="this kernel shows no slabs")
@pytest.mark.parametrize("kind", KINDS)
def test_objects_of_the_kernel_use_at_most_16_mib_outside_of_the_cap(program: Path, kind: str) -> None:
    if kind == "mappings" and int(Path("/proc/sys", *MAPS.name.split(".")).read_text()) > MAX_MAPS:
        pytest.skip("vm.max_map_count is too large here for the bound, which judge doctor reports")
    # Other processes of the host make objects, too.
    assert any(uncharged_bytes(program, kind) <= MAX_UNCHARGED_BYTES for _ in range(ROUNDS))
