"""Ratings of a ladder on a terminal."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from rich.console import Console
from rich.text import Text

from judge.base.text import duration, printable, titled
from judge.publish.ladder import TREND_GAMES, LadderAgent
from judge.publish.model import PublishedContest
from judge.terminal.output import make_table


def ladder_cells(found: LadderAgent, now: datetime) -> tuple[str, str, str, str]:
    """Rating, interval, trend, and time since the last game."""
    since = ""
    if found.history:
        seconds = (now - datetime.fromisoformat(found.history[-1].at)).total_seconds()
        since = f"{duration(1000 * max(1, round(seconds)))} ago"
    return (
        f"{found.elo:.0f}",
        "fixed" if not found.deviation else f"{found.reach:.0f}" if found.history else "",
        "" if found.trend is None else f"{found.trend:+.0f}",
        since,
    )


def print_ladder(contest: PublishedContest) -> None:
    """Print ratings with intervals, trends, games and times."""
    now = datetime.fromisoformat(contest.journal[-1].at) if contest.is_over else datetime.now(UTC)
    places = {agent: place for stage in contest.certainty for agent, place in stage.places.items()}
    columns = ("", "agent", "Elo", "±", "trend", "games", "won", "drawn", "lost", "failed", "open", "last game")
    table = make_table(columns, numbers=(0, *range(2, 12)))
    for line in contest.table.lines:
        found, done = contest.ladder[line.agent], line.done
        *rating, since = ladder_cells(found, now)
        table.add_row(
            "-" if line.agent in contest.out else places.get(line.agent, str(line.place)),
            Text(printable(line.agent, 32)),
            *rating,
            *map(str, (len(found.history), done.wins, done.draws, done.losses, done.failures)),
            str(len(found.open_games) or ""),
            since,
        )
    table.title = Text(printable(titled(contest.name, contest.snapshot.title)))
    Console(highlight=False).print(table)
    print(f"± is valid at any time (95 %), relative to the mean of all agents; trend: last {TREND_GAMES} games")


def ladder_document(contest: PublishedContest) -> Mapping[str, Mapping[str, Any]]:
    """The same values by agent."""
    return {
        agent: {
            "elo": found.elo,
            "reach": found.reach,
            "trend": found.trend,
            "games": len(found.history),
            "open": [game.number for game in found.open_games],
            "last_game_at": found.history[-1].at if found.history else None,
        }
        for agent, found in contest.ladder.items()
    }
