"""Simulated ladders of the strengths of Gomocup's Fastgame 2026 (docs/performance.md).

`pytest -s` shows the figures.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from judge.tournament.formats.ladder import Matchmaking
from tests.examples import EVIDENCE, evidence, sized
from tests.statistics.simulated_ladders import FASTGAME_2026, Ladder, names_of, top_error

RUNS = sized(1, 60)
GAMES = sized(800, 4000)
ANCHORS = ("05", "17", "32", "49")
MASTER = "06"
CLONES = [f"clone-{number}" for number in range(10)]
NEWCOMER_GAMES = 200
NO_LIMITS = Matchmaking(author_weight=1000, opponent_share=1, long_game=1000)


@pytest.fixture
def strengths() -> Mapping[str, float]:
    return names_of(FASTGAME_2026)


@evidence
def test_places_of_the_best_are_better_than_with_random_pairs(strengths: Mapping[str, float]) -> None:
    errors: dict[bool, list[float]] = {False: [], True: []}
    for seed in range(RUNS):
        for is_random, found in errors.items():
            ladder = Ladder(dict(strengths), seed, is_random=is_random)
            ladder.play(GAMES)
            found.append(top_error(ladder))
    chosen, random = (np.array(errors[is_random]) for is_random in (False, True))
    for name, each in (("chosen", chosen), ("random", random)):
        report(f"top-error-{name} {each.mean():.3f} +- {each.std() / len(each) ** 0.5:.3f}")

    assert chosen.mean() < random.mean()
    assert chosen.mean() <= 0.25


@evidence
def test_newcomer_is_soon_within_100_elo(strengths: Mapping[str, float]) -> None:
    """The number of its games after which its rating stays within 100 Elo of its strength, up to 200 games."""
    needed = [games_until_known(dict(strengths), seed) for seed in range(RUNS)]
    report(f"newcomer-games median {np.median(needed)}, sorted {sorted(needed)}")

    assert np.median(needed) <= 60


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


@dataclass(frozen=True)
class Farm:
    """Ten clones of an agent, all of one author. They play the victim fairly.

    `honest`: they play all games fairly. `boost`: they lose all games against their original. `sabotage`: while one is
    rated above the victim, it loses all games against other authors' agents.
    """

    kind: str
    victim: str = "07"

    def score(self, ladder: Ladder, first: str, second: str) -> float | None:
        are_clones = first in CLONES, second in CLONES
        if are_clones[0] == are_clones[1] or self.kind == "honest":
            return None
        clone, other = (first, second) if are_clones[0] else (second, first)
        if self.kind == "boost":
            loses = other == MASTER
        else:
            loses = other not in (MASTER, self.victim) and ladder.elo(clone) > ladder.elo(self.victim)
        return float(not are_clones[0]) if loses else None


FARMS = (Farm("honest"), Farm("boost"), Farm("sabotage"))


@pytest.mark.slow
@pytest.mark.parametrize("anchors", [ANCHORS, pytest.param((), marks=evidence)], ids=["anchors", "no-anchors"])
def test_farm_of_clones_moves_no_rating_by_more_than_its_interval(anchors: Sequence[str]) -> None:
    """Without limits of authors, the sabotage does. The largest shift is compared with the interval before."""
    farms = FARMS if EVIDENCE else FARMS[2:]
    shares = {farm: largest_shift(farm, Matchmaking(), anchors) for farm in farms}
    unlimited = largest_shift(farms[-1], NO_LIMITS, anchors)
    for farm, found in [*shares.items(), ("sabotage without limits", unlimited)]:
        report(f"farm-shift {getattr(farm, 'kind', farm)}, {len(anchors)} anchors: {found:.2f} of the interval")

    assert max(shares.values()) <= 1 < unlimited


def largest_shift(farm: Farm, rules: Matchmaking, anchors: Sequence[str]) -> float:
    """Games count as their expected scores. Without anchors, ratings are relative to the mean of the other agents."""
    strengths = names_of(FASTGAME_2026)
    before = Ladder(dict(strengths), 0, rules, anchors=anchors, is_expected=True)
    before.play(GAMES)
    both = strengths | dict.fromkeys(CLONES, strengths[MASTER])
    authors = dict.fromkeys([*CLONES, MASTER], "farm")
    after = Ladder(both, 0, rules, anchors=anchors, authors=authors, score=farm.score, is_expected=True)
    after.play(GAMES * len(both) // len(strengths))
    rated = [agent for agent in strengths if agent not in anchors]
    shifts = np.array([after.elo(agent) - before.elo(agent) for agent in rated])
    reaches = np.array([before.ratings.rating(agent).reach for agent in rated])
    return float((np.abs(shifts - (0 if anchors else shifts.mean())) / reaches).max())


@pytest.mark.slow
@pytest.mark.parametrize("slots", [2, pytest.param(8, marks=evidence)])
def test_slow_and_crashing_agents_cost_the_others_less_than_5_percent(slots: int) -> None:
    """The games of the slow agent last four times the usual time. No agent waits longer than three rounds of games."""
    usual, disturbed, unlimited = [], [], []
    for seed in range(RUNS):
        usual.append(timed_ladder(slots, seed))
        disturbed.append(timed_ladder(slots, seed, slow="20", crashing="30"))
        unlimited.append(timed_ladder(slots, seed, NO_LIMITS, slow="20", crashing="30"))
    speeds = [float(np.mean([games for games, _ in each])) for each in (usual, disturbed, unlimited)]
    waits = max(wait for each in (usual, disturbed) for _, wait in each)
    lost, lost_before = 1 - speeds[1] / speeds[0], 1 - speeds[2] / speeds[0]
    report(f"slow-agent {slots} slots: others lose {lost:.1%}, without limits {lost_before:.1%}; wait {waits:.2f}")

    assert lost < min(0.05, lost_before)
    assert waits <= 1


def timed_ladder(
    slots: int, seed: int, rules: Matchmaking | None = None, *, slow: str = "", crashing: str = ""
) -> tuple[float, float]:
    """Games of the other agents per unit of time, and the longest wait in three mean game times x agents / slots."""
    chance = np.random.default_rng(seed)

    def duration(first: str, second: str) -> float:
        if crashing in (first, second):
            return 0.02
        return 4.0 if slow in (first, second) else float(chance.uniform(0.75, 1.25))

    def score(_: Ladder, first: str, second: str) -> float | None:
        return float(second == crashing) if crashing in (first, second) else None

    strengths = names_of(FASTGAME_2026)
    ladder = Ladder(strengths, seed, rules or Matchmaking(), slots=slots, score=score, duration=duration)
    ladder.play(GAMES)
    others = sum(ladder.finished[agent] for agent in strengths if agent not in ("20", "30"))
    longest = 3 * ladder.time / GAMES * len(strengths)
    return others / ladder.time, max(ladder.waits) / longest


def report(line: str) -> None:
    sys.stdout.write(line + "\n")
