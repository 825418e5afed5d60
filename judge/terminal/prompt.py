"""Line editor for a person: letters, or a cursor on the board."""

from dataclasses import dataclass, field

from judge.base.text import is_printable
from judge.games.person import PersonWords
from judge.games.types import Request
from judge.records.views import Square

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
    """Whether help is shown."""
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
