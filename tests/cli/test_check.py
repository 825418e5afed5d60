"""`judge check`: what an author sees, and what a script gets."""

from itertools import takewhile
from pathlib import Path

import pytest

from judge.submissions.check import CheckReport, Grade
from tests.cli.brains import write_brain
from tests.cli.conftest import SHORT, Judge
from tests.cli.running import begin
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.docker


def test_author_reads_tried_checks_and_results(judge: Judge, nothing_left: None) -> None:
    checked = judge("check", "house-python", "--policy", "gomocup-freestyle", code=0)

    lines = checked.out.splitlines()
    assert lines[0] == "house-python, gomocup-freestyle, gomocup, docker-pipes"
    assert "pass    restart: RESTART between two games: the same process continued" in lines
    assert lines[-2].startswith("pass: ")
    assert lines[-1].startswith("next: play a game (judge match house-python house-instant ")


def test_a_script_gets_the_report_and_an_exit_code(judge: Judge, tmp_path: Path) -> None:
    brain = write_brain(tmp_path, "refuser", start="ERROR I have no board")

    checked = judge("check", brain, "--policy", "gomocup-freestyle", *SHORT, "--json", code=1)

    report = CheckReport.model_validate_json(checked.out)
    assert report.grade is Grade.FAIL
    assert [finding.check for finding in report.findings] == ["start", "memory"]
    assert "I have no board" in report.findings[0].evidence


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nowhere", "unknown agent 'nowhere'"),
        ("starter-gomocup-python", "starter-gomocup-python mine), and give the copy as ./mine"),
    ],
)
def test_unknown_agent_and_starter_are_the_users_mistake(judge: Judge, name: str, words: str) -> None:
    assert words in " ".join(judge("check", name, code=2).err.split())


def test_each_finding_is_printed_when_it_is_made(tmp_path: Path) -> None:
    """The agent waits in its first whole game until the findings before that are read."""
    goes_on = tmp_path / "go"
    waits = (
        f"turns.append(word == 'TURN')\nwhile sum(turns) > 3 and not os.path.exists({str(goes_on)!r}): time.sleep(0.01)"
    )
    restarts = "if word == 'RESTART':\n    taken.clear()\n    turns.clear()\n    say('OK')"
    brain = write_brain(tmp_path, "waiting", waits, "turns = []", other=restarts)
    with begin(tmp_path, "check", brain, "--policy", "gomocup-standard", "--box", "process") as process:
        assert process.stdout is not None
        before = list(takewhile(lambda line: not line.startswith(("pass    quiet", "fail")), process.stdout))
        goes_on.touch()
        after = process.communicate(timeout=PATIENCE_S)[0]

    assert any(line.startswith("pass    begin: ") for line in before), before
    assert "pass    game-first: " in after
    assert "pass    game-second: " in after
