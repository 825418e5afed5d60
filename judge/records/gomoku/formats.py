"""The formats of games of five in a row: Piskvork's and Gomocup's, SGF, PGN and Renlib's text.

`.rec` is the format of Gomotur that Piskvork also writes, always 20x20:

    first.zip     black, who made the first move of the file, and white
    second.zip
    7,7,0         x,y,ms: squares from 0, ms of this one move; 0 for the opening's
    8,8,1520
    0             the code of the end

Kept: stones and their times, opening, names, and who won as far as the code and the stones tell. Lost: rule, event,
round, date, most verdicts. Lines, names and codes: see `piskvork`.
"""

from collections.abc import Callable, Sequence

from judge.base.errors import InputError
from judge.base.text import one_line, quote
from judge.records.formats import FileFormat, FileFormats
from judge.records.gomoku.pgn import looks_like_pgn, read_pgn, write_pgn
from judge.records.gomoku.piskvork import (
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
from judge.records.gomoku.psq import looks_like_psq, read_psq, write_psq, write_psq_gomocupjudge
from judge.records.gomoku.record import FiveRecord, Laying, need_board
from judge.records.gomoku.replay import five_of
from judge.records.gomoku.sgf import looks_like_sgf, read_sgf, sgf_encoding, write_sgf
from judge.records.text_files import decode_file, encoding_of, head_of

SIDE = 20


def write_rec(record: FiveRecord) -> bytes:
    """The file of a finished game. InputError for any board but 20x20: the format has no word for its size."""
    need_board(record, "a .rec")
    if (record.width, record.height) != (SIDE, SIDE):
        raise InputError(
            f"a .rec is always of a {SIDE}x{SIDE} board, this game of a {record.width}x{record.height} one;"
            " write another format"
        )
    return encode([*name_lines(record), *move_lines(record, 0), str(code_of(record))])


def looks_like_rec(data: bytes) -> bool:
    """Whether two names and then a stone stand there, or a code where nobody placed one."""
    lines = [text for _, text in split_lines(head_of(data))]
    return len(lines) >= 3 and (is_move(lines[2]) or (len(lines) == 3 and is_code(lines[2])))


def read_rec(data: bytes, source: str = "rec") -> FiveRecord:
    """The game in `data`: any line end, blank lines, a code or none.

    InputError names `source`, the line and the fix: no names, a square off the board or taken
    before, a line that is nothing of the format.
    """
    lines = split_lines(decode_file(data, source))
    if len(lines) < 2:
        raise InputError(f"{source}, line {len(lines) + 1}: the names of black and white come first")
    laying = Laying(SIDE, SIDE, source, lambda x, y: f"{x},{y}")
    moves, opening = read_moves(lines[2:], 0, laying)
    rest = lines[2 + len(moves) :]
    if len(rest) > 1 or not all(is_code(text) for _, text in rest):
        number, text = rest[0]
        raise InputError(
            f"{source}, line {number}: {quote(text, 20)} is no move (x,y or x,y,ms), nor the code that ends a game"
        )
    names = (one_line(lines[0][1]), one_line(lines[1][1]))
    record = FiveRecord(width=SIDE, height=SIDE, moves=moves, opening=opening, names=names)
    return ended(record, int(rest[0][1]) if rest else None)


def _read_one(read: Callable[[bytes, str], FiveRecord]) -> Callable[[bytes, str], Sequence[FiveRecord]]:
    return lambda data, source: (read(data, source),)


def _is_guess(data: bytes) -> bool:
    return encoding_of(data).is_guess


# Two names before a stone prove less than a header.
GOMOKU_FORMATS = FileFormats(
    five_of,
    {
        "psq": FileFormat(
            ".psq", write_psq, _read_one(read_psq), looks_like_psq, guesses_encoding=_is_guess, is_export=True
        ),
        "psq-gomocupjudge": FileFormat(
            ".psq", write_psq_gomocupjudge, _read_one(read_psq), looks_like_psq, guesses_encoding=_is_guess
        ),
        "sgf": FileFormat(
            ".sgf",
            write_sgf,
            read_sgf,
            looks_like_sgf,
            guesses_encoding=lambda data: sgf_encoding(data, "").is_guess,
            holds_many=True,
        ),
        "pgn": FileFormat(".pgn", write_pgn, read_pgn, looks_like_pgn, guesses_encoding=_is_guess, holds_many=True),
        "rec": FileFormat(".rec", write_rec, _read_one(read_rec), looks_like_rec, guesses_encoding=_is_guess),
    },
    has_result=lambda game: bool(game.outcome),
    names_of=lambda game: game.names or (),
)
