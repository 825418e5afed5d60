"""Contests in which an agent has its own clock (time odds)."""

import json
from html import unescape
from pathlib import Path

import pytest

from judge.contest_view.export import DOCUMENT
from judge.protocols.time_control import parse_controls
from judge.publish.verify.export import verify_export
from judge.record.spec import read_record
from tests.contests import PAIR, Recipe, nothing
from tests.publish.public import Public, change, sign_again
from tests.verify.second_opinion import accepted

SLOW, FAST = PAIR
OWN = "9/40:20"
PLAN = f'change = ["clock.control=60,50"]\n[clocks]\n{SLOW} = "{OWN}"'


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Public:
    recipe = Recipe("odds", PAIR, more=PLAN, options={"drawn": nothing})
    return recipe.export(tmp_path_factory.mktemp("odds"))


def test_a_clock_follows_its_agent_to_both_seats(exported: Public) -> None:
    controls = set()
    for path in (exported.directory / "records").iterdir():
        spec = read_record(path).record.spec
        names = tuple(seat.name for seat in spec.seats)
        controls.add((names, spec.policy.clock.control))

    assert {((SLOW, FAST), f"{OWN},50"), ((FAST, SLOW), f"60,{OWN}")} == controls
    assert {SLOW: OWN} == json.loads((exported.directory / DOCUMENT).read_bytes())["clocks"]


def test_both_verifiers_accept_it_and_pages_show_it(exported: Public) -> None:
    accepted(exported)
    index = unescape((exported.directory / "index.html").read_text())
    assert f"first player 1 min a game; second player 50 s a game; {SLOW} {OWN}: 40 s for 9 moves, then 20 s" in index
    agents = ["40 s for 9 moves" in (exported.directory / f"agents/00{number}.html").read_text() for number in (1, 2)]
    assert [True, False] == agents
    game = unescape((exported.directory / "games/00001.html").read_text())
    assert "40 s for 9 moves, then 20 s for the rest" in game


@pytest.mark.parametrize("other", ["60,50", "60,9/40:21", OWN])
def test_a_game_under_another_clock_than_the_contests_is_found(exported: Public, other: str, tmp_path: Path) -> None:
    forged = exported.copy_to(tmp_path)
    controls = parse_controls(other)
    limits = {"turn_ms": 2**31 - 1, "match_ms": max(each.total_ms or 0 for each in controls), "control": other}
    record = min((forged.directory / "records").iterdir())
    change(record, lambda file: file["record"]["spec"]["policy"]["clock"].update(limits))
    sign_again(forged)
    found = verify_export(forged.directory, forged.public_key).problems

    assert any("a record of another game than the scheduled one" in problem for problem in found), found


def test_other_clocks_in_the_terms_are_found(exported: Public, tmp_path: Path) -> None:
    forged = exported.copy_to(tmp_path)
    change(forged.directory / DOCUMENT, lambda document: document.update(clocks={SLOW: "60"}))
    sign_again(forged)

    assert verify_export(forged.directory, forged.public_key).problems
