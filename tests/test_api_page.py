"""docs/api.md lists the public modules, and plug-ins import only those."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/api.md"
ROWS = re.findall(r"^\| `(judge[a-z._]*)` \| (\w+) \| (.+?) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)

PLUGINS = [*sorted(ROOT.glob("plugins/*/judge_*")), ROOT / "tests/plugins/connect_four/connect_four"]
"""The packages of games and protocols in this repository."""


def test_page_lists_each_module_once_with_its_stability() -> None:
    modules = [module for module, _, _ in ROWS]

    assert len(modules) == len(set(modules))
    assert {level for _, level, _ in ROWS} == {"stable", "provisional"}


def test_listed_names_exist() -> None:
    for module, _, names in ROWS:
        found = import_module(module)
        for name in re.findall(r"`(\w+)`", names):
            assert hasattr(found, name), f"{module}.{name}"


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda plugin: plugin.name)
def test_plugin_imports_existing_names_of_listed_modules(plugin: Path) -> None:
    trees = [ast.parse(path.read_text()) for path in plugin.rglob("*.py")]
    imports = {
        (node.module, alias.name)
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "judge"
        for alias in node.names
    }

    assert imports
    assert set() == {module for module, _ in imports} - {module for module, _, _ in ROWS}
    assert [] == [(module, name) for module, name in imports if not hasattr(import_module(module), name)]
