"""`judge check`: what an author sees, and what a script gets."""

from pathlib import Path

import pytest

from judge.submissions.check import CheckReport, Grade
from tests.cli.brains import write_brain
from tests.cli.conftest import SHORT, Judge

pytestmark = pytest.mark.docker


def test_an_author_reads_what_was_tried_and_what_came_of_it(judge: Judge, nothing_left: None) -> None:
    checked = judge("check", "house-python", "--policy", "gomocup-freestyle")

    lines = checked.out.splitlines()
    assert checked.code == 0, checked.err
    assert lines[0] == "house-python, gomocup-freestyle, gomocup, docker-pipes"
    assert "pass    restart: RESTART between two games: it went on with the same process" in lines
    assert lines[-1] == "pass"


def test_a_script_gets_the_report_and_an_exit_code(judge: Judge, tmp_path: Path) -> None:
    brain = write_brain(tmp_path, "refuser", start="ERROR I have no board")

    checked = judge("check", brain, "--policy", "gomocup-freestyle", *SHORT, "--json")

    report = CheckReport.model_validate_json(checked.out)
    assert checked.code == 1
    assert report.grade is Grade.FAIL
    assert [finding.check for finding in report.findings] == ["start", "memory"]
    assert "I have no board" in report.findings[0].evidence


def test_nothing_that_an_agent_says_reaches_the_terminal_as_it_is(judge: Judge, tmp_path: Path) -> None:
    brain = write_brain(tmp_path, "painter", "raise SystemExit('\\x1b[31m[bold]red\\u202e')")

    checked = judge("check", brain, "--policy", "gomocup-freestyle", *SHORT)

    assert checked.code == 1
    assert "\\x1b[31m[bold]red\\u202e" in checked.out
    assert "\x1b" not in checked.out


def test_an_agent_that_is_not_there_is_the_users_mistake(judge: Judge) -> None:
    checked = judge("check", "nowhere")

    assert checked.code == 2
    assert "there is no agent 'nowhere'" in checked.err
