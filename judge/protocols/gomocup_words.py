"""The words of the Gomocup protocol."""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from judge.base.parsing import FrozenModel
from judge.base.text import decode
from judge.games.gomoku.requests import RULE_BITS, Square
from judge.games.gomoku.rules import CONTINUOUS_BIT
from judge.protocols.types import SeatLimits

INT32_MAX = 2147483647

FAR_DIGITS = 9
FAR = 10**FAR_DIGITS
"""Parsing longer numbers would take time."""

ABOUT_CHARACTERS = 512

TOURNAMENT = 2

InfoWord = Annotated[str, StringConstraints(pattern=r"^[!-~](?:[ -~]{0,198}[!-~])?$")]


class GomocupOptions(FrozenModel):
    """Protocol options of a contest or an agent's manifest."""

    line_ending: Literal["crlf", "lf"] = "crlf"
    line_bytes: int = Field(default=8192, ge=64)
    """Longer lines are truncated; the game continues."""
    game_type: int = Field(default=1, ge=0, le=3)
    """INFO game_type: 0 human opponent, 1 brain, 2 tournament, 3 network tournament."""
    refusal_ms: int = Field(default=1000, ge=1)
    """Wait in milliseconds after an UNKNOWN or ERROR that may be about an earlier line. It is charged."""
    info: Mapping[InfoWord, int | InfoWord] = Field(default_factory=dict)
    """Further INFO keys, sent unchanged after the usual ones (`evaluate`, or Yixin's `max_depth`, `thread_num`)."""


class GomocupWord(StrEnum):
    """Kinds of lines."""

    OK = "OK"
    ERROR = "ERROR"
    UNKNOWN = "UNKNOWN"
    MESSAGE = "MESSAGE"
    DEBUG = "DEBUG"
    SUGGEST = "SUGGEST"
    SWAP = "SWAP"
    MOVE = "move"
    SQUARES = "squares"
    MANGLED = "mangled"
    TEXT = "text"


_PAIR = rb"[+-]?\d+\s*,\s*[+-]?\d+"
_MOVE = re.compile(rb"\s*(" + _PAIR + rb")\s*")
_SQUARES = re.compile(rb"\s*" + _PAIR + rb"(?:\s+" + _PAIR + rb")+\s*")
_NUMBER = re.compile(rb"([+-]?)0*(\d+)")
_LIKE_A_MOVE = re.compile(rb"\s*[+-]?\d+\s*,")
_KEYWORD = re.compile(rb"\s*(OK|ERROR|UNKNOWN|MESSAGE|DEBUG|SUGGEST|SWAP)(?![A-Za-z0-9_])\s*", re.IGNORECASE)
_DEBUG = re.compile(rb"\s*DEBUG(?![A-Za-z0-9_])", re.IGNORECASE)
_ABOUT_PAIR = re.compile(r'([A-Za-z]+)\s*=\s*"([^"]*)"')


def classify(line: bytes) -> tuple[GomocupWord, bytes]:
    """Kind, and the text after its keyword.

    An invalid line that begins like coordinates is MANGLED: an intended move, judged at once.
    """
    if _MOVE.fullmatch(line):
        return GomocupWord.MOVE, line
    keyword = _KEYWORD.match(line)
    if keyword:
        return GomocupWord[keyword[1].decode().upper()], line[keyword.end() :]
    if not _LIKE_A_MOVE.match(line):
        return GomocupWord.TEXT, line
    return (GomocupWord.SQUARES if _SQUARES.fullmatch(line) else GomocupWord.MANGLED), line


def squares_in(text: bytes) -> tuple[Square, ...]:
    """Squares of a MOVE or SQUARES line, FAR for more than nine digits."""
    if len(text) <= FAR_DIGITS and text.count(b",") == 1:
        x, y = text.split(b",")
        return ((int(x), int(y)),)
    numbers = [
        (-1 if sign == b"-" else 1) * (int(digits) if len(digits) <= FAR_DIGITS else FAR)
        for sign, digits in _NUMBER.findall(text)
    ]
    return tuple(zip(numbers[::2], numbers[1::2], strict=True))


def say_squares(squares: Sequence[Square], line: bytes = b"") -> str:
    """`7,7 8,8`, or the start of a `line` with longer numbers."""
    if len(line) > FAR_DIGITS and any(abs(number) == FAR for square in squares for number in square):
        return decode(line[:200]).strip()
    if len(squares) == 1:
        x, y = squares[0]
        return f"{x},{y}"
    return " ".join(f"{x},{y}" for x, y in squares)


def parse_about(text: str) -> dict[str, str]:
    """Such as `name="X", version="1.0"`; free text as `text`."""
    pairs = {key.lower(): value for key, value in _ABOUT_PAIR.findall(text)}
    return pairs or ({"text": text} if text else {})


def is_about(text: str) -> bool:
    """Whether it is an answer to ABOUT in the protocol's form: pairs such as `name="X"`."""
    return _ABOUT_PAIR.search(text) is not None


def is_private(line: bytes) -> bool:
    """DEBUG is for the author only (Gomoku AI protocol)."""
    return _DEBUG.match(line) is not None


def info_lines(game: Mapping[str, Any], limits: SeatLimits, options: GomocupOptions) -> list[str]:
    """INFO in the order of "Nový protokol", keys in lower case."""
    rule = RULE_BITS[game["rule"]] + (CONTINUOUS_BIT if game.get("continuous") else 0)
    values: list[tuple[str, object]] = [
        ("timeout_turn", min(limits.control.announced_turn_ms, INT32_MAX)),
        ("timeout_match", min(limits.control.total_ms or 0, INT32_MAX)),
        # Brains read it into 32 bits.
        ("max_memory", min(limits.memory_bytes, INT32_MAX)),
        ("game_type", options.game_type),
        ("rule", rule),
    ]
    if limits.folder is not None:
        values.append(("folder", limits.folder))
    values += options.info.items()
    return [f"INFO {key} {value}" for key, value in values]


def objection(game: Mapping[str, Any]) -> str | None:
    """Why the protocol cannot express this game, or None."""
    if game.get("swap", "none") in ("first", "third"):
        return f"has no words for a swap of kind {game['swap']}, only for swap2"
    return None
