"""Commands with agents that have several builds."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import SHORT, Judge
from tests.cli.contests import write_contest
from tests.referee.test_builds import ELSEWHERE, HERE, write_builds

NOT_HERE = f"This host cannot run any build of two: build 1 needs {ELSEWHERE[0]}; use another host or add a build"


@pytest.mark.docker
def test_commands_report_an_agent_that_this_host_cannot_run(judge: Judge, tmp_path: Path) -> None:
    agent = write_builds(tmp_path / "two", [ELSEWHERE[:1]])
    write_contest(tmp_path / "cup", [str(agent), "house-instant"])

    checked = judge("check", agent, "--policy", "gomocup-freestyle", *SHORT)
    matched = judge("match", agent, "house-instant", "--policy", "gomocup-freestyle")
    planned = judge("contest", "plan", "cup")

    assert NOT_HERE in checked.err
    assert NOT_HERE in matched.err
    assert NOT_HERE in planned.out.replace("agent-1", "two")
    assert 0 not in (checked.code, matched.code, planned.code)


@pytest.mark.docker
def test_check_match_and_verify_use_the_build_of_this_host(judge: Judge, tmp_path: Path) -> None:
    agent = write_builds(tmp_path / "two", [[HERE[0], ELSEWHERE[0]], HERE[:1]])

    checked = judge("check", agent, "--policy", "gomocup-freestyle", *SHORT)
    matched = judge("match", agent, "house-instant", "--policy", "gomocup-freestyle", "--out", tmp_path / "out")
    records = list((tmp_path / "out").glob("**/*.json"))
    verified = judge("verify", *records)

    assert (0, 0, 0) == (checked.code, matched.code, verified.code), (checked.err, matched.err, verified.err)
    builds = [json.loads(path.read_text())["record"]["placement"]["builds"] for path in records]
    assert [(2, HERE[:1])] * len(records) == [(each["number"], each["instruction_sets"]) for (each,) in builds]


@pytest.mark.docker
def test_contest_exports_and_verifies_games_of_builds(judge: Judge, tmp_path: Path) -> None:
    agent = write_builds(tmp_path / "two", [ELSEWHERE[:1], HERE[:1]])
    write_contest(tmp_path / "cup", [str(agent), "house-instant"])

    ran = judge("contest", "run", "cup")
    key = judge("contest", "key", "cup/organiser.key")
    exported = judge("contest", "export", "published", "cup")
    verified = judge("contest", "verify", "published")

    assert (0, 0, 0, 0) == tuple(each.code for each in (ran, key, exported, verified)), exported.err + verified.err
    records = [json.loads(path.read_text()) for path in (tmp_path / "published/records").rglob("*.json")]
    builds = [each["record"]["placement"]["builds"] for each in records]
    assert [2, 2] == [each["number"] for (each,) in builds]


@pytest.mark.docker
def test_contest_stops_if_its_host_can_run_no_build(judge: Judge, tmp_path: Path) -> None:
    agent = write_builds(tmp_path / "two", [ELSEWHERE[:1]])
    write_contest(tmp_path / "cup", [str(agent), "house-instant"], games=1)

    ran = judge("contest", "run", "cup")

    assert 1 == ran.code
    assert "void 3 times in a row" in ran.err
    assert f"cannot run any build of agent-1: build 1 needs {ELSEWHERE[0]}" in ran.err
