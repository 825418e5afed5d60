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

A log is replayed by the rules, and a finished game gives the log that the manager would have written.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from judge.base.errors import InputError, naming
from judge.base.parsing import parse
from judge.base.text import one_line, printable, quote
from judge.formats.steps import Stepped, play_steps
from judge.formats.views import BoardView, Face, Surface, Token
from judge.games.quantum_chess import ContradictionError, QuantumChess
from judge.games.quantum_chess.board import (
    COLOURS,
    HIDDEN,
    POOL,
    SIZE,
    UNKNOWN,
    Piece,
    PieceType,
    PlacedPiece,
    classical_pieces,
    quantum_pieces,
)
from judge.games.quantum_chess.game import QuantumChessOptions
from judge.games.quantum_chess.words import (
    MOVED,
    SELECTED,
    Moved,
    OnSquare,
    Selected,
    announcement,
    is_announcement,
    read_square,
)
from judge.games.types import NATURE, AgentFault, Drawn, Event, Reply, ReplyKind, Request, Verdict, decided
from judge.referee.setup import chance_from_seed


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
        names, board, events = (self._names["white"], self._names["black"]), tuple(self._board), tuple(self._events)
        return QchessLog(started, names, board, events, self._result, self._is_closed, is_short)

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


class Answered(NamedTuple):
    """An answer of a seat or of NATURE."""

    seat: int
    reply: Reply


def qchess_options(log: QchessLog) -> dict[str, Any]:
    """A standard start as variant, any other board as position."""
    board = {(piece.x, piece.y): piece for piece in log.board}
    if board == {(piece.x, piece.y): piece.placed() for piece in classical_pieces()}:
        return {"variant": "classical"}
    if not log.is_short and _is_quantum_start(board):
        return {"variant": "quantum"}
    first = SELECTED.fullmatch(log.events[0].text) or MOVED.fullmatch(log.events[0].text) if log.events else None
    mover = board.get((int(first[1]), int(first[2]))) if first else None
    return {"position": [piece.model_dump() for piece in log.board], "turn": "white" if mover is None else mover.colour}


class ReplayedLog:
    """A game in its last position, and its answers."""

    def __init__(self, log: QchessLog, source: str, options: Mapping[str, Any]) -> None:
        """Raises InputError for invalid options, and with the line that contradicts the rules."""
        self._source = source
        with naming(source):
            self.game = QuantumChess.from_options(options)
        self.answers: list[Answered] = []
        board = {(piece.x, piece.y): piece for piece in log.board}
        while (undrawn := self.game.undrawn) is not None:
            piece, kinds = undrawn
            hidden = board[piece.x, piece.y].types[1].removeprefix(HIDDEN)
            self._answer(decided(Drawn(kinds.index(PieceType(hidden)))))
        for said in log.events:
            self._follow(said)
        if log.result is not None:
            self._finish(log.result)

    def _answer(self, reply: Reply) -> None:
        self.answers.append(Answered(self.game.pending().seat, reply))
        self.game.apply(reply)

    def _follow(self, said: Logged) -> None:
        if self.game.end is not None:
            raise self._wrong(said, f"the game is over by the rules: {self._result()}")
        seat = self.game.pending().seat
        try:
            replies = self.game.follow(said.text)
        except ContradictionError as error:
            raise InputError(f"{self._source}, line {said.line}: {error}") from None
        self.answers += [Answered(who, r) for who, r in zip((seat, NATURE), replies, strict=False)]

    def _finish(self, result: Logged) -> None:
        if self.game.end is None:
            colour, _, words = result.text.partition(" ")
            verdict = {"TIMEOUT": Verdict.TURN_TIME, "UNRESPONSIVE": Verdict.CRASH}.get(words)
            if verdict is not None:
                self.game.forfeit(AgentFault(verdict, COLOURS.index(colour), words))
            elif words == "DRAW":
                self.game.end_by_limit()
            elif (answer := self._refused(words)) is not None and colour == COLOURS[self.game.pending().seat]:
                self._answer(answer)
        if self.game.end is None:
            raise self._wrong(result, "by the rules the game continues")
        if result.text not in (self._result(), self._result().partition(" ")[2]):
            raise self._wrong(result, f"by the rules the result is {self._result()}")

    def _refused(self, words: str) -> Reply | None:
        word, _, rest = words.partition(" ")
        if words.startswith('ILLEGAL unasked "'):
            return Reply(ReplyKind.UNASKED, _quoted(rest))
        match word, rest.removeprefix("move ").split(","):
            case "GIBBERISH", _:
                return Reply(ReplyKind.UNREADABLE, _quoted(rest))
            case "terminated", _:
                return Reply(ReplyKind.RESIGNED)
            case "BOUNDS" | "ILLEGAL", [x, y] if x.isdecimal() and y.isdecimal():
                return read_square(f"{x} {y}")
            case "EMPTY" | "COLOUR", _:
                return self._first_square(words)
        return None

    def _first_square(self, words: str) -> Reply | None:
        wanted = None if words == "EMPTY" else 1 - self.game.pending().seat
        for x, y in ((x, y) for x in range(8) for y in range(8)):
            piece = self.game.board.at(x, y)
            if (None if piece is None else piece.colour) == wanted:
                return decided(OnSquare(x, y), f"{x} {y}")
        return None

    def _result(self) -> str:
        return self.game.result(("white", "black"))

    def _wrong(self, said: Logged, what: str) -> InputError:
        return InputError(f"{self._source}, line {said.line}: {quote(said.text)}: {what}")


def replay_qchess_log(log: QchessLog, source: str = "log") -> ReplayedLog:
    """Raises as `ReplayedLog`."""
    return ReplayedLog(log, source, qchess_options(log))


def _quoted(text: str) -> str:
    return text.partition('"')[2].removesuffix('"')


def _is_quantum_start(board: Mapping[tuple[int, int], PlacedPiece]) -> bool:
    pieces = quantum_pieces()
    if set(board) != {(piece.x, piece.y) for piece in pieces}:
        return False
    pools = {colour: dict(POOL) for colour in COLOURS}
    for piece in pieces:
        there = board[piece.x, piece.y]
        if (there.colour, there.types[0]) != (COLOURS[piece.colour], piece.types[0].value):
            return False
        if piece.current is not PieceType.KING:
            hidden = there.types[1].removeprefix(HIDDEN)
            if there.current != UNKNOWN or hidden == there.types[1]:
                return False
            pools[there.colour][PieceType(hidden)] = pools[there.colour].get(PieceType(hidden), 0) - 1
    return all(left == 0 for pool in pools.values() for left in pool.values())


def qchess_log(replay: Stepped) -> QchessLog:
    """A record's log. Times are the start plus all time charged until then.

    Raises InputError if the record contradicts the rules.
    """
    record, game = replay.record_and_game(QuantumChess, "Quantum Chess")
    started = when = datetime.fromisoformat(record.started_at)
    events = [Logged(started, text) for text in game.options.played]
    charged_ms = 0.0
    for step, ms in zip(replay.steps[1:], replay.charged_ms, strict=True):
        charged_ms += ms
        when = started + timedelta(milliseconds=charged_ms)
        events += [Logged(when, text) for text in announcements(step.events)]
    ended = max(when, started + timedelta(seconds=record.seconds))
    result = None if game.end is None else Logged(ended, game.result(replay.names))
    board = first_board(game.options, chance_from_seed(record.spec.seed))
    return QchessLog(started, replay.names, board, tuple(events), result)


def announcements(events: Iterable[Event]) -> list[str]:
    """What the manager's log has of events. Both seats get the same announcement; it is logged once."""
    return [announcement(event) for event in events if isinstance(event, Selected | Moved) and event.only == event.seat]


def first_board(options: QuantumChessOptions, chance: Callable[[Request], Reply]) -> tuple[PlacedPiece, ...]:
    """The start position column by column, with its random hidden types."""
    game = QuantumChess(options)
    while game.undrawn is not None:
        game.apply(chance(game.pending()))
    return tuple(sorted(options.position or game.board.placed(), key=lambda piece: (piece.x, piece.y)))


def chess_view(game: QuantumChess, seat: int | None = None) -> BoardView:
    """Both types of undecided pieces. Hidden types are hidden from both seats."""
    names = tuple(map(str, range(SIZE)))
    tokens = {(piece.x, piece.y): _piece(piece, shows_all=seat is None) for piece in game.board.pieces}
    return BoardView(Surface.CHEQUERED, names, names, tokens, ("white", "black"))


def _piece(piece: Piece, *, shows_all: bool) -> Token:
    faces = tuple(
        Face(kind.value if shown or shows_all else UNKNOWN, not shown)
        for kind, shown in zip(piece.types, piece.shown, strict=True)
    )
    if len(set(faces)) == 1 and not faces[0].is_hidden:
        return Token(piece.colour, faces=faces[:1], shows=0)
    return Token(piece.colour, faces=faces, shows=None if piece.current is None else piece.index)


def qchess_steps(log: QchessLog) -> Stepped:
    """Raises InputError if the log contradicts the rules."""
    replayed = replay_qchess_log(log)
    steps = play_steps(QuantumChess(replayed.game.options), (each.reply for each in replayed.answers), chess_view)
    return Stepped("quantum-chess", log.names, steps, replayed.game.result(log.names) or "unfinished")
