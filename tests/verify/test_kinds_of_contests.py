"""Contests of kinds that no other test exports: both verifiers and the independent reading accept each."""

import json
from pathlib import Path

import pytest

from judge.publish.verify.export import verify_export
from judge.tournament.standings import CRITERIA
from tests.contests import JOINING, LADDER, PAIR, SWISS, WITH_ZOE, Recipe, nothing
from tests.publish.cups import crasher
from tests.publish.public import change
from tests.verify.second_opinion import accepted

DRAWN = {"drawn": nothing}

ALL_CRITERIA = f"""\
name = "double-round-robin"
games = 1
ranking = {json.dumps([*CRITERIA])}"""

PONDERS = 'change = ["clock.ponder=true"]\n[slots]\ncores = 2'

CONTESTS = {
    # It has a bye in each round, an agent that is put out, and cancelled games.
    "a Swiss tournament": Recipe(
        "put-out", {**WITH_ZOE, "always": crasher("always", 0)}, SWISS, "[failures]\nlimit = 0.5\nafter = 4"
    ),
    # pydantic writes 0.00001 into contest.json, and the digest is over 1e-05.
    "small and large numbers": Recipe("numbers", PAIR, more="[failures]\nlimit = 0.00001\nafter = 99", options=DRAWN),
    "all criteria and a disqualified agent": Recipe(
        "ranked", form=ALL_CRITERIA, more="[failures]\nafter = 2\nlimit = 0.4"
    ),
    "agents that ponder": Recipe("ponder", PAIR, more=PONDERS, options=DRAWN),
    "a season whose moment has passed": Recipe(
        "past", form=f"{LADDER}\nends = 2013-01-01T00:00:00Z", more=JOINING.more, options=DRAWN
    ),
}


@pytest.mark.parametrize("kind", CONTESTS)
def test_contest_is_accepted(kind: str, tmp_path: Path) -> None:
    assert accepted(CONTESTS[kind].export(tmp_path)).is_over


def test_page_states_that_agents_ponder(tmp_path: Path) -> None:
    page = (CONTESTS["agents that ponder"].export(tmp_path).directory / "index.html").read_text()
    assert "Agents also think in the opponent&#39;s time, each on its own cores." in page


@pytest.mark.parametrize("cores", [[], [[1], []], [[1], [1]], [[1, 3], [3]], [[1], [9]], [[1, 3]]])
def test_cores_that_are_not_those_of_a_pondering_seat_are_found(cores: list[list[int]], tmp_path: Path) -> None:
    forged = CONTESTS["agents that ponder"].export(tmp_path)
    record = min((forged.directory / "records").iterdir())
    change(record, lambda file: file["record"]["placement"].update(seat_cores=cores))
    found = verify_export(forged.directory, forged.public_key).problems

    assert any("does not divide the slot's cores between the seats" in problem for problem in found), found
