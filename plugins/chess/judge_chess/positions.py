"""Positions and openings as text.

startpos moves e2e4 e7e5            as in UCI
FEN moves e2e4
FEN                                 six fields, or the four of EPD; operations such as `id "x";` are ignored
1. e4 e5 2. Nf3                     moves in standard algebraic notation
518                                 the number of a Chess960 position (Scharnagl), in Chess960 only
"""

import io
import logging
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TextIO

import chess
import chess.pgn

from judge.base.errors import InputError
from judge.base.text import quote
from judge.games.types import MAX_POSITION_CHARACTERS

# Errors of PGN are reported by `game.errors`.
logging.getLogger("chess.pgn").setLevel(logging.CRITICAL)

START = chess.STARTING_FEN
STARTS = 960
EXAMPLE = "startpos moves e2e4 e7e5, 1. e4 e5, or a FEN"
MAX_GAME_LINES = 5000
MAX_GAME_CHARACTERS = 80 * MAX_GAME_LINES
"""Of one PGN game."""

_CASTLING = re.compile(r"-|[KQkqA-Ha-h]{1,4}", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,3}\.+", re.ASCII)
_INDEX = re.compile(r"[0-9]{1,3}", re.ASCII)
_COUNTERS = re.compile(r"[0-9]{1,20} [0-9]{1,4}", re.ASCII)
_COMMENT = re.compile("[{};]")


@dataclass(frozen=True, slots=True)
class Start:
    """A first position and the moves of an opening, in UCI notation."""

    fen: str = START
    moves: tuple[str, ...] = ()
    chess960: bool = False

    def board(self) -> chess.Board:
        """Return the position after the moves. Raises InputError naming an illegal move."""
        return _played(chess.Board(self.fen, chess960=self.chess960), self.moves)

    def __str__(self) -> str:
        first = "startpos" if self.fen == START else self.fen
        return f"{first} moves {' '.join(self.moves)}" if self.moves else first


def _played(board: chess.Board, moves: Iterable[str]) -> chess.Board:
    for number, text in enumerate(moves, 1):
        try:
            board.push(_real(board.parse_uci(text)))
        except ValueError:
            raise InputError(f"position: move {number}, {quote(text, 10)}, is illegal in {board.fen()}") from None
    return board


def read_start(text: str, *, chess960: bool = False) -> Start:
    """Parse a position; empty: the usual one. Raises InputError with the fix."""
    return read_position(text, chess960=chess960)[0]


def read_position(text: str, *, chess960: bool = False) -> tuple[Start, chess.Board]:
    """As `read_start`, with the position after the moves."""
    words = text.split()
    if not words:
        start = Start(chess960=chess960)
    elif chess960 and len(words) == 1 and _INDEX.fullmatch(words[0]) and int(words[0]) < STARTS:
        start = Start(chess.Board.from_chess960_pos(int(words[0])).fen(), chess960=True)
    elif text.lstrip().startswith("["):
        return _read_pgn(text, chess960=chess960)
    elif words[0] == "startpos" or "/" in words[0]:
        first, _, moves = " ".join(words).partition(" moves ")
        if first.count('"') % 2:  # within an operation of EPD
            first, moves = " ".join(words), ""
        fen, board = (START, None) if first == "startpos" else _read_fen(first, chess960=chess960)
        start = Start(fen, tuple(moves.split()), chess960)
        return start, start.board() if board is None else _played(board, start.moves)
    else:
        start = _read_san(words, chess960=chess960)
    return start, start.board()


def _read_fen(text: str, *, chess960: bool) -> tuple[str, chess.Board]:
    fields = text.split(" ", 6)
    if len(fields) < 4 or not _CASTLING.fullmatch(fields[2]):
        raise InputError(f"position: {quote(text, 80)} is no FEN; write board, colour, castling and en passant square")
    # EPD has operations instead of the two counters.
    has_counters = _COUNTERS.fullmatch(" ".join(fields[4:6])) is not None
    counters = fields[4:6] if has_counters else ["0", "1"]
    if len(fields) > 4 and not has_counters and not fields[4][0].isalpha():
        raise InputError(f"position: {quote(' '.join(fields[4:]), 40)} are no counters of a FEN; write such as 0 1")
    fen = " ".join([*fields[:4], *counters])
    try:
        board = chess.Board(fen, chess960=chess960)
    except ValueError as error:
        raise InputError(f"position: {quote(fen, 100)} is no FEN: {str(error)[:200]}") from None
    status = board.status()
    if status is not chess.STATUS_VALID:
        raise InputError(f"position: {fen} is illegal: {_status_words(status)}")
    if "~" in fen:
        fen = board.fen(en_passant="fen")
        return fen, chess.Board(fen, chess960=chess960)
    # `Board.fen` takes half the time of parsing. The first field is canonical, or it is refused above.
    square = "-" if board.ep_square is None else chess.square_name(board.ep_square)
    numbers = f"{board.halfmove_clock} {board.fullmove_number}"
    return f"{fields[0]} {fields[1]} {board.castling_xfen()} {square} {numbers}", board


def _real(move: chess.Move) -> chess.Move:
    if not move:
        raise ValueError("null move")
    return move


def _status_words(status: chess.Status) -> str:
    return ", ".join(str(each.name).lower().replace("_", " ") for each in chess.Status if each and each in status)


def _read_san(words: list[str], *, chess960: bool) -> Start:
    if chess960:
        raise InputError(f"position: {quote(' '.join(words), 40)} needs a first position; write a FEN and moves")
    board = chess.Board()
    moves = []
    for word in words:
        san = _NUMBER.sub("", word)
        if san in ("", "*"):
            continue
        try:
            board.push(move := _real(board.parse_san(san)))
            moves.append(move.uci())
        except ValueError:
            raise InputError(
                f"position: {quote(word, 20)} is neither a FEN nor a legal move in {board.fen()}; write {EXAMPLE}"
            ) from None
    return Start(START, tuple(moves))


def uci_moves(board: chess.Board) -> tuple[str, ...]:
    """Return the moves played, each as in its position: `Board.uci` writes castling by the current position."""
    replayed = board.root()
    moves = []
    for move in board.move_stack:
        moves.append(replayed.uci(move))
        replayed.push(move)
    return tuple(moves)


def read_opening(text: str, *, chess960: bool, check: Callable[[chess.Board], None] = lambda _: None) -> str:
    """Return an opening in the notation of records. `check` gets its position. Raises InputError."""
    if not text.strip():
        return ""
    start, board = read_position(text, chess960=chess960)
    found = str(start)
    if len(found) > MAX_POSITION_CHARACTERS:
        raise InputError(f"position: {len(found)} characters; the maximum is {MAX_POSITION_CHARACTERS}")
    check(board)
    return found


def split_openings(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the openings of an EPD or text file (one per line), or the games of a PGN file."""
    game: list[str] = []
    begins = 1
    is_pgn = has_moves = is_comment = False
    size = 0
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not is_pgn and not text.startswith("["):
            if text and not text.startswith("#"):
                yield number, text.partition(" #")[0].strip()
            continue
        is_pgn = True
        is_tag = not is_comment and text.startswith("[") and not text.startswith("[%")
        if game and is_tag and has_moves:
            yield begins, "\n".join(game)
            game, has_moves, size = [], False, 0
        if text:
            begins = begins if game else number
            game.append(text)
            size += len(text)
            has_moves = has_moves or not is_tag
            is_comment = not is_tag and _ends_in_comment(text, is_comment=is_comment)
        if len(game) > MAX_GAME_LINES or size > MAX_GAME_CHARACTERS:
            why = f"more than {MAX_GAME_LINES} lines or {MAX_GAME_CHARACTERS} characters"
            raise InputError(f"line {begins}: the PGN game has {why}, or a comment has no }}; correct or remove it")
    if game:
        yield begins, "\n".join(game)


def read_game(stream: TextIO, source: str) -> chess.pgn.Game | None:
    """Read the next game. Raises InputError where python-chess fails: brackets without a partner, endless numbers."""
    try:
        return chess.pgn.read_game(stream)
    except (ValueError, IndexError) as error:
        raise InputError(f"{source}: {quote(str(error), 150)}; remove the game or correct it") from error


def _ends_in_comment(line: str, *, is_comment: bool) -> bool:
    for mark in () if line.startswith("%") else _COMMENT.findall(line):
        if is_comment:
            is_comment = mark != "}"
        elif mark == ";":
            break
        else:
            is_comment = mark == "{"
    return is_comment


def _read_pgn(text: str, *, chess960: bool) -> tuple[Start, chess.Board]:
    game = read_game(io.StringIO(text), "PGN")
    if game is None or game.errors:
        why = quote(str(game.errors[0]), 150) if game is not None else "no game"
        raise InputError(f"PGN: {why}; remove the game or correct the move")
    if type(game.board()) is not chess.Board:
        raise InputError(f"PGN: the variant {quote(game.headers['Variant'], 40)} is another game; remove the game")
    fen, board = START, chess.Board(chess960=chess960)
    if "FEN" in game.headers:
        fen, board = _read_fen(" ".join(game.headers["FEN"].split()), chess960=chess960)
    _played(board, (move.uci() for move in game.mainline_moves()))
    return Start(fen, uci_moves(board), chess960), board
