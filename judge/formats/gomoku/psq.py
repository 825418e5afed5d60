"""Five-in-a-row games as `.psq` files, as written by Piskvork or by GomocupJudge.

    Piskvorky 15x15, 11:11, 0    width x height, the players' levels, which of them started
    8,8,0                        x,y,ms: squares from 1, ms of this move; 0 for stones of the opening
    9,9,1520
    first.zip                    the two players
    second.zip
    0                            result code; GomocupJudge: always -1
    1,Renju 2024                 GomocupJudge only: winner and tournament

GomocupJudge's winner is 0 for a draw, 1 for the first mover after the opening, 2 for the other. After an odd number of
opening stones the first mover is white, the second name ("reverse").

Lost: rule, round, date, most verdicts. For lines, names and codes see `piskvork`.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from judge.base.errors import InputError
from judge.base.text import one_line, quote
from judge.base.text_files import decode_file, head_of
from judge.formats.gomoku.piskvork import (
    UNKNOWN,
    Line,
    code_of,
    encode,
    ended,
    is_broken_move,
    is_code,
    is_move,
    move_lines,
    name_lines,
    piskvork_name,
    read_moves,
    split_lines,
)
from judge.formats.gomoku.record import WINNERS, FiveRecord, Laying, need_board, outcome_on_board
from judge.games.types import Verdict


def write_psq(record: FiveRecord) -> bytes:
    """As Piskvork writes it. Raises InputError for an unknown board."""
    names = [] if record.names is None else name_lines(record)
    return encode([*_header_and_moves(record), *names, str(code_of(record))])


def write_psq_gomocupjudge(record: FiveRecord) -> bytes:
    """As GomocupJudge writes it, without last line if the winner is unknown. Raises as `write_psq`."""
    lines = [*_header_and_moves(record), *name_lines(record), str(UNKNOWN)]
    if record.outcome:
        winner = 1 if record.outcome == WINNERS[record.opening & 1] else 2
        lines.append(f"{0 if record.outcome == 'draw' else winner},{piskvork_name(record.event)}")
    return encode(lines)


def _header_and_moves(record: FiveRecord) -> Sequence[str]:
    need_board(record, "a .psq")
    # As in Gomocup's records: both players are programs.
    return [f"Piskvorky {record.width}x{record.height}, 11:11, 0", *move_lines(record, 1)]


_HEADER = re.compile(
    r"Piskvorky\s+([1-9][0-9]{0,2})\s*x\s*([1-9][0-9]{0,2})\s*,"
    r"\s*[0-9]+\s*:\s*[0-9]+\s*,\s*([01])"
)
_FOOTER = re.compile(r"([012])\s*,\s*(.*)", re.DOTALL)


def looks_like_psq(data: bytes) -> bool:
    """Begins with the header's first word."""
    return head_of(data).lstrip().startswith("Piskvorky")


def read_psq(data: bytes, source: str = "psq") -> FiveRecord:
    """Accepts any line end, blank lines, moves without times, and missing names, code and last line.

    Raises InputError for a missing header, a square off the board or occupied, or an unknown line. A last, losing stone
    on an occupied square, which GomocupJudge keeps, is dropped.
    """
    (number, text), *lines = split_lines(decode_file(data, source)) or [(1, "")]
    header = _HEADER.fullmatch(text)
    if header is None:
        raise InputError(f"{source}, line {number}: no header; write it such as Piskvorky 15x15, 11:11, 0")
    width, height, started = int(header[1]), int(header[2]), int(header[3])
    lines, is_illegal = _without_illegal_end(lines)
    moves, opening = read_moves(lines, 1, Laying(width, height, source, lambda x, y: f"{x + 1},{y + 1}"))
    names, code, footer = _read_end(lines[len(moves) :], source)
    if names is not None and started == 1:
        names = (names[1], names[0])
    record = FiveRecord(width=width, height=height, moves=moves, opening=opening, names=names)
    if not footer:
        return ended(record, code)
    record = _ended_by_footer(record, footer)
    return replace(record, verdict=Verdict.ILLEGAL.value) if is_illegal else record


def _without_illegal_end(lines: list[Line]) -> tuple[list[Line], bool]:
    moves = next((number for number, (_, text) in enumerate(lines) if not is_move(text)), len(lines))
    squares = [tuple(int(number) for number in text.split(",")[:2]) for _, text in lines[:moves]]
    if len(lines) - moves != 4 or not squares or squares[-1] not in squares[:-1]:
        return lines, False
    return [*lines[: moves - 1], *lines[moves:]], True


def _read_end(lines: Sequence[Line], source: str) -> tuple[tuple[str, str] | None, int | None, str]:
    texts = [text for _, text in lines]
    names = (texts[0], texts[1]) if len(texts) >= 2 else None
    code, footer = [*(texts[2:] if names else texts), "", ""][:2]
    broken_move = any(is_broken_move(name) for name in names or ())
    if len(texts) > 4 or broken_move or not (code == "" or is_code(code)):
        raise InputError(
            f"{source}, line {lines[0][0]}: {quote(texts[0], 20)} is not a move (x,y or x,y,ms),"
            " and the last lines are not two names and a code"
        )
    shown = None if names is None else (one_line(names[0]), one_line(names[1]))
    return shown, int(code) if code else None, footer


def _ended_by_footer(record: FiveRecord, footer: str) -> FiveRecord:
    match = _FOOTER.fullmatch(footer)
    if match is None:
        return replace(record, event=one_line(footer))
    record = replace(record, event=one_line(match[2]))
    if match[1] == "0":
        return replace(record, outcome="draw", verdict=Verdict.DRAW.value)
    first = record.opening & 1
    outcome = WINNERS[first if match[1] == "1" else 1 - first]
    verdict = Verdict.WIN.value if outcome == outcome_on_board(record) else ""
    return replace(record, outcome=outcome, verdict=verdict)
