"""Charts in picture units (`WIDTH` wide), readable without colour, and the values of a ladder's pages."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import combinations
from typing import Any

from markupsafe import Markup

from judge.base.text import number, plain_text, points_text
from judge.contest_view.ladder import TREND_GAMES, LadderAgent, RatedGame
from judge.contest_view.values import Participant
from judge.contest_view.view import ContestView
from judge.site.pages import short_name
from judge.site.plots import svg_path
from judge.statistics.match_estimate import Interval
from judge.statistics.ratings import Rating, Version
from judge.translations.language import Language

WIDTH = 440
NAMES, VALUES = 118, 48

ROW = 24
MAX_ROWS = 40

LADDER_HEIGHT = 220
LADDER_LEFT, LADDER_RIGHT = 44, 124
NAME_GAP = 16
MAX_LINES = 6
MAX_POINTS = 60
MAX_LADDER_ROWS = 12
MAX_OPEN_GAMES = 50

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


# --- ladders ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Line:
    """An agent's ratings. `style` is a dash pattern, from 0."""

    style: int
    path: Markup
    x: float
    y: float
    label_y: float
    name: str
    page: str
    words: str


@dataclass(frozen=True, slots=True)
class LadderChart:
    """`band`: interval of a single agent."""

    height: float
    lines: Sequence[Line]
    band: Markup
    ratings: Sequence[Tick]
    games: Sequence[Tick]
    right: float


def ladder_values(contest: ContestView, language: Language) -> Mapping[str, Any] | None:
    """None for other formats."""
    found = contest.ladder
    if not found:
        return None
    now = datetime.fromisoformat(contest.journal[-1].at)
    shown = [found[line.agent] for line in contest.table.lines if line.agent in found]
    best = [each for each in shown if each.history and each.agent not in contest.out][:MAX_LINES]
    open_games = [game for game in contest.unfinished if game.first in found and game.second in found]
    return {
        "agents": found,
        "last": {each.agent: last_game(each) for each in shown if each.history},
        "now": now,
        "trend_games": TREND_GAMES,
        "signed": signed,
        "games": open_games[:MAX_OPEN_GAMES],
        "more_games": max(0, len(open_games) - MAX_OPEN_GAMES),
        "chart": _ladder_chart(contest, [(each, _thinned(each.history)) for each in best], language) if best else None,
        "best": [contest.by_name[each.agent] for each in best],
        "rows": _ladder_rows(best),
    }


def agent_values(contest: ContestView, agent: Participant, language: Language) -> Mapping[str, Any] | None:
    """None for other formats, and before the first game."""
    found = contest.ladder.get(agent.name)
    if found is None or not found.history:
        return None
    points = _thinned(found.history)
    rows = [
        (each, contest.by_name[each.game.second if each.game.first == agent.name else each.game.first])
        for each in reversed(points)
    ]
    return {
        "agent": found,
        "is_anchor": not found.deviation,
        "signed": signed,
        "trend_games": TREND_GAMES,
        "last": last_game(found),
        "now": datetime.fromisoformat(contest.journal[-1].at),
        "games": found.open_games[:MAX_OPEN_GAMES],
        "chart": _ladder_chart(contest, [(found, points)], language, has_band=True),
        "rows": rows,
        "left_out": len(found.history) - len(points),
    }


def last_game(agent: LadderAgent) -> str:
    """UTC minute of its last result."""
    return agent.history[-1].at[:16].replace("T", " ")


def signed(value: float) -> str:
    """With a plus if it is positive."""
    text = number(value, 0)
    return text if value < 0 or text == "0" else f"+{text}"


def _thinned(points: Sequence[RatedGame]) -> Sequence[RatedGame]:
    if len(points) <= MAX_POINTS:
        return points
    step = len(points) / MAX_POINTS
    return [points[round(step * at) - 1] for at in range(1, MAX_POINTS + 1)]


def _ladder_rows(agents: Sequence[LadderAgent]) -> Sequence[tuple[int, Sequence[float | None]]]:
    last = max((each.history[-1].order for each in agents), default=0)
    count = min(MAX_LADDER_ROWS, last)
    orders = [round(last * row / count) for row in range(count, 0, -1)]
    rows = []
    for order in orders:
        before = [[point.elo for point in each.history if point.order <= order] for each in agents]
        rows.append((order, [found[-1] if found else None for found in before]))
    return rows


def _ladder_chart(
    contest: ContestView,
    agents: Sequence[tuple[LadderAgent, Sequence[RatedGame]]],
    language: Language,
    *,
    has_band: bool = False,
) -> LadderChart:
    ends = [point.elo for _, points in agents for point in points]
    if has_band:
        narrow = agents[0][1][len(agents[0][1]) // 4 :]
        ends += [point.elo + sign * point.reach for point in narrow for sign in (-1, 1)]
    ticks = round_ticks(min(ends), max(ends))
    low, high = ticks[0], ticks[-1]
    last = max(points[-1].order for _, points in agents)
    right = WIDTH - (8 if has_band else LADDER_RIGHT)

    def x(order: float) -> float:
        return round(LADDER_LEFT + (right - LADDER_LEFT) * order / last, 1)

    def y(elo: float) -> float:
        return round(LADDER_HEIGHT * (high - min(max(elo, low), high)) / (high - low), 1)

    lines = []
    for style, (agent, points) in enumerate(agents):
        title = contest.by_name[agent.agent].title
        ratings = number(points[0].elo, 0), number(points[-1].elo, 0)
        words = language.gettext("{agent}: {first} after the first game, {last} after the last").format(
            agent=short_label(title), first=ratings[0], last=ratings[1]
        )
        path = svg_path("M" + "L".join(f"{x(point.order)} {y(point.elo)}" for point in points))
        at = x(points[-1].order), y(points[-1].elo)
        page = contest.by_name[agent.agent].stem
        lines.append(Line(style, path, *at, at[1], short_label(title), page, words))
    band = Markup()
    if has_band and agents[0][0].deviation:
        points = agents[0][1]
        upper = [f"{x(point.order)} {y(point.elo + point.reach)}" for point in points]
        lower = [f"{x(point.order)} {y(point.elo - point.reach)}" for point in reversed(points)]
        band = svg_path("M" + "L".join([*upper, *lower]) + "Z")
    orders = sorted({1, round(last / 2), last})
    return LadderChart(
        LADDER_HEIGHT,
        _spread(lines),
        band,
        [Tick(y(elo), number(elo, 0)) for elo in ticks],
        [Tick(x(order), language.grouped(order)) for order in orders],
        right,
    )


def _spread(lines: Sequence[Line]) -> Sequence[Line]:
    ordered = sorted(lines, key=lambda line: line.y)
    heights: list[float] = []
    for line in ordered:
        heights.append(max(line.y, heights[-1] + NAME_GAP if heights else 0.0))
    limit = float(LADDER_HEIGHT)
    for at in reversed(range(len(heights))):
        heights[at] = min(heights[at], limit)
        limit = heights[at] - NAME_GAP
    moved = {line.page: replace(line, label_y=height) for line, height in zip(ordered, heights, strict=True)}
    return [moved[line.page] for line in lines]
