"""Steps through a game on a terminal, and lists finished games, on a terminal as a menu."""

import os
import select
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from judge.base.errors import InputError
from judge.base.text import printable
from judge.catalog.files import read_steps
from judge.games.types import SEATS
from judge.records.steps import ReplayStep, Stepped
from judge.records.views import numbered
from judge.terminal.screen import MoveShown, Screen, SeatShown

HINT = "right/n on  left/p back  pgdn/pgup 10  home/end  NUMBER enter  q quit"

POLL_INTERVAL_S = 0.25

MAX_STORED_MESSAGES = 50

_SEQUENCES = {
    b"\x1b[C": "n",
    b"\x1bOC": "n",
    b"\x1b[D": "p",
    b"\x1bOD": "p",
    b"\x1b[B": "n",
    b"\x1bOB": "n",
    b"\x1b[A": "p",
    b"\x1bOA": "p",
    b"\x1b[H": "g",
    b"\x1bOH": "g",
    b"\x1b[1~": "g",
    b"\x1b[F": "G",
    b"\x1bOF": "G",
    b"\x1b[4~": "G",
    b"\x1b[6~": "d",
    b"\x1b[5~": "u",
}


def keys_of(data: bytes, sequences: Mapping[bytes, str] = _SEQUENCES, escape: str = "q") -> Iterator[str]:
    """The typed keys; a single Escape is `escape`."""
    at = 0
    while at < len(data):
        if data[at : at + 1] != b"\x1b":
            yield data[at : at + 1].decode("latin-1")
            at += 1
            continue
        known = next((seq for seq in sequences if data.startswith(seq, at)), None)
        if known is not None:
            yield sequences[known]
            at += len(known)
        elif data[at + 1 : at + 2] in (b"[", b"O"):
            at += 2
            while at < len(data) and not 0x40 <= data[at] <= 0x7E:
                at += 1
            at += 1
        else:
            yield escape
            at += 1


class Place:
    """Current position in a game, and the number being typed."""

    def __init__(self, last: int) -> None:
        self.at = 0
        self.typed = ""
        self.is_over = False
        self._last = last

    @property
    def is_done(self) -> bool:
        return self.is_over

    def press(self, key: str) -> None:
        """Apply a key from `keys_of`."""
        typed, self.typed = self.typed, ""
        if key.isdecimal() and key.isascii():
            self.typed = (typed + key)[-6:]
        elif key in "\r\n" and typed:
            self._go(int(typed))
        elif key in "nlj \r\n":
            self._go(self.at + 1)
        elif key in "phkb\x7f":
            self._go(self.at - 1)
        elif key == "d":
            self._go(self.at + 10)
        elif key == "u":
            self._go(self.at - 10)
        elif key == "g":
            self._go(0)
        elif key == "G":
            self._go(self._last)
        elif key in "q\x03\x04":
            self.is_over = True

    def _go(self, to: int) -> None:
        self.at = max(0, min(self._last, to))


def browse(game: Stepped, console: Console, keyboard: int) -> None:
    """Show a game position by position until the user quits."""
    place = Place(len(game.steps) - 1)
    _show(place, lambda: step_screen(game, place.at, place.typed), console, keyboard)


def _show(place: Place, draw: Callable[[], RenderableType], console: Console, keyboard: int) -> None:
    shown: tuple[object, ...] = ()
    with key_by_key(keyboard), Live(console=console, screen=True, auto_refresh=False) as live:
        while not place.is_done:
            wanted = (place.at, place.typed, console.size)
            if wanted != shown:
                live.update(draw(), refresh=True)
                shown = wanted
            if select.select([keyboard], [], [], POLL_INTERVAL_S)[0]:
                data = os.read(keyboard, 1024)
                for key in keys_of(data) if data else ["q"]:
                    place.press(key)


def step_screen(game: Stepped, at: int, typed: str = "") -> Screen:
    """The screen of a position."""
    step = game.steps[at]
    played = game.steps[1 : at + 1]
    moves = [
        MoveShown(number, step.seat, said_with_square(step, game.steps[number - 1]), step.ms, step.search)
        for number, step in enumerate(played, 1)
        if step.seat is not None
    ]
    is_last = at == len(game.steps) - 1
    status = f"{at} of {len(game.steps) - 1}: {step_words(step)}"
    if is_last:
        status = f"{status}  {game.result}"
    seats = tuple(_seat(game, seat, played, step, is_last=is_last) for seat in SEATS)
    hint = f"go to {typed}_" if typed else HINT
    return Screen(game.title, step.view, (seats[0], seats[1]), moves, status, hint=hint)


def step_words(step: ReplayStep) -> str:
    """The move in the game's notation, which may contain an agent's text."""
    if step.seat is None:
        return "before the first answer"
    return step.view.caption or f"{step.view.sides[step.view.seats.index(step.seat)]}: {step.said}"


def said_with_square(step: ReplayStep, before: ReplayStep) -> str:
    """An answer, followed by the square of its stone, as in `7,7 h8`."""
    caption = step.view.caption
    number, square = numbered(caption, 0)
    return f"{step.said} {square}" if number and caption != before.view.caption and square != step.said else step.said


def _seat(game: Stepped, seat: int, played: Sequence[ReplayStep], now: ReplayStep, *, is_last: bool) -> SeatShown:
    own = [step for step in played if step.seat == seat]
    last = own[-1] if own else None
    record = game.record
    control = None if record is None else record.spec.policy.clock.controls[seat]
    messages = [text for step in own[-MAX_STORED_MESSAGES:] for text in step.messages]
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


def can_browse() -> bool:
    """Whether stdin and stdout are terminals."""
    return sys.stdin.isatty() and sys.stdout.isatty()


MAX_FILES = 5000

RECORD = ".json"
_LOGS = (".psq", ".rec", ".sgf", ".pgn")
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


def game_files(paths: Sequence[Path]) -> list[Path]:
    """Replace folders by their records and logs without a record.

    Raises InputError for an unreadable folder, a folder without games, or too many files.
    """
    files: list[Path] = []
    for path in paths:
        files += _in_folder(path) if path.is_dir() else [path]
        if len(files) > MAX_FILES:
            raise InputError(f"{path}: more than {MAX_FILES} games; name fewer files")
    return files


def _in_folder(folder: Path) -> list[Path]:
    try:
        inside = sorted(path for path in folder.iterdir() if path.is_file())
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}") from None
    records = [path for path in inside if path.suffix == RECORD]
    known = {path.stem for path in records}
    logs = [path for path in inside if path.suffix in _LOGS and path.stem not in known]
    if not records and not logs:
        raise InputError(f"{folder}: has no records (*.json) and no game logs")
    return sorted([*records, *logs])


def read_listed(path: Path) -> ListedGame:
    """Read a file of the list; an unreadable one has its error."""
    try:
        return ListedGame(path, read_steps(path))
    except InputError as error:
        return ListedGame(path, None, str(error).removeprefix(f"{path}: "))


class _Menu(Place):
    def __init__(self, last: int) -> None:
        super().__init__(last)
        self.is_opening = False

    @property
    def is_done(self) -> bool:
        return self.is_over or self.is_opening

    def press(self, key: str) -> None:
        if key in "\r\n" and not self.typed:
            self.is_opening = True
            return
        if key in "\r\n":
            self.typed = str(int(self.typed) - 1) if int(self.typed) else "0"
        super().press(key)


def browse_list(games: Sequence[ListedGame], console: Console, keyboard: int, show: Callable[[Stepped], None]) -> None:
    """Show the list until the user quits; `show` opens a game."""
    menu = _Menu(len(games) - 1)
    while not menu.is_over:
        _show(menu, lambda: _screen(games, menu, console.size.height, console.size.width), console, keyboard)
        chosen = games[menu.at].game
        if menu.is_opening and chosen is not None:
            show(chosen)
        menu.is_opening = False


def _screen(games: Sequence[ListedGame], menu: _Menu, height: int, width: int) -> Group:
    rows = max(1, height - 3)
    first = max(0, min(menu.at - rows // 2, len(games) - rows))
    lines = [Text(f"{len(games)} games", "bold")]
    for number in range(first, min(len(games), first + rows)):
        style = "reverse" if number == menu.at else ""
        lines.append(Text(games[number].line(number + 1)[:width], style, no_wrap=True, overflow="ellipsis"))
    hint = f"go to {menu.typed}_" if menu.typed else _HINT
    return Group(*lines, Text(hint[:width], "dim"))
