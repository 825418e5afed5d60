"""Fairness of the machines: effects of slot, host, hour, order and neighbours on scores and times per move.

Each game has two values, with these models:

    score of the first seat = 1/2 + effect of the pair + advantage + effect of the factor
    mean log time per move  = effect of the pair + effect of the factor

For the seat, the time value is the log time per move of the first seat minus that of the second. Least squares with and
without the factor give the variance ratio (F) of a linear hypothesis (Fisher; Scheffe, The Analysis of Variance, 1959,
2). Two agents in the same seats are a block; games are compared within blocks only. If that leaves too few games, both
blocks of a pair are joined, with one advantage for all pairs; then, as where most pairs meet once, each agent has one
unknown. The unknowns are first eliminated from all columns (Frisch and Waugh, Econometrica 1, 1933).

A factor is a set of levels (slot, host, hour of the day) or a number (order: start from 0 to 1; neighbours: other games
on the host at the start). Holm's procedure adjusts all p-values, so fair machines are reported as unfair in 5 % of
contests. A difference x of logarithms is reported as exp(x) - 1.

The 95 % interval is Scheffe's (3.5), valid for all levels at once. `found` is the effect,
at a level of average frequency or between the extremes of a number, that is detected with a probability of at
least 90 %, even as the first test in Holm's procedure.

Results are assumed independent given the model. Deterministic agents that repeat games make the tests overconfident.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from judge.contest_games import GameConditions, GameResult
from judge.statistics.scales import (
    SIGNIFICANCE,
    chi_square_shift,
    holm,
    rounded,
    variance_ratio_point,
    variance_ratio_tail,
)

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]

POWER = 0.9

MIN_GAMES = 10
"""Levels with fewer games are joined as `others`; fewer residual degrees are not tested."""

DIFFERENT = 30
"""Minimum number of games in which a number must differ: a few outliers would decide the fit."""

OTHERS = "others"
SCORE, TIME = "score", "time a move"
ALONE, FEW, ALIKE = "nothing to compare", "too few games", "differs in too few games"

LEVELS, NUMBERS, SEAT = ("slot", "host", "hour"), ("order", "neighbours"), "seat"
FAIRNESS_WORDS = (*LEVELS, *NUMBERS, SEAT, SCORE, TIME, OTHERS, ALONE, FEW, ALIKE)


@dataclass(frozen=True, slots=True)
class FairnessTest:
    """Effects are points of the first seat, or relative times per move (0.01 is 1 % more, -0.5 is half).

    `p` is None if nothing can be compared (`why`); `adjusted` accounts for all tests. `level` has the largest `effect`,
    with the 95 % interval `low` to `high`.
    """

    factor: str
    response: str
    levels: int
    games: int
    p: float | None = None
    adjusted: float | None = None
    level: str = ""
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    found: float | None = None
    why: str = ""

    @property
    def has_effect(self) -> bool:
        """Whether the factor is significant."""
        return self.adjusted is not None and self.adjusted <= SIGNIFICANCE


def fairness_tests(results: Sequence[GameResult], conditions: Sequence[GameConditions]) -> list[FairnessTest]:
    """`conditions` are those of each result's game. A game that both lost by faults has no score."""
    if not results:
        return []
    games = _Games(results, conditions)
    tests = []
    for response in (_Response(games, SCORE, games.scores, -1.0), _Response(games, TIME, games.times, 1.0)):
        for factor, (levels, codes) in zip(LEVELS, games.levels, strict=True):
            tests.append(_test_levels(factor, response, levels, codes))
        for factor, numbers in zip(NUMBERS, games.numbers, strict=True):
            tests.append(_test_number(factor, response, numbers))
    for name, values in ((SCORE, games.scores), (TIME, games.leads)):
        response = _Response(games, name, values, -1.0, of_seats=True)
        tests.append(_test_number(SEAT, response, np.ones(len(results))))
    adjusted = iter(holm([test.p for test in tests if test.p is not None]))
    return [test if test.p is None else replace(test, adjusted=next(adjusted)) for test in tests]


class _Games:
    def __init__(self, results: Sequence[GameResult], conditions: Sequence[GameConditions]) -> None:
        agents = sorted({agent for result in results for agent in result.agents})
        place = {agent: at for at, agent in enumerate(agents)}
        self.agents = len(agents)
        self.first: Codes = np.array([place[result.first] for result in results], dtype=np.intp)
        self.second: Codes = np.array([place[result.second] for result in results], dtype=np.intp)
        self.scores: Vector = np.array(
            [result.scores[0] - 0.5 if result.is_draw or result.winner is not None else math.nan for result in results]
        )
        logs = np.array([[_log_time(result, seat) for seat in (0, 1)] for result in results]).reshape(-1, 2)
        self.times: Vector = logs.mean(axis=1)
        self.leads: Vector = logs[:, 0] - logs[:, 1]
        self.levels = [
            _levels([f"{each.host} {each.slot}".strip() for each in conditions]),
            _levels([each.host for each in conditions]),
            _levels([each.hour for each in conditions]),
        ]
        _, places = np.unique(np.array([each.began for each in conditions]), return_inverse=True)
        # From 0 to 1; games with equal starts share a place.
        order: Vector = places / max(1, places.max(initial=0))
        self.numbers = order, _neighbours(conditions)


def _log_time(result: GameResult, seat: int) -> float:
    replies, charged = result.replies[seat], result.charged_ms[seat]
    return math.log(charged / replies) if replies and charged > 0 else math.nan


def _neighbours(conditions: Sequence[GameConditions]) -> Vector:
    """Counts no later starts, which depend on the game's own duration."""
    counts = np.zeros(len(conditions))
    hosts: dict[str, list[int]] = {}
    for at, each in enumerate(conditions):
        hosts.setdefault(each.host, []).append(at)
    for members in hosts.values():
        begins = np.array([conditions[at].began for at in members])
        ends = np.sort([conditions[at].began + conditions[at].seconds for at in members])
        before = np.searchsorted(np.sort(begins), begins, side="left")
        counts[members] = before - np.searchsorted(ends, begins, side="right")
    return np.maximum(counts, 0.0)


def _levels(names: Sequence[str]) -> tuple[list[str], Codes]:
    counts = Counter(names)
    kept = sorted(name for name, count in counts.items() if count >= MIN_GAMES)
    levels = [*kept, OTHERS] if len(kept) < len(counts) else kept
    place = {name: at for at, name in enumerate(kept)}
    return levels, np.array([place.get(name, len(kept)) for name in names], dtype=np.intp)


@dataclass(frozen=True, slots=True)
class _Sweep:
    """Eliminates `rank` unknowns from a column."""

    rank: int
    left_of: Callable[[Vector], Vector]

    def __call__(self, column: Vector) -> Vector:
        """Exactly zero where only rounding errors are left."""
        left = self.left_of(column)
        return left if float(left @ left) > 1e-12 * float(column @ column) else np.zeros(len(column))


def _sweep_pairs(pair: Codes, side: Vector) -> _Sweep:
    """One unknown per block or pair; `side` is its sign in each game, or 0."""
    counts = np.bincount(pair, side**2)

    def left_of(column: Vector) -> Vector:
        means = np.bincount(pair, side * column) / np.maximum(1.0, counts)
        left: Vector = column - side * means[pair]
        return left

    return _Sweep(int((counts > 0).sum()), left_of)


def _sweep_agents(agents: int, first: Codes, second: Codes, sign: float) -> _Sweep:
    normal = np.zeros((agents, agents))
    for one, one_sign in ((first, 1.0), (second, sign)):
        for other, other_sign in ((first, 1.0), (second, sign)):
            normal += (
                one_sign * other_sign * np.bincount(one * agents + other, minlength=agents**2).reshape(agents, agents)
            )
    inverse: Matrix = np.linalg.pinv(normal, rcond=1e-10, hermitian=True).astype(np.float64)

    def left_of(column: Vector) -> Vector:
        parts = inverse @ (np.bincount(first, column, agents) + sign * np.bincount(second, column, agents))
        left: Vector = column - parts[first] - sign * parts[second]
        return left

    return _Sweep(round(float(np.trace(inverse @ normal))), left_of)


_LEAST_LEFT, _LEAST_SHARE = 2 * MIN_GAMES, 1 / 3


def _leaves_enough(unknowns: int, games: int) -> bool:
    return games - unknowns >= max(_LEAST_LEFT, _LEAST_SHARE * games)


def _sweep_of(games: _Games, used: npt.NDArray[np.bool_], sign: float, *, of_seats: bool) -> _Sweep:
    """`sign` of the second agent's part of a value: 1 in sums, -1 in differences. `of_seats`: no blocks, because a
    block has one seating.
    """
    first, second = games.first[used], games.second[used]
    low, high, count = np.minimum(first, second), np.maximum(first, second), len(first)
    blocks, block = np.unique(first * games.agents + second, return_inverse=True)
    if not of_seats and _leaves_enough(len(blocks), count):
        return _sweep_pairs(block, np.ones(count))
    pairs, pair = np.unique(low * games.agents + high, return_inverse=True)
    if _leaves_enough(len(pairs), count):
        # A difference changes its sign with the seats; against itself it is 0.
        return _sweep_pairs(pair, np.sign(second - first).astype(np.float64) if sign < 0 else np.ones(count))
    return _sweep_agents(games.agents, first, second, sign)


class _Response:
    """The values of games, without the parts of pairs or agents."""

    def __init__(self, games: _Games, name: str, values: Vector, sign: float, *, of_seats: bool = False) -> None:
        self.name, self.of_seats = name, of_seats
        self.used = np.isfinite(values)
        self.games = int(self.used.sum())
        self.sweep = _sweep_of(games, self.used, sign, of_seats=of_seats)
        self.values = self.sweep(values[self.used])


@dataclass(frozen=True, slots=True)
class _Fitted:
    coefficients: Vector
    inverse: Matrix
    squares: float
    rank: int

    def off(self, weights: Vector, degrees: int, residual: int) -> tuple[float, float]:
        variance = self.squares / residual * float(weights @ self.inverse @ weights)
        ratio = variance_ratio_point(SIGNIFICANCE, degrees, residual)
        return float(weights @ self.coefficients), math.sqrt(degrees * ratio * max(0.0, variance))


def _fit(response: _Response, columns: Sequence[Vector]) -> _Fitted:
    matrix: Matrix = np.array(columns).reshape(len(columns), response.games)
    normal = matrix @ matrix.T
    inverse: Matrix = np.linalg.pinv(normal, rcond=1e-10, hermitian=True).astype(np.float64)
    coefficients = inverse @ (matrix @ response.values)
    residuals = response.values - coefficients @ matrix
    rank = response.sweep.rank + round(float(np.trace(inverse @ normal)))
    return _Fitted(coefficients, inverse, float(residuals @ residuals), rank)


def _compare(without: _Fitted, fitted: _Fitted, games: int, spread: float) -> tuple[float | None, float | None, str]:
    degrees, residual = fitted.rank - without.rank, games - fitted.rank
    if degrees < 1:
        return None, None, ALONE
    if residual < MIN_GAMES or fitted.squares <= 1e-12 * games:
        return None, None, FEW
    variance = fitted.squares / residual
    p = variance_ratio_tail((without.squares - fitted.squares) / degrees / variance, degrees, residual)
    shift = chi_square_shift(SIGNIFICANCE / _TESTS, degrees, POWER)
    return p, math.sqrt(shift * variance / spread) if spread > 0 else None, ""


_TESTS = 12
"""Two responses times six factors."""


def _test_levels(factor: str, response: _Response, levels: Sequence[str], codes: Codes) -> FairnessTest:
    count, sweep, here = response.games, response.sweep, codes[response.used]
    columns = [sweep((here == level).astype(np.float64)) for level in range(len(levels))]
    without, fitted = _fit(response, [sweep(np.ones(count))]), _fit(response, columns)
    of_level = np.bincount(here, minlength=len(levels))
    # For a level of average frequency, within the blocks.
    spread = sum(float(column @ column) for column in columns) / max(1, len(levels))
    p, found, why = _compare(without, fitted, count, spread)
    if p is None:
        return FairnessTest(factor, response.name, len(levels), count, why=why)
    effects = fitted.coefficients
    # Compared with the mean of all other games.
    others = (of_level @ effects - of_level * effects) / np.maximum(1, count - of_level)
    off = np.where(of_level > 0, effects - others, 0.0)
    most = int(rounded(np.abs(off)).argmax())
    weights = -of_level / max(1, count - of_level[most])
    weights[most] = 1.0
    off_by = fitted.off(weights, fitted.rank - without.rank, count - fitted.rank)
    sizes = _sizes(response.name, *off_by, found)
    return FairnessTest(factor, response.name, len(levels), count, p, None, levels[most], *sizes)


def _test_number(factor: str, response: _Response, numbers: Vector) -> FairnessTest:
    count, sweep, here = response.games, response.sweep, numbers[response.used]
    column = sweep(here)
    advantage = [] if response.of_seats else [sweep(np.ones(count))]
    without, fitted = _fit(response, advantage), _fit(response, [*advantage, column])
    if advantage and count:  # What the advantage does not explain.
        known = advantage[0]
        column = column - (known @ column / max(1e-300, float(known @ known))) * known
    squares = float((column**2).sum())
    different, extent = float(count), 1.0
    if not response.of_seats:
        different = squares**2 / max(float((column**4).sum()), 1e-300)
        extent = float(np.ptp(here)) if count else 0.0
    p, found, why = _compare(without, fitted, count, squares / extent**2 if extent else 0.0)
    if p is not None and different < DIFFERENT:
        p, why = None, ALIKE
    if p is None:
        return FairnessTest(factor, response.name, 1, count, why=why)
    weights = np.zeros(len(fitted.coefficients))
    weights[-1] = extent
    sizes = _sizes(response.name, *fitted.off(weights, 1, count - fitted.rank), found)
    return FairnessTest(factor, response.name, 1, count, p, None, "", *sizes)


_MOST = 50.0
"""Maximum of a logarithm: a share of 22 digits."""


def _sizes(response: str, effect: float, reach: float, found: float | None) -> tuple[float, float, float, float | None]:

    def size(value: float) -> float:
        return math.expm1(min(value, _MOST)) if response == TIME else value

    return size(effect), size(effect - reach), size(effect + reach), None if found is None else size(found)
