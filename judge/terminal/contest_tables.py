"""Standings and crosstable for a terminal."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from judge.base.text import printable
from judge.contest.contest import Standing
from judge.contest_games import without_copies
from judge.statistics.ratings import rate
from judge.terminal.output import interval, make_table, print_table, width_of
from judge.tournament.crosstable import Cell, Crosstable
from judge.tournament.standings import SHOWN_COLUMNS, TableLine

if TYPE_CHECKING:
    from judge.tournament.certain_places import StageCertainty

_BRACKET = {True: ("┌", "│", "└"), False: ("/", "|", "\\")}


def standings_table(standing: Standing, certainty: "Sequence[StageCertainty]" = (), *, has_boxes: bool = True) -> Table:
    """The standings; groups and leagues follow each other.

    With `certainty`, places have ranges, and brackets connect agents that the games do not separate.
    """
    counted = (each for each in standing.played if not each.pairing.agents & standing.out.keys())
    ratings = {
        each.agent: each for each in rate(without_copies(game for each in counted for game in each.games)).ratings
    }
    ranges = {agent: words for stage in certainty for agent, words in stage.places.items()}
    brackets = {agent: sign for stage in certainty for agent, sign in bracket_signs(stage, has_boxes)}
    first = ("place", "range", "") if ranges else ("place", "")
    columns = (*first, "agent", *(column.head.lower() for column in SHOWN_COLUMNS), "rating (95 %)")
    table = make_table(columns, numbers=(0, *range(len(first) + 1, len(columns) - 1)))
    by_stage: dict[str, list[TableLine]] = {}
    for line in standing.table.lines:
        by_stage.setdefault(standing.stages.get(line.agent, ""), []).append(line)
    for stage, lines in by_stage.items():
        if stage:
            table.add_row(*[""] * len(first), Text(stage, style="bold"))
        for line in lines:
            rating = ratings.get(line.agent)
            table.add_row(
                str(line.place) if line.agent not in standing.out else "-",
                *([ranges.get(line.agent, "")] if ranges else []),
                brackets.get(line.agent, ""),
                Text(printable(line.agent, 32)),
                *(_number(column.value(line)) for column in SHOWN_COLUMNS),
                "" if rating is None else interval(rating.elo, rating.low, rating.high),
            )
    return table


def _number(value: float) -> str:
    return f"{value:g}" if value % 1 else f"{value:.0f}"


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
