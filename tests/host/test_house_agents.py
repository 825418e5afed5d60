"""House agents are compiled when their sources changed, and a failed build leaves the old one."""

import subprocess
from pathlib import Path

import pytest

from judge.base import resources
from judge.base.errors import HostError
from judge.base.resources import house_agent_names
from judge.host import compilers, house_agents
from judge.host.house_agents import build_house_agents
from judge.sandbox import static_builds


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one house agent in C and one in Python."""
    for module in (house_agents, resources):
        monkeypatch.setattr(module, "IMAGES", tmp_path / "images")
    for module in (compilers, static_builds):
        monkeypatch.setattr(module, "BUILD_DIRECTORY", tmp_path / ".build")
    for name, file, text in (
        ("house-c", "main.c", '#include "answer.h"\nint main(void) { return ANSWER; }\n'),
        ("house-c", "answer.h", "#define ANSWER 0\n"),
        ("house-c", "agent.toml", 'name = "house-c"\n'),
        ("house-py", "agent.py", "print(1)\n"),
        ("house-py", "agent.toml", 'name = "house-py"\n'),
    ):
        path = tmp_path / "images" / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "images"


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_an_agent_is_its_manifest_and_its_program(sources: Path) -> None:
    folders = build_house_agents()
    assert house_agent_names() == list(folders) == ["house-c", "house-py"]
    assert files(folders["house-c"]) == ["agent.toml", "house-c"]
    assert (folders["house-c"] / "house-c").read_bytes().startswith(b"\x7fELF")
    assert files(folders["house-py"]) == ["agent.py", "agent.toml"]


def test_only_changes_are_rebuilt(sources: Path) -> None:
    build_house_agents()
    lines: list[str] = []
    build_house_agents(lines.append)
    assert lines == []
    (sources / "house-c" / "answer.h").write_text("#define ANSWER 1\n")
    build_house_agents(lines.append)
    assert lines == ["building house-c"]


def test_folder_of_an_included_header_belongs_to_the_program(sources: Path) -> None:
    """Through another such folder too; and what changes there builds the agent again."""
    for name, text in (
        ("house-c/main.c", '#include "../shared/one.h"\nint main(void) { return one(); }\n'),
        ("shared/one.h", "int one(void);\n"),
        ("shared/one.c", '#include "../deeper/two.h"\n#include "one.h"\nint one(void) { return TWO - 2; }\n'),
        ("deeper/two.h", "#define TWO 2\n"),
    ):  # fmt: skip
        (sources / name).parent.mkdir(exist_ok=True)
        (sources / name).write_text(text)
    program = build_house_agents()["house-c"] / "house-c"
    assert 0 == subprocess.run([program], check=False).returncode

    (sources / "deeper" / "two.h").write_text("#define TWO 5\n")
    lines: list[str] = []
    build_house_agents(lines.append)
    assert ["building house-c"] == lines
    assert 3 == subprocess.run([program], check=False).returncode


def test_a_failed_build_shows_why_and_leaves_the_old_agent(sources: Path) -> None:
    program = build_house_agents()["house-c"] / "house-c"
    before = program.read_bytes()
    (sources / "house-c" / "answer.h").write_text("#define ANSWER unknown_word\n")
    with pytest.raises(HostError, match="unknown_word"):
        build_house_agents()
    assert program.read_bytes() == before


@pytest.mark.usefixtures("sources")
def test_a_folder_that_this_user_cannot_build_in_is_named(tmp_path: Path) -> None:
    """Root may write anywhere, but not into a folder as if it were a file."""
    lock = tmp_path / ".build" / "house.lock"
    lock.mkdir(parents=True)
    with pytest.raises(
        HostError, match=f"^{lock}: Is a directory: nothing can be built; give the folder {lock.parent}"
    ):
        build_house_agents()


@pytest.mark.usefixtures("sources")
def test_an_agent_in_java_is_left_out_without_javac(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = sources / "house-java"
    java.mkdir()
    (java / "agent.toml").write_text('name = "house-java"\n')
    (java / "Main.java").write_text("class Main {}\n")
    monkeypatch.setattr(house_agents, "has_javac", lambda: False)
    lines: list[str] = []

    assert ["house-c", "house-py"] == list(build_house_agents(lines.append))
    assert any(line.startswith("house-java is left out: there is no javac here") for line in lines)
