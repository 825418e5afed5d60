"""The commands of examples/README.md work, in order, in a copy of the folder."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from judge.host.house_agents import build_house_agents
from tests.cli.brains import write_brain
from tests.cli.test_evaluate import POOL
from tests.forked import run_line

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"

REPLACED = {
    # Into a folder of the test, without a network.
    "pip install ./game": "pip install --no-deps --no-build-isolation --no-index --target site ./game",
    "pip install ./plug-in": "pip install --no-deps --no-build-isolation --no-index --target site ./plug-in",
    # tests/publish exports all languages.
    "judge contest export public contest/contest.toml": "judge contest export public contest --language en",
    "judge contest export public-2 contest/contest.toml --page shortest": (
        "judge contest export public-2 contest --language en --page shortest"
    ),
}


@pytest.mark.long
@pytest.mark.docker
def test_every_command_of_the_examples_works(tmp_path: Path) -> None:
    build_house_agents()
    folder = tmp_path / "examples"
    shutil.copytree(EXAMPLES, folder, ignore=shutil.ignore_patterns("records", "public", "__pycache__", "*.egg-info"))
    contest = folder / "contest/contest.toml"
    contest.write_text(contest.read_text().replace("change = [", 'change = ["game.options.draw_at=40", '))
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": f"{ROOT}:{folder / 'site'}",
    }
    blocks = re.findall(r"^```sh\n(.*?)^```", (EXAMPLES / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines()]

    assert len(lines) > 5
    for line in lines:
        done = run_line(REPLACED.get(line, line), folder, environment)
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    assert (folder / "public/index.html").is_file()


@pytest.mark.docker
def test_action_compares_two_commits_and_writes_the_verdict(tmp_path: Path) -> None:
    build_house_agents()
    program = tmp_path / "bin" / "judge"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m judge.cli "$@"\n')
    program.chmod(0o755)
    engine = tmp_path / "engine"
    (engine / "pool").mkdir(parents=True)
    (engine / "pool/pool.toml").write_text(POOL)
    write_brain(engine / "pool", "leaver", "sys.exit(3)")
    git = ["git", "-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    subprocess.run(["git", "init", "--quiet"], cwd=engine, check=True)
    for trick in ("sys.exit(4)", "pass"):
        write_brain(engine, "source", trick)
        subprocess.run(["git", "add", "."], cwd=engine, check=True)
        subprocess.run([*git, "commit", "--quiet", "-m", trick], cwd=engine, check=True)
    subprocess.run([str(program), "contest", "key", "author.key"], cwd=tmp_path, check=True, capture_output=True)
    summary = tmp_path / "summary.md"
    environment = os.environ | {
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "JUDGE_KEY": (tmp_path / "author.key").read_text(),
        "BASE": "HEAD~1",
        "BUILD": "mkdir out; cp source.py out/bot.py",
        "ENGINE": "out/bot.py",
        "POOL": "pool",
        "OPTIONS": "--elo1 400 --alpha 0.3 --beta 0.3",
        "GITHUB_STEP_SUMMARY": str(summary),
    }

    words = [str(EXAMPLES / "github-action/evaluate")]
    done = subprocess.run(words, cwd=engine, env=environment, capture_output=True, text=True, check=False)

    assert 0 == done.returncode, done.stderr
    assert summary.read_text().startswith("### stronger than its parent, 70 %\n")
    (verdict,) = (engine / "pool/evaluations").iterdir()
    assert f"`pool/evaluations/{verdict.name}`" in summary.read_text()
    trees = subprocess.run(["git", "worktree", "list"], cwd=engine, capture_output=True, text=True, check=True)
    assert 1 == len(trees.stdout.splitlines())
    inputs, _, runs = (EXAMPLES / "github-action/action.yml").read_text().partition("\nruns:")
    assert set(re.findall(r"^  (\w+):$", inputs, re.MULTILINE)) == set(re.findall(r"inputs\.(\w+) ", runs))


def test_scripts_of_the_action_have_no_finding_of_shellcheck() -> None:
    if shutil.which("shellcheck") is None:
        pytest.skip("shellcheck is not installed")
    subprocess.run(["shellcheck", str(EXAMPLES / "github-action/evaluate")], check=True)
