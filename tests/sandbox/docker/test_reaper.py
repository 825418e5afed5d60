"""What a killed judge leaves behind goes away; what belongs to a live one stays."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import docker
import pytest
from docker.models.containers import Container

from judge.base import owner
from judge.base.owner import Fate, Owner, directories
from judge.base.procfs import environment_of, process_ids, started_ticks
from judge.sandbox.docker import reaper
from judge.sandbox.docker.reaper import reap
from tests.forked import ForkedProcess
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.alone

ROOT = Path(__file__).parents[3]

Landlord = ForkedProcess[str]
Rent = Callable[..., Landlord]

DAY_S = 24 * 3600
ME = Owner.me()


@pytest.fixture
def rent(program: Path) -> Iterator[Rent]:
    """Start judge processes that keep a box; what they leave behind is removed."""
    landlords: list[Landlord] = []

    def start(kind: str = "docker", transport: str = "auto", stage: str = "started") -> Landlord:
        words = [sys.executable, "-m", "tests.sandbox.killed_judges", "box", kind, transport, str(program), stage]
        landlord = ForkedProcess[str](words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        landlords.append(landlord)
        assert landlord.stdout
        assert "ready\n" in landlord.stdout
        return landlord

    yield start
    for landlord in landlords:
        kill(landlord)
    reap()


def kill(landlord: Landlord) -> None:
    landlord.kill()
    landlord.communicate()


def container_of(client: docker.DockerClient, landlord: Landlord) -> Container:
    found = client.containers.list(all=True, filters={"label": "judge.owner"}, ignore_removed=True)
    (container,) = (c for c in found if f":{landlord.pid}:" in c.labels["judge.owner"])
    return container


def directories_of(landlord: Landlord) -> list[Path]:
    return [path for path, who in directories() if who and who.pid == landlord.pid]


def agents_of(directory: Path) -> list[int]:
    """The processes that run for a box without a container."""
    mark = f"{owner.MARK}={directory}\0".encode()
    found = []
    for pid in process_ids():
        with suppress(OSError):
            if started_ticks(pid) and mark in environment_of(pid):
                found.append(pid)
    return found


@pytest.mark.docker
@pytest.mark.usefixtures("native")
@pytest.mark.parametrize("transport", ["pipes", "attach"])
@pytest.mark.parametrize("stage", ["prepared", "started", "frozen"])
def test_a_container_ends_with_its_judge_and_is_reaped(
    rent: Rent, outsider: docker.DockerClient, transport: str, stage: str
) -> None:
    landlord = rent("docker", transport, stage)
    container = container_of(outsider, landlord)
    kill(landlord)
    if stage != "frozen":
        container.wait(timeout=PATIENCE_S)
    reap()
    with pytest.raises(docker.errors.NotFound):
        container.reload()
    assert not directories_of(landlord)


@pytest.mark.docker
@pytest.mark.usefixtures("native")
def test_nothing_of_a_live_judge_is_touched(rent: Rent, outsider: docker.DockerClient) -> None:
    alive, dead = rent(), rent()
    container = container_of(outsider, alive)
    kill(dead)
    removed = reap()
    container.reload()
    assert container.status == "running"
    assert len(directories_of(alive)) == 1
    assert any("game landlord" in line for line in removed)
    assert not any(str(container.id)[:12] in line for line in removed)


@pytest.mark.docker
@pytest.mark.parametrize("stage", ["prepared", "started", "frozen"])
def test_processes_and_folders_of_a_killed_judge_are_reaped(rent: Rent, stage: str) -> None:
    landlord = rent("process", stage=stage)
    (directory,) = directories_of(landlord)
    assert len(agents_of(directory)) == (0 if stage == "prepared" else 1)
    kill(landlord)
    assert f"directory {directory}" in reap(containers=False)
    assert not agents_of(directory)
    assert not directory.exists()


@pytest.mark.parametrize("mark", ["", "1:2:3", "a:b:c:d", "1:2:x:world"])
def test_invalid_mark_is_refused(mark: str) -> None:
    assert Owner.decode(ME.encode()) == ME
    with pytest.raises(ValueError):
        Owner.decode(mark)


@pytest.mark.parametrize(
    ("who", "user", "fate"),
    [
        (ME, ME.uid, Fate.ALIVE),
        (replace(ME, started_ticks=ME.started_ticks - 1), ME.uid, Fate.GONE),
        (replace(ME, pid=2**22 + 1), ME.uid, Fate.GONE),
        (replace(ME, pid=2**22 + 1), ME.uid + 1000, Fate.UNKNOWN),
        (replace(ME, world="another boot/pid:[1]"), ME.uid, Fate.UNKNOWN),
    ],
)
def test_an_owner_s_fate(monkeypatch: pytest.MonkeyPatch, who: Owner, user: int, fate: Fate) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert who.fate() is fate


@pytest.mark.parametrize(
    ("who", "state", "age_s", "rubbish"),
    [
        (ME, "exited", 10 * DAY_S, False),
        (replace(ME, started_ticks=1), "running", 0, True),
        (replace(ME, started_ticks=1), "created", 0, True),
        (replace(ME, world="another"), "running", 10 * DAY_S, False),
        (replace(ME, world="another"), "paused", 10 * DAY_S, False),
        (replace(ME, world="another"), "exited", DAY_S // 2, False),
        (replace(ME, world="another"), "exited", 2 * DAY_S, True),
        (replace(ME, world="another"), "created", 2 * DAY_S, True),
    ],
)
def test_which_containers_are_rubbish(who: Owner, state: str, age_s: int, rubbish: bool) -> None:
    labels = {"judge.owner": who.encode()}
    assert rubbish is reaper.is_rubbish({"Labels": labels, "State": state, "Created": time.time() - age_s})


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_a_directory_without_a_mark_is_left_until_it_is_old_and_a_link_is_not_followed(temporary: Path) -> None:
    fresh, old, precious = temporary / "judge-owned-fresh", temporary / "judge-owned-old", temporary / "precious"
    for directory in (fresh, old, precious):
        directory.mkdir()
    os.utime(old, (0, 0))
    (precious / "owner").write_text(replace(ME, started_ticks=1).encode(), encoding="ascii")
    (temporary / "judge-owned-link").symlink_to(precious)
    assert reap(containers=False) == [f"directory {old}"]
    assert fresh.exists()
    assert precious.exists()


def test_a_folder_goes_whatever_an_agent_did_to_its_modes(temporary: Path) -> None:
    directory = owner.make_directory()
    inner = directory / "work" / "closed"
    inner.mkdir(parents=True)
    (inner / "file").write_bytes(b"x")
    (directory / "work" / "away").symlink_to("/")
    inner.chmod(0)
    owner.remove_directory(directory)
    assert not directory.exists()
