"""Contests of kinds that no other test exports: both verifiers and the independent reading accept each."""

import json
from html import unescape
from pathlib import Path

import pytest

from judge.contest_view.export import DOCUMENT
from judge.protocols.time_control import parse_controls
from judge.publish.verify.export import verify_export
from judge.record.spec import read_record
from judge.tournament.standings import CRITERIA
from tests.contests import JOINING, LADDER, PAIR, SWISS, WITH_ZOE, Recipe, nothing
from tests.publish.cups import crasher
from tests.publish.public import change, sign_again
from tests.verify.second_opinion import accepted

DRAWN = {"drawn": nothing}

ALL_CRITERIA = f"""\
name = "double-round-robin"
games = 1
ranking = {json.dumps([*CRITERIA])}"""

PONDERS = 'change = ["clock.ponder=true"]\n[slots]\ncores = 2'

SLOW, FAST = PAIR
ODDS = "9/40:20"
"""The clock of an agent."""
CLOCKS = f'change = ["clock.control=60,50"]\n[clocks]\n{SLOW} = "{ODDS}"'

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
    "an agent with its own clock": Recipe("odds", PAIR, more=CLOCKS, options=DRAWN),
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


def test_clock_follows_its_agent_to_both_seats_and_is_on_the_pages(tmp_path: Path) -> None:
    public = CONTESTS["an agent with its own clock"].export(tmp_path)
    index, first, second, game = (
        unescape((public.directory / f"{page}.html").read_text())
        for page in ("index", "agents/001", "agents/002", "games/00001")
    )
    assert f"first player 1 min a game; second player 50 s a game; {SLOW} {ODDS}: 40 s for 9 moves, then 20 s" in index
    assert [True, False] == ["40 s for 9 moves" in agent for agent in (first, second)]
    assert "40 s for 9 moves, then 20 s for the rest" in game
    specs = [read_record(path).record.spec for path in (public.directory / "records").iterdir()]
    controls = {(*(seat.name for seat in spec.seats), spec.policy.clock.control) for spec in specs}
    assert {(SLOW, FAST, f"{ODDS},50"), (FAST, SLOW, f"60,{ODDS}")} == controls
    assert {SLOW: ODDS} == json.loads((public.directory / DOCUMENT).read_bytes())["clocks"]


@pytest.mark.parametrize("cores", [[], [[1], []], [[1], [1]], [[1, 3], [3]], [[1], [9]], [[1, 3]]])
def test_cores_that_are_not_those_of_a_pondering_seat_are_found(cores: list[list[int]], tmp_path: Path) -> None:
    forged = CONTESTS["agents that ponder"].export(tmp_path)
    record = min((forged.directory / "records").iterdir())
    change(record, lambda file: file["record"]["placement"].update(seat_cores=cores))
    found = verify_export(forged.directory, forged.public_key).problems

    assert any("does not divide the slot's cores between the seats" in problem for problem in found), found


@pytest.mark.parametrize("other", ["60,50", "60,9/40:21", ODDS])
def test_game_under_another_clock_than_the_contests_is_found(other: str, tmp_path: Path) -> None:
    forged = CONTESTS["an agent with its own clock"].export(tmp_path)
    match_ms = max(each.total_ms or 0 for each in parse_controls(other))
    limits = {"turn_ms": 2**31 - 1, "match_ms": match_ms, "control": other}
    record = min((forged.directory / "records").iterdir())
    change(record, lambda file: file["record"]["spec"]["policy"]["clock"].update(limits))
    sign_again(forged)
    found = verify_export(forged.directory, forged.public_key).problems

    assert any("a record of another game than the scheduled one" in problem for problem in found), found


def test_other_clocks_in_the_terms_are_found(tmp_path: Path) -> None:
    forged = CONTESTS["an agent with its own clock"].export(tmp_path)
    change(forged.directory / DOCUMENT, lambda document: document.update(clocks={SLOW: "60"}))
    sign_again(forged)

    assert verify_export(forged.directory, forged.public_key).problems
