"""What a command needs and can build, it builds; what it cannot build costs a submission nothing."""

import tarfile
from pathlib import Path

import docker
import pytest

from judge.base.resources import IMAGES, POLICIES
from judge.host.build_images import build_images
from tests.cli.conftest import Judge

pytestmark = pytest.mark.docker

CONTEST = """
name = "cup"
policy = "../cup-policy.toml"
[format]
name = "round-robin"
"""
LATE = "local/late-python:1"
"""The image that the policy names and the organiser has not brought yet."""
MANIFEST = 'name = "mine"\ncommand = ["python3", "starter.py"]\nruntime = "late"\n'


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    """A contest that admits a runtime of the organiser's."""
    policy = (POLICIES / "qchess-2013.toml").read_text()
    policy += f'\n[runtimes]\nlate = "{LATE}"\n'
    (tmp_path / "cup-policy.toml").write_text(policy)
    (tmp_path / "cup").mkdir()
    (tmp_path / "cup" / "contest.toml").write_text(CONTEST)
    return tmp_path / "cup"


def packed(tmp_path: Path, manifest: str = "") -> str:
    """The starter in Python as an archive, with another agent.toml where one is given."""
    source = IMAGES / "starter-qchess-python"
    archive = tmp_path / "mine.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(source / "starter.py", "starter.py")
        path = tmp_path / "agent.toml"
        path.write_text(manifest or (source / "agent.toml").read_text())
        tar.add(path, "agent.toml")
    return str(archive)


@pytest.mark.alone
def test_missing_image_is_built_and_reported(
    judge: Judge, cup: Path, client: docker.DockerClient, tmp_path: Path
) -> None:
    build_images(["native", "python", "keeper", "unpacker"])
    client.images.remove("judge/unpacker:1", force=True)
    try:
        done = judge("submit", packed(tmp_path), str(cup))
    finally:
        build_images(["unpacker"])

    assert done.code == 0, done.out + done.err
    assert "passed: starter-qchess-python version 1" in done.out
    assert "judge: building the images unpacker, once" in done.err


def test_submission_waits_for_missing_host_features(
    judge: Judge, cup: Path, client: docker.DockerClient, tmp_path: Path
) -> None:
    build_images(["native", "python", "unpacker", "keeper"])
    upload = packed(tmp_path, MANIFEST)

    first = judge("submit", upload, str(cup))

    assert first.code == 1
    assert f"received: There is no image {LATE} on this Engine" in first.out
    assert "judge submissions retry 1" in first.err
    assert "fail" not in first.out.lower()

    client.images.get("judge/python:1").tag(LATE)
    try:
        again = judge("submissions", "retry", "1", str(cup))
    finally:
        client.images.remove(LATE)

    assert again.code == 0, again.out + again.err
    assert "passed: mine version 1" in again.out
