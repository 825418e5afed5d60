"""Real faults for real games: an Engine of the test's own, a disk that is full, and the judge that meets them."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.host.build_images import build_images
from tests.cli.conftest import client, house, judge, nothing_left  # noqa: F401 - fixtures of whole commands
from tests.cluster.conftest import cables, joined  # noqa: F401 - fixtures of several machines
from tests.private_engine import PrivateEngine, private_engine


@pytest.fixture(scope="module")
def engine() -> Iterator[PrivateEngine]:
    """An Engine of this module's own, with the judge's images, that runs."""
    build_images(["native", "python", "keeper"])
    with private_engine() as private:
        private.load()
        yield private


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """An empty disk of 32 KiB."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a disk")
    disk = tmp_path / "disk"
    disk.mkdir()
    options = "size=32k,mode=0755"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", disk], check=True)
    yield disk
    subprocess.run(["umount", "--lazy", disk], check=True)
