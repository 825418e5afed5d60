"""Five-in-a-row games in SGF: FF[4] with GM[4].

    (;FF[4]GM[4]CA[UTF-8]AP[judge]SZ[15]RU[renju]PB[first]PW[second]EV[cup]RO[3]DT[2024-05-31]RE[B+T]GC[turn-time]
    ;B[hh]C[opening move]
    ;W[ih]C[1520ms])

Squares are column and row from the top left corner, `a` to `z`, then `A` to `Z`: at most 52x52. Rectangular boards have
SZ[width:height]. The comment of a stone is `opening move` or its time, as in c-gomoku-cli. RE has the winner and T
(time), R (resigned) or F (another fault).

Everything of a record is kept. The reader (`judge.formats.sgf`) accepts set-up stones (AB and AW before the first move)
as opening. It refuses passes and other games (GM).
"""

import re
from collections.abc import Iterator, Sequence

from judge.base.errors import InputError
from judge.base.text import one_line, quote
from judge.formats.gomoku.record import (
    WINNERS,
    FiveRecord,
    Laying,
    Outcome,
    iso_date,
    need_board,
    rule_word,
    verdict_word,
)
from judge.formats.sgf import SgfNode, SgfValues, escape, game_number, read_collection, root_of, write_node
from judge.games.gomoku.requests import COLOURS
from judge.games.types import Verdict

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
LARGEST = len(LETTERS)

OPENING_MOVE = "opening move"

_SUFFIXES: dict[str, str] = {
    "": "",
    Verdict.WIN: "",
    **dict.fromkeys((Verdict.START_TIME, Verdict.TURN_TIME, Verdict.MATCH_TIME), "T"),
    Verdict.RESIGNED: "R",
}

_VERDICTS = {"R": Verdict.RESIGNED, "T": Verdict.TURN_TIME}


def write_sgf(record: FiveRecord) -> bytes:
    """Concatenated games form a collection. Raises InputError if the board is unknown or too large."""
    need_board(record, "SGF")
    if max(record.width, record.height) > LARGEST:
        raise InputError(
            f"SGF has letters for {LARGEST}x{LARGEST} squares, this game is of a"
            f" {record.width}x{record.height} board; write another format"
        )
    nodes = [_root(record)]
    for number, (x, y, ms) in enumerate(record.moves):
        comment = OPENING_MOVE if number < record.opening else f"{ms}ms"
        nodes.append(f";{'BW'[number & 1]}[{_point(x, y)}]C[{comment}]\n")
    return f"({''.join(nodes).rstrip()})\n".encode()


def _root(record: FiveRecord) -> str:
    square = record.width == record.height
    black, white = record.names or (None, None)
    properties = {
        "FF": "4",
        "GM": "4",
        "CA": "UTF-8",
        "AP": "judge",
        "SZ": str(record.width) if square else f"{record.width}:{record.height}",
        "RU": record.rule or None,
        "PB": None if black is None else escape(black),
        "PW": None if white is None else escape(white),
        "EV": escape(record.event) or None,
        "RO": escape(record.round) or None,
        "DT": escape(iso_date(one_line(record.date))) or None,
        "RE": _result(record),
        "GC": record.verdict or None,
    }
    return f"{write_node(properties)}\n"


def _point(x: int, y: int) -> str:
    return LETTERS[x] + LETTERS[y]


def _result(record: FiveRecord) -> str:
    if record.verdict == Verdict.VOID:
        return "Void"
    if record.outcome in WINNERS:
        return f"{record.outcome[0].upper()}+{_SUFFIXES.get(record.verdict, 'F')}"
    return "0" if record.outcome == "draw" else "?"


_SIZE = re.compile(r"([0-9]{1,3})(?:\s*:\s*([0-9]{1,3}))?")
_TIME = re.compile(r"([0-9]{1,12})\s*ms\b")
_WON = re.compile(
    r"""(?P<winner>b|w)(?:lack|hite)?\s*(?:\+|\bwins?\b)\s*(?P<how>[a-z]?).*
    |(?P<colour>[黑白])方?中?[盘盤]?[胜勝].*""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_DRAWN = frozenset({"0", "draw", "jigo", "1/2-1/2", "½-½", "0.5-0.5", "和", "和棋", "平", "平局", "平手"})
_UNKNOWN = frozenset({"", "?", "*", "unknown"})
_POINTS = {"1-0": 0, "0-1": 1}


def read_sgf(data: bytes, source: str = "sgf") -> tuple[FiveRecord, ...]:
    """Main lines only.

    Raises InputError for another game, a missing size, an impossible stone, or an unknown encoding.
    """
    trees = read_collection(data, source)
    if not trees:
        raise InputError(f"{source}, line 1: no game; one begins such as (;GM[4]SZ[15]")
    return tuple(_record(nodes, source) for nodes in trees)


def _record(nodes: Sequence[SgfNode], source: str) -> FiveRecord:
    root = root_of(nodes)
    width, height = _read_size(root, source)
    laying = Laying(width, height, source, _point)
    opening = _read_moves(nodes, laying, source)
    outcome, verdict = _read_result(root, source)
    return FiveRecord(
        width=width,
        height=height,
        moves=tuple(laying.moves),
        opening=opening,
        rule=rule_word(root.text("RU")),
        names=(root.text("PB"), root.text("PW")) if {"PB", "PW"} & root.keys() else None,
        outcome=outcome,
        verdict=verdict,
        event=root.text("EV"),
        round=root.text("RO"),
        date=iso_date(root.text("DT")),
    )


def _read_size(root: SgfNode, source: str) -> tuple[int, int]:
    game, size = game_number(root), root.text("SZ")
    if game not in ("", "4"):
        named = f"GM[{one_line(game, 20)}] is another game" if "GM" in root else "without GM, KM or HA means Go"
        raise InputError(f"{source}, line {root.line('GM')}: {named}; five in a row is GM[4]")
    match = _SIZE.fullmatch(size)
    width, height = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not (1 <= width <= LARGEST and 1 <= height <= LARGEST):
        line = root["SZ"].line if "SZ" in root else 1
        raise InputError(
            f"{source}, line {line}: {quote(size, 20)} is no size; write SZ[15], or SZ[20:15], of at most {LARGEST}"
        )
    return width, height


def _read_moves(nodes: Sequence[SgfNode], laying: Laying, source: str) -> int:
    opening = 0
    for node in nodes:
        for line, text in _set_up(node, len(laying.moves) & 1, source):
            if opening != len(laying.moves):
                raise InputError(f"{source}, line {line}: AB and AW after a move; write B and W there")
            _lay(laying, line, text, 0, source)
            opening += 1
        comment = node.text("C")
        time = _TIME.match(comment)
        for name in ("B", "W"):
            if name not in node:
                continue
            line, texts = node[name]
            if name != "BW"[len(laying.moves) & 1]:
                raise InputError(f"{source}, line {line}: {name} moves out of turn; black begins and colours alternate")
            _lay(laying, line, texts[0] if texts else "", int(time[1]) if time else 0, source)
            if comment == OPENING_MOVE and opening == len(laying.moves) - 1:
                opening += 1
    return opening


def _set_up(node: SgfNode, turn: int, source: str) -> Iterator[tuple[int, str]]:
    none = SgfValues(0, [])
    stones = (node.get("AB", none), node.get("AW", none))
    first, second = stones[turn], stones[1 - turn]
    if len(first.texts) - len(second.texts) not in (0, 1):
        raise InputError(
            f"{source}, line {max(first.line, second.line)}: AB has {len(stones[0].texts)} stones and AW"
            f" {len(stones[1].texts)}; they must alternate, {COLOURS[turn]} first"
        )
    for number in range(len(first.texts) + len(second.texts)):
        line, texts = (first, second)[number & 1]
        yield line, texts[number // 2]


def _lay(laying: Laying, line: int, text: str, ms: int, source: str) -> None:
    point = text.strip()
    if len(point) != 2 or not set(point) <= set(LETTERS):
        raise InputError(f"{source}, line {line}: {quote(text, 20)} is no square; write column and row, such as hh")
    laying.add(LETTERS.index(point[0]), LETTERS.index(point[1]), ms, line, point)


def _read_result(root: SgfNode, source: str) -> tuple[Outcome, str]:
    result, verdict = " ".join(root.text("RE").split()), verdict_word(root.text("GC"))
    if result.lower() == "void" or verdict == Verdict.VOID:
        return "", Verdict.VOID.value
    if result.lower() in _UNKNOWN:
        return "", ""
    if result.lower() in _DRAWN:
        return "draw", verdict
    if result in _POINTS:
        return WINNERS[_POINTS[result]], verdict
    won = _WON.fullmatch(result)
    if won is None:
        said = f"RE[{one_line(result, 30)}] is no result"
        raise InputError(f"{source}, line {root.line('RE')}: {said}; write RE[B+], RE[W+], RE[0] or RE[?]")
    letter = (won["how"] or "").upper()
    found = _VERDICTS[letter].value if letter in _VERDICTS else ""
    return WINNERS["bw黑白".index((won["winner"] or won["colour"]).lower()) % 2], verdict or found
