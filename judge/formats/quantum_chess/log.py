"""A Quantum Chess game in the log format of the 2013 UCC manager: the full log, or the short log for viewers.

    # Log starts 2013-03-01 20:00:00.000001           or: # Short log updated ...
    # white : first                                   players
    # black : second
    # Initial board                                   column by column, with hidden types
    black unknown ['rook', '?queen'] at 0,0           `?`: hidden; `unknown`: undecided
    # Start game
    2013-03-01 20:00:01.000001 : 3 6 1 pawn           time and announcement
    2013-03-01 20:00:01.000002 : 3 6 -> 3 5
    2013-03-01 20:00:02.000003 : black                the final result
    # EOF

The short log has the current board and the last two lines. Times are local; here they are read as UTC. Input is Latin-1
and may have CR LF, blank lines and comments, or break off.
"""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime

from judge.base.errors import InputError
from judge.base.parsing import parse
from judge.base.text import one_line, printable, quote
from judge.games.quantum_chess.board import PlacedPiece
from judge.games.quantum_chess.words import is_announcement


@dataclass(frozen=True, slots=True)
class Logged:
    """`line` is its number, 0 without a file."""

    when: datetime
    text: str
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class QchessLog:
    """`started` is the first line's time, `result` None if it breaks off. `is_closed`: it ends with `# EOF`."""

    started: datetime
    names: tuple[str, str]
    board: tuple[PlacedPiece, ...]
    events: tuple[Logged, ...]
    result: Logged | None = None
    is_closed: bool = True
    is_short: bool = False


def write_log(log: QchessLog) -> bytes:
    """Byte for byte as the manager writes it."""
    announced = log.events if log.result is None else (*log.events, log.result)
    opening = "Short log updated" if log.is_short else "Log starts"
    lines = [
        f"# {opening} {_moment(log.started)}",
        *(f"# {colour} : {one_line(name)}" for colour, name in zip(("white", "black"), log.names, strict=True)),
        "# Initial board",
        *(f"{p.colour} {p.current} ['{p.types[0]}', '{p.types[1]}'] at {p.x},{p.y}" for p in log.board),
        "# Start game",
        *(f"{_moment(said.when)} : {_marked(said.text)}" for said in announced),
        *(["# EOF"] if log.is_closed else []),
    ]
    return "".join(f"{line}\n" for line in lines).encode("latin-1", "replace")


def _moment(when: datetime) -> str:
    return str(when.replace(tzinfo=None))


def _marked(text: str) -> str:
    return printable(text, None, mark="?")


_WHEN = r"([0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?)"
_OPENING = re.compile(rf"# (Log starts|Short log updated) {_WHEN}")
_NAME = re.compile(r"# (white|black) : ?(.*)")
_PIECE = re.compile(r"(white|black) ([a-z]+) \['(\??[a-z]+)', '(\??[a-z]+)'\] ?at ([0-9]),([0-9])")
_SAID = re.compile(rf"{_WHEN} : ?(.*)")
_RESULT = re.compile(r"(?:white|black)(?: .*)?|DRAW")


def read_log(data: bytes, source: str = "log") -> QchessLog:
    """The last of several concatenated short logs.

    Raises InputError for an unknown line or an announcement after the result.
    """
    reader = _Reader(source)
    for number, line in enumerate(data.decode("latin-1").split("\n"), 1):
        reader.take(number, _marked(line.strip("\r\t ")))
    return reader.log()


class _Reader:
    def __init__(self, source: str) -> None:
        self._source = source
        self._opening: tuple[datetime, bool] | None = None
        self._forget()

    def _forget(self) -> None:
        self._names = {"white": "", "black": ""}
        self._board: list[PlacedPiece] = []
        self._events: list[Logged] = []
        self._result: Logged | None = None
        self._is_closed = False

    def take(self, number: int, line: str) -> None:
        if opening := _OPENING.fullmatch(line):
            self._forget()
            self._opening = (self._moment(number, opening[2]), opening[1].startswith("Short"))
        elif name := _NAME.fullmatch(line):
            self._names[name[1]] = name[2]
        elif line == "# EOF":
            self._is_closed = True
        elif match := _PIECE.fullmatch(line):
            colour, current, first, second, x, y = match.groups()
            piece = {"colour": colour, "x": int(x), "y": int(y), "types": (first, second), "current": current}
            self._board.append(parse(PlacedPiece, piece, f"{self._source}, line {number}: {quote(match[0])}"))
        elif said := _SAID.fullmatch(line):
            self._take_said(Logged(self._moment(number, said[1]), said[2], number))
        elif line and not line.startswith("#"):
            raise self._wrong(number, f"{quote(line)} is neither a piece nor an announcement")

    def log(self) -> QchessLog:
        if self._opening is None:
            raise self._wrong(1, "not a Quantum Chess log; the first line is `# Log starts` and a date")
        started, is_short = self._opening
        return QchessLog(
            started,
            (self._names["white"], self._names["black"]),
            tuple(self._board),
            tuple(self._events),
            self._result,
            self._is_closed,
            is_short,
        )

    def _take_said(self, said: Logged) -> None:
        if self._result is not None:
            what = f"comes after the final result in line {self._result.line}; cut the log there"
            raise self._wrong(said.line, f"{quote(said.text)} {what}")
        if is_announcement(said.text):
            self._events.append(said)
        elif _RESULT.fullmatch(said.text):
            self._result = said
        else:
            what = "neither a selection, a move nor a final result"
            raise self._wrong(said.line, f"{quote(said.text)} is {what}")

    def _moment(self, number: int, text: str) -> datetime:
        try:
            return datetime.fromisoformat(text).replace(tzinfo=UTC)
        except ValueError:
            raise self._wrong(number, f"{text} is not a date and time") from None

    def _wrong(self, number: int, what: str) -> InputError:
        return InputError(f"{self._source}, line {number}: {what}")
