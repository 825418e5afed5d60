"""The C that house agents find renju's fouls with agrees with the published positions."""

import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from judge.base.resources import IMAGES
from judge.host.compilers import compile_static
from tests.games.renju_reference import VECTORS
from tests.house_agents.talk import Square, Talk, squares


@pytest.fixture(scope="module")
def lister(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    """Prints the points that renju forbids Black, for stones on a line."""
    program = tmp_path_factory.mktemp("fouls") / "list-fouls"
    parts = [IMAGES / "house-five" / f"{name}.c" for name in ("board", "fouls", "shapes")]
    compile_static([Path(__file__).parent / "list_fouls.c", *parts], program)
    with closing(Talk(subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE))) as talk:
        yield talk


def fouls(lister: Talk, stones: str) -> list[Square]:
    lister.say(stones)
    return sorted(squares(lister.hear()))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["moves"][:12])
def test_every_published_position_has_its_fouls_and_no_others(lister: Talk, vector: dict[str, Any]) -> None:
    assert sorted(squares("".join(vector["forbidden"]))) == fouls(lister, vector["moves"])


def test_a_five_is_no_foul_even_with_an_overline(lister: Talk) -> None:
    """d8 to g8 and h8 make five, and h6 to h11 six: the five counts."""
    assert squares("h8")[0] not in fouls(lister, "d8a1e8a3f8a5g8a7h6a9h7a11h9a13h10a15h11o1")
