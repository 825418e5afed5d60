"""The C that house agents find renju's fouls with agrees with the published positions."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.house_agents.conftest import FindFouls
from tests.house_agents.talk import squares

VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "games/data/renju_vectors.json").read_text())


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["moves"][:12])
def test_every_published_position_has_its_fouls_and_no_others(fouls: FindFouls, vector: dict[str, Any]) -> None:
    expected = squares("".join(vector["forbidden"]))

    assert sorted(expected) == sorted(fouls(squares(vector["moves"])))


def test_a_five_is_no_foul_even_with_an_overline(fouls: FindFouls) -> None:
    """d8 to g8 and h8 make five, and h6 to h11 six: the five counts."""
    stones = "d8a1e8a3f8a5g8a7h6a9h7a11h9a13h10a15h11o1"

    assert squares("h8")[0] not in fouls(squares(stones))
