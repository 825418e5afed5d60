"""Simulated ladders of the strengths of Gomocup's Fastgame 2026.

JUDGE_LADDER_RUNS is the number of runs of each simulation, 60 for the full size. Small runs have wide limits, because
a single ladder varies. The full size has the limits of the targets. `pytest -s` shows the figures.
"""

import os
import sys
from collections.abc import Mapping

import numpy as np
import pytest

from judge.tournament.formats.ladder import Matchmaking
from tests.statistics.cup_records import data, rows
from tests.tournament.simulated_ladders import Ladder, top_error

RUNS = int(os.environ.get("JUDGE_LADDER_RUNS", "0"))
"""0: small."""

GAMES = 4000 if RUNS else 1500
ANCHORS = ("BARBAKAN", "TITO14", "LICHT", "LIGHTBLUE")
MASTER = "EMBRYO26"
NEWCOMER_GAMES = 200


@pytest.fixture
def strengths() -> Mapping[str, float]:
    return {row["program"]: float(row["elo"]) for row in rows(data() / "expected/places/2026_f.csv") if row["elo"]}


def test_places_of_the_best_are_better_than_with_random_pairs(strengths: Mapping[str, float]) -> None:
    errors: dict[bool, list[float]] = {False: [], True: []}
    for seed in range(RUNS or 3):
        for is_random, found in errors.items():
            ladder = Ladder(dict(strengths), seed, is_random=is_random)
            ladder.play(GAMES)
            found.append(top_error(ladder))
    chosen, random = (np.array(errors[is_random]) for is_random in (False, True))
    for name, each in (("chosen", chosen), ("random", random)):
        sys.stdout.write(f"top-error-{name} {each.mean():.3f} +- {each.std() / len(each) ** 0.5:.3f}\n")

    assert chosen.mean() < random.mean()
    if RUNS:
        assert chosen.mean() <= 0.25


def test_newcomer_is_soon_within_100_elo(strengths: Mapping[str, float]) -> None:
    """The number of its games after which its rating stays within 100 Elo of its strength, up to 200 games."""
    needed = [games_until_known(dict(strengths), seed) for seed in range(RUNS or 2)]
    sys.stdout.write(f"newcomer-games median {np.median(needed)}, sorted {sorted(needed)}\n")

    assert np.median(needed) <= (60 if RUNS else NEWCOMER_GAMES + 1)


def games_until_known(strengths: dict[str, float], seed: int) -> int:
    agents = sorted(strengths.keys() - set(ANCHORS))
    newcomer = agents[int(np.random.default_rng(seed).integers(len(agents)))]
    strength = strengths.pop(newcomer)
    ladder = Ladder(strengths, seed, anchors=ANCHORS)
    ladder.play(GAMES)
    strengths[newcomer] = strength
    ladder.admit(newcomer)
    place = ladder.ratings.place(newcomer)
    errors: list[float] = []
    while len(errors) < NEWCOMER_GAMES:
        ladder.play(1)
        if ladder.games.games[place] - ladder.games.open_games[place] > len(errors):
            errors.append(abs(ladder.elo(newcomer) - strength))
    return max((number for number, error in enumerate(errors, 1) if error > 100), default=0) + 1


def test_farm_of_clones_moves_no_rating_by_more_than_its_interval(strengths: Mapping[str, float]) -> None:
    """Ten clones of an agent lose all games against it. The mean shift of each rating is compared with its interval."""
    clones = [f"clone-{number}" for number in range(10)]
    others = sorted(strengths.keys() - {*ANCHORS, MASTER})
    authors = dict.fromkeys([*clones, MASTER], "farm")
    rules = Matchmaking(anchor_share=0.1)

    def fixed(first: str, second: str) -> float | None:
        return float(first == MASTER) if MASTER in (first, second) and {first, second} & set(clones) else None

    shifts, reaches = [], []
    for seed in range(RUNS or 2):
        without = Ladder(dict(strengths), seed, rules, anchors=ANCHORS)
        without.play(GAMES)
        both = dict(strengths) | dict.fromkeys(clones, strengths[MASTER])
        farm = Ladder(both, seed, rules, anchors=ANCHORS, authors=authors, fixed_result=fixed)
        farm.play(GAMES * len(both) // len(strengths))
        shifts.append([farm.elo(agent) - without.elo(agent) for agent in [*others, MASTER]])
        reaches.append([without.ratings.rating(agent).reach for agent in [*others, MASTER]])
    shares = np.abs(np.mean(shifts, axis=0)) / np.mean(reaches, axis=0)
    sys.stdout.write(f"farm-worst-shift {shares.max():.2f} of the interval, median {np.median(shares):.2f}\n")

    assert np.median(shares) < 1
    if RUNS:
        assert shares.max() <= 1
