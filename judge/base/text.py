"""Text for people: what strangers wrote made printable, and numbers, sizes and durations in words.

No terminal, page or file obeys anything in a text that `printable`, `one_line`, `plain_text` or `quote` returns.
Only the standard library and no I/O: games import this module, and a box runs it to read archives.
"""

import difflib
from collections.abc import Iterable

_SPACES = str.maketrans("\r\n\t", "   ")

SENTENCE_CHARACTERS = 300
"""How much of a stranger's words is shown in a sentence of ours."""


def is_printable(text: str) -> bool:
    """Whether a terminal shows every character of `text` and obeys none.

    False for control characters, line ends, blanks other than the space, marks of writing direction,
    lone surrogates and unassigned code points.
    """
    return text.isprintable()


def printable(text: str, limit: int | None = 200, *, mark: str | None = None, cut: str = "...") -> str:
    r"""`text` as one printable line of at most `limit` characters; None: of any length.

    What is not printable becomes an escape such as `\x1b`, or `mark` where it is given. A text that
    is longer than `limit` ends in `cut`.
    """
    shown = text if limit is None else text[: limit + 1]
    if not is_printable(shown):
        shown = "".join(
            letter if is_printable(letter) else _escape(letter) if mark is None else mark for letter in shown
        )
    if limit is None or len(shown) <= limit:
        return shown
    return shown[: max(0, limit - len(cut))] + cut[:limit]


def one_line(text: str, limit: int = 200) -> str:
    """`text` as one printable line of at most `limit` characters, for a file: every run of blanks and line ends is one
    blank, and `?` replaces what is not printable.
    """
    words = " ".join(text[: 10 * limit].split())
    return printable(words, limit, mark="?", cut="").rstrip()


def plain_text(text: str, limit: int = 600) -> str:
    """`text` as one printable line of at most `limit` characters, for a page or a table: a space for each tab or line
    end, and U+FFFD in place of what is not printable.
    """
    return printable(text[: limit + 1].translate(_SPACES), limit, mark="\N{REPLACEMENT CHARACTER}", cut="…")


def sentence(text: str) -> str:
    """`text`, which pages translate: `scripts/messages.py` takes the text or f-string in a call of this function for a
    message of the catalogues, with the names in the braces.
    """
    return text


def quote(text: str, limit: int = 60) -> str:
    """`text` in quotes, safe to print: ASCII, one line, escaped, cut after `limit` characters."""
    return ascii(text) if len(text) <= limit else ascii(text[:limit]) + "..."


def nearest(word: str, known: Iterable[str], most: int = 1) -> list[str]:
    """Those of the `known` words that `word` may have been meant as, the likest first."""
    return difflib.get_close_matches(word, list(known), most)


def suggest(word: str, known: Iterable[str]) -> str:
    """What to say of a word that is not known: `did you mean 'x'?`, or which words there are."""
    words = sorted(known)
    if near := nearest(word, words):
        return f"did you mean {near[0]!r}?"
    return f"there are {', '.join(words)}" if words else "there are none"


def decode(data: bytes | bytearray) -> str:
    r"""Any bytes as text: a byte that is not UTF-8 becomes an escape such as `\xff`.

    The text is as hostile as the bytes.
    """
    return data.decode("utf-8", "backslashreplace")


def printable_lines(data: bytes | bytearray, limit: int = 400) -> list[str]:
    """Bytes as printable lines of at most `limit` characters each; tabs become blanks."""
    return [printable(line.rstrip("\r"), limit) for line in decode(data).expandtabs().split("\n")]


def number(value: float, decimals: int = 1) -> str:
    """A number without needless zeros: 3, 2.5."""
    # What rounds to nothing has no sign.
    text = f"{round(value, decimals) + 0.0:.{decimals}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text).replace("-", "\N{MINUS SIGN}")


def count_text(value: float) -> str:
    """A number from 0 to 10**18 in few characters, as engines write it: 12, 3.4K, 345K, 1.2M."""
    units = iter("KMGTPE")
    unit = ""
    while value >= 999.5:
        value, unit = value / 1000, next(units)
    return f"{number(value, 1 if value < 100 else 0)}{unit}"


def points_text(value: float) -> str:
    """A score as chess players write it: 3, ½, 2½; other fractions as decimals."""
    whole = int(value)
    if value - whole == 0.5:
        return f"{whole or ''}½"
    return number(value, 3)


def mib(count: int | None, unknown: str = "?") -> str:
    """A number of bytes as people read it: 1.5 MiB; `unknown` if there is none."""
    return unknown if count is None else f"{count / (1 << 20):.1f} MiB"


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


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _two(value: int, base: int, large: str, small: str) -> str:
    """A value in two units, without the smaller one where it is nothing."""
    whole, rest = divmod(value, base)
    return f"{whole} {large} {rest} {small}" if rest else f"{whole} {large}"
