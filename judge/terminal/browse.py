"""Steps through a game on a terminal, and lists finished games, on a terminal as a menu."""

import os
import re
import select
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from judge.base.errors import InputError
from judge.base.text import printable
from judge.catalog.files import read_steps
from judge.formats.steps import ReplayStep, Stepped
from judge.games.types import SEATS
from judge.referee.steps import MAX_STORED_MESSAGES
from judge.terminal.screen import MoveShown, Screen, SeatShown

HINT = "right/n on  left/p back  pgdn/pgup 10  home/end  NUMBER enter  q quit"

KEYBOARD = 0
"""The file descriptor of stdin."""

POLL_INTERVAL_S = 0.25

_KEY = re.compile(rb"\x1b[\[O]([^@-~]*[@-~]?)|(.)", re.DOTALL)
_NAMES = {b"A": "up", b"B": "down", b"C": "right", b"D": "left"} | {b"5~": "pgup", b"6~": "pgdn"}
_NAMES |= dict.fromkeys((b"H", b"1~"), "home") | dict.fromkeys((b"F", b"4~"), "end")
_FAR = 1 << 30
_KEYS_OF_STEPS = {
    1: ("right", "down", *"nlj \r\n"),
    -1: ("left", "up", *"phkb\x7f"),
    10: ("pgdn", "d"),
    -10: ("pgup", "u"),
    -_FAR: ("home", "g"),
    _FAR: ("end", "G"),
}
_STEPS = {key: step for step, keys in _KEYS_OF_STEPS.items() for key in keys}
ESCAPE = "\x1b"
_QUIT = ("q", ESCAPE, "\x03", "\x04")


def keys_of(data: bytes) -> Iterator[str]:
    """The typed keys: characters, and the names of arrows and of keys for pages and ends."""
    for match in _KEY.finditer(data):
        key = _NAMES.get(match[1]) if match[2] is None else match[2].decode("latin-1")
        if key is not None:
            yield key


class Place:
    """Current position in a game, and the number being typed."""

    def __init__(self, last: int, first_number: int = 0) -> None:
        """`first_number`: of the first position."""
        self.at = 0
        self.typed = ""
        self.is_over = False
        self._last = last
        self._first_number = first_number

    def press(self, key: str) -> None:
        """Apply a key from `keys_of`."""
        typed, self.typed = self.typed, ""
        if key.isdecimal() and key.isascii():
            self.typed = (typed + key)[-6:]
        elif key in "\r\n":
            self.enter(typed)
        elif key in _QUIT:
            self.is_over = True
        else:
            self.go(self.at + _STEPS.get(key, 0))

    def enter(self, typed: str) -> None:
        """Go to the typed number, or on."""
        self.go(int(typed) - self._first_number if typed else self.at + 1)

    def go(self, to: int) -> None:
        """As far as there are positions."""
        self.at = max(0, min(self._last, to))


def browse(game: Stepped, console: Console) -> None:
    """Show a game position by position until the user quits."""
    place = Place(len(game.steps) - 1, game.opening_moves)
    _show(place, lambda: step_screen(game, place.at, place.typed), console)


def _show(place: Place, draw: Callable[[], RenderableType], console: Console) -> None:
    shown: tuple[object, ...] = ()
    with key_by_key(KEYBOARD), Live(console=console, screen=True, auto_refresh=False) as live:
        while not place.is_over:
            wanted = (place.at, place.typed, console.size)
            if wanted != shown:
                live.update(draw(), refresh=True)
                shown = wanted
            if select.select([KEYBOARD], [], [], POLL_INTERVAL_S)[0]:
                data = os.read(KEYBOARD, 1024)
                for key in keys_of(data) if data else ["q"]:
                    place.press(key)


def step_screen(game: Stepped, at: int, typed: str = "") -> Screen:
    """The screen of a position."""
    step = game.steps[at]
    played = game.steps[1 : at + 1]
    moves = [
        MoveShown(game.number_of(at), step.seat, step.said_with_square(game.steps[at - 1].view), step.ms, step.search)
        for at, step in enumerate(played, 1)
        if step.seat is not None
    ]
    is_last = at == len(game.steps) - 1
    status = f"{game.number_of(at)} of {game.number_of(len(game.steps) - 1)}: {step.text}"
    if is_last:
        status = f"{status}  {game.result}"
    seats = tuple(_seat(game, seat, played, step, is_last=is_last) for seat in SEATS)
    hint = f"go to {typed}_" if typed else HINT
    return Screen(game.title, step.view, (seats[0], seats[1]), moves, status, hint=hint)


def _seat(game: Stepped, seat: int, played: Sequence[ReplayStep], now: ReplayStep, *, is_last: bool) -> SeatShown:
    steps = [step for step in played if step.seat == seat]
    last = steps[-1] if steps else None
    record = game.record
    control = None if record is None else record.spec.policy.clock.controls[seat]
    messages = [text for step in steps[-MAX_STORED_MESSAGES:] for text in step.messages]
    return SeatShown(
        game.names[seat],
        is_asked=now.seat == seat,
        turn_ms=None if last is None else last.ms,
        turn_limit_ms=control.turn_ms or None if control else None,
        left_ms=now.left_ms[seat],
        match_ms=control.total_ms if control else None,
        control="" if control is None or control.charges_start else str(control),
        memory_bytes=record.seats[seat].memory_peak_bytes if record and is_last else None,
        said=last.said if last else "",
        search=last.search if last else {},
        messages=messages[-MAX_STORED_MESSAGES:],
    )


@contextmanager
def key_by_key(keyboard: int) -> Iterator[None]:
    """Read single keys without echo; restores the terminal."""
    import termios
    import tty

    before = termios.tcgetattr(keyboard)
    tty.setcbreak(keyboard)
    try:
        yield
    finally:
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)


_HINT = "up/down  pgup/pgdn 10  home/end  NUMBER enter  enter open  q quit"


@dataclass(frozen=True, slots=True)
class ListedGame:
    """A file with a game, or why it cannot be read."""

    path: Path
    game: Stepped | None
    problem: str = ""

    def line(self, number: int) -> str:
        name = printable(self.path.name, 60)
        if self.game is None:
            return f"{number:4}  {name}: {printable(self.problem, 200)}"
        players = f"{printable(self.game.names[0], 30)} - {printable(self.game.names[1], 30)}"
        moves = f"{len(self.game.steps) - 1} moves"
        return f"{number:4}  {players:<32} {moves:>9}  {printable(self.game.result, 80)}  {name}"


def read_listed(path: Path) -> ListedGame:
    """Read a file of the list; an unreadable one has its error."""
    try:
        return ListedGame(path, read_steps(path))
    except InputError as error:
        return ListedGame(path, None, str(error).removeprefix(f"{path}: "))


class _Menu(Place):
    is_opening = False

    def enter(self, typed: str) -> None:
        """Open the game, or go to the one with the typed number."""
        if typed:
            self.go(int(typed) - 1)
        else:
            self.is_over = self.is_opening = True


def browse_list(games: Sequence[ListedGame], console: Console) -> None:
    """Show the list, and the games that the user opens, until the user quits."""
    menu = _Menu(len(games) - 1)
    while not menu.is_over:
        _show(menu, lambda: _screen(games, menu, console.size.height, console.size.width), console)
        if menu.is_opening:
            menu.is_over = menu.is_opening = False
            if (chosen := games[menu.at].game) is not None:
                browse(chosen, console)


def _screen(games: Sequence[ListedGame], menu: _Menu, height: int, width: int) -> Group:
    rows = max(1, height - 3)
    first = max(0, min(menu.at - rows // 2, len(games) - rows))
    lines = [Text(f"{len(games)} games", "bold")]
    for number in range(first, min(len(games), first + rows)):
        style = "reverse" if number == menu.at else ""
        lines.append(Text(games[number].line(number + 1)[:width], style, no_wrap=True, overflow="ellipsis"))
    hint = f"go to {menu.typed}_" if menu.typed else _HINT
    return Group(*lines, Text(hint[:width], "dim"))
