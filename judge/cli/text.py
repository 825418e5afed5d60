"""Words from strangers, made safe to show: one line, nothing that a terminal would obey."""

import sys
from collections.abc import Mapping, MutableMapping
from typing import Any, NoReturn

LOGGED = 2000
"""How many characters of a text stand in the log."""


def safe(text: str, width: int = 200) -> str:
    """`text` with every character that is not plainly printable escaped, cut to `width`."""
    shown = "".join(c if c.isprintable() else _escape(c) for c in text[: width + 1])
    return shown if len(shown) <= width else shown[: width - 3] + "..."


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def safe_event(_logger: Any, _level: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """For structlog: an event whose texts are on one line each, and obeyed by no terminal."""
    return {
        key: safe(value, LOGGED) if isinstance(value, str) else value
        for key, value in event.items()
    }


def note(text: str) -> None:
    """A line for the person, on stderr: never part of the output."""
    print(text, file=sys.stderr, flush=True)


def fail(text: str, code: int) -> NoReturn:
    """Say what is wrong and exit."""
    note(f"judge: {text}")
    raise SystemExit(code)
