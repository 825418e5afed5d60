"""Ratings of a ladder on a terminal."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from rich.console import Console
from rich.text import Text

from judge.base.text import duration, printable, titled
from judge.contest_view.ladder import TREND_GAMES, LadderAgent
from judge.contest_view.view import ContestView
from judge.terminal.output import make_table, print_table, width_of


def ladder_cells(found: LadderAgent, now: datetime | None) -> tuple[str, str, str, str]:
    """Rating, interval, trend, and time since the last game; without `now` its moment."""
    since = ""
    if found.history:
        at = datetime.fromisoformat(found.history[-1].at)
        if now is None:
            since = f"{at.astimezone(UTC):%Y-%m-%d %H:%M}"
        else:
            since = f"{duration(1000 * max(1, round((now - at).total_seconds())))} ago"
    return (
        f"{found.elo:.0f}",
        "fixed" if not found.deviation else f"{found.reach:.0f}" if found.history else "",
        "" if found.trend is None else f"{found.trend:+.0f}",
        since,
    )


_COLUMNS = ("", "agent", "rating", "Elo", "±", "trend", "games", "won", "drawn", "lost", "failed", "open", "last game")

_LEFT_OUT_FIRST = ("open", "drawn", "lost", "won", "trend", "failed")


def print_ladder(contest: ContestView) -> None:
    """Print ratings with intervals, trends, games and times. Narrow terminals show fewer columns."""
    rows = list(_rows(contest))
    console = Console(highlight=False)
    for left_out in range(len(_LEFT_OUT_FIRST) + 1):
        shown = [at for at, column in enumerate(_COLUMNS) if column not in _LEFT_OUT_FIRST[:left_out]]
        columns = [_COLUMNS[at] for at in shown]
        numbers = (at for at, column in enumerate(columns) if column != "agent")
        table = make_table(columns, ([row[at] for at in shown] for row in rows), numbers=numbers)
        if not console.is_terminal or width_of(console, table) <= console.width:
            break
    table.title = Text(printable(titled(contest.name, contest.snapshot.title)))
    print_table(table, console)
    print(f"± is valid at any time (95 %), relative to the mean of all agents; trend: last {TREND_GAMES} games")


def _rows(contest: ContestView) -> Iterator[Sequence[str | Text]]:
    now = None if contest.is_over else datetime.now(UTC)
    places = {agent: place for stage in contest.certainty for agent, place in stage.places.items()}
    ranking = contest.table.ranking
    for line in contest.table.lines:
        found, done, is_in = contest.ladder[line.agent], line.done, line.agent not in contest.out
        *rating, since = ladder_cells(found, now)
        yield (
            places.get(line.agent, str(line.place)) if is_in else "-",
            Text(printable(line.agent, 32)),
            f"{line.values[ranking.index('rating')]:.0f}" if is_in and line.values and "rating" in ranking else "",
            *rating,
            *map(str, (len(found.history), done.wins, done.draws, done.losses, done.failures)),
            str(len(found.open_games) or ""),
            since,
        )
