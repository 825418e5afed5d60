"""Commands with agents that have several builds."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import QUICK, Judge
from tests.cli.contests import write_contest
from tests.referee.test_builds import ELSEWHERE, HERE, write_builds


@pytest.mark.docker
def test_check_match_and_verify_use_the_build_of_this_host(judge: Judge, tmp_path: Path) -> None:
    agent = write_builds(tmp_path / "two", [[HERE[0], ELSEWHERE[0]], []])

    checked = judge("check", agent, "--policy", "gomocup-freestyle", *QUICK)
    matched = judge("match", agent, "house-instant", "--policy", "gomocup-freestyle", *QUICK, "--out", tmp_path / "out")
    records = list((tmp_path / "out").glob("**/*.json"))
    verified = judge("verify", *records)

    assert (0, 0, 0) == (checked.code, matched.code, verified.code), (checked.err, matched.err, verified.err)
    builds = [json.loads(path.read_text())["record"]["placement"]["builds"] for path in records]
    assert [(2, HERE[:1])] * len(records) == [(each["number"], each["instruction_sets"]) for (each,) in builds]


@pytest.mark.docker
def test_contest_exports_and_verifies_games_of_builds(judge: Judge, tmp_path: Path) -> None:
    agent = write_builds(tmp_path / "two", [ELSEWHERE[:1], []])
    write_contest(tmp_path / "cup", [str(agent), "house-instant"])

    ran = judge("contest", "run", "cup")
    key = judge("contest", "key", "cup/organiser.key")
    exported = judge("contest", "export", "published", "cup")
    verified = judge("contest", "verify", "published")

    assert (0, 0, 0, 0) == tuple(each.code for each in (ran, key, exported, verified)), exported.err + verified.err
    records = [json.loads(path.read_text()) for path in (tmp_path / "published/records").rglob("*.json")]
    builds = [each["record"]["placement"]["builds"] for each in records]
    assert [2, 2] == [each["number"] for (each,) in builds]
