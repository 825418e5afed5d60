"""The words of AGI (draft of 2016)."""

import re
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from typing import Any

from judge.base.text import decode
from judge.games.gomoku.requests import Square, Stone, Stones, Swap
from judge.games.types import Reply, ReplyKind, decided

SIDE = 15
"""One hexadecimal digit per coordinate (AGI draft, II)."""

RULES = {"renju": "FORBIDDEN", "freestyle": "UNFORBIDDEN", "standard": "UNFORBIDDEN"}
"""There is no word for exactly five: a contest informs its authors."""

CHANGES = {"none": "", "first": "FIRSTCHANGE", "third": "THIRDCHANGE"}

ID_KEYS = frozenset({b"NAME", b"AUTHOR"})
OPTION_KEYS = frozenset({b"OWNBOOK", b"PONDER"})
INFO_KEYS = frozenset({b"DEPTH", b"PV", b"SCORE", b"NPS", b"SEARCH", b"WIN", b"LOSE"})

VALUE_CHARACTERS = 2 * SIDE * SIDE


class AgiWord(StrEnum):
    """Kinds of lines."""

    ID = "ID"
    OPTION = "OPTION"
    AGIOK = "AGIOK"
    READYOK = "READYOK"
    INFO = "INFO"
    BESTMOVE = "BESTMOVE"
    TEXT = "text"


_WORDS = {word.encode(): word for word in AgiWord if word is not AgiWord.TEXT}
_ANSWER = re.compile(rb"(CHANGE|(?:[0-9A-F]{2}){1,225})(?:\s+PONDER(?:\s+(.*))?)?", re.IGNORECASE)


def classify(line: bytes) -> tuple[AgiWord, bytes]:
    """Kind, and the stripped text after the keyword."""
    text = line.strip()
    keyword, *rest = text.split(None, 1) or (b"",)
    word = _WORDS.get(keyword.upper(), AgiWord.TEXT)
    return word, text if word is AgiWord.TEXT else b"".join(rest)


def by_keyword(text: bytes, keys: Collection[bytes]) -> tuple[dict[str, str], str]:
    """Text after each of `keys`, by lower-case keyword, and the text before the first.

    Only a keyword's first use counts: a program may be called `No Name`.
    """
    before: list[bytes] = []
    said: dict[bytes, list[bytes]] = {}
    words = before
    for word in text.split():
        key = word.upper()
        if key in keys and key not in said:
            words = said[key] = []
        else:
            words.append(word)
    values = {decode(key).lower(): _joined(words) for key, words in said.items()}
    return values, _joined(before)


def read_answer(text: bytes) -> tuple[Reply, str]:
    """Reply after BESTMOVE and the text of PONDER."""
    match = _ANSWER.fullmatch(text)
    if match is None:
        return Reply(ReplyKind.UNREADABLE, decode(text[:200])), ""
    ponder = _joined((match[2] or b"").split())
    if match[1].upper() == b"CHANGE":
        return decided(Swap(), "SWAP"), ponder
    squares = read_squares(match[1])
    said = " ".join(f"{x},{y}" for x, y in squares)
    decision = Stone(*squares[0]) if len(squares) == 1 else Stones(squares)
    return Reply(ReplyKind.DECIDED, said, decision, spoken=f"BESTMOVE {decode(match[1])}"), ponder


def write_squares(squares: Iterable[Square]) -> str:
    """`7879` for (7, 7), (8, 7): row 0-E from the top, then column 1-F from the left (AGI draft, II)."""
    return "".join(f"{y:X}{x + 1:X}" for x, y in squares)


def read_squares(digits: bytes) -> tuple[Square, ...]:
    """Invert `write_squares`; accepts squares off the board."""
    values = [int(digits[at : at + 1], 16) for at in range(len(digits))]
    return tuple((column - 1, row) for row, column in zip(values[::2], values[1::2], strict=True))


def objection(game: Mapping[str, Any]) -> str | None:
    """Why AGI cannot express this game, or None."""
    width, height, swap = game["width"], game["height"], game.get("swap", "none")
    if (width, height) != (SIDE, SIDE):
        return f"can only name the squares of a {SIDE}x{SIDE} board, not of {width}x{height}"
    if game.get("other_sizes"):
        return f"has boards of {SIDE}x{SIDE} only, but this game may continue with another size"
    if game["rule"] not in RULES:
        return f"has no words for the rule {game['rule']}, only for {', '.join(RULES)}"
    if game.get("continuous", False):
        return "cannot play on after a five (continuous)"
    if swap not in CHANGES:
        return f"has no words for the swap {swap}, only for {', '.join(CHANGES)}"
    return None


def _joined(words: Iterable[bytes]) -> str:
    return decode(b" ".join(words))[:VALUE_CHARACTERS]
