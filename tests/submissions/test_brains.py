"""Which program of a Gomocup archive plays."""

from pathlib import Path

import pytest

from judge.referee.policy import load_policy
from judge.submissions.agents import stage_agent
from judge.submissions.brains import brain_name, choose_executable


@pytest.mark.parametrize(
    ("names", "rule", "size", "chosen"),
    [
        (["pbrain-swine", "pbrain-swine64"], "freestyle", 20, "pbrain-swine64"),
        (["pbrain-a64.exe", "pbrain-a.exe"], "renju", 15, "pbrain-a64.exe"),
        (["pbrain-a64", "pbrain-a_renju"], "renju", 15, "pbrain-a_renju"),
        (["pbrain-a_renju", "pbrain-a_renju_64"], "renju", 15, "pbrain-a_renju_64"),
        (["pbrain-a_renju", "pbrain-a_renju-15"], "renju", 15, "pbrain-a_renju-15"),
        (["pbrain-a_renju", "pbrain-a_renju-20"], "renju", 15, "pbrain-a_renju"),
        (["pbrain-a", "pbrain-a_15"], "standard", 15, "pbrain-a_15"),
        (["pbrain-a", "pbrain-a_20"], "standard", 15, "pbrain-a"),
        (["pbrain-a_15", "pbrain-a_standard"], "standard", 15, "pbrain-a_standard"),
        (["pbrain-a_caro", "pbrain-a"], "caro-overline", 15, "pbrain-a_caro"),
        (["PBrain-A_Renju.EXE", "pbrain-a.exe"], "renju", 15, "PBrain-A_Renju.EXE"),
        (["pbrain-a_renju", "pbrain-b_caro64"], "standard", 15, "pbrain-b_caro64"),
        (["pbrain-b", "pbrain-a"], "standard", 15, "pbrain-a"),
    ],
)
def test_the_program_made_for_rule_and_size_goes_before_the_wider_one(
    names: list[str], rule: str, size: int, chosen: str
) -> None:
    """The order of the official manager: rule and size, rule, size, any; then 64 bits."""
    assert chosen == choose_executable(names, rule, size)


@pytest.mark.parametrize(
    ("executable", "name"),
    [
        ("pbrain-swine.exe", "swine"),
        ("pbrain-Swine64.exe", "Swine"),
        ("pbrain-swine_caro-15_64", "swine"),
        ("pbrain-swine_15", "swine"),
        ("pbrain-x-15", "x-15"),
        ("pbrain-pisq5", "pisq5"),
    ],
)
def test_a_brain_is_called_by_what_its_programs_share(executable: str, name: str) -> None:
    """Whichever of them plays, the record says the same name."""
    assert name == brain_name(executable)


def test_a_directory_of_brains_needs_no_manifest(tmp_path: Path) -> None:
    """The policy's rule and size decide which program is executed."""
    source, staging = tmp_path / "archive", tmp_path / "staging"
    source.mkdir()
    staging.mkdir()
    for name in ("pbrain-swine", "pbrain-swine64", "pbrain-swine_standard-15_64"):
        (source / name).write_bytes(b"\x7fELF...")
    (source / "readme.txt").write_text("hello")

    agent = stage_agent(str(source), staging)

    assert ("swine", ("./pbrain-swine64",)) == (
        agent.seat(load_policy("gomocup-freestyle")).name,
        agent.seat(load_policy("gomocup-freestyle")).command,
    )
    standard = agent.seat(load_policy("gomocup-standard"))
    assert ("./pbrain-swine_standard-15_64",) == standard.command
    assert (agent.program / "pbrain-swine64").stat().st_mode & 0o111
