"""Charts in picture units (`WIDTH` wide), readable without colour."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from judge.base.text import number, plain_text, points_text
from judge.contest_view.view import ContestView
from judge.site.pages import short_name
from judge.statistics.match_estimate import Interval
from judge.statistics.ratings import Rating, Version
from judge.translations.language import Language

WIDTH = 440
NAMES, VALUES = 118, 48

ROW = 24
MAX_ROWS = 40

_NAME_LETTERS = 16


@dataclass(frozen=True, slots=True)
class Bar:
    """A part of a bar."""

    x: float
    width: float
    kind: str
    count: int


@dataclass(frozen=True, slots=True)
class ResultBar:
    """`page` is the stem of the agent's page, `words` the text alternative."""

    y: float
    name: str
    page: str
    bars: Sequence[Bar]
    value: str
    words: str


@dataclass(frozen=True, slots=True)
class ResultsChart:
    """`left_out` counts omitted agents."""

    height: float
    rows: Sequence[ResultBar]
    left_out: int


def results_chart(contest: ContestView, language: Language) -> ResultsChart:
    """Chart of games won, drawn and lost."""
    lines = [line for line in contest.table.lines if line.agent not in contest.out]
    shown = lines[:MAX_ROWS]
    most = max((line.done.games for line in shown), default=0) or 1
    unit = (WIDTH - NAMES - VALUES) / most
    rows = []
    for at, line in enumerate(shown):
        bars, x = [], float(NAMES)
        done = line.done
        for kind, count in (("win", done.wins), ("draw", done.draws), ("loss", done.losses)):
            bars.append(Bar(x, count * unit, kind, count))
            x += count * unit
        rows.append(
            ResultBar(
                at * ROW,
                short_label(contest.by_name[line.agent].title),
                contest.by_name[line.agent].stem,
                [bar for bar in bars if bar.count],
                language.measure(points_text(line.points)),
                language.gettext("{agent}: {wins} won, {draws} drawn, {losses} lost").format(
                    agent=short_name(contest.by_name[line.agent].title),
                    wins=done.wins,
                    draws=done.draws,
                    losses=done.losses,
                ),
            )
        )
    return ResultsChart(len(rows) * ROW, rows, len(lines) - len(rows))


@dataclass(frozen=True, slots=True)
class RatingRow:
    """A rating with its interval. `page` is the stem of the agent's page, or empty."""

    y: float
    name: str
    page: str
    dot: float
    low: float
    high: float
    is_low_open: bool
    is_high_open: bool
    value: str
    words: str


@dataclass(frozen=True, slots=True)
class Tick:
    """A number on an axis."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class RatingsChart:
    """The chart of ratings; `left_out` counts omitted rows."""

    height: float
    rows: Sequence[RatingRow]
    ticks: Sequence[Tick]
    left_out: int
    pools: int


def ratings_chart(contest: ContestView, language: Language) -> RatingsChart | None:
    """Ratings with intervals; None without ratings.

    Agents whose ranges of places overlap have intervals that meet. Without ranges: 95 % intervals of each rating.
    """
    ratings = contest.ratings.ratings if contest.ratings else ()
    if not ratings:
        return None
    comparable = _comparable(contest, ratings[:MAX_ROWS])
    shown = [
        (agent.title, agent.stem, comparable.get(agent.name, rating))
        for rating in ratings[:MAX_ROWS]
        for agent in (contest.by_name[rating.agent],)
    ]
    pools = 1 + max(rating.pool for rating in ratings)
    return _intervals(shown, len(ratings) - len(shown), pools, language)


def _comparable(contest: ContestView, ratings: Sequence[Rating]) -> Mapping[str, Rating]:
    elos = {rating.agent: rating.elo for rating in ratings}
    reaches: dict[str, float] = {}
    for stage in contest.certainty:
        ranks = [rank for rank in stage.certainty.ranks if rank.agent in elos]
        widest = 1.0
        for one, other in combinations(ranks, 2):
            (low, high), (other_low, other_high) = one.shown, other.shown
            if low <= other_high and other_low <= high:
                widest = max(widest, abs(elos[one.agent] - elos[other.agent]) / (one.reach + other.reach))
        reaches |= {rank.agent: widest * rank.reach for rank in ranks}
    return {
        rating.agent: replace(rating, low=rating.elo - reaches[rating.agent], high=rating.elo + reaches[rating.agent])
        for rating in ratings
        if rating.agent in reaches
    }


def history_chart(versions: Sequence[Version], language: Language) -> RatingsChart:
    """An agent's ratings in joined contests, oldest first."""
    shown = [(version.contest, "", version.rating) for version in versions[-MAX_ROWS:]]
    pools = len({version.rating.pool for version in versions})
    return _intervals(shown, len(versions) - len(shown), pools, language)


def _intervals(shown: Sequence[tuple[str, str, Rating]], left_out: int, pools: int, language: Language) -> RatingsChart:
    ends = [end for *_, rating in shown for end in (rating.elo, rating.low, rating.high) if end is not None]
    values = round_ticks(min(ends), max(ends))
    first, last = values[0], values[-1]
    unit = (WIDTH - NAMES - VALUES) / (last - first)

    def x(elo: float) -> float:
        return NAMES + (elo - first) * unit

    rows = [
        RatingRow(
            at * ROW,
            short_label(name),
            page,
            x(rating.elo),
            NAMES if rating.low is None else x(rating.low),
            WIDTH - VALUES if rating.high is None else x(rating.high),
            rating.low is None,
            rating.high is None,
            number(rating.elo, 0),
            f"{short_name(name)}: {number(rating.elo, 0)} ({interval_text(rating, language)})",
        )
        for at, (name, page, rating) in enumerate(shown)
    ]
    ticks = [Tick(x(elo), number(elo, 0)) for elo in values]
    return RatingsChart(len(rows) * ROW, rows, ticks, left_out, pools)


def round_ticks(low: float, high: float) -> Sequence[float]:
    """Round numbers that enclose a span."""
    rough = max(high - low, 1.0) / 5
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough)
    first, last = math.floor(low / step) * step, math.ceil(high / step) * step
    if first == last:
        first, last = first - step, last + step
    return [first + step * at for at in range(round((last - first) / step) + 1)]


def interval_text(rating: Rating | Interval, language: Language, digits: int = 0) -> str:
    """An interval such as `-12 to 34`."""
    low, high = (None if end is None else number(end, digits) for end in (rating.low, rating.high))
    if high is None:
        return language.gettext("unlimited") if low is None else language.gettext("at least {low}").format(low=low)
    if low is None:
        return language.gettext("at most {high}").format(high=high)
    return language.gettext("{low} to {high}").format(low=low, high=high)


def short_label(name: str) -> str:
    """A short name."""
    return plain_text(short_name(name), _NAME_LETTERS)
