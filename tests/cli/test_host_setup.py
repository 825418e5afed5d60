"""What a command needs and can build, it builds."""

import shutil
from pathlib import Path

import docker
import pytest

from judge.base.resources import IMAGES
from judge.host.build_images import build_images
from tests.cli.conftest import Judge

pytestmark = pytest.mark.docker


@pytest.mark.alone
def test_missing_image_is_built_and_reported(judge: Judge, client: docker.DockerClient, tmp_path: Path) -> None:
    """The starter in Python, in a contest that has it built."""
    (tmp_path / "cup").mkdir()
    (tmp_path / "cup/contest.toml").write_text('name = "cup"\npolicy = "qchess-2013"\n[format]\nname = "round-robin"\n')
    archive = shutil.make_archive(str(tmp_path / "mine"), "gztar", IMAGES / "starter-qchess-python")
    build_images(["native", "python", "keeper", "unpacker"])
    client.images.remove("judge/unpacker:1", force=True)
    try:
        done = judge("submit", archive, "cup")
    finally:
        build_images(["unpacker"])

    assert done.code == 0, done.out + done.err
    assert "passed: starter-qchess-python version 1" in done.out
    assert "judge: building the images unpacker, once" in done.err
