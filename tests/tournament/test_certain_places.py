"""The sentences about certainty: each situation has its own."""

from dataclasses import replace

import pytest

from judge.statistics.bayeselo import PairResult
from judge.statistics.certainty import assess_places
from judge.tournament.certain_places import StageCertainty


def stage(*results: tuple[str, str, int, int, int], rounds: int = 0, by_rating: bool = True) -> StageCertainty:
    found = assess_places(PairResult(*result) for result in results)
    assert found is not None
    return StageCertainty("", found, 0, (), rounds, by_rating)


CLEAR = ("a", "b", 500, 0, 100), ("b", "c", 500, 0, 100), ("a", "c", 590, 0, 10)
CLOSE = ("a", "b", 13, 0, 11), ("a", "c", 20, 0, 4), ("b", "c", 20, 0, 4)


def test_all_places_are_certain() -> None:
    words = list(stage(*CLEAR).sentences())

    assert "All places are certain." == words[0]
    assert not stage(*CLEAR).brackets
    assert {"a": "1", "b": "2", "c": "3"} == stage(*CLEAR).places


def test_certain_first_place_is_named() -> None:
    found = stage(("a", "b", 18, 0, 6), ("a", "c", 20, 0, 4), ("b", "c", 14, 0, 10))

    assert ["One of 3 places is certain.", "The first place of a is certain."] == list(found.sentences())[:2]
    assert {"a": "1", "b": "2-3", "c": "2-3"} == found.places
    assert [(2, 3, ("b", "c"))] == [(each.low, each.high, each.agents) for each in found.brackets]


def test_open_first_place_has_a_chance_and_the_games_that_decide_it() -> None:
    words = list(stage(*CLOSE).sentences())

    assert words[1].startswith("a is the strongest agent with a probability of ")
    assert words[2].startswith("It takes ")
    assert "One reversed game would change the first place." in words


@pytest.mark.parametrize(
    ("share", "rounds", "words"),
    [
        (0.3, 3, "One more round would"),
        (2.7, 1, "3 more rounds would"),
        (2.7, 10, "27 more rounds would"),
        (2.7, 0, "It takes 4 times as many games"),
        (200.5, 3, "It takes 202 times as many games"),
    ],
)
def test_few_further_games_are_counted_in_rounds(share: float, rounds: int, words: str) -> None:
    found = stage(*CLOSE, rounds=rounds)
    found = replace(found, certainty=replace(found.certainty, further_share=share))

    assert [words] == [sentence[: len(words)] for sentence in found.sentences() if "separate" in sentence]


def test_equal_first_agents_have_no_further_games() -> None:
    found = stage(("a", "b", 10, 2, 10), ("a", "c", 15, 0, 5), ("b", "c", 15, 0, 5))

    assert "The games do not show a difference between a and b." in list(found.sentences())


def test_places_by_points_do_not_change_by_ratings() -> None:
    words = list(stage(*CLOSE, by_rating=False).sentences())

    assert "One reversed game would change the best rating." in words
