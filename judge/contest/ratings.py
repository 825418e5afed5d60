"""Ratings of agents from their games, on the Elo scale, with 95 % intervals that claim no more than the games show.

The model and its prior stand in `judge.contest.bradley_terry`. The prior keeps ratings finite at 0 % and 100 %; an end
of an interval that nothing but the prior holds is None here and not a number. Agents that are not connected through
games form pools, which do not compare.

numpy and networkx are imported when somebody is rated: most processes of a contest rate nobody.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from judge.matches import ResultRow

if TYPE_CHECKING:
    import networkx as nx


ELO = 400 / math.log(10)
"""Elo for one unit of the logistic scale."""

CONFIDENCE_95 = NormalDist().inv_cdf(0.975)
"""Standard errors to either side of a 95 % interval."""


class RatingModel(BaseModel):
    """What is estimated and what is given, in Elo."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    prior_draws: float = Field(default=2, gt=0)
    """Virtual draws an agent; the fewer, the further a score of 100 % is from the rest."""
    advantage: float | None = None
    """What sitting first is worth; None: estimated."""
    draw_elo: float | None = Field(default=None, ge=0)
    """The draw margin; None: estimated."""
    mean: float = 0
    """The mean rating of the agents of a pool."""


GOMOCUP_MODEL = RatingModel(advantage=0, draw_elo=0.01, mean=1600)
"""Gomocup's since 2017: its BayesElo has these two figures built in, and its script says `offset 1600` and `mm`."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A parameter of the model in Elo and its standard error, 0 where it was given."""

    elo: float
    error: float


@dataclass(frozen=True, slots=True)
class Rating:
    """An agent's rating and its 95 % interval, in Elo against the mean of its pool.

    `low` is None where the agent's group of the pool never took a point from anybody outside it, `high` where nobody
    outside it ever took one from it: the results alone give no such end. A group is who can be compared both ways; the
    largest one of a pool is what the others are seen from and has both ends.
    """

    agent: str
    elo: float
    low: float | None
    high: float | None
    games: int
    score: float
    """Games won, draws as halves."""
    pool: int
    """Number of the pool (who is connected through games), from 0 for the largest; pools do not compare."""


@dataclass(frozen=True, slots=True)
class RatingList:
    """The ratings of all who played, best first within a pool."""

    ratings: tuple[Rating, ...]
    advantage: Estimate
    draw_elo: Estimate

    def of(self, agent: str) -> Rating:
        """The rating of an agent; KeyError for one who never played."""
        for rating in self.ratings:
            if rating.agent == agent:
                return rating
        raise KeyError(agent)


def rate(results: Iterable[ResultRow], model: RatingModel | None = None) -> RatingList:
    """The ratings of everybody in `results`; a game that both lost by faults says nothing of who is stronger."""
    import networkx as nx

    from judge.contest.bradley_terry import Fit, PairCounts

    model = model or RatingModel()
    counted = [game for game in results if game.is_draw or game.winner is not None]
    tally = PairCounts.of(counted)
    graph = _graph_of(counted)
    pools = sorted(nx.connected_components(graph), key=lambda pool: (-len(pool), min(pool)))
    fit = Fit(tally, model, [[tally.place[agent] for agent in pool] for pool in pools])
    low_open, high_open = _open_ends(counted, pools)
    ratings = []
    for number, pool in enumerate(pools):
        of_pool = []
        for agent in sorted(pool):
            at = tally.place[agent]
            elo = float(fit.ratings[at]) * ELO + model.mean
            reach = CONFIDENCE_95 * math.sqrt(fit.covariance[at, at]) * ELO
            low = None if agent in low_open else elo - reach
            high = None if agent in high_open else elo + reach
            games, points = int(tally.games[at]), float(tally.scores[at])
            of_pool.append(Rating(agent, elo, low, high, games, points, number))
        ratings += sorted(of_pool, key=lambda rating: (-rating.elo, rating.agent))
    return RatingList(
        tuple(ratings),
        Estimate(fit.advantage * ELO, fit.advantage_error * ELO),
        Estimate(fit.margin * ELO, fit.margin_error * ELO),
    )


# --- who can be compared -----------------------------------------------------------------------------------------


def _graph_of(games: Sequence[ResultRow]) -> nx.Graph[str]:
    import networkx as nx

    graph: nx.Graph[str] = nx.Graph()
    graph.add_edges_from(game.agents for game in games)
    return graph


def _open_ends(games: Sequence[ResultRow], pools: Sequence[set[str]]) -> tuple[set[str], set[str]]:
    """Whose rating has no lower, and whose no upper end without the prior.

    The maximum of the likelihood is finite where everybody took something from everybody else, if only through others
    (Ford 1957): within a strongly connected group of the graph in which an edge leads to whoever took something.
    """
    import networkx as nx

    took: nx.DiGraph[str] = nx.DiGraph()
    for game in games:
        for agent, other, score in zip(game.agents, game.agents[::-1], game.scores, strict=True):
            if score:
                took.add_edge(other, agent)
    low_open: set[str] = set()
    high_open: set[str] = set()
    for pool in pools:
        groups: nx.DiGraph[Any] = nx.condensation(took.subgraph(pool))
        members: dict[int, set[str]] = {group: groups.nodes[group]["members"] for group in groups}
        for group in groups:
            seen_from = frozenset(_references(members)) - {group}
            if seen_from - nx.ancestors(groups, group):
                low_open |= members[group]
            if seen_from - nx.descendants(groups, group):
                high_open |= members[group]
    return low_open, high_open


def _references(members: Mapping[int, set[str]]) -> list[int]:
    """The groups from which the others of a pool are seen: the largest one, or all where none is the largest."""
    largest = max(len(agents) for agents in members.values())
    cores = [group for group, agents in members.items() if len(agents) == largest]
    return cores if len(cores) == 1 else list(members)
