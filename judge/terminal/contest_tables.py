"""Standings and crosstable for a terminal."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from judge.base.text import printable
from judge.contest_view.view import ContestView
from judge.terminal.output import interval, make_table, print_table, width_of
from judge.tournament.crosstable import Cell, Crosstable
from judge.tournament.standings import TableLine

if TYPE_CHECKING:
    from judge.tournament.certain_places import StageCertainty

_BRACKET = {True: ("┌", "│", "└"), False: ("/", "|", "\\")}


def standings_table(view: ContestView, *, has_boxes: bool = True) -> Table:
    """The standings; groups and leagues follow each other.

    Places have ranges, and brackets connect agents that the games do not separate.
    """
    ranges = view.place_ranges
    brackets = {agent: sign for stage in view.certainty for agent, sign in bracket_signs(stage, has_boxes)}
    first = ("place", "range", "") if ranges else ("place", "")
    columns = (*first, "agent", "points", "games", "won", "drawn", "lost", "failed", "rating (95 %)")
    table = make_table(columns, numbers=(0, *range(len(first) + 1, len(columns) - 1)))
    by_stage: dict[str, list[TableLine]] = {}
    for line in view.table.lines:
        by_stage.setdefault(view.stages.get(line.agent, ""), []).append(line)
    for stage, lines in by_stage.items():
        if stage:
            table.add_row(*[""] * len(first), Text(stage, style="bold"))
        for line in lines:
            rating, done = view.rated.get(line.agent), line.done
            table.add_row(
                str(line.place) if line.agent not in view.out else "-",
                *([ranges.get(line.agent, "")] if ranges else []),
                brackets.get(line.agent, ""),
                Text(printable(line.agent, 32)),
                f"{line.points:g}",
                *map(str, (done.games, done.wins, done.draws, done.losses, done.failures)),
                "" if rating is None else interval(rating.elo, rating.low, rating.high),
            )
    return table


def bracket_signs(stage: "StageCertainty", has_boxes: bool) -> Iterator[tuple[str, str]]:
    """Each agent in a bracket, and the sign in its line."""
    top, middle, bottom = _BRACKET[has_boxes]
    for bracket in stage.brackets:
        inner = len(bracket.agents) - 2
        yield from zip(bracket.agents, (top, *[middle] * inner, bottom), strict=True)


def print_crosstable(console: Console, cells: Crosstable) -> None:
    """Print the crosstable. On a narrow terminal omit wins, draws and losses, or split it."""
    every = list(cells)
    table = _crosstable(cells, every, _results)
    if not console.is_terminal or width_of(console, table) <= console.width:
        print_table(table, console)
        return
    of_names = width_of(console, _crosstable(cells, every[:0], _points))
    widths = [width_of(console, _crosstable(cells, [agent], _points)) - of_names for agent in every]
    begin = 0
    while begin < len(every):
        end, left = begin + 1, console.width - of_names - widths[begin]
        while end < len(every) and widths[end] <= left:
            left -= widths[end]
            end += 1
        console.print(_crosstable(cells, every[begin:end], _points))
        begin = end


def _crosstable(cells: Crosstable, columns: Sequence[str], words: Callable[[Cell], str]) -> Table:
    numbers = {agent: str(number) for number, agent in enumerate(cells, 1)}
    table = make_table(
        ["", "agent", *(numbers[column] for column in columns)], numbers=(0, *range(2, 2 + len(columns)))
    )
    for agent, row in cells.items():
        texts = ["·" if column == agent else words(row[column]) if column in row else "" for column in columns]
        table.add_row(numbers[agent], Text(printable(agent, 32)), *texts)
    return table


def _points(cell: Cell) -> str:
    return f"{cell.points:g}"


def _results(cell: Cell) -> str:
    done = cell.done
    return f"{cell.points:g} ({done.wins}-{done.draws}-{done.losses})"
