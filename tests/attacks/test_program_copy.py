"""What the kernel keeps for the files of an agent carries nothing to its next game, and nothing to another box.

The boxes here have no filter of system calls, so the copy of the files is the only defence. In the controls the boxes
share the staged files.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from unittest.mock import patch

import pytest

from judge.agents.program_files import program_digest
from judge.base.owner import Owner, directories
from judge.games.types import Verdict
from judge.host.build_images import build_images
from judge.referee.play import Slot, Venue, play
from judge.referee.policy import load_policy
from judge.referee.spec import GameSpec, RecordFile, SeatSpec
from judge.sandbox.docker import kept
from judge.sandbox.docker.kept import KEPT
from judge.sandbox.docker.renewal import Renewal
from judge.sandbox.layout import PROGRAM
from judge.sandbox.static_builds import compile_static
from tests.attacks.weak_box import Config, unfiltered, weak_boxes

pytestmark = [pytest.mark.docker, pytest.mark.alone]

AGENTS = Path(__file__).parent / "agents"
PAGES_BYTES = 4 << 20
NAMES = 200_000
"""How many missing names each seat asks for."""
CHANNELS = ("futex", "watch")
BOTH_RUN = "box.freeze=none"
"""As in two slots at once."""
REUSED = ("docker-pipes, reused", "docker-pipes, reused")


class ProgramStays(Renewal):
    """The agent's files are not copied again."""

    def begin(self) -> None:
        """Begin without a program."""
        self.program = None
        super().begin()


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Path]:
    """The directory of the hostile program, with its data on the disk; no box is kept before the test, nor after it."""
    build_images(["native"])
    KEPT.close()
    folder = tmp_path / "remembers"
    folder.mkdir(mode=0o755)
    compile_static([AGENTS / "remembers.c"], folder / "remembers")
    with (folder / "data").open("wb") as data:
        data.write(bytes(PAGES_BYTES))
        os.fsync(data.fileno())  # pages that are not written back cannot be dropped
    yield folder
    KEPT.close()


def share_files(config: Config, names: Mapping[str, str]) -> None:
    """Mount the staged files in place of a copy."""
    for mount in config["HostConfig"]["Mounts"]:
        if mount["Target"] == PROGRAM:
            mount["Source"] = names["program"]


def games(
    slot: Slot,
    program: Path,
    kind: str,
    count: int,
    *changes: str,
    is_shared: bool = False,
    renewal: type[Renewal] = Renewal,
) -> list[RecordFile]:
    """Games of the program against itself."""
    digest, names = program_digest(program), {"program": str(program.resolve())}

    def seat(name: str) -> SeatSpec:
        return SeatSpec(name=name, digest=digest, command=("remembers", kind), runtime="native", protocol="gomocup")

    policy = load_policy("gomocup-freestyle", ["clock.turn_ms=20000", "clock.starved_share=1", *changes])
    specs = [GameSpec(seats=(seat("one"), seat("two")), policy=policy, number=number) for number in range(count)]
    weakenings = [unfiltered, share_files] if is_shared else [unfiltered]
    with patch.object(kept, "Renewal", renewal), weak_boxes(weakenings, names, ["one", "two"]):
        return [play(spec, {digest: program}, 1, Venue(slot)) for spec in specs]


def said(file: RecordFile, word: str) -> list[str]:
    """What each seat says with this word."""
    assert Verdict.CRASH is file.record.verdict, file.record.reason
    return [note for seat in file.record.seats for note in seat.notes if word in note]


def found(files: Sequence[RecordFile]) -> list[str]:
    """Where each program found its number from, without which pages there were."""
    return [note.partition("(")[2] for file in files for note in said(file, "found")]


def test_pages_in_memory_carry_nothing_to_the_next_game(slot: Slot, program: Path) -> None:
    assert ["nothing)"] * 6 == found(games(slot, program, "pages", 3))


def test_with_shared_files_they_carry_numbers_from_game_to_game(slot: Slot, program: Path) -> None:
    assert "from a former game)" in found(games(slot, program, "pages", 3, is_shared=True)[1:])


def test_in_a_box_that_is_reused_they_carry_nothing_to_the_next_game(slot: Slot, program: Path) -> None:
    files = games(slot, program, "pages", 3, "box.reuse=agent")

    assert REUSED == files[2].record.placement.box
    assert ["nothing)"] * 6 == found(files)


def test_boxes_with_a_persistent_program_are_numbered(slot: Slot, program: Path) -> None:
    files = games(slot, program, "pages", 3, "box.reuse=agent", is_shared=True, renewal=ProgramStays)

    assert REUSED == files[2].record.placement.box
    assert "from a former game)" in found(files[1:])


@pytest.mark.parametrize("kind", CHANNELS)
def test_two_boxes_at_once_hear_nothing_of_each_other(slot: Slot, program: Path, kind: str) -> None:
    (file,) = games(slot, program, kind, 1, BOTH_RUN)

    assert ["heard 0"] == said(file, "heard")


@pytest.mark.parametrize("kind", CHANNELS)
def test_with_shared_files_they_hear_each_other(slot: Slot, program: Path, kind: str) -> None:
    (file,) = games(slot, program, kind, 1, BOTH_RUN, is_shared=True)

    assert ["heard 0"] != said(file, "heard")


def test_the_copy_is_gone_after_the_game(slot: Slot, program: Path) -> None:
    games(slot, program, "watch", 1)

    assert [] == [path for path, owner in directories() if owner == Owner.me()]


def test_names_that_are_not_there_are_forgotten_with_the_copy(slot: Slot, program: Path) -> None:
    """What the kernel remembers of missing names counts in dentry-state until their directory is gone."""
    before = negative_dentries()
    games(slot, program, "names", 1)

    assert negative_dentries() - before < NAMES // 2


def test_with_shared_files_they_stay(slot: Slot, program: Path) -> None:
    before = negative_dentries()
    games(slot, program, "names", 1, is_shared=True)

    assert negative_dentries() - before > NAMES // 2


def negative_dentries() -> int:
    """How many missing names the kernel remembers on this host."""
    return int(Path("/proc/sys/fs/dentry-state").read_text(encoding="ascii").split()[4])
