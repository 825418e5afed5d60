"""A contest on a full disk ends with a sentence that names the place."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from judge.agents.store import AgentStore
from judge.base.errors import HostError
from judge.contest.plan import load_plan
from judge.contest.run_lock import alone
from judge.host.house_agents import build_house_agents
from tests import forked
from tests.cli.contests import JUDGE, write_contest
from tests.examples import of_evidence
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")

KIB = 1024


@contextmanager
def mounted(place: Path, size: int) -> Iterator[Path]:
    """A file system of its own with this number of bytes."""
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=False)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    """Makes a small file system; its contents may be changed before it is filled."""
    with ExitStack() as stack:
        yield lambda size: stack.enter_context(mounted(tmp_path / "small", size))


def fill(place: Path) -> None:
    with (place / "filler").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(KIB))
        except OSError:
            pass


def test_the_lock_of_a_full_folder_is_a_sentence(small: Callable[[int], Path]) -> None:
    place = small(64 * KIB)
    write_contest(place / "cup", ["house-instant", "house-instant"])
    planned = load_plan(place / "cup")
    fill(place)

    with pytest.raises(HostError, match="cup/lock: No space left on device: make room there"), alone(planned):
        pass


@pytest.mark.docker
@pytest.mark.parametrize("room", [0, *of_evidence(64 * KIB, 200 * KIB)])
def test_a_contest_on_a_full_disk_ends_with_a_sentence(small: Callable[[int], Path], tmp_path: Path, room: int) -> None:
    build_house_agents()
    place = small(64 * KIB + room)
    write_contest(place / "cup", ["house-instant", "house-instant"])
    if not room:
        fill(place)

    words = [*JUDGE, "contest", "run", str(place / "cup")]
    ended = forked.run(words, cwd=tmp_path, text=True, timeout=PATIENCE_S)

    assert 1 == ended.returncode
    assert not [word for word in ("Traceback", "None", "unexpected") if word in ended.stderr]
    assert ended.stderr.splitlines()[-1].startswith("judge: ")
    assert "full" in ended.stderr or "No space left on device" in ended.stderr


def test_an_agent_that_does_not_fit_is_named_with_the_reason(small: Callable[[int], Path], tmp_path: Path) -> None:
    tree = tmp_path / "agent"
    tree.mkdir()
    for number in range(5):
        (tree / f"{number}").write_bytes(bytes(40 * KIB))

    with pytest.raises(HostError, match=r"No space left on device.*; the agent was not stored"):
        AgentStore(small(64 * KIB)).put(tree)
