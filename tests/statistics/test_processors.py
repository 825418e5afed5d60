"""No order and no choice depends on the processor: its instructions change the last digits of all estimates."""

import json
import math
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping
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
        yield [asdict(each) for each in compare_candidates([results], agents[0])]
        certainty = assess_places(pair_results(results))
        yield None if certainty is None else asdict(certainty)
        conditions = [
            GameConditions(f"host-{at % 2}", f"core {at % 4 // 2}", 1000.0 + at, 1.0, f"{at // 40:02}")
            for at in range(len(results))
        ]
        yield [asdict(test) for test in fairness_tests(results, conditions)]


OLDEST = {
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL",
    "OPENBLAS_CORETYPE": "Nehalem",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F",
}
"""Instructions of 2008; other processors ignore this."""


def shown_with(instructions: Mapping[str, str]) -> list[Any]:
    command = [sys.executable, "-m", "tests.statistics.test_processors"]
    done = subprocess.run(command, env=os.environ | instructions, stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def are_alike(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and are_alike(list(one.values()), list(other.values()))
    if isinstance(one, list):
        return len(one) == len(other) and all(map(are_alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-6)
    return bool(one == other)


def test_equal_agents_are_shown_alike_on_two_processors() -> None:
    newest, oldest = shown_with({}), shown_with(OLDEST)

    assert len(newest) > 50
    assert all(are_alike(*each) for each in zip(newest, oldest, strict=True))


if __name__ == "__main__":
    for each in shown():
        print(json.dumps(each))  # noqa: T201 the test compares it
