"""Counts of a match's results, the strength difference that they show (Elo, normalized Elo), and lists of candidates.

The two games of an opening are not independent: it may favour the first seat. Pairs are independent, with five counts
(pentanomial) instead of three (trinomial).

With n results of mean score s and variance v, the standard error of s is sqrt(v / n). The ends of the 95 % interval of
s are converted to Elo. Normalized Elo divides by the standard deviation of a game, for pairs sqrt(2 v). The likelihood
of superiority (LOS), P(s > 1/2) with a uniform prior, is Phi((s - 1/2) / error).

If all results are of one kind, v is 0, and the interval follows Clopper and Pearson (1934): at least 0.025
** (1 / n) of all results are of that kind, and the rest may be anything. A score of 1 is compatible with
any superiority, so its Elo and the interval's upper end are unlimited.

Candidates are compared with one base by Student's t, because the variance is estimated from the same pairs. Holm's
procedure adjusts the p-values.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from judge.base.errors import InputError
from judge.contest_games import GameResult
from judge.statistics.scales import (
    CONFIDENCE_95,
    NORMAL,
    NORMALIZED_ELO,
    SIGNIFICANCE,
    elo_of_score,
    holm,
    rounded_p,
    student_tail,
)

GAME_SCORES = (0.0, 0.5, 1.0)
"""Scores of a game: lost, drawn, won."""

PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Scores per game of two games, from two losses to two wins."""

_GAMES_OF_PAIRS = ((2, 0, 0), (1, 1, 0), (0, 2, 0), (1, 0, 1), (0, 1, 1), (0, 0, 2))
"""(lost, drawn, won) of LL, LD, DD, WL, WD, WW."""


@dataclass(frozen=True, slots=True)
class MatchCounts:
    """Results of each kind, worst first: three counts of games or five of pairs.

    `games` are the pairs' lost, drawn and won games; None if unknown, because DD and WL are one count.
    """

    counts: tuple[int, ...]
    games: tuple[int, int, int] | None

    @classmethod
    def of_games(cls, lost: int, drawn: int, won: int) -> Self:
        return cls((lost, drawn, won), (lost, drawn, won))

    @classmethod
    def of_numbers(cls, numbers: Sequence[int]) -> Self:
        """Three, five or six counts, worst first. Raises InputError for others.

        Games: lost, drawn, won. Pairs: LL, LD, WL+DD, WD, WW. Pairs with DD apart: LL, LD, DD, WL, WD, WW.
        """
        if any(number < 0 for number in numbers):
            raise InputError(f"count {min(numbers)} is negative")
        match len(numbers):
            case 3:
                return cls.of_games(*numbers)
            case 5:
                return cls(tuple(numbers), None)
            case 6:
                lost_both, lost_drawn, drawn_both, split, won_drawn, won_both = numbers
                lost, drawn, won = (
                    sum(count * games[kind] for count, games in zip(numbers, _GAMES_OF_PAIRS, strict=True))
                    for kind in range(3)
                )
                return cls((lost_both, lost_drawn, drawn_both + split, won_drawn, won_both), (lost, drawn, won))
            case _:
                raise InputError(
                    f"{len(numbers)} counts: write three of games (lost drawn won) or five of pairs"
                    " (LL LD WL+DD WD WW); six with DD and WL apart (LL LD DD WL WD WW)"
                )

    @classmethod
    def of_results(cls, results: Iterable[GameResult], agent: str) -> Self:
        """Count complete pairs (games 0 and 1 of a pairing, 2 and 3, ...) of `agent` if there are any, otherwise single
        games.
        """
        return cls.of_contests([results], agent)

    @classmethod
    def of_contests(cls, contests: Iterable[Iterable[GameResult]], agent: str) -> Self:
        """As `of_results`, for the results of several contests."""
        pairs: dict[tuple[int, int, int, int], list[float]] = {}
        for number, results in enumerate(contests):
            for result in results:
                scored = result.scores[result.agents.index(agent)]
                pairs.setdefault((number, result.round, result.table, result.leg // 2), []).append(scored)
        kinds = [0] * len(_GAMES_OF_PAIRS)
        singles = [0, 0, 0]
        for scores in pairs.values():
            lost, drawn, won = (scores.count(score) for score in GAME_SCORES)
            if len(scores) == 2:
                kinds[_GAMES_OF_PAIRS.index((lost, drawn, won))] += 1
            else:
                singles = [singles[0] + lost, singles[1] + drawn, singles[2] + won]
        return cls.of_numbers(kinds if any(kinds) else singles)

    def plus(self, other: Self) -> Self:
        """Both results. Raises ValueError unless both count games or both count pairs."""
        games = None
        if self.games is not None and other.games is not None:
            games = (self.games[0] + other.games[0], self.games[1] + other.games[1], self.games[2] + other.games[2])
        return type(self)(tuple(map(sum, zip(self.counts, other.counts, strict=True))), games)

    @property
    def scores(self) -> tuple[float, ...]:
        """Score per game of each kind."""
        return GAME_SCORES if len(self.counts) == len(GAME_SCORES) else PAIR_SCORES

    @property
    def are_pairs(self) -> bool:
        return self.scores is PAIR_SCORES

    @property
    def total(self) -> int:
        return sum(self.counts)


_TAIL = 0.025


@dataclass(frozen=True, slots=True)
class Interval:
    """A value and its 95 % interval; None where the results give no limit."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class MatchEstimate:
    """Estimates for the first side. `score` is per game, 0 to 1, `los` a probability.

    `draws`: share of drawn games; None if the pairs do not show it.
    """

    games: int
    score: float
    elo: Interval
    normalized: Interval
    los: float
    draws: float | None


def estimate_match(counts: MatchCounts) -> MatchEstimate | None:
    """None without results."""
    n = counts.total
    if not n:
        return None
    score, low, high = interval_of_mean(counts.counts, counts.scores)
    games = n * (2 if counts.are_pairs else 1)
    draws = None if counts.games is None else counts.games[1] / sum(counts.games)
    if max(counts.counts) == n:
        normalized = Interval(0.0 if score == 0.5 else None, None, None)
        los = _los_of_one_kind(score, n)
    else:
        variance = _mean(counts.counts, counts.scores)[1] / n
        error = math.sqrt(variance / n)
        unit = NORMALIZED_ELO / math.sqrt(variance * games / n)
        middle, reach = (score - 0.5) * unit, CONFIDENCE_95 * error * unit
        normalized = Interval(middle, middle - reach, middle + reach)
        los = NORMAL.cdf((score - 0.5) / error)
    elo = Interval(elo_of_score(score), elo_of_score(low), elo_of_score(high))
    return MatchEstimate(games, score, elo, normalized, los, draws)


def interval_of_mean(counts: Sequence[int], scores: Sequence[float]) -> tuple[float, float, float]:
    """The mean score and its interval. `scores` ascend, and at least one count is positive."""
    n = sum(counts)
    mean, squares = _mean(counts, scores)
    if max(counts) == n:
        certain = _TAIL ** (1 / n)
        return mean, certain * mean + (1 - certain) * scores[0], certain * mean + (1 - certain) * scores[-1]
    reach = CONFIDENCE_95 * math.sqrt(squares / n / n)
    return mean, max(mean - reach, scores[0]), min(mean + reach, scores[-1])


def _mean(counts: Sequence[int], scores: Sequence[float]) -> tuple[float, float]:
    """The mean, and the sum of the squares around it."""
    mean = sum(count * of for count, of in zip(counts, scores, strict=True)) / sum(counts)
    return mean, sum(count * (of - mean) ** 2 for count, of in zip(counts, scores, strict=True))


def _los_of_one_kind(score: float, n: int) -> float:
    """LOS of a side that only won, or only lost: from Beta(n + 1, 1)."""
    if score == 0.5:
        return 0.5
    return 1 - 0.5 ** (n + 1) if score > 0.5 else 0.5 ** (n + 1)


@dataclass(frozen=True, slots=True)
class Candidate:
    """`p` is of a single test, `adjusted` of the whole list."""

    agent: str
    counts: MatchCounts
    estimate: MatchEstimate
    p: float
    adjusted: float

    @property
    def is_stronger(self) -> bool:
        """Whether it is stronger. The probability of any error in the list is at most 5 %."""
        return self.adjusted <= SIGNIFICANCE


def p_value(counts: MatchCounts, estimate: MatchEstimate) -> float:
    """Probability of these or better results if the side is not stronger."""
    n = counts.total
    if max(counts.counts) == n:
        return 1 - estimate.los
    score, squares = _mean(counts.counts, counts.scores)
    return student_tail((score - 0.5) / math.sqrt(squares / (n - 1) / n), n - 1)


def compare_candidates(contests: Sequence[Iterable[GameResult]], base: str) -> list[Candidate]:
    """All opponents of `base` in the results of each contest, most certain first."""
    met: dict[str, list[list[GameResult]]] = {}
    for number, results in enumerate(contests):
        for result in results:
            if base in result.agents and result.first != result.second:
                opponent = result.agents[result.first == base]
                met.setdefault(opponent, [[] for _ in contests])[number].append(result)
    found = []
    for agent, games in sorted(met.items()):
        counts = MatchCounts.of_contests(games, agent)
        estimate = estimate_match(counts)
        if estimate is not None:
            found.append((agent, counts, estimate, p_value(counts, estimate)))
    adjusted = holm([p for *_, p in found])
    listed = [Candidate(*each, of_all) for each, of_all in zip(found, adjusted, strict=True)]
    return sorted(listed, key=lambda candidate: (rounded_p(candidate.p), candidate.agent))
