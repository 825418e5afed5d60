"""`judge check`: what an author sees, and what a script gets."""

import sys
from itertools import takewhile
from pathlib import Path

import pytest

from judge.submissions.check import CheckReport, Grade
from tests.cli.brains import write_brain
from tests.cli.conftest import SHORT, Judge
from tests.forked import ForkedProcess
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.docker


def test_author_reads_tried_checks_and_results(judge: Judge, nothing_left: None) -> None:
    checked = judge("check", "house-python", "--policy", "gomocup-freestyle")

    lines = checked.out.splitlines()
    assert checked.code == 0, checked.err
    assert lines[0] == "house-python, gomocup-freestyle, gomocup, docker-pipes"
    assert "pass    restart: RESTART between two games: the same process continued" in lines
    assert lines[-2].startswith("pass: ")
    assert lines[-1].startswith("next: play a game (judge match house-python house-instant ")


def test_a_script_gets_the_report_and_an_exit_code(judge: Judge, tmp_path: Path) -> None:
    brain = write_brain(tmp_path, "refuser", start="ERROR I have no board")

    checked = judge("check", brain, "--policy", "gomocup-freestyle", *SHORT, "--json")

    report = CheckReport.model_validate_json(checked.out)
    assert checked.code == 1
    assert report.grade is Grade.FAIL
    assert [finding.check for finding in report.findings] == ["start", "memory"]
    assert "I have no board" in report.findings[0].evidence


def test_agent_output_reaches_the_terminal_escaped(judge: Judge, tmp_path: Path) -> None:
    brain = write_brain(tmp_path, "painter", "raise SystemExit('\\x1b[31m[bold]red\\u202e')")

    checked = judge("check", brain, "--policy", "gomocup-freestyle", *SHORT)

    assert checked.code == 1
    assert "\\x1b[31m[bold]red\\u202e" in checked.out
    assert "\x1b" not in checked.out


def test_an_agent_that_is_not_there_is_the_users_mistake(judge: Judge) -> None:
    checked = judge("check", "nowhere")

    assert checked.code == 2
    assert "unknown agent 'nowhere'" in checked.err


def test_name_of_a_starter_is_answered_with_the_command_that_copies_it(judge: Judge) -> None:
    checked = judge("check", "starter-gomocup-python")

    assert checked.code == 2
    assert "starter-gomocup-python mine), and give the copy as ./mine" in " ".join(checked.err.split())


WAITING = """#!/usr/bin/env python3
import os, sys, time
taken, turns = set(), 0
for line in sys.stdin:
    word, _, rest = line.strip().partition(" ")
    if word in ("START", "RESTART"):
        taken, turns = set(), 0
        print("OK", flush=True)
    elif word == "ABOUT":
        print('name="waiting"', flush=True)
    elif word == "END":
        break
    elif word in ("BEGIN", "TURN", "DONE") or word[:1].isdigit():
        if "," in word + rest:
            taken.add(",".join((rest or word).split(",")[:2]))
        if "," in word:
            continue
        turns += word == "TURN"
        while turns > 3 and not os.path.exists({path!r}):
            time.sleep(0.01)
        move = next(f"{{x}},{{y}}" for y in range(15) for x in range(15) if f"{{x}},{{y}}" not in taken)
        taken.add(move)
        print(move, flush=True)
"""


def test_each_finding_is_printed_when_it_is_made(tmp_path: Path) -> None:
    """The agent waits in its first whole game until the findings before that are read."""
    program, goes_on = tmp_path / "waiting.py", tmp_path / "go"
    program.write_text(WAITING.format(path=str(goes_on)))
    words = [
        sys.executable,
        "-m",
        "judge.cli",
        "check",
        str(program),
        "--policy",
        "gomocup-standard",
        "--box",
        "process",
    ]
    with ForkedProcess[str](words, stdout=-1, text=True) as process:
        assert process.stdout is not None
        before = list(takewhile(lambda line: not line.startswith(("pass    quiet", "fail")), process.stdout))
        goes_on.touch()
        after = process.communicate(timeout=PATIENCE_S)[0]

    assert any(line.startswith("pass    begin: ") for line in before), before
    assert "pass    game-first: " in after
    assert "pass    game-second: " in after
