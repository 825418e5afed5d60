"""What the kernel keeps for the files of an agent carries nothing to its next game, and nothing to another box.

The boxes here have no filter of system calls, so the copy of the files is the only defence. In the controls the boxes
share the staged files.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from unittest.mock import patch

import pytest

from judge.base.owner import Owner, directories
from judge.games.types import Verdict
from judge.play.venue import Slot
from judge.record.spec import RecordFile
from judge.sandbox.docker import kept
from judge.sandbox.docker.kept import KEPT
from judge.sandbox.docker.renewal import Renewal
from judge.sandbox.layout import PROGRAM
from tests.attacks.games import NAMES, compiled, play_commands
from tests.attacks.weak_box import Config, unfiltered, weak_boxes
from tests.examples import of_evidence

pytestmark = pytest.mark.docker

PAGES_BYTES = 4 << 20
REUSED = ("docker-pipes, reused", "docker-pipes, reused")


class ProgramStays(Renewal):
    """The agent's files are not copied again."""

    def begin(self) -> None:
        self.container.program = None
        super().begin()


@pytest.fixture
def program(disk: Path) -> Iterator[Path]:
    """The directory of the hostile program, with its data on the disk; no box is kept before the test, nor after it."""
    KEPT.close()
    folder = disk / "remembers"
    folder.mkdir()
    compiled(folder, "remembers")
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
    names = {"program": str(program.resolve())}
    both = [("remembers", kind)] * 2
    policy = ("clock.turn_ms=20000", "clock.starved_share=1", *changes)
    weakenings = [unfiltered, share_files] if is_shared else [unfiltered]
    with patch.object(kept, "Renewal", renewal), weak_boxes(weakenings, names, NAMES):
        return [play_commands(slot, program, both, *policy, number=number) for number in range(count)]


def said(file: RecordFile, word: str) -> list[str]:
    assert Verdict.CRASH is file.record.verdict, file.record.reason
    return [note for seat in file.record.seats for note in seat.notes if word in note]


def found(files: Sequence[RecordFile]) -> list[str]:
    """Where each program found its number from, without which pages there were."""
    return [note.partition("(")[2] for file in files for note in said(file, "found")]


@pytest.mark.parametrize("changes", [("box.reuse=agent",), *of_evidence(())], ids=["reused boxes", "fresh boxes"])
@pytest.mark.parametrize("is_shared", [False, True], ids=["copied", "shared"])
def test_pages_in_memory_carry_numbers_to_the_next_game_only_with_shared_files(
    slot: Slot, program: Path, is_shared: bool, changes: tuple[str, ...]
) -> None:
    renewal = ProgramStays if is_shared else Renewal
    files = games(slot, program, "pages", 3, *changes, is_shared=is_shared, renewal=renewal)

    assert bool(changes) == (REUSED == files[2].record.placement.box)
    if is_shared:
        assert "from a former game)" in found(files[1:])
    else:
        assert ["nothing)"] * 6 == found(files)


@pytest.mark.parametrize("is_shared", [False, True], ids=["copied", "shared"])
@pytest.mark.parametrize("kind", ["futex", "watch"])
def test_two_boxes_at_once_hear_each_other_only_with_shared_files(
    slot: Slot, program: Path, kind: str, is_shared: bool
) -> None:
    (file,) = games(slot, program, kind, 1, "box.freeze=none", is_shared=is_shared)  # as in two slots

    assert is_shared == (["heard 0"] != said(file, "heard"))
    assert [] == [path for path, owner in directories() if owner == Owner.me()], "the copy is gone"
