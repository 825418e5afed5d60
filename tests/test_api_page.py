"""docs/api.md lists the public modules, and only names that they have."""

import re
from importlib import import_module
from pathlib import Path

from tests.golden.public_names import MODULES

PAGE = Path(__file__).parents[1] / "docs/api.md"
ROWS = re.findall(r"^\| `(judge[a-z._]*)` \| (\w+) \| (.+?) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def test_page_lists_each_public_module_with_its_stability() -> None:
    assert sorted(MODULES) == sorted(module for module, _, _ in ROWS)
    assert {level for _, level, _ in ROWS} == {"stable", "provisional"}


def test_listed_names_exist() -> None:
    for module, _, names in ROWS:
        found = import_module(module)
        for name in re.findall(r"`(\w+)`", names):
            assert hasattr(found, name), f"{module}.{name}"
