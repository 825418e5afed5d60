"""Five-in-a-row games in SGF: FF[4] with GM[4].

    (;FF[4]GM[4]CA[UTF-8]AP[judge]SZ[15]RU[renju]PB[first]PW[second]EV[cup]RO[3]DT[2024-05-31]RE[B+T]GC[turn-time]
    ;B[hh]C[opening move]
    ;W[ih]C[1520ms])

Squares are column and row from the top left corner, `a` to `z`, then `A` to `Z`: at most 52x52. Rectangular boards have
SZ[width:height]. The comment of a stone is `opening move` or its time, as in c-gomoku-cli. RE has the winner and T
(time), R (resigned) or F (another fault). GC has the verdict.

The reader accepts collections, FF[1] to FF[4], unknown properties, and set-up stones (AB and AW before the first move)
as opening. It reads the main line only, and refuses passes and other games (GM). CA names the encoding. The parser
needs no recursion: the main line ends at the first closing parenthesis.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from judge.base.errors import InputError
from judge.base.text import one_line, quote
from judge.games.gomoku.requests import COLOURS
from judge.games.types import Verdict
from judge.records.gomoku.record import (
    WINNERS,
    FiveRecord,
    Laying,
    Outcome,
    iso_date,
    need_board,
    rule_word,
    verdict_word,
)
from judge.records.text_files import Encoding, decode_file, encoding_of, find_codec, head_of

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
LARGEST = len(LETTERS)

OPENING_MOVE = "opening move"

_SUFFIXES = {
    "": "",
    Verdict.WIN: "",
    Verdict.RESIGNED: "R",
    Verdict.START_TIME: "T",
    Verdict.TURN_TIME: "T",
    Verdict.MATCH_TIME: "T",
}
"""Suffix after `B+` in RE; F for all others."""

_VERDICTS = {"R": Verdict.RESIGNED, "T": Verdict.TURN_TIME}
"""By the letter after `B+`, without a verdict in GC."""


# --- writing ---------------------------------------------------------------------------------------------------------


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
    values = {
        "SZ": str(record.width) if square else f"{record.width}:{record.height}",
        "RU": record.rule or None,
        "PB": None if black is None else _escape(black),
        "PW": None if white is None else _escape(white),
        "EV": _escape(record.event) or None,
        "RO": _escape(record.round) or None,
        "DT": _escape(iso_date(one_line(record.date))) or None,
        "RE": _result(record),
        "GC": record.verdict or None,
    }
    known = "".join(f"{name}[{value}]" for name, value in values.items() if value is not None)
    return f";FF[4]GM[4]CA[UTF-8]AP[judge]{known}\n"


def _point(x: int, y: int) -> str:
    return LETTERS[x] + LETTERS[y]


def _result(record: FiveRecord) -> str:
    if record.verdict == Verdict.VOID:
        return "Void"
    if record.outcome in WINNERS:
        return f"{record.outcome[0].upper()}+{_SUFFIXES.get(record.verdict, 'F')}"
    return "0" if record.outcome == "draw" else "?"


def _escape(text: str) -> str:
    return re.sub(r"([\]\\:])", r"\\\1", one_line(text))


# --- reading ---------------------------------------------------------------------------------------------------------


class _Values(NamedTuple):
    line: int
    texts: list[str]


_Node = dict[str, _Values]

_TREE = re.compile(r"\(\s*;")
_WORD = re.compile(r"\s+|[();]|[A-Za-z]+|\[[^\\\]]*(?:\\.[^\\\]]*)*\]", re.DOTALL)
_SIZE = re.compile(r"([0-9]{1,3})(?:\s*:\s*([0-9]{1,3}))?")
_TIME = re.compile(r"([0-9]{1,12})\s*ms\b")
_ENCODING = re.compile(r"\bCA\s*\[([^\]\\]{1,40})\]")
_WON = re.compile(r"([BW])\s*\+\s*(.?)", re.IGNORECASE)


def looks_like_sgf(data: bytes) -> bool:
    """Whether the text begins with a game."""
    return _TREE.match(head_of(data).lstrip()) is not None


def read_sgf(data: bytes, source: str = "sgf") -> tuple[FiveRecord, ...]:
    """Main lines only.

    Raises InputError for another game, a missing size, an impossible stone, or an unknown encoding.
    """
    encoding = sgf_encoding(data, source)
    trees = list(_games(_words(decode_file(data, source, encoding), source)))
    if not trees:
        raise InputError(f"{source}, line 1: no game; one begins such as (;GM[4]SZ[15]")
    if not (encoding.mark_bytes or data.isascii()):
        for root in (nodes[0] for nodes in trees if "CA" in nodes[0]):
            if _codec(_text(root, "CA"), source, root["CA"].line) != encoding.codec:
                raise InputError(
                    f"{source}, line {root['CA'].line}: CA differs from the encoding of the games before it;"
                    " write a file for each encoding"
                )
    return tuple(_record(nodes, source) for nodes in trees)


def sgf_encoding(data: bytes, source: str) -> Encoding:
    """Encoding from the byte order mark, else from CA. Raises InputError if unknown."""
    found = encoding_of(data)
    if found.mark_bytes or found.codec.startswith("utf-16"):
        return found
    line, name = _declared(data.decode("latin-1"), source)
    return encoding_of(data, _codec(name, source, line)) if name else found


def _declared(text: str, source: str) -> tuple[int, str]:
    try:
        for line, name, value in _root_properties(_words(text, source)):
            if name == "CA":
                return line, value.strip()
    except InputError:
        pass
    # A second byte may be a bracket or a backslash.
    if not text.isascii() and (match := _ENCODING.search(text)):
        return text.count("\n", 0, match.start()) + 1, match[1].strip()
    return 0, ""


def _root_properties(words: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str, str]]:
    at, name = 0, ""
    for number, (line, word) in enumerate(words):
        if number > 1 and word in "();":
            return
        if word[0] == "[" and name:
            yield at, name, word[1:-1]
            name = ""
        elif word.isalpha():
            at, name = line, _property_name(word)


def _codec(name: str, source: str, line: int) -> str:
    codec = find_codec(name)
    if codec is None:
        raise InputError(f"{source}, line {line}: CA[{one_line(name, 40)}] is an unknown encoding; write CA[UTF-8]")
    return codec


def _property_name(word: str) -> str:
    """FF[1] to FF[3] allow spelled-out names (GaMe)."""
    return "".join(letter for letter in word if letter.isupper())


def _words(text: str, source: str) -> Iterator[tuple[int, str]]:
    line, at, depth = 1, 0, 0
    while True:
        if depth == 0:
            begin = _TREE.search(text, at)
            if begin is None:
                return
            line += text.count("\n", at, begin.start())
            at = begin.start()
        match = _WORD.match(text, at)
        if match is None:
            raise InputError(
                f"{source}, line {line}: {quote(text[at : at + 20])} is not valid SGF here;"
                " close every game with ) and every value with ]"
            )
        word = match[0]
        depth += {"(": 1, ")": -1}.get(word, 0)
        if not word.isspace():
            yield line, word
        line += word.count("\n")
        at = match.end()


def _games(words: Iterator[tuple[int, str]]) -> Iterator[list[_Node]]:
    nodes: list[_Node] = []
    values = _Values(0, [])
    depth, is_main = 0, True
    for line, word in words:
        depth += {"(": 1, ")": -1}.get(word, 0)
        if depth == 0:
            yield nodes
            nodes, is_main = [], True
        elif word == ")":
            is_main = False
        elif not is_main or word == "(":
            continue
        elif word == ";":
            nodes.append({})
            values = _Values(line, [])
        elif word[0] == "[":
            values.texts.append(word[1:-1])
        else:
            values = nodes[-1].setdefault(_property_name(word), _Values(line, []))


def _record(nodes: Sequence[_Node], source: str) -> FiveRecord:
    root: _Node = {}
    for name, values in (item for node in nodes for item in node.items()):
        root.setdefault(name, values)
    width, height = _read_size(root, source)
    laying = Laying(width, height, source, _point)
    opening = _read_moves(nodes, laying, source)
    outcome, verdict = _read_result(_text(root, "RE"), _text(root, "GC"))
    return FiveRecord(
        width=width,
        height=height,
        moves=tuple(laying.moves),
        opening=opening,
        rule=rule_word(_text(root, "RU")),
        names=(_text(root, "PB"), _text(root, "PW")) if {"PB", "PW"} & root.keys() else None,
        outcome=outcome,
        verdict=verdict,
        event=_text(root, "EV"),
        round=_text(root, "RO"),
        date=iso_date(_text(root, "DT")),
    )


def _text(node: _Node, name: str) -> str:
    values = node.get(name)
    raw = values.texts[0] if values and values.texts else ""
    return one_line(re.sub(r"\\(\n|.)", lambda m: m[1].strip("\n"), raw, flags=re.DOTALL))


def _read_size(root: _Node, source: str) -> tuple[int, int]:
    game, size = _text(root, "GM"), _text(root, "SZ")
    if game not in ("", "4"):
        raise InputError(
            f"{source}, line {root['GM'].line}: GM[{one_line(game, 20)}] is another game; five in a row is GM[4]"
        )
    match = _SIZE.fullmatch(size)
    width, height = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not (1 <= width <= LARGEST and 1 <= height <= LARGEST):
        line = root["SZ"].line if "SZ" in root else 1
        raise InputError(
            f"{source}, line {line}: {quote(size, 20)} is no size; write SZ[15], or SZ[20:15], of at most {LARGEST}"
        )
    return width, height


def _read_moves(nodes: Sequence[_Node], laying: Laying, source: str) -> int:
    opening = 0
    for node in nodes:
        for line, text in _set_up(node, len(laying.moves) & 1, source):
            if opening != len(laying.moves):
                raise InputError(f"{source}, line {line}: AB and AW after a move; write B and W there")
            _lay(laying, line, text, 0, source)
            opening += 1
        comment = _text(node, "C")
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


def _set_up(node: _Node, turn: int, source: str) -> Iterator[tuple[int, str]]:
    none = _Values(0, [])
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


def _read_result(result: str, comment: str) -> tuple[Outcome, str]:
    verdict = verdict_word(comment)
    won = _WON.match(result)
    if result.lower() == "void" or verdict == Verdict.VOID:
        return "", Verdict.VOID.value
    if won is not None:
        letter = won[2].upper()
        found = _VERDICTS[letter].value if letter in _VERDICTS else ""
        return WINNERS["BW".index(won[1].upper())], verdict or found
    return ("draw", verdict) if result.lower() in ("0", "draw") else ("", "")
