"""Standings, their certainty, ratings of a ladder, and the crosstable for a terminal."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from judge.base.text import duration, printable, titled
from judge.contest_games import GameState, total_text
from judge.contest_view.ladder import TREND_GAMES, LadderAgent
from judge.contest_view.view import ContestView
from judge.terminal.output import interval, make_table, print_table, width_of
from judge.tournament.standings import SHOWN_COLUMNS, Cell, Crosstable, TableLine

if TYPE_CHECKING:
    from judge.statistics.certainty import Certainty
    from judge.tournament.certain_places import StageCertainty

_MAX_REVERSED = 20

_BRACKET = {True: ("┌", "│", "└"), False: ("/", "|", "\\")}


def print_standings(view: ContestView) -> None:
    """Print table, state, certainty, and agents that are out."""
    if view.has_rounds:
        console = Console(highlight=False)
        table = _standings_table(view, has_boxes=not console.options.ascii_only)
        table.title = Text(printable(titled(view.name, view.snapshot.title)))
        print_table(table, console)
    else:
        print_ladder(view)
    print(_state_words(view))
    _print_certainty_words(view.certainty, has_brackets=view.has_rounds)
    for words in view.copies_words:
        print(words)
    if places_by := view.snapshot.format.places_by:
        print(places_by)
    for agent, why in view.disqualified.items():
        print(f"disqualified: {printable(agent)}: {printable(why)}")
    for agent, why in view.withdrawn.items():
        print(f"withdrawn: {printable(agent)}: {printable(why)}")
    if (test := view.test) is not None:
        print(f"sequential test: LLR {test.llr:.2f} ({test.lower:.2f} to {test.upper:.2f}): {test.decision}")


def _state_words(view: ContestView) -> str:
    """Whether the places are final, or how many games have results."""
    if view.is_over:
        return "Final."
    total = total_text(view.counts, view.to_come.games, is_exact=view.to_come.is_exact)
    return f"Not finished: {view.counts[GameState.DONE]} of {total} games"


def _standings_table(view: ContestView, *, has_boxes: bool) -> Table:
    """The standings; groups and leagues follow each other.

    Places have ranges, and brackets connect agents that the games do not separate.
    """
    ranges = view.place_ranges
    brackets = {agent: sign for stage in view.certainty for agent, sign in bracket_signs(stage, has_boxes)}
    first = ("place", "range", "") if ranges else ("place", "")
    columns = (*first, "agent", *(column.head.lower() for column in SHOWN_COLUMNS), "rating (95 %)")
    table = make_table(columns, numbers=(0, *range(len(first) + 1, len(columns) - 1)))
    by_stage: dict[str, list[TableLine]] = {}
    for line in view.table.lines:
        by_stage.setdefault(view.stages.get(line.agent, ""), []).append(line)
    for stage, lines in by_stage.items():
        if stage:
            table.add_row(*[""] * len(first), Text(stage, style="bold"))
        for line in lines:
            rating, values = view.rated.get(line.agent), [column.value(line) for column in SHOWN_COLUMNS]
            table.add_row(
                str(line.place) if line.agent not in view.out else "-",
                *([ranges.get(line.agent, "")] if ranges else []),
                brackets.get(line.agent, ""),
                Text(printable(line.agent, 32)),
                *(f"{value:g}" if value % 1 else f"{value:.0f}" for value in values),
                "" if rating is None else interval(rating.elo, rating.low, rating.high),
            )
    return table


def bracket_signs(stage: "StageCertainty", has_boxes: bool) -> Iterator[tuple[str, str]]:
    """Each agent in a bracket, and the sign in its line."""
    top, middle, bottom = _BRACKET[has_boxes]
    for bracket in stage.brackets:
        inner = len(bracket.agents) - 2
        yield from zip(bracket.agents, (top, *[middle] * inner, bottom), strict=True)


def _print_certainty_words(stages: "Sequence[StageCertainty]", *, has_brackets: bool = True) -> None:
    """Print the sentences of each stage, and the meaning of ranges and brackets if the table has them."""
    for stage in stages:
        prefix = f"{printable(stage.stage)}: " if stage.stage else ""
        print(prefix + printable(" ".join(stage.sentences()), 600))
        numbers = [str(game.number) for game in stage.reversed_games[:_MAX_REVERSED] if game.number]
        if numbers:
            more = "" if len(numbers) == stage.certainty.reversed_games else " ..."
            print(f"{prefix}reversed games: {', '.join(numbers)}{more}")
    if has_brackets and any(stage.brackets for stage in stages):
        print("A range such as 2-5 contains the true place. All ranges together are correct with a confidence of 95 %.")
        print("A bracket connects agents that the games do not separate.")


def print_certainty(stages: "Sequence[StageCertainty]") -> None:
    """Print a table of ranges for each stage, and its figures and sentences."""
    console = Console(highlight=False)
    for stage in stages:
        signs = dict(bracket_signs(stage, not console.options.ascii_only))
        table = make_table(("place", "range", "", "phi = 1", "agent", "rating", "strongest"), numbers=(0, 1, 3, 5, 6))
        table.title = Text(printable(stage.stage)) if stage.stage else None
        for rank in stage.certainty.ranks:
            range_phi, range_1 = (
                "-".join(str(end + stage.above) for end in dict.fromkeys(ends))
                for ends in ((rank.low_phi, rank.high_phi), (rank.low, rank.high))
            )
            table.add_row(
                str(rank.place + stage.above),
                range_phi,
                signs.get(rank.agent, ""),
                range_1,
                Text(printable(rank.agent, 32)),
                f"{rank.elo:+.0f}",
                f"{100 * rank.chance:.1f} %" if rank.chance else "",
            )
        print_table(table, console)
        _print_figures(stage.certainty)
    _print_certainty_words(stages)


def _print_figures(found: "Certainty") -> None:
    gap = interval(found.gap, found.gap - found.half_width_phi, found.gap + found.half_width_phi)
    print(f"gap             {gap} Elo between first and second, draws as halves")
    print(f"inflation       phi = {found.phi:.2f}, p = {found.deviance_p:.3g}: the deviance of pairs from the ratings")
    conclusions = found.strength
    print(f"not separated   {conclusions.neighbours_not_separated} of {len(found.ranks) - 1} neighbours, tested singly")
    print(f"groups          {len(conclusions.groups)}")
    print(f"candidates      {', '.join(printable(agent, 32) for agent in conclusions.candidates)}")
    for each in found.reversals:
        games = "1 game" if each.games == 1 else f"{each.games} games"
        print(f"reversed        {games} that {printable(each.winner, 32)} won against {printable(each.loser, 32)}")
    if found.further_games is not None:
        even, likely = found.further_games
        print(f"further games   {even} of first and second separate them with 50 %, {likely} with 80 %")
    for pair in found.unusual:
        names = f"{printable(pair.agent, 32)} against {printable(pair.opponent, 32)}"
        print(
            f"ring            {names}: {pair.score:g} of {pair.games}, expected {pair.expected:.1f}, p = {pair.p:.2g}"
        )


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
