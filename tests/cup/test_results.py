"""Results of a cup's leagues."""

from pathlib import Path

from judge.contest.contest import Contest
from judge.cup.results import CupResults, LeagueResults
from tests.publish.cups import Cast, Cup, crasher, player

CAST: Cast = {"anna": player("anna", 0.95), "bert": player("bert", 0.6), "broken": crasher("broken", 0)}


def test_an_agent_that_failed_in_each_game_gets_no_medal(tmp_path: Path) -> None:
    with Cup(tmp_path / "cup", CAST) as cup:
        cup.play()
        contest = Contest(cup.store, cup.planned).read()
    league = LeagueResults(name="one", contest=contest)

    assert [1, 2, 3] == [line.place for line in league.leaders]
    assert {"anna", "bert"} == {line.agent for line in league.podium}
    assert {"anna", "bert"} == {each.agent for each in CupResults("cup", "", [league]).medals}
