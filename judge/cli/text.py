"""What a command says beside its output: notes, errors and the log."""

import sys
from collections.abc import Mapping, MutableMapping
from typing import Any, NoReturn

from judge.text import printable

LOGGED = 2000
"""How many characters of a text stand in the log."""


def safe_event(_logger: Any, _level: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """For structlog: an event whose texts are on one line each, and obeyed by no terminal."""
    return {key: printable(value, LOGGED) if isinstance(value, str) else value for key, value in event.items()}


def note(text: str) -> None:
    """A line for the person, on stderr: never part of the output."""
    print(text, file=sys.stderr, flush=True)


def fail(text: str, code: int) -> NoReturn:
    """Say what is wrong and exit."""
    note(f"judge: {text}")
    raise SystemExit(code)
