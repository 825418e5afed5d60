"""Contests of kinds that no other test exports: both verifiers and the independent reading accept each."""

from pathlib import Path

import pytest

from tests.contests import JOINING, LADDER, PAIR, SWISS, WITH_ZOE, Recipe, nothing
from tests.publish.cups import crasher
from tests.verify.second_opinion import accepted

DRAWN = {"drawn": nothing}

MANY_CRITERIA = """\
name = "double-round-robin"
games = 1
ranking = ["points", "ratio", "koya", "buchholz", "rating", "time"]"""

CONTESTS = {
    # It has a bye in each round, an agent that is put out, and cancelled games.
    "a Swiss tournament": Recipe(
        "put-out", {**WITH_ZOE, "always": crasher("always", 0)}, SWISS, "[failures]\nlimit = 0.5\nafter = 4"
    ),
    # pydantic writes 0.00001 into contest.json, and the digest is over 1e-05.
    "small and large numbers": Recipe("numbers", PAIR, more="[failures]\nlimit = 0.00001\nafter = 99", options=DRAWN),
    "many criteria and a disqualified agent": Recipe(
        "ranked", form=MANY_CRITERIA, more="[failures]\nafter = 2\nlimit = 0.4"
    ),
    "a season whose moment has passed": Recipe(
        "past", form=f"{LADDER}\nends = 2026-01-01T00:00:00Z", more=JOINING.more, options=DRAWN
    ),
}


@pytest.mark.parametrize("kind", CONTESTS)
def test_contest_is_accepted(kind: str, tmp_path: Path) -> None:
    assert accepted(CONTESTS[kind].export(tmp_path)).is_over
