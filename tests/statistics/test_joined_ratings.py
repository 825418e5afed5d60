"""Contests on one scale: what joins them, what moves them, and what an agent's history has."""

import pytest

from judge.base.errors import InputError
from judge.statistics.rating_model import RatingModel
from judge.statistics.ratings import JoinedRatings, RatedContest, join_contests, rate
from tests.contest.rounds import games

PLAIN = RatingModel(advantage=0)


def contest(name: str, played: str, **programs: str) -> RatedContest:
    """A contest whose name is its time; an agent's files are called like it if nothing else is said."""
    results = games(played)
    names = {agent for row in results for agent in row.agents}
    return RatedContest(name, name, results, {agent: programs.get(agent, agent) for agent in sorted(names)})


def elos(joined: JoinedRatings) -> dict[str, float]:
    return {rating.agent: rating.elo for rating in joined.ratings.ratings}


LAST_YEAR = contest("2025", "anna>house*30 house>anna*10 bert>house*10 house>bert*30", anna="anna-1")
THIS_YEAR = contest("2026", "anna>house*36 house>anna*4 carl>house*20 house>carl*20", anna="anna-2")


def test_unchanged_files_join_two_contests_and_other_versions_make_a_history() -> None:
    """Carl and Bert never met: house, whose files are the same, stands between them."""
    joined = join_contests([THIS_YEAR, LAST_YEAR], {}, PLAIN)
    anna, house = (joined.histories[name] for name in ("anna", "house"))

    assert {0} == {rating.pool for rating in joined.ratings.ratings}
    assert elos(joined)["carl"] - elos(joined)["bert"] == pytest.approx(190, abs=15)
    assert [("2025", "anna-1", 40), ("2026", "anna-2", 40)] == [
        (version.contest, version.digest, version.games) for version in anna
    ]
    # 36 of 40 after 30 of 40, less what the prior takes.
    assert anna[1].rating.elo - anna[0].rating.elo == pytest.approx(163, abs=1)
    assert 2 == len(house)
    assert house[0].rating.elo == house[1].rating.elo


def test_an_agent_may_come_again_under_another_name_and_files_that_were_entered_twice_are_two() -> None:
    joined = join_contests([LAST_YEAR, contest("2027", "anne>dora*9 dora>anne*3", anne="anna-1")], {}, PLAIN)
    twins = contest("2026", "anna>bert*5 bert>anna*3", anna="same", bert="same")

    assert {0} == {rating.pool for rating in joined.ratings.ratings}
    assert "anne" in elos(joined)
    assert "anna" not in elos(joined)
    assert {"anna", "bert"} == set(elos(join_contests([twins], {}, PLAIN)))


def test_an_anchor_moves_its_pool_and_several_are_met_on_the_average() -> None:
    free, anchored, two = (
        elos(join_contests([LAST_YEAR], anchors, PLAIN))
        for anchors in ({}, {"house": 1600}, {"house": 1600, "bert": 1500})
    )

    assert 1600 == pytest.approx(anchored["house"])
    assert anchored["anna"] - anchored["bert"] == pytest.approx(free["anna"] - free["bert"])
    assert two["house"] + two["bert"] == pytest.approx(3100)


def test_pools_with_anchors_are_on_one_scale_and_an_anchor_is_one_program_that_played() -> None:
    apart = contest("2026", "eve>finn*20 finn>eve*20")
    free = join_contests([LAST_YEAR, apart], {}, PLAIN)
    anchored = join_contests([LAST_YEAR, apart], {"house": 1600, "finn": 1700}, PLAIN)

    assert {0, 1} == {rating.pool for rating in free.ratings.ratings}
    assert {0} == {rating.pool for rating in anchored.ratings.ratings}
    assert elos(anchored)["eve"] == pytest.approx(1700)
    with pytest.raises(InputError, match="zoe: did not play"):
        join_contests([LAST_YEAR], {"zoe": 1})
    with pytest.raises(InputError, match="anna: has 2 versions"):
        join_contests([LAST_YEAR, THIS_YEAR], {"anna": 1})


def test_one_contest_has_the_ratings_that_it_has_alone() -> None:
    alone = {rating.agent: rating.elo for rating in rate(LAST_YEAR.results, PLAIN).ratings}

    assert elos(join_contests([LAST_YEAR], {}, PLAIN)) == pytest.approx(alone)
