"""Estimates a cup's games and duration, and lists missing requirements."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from judge.contest.estimate import ContestEstimate, estimate_contest
from judge.cup.plan import PlannedCup

_MANY_SLOTS = 1 << 40
"""With this number of slots only the order within a league takes time."""


@dataclass(frozen=True, slots=True)
class LeagueEstimate:
    """The estimated size of a league. `cores` are those of a game; `later`: agents promoted from another league."""

    league: str
    policy: str
    after: str
    cores: int
    games_of_pair: int
    later: int
    found: ContestEstimate
    missing: Sequence[str]

    @property
    def agents(self) -> int:
        """Number of agents, with those promoted later."""
        return len(self.found.agents) + self.later

    @property
    def pairs(self) -> int:
        """Number of pairings."""
        return self.found.games // self.games_of_pair


@dataclass(frozen=True, slots=True)
class CupHours:
    """Duration of a cup if agents use all their time.

    `busy`: no core is ever idle. `most`: upper bound for any order that leaves no core idle while a game can be played
    (Graham, Bounds on multiprocessing timing anomalies, 1969).
    """

    busy: float
    most: float


def estimate_cup(planned: PlannedCup, names: Collection[str] | None = None) -> list[LeagueEstimate]:
    """Check all requirements of the leagues `names` without changes; None: all leagues."""
    estimates = []
    for league in planned.cup.leagues:
        if names is not None and league.name not in names:
            continue
        contest = planned.begun(league.name)
        # A league that has begun has its promoted agents.
        later = league.promoted if league.after and contest is None else 0
        contest = contest or planned.contest(league.name)
        found = estimate_contest(contest, later)
        place = f"{planned.path}: leagues.{league.name}"
        folder = f"{planned.folder.resolve()}/"  # paths of agents are absolute here
        missing = [sentence.replace(str(contest.path), place).replace(folder, "") for sentence in found.missing]
        missing = [sentence.replace("in [[agents]]", "in [[entries]]") for sentence in missing]
        missing = [sentence if place in sentence else f"{place}: {sentence}" for sentence in missing]
        if later and league.promotes_new:
            found = replace(found, is_exact=False)
        plan = contest.plan
        estimates.append(
            LeagueEstimate(
                league.name, plan.policy, league.after, plan.slots.cores, plan.format.games, later, found, missing
            )
        )
    return estimates


def cup_hours(planned: PlannedCup, estimates: Sequence[LeagueEstimate], cores: int) -> CupHours | None:
    """Duration on this number of cores; None without a limit of a game's time."""
    work, chains = 0.0, dict[str, float]()
    for each in estimates:
        alone = each.found.hours(_MANY_SLOTS)
        if alone is None or each.found.longest_s is None:
            return None
        work += each.found.games * each.found.longest_s / 3600 * each.cores
        chains[each.league] = alone + (chains[each.after] if each.after else 0)
    if planned.cup.leagues_at_once:  # leagues may wait for each other
        longest = sum(each.found.hours(_MANY_SLOTS) or 0 for each in estimates)
    else:
        longest = max(chains.values())
    return CupHours(work / cores, work / cores + longest)


def missing_now(planned: PlannedCup) -> list[str]:
    """Missing requirements of leagues that may begin now."""
    names = [
        league.name
        for league in planned.cup.leagues
        if planned.begun(league.name) is None and not planned.contest(league.name).waits_for()
    ]
    return [sentence for each in estimate_cup(planned, names) for sentence in each.missing]
