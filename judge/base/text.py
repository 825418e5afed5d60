"""Makes untrusted text printable, and formats numbers, sizes and durations.

Text of `printable`, `one_line`, `plain_text` or `quote` cannot control a terminal, page or file. No I/O, and only the
standard library: games and boxes import this module.
"""

import difflib
import json
import math
import re
from collections.abc import Iterable

_SPACES = str.maketrans("\r\n\t", "   ")

SENTENCE_CHARACTERS = 300
_MAX_SUGGESTIONS = 8


def is_printable(text: str) -> bool:
    """Whether a terminal displays every character.

    False for control characters, line ends, blanks other than the space, marks of writing direction,
    lone surrogates and unassigned code points.
    """
    return text.isprintable()


def printable(text: str, limit: int | None = 200, *, mark: str | None = None, cut: str = "...") -> str:
    r"""`text` as one printable line of at most `limit` characters (None: unlimited).

    Unprintable characters become escapes such as `\x1b`, or `mark`. A truncated text ends in `cut`.
    """
    shown = text if limit is None else text[: limit + 1]
    if not is_printable(shown):
        shown = "".join(
            letter if is_printable(letter) else mark or letter.encode("unicode_escape").decode() for letter in shown
        )
    if limit is None or len(shown) <= limit:
        return shown
    return shown[: max(0, limit - len(cut))] + cut[:limit]


def is_repeatable(text: str) -> bool:
    r"""Whether a line of an agent may be sent to another agent, or written into a file, byte for byte.

    True for printable ASCII and tabs. A final CR belongs to the line end. Other bytes end a line or a program
    somewhere: a lone CR in Java, C# and Node, VT, FF and U+0085 in Python, NUL in C, bytes above 127 where UTF-8 is
    required.
    """
    return _is_plain(text.removesuffix("\r"))


def repeated(text: str, mark: str | None = None) -> str:
    r"""A line of an agent for another agent or a file, without its final CR.

    Characters that `is_repeatable` excludes become escapes such as `\x1b`, or `mark`.
    """
    line = text.removesuffix("\r")
    if _is_plain(line):
        return line
    return "".join(letter if _is_plain(letter) else mark or f"\\x{ord(letter):02x}" for letter in line)


def titled(name: str, title: str) -> str:
    """Such as `Weekend Cup (weekend)`."""
    return f"{title} ({name})" if title not in ("", name) else name


def file_word(name: str) -> str:
    """A part of a file name: at most 40 letters, digits and `_`."""
    return re.sub(r"[^A-Za-z0-9_]+", "_", name)[:40] or "_"


def one_line(text: str, limit: int = 200) -> str:
    """`text` as one printable line for a file.

    Runs of blanks and line ends become one blank; `?` replaces unprintable characters.
    """
    words = " ".join(text[: 10 * limit].split())
    return printable(words, limit, mark="?", cut="").rstrip()


def plain_text(text: str, limit: int = 600) -> str:
    """`text` as one printable line for a page or table.

    Tabs and line ends become spaces; U+FFFD replaces unprintable characters.
    """
    if len(text) <= limit and text.isprintable():
        return text
    return printable(text[: limit + 1].translate(_SPACES), limit, mark="\N{REPLACEMENT CHARACTER}", cut="…")


def sentence(text: str) -> str:
    """Mark `text`, which is returned unchanged, as translatable.

    `scripts/messages.py` collects the texts and f-strings in calls.
    """
    return text


def quote(text: str, limit: int = 60) -> str:
    """`text` in quotes, safe to print: ASCII, one line, escaped, cut."""
    return ascii(text) if len(text) <= limit else ascii(text[:limit]) + "..."


def nearest(word: str, known: Iterable[str], most: int = 1) -> list[str]:
    """Most similar words, best first."""
    return difflib.get_close_matches(word, list(known), most)


def suggest(word: str, known: Iterable[str]) -> str:
    """`did you mean 'x'?`, or the known words."""
    words = sorted(known)
    if word and (longer := [each for each in words if each.startswith(word)][:_MAX_SUGGESTIONS]):
        first, last = ", ".join(map(repr, longer[:-1])), repr(longer[-1])
        return f"did you mean {first}{' or ' if first else ''}{last}?"
    if near := nearest(word, words):
        return f"did you mean {near[0]!r}?"
    return f"there are {', '.join(words)}" if words else "the list is empty"


def decode(data: bytes | bytearray) -> str:
    r"""Decode UTF-8; other bytes become escapes such as `\xff`. The text is as untrusted as the bytes."""
    return data.decode("utf-8", "backslashreplace")


def printable_lines(data: bytes | bytearray, limit: int = 400) -> list[str]:
    """Printable lines of at most `limit` characters; tabs become blanks."""
    return [printable(line.rstrip("\r"), limit) for line in decode(data).expandtabs().split("\n")]


def number(value: float, decimals: int = 1) -> str:
    """A number without trailing zeros: 3, 2.5."""
    # Avoids -0.
    text = f"{round(value, decimals) + 0.0:.{decimals}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text).replace("-", "\N{MINUS SIGN}")


def percent(share: float) -> str:
    """A share, such as `27 %`."""
    return f"{100 * share:.0f} %"


def count_text(value: float) -> str:
    """A number below 10**18: 12, 3.4K, 345K, 1.2M."""
    units = iter("KMGTPE")
    unit = ""
    while value >= 999.5:
        value, unit = value / 1000, next(units)
    return f"{number(value, 1 if value < 100 else 0)}{unit}"


def points_text(value: float) -> str:
    """As chess players write scores: 3, ½, 2½; other fractions as decimals."""
    whole = int(value)
    if value - whole == 0.5:
        return f"{whole or ''}½"
    return number(value, 3)


def mib(count: int | None, unknown: str = "?") -> str:
    """Bytes: 1.5 MiB; `unknown` for None."""
    return unknown if count is None else f"{count / (1 << 20):.1f} MiB"


def duration(ms: float) -> str:
    """Such as 12 ms, 3.4 s, 5 min 6 s, 2 h 5 min, 3 d 4 h."""
    if round(ms) < 1000:
        return f"{ms:.0f} ms" if ms >= 10 else f"{number(ms, 1)} ms"
    seconds = ms / 1000
    if round(seconds, 1) < 60:
        return f"{number(seconds, 1)} s"
    seconds = max(int(seconds), 60)
    if seconds < 3600:
        value, base, large, small = seconds, 60, "min", "s"
    elif seconds < 86_400:
        value, base, large, small = seconds // 60, 60, "h", "min"
    else:
        value, base, large, small = seconds // 3600, 24, "d", "h"
    whole, rest = divmod(value, base)
    return f"{whole} {large} {rest} {small}" if rest else f"{whole} {large}"


def clock_text(ms: float) -> str:
    """Remaining time, rounded down: 59.9 s, 2:05, 1:02:05."""
    tenths = max(0, int(ms // 100))
    if tenths < 600:
        return f"{tenths / 10:.1f} s"
    minutes, seconds = divmod(tenths // 10, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _is_plain(text: str) -> bool:
    return text.isascii() and text.replace("\t", " ").isprintable()


def json_text(document: object, *, indent: int | None = None) -> str:
    """A document as JSON (RFC 8259, without NaN and Infinity)."""
    try:
        return json.dumps(document, indent=indent, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(json.loads(json.dumps(document))), indent=indent, allow_nan=False)


def _finite(value: object) -> object:
    match value:
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {key: _finite(inner) for key, inner in value.items()}
        case list():
            return [_finite(inner) for inner in value]
    return value
