"""Prints what contests of equal agents show: ratings, rings, places and the fairness of two hosts."""

import json
import random
from collections.abc import Iterator
from dataclasses import asdict
from itertools import permutations
from typing import Any

from judge.contest_games import GameConditions, GameResult
from judge.statistics.certainty import assess_places, pair_results
from judge.statistics.cycles import check_ratings
from judge.statistics.fairness import fairness_tests
from judge.statistics.match_estimate import compare_candidates
from judge.statistics.rating_model import RatingModel
from judge.statistics.ratings import rate
from tests.contest.rounds import games

CONTESTS = 12


def contests() -> Iterator[list[GameResult]]:
    """Each agent has a twin with the same results, under another name."""
    for seed in range(CONTESTS):
        rng = random.Random(seed)
        families = rng.sample(["anna", "bert", "carl", "dora", "emil"], 2 + seed % 4)
        played = []
        for one, other in permutations(families, 2):
            for end in rng.choices(">=<", [5, 2, 3], k=3):
                played += [f"{a}{end}{b}" for a in (one, f"z{one}") for b in (other, f"z{other}")]
        yield games(" ".join(played))


def shown() -> Iterator[Any]:
    for results in contests():
        agents = sorted({agent for result in results for agent in result.agents})
        for draws in ("rao-kupper", "davidson"):
            yield asdict(rate(results, RatingModel.model_validate({"draws": draws})))
        yield asdict(check_ratings(results))
        yield [asdict(each) for each in compare_candidates(results, agents[0])]
        certainty = assess_places(pair_results(results))
        yield None if certainty is None else asdict(certainty)
        conditions = [
            GameConditions(f"host-{at % 2}", f"core {at % 4 // 2}", 1000.0 + at, 1.0, f"{at // 40:02}")
            for at in range(len(results))
        ]
        yield [asdict(test) for test in fairness_tests(results, conditions)]


if __name__ == "__main__":
    for each in shown():
        print(json.dumps(each))  # noqa: T201 the test compares it
