"""Standings worked by hand, criterion by criterion."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from judge.contest_games import GameResult, Pairing
from judge.games.types import Verdict
from judge.record.policy import load_policy
from judge.tournament.results import Duel, PlayedPairing, Scoring, SideScore, points_table, score
from judge.tournament.standings import (
    BY_POINTS,
    BY_SWISS_POINTS,
    Cell,
    Ranking,
    TableLine,
    Tiers,
    compared,
    crosstable,
    records_of,
    standings,
    tiers_of,
)
from tests.contest.rounds import games

TABLE = points_table(load_policy("gomocup-freestyle"))

GOMOCUP_2016 = ("points", "ratio", "direct", "time")
"""Gomocup until 2016, with a duel's points."""


def played(text: str, due: int = 1, duel: Duel | None = None) -> list[PlayedPairing]:
    """Pairings of a line each, such as `a>b a=b`; `a` alone has a bye; a round for each."""
    found: list[PlayedPairing] = []
    for number, line in enumerate(text.strip().splitlines(), 1):
        words = line.split()
        if words[0].isalpha():
            pairing = Pairing(words[0], None, number, 1)
            results: list[GameResult] = []
        else:
            results = games(line)
            pairing = Pairing(results[0].first, results[0].second, number, 1)
        points = Scoring(TABLE, duel).of(pairing, results, due)
        found.append(PlayedPairing(pairing, tuple(results), points, due=due))
    return found


def order(names: str, all_played: Sequence[PlayedPairing], *ranking: str) -> Tiers:
    return tiers_of(compared(names, records_of(names, all_played), ranking))


def table(names: str, all_played: Sequence[PlayedPairing], *ranking: str) -> list[TableLine]:
    records = records_of(names, all_played)
    values = compared(names, records, ranking)
    return standings(tiers_of(values), records, values)


FOUR = "a>c\na>d\nb>a\nb>d\nc>b\nd>c"
"""a (beat c, d) and b (beat a, d) have 2 points, c (beat b) and d (beat c) have 1."""

ELO = "a>d*4\nb>a\nb>c c>b"
"""a has most points, all from d; b beat a, and c is as good as b."""


@pytest.mark.parametrize(
    ("cup", "ranking", "expected"),
    [
        # Each of four won one game, drew one and lost one.
        ("a>b\na=c\na<d\nb>c\nb=d\nc>d", " ".join(BY_POINTS), "abcd"),
        (FOUR, "points", "ab cd"),
        (FOUR, "points direct", "b a d c"),
        # a has 1 + 1 = 2, b 2 + 1 = 3, c 2, d 1.
        (FOUR, "points sonneborn-berger", "b a c d"),
        # a, b and c have 2 points each; among them a won 2, b 1 and c none.
        ("a>b\na>c\nb>c\nb>x\nc>x\nc>y\nx>a\ny>x", "points", "abc"),
        ("a>b\na>c\nb>c\nb>x\nc>x\nc>y\nx>a\ny>x", "points direct", "a b c"),
        # a beat b, and c met neither: the direct encounter is silent.
        ("a>b\nx>a\nb>x\nc>x", "points direct", "abc"),
        (ELO, "points", "a b c d"),
        # Agents without games are last.
        (ELO, "elo", "bc a d z"),
        (ELO, "rating", "bc a d z"),
        ("", "rating", "yz"),
        # In a cycle all are equal, up to rounding errors of the iteration.
        ("a>b a>b\nb>c b>c\nc>d c>d\nd>e d>e\ne>a e>a", "rating", "abcde"),
    ],
)
def test_agents_that_are_equal_by_all_criteria_share_a_place(cup: str, ranking: str, expected: str) -> None:
    names = sorted(expected.replace(" ", ""))
    assert [list(tier) for tier in expected.split()] == order("".join(names), played(cup, due=4), *ranking.split())


@pytest.mark.parametrize(
    ("cup", "ranking", "criterion", "expected"),
    [
        ("a>b\na=c\na<d\nb>c\nb=d\nc>d", ("points", "sonneborn-berger"), 1, dict.fromkeys("abcd", 2.25)),
        # a, b and c have 2 of 3 points and d none, so only the points among a, b and c count.
        ("a>b\nb>c\nc>a\na>d\nb>d\nc>d", ("points", "koya"), 1, {"a": 1, "b": 1, "c": 1, "d": 0}),
        # d has 2.5 of 5 points, so the points against it count too.
        ("a>b\nb>c\nc>a\na>d\nb=d\nc>d\nd>x\nd>y", ("koya",), 0, {"a": 2, "b": 1.5, "c": 2, "d": 0.5}),
        # b beat a, and d beat c. After Sonneborn-Berger no agent is equal to another one.
        (FOUR, ("points", "direct"), 1, {"a": 0, "b": 1, "c": 0, "d": 1}),
        (FOUR, ("points", "sonneborn-berger", "direct"), 2, dict.fromkeys("abcd", 0)),
        # a beat b (1 point) and had a bye: 1 + 2. c beat d (0) and e (1).
        ("a>b\nb>d\na\nc>d\nc>e\ne", BY_SWISS_POINTS, 1, {"a": 3, "c": 1}),
        # a: a win against b (1 point), and one against an opponent with 2 points.
        ("a>b\nb>d\na\nc>d\nc>e\ne", ("points", "sonneborn-berger"), 1, {"a": 3, "c": 1, "b": 0, "d": 0, "e": 1}),
    ],
)
def test_values_of_a_criterion(cup: str, ranking: tuple[str, ...], criterion: int, expected: dict[str, float]) -> None:
    lines = table("abcde"[: 5 if "e" in cup else 4], played(cup), *ranking)

    assert expected == {line.agent: line.values[criterion] for line in lines if line.agent in expected}


def test_a_bye_is_counted_and_gives_the_points_of_a_win() -> None:
    lines = table("abcde", played("a>b\nb>d\na\nc>d\nc>e\ne"), *BY_SWISS_POINTS)

    assert [("a", 2), ("c", 2)] == [(line.agent, line.values[0]) for line in lines[:2]]
    assert {"a": 1, "b": 0, "c": 0, "d": 0, "e": 1} == {line.agent: line.byes for line in lines}


def test_a_bye_of_several_games_wins_all_of_them_against_an_equal_opponent() -> None:
    """a has 1.5 + 2 points, and 1.5 against b with 0.5 points."""
    lines = table("ab", played("a=b a>b\na", due=2), "points", "buchholz", "sonneborn-berger")

    assert (3.5, 0.5 + 3.5, 1.5 * 0.5 + 2 * 3.5) == lines[0].values


def test_gomocup_until_2016() -> None:
    """Duels of two games: a beats b 2:0, b beats c 2:0, the other four end 1:1.

    a: 3 + 1 + 1 = 5 points. b: 0 + 3 + 1 = 4. c: 1 + 0 + 1 = 2. d: 1 + 1 + 1 = 3.
    """
    cup = played("a>b b<a\na>c c>a\nb>c c<b\na>d d>a\nb>d d>b\nc>d d>c", due=2, duel=Duel())
    lines = table("abcd", cup, *GOMOCUP_2016)

    assert [("a", 5), ("b", 4), ("d", 3), ("c", 2)] == [(line.agent, line.points) for line in lines]
    assert SideScore(wins=4, losses=2) == lines[0].done


def test_gomocup_until_2016_breaks_ties_by_the_ratio_of_games() -> None:
    """a and b drew their duel 1:1 and won the other one, a 2:0 and b 1:0 with a draw: a won 3 games and lost 1, b 2 and
    1.
    """
    cup = played("a>b b>a\na>c c<a\nb>c c=b", due=2, duel=Duel())

    assert [["a", "b"], ["c"]] == order("abc", cup, "points", "direct")
    assert [["a"], ["b"], ["c"]] == order("abc", cup, *GOMOCUP_2016)


@pytest.mark.parametrize(("replies", "expected"), [((10, 20), "b a"), ((0, 20), "ab")])
def test_the_time_of_a_reply_decides_last(replies: tuple[int, int], expected: str) -> None:
    """10 replies in 200 ms are slower than 20 in 300 ms, though they took less time."""
    [drawn] = played("a=b")
    timed = drawn.games[0]._replace(replies=replies, charged_ms=(200, 300))
    slow = PlayedPairing(drawn.pairing, (timed,), drawn.points)
    assert [list(tier) for tier in expected.split()] == order("ab", [slow], *GOMOCUP_2016)


def rating_values(names: str, all_played: Sequence[PlayedPairing]) -> dict[str, float]:
    return {agent: value for agent, (value,) in compared(names, records_of(names, all_played), ("rating",)).items()}


def test_rating_criterion_ignores_games_that_both_lost() -> None:
    both = GameResult("a", "c", None, Verdict.ILLEGAL, faults=(Verdict.ILLEGAL, Verdict.ILLEGAL))
    lost = PlayedPairing(Pairing("a", "c", 9, 1), (both,), (0, 0))
    cup = played("a>b\nb>c")

    assert rating_values("abc", cup) == rating_values("abc", [*cup, lost])


def test_ratings_less_than_a_hundredth_apart_are_one_value_and_the_next_criterion_decides() -> None:
    cup = played("a>b a>b\nb>c b>c\nc>d c>d\nd>e d>e\ne>a e>a", due=2)

    assert 1 == len(set(rating_values("abcde", cup).values()))
    assert [["e"], ["a"]] == order("ae", [*cup, *played("a=e\n")], "rating", "direct")[:2]


def test_agents_without_games_have_no_rating_and_are_below_negative_ones() -> None:
    """Each of a chain is 570 Elo better than the next one."""
    assert 0 == rating_values("abz", played("a>b"))["z"]
    chain = "\n".join(f"{one}>{other}*99" for one, other in zip("abcdefgh", "bcdefghi", strict=True))
    values = rating_values("abcdefghiz", played(chain, due=99))
    assert values["z"] < values["i"] < 0


def test_progress_line_counts_events() -> None:
    """A game that both lost is a loss of both, and a failure of both."""
    both = GameResult("a", "b", None, Verdict.ILLEGAL, faults=(Verdict.ILLEGAL, Verdict.ILLEGAL), replies=(3, 4))
    pairing = Pairing("a", "b", 1, 1)
    one = score([pairing], [both], Scoring(TABLE), games=1)
    [first, second] = table("ab", one, "points")

    assert SideScore(losses=1, failures=1, replies=3) == first.done
    assert SideScore(losses=1, failures=1, replies=4) == second.done
    assert (1, 1) == (first.place, second.place)


def test_a_shared_place_leaves_the_next_ones_out_and_a_crosstable_is_from_the_row_s_side() -> None:
    assert [1, 2, 2, 4] == [line.place for line in table("abcd", played("a>d\nb=c"), "points")]
    assert {
        "a": {"b": Cell(2.5, SideScore(wins=2, draws=1))},
        "b": {"a": Cell(0.5, SideScore(draws=1, losses=2)), "c": Cell(1, SideScore(wins=1))},
        "c": {"b": Cell(0, SideScore(losses=1))},
    } == crosstable("abc", played("a>b b=a a>b\nb>c", due=3))


def test_an_unknown_criterion_is_named() -> None:
    with pytest.raises(ValidationError, match="unknown criterion 'luck'; choose among points"):
        TypeAdapter(Ranking).validate_python(("points", "luck"))


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("abcde"), st.sampled_from("abcde"), st.sampled_from("<>=")).filter(
            lambda one: one[0] != one[1]
        ),
        max_size=12,
    ),
    st.permutations(["points", "wins", "ratio", "direct", "sonneborn-berger", "buchholz", "koya"]),
)
def test_every_agent_has_one_place_whatever_is_asked(drawn: list[tuple[str, str, str]], ranking: list[str]) -> None:
    """And games in another order change nothing."""
    lines = [first + sign + second for first, second, sign in drawn]
    tiers = order("abcde", played("\n".join(lines)), *ranking)

    assert list("abcde") == sorted(agent for tier in tiers for agent in tier)
    assert tiers == order("abcde", played("\n".join(reversed(lines))), *ranking)
