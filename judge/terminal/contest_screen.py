"""Views of `judge contest watch`: running games with standings, one board, or a line per event."""

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from judge.base.text import points_text, printable
from judge.broadcast.events import (
    AnyEvent,
    Disqualified,
    Ended,
    GameStarted,
    MoveMade,
    ResultsWithheld,
    StandingLine,
    StateChanged,
    TableChanged,
    Unscored,
    Withdrawn,
)
from judge.broadcast.state import Live, LiveGame
from judge.formats.views import numbered
from judge.games.types import SEATS
from judge.terminal.screen import MAX_STORED_MOVES, MoveShown, Screen, SeatShown

MAX_AGENTS = 20


def line_of(event: AnyEvent, live: Live) -> str:
    """An event as a line of text, or "". Apply the event to `live` first."""
    match event:
        case GameStarted():
            again = f", attempt {event.attempt}" if event.attempt > 1 else ""
            return f"game {event.game}: {_name(live.shown(event.first))} - {_name(live.shown(event.second))}{again}"
        case MoveMade():
            game = live.games.get(event.game)
            if game is None:
                return ""
            number, (_, move), name = game.number_of(event), numbered(event.notation), game.titles[event.seat]
            return f"game {event.game}: {number}. {printable(move, 80)} {_name(name)} {event.charged_ms:.1f} ms"
        case Ended():
            return f"game {event.game}: {event.score}, {printable(event.outcome, 300)}"
        case Unscored():
            return f"game {event.game}: {event.state}, {printable(event.reason, 300)}"
        case StateChanged():
            return f"state: {event.state} {printable(event.reason, 300)}".rstrip()
        case ResultsWithheld():
            return "all results are public" if event.first is None else f"results from round {event.first} on: withheld"
        case Disqualified():
            return f"disqualified: {printable(event.reason, 300)}"
        case Withdrawn():
            return f"withdrawn: {printable(event.reason, 300)}"
        case TableChanged():
            lines = ", ".join(
                f"{line.place}. {_name(live.shown(line.agent))} {_ranked_by(line)}" for line in event.lines
            )
            return f"table: {lines}"
        case _:
            return ""


def _ranked_by(line: StandingLine) -> str:
    return points_text(line.points) if line.rating is None else f"{line.rating:.0f}"


def overview(live: Live, now_ms: float, ratings: Mapping[str, Sequence[str]] | None = None) -> RenderableType:
    """Running games, standings, and last results. `ratings`: of a ladder, by agent: rating, interval, trend, time."""
    name = printable(live.opened.contest, 60) if live.opened else "the log has not begun"
    heading = Text.assemble((name, "bold"), f"  {len(live.games)} running, {live.waiting} to come")
    if live.state != "open":
        heading.append(f"  {live.state}: {printable(live.reason, 100)}", "yellow")
    games = Table(box=None, padding=(0, 1))
    for head in ("game", "", "clock", "", "clock", "last move"):
        games.add_column(head, justify="right" if head in ("game", "clock") else "left", no_wrap=True, style="")
    for number, game in sorted(live.games.items()):
        cells: list[Text] = [Text(str(number), "dim")]
        for seat in SEATS:
            ran, left = _ran(game, seat, now_ms), game.left_ms[seat]
            # Without a limit, the clock counts up.
            ms = game.charged_ms(seat) + (ran or 0) if left is None else left - (ran or 0)
            minutes, seconds = divmod(max(0.0, ms) / 1000, 60)
            clock = Text(f"{minutes:.0f}:{seconds:04.1f}", "" if ran is None else "bold green")
            cells += [Text(_name(game.titles[seat], 24)), clock]
        games.add_row(*cells, Text(_last(game), "dim"))
    table = Table(box=None, padding=(0, 1))
    is_rated = any(line.rating is not None for line in live.table)
    heads = ("Elo", "±", "trend", "last game") if ratings else (*(("rating",) if is_rated else ()), "points")
    for head in ("", "agent", *heads, "games"):
        table.add_column(head, justify="left" if head == "agent" else "right", no_wrap=True)
    for line in live.table[:MAX_AGENTS]:
        rating = () if line.rating is None else (f"{line.rating:.0f}",)
        values = ratings.get(line.agent, ("", "", "", "")) if ratings else (*rating, points_text(line.points))
        table.add_row(str(line.place), Text(_name(live.shown(line.agent))), *values, str(line.games))
    results = [
        Text(
            f"game {end.game}: {' - '.join(_name(live.shown(name), 24) for name in names)} {end.score}, "
            f"{printable(end.outcome, 100)}"
        )
        for end, names in live.ended
    ]
    return Group(heading, games, Text(), table, Text(), *results)


def game_screen(live: Live, number: int, now_ms: float) -> RenderableType:
    """A game's board, or its state in words."""
    game = live.games.get(number)
    if game is None:
        end = next((end for end, _ in live.ended if end.game == number), None)
        said = "is not being played" if end is None else f"is over: {printable(end.outcome, 300)}"
        return Text(f"game {number} {said}")
    view = game.view()
    if view is None:
        why = "the board is shown when the game is over" if game.is_playing else "the game is being prepared"
        return Text(f"game {number}: {why}. {_last(game)}")
    contest = live.opened.contest if live.opened else ""
    moves = [
        MoveShown(game.number_of(move), move.seat, numbered(move.notation)[1], move.charged_ms, move.search)
        for move in game.moves[-MAX_STORED_MOVES:]
    ]
    seats = (_seat(live, game, 0, now_ms), _seat(live, game, 1, now_ms))
    return Screen(f"{contest}  game {number}", view, seats, moves, _last(game))


def _seat(live: Live, game: LiveGame, seat: int, now_ms: float) -> SeatShown:
    last = next((move for move in reversed(game.moves) if move.seat == seat), None)
    report = game.search.get(seat) or last
    ran, left, opened = _ran(game, seat, now_ms), game.left_ms[seat], live.opened
    return SeatShown(
        game.titles[seat],
        is_asked=ran is not None,
        turn_ms=ran if ran is not None else None if last is None else last.charged_ms,
        turn_limit_ms=(opened.turn_ms or None) if opened else None,
        left_ms=None if left is None else left - (ran or 0),
        match_ms=(opened.match_ms or None) if opened else None,
        control=(opened.control or "") if opened else "",
        said="" if last is None else last.notation,
        search={} if report is None else report.search,
        messages=() if report is None else report.messages,
    )


def _ran(game: LiveGame, seat: int, now_ms: float) -> float | None:
    """Milliseconds since the clock of a seat started; None if it is stopped."""
    clock = game.clock
    return None if clock is None or clock.seat != seat else max(0.0, now_ms - clock.since_ms)


def _last(game: LiveGame) -> str:
    if not game.moves:
        return "is being prepared" if not game.is_playing else "begins"
    move = game.moves[-1]
    number, (_, said) = game.number_of(move), numbered(move.notation)
    return f"{number}. {printable(said, 40)} {_name(game.titles[move.seat], 24)} {move.charged_ms:.1f} ms"


def _name(text: str, most: int = 48) -> str:
    return printable(text, most)
