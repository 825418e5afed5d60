"""One screen of a running game or a record, for terminals from 80x24.

Agents' text passes through `printable` and is never parsed as rich markup.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.layout import Layout
from rich.panel import Panel
from rich.style import Style
from rich.text import Text

from judge.base.text import clock_text, printable
from judge.formats.views import BoardView
from judge.terminal.board_text import board_lines, board_width, side_sign, side_style
from judge.terminal.series_score import SeriesScore


def score_words(series: SeriesScore) -> str:
    """The score, such as `67 % (30-90)  a 3 - 1 b, 2 drawn`."""
    share = series.share()
    if share is None:
        return series.words
    percent, low, high = (round(100 * number) for number in share)
    return f"{percent} % ({low}-{high})  {series.words}"


WIDE_COLUMNS = 120

MAX_STORED_MOVES = 200
"""More than a list of moves shows."""

_DIM, _BOLD = Style(dim=True), Style(bold=True)
_GOOD, _WARN, _BAD = Style(color="green"), Style(color="yellow"), Style(color="red", bold=True)


@dataclass(frozen=True, slots=True)
class SeatShown:
    """One seat. Times are in milliseconds; None: unlimited or unknown."""

    name: str
    is_asked: bool = False
    turn_ms: float | None = None
    turn_limit_ms: int | None = None
    left_ms: float | None = None
    match_ms: int | None = None
    control: str = ""
    memory_bytes: int | None = None
    memory_cap_bytes: int | None = None
    said: str = ""
    search: Mapping[str, str] = field(default_factory=dict)
    messages: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class MoveShown:
    """A line of the list of moves."""

    number: int
    seat: int
    said: str
    ms: float | None
    search: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Screen:
    """The content of a screen. It renders to the full height."""

    title: str
    view: BoardView
    seats: tuple[SeatShown, SeatShown]
    moves: Sequence[MoveShown] = ()
    status: str = ""
    series: SeriesScore | None = None
    hint: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        height = options.height or options.size.height
        ascii_only = not options.encoding.startswith("utf")
        yield from console.render(_layout(self, options.max_width, height, ascii_only), options.update_height(height))


def _layout(screen: Screen, width: int, height: int, ascii_only: bool) -> Layout:
    foot = [_line(screen.status or "-", _BOLD)]
    if screen.series is not None:
        foot.append(_series_line(screen.series, width, ascii_only))
    if screen.hint:
        foot.append(_line(screen.hint, _DIM))
    body_height = height - 1 - len(foot)
    board = min(board_width(screen.view), max(20, width - 30))
    layout = Layout()
    layout.split_column(
        Layout(_line(screen.title, _BOLD), size=1),
        Layout(name="body", size=body_height),
        Layout(_stack(foot), size=len(foot)),
    )
    lines = board_lines(screen.view, board, body_height, ascii_only)
    columns = [
        Layout(_stack(lines), size=board + 1),
        Layout(_seats(screen, body_height, ascii_only), ratio=1, minimum_size=20),
    ]
    if width >= WIDE_COLUMNS:
        moves = [_move_line(screen, move, ascii_only) for move in list(screen.moves)[-(body_height - 2) :]]
        columns.append(Layout(_panel(moves, "moves", _DIM, body_height, ascii_only), ratio=1))
    layout["body"].split_row(*columns)
    return layout


def _stack(lines: Iterable[Text]) -> Text:
    return Text("\n", no_wrap=True, overflow="crop").join(lines)


def _line(text: str, style: Style | None = None) -> Text:
    return Text(printable(text, 400), style or "", no_wrap=True, overflow="crop")


def _series_line(series: SeriesScore, width: int, ascii_only: bool) -> Text:
    done, room = len(series.results), 12 if width < WIDE_COLUMNS else 40
    filled = room * done // max(1, series.games)
    full, empty = ("#", ".") if ascii_only else ("█", "░")
    line = Text.assemble((full * filled + empty * (room - filled), _GOOD))
    left = series.seconds_left
    line.append(f" {done}/{series.games}, to go {'?' if left is None else clock_text(1000 * left)}  ")
    if width >= WIDE_COLUMNS and (share := series.share()) is not None:
        # `0 ····├──●──┤··· 1`: share and 95 % interval.
        bar_width = 30
        ground, bar, left_end, right_end, point = ".-||o" if ascii_only else "·─├┤●"
        estimate, low, high = (round(number * (bar_width - 1)) for number in share)
        cells = [bar if low <= at <= high else ground for at in range(bar_width)]
        cells[low], cells[high], cells[estimate] = left_end, right_end, point
        line.append(f"0 {''.join(cells)} 1  ")
    line.append(printable(score_words(series), 200), _BOLD)
    return line


def _seats(screen: Screen, height: int, ascii_only: bool) -> Layout:
    upper = (height + 1) // 2
    layout = Layout()
    layout.split_column(
        Layout(_seat(screen, 0, upper, ascii_only), size=upper),
        Layout(_seat(screen, 1, height - upper, ascii_only), size=height - upper),
    )
    return layout


def _seat(screen: Screen, side: int, height: int, ascii_only: bool) -> Panel:
    view = screen.view
    seat = screen.seats[view.seats[side]]
    lines = [_clock_line(seat), _memory_line(seat), *_search_lines(seat)]
    room = max(0, height - 2 - len(lines))
    said = list(seat.messages)[-room:] if room else []
    lines += [_line(text, _DIM) for text in said]
    title = Text(no_wrap=True, overflow="crop")
    title.append((">" if ascii_only else "▶") + " " if seat.is_asked else "", _GOOD)
    title.append(f" {side_sign(view, side, ascii_only)} ", side_style(view, side))
    title.append(f" {view.sides[side]} ", _DIM)
    title.append(printable(seat.name, 60), _BOLD)
    return _panel(lines, title, _GOOD if seat.is_asked else _DIM, height, ascii_only)


def _panel(lines: Iterable[Text], title: Text | str, style: Style, height: int, ascii_only: bool) -> Panel:
    frame = box.ASCII if ascii_only else box.ROUNDED
    return Panel(_stack(lines), frame, title=title, title_align="left", border_style=style, height=height)


def _clock_line(seat: SeatShown) -> Text:
    line = Text.assemble(("turn ", _DIM), (_time(seat.turn_ms), _over(seat.turn_ms, seat.turn_limit_ms)))
    if seat.turn_limit_ms:
        line.append(f"/{seat.turn_limit_ms / 1000:g} s", _DIM)
    if seat.left_ms is not None:
        used = None if not seat.match_ms else seat.match_ms - seat.left_ms
        line.append("  left ", _DIM).append(_time(seat.left_ms), _over(used, seat.match_ms))
    if seat.control:
        line.append(f"  {seat.control}", _DIM)
    return line


def _time(ms: float | None) -> str:
    if ms is None:
        return "-"
    if abs(ms) < 1000:
        return f"{ms:.1f} ms" if abs(ms) < 10 else f"{ms:.0f} ms"
    return f"{ms / 1000:.1f} s"


def _over(used: float | None, limit: float | None) -> Style:
    if used is None or not limit or used < limit * 0.8:
        return _BOLD
    return _WARN if used <= limit else _BAD


def _memory_line(seat: SeatShown) -> Text:
    line = Text("memory ", _DIM)
    line.append(_mib(seat.memory_bytes), _over(seat.memory_bytes, seat.memory_cap_bytes))
    if seat.memory_cap_bytes:
        line.append(f"/{_mib(seat.memory_cap_bytes)}", _DIM)
    line.append(" MiB", _DIM)
    if seat.said:
        line.append("  last ", _DIM).append(printable(seat.said, 40), _BOLD)
    return line


def _mib(count: int | None) -> str:
    return "-" if count is None else f"{count / (1 << 20):.0f}"


def _search_lines(seat: SeatShown) -> list[Text]:
    short = Text()
    for key, value in seat.search.items():
        if key != "pv":
            short.append(f"{printable(key, 12)} ", _DIM).append(f"{printable(value, 14)}  ")
    lines = [short] if short else []
    if "pv" in seat.search:
        lines.append(Text("pv ", _DIM).append(printable(seat.search["pv"], 200), Style(dim=False)))
    return lines


def _move_line(screen: Screen, move: MoveShown, ascii_only: bool) -> Text:
    side = screen.view.seats.index(move.seat)
    line = Text(f"{move.number:4} ", _DIM)
    line.append(side_sign(screen.view, side, ascii_only), side_style(screen.view, side))
    line.append(f" {printable(move.said, 24):<12}")
    line.append("" if move.ms is None else f"{move.ms:10.1f} ms", _DIM)
    for key in ("depth", "score"):
        if key in move.search:
            line.append(f"  {key} ", _DIM).append(printable(move.search[key], 12))
    return line
