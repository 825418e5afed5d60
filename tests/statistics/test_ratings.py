"""Ratings against tables worked by hand, against the programs that the field uses, and by what they must never do."""

import math
import random
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from judge.contest_games import GameResult
from judge.games.types import Verdict
from judge.statistics.rating_model import BAYESELO_MODEL, RatingModel
from judge.statistics.ratings import Estimate, RatingList, rate
from judge.statistics.scales import ELO
from tests.contest.rounds import game, games
from tests.examples import examples, sized

PLAIN = RatingModel(advantage=0, draw_elo=0)
"""Bradley and Terry's own model, with the prior's two virtual draws."""

BARE = RatingModel(prior_draws=1e-9)
"""Everything estimated, and next to no prior."""

Draws = Literal["rao-kupper", "davidson"]
DRAWS: tuple[Draws, ...] = ("rao-kupper", "davidson")


def elos(rated: RatingList) -> dict[str, float]:
    return {rating.agent: rating.elo for rating in rated.ratings}


def margin(rated: RatingList) -> Estimate:
    assert rated.draw_elo is not None
    return rated.draw_elo


CONTESTS = sized(80, 400)


@pytest.mark.parametrize(
    ("played", "odds"),
    [
        # The two virtual draws of either, together two of the pair, count as two wins and two losses each way.
        ("a>b*4 a<b*1", 6 / 3),
        ("a<b*10", 2 / 12),
        ("a>b*5 b>a*5", 1),
        # A draw is a win and a loss where there is no margin.
        ("a=b*3 a>b*3", 8 / 5),
    ],
)
def test_two_agents_are_apart_by_the_logarithm_of_their_odds(played: str, odds: float) -> None:
    rated = elos(rate(games(played), PLAIN))

    assert rated["a"] - rated["b"] == pytest.approx(400 * math.log10(odds))
    assert rated["a"] + rated["b"] == pytest.approx(0)


def test_an_interval_of_two_agents_by_hand() -> None:
    """10:0 and the prior are 12 wins and 2 losses: information 14 * (12/14) * (2/14) = 12/7 on the difference, of which
    either rating is a half. 1.96 * sqrt(7/12) / 2 * 173.72 = 130.0 Elo around 155.6.
    """
    rated = rate(games("a>b*10"), PLAIN).of("a")

    assert rated.low is not None
    assert rated.elo == pytest.approx(200 * math.log10(6))
    assert rated.elo - rated.low == pytest.approx(1.959964 * math.sqrt(7 / 12) / 2 * ELO)


def test_advantage_and_margin_by_hand() -> None:
    """Two equals; the first seat wins 2 of 4, draws 1, loses 1. So 1 / (1 + 10 ** ((d - u) / 400)) = 1/2 gives d = u,
    and 1 / (1 + 10 ** (2 d / 400)) = 1/4 gives d = u = 200 log10 3: both are 95.42 Elo. Without an advantage the same
    results from one seat alone are the agent's own.
    """
    rated = rate(games("a>b*20 a=b*10 a<b*10 b>a*20 b=a*10 b<a*10"), BARE)
    of_one_seat = rate(games("a>b*20 a=b*10 a<b*10"), RatingModel(prior_draws=1e-9, advantage=0))

    assert elos(rated) == pytest.approx({"a": 0, "b": 0}, abs=1e-6)
    assert rated.advantage.elo == pytest.approx(200 * math.log10(3))
    assert margin(rated).elo == pytest.approx(200 * math.log10(3))
    assert 0 < rated.advantage.error < 60
    assert elos(of_one_seat)["a"] - elos(of_one_seat)["b"] == pytest.approx(200 * math.log10(3))
    assert 0 == of_one_seat.advantage.elo == of_one_seat.advantage.error


CROSSTABLE = """
a>b*6 a=b*1 a<b*3   a>c*8 a=c*1 a<c*1   a>d*9 a<d*1
b>a*5 b=a*2 b<a*3   b>c*6 b=c*2 b<c*2   b>d*8 b=d*1 b<d*1
c>a*3 c<a*7         c>b*5 c=b*1 c<b*4   c>d*7 c=d*1 c<d*2
d>a*1 d=a*1 d<a*8   d>b*2 d<b*8         d>c*4 d=c*1 d<c*5
"""


def test_ratings_are_those_of_bayeselo() -> None:
    """What Gomocup's BayesElo prints for this table after `offset 1600`, `mm`, `covariance`, `ratings`.

    Then `prior 0`, `mm 1 1`, `advantage`, `drawelo`, `ratings`. BayesElo prints ratings times a `scale`, which makes a
    draw-rich Elo as steep as one without draws: 0.984847 here.
    """
    rated, bare = (rate(games(CROSSTABLE), model) for model in (BAYESELO_MODEL, BARE))

    assert {"a": 1716, "b": 1664, "c": 1568, "d": 1452} == {agent: round(elo) for agent, elo in elos(rated).items()}
    reach = {r.agent: round(r.high - r.elo) for r in rated.ratings if r.high is not None}
    assert {"a": 69, "b": 65, "c": 65, "d": 73} == reach
    assert bare.advantage.elo == pytest.approx(69.2955, abs=0.005)
    assert margin(bare).elo == pytest.approx(42.9871, abs=0.005)
    scaled = {agent: round(0.984847 * elo) for agent, elo in elos(bare).items()}
    assert {"a": 142, "b": 76, "c": -37, "d": -181} == scaled


def test_without_draws_ratings_are_those_of_ordo() -> None:
    """`ordo -a 0 -W -z 200.2385` (the Elo of 76 %) on the decided games of the table."""
    rated = rate([played for played in games(CROSSTABLE) if not played.is_draw], BARE)

    assert elos(rated) == pytest.approx({"a": 156.581, "b": 90.521, "c": -46.134, "d": -200.968}, abs=0.01)
    assert rated.advantage.elo == pytest.approx(88.55, abs=0.05)
    assert 0 == margin(rated).elo


def test_davidson_s_ratings_are_at_the_maximum_of_its_likelihood() -> None:
    """The definition of the model, written down once more: no step in any direction leads higher."""
    played = games(CROSSTABLE)
    rated = rate(played, BARE.model_copy(update={"draws": "davidson"}))
    strength = elos(rated)
    nu = 2 * rated.draw_share / (1 - rated.draw_share)

    def height(moved: dict[str, float], advantage: float, nu: float) -> float:
        total = 0.0
        for each in played:
            first = 10 ** ((moved[each.first] + advantage) / 400)
            second = 10 ** (moved[each.second] / 400)
            drawn = nu * math.sqrt(first * second)
            share = {1.0: first, 0.5: drawn, 0.0: second}[each.scores[0]]
            total += math.log(share / (first + drawn + second))
        return total

    best = height(strength, rated.advantage.elo, nu)
    for step in (-0.1, 0.1):
        for agent in strength:
            assert height(strength | {agent: strength[agent] + step}, rated.advantage.elo, nu) < best
        assert height(strength, rated.advantage.elo + step, nu) < best
        assert height(strength, rated.advantage.elo, nu + step / 100) < best
    assert rated.draw_elo is None
    with pytest.raises(ValidationError, match="draw_elo"):
        RatingModel(draws="davidson", draw_elo=10)


@pytest.mark.parametrize(
    ("played", "expected"),
    [
        # b and c can be compared; a won everything, d nothing: only the prior says how far away they are.
        ("a>b*4 a>c*4 b>c*2 c>b*2 b>d*4 c>d*4", "a: low, b: both, c: both, d: high"),
        # b lost all games against better agents, and won all others.
        ("a>b*3 b>c*3 a>c*3", "a: low, b: none, c: high"),
        ("a>b*9 a=b", "a: both, b: both"),
        ("a>b*3 b>c*3 c>a*3", "a: both, b: both, c: both"),
    ],
)
def test_clean_scores_have_open_intervals(played: str, expected: str) -> None:
    """The ends that the intervals have."""
    names = {(True, True): "both", (True, False): "low", (False, True): "high", (False, False): "none"}
    ends = {each.agent: names[each.low is not None, each.high is not None] for each in rate(games(played)).ratings}
    assert expected == ", ".join(f"{agent}: {ends[agent]}" for agent in sorted(ends))


@pytest.mark.parametrize("draws", DRAWS)
@pytest.mark.parametrize("played", ["a>b*1000", "a=b*1000", "a>b*500 b>a*500", "a<b", "a=b"])
def test_nothing_is_infinite(played: str, draws: Draws) -> None:
    """All won, all drawn, all won from the first seat, a single game."""
    rated = rate(games(played), RatingModel(draws=draws))

    assert all(abs(rating.elo) < 3000 for rating in rated.ratings)
    assert 0 <= rated.draw_share < 1
    for estimate in (rated.advantage, *([rated.draw_elo] if rated.draw_elo else [])):
        assert abs(estimate.elo) < 3000
        assert 0 <= estimate.error < 3000


@pytest.mark.parametrize("draws", DRAWS)
@pytest.mark.parametrize(
    ("played", "advantage", "drawn"),
    [
        ("a>b*9 a<b b>a*4 b<a*5", (True, True), (False, False)),
        ("a=b*9 b=a*9", (False, False), (True, False)),
        ("a>b*9 b>a*9", (True, False), (False, False)),
        ("a<b*9 b<a*9", (False, True), (False, False)),
        ("a>b*9 b=a*9", (True, False), (True, True)),
        ("a>b*9 a<b*8 a=b b=a", (True, True), (True, True)),
    ],
)
def test_interval_limited_only_by_the_prior_is_open(
    played: str, advantage: tuple[bool, bool], drawn: tuple[bool, bool], draws: Draws
) -> None:
    """No lower end if the first seat won no game, no upper one if it lost none; none of draws that never came, and no
    upper one of draws alone."""
    rated = rate(games(played), RatingModel(draws=draws))

    of = rated.advantage
    assert advantage == (of.low is not None, of.high is not None)
    assert drawn == (rated.draw_low is not None, rated.draw_high is not None)
    for low, value, high in ((of.low, of.elo, of.high), (rated.draw_low, rated.draw_share, rated.draw_high)):
        assert math.isfinite(value)
        assert -math.inf < (value if low is None else low) <= value <= (value if high is None else high) < math.inf
    if rated.draw_elo is not None:
        assert drawn == (rated.draw_elo.low is not None, rated.draw_elo.high is not None)


@pytest.mark.slow
def test_the_intervals_of_both_models_have_the_draws_of_equals() -> None:
    """In contests of equals who draw 30 games of 100, in all but about one of twenty."""
    chance, inside = random.Random(1), dict.fromkeys(DRAWS, 0)
    for _ in range(CONTESTS):
        kinds = chance.choices(["a>b", "a=b", "a<b", "b>a", "b=a", "b<a"], [35, 30, 35, 35, 30, 35], k=100)
        for draws in DRAWS:
            rated = rate(games(" ".join(kinds)), RatingModel(draws=draws))
            inside[draws] += (rated.draw_low or 0) <= 0.3 <= (rated.draw_high or 1)

    assert all(count / CONTESTS == pytest.approx(0.95, abs=0.7 / CONTESTS**0.5) for count in inside.values()), inside


def test_pools_without_common_games_are_separated() -> None:
    """Each has its own mean, the larger one comes first, and none depends on the other."""
    rated = rate(games("x>y*3 a>b*2 b>c a>c"), BAYESELO_MODEL)

    assert {"a": 0, "b": 0, "c": 0, "x": 1, "y": 1} == {r.agent: r.pool for r in rated.ratings}
    assert ["a", "b", "c", "x", "y"] == [rating.agent for rating in rated.ratings]
    alone = [elos(rate(games(pool), BAYESELO_MODEL)) for pool in ("a>b*2 b>c a>c", "x>y*3")]
    assert elos(rated) == pytest.approx(alone[0] | alone[1])
    assert [3 * 1600, 2 * 1600] == pytest.approx([sum(pool.values()) for pool in alone])


def test_game_lost_by_both_does_not_affect_strength_and_agents_without_games_have_no_rating() -> None:
    both_bad = GameResult("a", "b", None, Verdict.ILLEGAL, faults=(Verdict.ILLEGAL, Verdict.ILLEGAL))
    rated = rate([*games("a>b*2"), both_bad])

    assert elos(rated) == elos(rate(games("a>b*2")))
    assert 2 == rated.of("a").games
    assert () == rate([]).ratings
    with pytest.raises(KeyError):
        rated.of("c")


NAMES = "abcdef"
SOME_GAMES = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.sampled_from("<>=")).filter(
        lambda played: played[0] != played[1]
    ),
    min_size=1,
    max_size=30,
).map(lambda drawn: [game(first + sign + second) for first, second, sign in drawn])


@settings(deadline=None, max_examples=examples(60))
@given(SOME_GAMES, st.permutations(NAMES))
def test_names_and_the_order_of_games_do_not_matter(played: list[GameResult], names: list[str]) -> None:
    new = dict(zip(NAMES, names, strict=True))
    renamed = [
        game(new[each.first] + ("=" if each.is_draw else ">" if each.winner == each.first else "<") + new[each.second])
        for each in reversed(played)
    ]
    after = rate(renamed)

    for rating in rate(played).ratings:
        again = after.of(new[rating.agent])
        assert again.elo == pytest.approx(rating.elo, abs=1e-5)
        assert (again.low is None, again.high is None) == (rating.low is None, rating.high is None)
        assert again.low == pytest.approx(rating.low, abs=1e-3)


@settings(deadline=None, max_examples=examples(60))
@given(SOME_GAMES, st.data())
def test_a_better_result_never_lowers_a_rating(played: list[GameResult], data: st.DataObject) -> None:
    """A loss that becomes a win: the winner rises against everybody of its pool, the loser falls."""
    at = data.draw(st.integers(0, len(played) - 1))
    first, second = played[at].first, played[at].second
    lost, won = (elos(rate([*played[:at], game(f"{first}{sign}{second}"), *played[at + 1 :]], PLAIN)) for sign in "<>")

    rise = {agent: elo - lost[agent] for agent, elo in won.items()}
    assert rise[first] > 0 > rise[second]
    assert rise[first] == pytest.approx(max(rise.values()))
    assert rise[second] == pytest.approx(min(rise.values()))


@settings(deadline=None, max_examples=examples(60))
@given(SOME_GAMES)
def test_every_end_is_finite_and_on_its_side(played: list[GameResult]) -> None:
    for rating in rate(played).ratings:
        assert math.isfinite(rating.elo)
        assert rating.low is None or rating.low < rating.elo
        assert rating.high is None or rating.elo < rating.high
        scores = [each.scores[each.agents.index(rating.agent)] for each in played if rating.agent in each.agents]
        assert (len(scores), sum(scores)) == (rating.games, rating.score)
