"""Finished games as lines, or on a terminal as a menu."""

import os
import select
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from judge.base.errors import InputError
from judge.base.text import printable
from judge.catalog.steps import read_steps
from judge.records.steps import Stepped
from judge.terminal.browse import POLL_INTERVAL_S, Place, key_by_key, keys_of

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
        """The line of the list."""
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
        _choose(games, menu, console, keyboard)
        chosen = games[menu.at].game
        if menu.is_opening and chosen is not None:
            show(chosen)
        menu.is_opening = False


def _choose(games: Sequence[ListedGame], menu: _Menu, console: Console, keyboard: int) -> None:
    shown: tuple[object, ...] = ()
    with key_by_key(keyboard), Live(console=console, screen=True, auto_refresh=False) as live:
        while not (menu.is_over or menu.is_opening):
            wanted = (menu.at, menu.typed, console.size)
            if wanted != shown:
                live.update(_screen(games, menu, console.size.height, console.size.width), refresh=True)
                shown = wanted
            if select.select([keyboard], [], [], POLL_INTERVAL_S)[0]:
                data = os.read(keyboard, 1024)
                for key in keys_of(data) if data else ["q"]:
                    menu.press(key)


def _screen(games: Sequence[ListedGame], menu: _Menu, height: int, width: int) -> Group:
    rows = max(1, height - 3)
    first = max(0, min(menu.at - rows // 2, len(games) - rows))
    lines = [Text(f"{len(games)} games", "bold")]
    for number in range(first, min(len(games), first + rows)):
        style = "reverse" if number == menu.at else ""
        lines.append(Text(games[number].line(number + 1)[:width], style, no_wrap=True, overflow="ellipsis"))
    hint = f"go to {menu.typed}_" if menu.typed else _HINT
    return Group(*lines, Text(hint[:width], "dim"))
