"""Ratings on the Elo scale, with 95 % intervals (model: `judge.statistics.bradley_terry`), of one contest or several.

Agents that are not connected through games are in separate pools, which cannot be compared. numpy and networkx are
imported on demand: most processes rate nothing.

All games of several contests are rated at once, by programs (digests of files), so a program in two contests connects
them. A new version of an agent is another program. Identical games of the same programs count once.

**Anchors** have a given rating. Each pool is shifted so that its anchors have it on average; pools with anchors share
one scale. An anchor's own rating still follows from its games.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from judge.base.errors import InputError
from judge.contest_games import MOVES_DIGITS, GameResult, without_copies
from judge.statistics.rating_model import DEFAULT_MODEL, RatingModel
from judge.statistics.scales import CONFIDENCE_95, ELO

if TYPE_CHECKING:
    import networkx as nx

    from judge.statistics.bradley_terry import Fit


@dataclass(frozen=True, slots=True)
class Estimate:
    """A parameter in Elo; `error` is 0 if it is given.

    `low` and `high` end the 95 % interval; None if only the prior limits it.
    """

    elo: float
    error: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Rating:
    """Rating and 95 % interval, in Elo relative to the pool's mean.

    `low` is None if the agent's group never took a point from an agent outside it, `high` if no outside agent
    took one from it. A group is a set of agents that can be compared in both directions. The largest group of
    a pool is the reference and has both ends.
    """

    agent: str
    elo: float
    low: float | None
    high: float | None
    games: int
    score: float
    pool: int
    """Number of its pool, from 0 for the largest."""


@dataclass(frozen=True, slots=True)
class RatingList:
    """Ratings of all agents with results, best first within a pool."""

    ratings: tuple[Rating, ...]
    advantage: Estimate
    draw_elo: Estimate | None
    """Draw margin; None for Davidson's model."""
    draw_share: float
    """Share of draws between equals without advantage, 0 to 1."""
    draw_low: float | None
    """None without draws."""
    draw_high: float | None
    """None if no game or every game was drawn."""

    def of(self, agent: str) -> Rating:
        """Raises KeyError if the agent has no results."""
        for rating in self.ratings:
            if rating.agent == agent:
                return rating
        raise KeyError(agent)


def rate(results: Iterable[GameResult], model: RatingModel = DEFAULT_MODEL) -> RatingList:
    """Ignores games that both lost by faults."""
    fit = _fit_games(results, model)
    tally, names = fit.tally, list(fit.tally.place)
    low_open, high_open = _open_ends(fit)
    ratings = []
    for number, pool in enumerate(fit.likelihood.pools):
        of_pool = []
        for at in pool:
            elo = float(fit.ratings[at]) * ELO + model.mean
            reach = CONFIDENCE_95 * math.sqrt(fit.covariance[at, at]) * ELO
            low = None if at in low_open else elo - reach
            high = None if at in high_open else elo + reach
            games, points = int(tally.games[at]), float(tally.scores[at])
            of_pool.append(Rating(names[at], elo, low, high, games, points, number))
        ratings += sorted(of_pool, key=lambda rating: (-rating.elo, rating.agent))
    won, drawn, lost = (bool(counts.any()) for counts in (tally.wins, tally.draws, tally.losses))
    # If the first seat lost no game, the likelihood grows without limit with its advantage (and with the draws,
    # if any), and vice versa. If every game was drawn, it grows with the draws.
    ends = (won, lost) if model.advantage is None else (True, True)
    draw_ends = (drawn, drawn and (won or lost)) if model.draw_elo is None else (True, True)
    low, high = fit.draw_shares(CONFIDENCE_95)
    return RatingList(
        tuple(ratings),
        _estimate(fit.advantage, fit.advantage_error, ends),
        _estimate(fit.draw, fit.draw_error, draw_ends) if model.draws == "rao-kupper" else None,
        fit.draw_share,
        low if draw_ends[0] else None,
        high if draw_ends[1] else None,
    )


def lower_ends(results: Iterable[GameResult], model: RatingModel) -> Mapping[str, float]:
    """Rating minus half of the 95 % interval, also where only the prior limits it."""
    fit = _fit_games(results, model)
    return {
        agent: (float(fit.ratings[at]) - CONFIDENCE_95 * math.sqrt(fit.covariance[at, at])) * ELO + model.mean
        for agent, at in fit.tally.place.items()
    }


def _estimate(value: float, error: float, ends: tuple[bool, bool]) -> Estimate:
    reach = CONFIDENCE_95 * error
    low, high = (value - reach) * ELO, (value + reach) * ELO
    return Estimate(value * ELO, error * ELO, low if ends[0] else None, high if ends[1] else None)


def _fit_games(results: Iterable[GameResult], model: RatingModel) -> Fit:
    from judge.statistics.bradley_terry import Fit, PairCounts

    return Fit(PairCounts.of(results), model)


def _open_ends(fit: Fit) -> tuple[set[int], set[int]]:
    """Places of agents without a lower, and without an upper end, without the prior.

    The maximum is finite if every agent took a point from every other, directly or through others (Ford 1957):
    within a strongly connected group of the graph whose edges lead to the agent that took a point.
    """
    import networkx as nx

    tally = fit.tally
    took: nx.DiGraph[int] = nx.DiGraph()
    for giver, taker, wins in ((tally.second, tally.first, tally.wins), (tally.first, tally.second, tally.losses)):
        took_points = wins + tally.draws > 0
        took.add_edges_from(zip(giver[took_points].tolist(), taker[took_points].tolist(), strict=True))
    low_open: set[int] = set()
    high_open: set[int] = set()
    for pool in fit.likelihood.pools:
        groups: nx.DiGraph[Any] = nx.condensation(took.subgraph(pool))
        members: dict[int, set[int]] = {group: groups.nodes[group]["members"] for group in groups}
        largest = max(map(len, members.values()), default=0)
        cores = [group for group, agents in members.items() if len(agents) == largest]
        if len(cores) == 1:
            # Everybody is compared with the largest group.
            below, above = nx.descendants(groups, cores[0]), nx.ancestors(groups, cores[0])
        else:
            # Or with all other groups: only one that all others lead to, or that leads to all others, has an end.
            below = {group for group in groups if not groups.out_degree(group)}
            above = {group for group in groups if not groups.in_degree(group)}
            below, above = (ends if len(ends) == 1 else set() for ends in (below, above))
            cores = []
        for group in groups:
            if group not in below and group not in cores:
                low_open |= members[group]
            if group not in above and group not in cores:
                high_open |= members[group]
    return low_open, high_open


@dataclass(frozen=True, slots=True)
class RatedContest:
    """A contest with its counting results. `programs`: digests of files by agent name.

    `began` is an ISO 8601 time.
    """

    name: str
    began: str
    results: Sequence[GameResult]
    programs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Version:
    """An agent in one contest: file digest, rating from all contests, `games` in this contest."""

    contest: str
    began: str
    digest: str
    games: int
    rating: Rating


@dataclass(frozen=True, slots=True)
class JoinedRatings:
    """Ratings of programs under their last names; versions of each name, oldest first."""

    ratings: RatingList
    histories: Mapping[str, Sequence[Version]]


def join_contests(
    contests: Sequence[RatedContest], anchors: Mapping[str, float], model: RatingModel = DEFAULT_MODEL
) -> JoinedRatings:
    """Raises InputError if an anchor has not played or names several programs."""
    ordered = [
        (contest, _programs(contest)) for contest in sorted(contests, key=lambda contest: (contest.began, contest.name))
    ]
    played = without_copies(
        row._replace(
            first=first,
            second=second,
            winner=None if row.winner is None else (first, second)[row.winner != row.first],
            moves=row.moves[:MOVES_DIGITS],
        )
        for contest, programs in ordered
        for row in contest.results
        for first, second in [(programs[row.first], programs[row.second])]
    )
    rated = rate(played, model)
    names = {program: name for _, programs in ordered for name, program in programs.items()}
    rated = _anchored(rated, _anchor_programs(names, anchors))
    by_program = {rating.agent: rating for rating in rated.ratings}
    histories: dict[str, list[Version]] = {}
    for contest, programs in ordered:
        games = Counter(agent for row in contest.results for agent in row.agents)
        for name, digest in contest.programs.items():
            rating = by_program.get(programs[name])
            if rating is not None and games[name]:
                version = Version(contest.name, contest.began, digest, games[name], replace(rating, agent=name))
                histories.setdefault(name, []).append(version)
    shown = tuple(replace(rating, agent=names[rating.agent]) for rating in rated.ratings)
    return JoinedRatings(replace(rated, ratings=shown), histories)


def _programs(contest: RatedContest) -> Mapping[str, str]:
    count = Counter(contest.programs.values())
    return {name: digest if count[digest] == 1 else f"{digest} {name}" for name, digest in contest.programs.items()}


def _anchor_programs(names: Mapping[str, str], anchors: Mapping[str, float]) -> Mapping[str, float]:
    found: dict[str, float] = {}
    for name, elo in anchors.items():
        programs = [program for program, called in names.items() if called == name]
        if len(programs) != 1:
            problem = "did not play" if not programs else f"has {len(programs)} versions, which differ in strength"
            raise InputError(f"anchor {name}: {problem}; choose an agent whose files never changed")
        found[programs[0]] = elo
    return found


def _anchored(rated: RatingList, anchors: Mapping[str, float]) -> RatingList:
    off: dict[int, list[float]] = {}
    for rating in rated.ratings:
        if rating.agent in anchors:
            off.setdefault(rating.pool, []).append(anchors[rating.agent] - rating.elo)
    joined = min(off, default=0)
    moved = []
    for rating in rated.ratings:
        if rating.pool in off:
            by = sum(off[rating.pool]) / len(off[rating.pool])
            low, high = (None if end is None else end + by for end in (rating.low, rating.high))
            moved.append(replace(rating, elo=rating.elo + by, low=low, high=high, pool=joined))
        else:
            moved.append(rating)
    return replace(rated, ratings=tuple(sorted(moved, key=lambda rating: (rating.pool, -rating.elo, rating.agent))))
