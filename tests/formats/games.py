"""Games of five in a row for the formats: any that could have been played, and text of strangers."""

import re
from dataclasses import replace

from hypothesis import strategies as st

from judge.base.text import one_line
from judge.formats.gomoku.formats import SIDE
from judge.formats.gomoku.piskvork import piskvork_name, safe_name
from judge.formats.gomoku.record import (
    WINNERS,
    FiveRecord,
    Outcome,
    iso_date,
    outcome_on_board,
)
from judge.games.gomoku.requests import RULE_BITS, Square
from judge.games.types import Verdict

HOSTILE = (
    "",
    " ",
    "?",
    "-1",
    "8,8,0",
    "1,cup",
    "1-0",
    "first\r\nsecond\rthird\nfourth",
    "\x85\u2028\u2029\x0b\x0c\x1c",
    "\x1b[2J\x1b]0;title\x07",
    "\x9b31m",
    "a\x00b",
    "\u202eexe.gpj\u2066\u200f",
    "\udcff\ud800",
    "\ufeffPiskvorky 15x15, 11:11, 0",
    "]",
    "];B[aa];W[bb])(;GM[4]",
    ")",
    "\\",
    "\\]",
    'x\\"y\\\\',
    '"]\n[Result "0-1"]',
    "{ not a comment ; % $1 }",
    "a:b",
    "<script>alert(1)</script>",
    "五子棋 Žluťoučký kůň",
    "x" * 10_000,
)
"""Names that mean something in a format, to a terminal or to a page."""

GAME = FiveRecord(
    width=SIDE,
    height=SIDE,
    moves=((7, 7, 0), (8, 7, 0), (8, 8, 1520), (0, 14, 7)),
    opening=2,
    rule="renju",
    names=("first", "second"),
    outcome="white",
    verdict="turn-time",
    event="cup",
    round="3",
    date="2024-05-31",
)
"""A game of white's, which black lost on time."""

BY_FAULT = sorted(set(Verdict) - {Verdict.WIN, Verdict.DRAW, Verdict.FOUL, Verdict.VOID})

ANY_SIDE = st.sampled_from([5, 6, 15, 15, 15, 19, 20, 26, 27, 52])

texts = st.one_of(st.sampled_from(HOSTILE), st.text(), st.text(st.characters(categories=["Cs", "Cc", "Cf", "Zl"])))


def squares(width: int, height: int) -> st.SearchStrategy[list[Square]]:
    """Some squares; or those of a row of five of black; or, on a small board, every one."""
    square = st.tuples(st.integers(0, width - 1), st.integers(0, height - 1))
    row = [(x, y) for x in range(5) for y in range(2)][:-1]
    every = [(x, y) for y in range(height) for x in range(width)]
    some = st.lists(square, max_size=20, unique=True)
    return some | st.just(row) | (st.just(every) if len(every) < 100 else some)


@st.composite
def records(draw: st.DrawFn, sides: st.SearchStrategy[int] = ANY_SIDE) -> FiveRecord:
    """A game that could have been played: its end does not contradict its stones."""
    width, height = draw(sides), draw(sides)
    stones = draw(squares(width, height))
    opening = draw(st.integers(0, min(5, len(stones))))
    times = [0] * opening + draw(
        st.lists(st.integers(0, 10**9), min_size=len(stones) - opening, max_size=len(stones) - opening)
    )
    record = FiveRecord(
        width=width,
        height=height,
        moves=tuple((x, y, ms) for (x, y), ms in zip(stones, times, strict=True)),
        opening=opening,
        rule=draw(st.sampled_from(["", *RULE_BITS])),
        names=draw(st.none() | st.tuples(texts, texts)),
        event=draw(texts),
        round=draw(texts),
        date=draw(texts | st.sampled_from(["2024-05-31", "2024.05.31 20:00:00", "2024"])),
    )
    outcome, verdict = draw(ends(record))
    return replace(record, outcome=outcome, verdict=verdict)


def ends(record: FiveRecord) -> st.SearchStrategy[tuple[Outcome, str]]:
    """How a game with these stones may have ended."""
    shown = outcome_on_board(record)
    if shown == "draw":
        return st.just((shown, Verdict.DRAW.value))
    if shown:
        return st.just((shown, Verdict.WIN.value))
    colours = st.sampled_from(WINNERS)
    others: list[tuple[Outcome, str]] = [
        ("", ""),
        ("", "void"),
        ("draw", "draw"),
        ("white", "foul"),
    ]
    return st.one_of(
        st.sampled_from(others),
        st.tuples(colours, st.sampled_from(["win", *BY_FAULT])),
    )


def as_psq_keeps(record: FiveRecord) -> FiveRecord:
    """Board, stones, times, opening and names; nothing of the end."""
    names = record.names and (safe_name(record.names[0]), safe_name(record.names[1]))
    stones = list(record.moves)
    if record.opening < len(stones):
        x, y, ms = stones[record.opening]
        stones[record.opening] = (x, y, max(1, ms))
    return FiveRecord(
        width=record.width,
        height=record.height,
        moves=tuple(stones),
        opening=record.opening,
        names=names,
    )


def as_gomocupjudge_keeps(record: FiveRecord) -> FiveRecord:
    """Who won and the event too."""
    names = record.names or ("", "")
    return replace(
        as_psq_keeps(record),
        names=(safe_name(names[0]), safe_name(names[1])),
        outcome=record.outcome,
        event=piskvork_name(record.event) if record.outcome else "",
    )


def as_sgf_keeps(record: FiveRecord) -> FiveRecord:
    """Everything, text as one line."""
    return replace(
        record,
        names=record.names and (one_line(record.names[0]), one_line(record.names[1])),
        event=one_line(record.event),
        round=one_line(record.round),
        date=iso_date(one_line(record.date)),
    )


def as_pgn_keeps(record: FiveRecord) -> FiveRecord:
    """No times; a text that is `?` is not known."""

    def known(text: str) -> str:
        return re.sub(r"^\?$", "", one_line(text))

    record = as_sgf_keeps(record)
    first, second = map(known, record.names or ("", ""))
    return replace(
        record,
        moves=tuple((x, y, 0) for x, y, _ in record.moves),
        names=(first or "?", second or "?") if first or second else None,
        event=known(record.event),
        round=known(record.round),
        date=iso_date(known(record.date)),
    )
