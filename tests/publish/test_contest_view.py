"""One view of a contest: read from a store part by part, at one moment, and from an export, it says the same."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from judge.contest_view.documents import standings_document
from judge.contest_view.export import load_claimed
from judge.contest_view.view import ContestView
from tests.contests import LATE_AND_WITHDRAWN, ROUND_ROBIN, WITHDRAWN, Recipe

RECIPES = {"round robin": ROUND_ROBIN, "late": LATE_AND_WITHDRAWN, "groups": WITHDRAWN["groups"]}


def values(view: ContestView) -> Mapping[str, Any]:
    return {
        "standings": standings_document(view),
        "results": [result._replace(record="") for result in view.results],
        **{name: getattr(view, name) for name in ("counts", "failures", "to_come", "is_over", "state_words", "out")},
        **{name: getattr(view, name) for name in ("secret", "entered", "absent", "stages", "copies", "snapshot")},
    }


@pytest.mark.parametrize("name", RECIPES)
def test_views_of_a_store_and_of_its_export_are_equal(name: str, tmp_path: Path) -> None:
    recipe: Recipe = RECIPES[name]
    with recipe.contest(tmp_path / "cup") as cup:
        expected = values(cup.contest.read())
        parts = values(cup.contest.view())
    exported = values(load_claimed(recipe.export(tmp_path / "public").directory))

    assert expected == parts
    assert expected == exported
