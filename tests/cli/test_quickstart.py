"""`judge quickstart` where it cannot begin; tests/test_other_host.py plays it to its end."""

from pathlib import Path

import pytest

from judge.base.locks import locked
from judge.contest.file_names import LOCK_FILE
from judge.host.distribution import commands_for
from judge.sandbox.docker.engine import PODMAN_HEADER
from tests.cli.conftest import Judge
from tests.notices.receiving import receiving, says

PODMAN = f"HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\n{PODMAN_HEADER}: 4.3.1\r\nContent-Length: 0\r\n\r\n"
"""Its answer to a ping."""


def test_without_an_engine_the_commands_of_this_distribution_are_printed(
    judge: Judge, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    told = judge("quickstart")

    assert (1, "") == (told.code, told.out)
    assert f"as root: {commands_for('engine')}; then log in again; or unset DOCKER_HOST" in told.err


@pytest.mark.parametrize("words", [("quickstart",), ("match", "house-instant", "house-python")])
def test_podman_is_refused_by_its_name(judge: Judge, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    with receiving(says(PODMAN.encode())) as podman:
        monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{podman.port}")
        told = judge(*words)

    assert 1 == told.code
    assert "This is Podman 4.3.1, " in told.err
    assert "Docker Engine of version 20.10" in told.err


OURS = b'name = "quickstart"\n'


@pytest.mark.docker
@pytest.mark.parametrize(("plan", "is_link"), [(b'name = "mine"\n', False), (b"\xff\n", False), (OURS, True)])
def test_a_folder_that_is_not_of_a_quickstart_is_not_removed(
    judge: Judge, tmp_path: Path, plan: bytes, is_link: bool
) -> None:
    folder = tmp_path / ("other" if is_link else "quickstart")
    folder.mkdir()
    (folder / "contest.toml").write_bytes(plan)
    if is_link:
        (tmp_path / "quickstart").symlink_to(folder)
    told = judge("quickstart", code=2)

    assert f"{tmp_path}/quickstart exists and is not the folder of an earlier quickstart: move it away" in told.err
    assert (folder / "contest.toml").exists()


@pytest.mark.docker
def test_a_quickstart_that_is_played_is_not_removed(judge: Judge, tmp_path: Path) -> None:
    plan = tmp_path / "quickstart/contest.toml"
    plan.parent.mkdir()
    plan.write_bytes(OURS)
    with locked(plan.parent / LOCK_FILE):
        told = judge("quickstart")

    assert 2 == told.code
    assert "plays the contest" in told.err
    assert plan.exists()
