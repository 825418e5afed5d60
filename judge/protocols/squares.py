"""The square that a line in a wrong form probably means."""

import re

_NUMBERS = re.compile(r"(?<![\d.])(\d{1,2})(?:\.0+)?(?![\d.])")
_LETTER = re.compile(r"(?i)(?<![a-z])([a-z])[\s,-]{0,2}(\d{1,2})(?!\d)")
_NAMED = re.compile(r"(?i)(?<![a-z])([xy]|col(?:umn)?|row)\W{0,4}(\d{1,2})(?!\d)")
_PAIR = re.compile(r"(?<![\w.,-])(\d{1,2})\s*,\s*(\d{1,2})(?![\w.,])")
_POINT = re.compile(r"\s*(\d{1,2})\.(\d{1,2})\s*")
_REVERSED = re.compile(r"(?i)\s*(\d{1,2})([a-z])\s*")
_NEGATIVE = re.compile(r"(?:^|[\s,(\[])-\d")
_PUNCTUATION = re.compile(r"[\s\d.,;:()\[\]{}<>\"'/|_-]+")
_WORDS = re.compile(r"(?i)(?:\b(?:my|best|next|the|move|bestmove|play|answer|turn|result|is|i)\b|[\W\d_])+")


def intended_square(said: str) -> tuple[int, int] | None:
    """The square (from 0) that a line probably means."""
    named = {key[0].lower(): int(number) for key, number in _NAMED.findall(said)}
    x, y = named.get("x", named.get("c")), named.get("y", named.get("r"))
    if x is not None and y is not None:
        return x, y
    letters = _LETTER.findall(said)
    rest = _LETTER.sub("", said)
    if len(letters) == 1 and _WORDS.fullmatch(f"{rest} "):
        letter, number = letters[0]
        is_pair = re.search(rf"(?i){letter}\s*,", said) is not None
        row = int(number) - (0 if is_pair else 1)
        return ord(letter.lower()) - ord("a"), max(0, row)
    if _NEGATIVE.search(said):
        return None
    numbers = [int(number) for number in _NUMBERS.findall(said)]
    if len(numbers) == 2 and (_PUNCTUATION.fullmatch(said) or _WORDS.fullmatch(said)):
        return numbers[0], numbers[1]
    if found := _REVERSED.fullmatch(said):
        return intended_square(found[2] + found[1])
    pairs = [found] if (found := _POINT.fullmatch(said)) else list(_PAIR.finditer(said))
    return (int(pairs[0][1]), int(pairs[0][2])) if len(pairs) == 1 else None


def is_letter_and_number(said: str) -> bool:
    """Whether the line has a square such as `e2`."""
    return _LETTER.search(said) is not None and not _NAMED.search(said)
