"""Words from strangers, for pages and tables: no control characters, no turned direction, not too long."""

import re

from judge.text import printable

LONGEST_NAME = 48
LONGEST_TEXT = 600


def plain(text: str, most: int = LONGEST_TEXT) -> str:
    """`text` on one line, with a sign in place of whatever is not plainly printable, cut to `most` characters."""
    return printable(
        re.sub(r"[\r\n\t]", " ", text[: most + 1]), most, mark="\N{REPLACEMENT CHARACTER}", cut="…"
    )


def number(value: float, decimals: int = 1) -> str:
    """A number without needless zeros: 3, 2.5."""
    text = f"{value:.{decimals}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text).replace("-", "\N{MINUS SIGN}")


def halves(value: float) -> str:
    """A score as chess players write it: 3, ½, 2½; other fractions as decimals."""
    whole = int(value)
    if value == whole:
        return str(whole)
    if value - whole == 0.5:
        return f"{whole or ''}½"
    return number(value, 3)


def duration(ms: float) -> str:
    """A time as people read it: 12 ms, 3.4 s, 5 min 6 s, 2 h 5 min."""
    if ms < 1000:
        return f"{ms:.0f} ms" if ms >= 10 else f"{number(ms, 1)} ms"
    seconds = ms / 1000
    if seconds < 60:
        return f"{number(seconds, 1)} s"
    if seconds < 3600:
        return _two(int(seconds), 60, "min", "s")
    return _two(int(seconds // 60), 60, "h", "min")


def _two(value: int, base: int, large: str, small: str) -> str:
    """A value in two units, without the smaller one where it is nothing."""
    whole, rest = divmod(value, base)
    return f"{whole} {large} {rest} {small}" if rest else f"{whole} {large}"
