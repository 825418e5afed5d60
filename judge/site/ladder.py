"""Table and charts of a ladder's pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from markupsafe import Markup

from judge.base.text import number
from judge.contest_view.ladder import TREND_GAMES, LadderAgent, RatedGame
from judge.contest_view.values import Participant
from judge.contest_view.view import ContestView
from judge.site.charts import WIDTH, Tick, round_ticks, short_label
from judge.site.plots import svg_path
from judge.translations.language import Language

HEIGHT = 220
LEFT, RIGHT = 44, 124

NAME_GAP = 16

MAX_LINES = 6

MAX_POINTS = 60

MAX_ROWS = 12

MAX_OPEN_GAMES = 50


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
class HistoryChart:
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
        "chart": _chart(contest, [(each, _thinned(each.history)) for each in best], language) if best else None,
        "best": [contest.by_name[each.agent] for each in best],
        "rows": _rows(best),
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
        "chart": _chart(contest, [(found, points)], language, has_band=True),
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


def _rows(agents: Sequence[LadderAgent]) -> Sequence[tuple[int, Sequence[float | None]]]:
    last = max((each.history[-1].order for each in agents), default=0)
    count = min(MAX_ROWS, last)
    orders = [round(last * row / count) for row in range(count, 0, -1)]
    rows = []
    for order in orders:
        before = [[point.elo for point in each.history if point.order <= order] for each in agents]
        rows.append((order, [found[-1] if found else None for found in before]))
    return rows


def _chart(
    contest: ContestView,
    agents: Sequence[tuple[LadderAgent, Sequence[RatedGame]]],
    language: Language,
    *,
    has_band: bool = False,
) -> HistoryChart:
    ends = [point.elo for _, points in agents for point in points]
    if has_band:
        narrow = agents[0][1][len(agents[0][1]) // 4 :]
        ends += [point.elo + sign * point.reach for point in narrow for sign in (-1, 1)]
    ticks = round_ticks(min(ends), max(ends))
    low, high = ticks[0], ticks[-1]
    last = max(points[-1].order for _, points in agents)
    right = WIDTH - (8 if has_band else RIGHT)

    def x(order: float) -> float:
        return round(LEFT + (right - LEFT) * order / last, 1)

    def y(elo: float) -> float:
        return round(HEIGHT * (high - min(max(elo, low), high)) / (high - low), 1)

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
    return HistoryChart(
        HEIGHT,
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
    limit = float(HEIGHT)
    for at in reversed(range(len(heights))):
        heights[at] = min(heights[at], limit)
        limit = heights[at] - NAME_GAP
    moved = {line.page: replace(line, label_y=height) for line, height in zip(ordered, heights, strict=True)}
    return [moved[line.page] for line in lines]
