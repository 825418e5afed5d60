"""What pairs of games say of a candidate, alone and beside its parent."""

import numpy as np
import pytest

from judge.statistics.match_estimate import MatchCounts, estimate_match
from judge.statistics.scales import expected_score
from judge.statistics.sprt import DIFFERENCES, PairedScores, Sprt, SprtDecision

SCORES = [0.0, 0.25, 0.5, 0.5, 0.75, 0.75, 1.0, 1.0]


def test_pairs_alone_are_the_pairs_of_any_test() -> None:
    test = Sprt(elo0=0, elo1=30)
    scores = PairedScores.of(SCORES)
    same = MatchCounts(scores.counts, None)

    assert (1, 1, 2, 2, 2) == scores.counts
    assert test.state(same) == scores.state(test)
    estimate = estimate_match(same)
    assert estimate is not None
    assert pytest.approx(estimate.score) == scores.interval[0]


def test_parent_with_the_same_results_is_equal_and_differences_between_opponents_do_not_count() -> None:
    scores = PairedScores.of(SCORES, SCORES)

    assert (0, 0, 0, 0, 8, 0, 0, 0, 0) == scores.counts
    mean, low, high = scores.interval
    assert 0 == mean
    assert low < 0 < high
    # The interval of pairs that are all won ends at a score of one.
    mean, low, high = PairedScores.of([1.0] * 10).interval
    assert (1, 1) == (mean, high)
    assert low < 1


def test_of_equals_no_more_than_alpha_are_called_stronger_and_of_stronger_ones_no_more_than_beta_not() -> None:
    """200 evaluations each, with a look after every tenth pair; three standard errors above 5 % is 9.6 %."""
    test = Sprt(elo0=0, elo1=60)
    edge = expected_score(60) - 0.5
    generator = np.random.default_rng(7)
    for true, wrong in ((0.0, SprtDecision.H1), (edge, SprtDecision.H0)):
        drawn = generator.integers(-2, 3, size=(200, 400)) / 4
        # A quarter more in so many of the pairs moves the mean by what is true.
        places = ((drawn + (generator.random(drawn.shape) < true * 4) * 0.25 + 1) * 4).astype(int)
        looks = np.cumsum(np.eye(len(DIFFERENCES), dtype=int)[places], axis=1)[:, 9::10]
        decisions = [[PairedScores(tuple(table)).state(test).decision for table in each] for each in looks.tolist()]
        ends = [next((end for end in each if end is not SprtDecision.GO_ON), None) for each in decisions]

        assert sum(end is wrong for end in ends) <= 19
