"""`judge check` shows the engine options of agent.toml, and why an engine refuses them."""

import shutil
from pathlib import Path

import judge_chess
import pytest

from judge.api.checks import check
from judge.base.errors import InputError
from judge.submissions.check import Grade

CHESS = Path(judge_chess.__file__).parent
OPTIONS = "option name Hash type spin default 1 min 1 max 64\noption name Threads type spin default 1 min 1 max 4"
POLICY = (str(CHESS / "chess.toml"), ("clock.control=20", "limits.threads=2", "game.options.max_moves=2"))


def agent(folder: Path, options: str) -> str:
    """The starter, with more options."""
    path = folder / "engine"
    shutil.copytree(CHESS / "starter", path)
    code = (path / "starter.py").read_text()
    (path / "starter.py").write_text(code.replace("\\nuciok", f"\\n{OPTIONS}\\nuciok".replace("\n", "\\n")))
    with (path / "agent.toml").open("a") as manifest:
        manifest.write(f"\n[options]\n{options}\n")
    return str(path)


def test_options_are_shown_with_the_limits_of_the_policy(tmp_path: Path) -> None:
    name, changes = POLICY
    report = check(
        agent(tmp_path, "Hash = 32\nThreads = 2\nUCI_Chess960 = false"), policy=name, changes=changes, box="process"
    )
    (shown,) = (finding for finding in report.findings if finding.check == "options")

    assert (Grade.PASS, "") == (shown.grade, shown.fix)
    said = "Hash = 32, Threads = 2, UCI_Chess960 = false; limits.threads = 2, memory limit 384.0 MiB"
    assert said == shown.evidence


def test_option_outside_the_engines_range_fails_the_start(tmp_path: Path) -> None:
    name, changes = POLICY
    report = check(agent(tmp_path, "Hash = 100"), policy=name, changes=changes, box="process")
    failed = [finding for finding in report.findings if finding.grade is Grade.FAIL]

    assert ["start"] == [finding.check for finding in failed]
    assert "Hash = 100 is above the engine's maximum of 64" in failed[0].evidence
    assert "options" in report.untried


def test_threads_above_the_policys_limit_are_refused_before_a_game(tmp_path: Path) -> None:
    name, changes = POLICY
    with pytest.raises(InputError, match=r"options\.Threads: 3 is above the policy's limits\.threads of 2; lower it"):
        check(agent(tmp_path, "Threads = 3"), policy=name, changes=changes, box="process")
