"""Asks a person: on a terminal with board and cursor, otherwise by line.

Arguments are the file descriptors of the keyboard and the answer pipe; stdin is the feed of the games.
"""

import os
import select
import signal
import sys
from dataclasses import dataclass, field, replace

from rich.console import Console
from rich.live import Live

from judge.base.text import is_printable, printable
from judge.broadcast.pipe import frames
from judge.games.person import PersonWords, UnclearError
from judge.games.types import Request
from judge.records.views import Mark, Square
from judge.terminal.board_text import board_lines
from judge.terminal.browse import key_by_key, keys_of
from judge.terminal.live import leave_last, stop_gracefully, take
from judge.terminal.live_games import GameViews
from judge.terminal.person_view import Seated
from judge.terminal.screen import Screen

UP, DOWN, LEFT, RIGHT = "up", "down", "left", "right"

ARROWS = {
    f"\x1b{between}{letter}".encode(): name
    for between in "[O"
    for letter, name in zip("ABCD", (UP, DOWN, RIGHT, LEFT), strict=True)
}

ESCAPE = "\x1b"
MAX_CHARACTERS = 200

_STEPS = {UP: (0, -1), DOWN: (0, 1), LEFT: (-1, 0), RIGHT: (1, 0)}


@dataclass(slots=True)
class Prompt:
    """The typed text. `width` and `height` are the board's."""

    width: int
    height: int
    words: PersonWords
    text: str = ""
    cursor: Square | None = None
    helps: bool = False
    _picked: int = 0
    _is_pointing: bool = field(default=False)

    def press(self, key: str, request: Request | None) -> str | None:
        """Apply a key of `keys_of`; return a complete line."""
        if key in _STEPS:
            if self.cursor is None:
                self.cursor = (self.width // 2, self.height // 2)
            else:
                x, y = self.cursor
                dx, dy = _STEPS[key]
                self.cursor = (x + dx) % self.width, (y + dy) % self.height
            self._is_pointing = True
        elif key in "\r\n":
            return self._enter(request)
        elif key == "\t":
            self._pick(request)
        elif key in "\x7f\b":
            self.text, self._picked = self.text[:-1], 0
        elif key in (ESCAPE, "\x15"):
            self._clear()
        elif key == "?":
            self.helps = not self.helps
        elif is_printable(key):
            self.text = (self.text + key)[:MAX_CHARACTERS]
            self._is_pointing = False
        return None

    def _enter(self, request: Request | None) -> str | None:
        if request is None:
            return None
        squares = self.words.squares(request)
        if self._is_pointing and squares:
            self._pick(request)
            if self._picked < squares:
                return None
        line = self.text
        self._clear()
        return line or None

    def _pick(self, request: Request | None) -> None:
        if self.cursor is None or request is None:
            return
        self.text = f"{self.text} {self.words.square(*self.cursor)}".strip()
        self._picked += 1
        self._is_pointing = False

    def _clear(self) -> None:
        self.text, self._picked, self._is_pointing = "", 0, False


POLL_INTERVAL_S = 0.1

END_OF_INPUT = "\x04"
NICENESS = 19
"""Agents have priority over drawing."""

WHOLE = 10_000


class Player:
    """Common part of both kinds of input."""

    def __init__(self, keyboard: int, answers: int) -> None:
        self.views = GameViews(Seated)
        self._feed = sys.stdin.fileno()
        self._keyboard = keyboard
        self._answers = answers
        self._read = bytearray()
        os.set_blocking(self._feed, False)

    @property
    def game(self) -> Seated | None:
        return self.views.follower

    def look(self, *, types: bool = True) -> tuple[bool, bytes | None]:
        """Wait briefly. Returns whether the feed is open, and typed bytes: b"" at the end, None for no input."""
        watched = [self._feed, self._keyboard] if types else [self._feed]
        ready = select.select(watched, [], [], POLL_INTERVAL_S)[0]
        goes_on = take(self._feed, self._read)
        for kind, data in frames(self._read):
            self.views.hear(kind, data)
        typed = self._typed() if self._keyboard in ready else None
        return goes_on, typed

    def send(self, line: str) -> None:
        os.write(self._answers, f"{line}\n".encode())

    def _typed(self) -> bytes:
        try:
            return os.read(self._keyboard, 1 << 14)
        except OSError:  # the terminal was closed
            return b""


class InLines:
    """Asks line by line."""

    def __init__(self, player: Player, console: Console) -> None:
        self._player = player
        self._console = console
        self._typed = b""
        self._has_ended = False
        self._game: Seated | None = None
        self._told = 0
        self._is_asking = False

    def run(self) -> None:
        """Run until the feed ends or the person leaves."""
        goes_on = True
        while goes_on:
            goes_on, typed = self._player.look(types=not self._has_ended)
            if typed is not None:
                self._typed += typed
                self._has_ended = not typed
            game = self._player.game
            if game is None:
                continue
            if game is not self._game:
                self._game, self._told, self._is_asking = game, 0, False
            self._tell(game)
            if not self._ask(game):
                return

    def _tell(self, game: Seated) -> None:
        told = game.told()
        for _, text in told[self._told :]:
            self._say(text)
        self._told = len(told)

    def _ask(self, game: Seated) -> bool:
        prepared = game.prepared()
        if prepared is not None:
            self._player.send(prepared)
            return True
        request = game.asked()
        if request is None:
            return True
        if not self._is_asking:
            self._is_asking = True
            self._tell(game)
            for row in board_lines(game.view(), WHOLE, WHOLE, not self._console.encoding.startswith("utf")):
                self._console.print(row)
            self._say(f"{game.question(request)} (? for help)")
        line, ending, rest = self._typed.partition(b"\n")
        if not ending and not (self._has_ended and line):
            return not self._has_ended
        self._typed = rest
        self._answer(game, request, line.decode("utf-8", "replace"))
        return True

    def _answer(self, game: Seated, request: Request, typed: str) -> None:
        if typed.strip() == "?":
            for text in game.tips(request):
                self._say(text)
            return
        try:
            sent = game.answer(request, typed)
        except UnclearError as error:
            self._say(f"{error}; again:")
            return
        if sent is None:
            self._say(f"{game.question(request)}:")
        else:
            self._is_asking = False
            self._player.send(sent)

    def _say(self, text: str) -> None:
        self._console.print(printable(text, 300), markup=False)


class OnScreen:
    """Asks on a terminal."""

    def __init__(self, player: Player, console: Console, keyboard: int) -> None:
        self._player = player
        self._console = console
        self._keyboard = keyboard
        self._game: Seated | None = None
        self._prompt: Prompt | None = None
        self._note = ""

    def run(self) -> None:
        goes_on = True
        with key_by_key(self._keyboard), Live(console=self._console, screen=True, auto_refresh=False) as live:
            while goes_on:
                goes_on, typed = self._player.look()
                game = self._player.game
                if game is not None and game is not self._game:
                    self._game, self._note = game, ""
                    view = game.view()
                    self._prompt = Prompt(len(view.columns), len(view.rows), game.words)
                if typed is not None and not self._type(typed):
                    return
                screen = self._screen()
                if screen is not None:
                    live.update(screen, refresh=True)
        leave_last(self._console, self._player.views.screen())

    def _type(self, typed: bytes) -> bool:
        if not typed:
            return False
        for key in keys_of(typed, ARROWS, ESCAPE):
            if key == END_OF_INPUT:
                return False
            game, prompt = self._game, self._prompt
            if game is None or prompt is None:
                continue
            request = game.asked()
            line = prompt.press(key, request)
            if line is not None and request is not None:
                self._answer(game, prompt, request, line)
        return True

    def _answer(self, game: Seated, prompt: Prompt, request: Request, line: str) -> None:
        self._note = ""
        try:
            sent = game.answer(request, line)
        except UnclearError as error:
            self._note = str(error)
            return
        if sent is not None:
            prompt.helps = False
            self._player.send(sent)

    def _screen(self) -> Screen | None:
        game, prompt, screen = self._game, self._prompt, self._player.views.screen()
        if game is None or prompt is None or screen is None:
            return None
        prepared = game.prepared()
        if prepared is not None:
            self._player.send(prepared)
        request = game.asked()
        seats = list(screen.seats)
        said = [text for _, text in game.told()][-20:]
        if prompt.helps and request is not None:
            said = list(game.tips(request))
        seats[game.seat] = replace(seats[game.seat], messages=tuple(said))
        view, status = screen.view, screen.status
        if prompt.cursor is not None:
            view = replace(view, marks={**view.marks, prompt.cursor: Mark.CURSOR})
        if not status:
            if request is None:
                status = f"{game.names[1 - game.seat]} is to play"
            else:
                asked = f"you: {game.question(request)}"
                status = f"{self._note}; {asked}" if self._note else asked
        return replace(
            screen,
            view=view,
            seats=(seats[0], seats[1]),
            status=status,
            hint=f"> {prompt.text}_   (? help, arrows, Enter, Ctrl-C leaves)",
        )


def main() -> None:
    """Run the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, stop_gracefully)
    os.nice(NICENESS)
    keyboard, answers = map(int, sys.argv[1:])
    player = Player(keyboard, answers)
    console = Console(file=sys.stdout, highlight=False)
    if os.isatty(keyboard) and sys.stdout.isatty():
        OnScreen(player, console, keyboard).run()
    else:
        InLines(player, Console(file=sys.stdout, highlight=False, soft_wrap=True)).run()


if __name__ == "__main__":
    main()
