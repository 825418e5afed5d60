"""Programs with weights: an archive of more than 100 MB becomes an agent, which plays on another machine."""

import os
import re
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.host.build_images import build_images
from tests.cli.conftest import Judge
from tests.cluster.cables import Cable, laid
from tests.cluster.machines import Machines
from tests.examples import sized

HERE = Path(__file__).parent
WEIGHTS_BYTES = sized(40, 110) << 20
MEMORY_BYTES = sized(24, 64) << 20

CUP = f"""
name = "cup"
policy = "gomocup-freestyle"
change = ["clock.starved_share=1", "limits.memory_bytes={MEMORY_BYTES}"]
[format]
name = "round-robin"
games = 1
[intake]
upload_bytes = 134217728
[[agents]]
path = "house-instant"
"""


@pytest.fixture
def cable() -> Iterator[Cable]:
    with laid(1) as (found,):
        yield found


@pytest.fixture
def machine(cable: Cable, tmp_path: Path) -> Iterator[Machines]:
    """A worker in a network namespace, which joined over TLS."""
    build_images(["native", "keeper"])
    found = Machines.behind({"n1": cable}, tmp_path)
    try:
        found.start_scheduler()
        found.join("n1", cable.inside)
        found.wait_for_scheduler()
        yield found
    finally:
        found.stop()


@pytest.mark.docker
def test_program_with_large_weights_plays_on_another_machine(machine: Machines, judge: Judge, tmp_path: Path) -> None:
    """It reads weights that are larger than its memory while that is used to the last byte: what is only mapped is
    dropped and read again, and what the judge adds has its place beside what the agent was told of."""
    build_images(["unpacker"])
    program = tmp_path / "pbrain-weights"
    subprocess.run(["gcc", "-O1", "-static", "-Wall", "-Werror", HERE / "weights.c", "-o", program], check=True)
    with zipfile.ZipFile(tmp_path / "weights.zip", "w") as archive:  # not compressed, and nothing can compress it
        archive.write(program, program.name)
        archive.writestr("weights.bin", os.urandom(WEIGHTS_BYTES))
    (tmp_path / "cup").mkdir()
    (tmp_path / "cup" / "contest.toml").write_text(CUP)

    submitted = judge("submit", "weights.zip", "cup", "--name", "weights", "--author", "me")
    assert 0 == submitted.code, submitted.out + submitted.err

    ran = judge("contest", "run", "cup", "--cluster", machine.address, "--tls", str(machine.keys))
    assert 0 == ran.code, ran.err
    record = judge("show", "cup", "--game", "1", "--record", "-").document["record"]
    assert "n1" == record["placement"]["host"]
    (seat,) = (seat for seat in record["seats"] if seat["name"] == "weights")
    assert (True, None) == (record["verdict"] in ("win", "draw"), seat["fault"])
    assert MEMORY_BYTES < seat["memory_peak_bytes"]  # pages of the weights count too where the box has read them
    arrived = [int(found) for found in re.findall(r"\bbytes=(\d+)", machine.says("n1"))]
    assert max(arrived) > WEIGHTS_BYTES
