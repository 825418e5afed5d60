"""Reads openings of five in a row from text, black first.

Two notations, distinguished by letters:

- offsets, `-1,0, 2,3`: from the square floor(size / 2), as in Gomocup's and Piskvork's files;
- squares, `h8i9j7` ("pos"): column letter and row from 1. After column `z` come `aa`, `ab`, ...
"""

import re
from collections.abc import Callable, Sequence

from judge.base.errors import InputError
from judge.base.text import quote
from judge.games.gomoku.game import Gomoku, OpeningError
from judge.games.gomoku.requests import Square, square_at
from judge.games.gomoku.rules import Rule

EXAMPLE = "h8i9j7 or 0,0, 1,1, 2,-1"

Opening = tuple[Square, ...]
"""Squares in play order."""

Turn = Callable[[int, int], Square]

_OFFSET = re.compile(r"[+-]?[0-9]{1,3}")
_NAME = re.compile(r"\s*([a-z]{1,2}[0-9]{1,2})", re.ASCII | re.IGNORECASE)
_LETTER = re.compile(r"[A-Za-z]")

_Token = tuple[str, Square]


def parse_opening(
    text: str, width: int, height: int, rule: Rule = Rule.FREESTYLE, *, continuous: bool = False
) -> Opening:
    """An opening may be empty.

    Raises InputError for an unknown notation, a square off the board or repeated, or, unless `continuous`, a stone that
    ends the game.
    """
    read = _read_names if _LETTER.search(text) else _read_offsets
    tokens = read(text.strip(), (width // 2, height // 2))
    opening = tuple(square for _, square in tokens)
    try:
        options = {"width": width, "height": height, "rule": rule, "continuous": continuous}
        Gomoku.from_options(options | {"opening": opening})
    except OpeningError as error:
        raise InputError(f"{quote(tokens[error.stone - 1][0])}: {error}") from error
    return opening


def symmetries(width: int, height: int) -> Sequence[Turn]:
    """Identity first."""
    right, bottom = width - 1, height - 1
    mirrors: list[Turn] = [
        lambda x, y: (x, y),
        lambda x, y: (right - x, y),
        lambda x, y: (x, bottom - y),
        lambda x, y: (right - x, bottom - y),
    ]
    diagonals: list[Turn] = [
        lambda x, y: (y, x),
        lambda x, y: (right - y, x),
        lambda x, y: (y, bottom - x),
        lambda x, y: (right - y, bottom - x),
    ]
    return mirrors + diagonals if width == height else mirrors


def _read_names(text: str, _middle: Square) -> list[_Token]:
    tokens: list[_Token] = []
    at = 0
    while at < len(text):
        match = _NAME.match(text, at)
        if match is None:
            raise InputError(
                f"{quote(text[at:], 20)} does not start with a square;"
                " write letter and row from 1, such as h8, one after the other"
            )
        tokens.append((match[1], square_at(match[1].lower())))
        at = match.end()
    return tokens


def _read_offsets(text: str, middle: Square) -> list[_Token]:
    # As in Piskvork's files.
    numbers = [part.strip() for part in text.removesuffix(",").split(",")] if text else []
    for number in numbers:
        if not _OFFSET.fullmatch(number):
            raise InputError(
                f"{quote(number, 20)} is no offset; write dx,dy from the middle, such as -1,0, 2,3,"
                " or squares, such as h8i9"
            )
    if len(numbers) % 2:
        raise InputError(f"{quote(numbers[-1])} is a dx without its dy; write offsets in pairs")
    return [
        (f"{dx},{dy}", (middle[0] + int(dx), middle[1] + int(dy)))
        for dx, dy in zip(numbers[::2], numbers[1::2], strict=True)
    ]
