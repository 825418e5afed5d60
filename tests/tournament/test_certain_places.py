"""The sentences about certainty: each situation has its own."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import pytest

from judge.contest_games import Pairing, PairResult
from judge.record.policy import load_policy
from judge.statistics.certainty import Reversal, assess_places
from judge.tournament.certain_places import StageCertainty, certain_places
from judge.tournament.results import PlayedPairing, points_table
from judge.tournament.schedule import Table
from judge.tournament.standings import compared, records_of, standings, tiers_of
from tests.contest.rounds import games

Results = Sequence[tuple[str, str, int, int, int]]


def stage(*results: tuple[str, str, int, int, int], rounds: int = 0, changes_place: bool = True) -> StageCertainty:
    found = assess_places(PairResult(*result) for result in results)
    assert found is not None
    return StageCertainty("", found, 0, (), rounds, changes_place)


CLEAR = ("a", "b", 500, 0, 100), ("b", "c", 500, 0, 100), ("a", "c", 590, 0, 10)
ONE_CERTAIN = ("a", "b", 18, 0, 6), ("a", "c", 20, 0, 4), ("b", "c", 14, 0, 10)
CLOSE = ("a", "b", 13, 0, 11), ("a", "c", 20, 0, 4), ("b", "c", 20, 0, 4)


TIED = ("a", "b", 10, 2, 10), ("a", "c", 15, 0, 5), ("b", "c", 15, 0, 5)
THREE_TIED = ("a", "b", 6, 0, 6), ("a", "c", 6, 0, 6), ("b", "c", 6, 0, 6)
MANY_TIED = [(*pair, 2, 0, 2) for pair in combinations("abcdefg", 2)]


@pytest.mark.parametrize(
    ("results", "said", "not_said"),
    [
        (CLEAR, ["All places are certain."], []),
        (ONE_CERTAIN, ["One of 3 places is certain.", "The first place of a is certain."], []),
        (CLOSE, ["a is the strongest agent with a probability of ", "It takes ", "One reversed game would change"], []),
        (
            TIED,
            [
                "2 agents share the first place: a, b.",
                "The games do not separate a and b: each is the stronger one with a probability of 50 %.",
            ],
            ["strongest", "to separate"],
        ),
        (
            THREE_TIED,
            [
                "3 agents share the first place: a, b, c.",
                "The games do not separate them: each is the strongest agent with a probability of about 33 %.",
            ],
            [],
        ),
        (MANY_TIED, ["7 agents share the first place: a, b, c, d, e, …."], []),
    ],
    ids=["clear", "one certain", "close", "tied", "three tied", "many tied"],
)
def test_sentences_of_each_situation(results: Results, said: list[str], not_said: list[str]) -> None:
    words = "\n".join(stage(*results).sentences())

    assert [] == [text for text in said if text not in words]
    assert [] == [text for text in not_said if text in words]


@pytest.mark.parametrize(
    ("results", "places", "brackets"),
    [
        (CLEAR, {"a": "1", "b": "2", "c": "3"}, []),
        (ONE_CERTAIN, {"a": "1", "b": "2-3", "c": "2-3"}, [(2, 3, ("b", "c"))]),
    ],
)
def test_uncertain_places_are_in_a_bracket(results: Results, places: dict[str, str], brackets: list[object]) -> None:
    found = stage(*results)

    assert places == found.places
    assert brackets == [(each.low, each.high, each.agents) for each in found.brackets]


def test_summary_begins_with_pairs_that_are_known_and_says_why_no_place_is_certain() -> None:
    """Four agents meet four times each: the first one wins all its games, the last one none."""
    pairs = [("a", "b", 4, 0, 0), ("a", "c", 4, 0, 0), ("a", "d", 4, 0, 0)]
    found = stage(*pairs, ("b", "c", 2, 0, 2), ("b", "d", 4, 0, 0), ("c", "d", 4, 0, 0))
    words = list(found.sentences())

    assert {("a", "c"), ("b", "d"), ("c", "d")} == {(lead.agent, lead.other) for lead in found.certainty.known}
    assert words[0].startswith("a is stronger than c: 9")
    at = words.index("None of the 4 places is certain.")
    assert words[at + 1].startswith("A place counts as certain only where all places together")


@pytest.mark.parametrize(("chance", "has_rule"), [(0.57, False), (0.98, True)])
def test_high_chance_of_an_open_first_place_is_followed_by_the_rule_of_certainty(chance: float, has_rule: bool) -> None:
    found = stage(*CLOSE)
    ranks = (replace(found.certainty.ranks[0], chance=chance), *found.certainty.ranks[1:])
    words = list(replace(found, certainty=replace(found.certainty, ranks=ranks)).sentences())

    at = words.index(f"a is the strongest agent with a probability of {round(100 * chance)} %.")
    assert has_rule == (words[at + 1] == "This probability is for the first place alone.")
    assert has_rule == words[at + 2].startswith("A place counts as certain only where all places together")


@pytest.mark.parametrize(
    ("share", "rounds", "drawn", "words"),
    [
        (0.3, 3, "", "One more round would"),
        (2.7, 1, "", "3 more rounds would"),
        (2.7, 10, "", "27 more rounds would"),
        (2.7, 0, "", "It takes 4 times as many games"),
        (200.5, 3, "", "It takes 202 times as many games"),
        (0.02, 0, "a=b*40", "One more game would"),
        (2.7, 0, "a=b*40", "108 more games would"),
    ],
)
def test_few_further_games_are_counted_in_rounds_or_games(share: float, rounds: int, drawn: str, words: str) -> None:
    found = replace(stage(*CLOSE, rounds=rounds), games=games(drawn))
    found = replace(found, certainty=replace(found.certainty, further_share=share))

    assert [words] == [sentence[: len(words)] for sentence in found.sentences() if "separate" in sentence]


def test_first_agent_that_is_rated_lower_is_not_called_equal() -> None:
    found = stage(*CLOSE)
    found = replace(found, certainty=replace(found.certainty, gap=-20.0, further_share=None))

    words = list(found.sentences())
    assert "By rating b is above a." in words
    assert not any("difference" in each for each in words)


@pytest.mark.parametrize(("changes_place", "what"), [(True, "first place"), (False, "best rating")])
def test_places_by_points_do_not_change_by_ratings(changes_place: bool, what: str) -> None:
    words = list(stage(*CLOSE, changes_place=changes_place).sentences())

    assert f"One reversed game would change the {what}." in words


def certain(text: str, ranking: tuple[str, ...] = ("points",)) -> StageCertainty:
    """A round robin of the games of `text`, scored by the default points."""
    played = []
    for number, pair in enumerate(combinations("abc", 2), 1):
        its_own = tuple(each for each in games(text) if set(each.agents) == set(pair))
        score = [sum(points_of(each)[each.agents.index(agent)] for each in its_own) for agent in pair]
        played.append(PlayedPairing(Pairing(*pair, number, 1), its_own, (score[0], score[1])))
    records = records_of("abc", played)
    lines = standings(tiers_of(compared("abc", records, ("points",))), records, dict.fromkeys("abc", ()))
    table = Table(ranking, tuple(lines), {})
    (found,) = certain_places(table, {}, played, {}, points=POINTS, is_running=False)
    return found


POINTS = points_table(load_policy("gomocup-freestyle"))
points_of = POINTS.of


def test_fewest_games_by_points_are_found_and_listed() -> None:
    """a has 9 points and b 6. A reversed game of both changes their difference by 2, any other one by 1."""
    text = "a>b*4 a<b*1 a>c*5 b>c*5 a<c*1 c>b*1"
    found = certain(text)

    assert (Reversal("a", "b", 2),) == found.certainty.reversals
    assert [("a", "b"), ("a", "b")] == [(game.winner, game.second) for game in found.reversed_games]
    assert "2 reversed games would change the first place." in list(found.sentences())
    # A ranking by rating counts by rating.
    assert all(certain(text, ranking).changes_place for ranking in (("rating",), ("elo", "wins")))
    assert not any(certain(text, ranking).changes_place for ranking in ((), ("wins",), ("wins", "elo")))


def test_games_against_others_count_once_and_equal_points_need_one_reversed_game() -> None:
    """All games of a and b were drawn, so only games against c can change their difference of one point."""
    found = certain("a=b*4 a>c*4 b>c*3 c>b*1")

    assert 1 == found.certainty.reversed_games
    assert "b" == found.certainty.new_first
    assert found.certainty.reversals[0] in (Reversal("a", "c", 1), Reversal("c", "b", 1))
    assert 1 == certain("a=b*4 a>c*4 b>c*4").certainty.reversed_games
