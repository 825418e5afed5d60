"""Words from strangers, for pages and tables: no control characters, no turned direction, not too long."""

import re

from judge.text import number, printable

LONGEST_NAME = 48
LONGEST_TEXT = 600


def plain(text: str, most: int = LONGEST_TEXT) -> str:
    """`text` on one line, with a sign in place of whatever is not plainly printable, cut to `most` characters."""
    return printable(re.sub(r"[\r\n\t]", " ", text[: most + 1]), most, mark="\N{REPLACEMENT CHARACTER}", cut="…")


def halves(value: float) -> str:
    """A score as chess players write it: 3, ½, 2½; other fractions as decimals."""
    whole = int(value)
    if value == whole:
        return str(whole)
    if value - whole == 0.5:
        return f"{whole or ''}½"
    return number(value, 3)
