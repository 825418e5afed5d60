"""Which program of a Gomocup archive plays."""

from dataclasses import replace
from pathlib import Path

import pytest

from judge.agents.agents import stage_agent
from judge.agents.programs import brain_name, choose_executable, own_name
from judge.record.policy import load_policy


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
def test_brain_is_named_after_the_common_part_of_its_programs(executable: str, name: str) -> None:
    """Whichever of them plays, the record says the same name."""
    assert name == brain_name(executable)


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (("./pbrain-foo",), "pbrain-foo"),
        (("wine", "pbrain-Foo.EXE"), "pbrain-Foo"),
        (("python3", "-u", "bin/pbrain-foo.py", "--level", "9"), "pbrain-foo"),
        (("./pbrain-foo-1.2_renju-15",), "pbrain-foo-1.2_renju-15"),
        (("./engine", "foo"), ""),
    ],
)
def test_a_brain_s_own_name_is_its_file_s(command: tuple[str, ...], name: str) -> None:
    """Gomoku AI protocol: the name of the brain begins with pbrain-."""
    assert name == own_name(command)


@pytest.mark.parametrize("way", ["archive", "file", "manifest"])
def test_a_brain_calls_itself_alike_by_every_way_of_entry(tmp_path: Path, staging: Path, way: str) -> None:
    """So its temporary folder is found again, whoever gave the agent which name."""
    source = tmp_path / "foo-release"
    source.mkdir()
    (source / "pbrain-foo").write_bytes(b"\x7fELF...")
    if way == "manifest":
        (source / "agent.toml").write_text('name = "best"\ncommand = ["./pbrain-foo"]\n')

    agent = stage_agent(str(source / "pbrain-foo" if way == "file" else source), staging)
    renamed = replace(agent, manifest=agent.manifest.model_copy(update={"name": "contestant"}))

    policy = load_policy("gomocup-freestyle")
    assert "pbrain-foo" == agent.calls_itself(policy) == renamed.calls_itself(policy)


def test_an_agent_that_is_no_brain_is_called_as_its_own_files_say(tmp_path: Path, staging: Path) -> None:
    (tmp_path / "quota.py").write_text("#!/usr/bin/env python3\n")
    agent = stage_agent(str(tmp_path / "quota.py"), staging)
    named = agent.manifest.model_copy(update={"name": "contestant"})

    policy = load_policy("gomocup-freestyle")
    assert "quota" == agent.calls_itself(policy)
    assert "quota" == replace(agent, manifest=named, own_name="quota").calls_itself(policy)


def test_a_directory_of_brains_needs_no_manifest(tmp_path: Path, staging: Path) -> None:
    """The policy's rule and size decide which program is executed."""
    source = tmp_path / "archive"
    source.mkdir()
    for name in ("pbrain-swine", "pbrain-swine64", "pbrain-swine_standard-15_64"):
        (source / name).write_bytes(b"\x7fELF...")
    (source / "readme.txt").write_text("hello")

    agent = stage_agent(str(source), staging)

    freestyle = agent.seat(load_policy("gomocup-freestyle"))
    assert ("swine", ("./pbrain-swine64",)) == (freestyle.name, freestyle.command)
    standard = agent.seat(load_policy("gomocup-standard"))
    assert ("./pbrain-swine_standard-15_64",) == standard.command
    assert (agent.program / "pbrain-swine64").stat().st_mode & 0o111
