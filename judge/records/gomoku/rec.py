"""A game of five in a row as a `.rec` file, the format of Gomotur that Piskvork writes too: always 20x20.

    first.zip     black, who made the first move of the file, and white
    second.zip
    7,7,0         x,y,ms: squares from 0, ms of this one move; 0 for the opening's
    8,8,1520
    0             the code of the end

Kept: stones and their times, opening, names, and who won as far as the code and the stones tell. Lost: rule, event,
round, date, most verdicts. Lines, names and codes: see `piskvork`.
"""

from judge.base.errors import InputError
from judge.base.text import one_line, quote
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
from judge.records.gomoku.record import FiveRecord, Laying, need_board
from judge.records.text_files import decode_file, head_of

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
