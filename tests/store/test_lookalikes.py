"""Names that a reader takes for each other share an appearance; honest names in all scripts do not."""

from itertools import combinations
from pathlib import Path

import pytest

from judge.store.lookalikes import appearances

HERE = Path(__file__).parent
ALIKE = [line.split("\t") for line in (HERE / "lookalikes.txt").read_text(encoding="utf-8").splitlines()]
HONEST = (HERE / "honest_names.txt").read_text(encoding="utf-8").split()


@pytest.mark.parametrize(("name", "other"), ALIKE)
def test_names_that_look_alike_share_an_appearance(name: str, other: str) -> None:
    assert appearances(name) & appearances(other)


def test_honest_names_share_no_appearance() -> None:
    alike = [(a, b) for a, b in combinations(HONEST, 2) if appearances(a) & appearances(b)]
    assert [] == alike


@pytest.mark.parametrize("name", HONEST)
def test_honest_name_is_visible_and_looks_like_itself(name: str) -> None:
    assert appearances(name)
    assert appearances(name) & appearances(name.upper())


@pytest.mark.parametrize("name", ["", " ", "\u2800", "\u3164\u115f", "\ufe0f"])
def test_invisible_name_has_no_appearance(name: str) -> None:
    assert not appearances(name)
