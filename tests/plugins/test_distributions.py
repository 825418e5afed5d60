"""The plug-ins in plugins/ are separate distributions that judge does not name."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLUGINS = sorted(path.parent for path in (ROOT / "plugins").glob("*/pyproject.toml"))
MAX_LINES = 1500
MAX_LINES_OF = {"gomocup": 1900}
"""A distribution of file formats and tables, without a game or a protocol."""

NAMES = re.compile(
    r"\b(uci|cecp|xboard|gtp|fen|epd|chess960|stockfish|gnu ?go|judge.(chess|cecp|go)|python-chess|tromp)\b",
    re.IGNORECASE,
)
"""Words of the plug-ins' games and protocols."""


def test_no_module_of_the_judge_names_a_game_of_a_plugin() -> None:
    found = {
        str(path.relative_to(ROOT)): match[0]
        for path in (ROOT / "judge").rglob("*.py")
        if (match := NAMES.search(path.read_text(encoding="utf-8")))
    }
    assert {} == found


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda plugin: plugin.name)
def test_plugin_is_short_and_has_licence_readme_and_tests(plugin: Path) -> None:
    project = tomllib.loads((plugin / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    code = (plugin / f"judge_{plugin.name}").glob("*.py")  # without the starter, which is an agent

    assert f"judge-{plugin.name}" == project["name"]
    assert MAX_LINES_OF.get(plugin.name, MAX_LINES) >= sum(
        len(path.read_text(encoding="utf-8").splitlines()) for path in code
    )
    assert (plugin / "README.md").is_file()
    assert (plugin / "LICENSE").is_file()
    assert list((plugin / "tests").glob("test_*.py"))


def test_judge_depends_on_no_plugin() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert not any(re.search(rf"judge-{plugin.name}\b", project) for plugin in PLUGINS)
