"""What the judge asks of a real Engine, where the Engine's first answer is not its last."""

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from judge.host.build_images import build_images
from judge.sandbox.docker.engine import Engine
from judge.sandbox.docker.images import find_runtime

pytestmark = pytest.mark.docker

WRITES = """
import itertools, pathlib, sys, time
first = pathlib.Path(sys.argv[1], "first")
first.touch()
print(flush=True)
until = None
for number in itertools.count():
    try:
        first.with_name(str(number)).touch()
    except FileNotFoundError:
        break
    if until is None and not first.exists():
        until = time.monotonic() + 0.2
    if until and time.monotonic() > until:
        break
"""
"""Writes to a directory until it is gone, or for a moment after its files begin to go."""


def test_a_container_that_is_written_to_while_it_is_removed_is_removed() -> None:
    build_images(["native"])
    with closing(Engine(60)) as engine:
        container = engine.create({"Image": find_runtime("native").id, "Cmd": ["true"]})
        directory = Path(engine.info()["DockerRootDir"], "containers", container)
        with subprocess.Popen([sys.executable, "-c", WRITES, directory], stdout=subprocess.PIPE) as writer:
            assert writer.stdout
            writer.stdout.readline()
            engine.remove(container)

        assert not directory.exists()
