"""What a person can look up: verdicts, policies, house agents, schemas, and what a Tab offers."""

import json
import platform
import re
import subprocess
from inspect import signature
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judge import __version__
from judge.base.errors import InputError
from judge.base.resources import DEFAULT_POLICY, house_agent_names
from judge.cli import app
from judge.cli.check import check
from judge.cli.match import match
from judge.cli.options import checked_address, complete_agent, complete_policy
from judge.cli.reference import reference
from judge.games.types import Verdict
from judge.record.policy import policy_names
from judge.referee.blame import FAULTS, RULED, TABLE, BlameRow
from tests.cli.conftest import Judge

DOCS = Path(__file__).resolve().parents[2] / "docs"


def run(*words: str) -> str:
    done = CliRunner().invoke(app, words, catch_exceptions=False, env={"COLUMNS": "120"})
    assert 0 == done.exit_code, done.output
    return done.stdout


def test_page_of_verdicts_equals_the_table() -> None:
    """Made by `judge verdicts > docs/verdicts.md`: it cannot go stale."""
    assert (DOCS / "verdicts.md").read_text() == "\n".join(reference()) + "\n" == run("verdicts")


def test_every_verdict_is_explained_once() -> None:
    assert set(Verdict) == set(RULED) | set(FAULTS)
    assert not set(RULED) & set(FAULTS)
    assert set(FAULTS) == {row.verdict for row in TABLE}


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.when)
def test_a_row_holds_for_its_own_example(row: BlameRow) -> None:
    assert row.holds(row.example, 0.1)
    assert row.because(row.example)


def test_policies_are_listed_and_shown_with_all_numbers() -> None:
    listed, shown = run("policies"), run("policies", "gomocup-standard:fast").splitlines()
    assert all(name in listed for name in policy_names())
    assert "rif, yamaguchi, chinese-swap" in listed
    assert "clock.turn_ms = 5000" in shown
    assert any(line.startswith("limits.processes = ") for line in shown)


def test_two_policies_are_compared_key_by_key() -> None:
    shown = run("policies", "gomocup-freestyle", "--diff", "gomocup-freestyle:fast")
    assert "clock.match_ms\n  - 180000\n  + 120000\nclock.turn_ms\n  - 30000\n  + 5000\n" == shown


def test_house_agents_are_listed_with_descriptions_and_a_starter_can_be_copied(tmp_path: Path) -> None:
    lines = [line.split() for line in run("agents").splitlines() if line.strip()]
    for name in house_agent_names():
        (words,) = (words for words in lines if words[0] == name)
        # Name, protocol, language, and what it is.
        assert len(words) > 4, words
    (command,) = (words for words in lines if words[:2] == ["cp", "-r"])
    subprocess.run(command, cwd=tmp_path, check=True)
    assert (tmp_path / "mine/agent.toml").is_file()


@pytest.mark.parametrize(("name", "definition"), [("record", "GameRecord"), ("spec", "GameSpec")])
def test_schema_of_record_files_contains_those_of_records_and_specs(name: str, definition: str) -> None:
    schema, whole = (json.loads(run("schema", each)) for each in (name, "record-file"))
    definitions = schema.pop("$defs")

    assert schema == whole["$defs"][definition]
    assert whole["$defs"] == whole["$defs"] | definitions


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (["schema", "polcy"], "use one of policy, spec"),
        (["policies", "gomocup-fre"], "did you mean 'gomocup-freestyle' or 'gomocup-freestyle-15'?"),
        (["policies", "gomocup-freestyle:fats"], "did you mean 'fast'?"),
    ],
)
def test_a_wrong_name_is_answered_with_the_right_ones(words: list[str], fix: str) -> None:
    with pytest.raises(InputError) as refused:
        CliRunner().invoke(app, words, catch_exceptions=False)
    assert fix in str(refused.value)


def test_a_tab_offers_policies_variants_and_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("mine.toml", "mine.txt"):
        (tmp_path / name).touch()
    (tmp_path / "cups").mkdir()
    for begun, offered in (
        ("agi-renju:r", ["agi-renju:rif"]),
        ("mi", ["mine.toml"]),
        ("cu", ["cups/"]),
        (f"{tmp_path}/m", [f"{tmp_path}/mine.toml"]),
        (f"{tmp_path}/nowhere/x", []),
    ):
        assert offered == list(complete_policy(begun))
    assert ["house-strong"] == list(complete_agent("house-strong"))
    assert ["mine.toml", "mine.txt"] == list(complete_agent("min"))


def test_version_output_has_bug_report_facts(judge: Judge, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where no Engine answers, the reason stands in its line, in the system's own words."""
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody")

    first, python, engine = judge("--version").out.splitlines()

    assert f"judge {__version__}" == first
    assert f"{platform.python_version()}, {platform.platform()}" in python
    assert engine.startswith(f"The Engine at unix://{tmp_path}/nobody did not answer (No such file or directory): see")


@pytest.mark.docker
def test_the_version_names_the_engine() -> None:
    assert re.fullmatch(r"Docker Engine \S+, API 1\.\d+", run("--version").splitlines()[2])


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("matsch",), "There is no command 'matsch': did you mean match?"),
        (("contest", "stauts"), "There is no command 'stauts': did you mean status?"),
        (("xyzzy",), "There is no command 'xyzzy': run judge --help"),
    ],
)
def test_a_command_that_there_is_not_is_answered_with_the_nearest(words: tuple[str, ...], hint: str) -> None:
    done = CliRunner().invoke(app, words, env={"COLUMNS": "120"}, prog_name="judge")

    assert 2 == done.exit_code
    assert hint in done.output


def test_match_and_check_have_the_same_default_policy() -> None:
    assert {DEFAULT_POLICY} == {signature(command).parameters["policy"].default for command in (match, check)}


@pytest.mark.parametrize(
    "url",
    [
        *("example.org", "ftp://example.org", "http://[", "https://example.org?a=b", "https://example.org/#token"),
        *("https://example..org", f"https://{'a' * 64}.org", "https://example.org:99999", "https://example.org:http"),
    ],
)
def test_address_to_which_nothing_connects_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="not an address; write it as"):
        checked_address(url)


@pytest.mark.parametrize("address", ["https://example.org/cup", "http://127.0.0.1:8080", "http://[::1]:8080/a/b"])
def test_address_loses_its_final_slash(address: str) -> None:
    assert address == checked_address(address) == checked_address(f"{address}/")
