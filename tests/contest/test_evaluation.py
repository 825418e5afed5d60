"""The rules of an evaluation: which games are played, when it ends, and what it says."""

from collections.abc import Callable

import pytest

from judge.contest.evaluation import Pool, StopRule, evaluate, evaluation_of, seat_of_version, verdict_words
from judge.contest_games import Outcome, SeatOutcome
from judge.record.policy import load_policy
from judge.record.spec import GameSpec, SeatSpec
from judge.statistics.sprt import PairedScores, Sprt

POLICY = load_policy("gomocup-freestyle:fast")


def seat(name: str) -> SeatSpec:
    digest = name.encode().hex().ljust(64, "0")
    return SeatSpec(name=name, digest=digest, command=("./x",), runtime="native", protocol="gomocup")


def pool(*names: str) -> Pool:
    return Pool(
        policy=POLICY,
        box="docker",
        openings=(((7, 7),), ((8, 8), (9, 9))),
        shuffle=True,
        transform=False,
        seed="ab" * 32,
        agents=tuple(map(seat, names)),
    )


UNHARMED = SeatOutcome(fault=None, replies=0, charged_ms=0.0)


def always(winner: str) -> Callable[[GameSpec], Outcome]:
    def play(spec: GameSpec) -> Outcome:
        at = next((at for at, each in enumerate(spec.seats) if each.name.startswith(winner)), 0)
        return Outcome("win", at, "", "", spec.id.ljust(64, "0"), 0.0, (UNHARMED, UNHARMED))

    return play


def test_two_candidates_meet_the_same_opponents_openings_and_seeds_with_both_colours() -> None:
    against = pool("one", "two")
    ours, theirs = ([against.pair(number, seat_of_version(seat(name))) for number in range(4)] for name in ("a", "b"))

    for our, their in zip(ours, theirs, strict=True):
        assert [spec.opening for spec in our] == [spec.opening for spec in their]
        assert [spec.seed for spec in our] == [spec.seed for spec in their]
        assert our[0].opening == our[1].opening
        assert our[0].seats == our[1].seats[::-1]
    assert ["one", "two", "one", "two"] == [first.seats[1].name for first, _ in ours]
    assert 8 == len({spec.seed for pair in ours for spec in pair})
    assert {((7, 7),), ((8, 8), (9, 9))} == {first.opening for first, _ in ours}


def test_candidate_stronger_than_its_parent_is_accepted_after_a_round_of_all() -> None:
    against, rule = pool("one", "two"), StopRule(test=Sprt(elo0=0, elo1=50), pairs=1000)
    seats = seat_of_version(seat("mine")), seat_of_version(seat("before"))

    *_, (scores, games) = evaluate(against, *seats, rule, always("mine"))

    found = evaluation_of("1", against, seats, rule, scores, games)
    assert "stronger than its parent, 95 %" == found.verdict
    assert 4 * scores.pairs == len(games)
    assert 0 == scores.pairs % 2
    assert 1 > found.low > 0


def test_an_evaluation_without_an_answer_ends_at_its_last_pair() -> None:
    rule = StopRule(test=Sprt(elo0=0, elo1=1), pairs=7)

    *_, (scores, _) = evaluate(pool("one", "two"), seat("mine"), None, rule, always("nobody"))

    assert 8 == scores.pairs
    assert "not decided against the pool in 16 games" == verdict_words(rule, scores)
    assert rule.is_over(scores)
    assert not rule.is_reached(scores)


@pytest.mark.parametrize(
    ("elo0", "elo1", "won", "words"),
    [
        (0, 50, True, "stronger than the pool, 95 %"),
        (5, 50, True, "more than 5 Elo stronger than the pool, 95 %"),
        (-10, 0, True, "less than 10 Elo weaker than the pool, 95 %"),
        (0, 50, False, "less than 50 Elo stronger than the pool, 95 %"),
        (-10, 0, False, "not stronger than the pool, 95 %"),
        (-20, -10, False, "more than 10 Elo weaker than the pool, 95 %"),
    ],
)
def test_wording_states_the_test_result(elo0: float, elo1: float, won: bool, words: str) -> None:
    rule = StopRule(test=Sprt(elo0=elo0, elo1=elo1), pairs=5000)

    assert words == verdict_words(rule, PairedScores.of(([1.0] if won else [0.0]) * 2000 + [0.5]))


def test_a_width_ends_it_when_the_interval_is_narrow_and_never_after_a_few_games() -> None:
    rule = StopRule(width=0.2, pairs=1000)

    assert not rule.is_over(PairedScores.of([1.0] * 19))
    assert rule.is_over(PairedScores.of([1.0] * 20))
    assert not rule.is_over(PairedScores.of([0.0, 1.0] * 40))
    assert rule.is_over(PairedScores.of([0.0, 1.0] * 50))
    assert "no difference from the pool shown" == verdict_words(rule, PairedScores.of([0.0, 1.0] * 50))
    assert "weaker than the pool, 95 %" == verdict_words(rule, PairedScores.of([0.0] * 30))


@pytest.mark.parametrize("with_parent", [True, False])
def test_pairs_that_all_end_even_end_no_evaluation(with_parent: bool) -> None:
    """Each opponent wins or loses both games against both, or each game goes to who sits first."""
    kinds = 9 if with_parent else 5
    even = PairedScores(tuple(400 if kind == kinds // 2 else 0 for kind in range(kinds)))
    one_differs = PairedScores(tuple(400 if kind == kinds // 2 else int(kind == kinds - 1) for kind in range(kinds)))
    rules = (StopRule(test=Sprt(elo0=0, elo1=200, model="logistic"), pairs=1000), StopRule(width=0.9, pairs=1000))

    for rule in rules:
        assert not rule.is_reached(even)
        assert rule.is_reached(one_differs)
    assert (True, False) == (even.are_even, one_differs.are_even)
    assert rules[0].is_reached(PairedScores(tuple(400 * (kind == kinds - 1) for kind in range(kinds))))
