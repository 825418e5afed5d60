"""`judge quickstart` where it cannot begin; tests/test_other_host.py plays it to its end."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from judge.base.locks import locked
from judge.contest.file_names import LOCK_FILE
from judge.host.distribution import commands_for
from judge.sandbox.docker.engine import PODMAN_HEADER
from tests.cli.conftest import Judge


class Podman(BaseHTTPRequestHandler):
    """Its answer to a ping."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Api-Version", "1.41")
        self.send_header(PODMAN_HEADER, "4.3.1")
        self.send_header("Content-Length", "0")
        self.end_headers()


@pytest.fixture
def podman(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An address that answers as Podman."""
    with HTTPServer(("127.0.0.1", 0), Podman) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{server.server_port}")
        yield
        server.shutdown()


def test_without_an_engine_the_commands_of_this_distribution_are_printed(
    judge: Judge, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    ran = judge("quickstart")

    assert (1, "") == (ran.code, ran.out)
    assert f"as root: {commands_for('engine')}; then log in again; or unset DOCKER_HOST" in ran.err


@pytest.mark.usefixtures("podman")
@pytest.mark.parametrize("words", [("quickstart",), ("match", "house-instant", "house-python")])
def test_podman_is_refused_by_its_name(judge: Judge, words: tuple[str, ...]) -> None:
    ran = judge(*words)

    assert 1 == ran.code
    assert "This is Podman 4.3.1, " in ran.err
    assert "Docker Engine of version 20.10" in ran.err


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
    ran = judge("quickstart")

    assert 2 == ran.code
    assert f"{tmp_path}/quickstart exists and is not the folder of an earlier quickstart: move it away" in ran.err
    assert (folder / "contest.toml").exists()


@pytest.mark.docker
def test_a_quickstart_that_is_played_is_not_removed(judge: Judge, tmp_path: Path) -> None:
    plan = tmp_path / "quickstart/contest.toml"
    plan.parent.mkdir()
    plan.write_bytes(OURS)
    with locked(plan.parent / LOCK_FILE):
        ran = judge("quickstart")

    assert 2 == ran.code
    assert "plays the contest" in ran.err
    assert plan.exists()
