"""Formats of five-in-a-row games: Piskvork's and Gomocup's, SGF, PGN and Renlib's text.

`.rec` is Gomotur's format, always 20x20:

    first.zip     black, who made the first move of the file, and white
    second.zip
    7,7,0         x,y,ms: squares from 0, ms of this move; 0 for stones of the opening
    8,8,1520
    0             result code

Lost: rule, event, round, date, most verdicts.
"""

from collections.abc import Callable, Sequence

from judge.base.errors import InputError
from judge.base.text import one_line, quote
from judge.base.text_files import decode_file, encoding_of, head_of
from judge.formats.gomoku.pgn import looks_like_pgn, read_pgn, write_pgn
from judge.formats.gomoku.piskvork import (
    code_of,
    encode,
    ended,
    is_code,
    is_move,
    move_lines,
    name_lines,
    read_moves,
    split_lines,
)
from judge.formats.gomoku.psq import looks_like_psq, read_psq, write_psq, write_psq_gomocupjudge
from judge.formats.gomoku.record import FiveRecord, Laying, five_of, need_board
from judge.formats.gomoku.sgf import read_sgf, write_sgf
from judge.formats.gomoku.view import draw_moves
from judge.formats.registry import HEAD_BYTES, FileFormat, FileFormats
from judge.formats.sgf import looks_like_sgf, sgf_encoding
from judge.formats.steps import ReplayStep, Stepped
from judge.games.gomoku.options import LARGEST

SIDE = 20


def write_rec(record: FiveRecord) -> bytes:
    """Raises InputError unless the board is 20x20."""
    need_board(record, "a .rec")
    if (record.width, record.height) != (SIDE, SIDE):
        raise InputError(
            f"a .rec is always of a {SIDE}x{SIDE} board, this game of a {record.width}x{record.height} one;"
            " write another format"
        )
    return encode([*name_lines(record), *move_lines(record, 0), str(code_of(record))])


def looks_like_rec(data: bytes) -> bool:
    """Two names precede a stone or, without stones, a result code."""
    lines = [text for _, text in split_lines(head_of(data))]
    return len(lines) >= 3 and (is_move(lines[2]) or (len(lines) == 3 and is_code(lines[2])))


def read_rec(data: bytes, source: str = "rec") -> FiveRecord:
    """Accepts any line end, blank lines and a missing code.

    Raises InputError for missing names, a square off the board or occupied, or an unknown line.
    """
    lines = split_lines(decode_file(data, source))
    if len(lines) < 2:
        raise InputError(f"{source}, line {len(lines) + 1}: the names of black and white come first")
    moves, opening = read_moves(lines[2:], 0, Laying(SIDE, SIDE, source, lambda x, y: f"{x},{y}"))
    rest = lines[2 + len(moves) :]
    if len(rest) > 1 or not all(is_code(text) for _, text in rest):
        number, text = rest[0]
        raise InputError(
            f"{source}, line {number}: {quote(text, 20)} is neither a move (x,y or x,y,ms) nor a result code"
        )
    names = (one_line(lines[0][1]), one_line(lines[1][1]))
    record = FiveRecord(width=SIDE, height=SIDE, moves=moves, opening=opening, names=names)
    return ended(record, int(rest[0][1]) if rest else None)


def _read_one(read: Callable[[bytes, str], FiveRecord]) -> Callable[[bytes, str], Sequence[FiveRecord]]:
    return lambda data, source: (read(data, source),)


def _looks_like_sgf(data: bytes) -> bool:
    return looks_like_sgf(data) and not looks_like_pgn(data)


def _guesses_encoding(data: bytes) -> bool:
    return (sgf_encoding(data, "") if _looks_like_sgf(data[:HEAD_BYTES]) else encoding_of(data)).is_guess


# Two names before a stone are weaker proof than a header.
GOMOKU_FORMATS = FileFormats(
    five_of,
    {
        "psq": FileFormat(".psq", write_psq, _read_one(read_psq), looks_like_psq, is_export=True),
        "psq-gomocupjudge": FileFormat(".psq", write_psq_gomocupjudge, _read_one(read_psq), looks_like_psq),
        "sgf": FileFormat(".sgf", write_sgf, read_sgf, _looks_like_sgf, holds_many=True),
        "pgn": FileFormat(".pgn", write_pgn, read_pgn, looks_like_pgn, holds_many=True),
        "rec": FileFormat(".rec", write_rec, _read_one(read_rec), looks_like_rec),
    },
    has_result=lambda game: bool(game.outcome),
    names_of=lambda game: game.names or (),
    guesses_encoding=_guesses_encoding,
)


def first_game(data: bytes, source: str) -> Stepped:
    """The steps of a file's first game. Raises InputError."""
    game = GOMOKU_FORMATS.read(data, source)[0]
    if not game.has_board:
        raise InputError(f"{source}: it holds results alone, no moves")
    if max(game.width, game.height) > LARGEST:
        raise InputError(
            f"{source}: its board of {game.width}x{game.height} is too large: at most {LARGEST}x{LARGEST} are shown"
        )
    stones = [(x, y, number & 1) for number, (x, y, _) in enumerate(game.moves)]
    empty, *views = draw_moves(game.width, game.height, stones)
    steps = [ReplayStep(empty)]
    for number, (view, (x, y, ms)) in enumerate(zip(views, game.moves, strict=True)):
        steps.append(ReplayStep(view, number & 1, f"{x},{y}", float(ms)))
    names = game.names or ("black", "white")
    won = {"black": f"{names[0]} wins", "white": f"{names[1]} wins", "draw": "drawn"}
    result = won.get(game.outcome, "no result")
    said = f"{result} ({game.verdict})" if game.verdict else result
    return Stepped(f"{game.width}x{game.height}", names, steps, said)
