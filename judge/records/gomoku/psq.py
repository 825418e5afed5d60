"""A game of five in a row as a `.psq` file, the way Piskvork writes it or the way GomocupJudge does.

    Piskvorky 15x15, 11:11, 0    width x height, the players' levels, which of them started
    8,8,0                        x,y,ms: squares from 1, ms of this one move; 0 for the opening's
    9,9,1520
    first.zip                    the two players
    second.zip
    0                            the code of the end; GomocupJudge: always -1
    1,Renju 2024                 GomocupJudge only: who won, and the tournament

GomocupJudge's winner is 0 for a draw, and else 1 for the player that moved first after the opening: with an opening of
an odd number of stones that is white, whose name is the second ("reverse").

Kept: board, stones and their times, opening, names, and who won as far as the code and the stones tell; with the last
line who won and the event. Lost: rule, round, date, most verdicts. Lines, names and codes: see `piskvork`.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from judge.base.errors import InputError
from judge.base.text import one_line, quote
from judge.games.types import Verdict
from judge.records.gomoku.piskvork import (
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
from judge.records.gomoku.record import WINNERS, FiveRecord, Laying, need_board, outcome_on_board
from judge.records.text_files import decode_file, head_of


def write_psq(record: FiveRecord) -> bytes:
    """The file of a finished game as Piskvork writes it. InputError where no board is known."""
    names = [] if record.names is None else name_lines(record)
    return encode([*_header_and_moves(record), *names, str(code_of(record))])


def write_psq_gomocupjudge(record: FiveRecord) -> bytes:
    """The file of a finished game as GomocupJudge writes it; without its last line if the winner is unknown.

    InputError where no board is known.
    """
    lines = [*_header_and_moves(record), *name_lines(record), str(UNKNOWN)]
    if record.outcome:
        winner = 1 if record.outcome == WINNERS[record.opening & 1] else 2
        lines.append(f"{0 if record.outcome == 'draw' else winner},{piskvork_name(record.event)}")
    return encode(lines)


def _header_and_moves(record: FiveRecord) -> Sequence[str]:
    need_board(record, "a .psq")
    # 11:11 is what Gomocup's records say; to Piskvork it means that programs played, not people.
    return [f"Piskvorky {record.width}x{record.height}, 11:11, 0", *move_lines(record, 1)]


_HEADER = re.compile(
    r"Piskvorky\s+([1-9][0-9]{0,2})\s*x\s*([1-9][0-9]{0,2})\s*,"  # board
    r"\s*[0-9]+\s*:\s*[0-9]+\s*,\s*([01])"  # levels, who started
)
_FOOTER = re.compile(r"([012])\s*,\s*(.*)", re.DOTALL)


def looks_like_psq(data: bytes) -> bool:
    """Whether the text begins with the header's first word."""
    return head_of(data).lstrip().startswith("Piskvorky")


def read_psq(data: bytes, source: str = "psq") -> FiveRecord:
    """The game in `data`, written by this judge, by Piskvork, by GomocupJudge or by hand.

    Any line end, blank lines, moves of two numbers or three, with or without names, code and last
    line are fine. InputError names `source`, the line and the fix: no header, a square off the
    board or taken before, a line that is nothing of the format. The stone on a taken square with which a player lost,
    which GomocupJudge keeps as the last one, is no stone of the game.
    """
    (number, text), *lines = split_lines(decode_file(data, source)) or [(1, "")]
    header = _HEADER.fullmatch(text)
    if header is None:
        raise InputError(f"{source}, line {number}: no header; write it such as Piskvorky 15x15, 11:11, 0")
    width, height, started = int(header[1]), int(header[2]), int(header[3])
    lines, is_illegal = _without_illegal_end(lines)
    laying = Laying(width, height, source, lambda x, y: f"{x + 1},{y + 1}")
    moves, opening = read_moves(lines, 1, laying)
    names, code, footer = _read_end(lines[len(moves) :], source)
    if names is not None and started == 1:
        names = (names[1], names[0])
    record = FiveRecord(width=width, height=height, moves=moves, opening=opening, names=names)
    if not footer:
        return ended(record, code)
    record = _ended_by_footer(record, footer)
    return replace(record, verdict=Verdict.ILLEGAL.value) if is_illegal else record


def _without_illegal_end(lines: list[Line]) -> tuple[list[Line], bool]:
    """The lines without a last move on a square that was taken before, if GomocupJudge wrote them."""
    moves = next((number for number, (_, text) in enumerate(lines) if not is_move(text)), len(lines))
    squares = [tuple(int(number) for number in text.split(",")[:2]) for _, text in lines[:moves]]
    if len(lines) - moves != 4 or not squares or squares[-1] not in squares[:-1]:
        return lines, False
    return [*lines[: moves - 1], *lines[moves:]], True


def _read_end(lines: Sequence[Line], source: str) -> tuple[tuple[str, str] | None, int | None, str]:
    """Names, code and GomocupJudge's line from what follows the moves; how many lines there are tells which.

    None; a code; two names; names and code; names, code and GomocupJudge's line.
    """
    texts = [text for _, text in lines]
    names = (texts[0], texts[1]) if len(texts) >= 2 else None
    code, footer = [*(texts[2:] if names else texts), "", ""][:2]
    broken_move = any(is_broken_move(name) for name in names or ())
    if len(texts) > 4 or broken_move or not (code == "" or is_code(code)):
        raise InputError(
            f"{source}, line {lines[0][0]}: {quote(texts[0], 20)} is no move (x,y or x,y,ms),"
            " and what begins there is not the two names and the code that end a game"
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
