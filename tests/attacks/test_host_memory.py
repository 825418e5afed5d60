"""A process that the kernel kills while its box is far below its cap is no fault of the agent's."""

import os
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from judge.agents.program_files import program_digest
from judge.attacks.weak_box import ATTACKER, Config, weak_builder
from judge.games.types import Verdict
from judge.host.build_images import build_images
from judge.referee.play import Slot, Venue, play
from judge.referee.policy import load_policy
from judge.referee.spec import GameSpec, RecordFile, SeatSpec
from judge.referee.verify import verify
from judge.sandbox.machine.cgroup import UNIFIED, parse_mounts
from judge.sandbox.static_builds import compile_static
from tests.patience import PATIENCE_S

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
    """The directory of the program."""
    build_images(["native"])
    folder = tmp_path_factory.mktemp("grows")
    folder.chmod(0o755)
    compile_static([AGENTS / "grows.c"], folder / "grows")
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
