"""How certain the places of a contest are. docs/statistics.md describes the method.

Separated agents follow from a step-down procedure (Romano and Wolf, Exact and Approximate Stepdown Methods for Multiple
Hypothesis Testing, 2005). A group ends where each agent so far is above each following one.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from judge.contest_games import GameResult, PairResult, ends_of_pairs, summed
from judge.statistics.bayeselo import strengths_of
from judge.statistics.bradley_terry import MAX_LEAGUE_STEP, Davidson, Fit, Matrix, PairCounts, Vector, fit_leagues
from judge.statistics.rating_model import BAYESELO_MODEL, RatingModel
from judge.statistics.scales import CONFIDENCE_95, ELO, SIGNIFICANCE, holm, normal_tail, rounded, rounded_p

_MODEL = RatingModel(draws="davidson", advantage=0)

_SIMULATIONS = 199, 999
"""Simulated contests of the deviance test: minimum and maximum."""

_SIMULATED_PAIRS = 1_000_000
"""Pairs in all of them, which limits the time; pairs in memory, if there are more."""

_DRAWN_RATINGS = 4_000, 20_000
"""Random rating vectors for quantile and chances: minimum and maximum."""

_DRAWN_PAIRS = 40_000_000

_SEED = 14

MAX_RIVALS = 5

MAX_KNOWN_LEADS = 3

_TIED_ELO = 0.01
"""Ratings that differ by less share a place."""

_POWER_80 = 2.80
"""Difference in standard errors that is significant at 95 % with a probability of 80 %."""

_NEARLY_FIRST = 0.02
"""Lead in logistic units below which ratings after reversals are exact."""

_FAR_SHARE = 0.02
"""Share of the expected reversals made at once: one by one below 50."""

_LEAST_SHARE = 1e-12

_MIXTURE_VARIANCE = 1.0
"""Variance of differences, in logistic units, for which ranges of a running contest are narrowest."""

Truth = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class PlaceRange:
    """An agent's place and its 95 % range, without and with inflation (`phi`).

    `elo` is Davidson's rating, `chance` the probability that the agent is the strongest. `reach` is half of an interval
    in Elo: intervals of agents that are separated do not meet, with inflation.
    """

    agent: str
    place: int
    low: int
    high: int
    low_phi: int
    high_phi: int
    elo: float
    error: float
    chance: float
    reach: float

    @property
    def shown(self) -> tuple[int, int]:
        """The range with inflation, which includes the place."""
        return min(self.low_phi, self.place), max(self.high_phi, self.place)


@dataclass(frozen=True, slots=True)
class Reversal:
    """Number of games that `winner` won against `loser` and would have to lose."""

    winner: str
    loser: str
    games: int


@dataclass(frozen=True, slots=True)
class UnusualPair:
    """A score that no rating per agent explains; `p` is adjusted (Holm)."""

    agent: str
    opponent: str
    games: int
    score: float
    expected: float
    p: float


@dataclass(frozen=True, slots=True)
class KnownLead:
    """A pair of agents alone: the probability that `agent` is stronger than `other`, with inflation."""

    agent: str
    other: str
    chance: float


@dataclass(frozen=True, slots=True)
class Conclusions:
    """Conclusions with one phi: neighbours not separated by a single test, groups, candidates for the first place."""

    neighbours_not_separated: int
    groups: tuple[tuple[str, ...], ...]
    candidates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Certainty:
    """`gap` and the half-widths of its 95 % intervals are in Elo, draws count as halves.

    `strength` has the conclusions with phi, `repetition` those with phi = 1.
    """

    ranks: tuple[PlaceRange, ...]
    gap: float
    half_width: float
    half_width_phi: float
    phi: float
    deviance: float
    deviance_p: float
    strength: Conclusions
    repetition: Conclusions
    reversals: tuple[Reversal, ...]
    new_first: str | None
    """First agent after the reversals; None if no number of them changes the first place."""
    further_games: tuple[int, int] | None
    """Games that separate first and second with a probability of 50 % and 80 %; None without a gap."""
    further_share: float | None
    """Further games of all agents for 80 %, relative to the games so far."""
    unusual: tuple[UnusualPair, ...]
    known: tuple[KnownLead, ...] = ()
    """Of each agent, the lead over the best placed agent for which it is likely; of the first agents."""

    @property
    def first(self) -> str:
        return self.ranks[0].agent

    @property
    def second(self) -> str:
        return self.ranks[1].agent

    @property
    def reversed_games(self) -> int:
        return sum(reversal.games for reversal in self.reversals)

    @property
    def certain(self) -> int:
        """Number of agents with one possible place."""
        return sum(low == high for low, high in (rank.shown for rank in self.ranks))


def pair_results(games: Iterable[GameResult]) -> list[PairResult]:
    """Ignores games that both lost by faults."""
    return summed(PairResult(*pair, *ends) for pair, ends in ends_of_pairs(games).items())


def assess_places(
    results: Iterable[PairResult], places: Mapping[str, int] | None = None, is_running: bool = False
) -> Certainty | None:
    """None for fewer than two agents with games.

    `places` default to BayesElo's ratings. Disqualified agents must not be in `results`. With `is_running` all ranges
    are valid together, at any number of looks.
    """
    listed = list(results)
    met = [each for each in summed(listed) if any(each[2:])]
    if not met:
        return None
    tally = PairCounts.of_scores({(each.first, each.second): each[2:] for each in met})
    return _League(tally, is_running).certainty(_rated_places(strengths_of(listed)) if places is None else places)


def any_time_reach(variance: Matrix, tests: float = 1) -> Matrix:
    """Half-widths of 95 % confidence sequences, valid together at any number of looks, in logistic units.

    Normal mixture (Robbins, Statistical Methods Related to the Law of the Iterated Logarithm, 1970), with Bonferroni's
    correction for `tests`.
    """
    bound = np.log1p(_MIXTURE_VARIANCE / variance) + 2 * np.log(tests / SIGNIFICANCE)
    reach: Matrix = np.sqrt(variance * (1 + variance / _MIXTURE_VARIANCE) * bound)
    return reach


def reversed_games(results: Iterable[GameResult], reversals: Sequence[Reversal]) -> list[GameResult]:
    """The first games of `results` that the reversals mean."""
    left = {(reversal.winner, reversal.loser): reversal.games for reversal in reversals}
    found = []
    for game in results:
        if game.winner is not None:
            pair = game.winner, game.agents[game.winner == game.first]
            if left.get(pair, 0):
                left[pair] -= 1
                found.append(game)
    return found


class _League:
    def __init__(self, tally: PairCounts, is_running: bool) -> None:
        self.tally, self.is_running = tally, is_running
        self.names = list(tally.place)
        self.fit = Fit(tally, _MODEL)
        self.likelihood = self.fit.likelihood
        self.games = self.likelihood.games
        self.comparable: Truth = self.likelihood.anchor > 0
        np.fill_diagonal(self.comparable, val=False)
        diagonal = np.diag(self.fit.covariance)
        self.variance: Matrix = diagonal[:, None] + diagonal - 2 * self.fit.covariance
        np.fill_diagonal(self.variance, val=1)
        self.leads: Matrix = self.fit.ratings[:, None] - self.fit.ratings
        won, drawn, _ = self.fit.chances()
        self.scores, self.expected = tally.wins + tally.draws / 2, won + drawn / 2
        self.deviances = _deviance(self.games, self.scores, self.expected)
        self.random = np.random.default_rng(_SEED)

    def certainty(self, places: Mapping[str, int]) -> Certainty:
        official = Fit(self.tally, BAYESELO_MODEL).ratings
        order = [self.tally.place[name] for name in sorted(places, key=places.__getitem__) if name in self.tally.place]
        deviance, simulated = self._deviances()
        phi = max(1.0, deviance / float(simulated.mean()))
        is_equal = np.isclose(simulated, deviance, rtol=1e-9, atol=0)  # of mirrored results, but for rounding
        p = (1 + int(((simulated > deviance) | is_equal).sum())) / (1 + len(simulated))
        drawn = self._drawn_ratings()
        if self.is_running:
            limits = [any_time_reach(of * self.variance, self.comparable.sum() / 2) for of in (1.0, phi)]
            above, above_phi = (self.comparable & (self.leads > each) for each in limits)
            limit = limits[1]
        else:
            maximum = _maximum_quantile(drawn, self.variance, self.comparable)
            limit = maximum * np.sqrt(phi * self.variance)
            above, above_phi = (self._separated(drawn, maximum, of) for of in (1.0, phi))
        best = (self.fit.ratings[:, None] + math.sqrt(phi) * drawn).argmax(axis=0)
        chances = np.bincount(best, minlength=len(self.names)) / drawn.shape[1]
        ranges, ranges_phi = _ranges(above), _ranges(above_phi)
        reach = np.where(self.comparable, limit, 0).sum(axis=1) / np.maximum(1, self.comparable.sum(axis=1)) / 2
        ranks = tuple(
            PlaceRange(
                self.names[at],
                places[self.names[at]],
                *ranges[at],
                *ranges_phi[at],
                float(self.fit.ratings[at]) * ELO,
                math.sqrt(self.fit.covariance[at, at]) * ELO,
                float(chances[at]),
                float(reach[at]) * ELO,
            )
            for at in order
        )
        reversals, new_first = self._reversals(order, official)
        lead, error = self._lead(order[0], order[1])
        return Certainty(
            ranks,
            lead * ELO,
            CONFIDENCE_95 * error * ELO,
            CONFIDENCE_95 * error * math.sqrt(phi) * ELO,
            phi,
            deviance,
            p,
            self._conclusions(order, above_phi, phi),
            self._conclusions(order, above, 1.0),
            reversals,
            new_first,
            self._further_games(order[0], order[1], phi),
            max(0.0, _POWER_80**2 * phi * error**2 / lead**2 - 1) if lead * ELO >= _TIED_ELO else None,
            self._unusual(),
            tuple(itertools.islice(self._known_leads(order, phi), MAX_KNOWN_LEADS)),
        )

    def _known_leads(self, order: Sequence[int], phi: float) -> Iterator[KnownLead]:
        for number, one in enumerate(order):
            for other in order[number + 1 :]:
                lead, error = self._lead(one, other)
                chance = 1 - normal_tail(lead / (math.sqrt(phi) * error))
                if self.comparable[one, other] and chance >= 1 - SIGNIFICANCE:
                    yield KnownLead(self.names[one], self.names[other], chance)
                    break

    def _lead(self, one: int, other: int) -> tuple[float, float]:
        return float(self.leads[one, other]), math.sqrt(self.variance[one, other])

    def _deviances(self) -> tuple[float, Vector]:
        chances = np.stack(self.fit.chances(), axis=-1)
        chances /= chances.sum(axis=-1, keepdims=True)
        # Pages of a running contest are written again and again.
        most = 0 if self.is_running else _SIMULATED_PAIRS
        contests = int(np.clip(most // len(self.games), *_SIMULATIONS))
        at_once = max(1, _SIMULATED_PAIRS // len(self.games))
        simulated = []
        for begin in range(0, contests, at_once):
            size = (min(at_once, contests - begin), len(self.games))
            counts = self.random.multinomial(self.games.astype(np.int64), chances, size)
            wins, draws, losses = np.moveaxis(counts.astype(np.float64), -1, 0)
            at = fit_leagues(self.likelihood, self.fit.at, wins, draws, losses)
            won, drawn, _ = self.likelihood.chances(at)
            simulated.append(_deviance(self.games, wins + draws / 2, won + drawn / 2).sum(axis=1))
        return float(self.deviances.sum()), np.concatenate(simulated)

    def _drawn_ratings(self) -> Matrix:
        """A row per agent. Only differences within a pool are meaningful."""
        root = np.linalg.cholesky(self.fit.covariance + self.likelihood.anchor)
        agents = len(self.names)
        drawn = int(np.clip(_DRAWN_PAIRS // agents**2, *_DRAWN_RATINGS))
        return root @ self.random.standard_normal((agents, drawn))

    def _separated(self, drawn: Matrix, maximum: float, phi: float) -> Truth:
        lead = self.leads / np.sqrt(phi * self.variance)
        tested = self.comparable.copy()
        while (found := tested & (lead > maximum)).any():
            tested &= ~found
            maximum = _maximum_quantile(drawn, self.variance, tested)
        return self.comparable & ~tested

    def _conclusions(self, order: Sequence[int], above: Truth, phi: float) -> Conclusions:
        close = 0
        for one, other in itertools.pairwise(order):
            lead, error = self._lead(one, other)
            close += not self.comparable[one, other] or abs(lead) <= CONFIDENCE_95 * math.sqrt(phi) * error
        groups: list[tuple[str, ...]] = []
        begin = 0
        for end in range(1, len(order) + 1):
            if above[np.ix_(order[:end], order[end:])].all():
                groups.append(tuple(self.names[at] for at in order[begin:end]))
                begin = end
        candidates = tuple(self.names[at] for at in order if not above[:, at].any())
        return Conclusions(close, tuple(groups), candidates)

    def _further_games(self, first: int, second: int, phi: float) -> tuple[int, int] | None:
        lead, error = self._lead(first, second)
        if lead * ELO < _TIED_ELO:
            return None
        won, _, lost = (float(share[0]) for share in Davidson().chances(np.array([lead]), self.fit.draw))
        information = (won + lost) / 4 - ((won - lost) / 2) ** 2
        even, likely = (
            math.ceil(max(0.0, (z**2 * phi / lead**2 - 1 / error**2) / information)) for z in (CONFIDENCE_95, _POWER_80)
        )
        return even, likely

    def _reversals(self, order: Sequence[int], ratings: Vector) -> tuple[tuple[Reversal, ...], str | None]:
        best: list[Reversal] = []
        new_first, most = None, math.inf
        for rival in order[1 : 1 + MAX_RIVALS]:
            found = self._reverse(order[0], rival, ratings, most) if self.comparable[order[0], rival] else None
            if found is not None:
                best, leader = found
                new_first, most = self.names[leader], sum(each.games for each in best)
        return tuple(sorted(best, key=lambda each: (-each.games, each.winner, each.loser))), new_first

    def _reverse(self, first: int, rival: int, ratings: Vector, most: float) -> tuple[list[Reversal], int] | None:
        """Reverse the most effective game until `first` is not first; None if that needs `most` games.

        BayesElo's ratings count a draw as a win and a loss. With c the covariance of the ratings with the lead of
        `first` over `rival`, a win that i loses to j instead lowers this lead by c_i - c_j.
        """
        tally, likelihood = self.tally, self.likelihood
        # 1: wins of the pair's first agent may be reversed; -1: wins of its second agent.
        sign = np.zeros(len(self.games))
        for agent, side in ((rival, -1.0), (first, 1.0)):
            sign[tally.first == agent] = side
            sign[tally.second == agent] = -side
        won = np.where(sign > 0, tally.wins, np.where(sign < 0, tally.losses, 0))
        left = won.copy()
        wins, losses = (tally.wins + tally.draws)[None], (tally.losses + tally.draws)[None]
        none = np.zeros_like(wins)
        at = likelihood.start(ratings, Davidson.NO_DRAWS, none)
        lead_of = np.zeros(len(self.names) + 2)
        lead_of[[first, rival]] = 1, -1
        while True:
            counts = wins, none, losses
            slope, information = (of(at, *counts)[0] for of in (likelihood.slope, likelihood.information))
            step, c = np.linalg.solve(information, np.stack([slope, lead_of], axis=1)).T
            at = fit_leagues(likelihood, at[0], *counts) if abs(step).max() > MAX_LEAGUE_STEP else at + step
            lead = at[0, first] - np.delete(at[0, :-2], first).max()
            if lead < _NEARLY_FIRST:
                at = fit_leagues(likelihood, at[0], *counts)
                others = at[0, :-2].copy()
                others[first] = -math.inf
                leader = int(rounded(others).argmax())
                if (at[0, first] - others[leader]) * ELO < _TIED_ELO:
                    break
            fall = np.where(left > 0, sign * (c[tally.first] - c[tally.second]), 0)
            pair = int(rounded(fall).argmax())
            if fall[pair] <= 0 or (won - left).sum() + 1 >= most:
                return None
            turned = min(int(left[pair]), 1 + int(_FAR_SHARE * lead / fall[pair]))
            left[pair] -= turned
            wins[0, pair] -= turned * sign[pair]
            losses[0, pair] += turned * sign[pair]
        reversals = []
        for pair in map(int, np.flatnonzero(won - left)):
            names = self.names[tally.first[pair]], self.names[tally.second[pair]]
            winner, loser = names if sign[pair] > 0 else names[::-1]
            reversals.append(Reversal(winner, loser, int(won[pair] - left[pair])))
        return reversals, leader

    def _unusual(self) -> tuple[UnusualPair, ...]:
        if len(self.games) < len(self.names):
            return ()
        found = []
        for pair, p in enumerate(holm([2 * normal_tail(math.sqrt(each)) for each in self.deviances])):
            if p <= SIGNIFICANCE:
                games = float(self.games[pair])
                score, expected = float(self.scores[pair]), games * float(self.expected[pair])
                one, other = self.names[self.tally.first[pair]], self.names[self.tally.second[pair]]
                if score < expected:
                    one, other, score, expected = other, one, games - score, games - expected
                found.append(UnusualPair(one, other, int(games), score, expected, p))
        return tuple(sorted(found, key=lambda each: (rounded_p(each.p), each.agent, each.opponent)))


def _rated_places(ratings: Mapping[str, float]) -> Mapping[str, int]:
    places: dict[str, int] = {}
    before, place = math.inf, 0
    for number, (agent, elo) in enumerate(sorted(ratings.items(), key=lambda item: -round(item[1], 6)), 1):
        if before - elo >= _TIED_ELO:
            place = number
        places[agent], before = place, elo
    return places


def _deviance(games: Vector, scores: Matrix, expected: Matrix) -> Matrix:
    mean = games * np.clip(expected, _LEAST_SHARE, 1 - _LEAST_SHARE)
    return np.maximum(0, 2 * (_log_ratio(scores, mean) + _log_ratio(games - scores, games - mean)))


def _log_ratio(x: Matrix, mean: Matrix) -> Matrix:
    return x * np.log(np.where(x > 0, x, 1) / np.where(x > 0, mean, 1))


def _maximum_quantile(drawn: Matrix, variance: Matrix, tested: Truth) -> float:
    maxima = np.zeros(drawn.shape[1])
    error = np.sqrt(variance)
    both = np.triu(tested & tested.T)
    for pairs, is_both in ((both, True), (tested & ~(both | both.T), False)):
        for at in np.flatnonzero(pairs.any(axis=1)):
            others = pairs[at]
            leads = (drawn[at] - drawn[others]) / error[at, others][:, None]
            np.maximum(maxima, (abs(leads) if is_both else leads).max(axis=0), out=maxima)
    return float(np.quantile(maxima, 1 - SIGNIFICANCE))


def _ranges(above: Truth) -> list[tuple[int, int]]:
    better, worse = above.sum(axis=0).tolist(), above.sum(axis=1).tolist()
    return [(1 + above_it, len(above) - below_it) for above_it, below_it in zip(better, worse, strict=True)]
