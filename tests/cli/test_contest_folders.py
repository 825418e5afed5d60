"""Folders that agents keep through a contest, in real containers: each game starts from what the one before left."""

import json
from pathlib import Path

import pytest

from judge.contest.contest import Contest, open_store
from judge.contest.plan import load_plan
from judge.sandbox.images import build
from tests.cli.conftest import Judge
from tests.cli.contests import write_contest
from tests.cli.test_folders import remains, write

PAUSES = (
    "clock.turn_ms=4000",
    "clock.tolerance_ms=200",
    "clock.courtesy_ms=300",
    "clock.starved_share=1",
)


@pytest.mark.docker
def test_each_game_finds_what_the_agent_s_game_before_it_left(judge: Judge, tmp_path: Path) -> None:
    """Three agents that count their games; then a game is void, and its replay starts from the game before it."""
    build(["native", "python", "keeper"])
    cup = tmp_path / "cup"
    cup.mkdir()
    write(cup, pause=0)
    write_contest(cup, ["pbrain-count.py"] * 3, games=2, change=PAUSES)

    ran = judge("contest", "run", "cup")

    assert 0 == ran.code, ran.err
    in_order = [f"{number} of the run, {number} ever" for number in range(4)]
    everybody = {f"agent-{number}": in_order for number in (1, 2, 3)}
    assert everybody == counted(cup)
    assert 0 == judge("contest", "void", "3", "cup", "--why", "the wrong opening").code
    again = judge("contest", "run", "cup")
    assert [(3, 2)] == [
        (each["game"], each["attempt"]) for each in map(json.loads, again.out.splitlines())
    ]
    assert everybody == counted(cup)
    assert [] == remains()


def counted(folder: Path) -> dict[str, list[str]]:
    """What each agent found in its folders, in the order of the schedule."""
    planned = load_plan(folder)
    store = open_store(planned)
    found: dict[str, list[str]] = {}
    try:
        contest = Contest(store, planned)
        for result in contest.results():
            for seat in contest.record(result.ended.record).record.seats:
                found.setdefault(seat.name, []).append(seat.about["name"])
    finally:
        store.close()
    return found
