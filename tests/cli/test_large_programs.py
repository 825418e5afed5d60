"""Programs with weights: an archive of more than 100 MB becomes an agent, and mapped files are not its memory."""

import json
import subprocess
import zipfile
from pathlib import Path

import pytest

from judge.host.build_images import build_images
from tests.cli.conftest import Judge

HERE = Path(__file__).parent
WEIGHTS_BYTES = 110 << 20

CUP = """
name = "cup"
policy = "gomocup-freestyle"
change = ["clock.starved_share=1", "limits.memory_bytes=67108864"]
[format]
name = "round-robin"
games = 1
[intake]
upload_bytes = 134217728
[[agents]]
path = "house-instant"
"""


@pytest.mark.docker
def test_a_program_with_large_weights_is_submitted_and_may_use_all_memory_that_it_is_told_of(
    judge: Judge, tmp_path: Path
) -> None:
    """The weights are larger than its memory limit, and every page of them is read for every move."""
    build_images(["native", "unpacker"])
    program, weights = tmp_path / "pbrain-weights", tmp_path / "weights.bin"
    subprocess.run(["gcc", "-O1", "-static", HERE / "weights.c", "-o", program], check=True)
    with weights.open("wb") as file:
        file.truncate(WEIGHTS_BYTES)
    with zipfile.ZipFile(tmp_path / "weights.zip", "w") as archive:  # not compressed, so that all of it is sent
        archive.write(program, program.name)
        archive.write(weights, weights.name)
    (tmp_path / "cup").mkdir()
    (tmp_path / "cup" / "contest.toml").write_text(CUP)

    submitted = judge("submit", "weights.zip", "cup", "--name", "weights", "--author", "me")
    assert 0 == submitted.code, submitted.out + submitted.err

    ran = judge("contest", "run", "cup")
    assert 0 == ran.code, ran.err
    record = json.loads(judge("contest", "game", "1", "cup", "--record", "-").out)["record"]
    (seat,) = (seat for seat in record["seats"] if seat["name"] == "weights")
    assert (True, None) == (record["verdict"] in ("win", "draw"), seat["fault"])


@pytest.mark.docker
def test_the_limit_of_an_upload_is_named_with_the_setting_that_raises_it(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "cup").mkdir()
    (tmp_path / "cup" / "contest.toml").write_text(CUP.replace("134217728", "1048576"))
    with (tmp_path / "weights.zip").open("wb") as file:
        file.truncate(2 << 20)

    refused = judge("submit", "weights.zip", "cup", "--name", "weights", "--author", "me")

    assert 2 == refused.code
    assert "[intake] upload_bytes" in refused.err
