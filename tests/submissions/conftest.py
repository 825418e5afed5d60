"""The images of the intake, and a host of tasks."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import docker
import pytest

from judge.base.owner import Owner, owned_directory
from judge.host.build_images import build_images
from judge.sandbox.box import BoxPolicy
from judge.submissions.trees import TaskHost


@pytest.fixture(scope="session")
def tools() -> None:
    """The images that uploads are unpacked and built in, and the runtimes of what comes of it."""
    build_images(["native", "python", "java", "unpacker", "toolchain"])


@pytest.fixture
def room() -> Iterator[Path]:
    """A directory that goes away, for whatever is in it."""
    with owned_directory() as directory:
        yield directory


@pytest.fixture
def task_host(tools: None, room: Path) -> Iterator[TaskHost]:
    """Boxes, of which none is left behind."""
    policy = BoxPolicy(freeze="none")
    yield TaskHost(policy, (), room)
    with closing(docker.from_env()) as client:
        mine = f"judge.owner={Owner.me().encode()}"
        assert [] == client.containers.list(all=True, filters={"label": mine}, ignore_removed=True)
