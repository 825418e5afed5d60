"""Charts as numbers: where each bar, dot and line of a picture lies; the templates only write them down.

Lengths are in the picture's own units, a picture being `WIDTH` of them wide. Colours are the style sheet's, and no
chart says anything by its colours alone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from judge.contest.ratings import Rating
from judge.publish.formatting import LONGEST_NAME, halves, plain
from judge.publish.publication import Publication
from judge.records.steps import ReplayStep
from judge.text import duration, number

WIDTH = 440
NAMES, VALUES = 118, 48
"""What the names on the left and the values on the right take."""

ROW = 24
MOST_ROWS = 60
"""More agents than that are in no chart; the table has them all."""

_NAME_LETTERS = 16


@dataclass(frozen=True, slots=True)
class Bar:
    """A part of a bar: from `x`, so wide, what it counts and how many."""

    x: float
    width: float
    kind: str
    count: int


@dataclass(frozen=True, slots=True)
class ResultRow:
    """An agent's games as one bar: won, drawn, lost."""

    y: float
    name: str
    page: int
    bars: Sequence[Bar]
    value: str


@dataclass(frozen=True, slots=True)
class Results:
    """The chart of points."""

    height: float
    rows: Sequence[ResultRow]
    left_out: int


def results_chart(publication: Publication) -> Results:
    """Games won, drawn and lost, a bar an agent, in the order of the table; the value is the points."""
    shown = publication.table[:MOST_ROWS]
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
            ResultRow(
                at * ROW,
                _short(line.agent),
                publication.by_name[line.agent].number,
                [bar for bar in bars if bar.count],
                halves(line.points),
            )
        )
    return Results(len(rows) * ROW, rows, len(publication.table) - len(rows))


@dataclass(frozen=True, slots=True)
class RatingRow:
    """An agent's rating: the dot, and the ends of its interval; one that games do not give runs out of the picture."""

    y: float
    name: str
    page: int
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
class Ratings:
    """The chart of ratings, best first."""

    height: float
    rows: Sequence[RatingRow]
    ticks: Sequence[Tick]
    left_out: int
    pools: int


def ratings_chart(publication: Publication) -> Ratings | None:
    """Ratings with their 95 % intervals; None where nobody is rated."""
    if publication.ratings is None or not publication.ratings.ratings:
        return None
    ratings = publication.ratings.ratings
    shown = ratings[:MOST_ROWS]
    ends = [end for each in shown for end in (each.elo, each.low, each.high) if end is not None]
    step = _step(max(ends) - min(ends))
    first, last = math.floor(min(ends) / step) * step, math.ceil(max(ends) / step) * step
    if first == last:
        first, last = first - step, last + step
    unit = (WIDTH - NAMES - VALUES) / (last - first)

    def x(elo: float) -> float:
        return NAMES + (elo - first) * unit

    rows = [
        RatingRow(
            at * ROW,
            _short(each.agent),
            publication.by_name[each.agent].number,
            x(each.elo),
            NAMES if each.low is None else x(each.low),
            WIDTH - VALUES if each.high is None else x(each.high),
            each.low is None,
            each.high is None,
            number(each.elo, 0),
            interval_words(each),
        )
        for at, each in enumerate(shown)
    ]
    ticks = [
        Tick(x(elo), number(elo, 0))
        for elo in (first + step * each for each in range(round((last - first) / step) + 1))
    ]
    pools = 1 + max(each.pool for each in ratings)
    return Ratings(len(rows) * ROW, rows, ticks, len(ratings) - len(rows), pools)


def interval_words(rating: Rating) -> str:
    """A rating's interval in words."""
    low = "no lower end" if rating.low is None else number(rating.low, 0)
    high = "no upper end" if rating.high is None else number(rating.high, 0)
    return f"{low} to {high}"


def _step(span: float) -> float:
    """A round number that goes four to eight times into `span`."""
    rough = max(span, 1.0) / 5
    size = 10.0 ** math.floor(math.log10(rough))
    return next(size * each for each in (1, 2, 5, 10) if size * each >= rough)


# --- a game ----------------------------------------------------------------------------------------------------------

CLOCK_WIDTH, CLOCK_HEIGHT = 600, 120

FEWEST_BARS = 30
"""A chart of fewer moves is not wider for it."""

_AXIS = CLOCK_HEIGHT / 2
_MARGIN = 4


@dataclass(frozen=True, slots=True)
class ClockBar:
    """The time of an answer: seat 0 upwards from the middle, seat 1 downwards."""

    x: float
    y: float
    width: float
    height: float
    step: int
    seat: int
    words: str


@dataclass(frozen=True, slots=True)
class ClockChart:
    """The times of a game's answers; `most` is what a full bar means."""

    height: float
    axis: float
    bars: Sequence[ClockBar]
    most: str


def clock_chart(steps: Sequence[ReplayStep]) -> ClockChart | None:
    """The time charged for each answer; None where nobody knows one."""
    timed = [(at, step.seat, step.ms) for at, step in enumerate(steps) if step.ms is not None and step.seat is not None]
    if not timed:
        return None
    most = max(max(ms for _, _, ms in timed), 1.0)
    unit = CLOCK_WIDTH / max(len(steps) - 1, FEWEST_BARS)
    bars = []
    for at, seat, ms in timed:
        height = max(1.5, ms / most * (_AXIS - _MARGIN))
        bars.append(
            ClockBar(
                x=(at - 1) * unit,
                y=_AXIS - height if seat == 0 else _AXIS,
                width=max(0.6, unit * 0.82),
                height=height,
                step=at,
                seat=seat,
                words=f"{at}: {duration(ms)}",
            )
        )
    return ClockChart(CLOCK_HEIGHT, _AXIS, bars, duration(most))


def _short(name: str) -> str:
    return plain(plain(name, LONGEST_NAME), _NAME_LETTERS)
