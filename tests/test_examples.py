"""The commands of examples/README.md work, in order, in a copy of the folder."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from judge.host.house_agents import build_house_agents

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"

REPLACED = {
    # Into a folder of the test, without a network.
    "pip install ./game": "pip install --no-deps --no-build-isolation --no-index --target site ./game",
}


@pytest.mark.long
@pytest.mark.docker
def test_every_command_of_the_examples_works(tmp_path: Path) -> None:
    build_house_agents()
    folder = tmp_path / "examples"
    shutil.copytree(EXAMPLES, folder, ignore=shutil.ignore_patterns("records", "public", "__pycache__", "*.egg-info"))
    program = folder / "bin" / "judge"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m judge.cli "$@"\n')
    program.chmod(0o755)
    environment = os.environ | {
        "PATH": f"{program.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": f"{ROOT}:{folder / 'site'}",
    }
    blocks = re.findall(r"^```sh\n(.*?)^```", (EXAMPLES / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines()]

    assert len(lines) > 5
    for line in lines:
        command = ["sh", "-c", REPLACED.get(line, line)]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    assert (folder / "public/index.html").is_file()


def test_the_agent_has_20_lines() -> None:
    lines = (EXAMPLES / "agent/agent.py").read_text(encoding="utf-8").splitlines()
    code = [line for line in lines if line and not line.startswith(("#!", '"""'))]

    assert len(code) <= 20
