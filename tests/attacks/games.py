"""Games of the programs in agents/, and cgroups that their boxes are made in."""

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from judge.agents.program_files import program_digest
from judge.host.build_images import build_images
from judge.host.compilers import compile_static
from judge.play.game import play
from judge.play.venue import Slot, Venue
from judge.record.policy import load_policy
from judge.record.spec import GameSpec, RecordFile, SeatSpec
from judge.referee.verify import verify
from judge.sandbox.machine.cgroup import UNIFIED, parse_mounts
from tests.patience import until

AGENTS = Path(__file__).parent / "agents"
NAMES = ("one", "two")


def compiled(folder: Path, *names: str) -> Path:
    """Compile programs into a folder that every user may read."""
    build_images(["native"])
    folder.chmod(0o755)
    for name in names:
        compile_static([AGENTS / f"{name}.c"], folder / name)
    return folder


def play_commands(
    slot: Slot, program: Path, commands: Sequence[tuple[str, ...]], *changes: str, number: int = 0
) -> RecordFile:
    """A verified game of two commands of a compiled folder; the seats are called `NAMES`."""
    digest = program_digest(program)
    first, second = (
        SeatSpec(name=name, digest=digest, command=command, runtime="native", protocol="gomocup")
        for name, command in zip(NAMES, commands, strict=True)
    )
    spec = GameSpec(seats=(first, second), policy=load_policy("gomocup-freestyle", changes), number=number)
    file = play(spec, {digest: program}, 1, Venue(slot))
    assert not verify(file).problems
    return file


@contextmanager
def new_cgroup() -> Iterator[tuple[str, Path]]:
    """The name of a cgroup, and its directory in the hierarchy of memory; removed from all hierarchies."""
    name = f"judge-test-{uuid.uuid4().hex[:12]}"
    mounts = parse_mounts(Path("/proc/self/mountinfo").read_text())
    group = mounts["memory" if "memory" in mounts else UNIFIED][1] / name
    group.mkdir()
    try:
        yield f"/{name}", group
    finally:
        for mount in {point for _, point in mounts.values()}:
            # The Engine removes the cgroup of a container after the container.
            until(partial(_is_removed, mount, name), every_s=0.05)


def _is_removed(mount: Path, name: str) -> bool:
    """Remove a cgroup, if its last box is gone; the judge's own stall probe stays where that was."""
    with suppress(OSError):
        for pid in (mount / name / "cgroup.procs").read_text().split():
            (mount / "cgroup.procs").write_text(pid)
    with suppress(OSError):
        (mount / name).rmdir()
    return not (mount / name).is_dir()
