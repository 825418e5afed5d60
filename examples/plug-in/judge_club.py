"""Adds to judge: a contest as one CSV file, a command, and a page of an export."""

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Annotated

import typer

from judge.base.errors import InputError
from judge.catalog.managers import ContestManager, FinishedContest
from judge.cli.entry import CommandEntry
from judge.contest.earlier_contests import read_contest
from judge.contest_view.view import ContestView
from judge.publish.pages import PageEntry
from judge.publish.tables import write_csv

COLUMNS = ("number", "first", "second", "verdict")
SHOWN = 10


def write_games(contest: FinishedContest) -> Iterator[tuple[str, bytes]]:
    """A line for each game; the verdict is empty without a result."""
    rows = [
        {
            "number": game.number,
            "first": game.first,
            "second": game.second,
            "verdict": "" if game.record is None else game.record.verdict.value,
        }
        for game in contest.games
    ]
    yield "games.csv", write_csv(COLUMNS, rows)


def score(
    contest: Annotated[Path, typer.Argument(metavar="CONTEST", help="A contest.toml, its folder, or an export.")],
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="The name of an agent.")],
    opponent: Annotated[str, typer.Argument(metavar="OPPONENT", help="The name of another agent.")],
) -> None:
    """Print the score of one agent against another."""
    games = [game for game in read_contest(contest).counted if {agent, opponent} == set(game.agents)]
    if not games:
        raise InputError(f"{contest}: {agent} and {opponent} have no results; judge contest standings lists the agents")
    won, lost = (sum(game.winner == name for game in games) for name in (agent, opponent))
    print(f"{agent} - {opponent}: {won} won, {lost} lost, {len(games) - won - lost} others")


def shortest_games(contest: ContestView) -> bytes:
    """The games with the fewest moves."""
    games = sorted((sum(game.result.replies), game.number, game) for game in contest.games if game.result is not None)
    items = [
        f"<li>game {number}: {escape(game.first)} - {escape(game.second)}, {moves} moves</li>"
        for moves, number, game in games[:SHOWN]
    ]
    title = f"Shortest games of {escape(contest.snapshot.shown_name)}"
    page = ["<!doctype html>", '<html lang="en">', '<meta charset="utf-8">', f"<title>{title}</title>"]
    return "\n".join([*page, f"<h1>{title}</h1>", "<ol>", *items, "</ol>", "</html>", ""]).encode()


FORMAT = ContestManager(name="csv", about="one CSV file of all games", write=write_games)
COMMAND = CommandEntry("score", "judge_club:score", "Print the score of one agent against another.")
PAGE = PageEntry("shortest", "Shortest games", shortest_games)
