"""Converts events to lines of the journal and back. No other module reads the data of a line.

A line has the name of its event, its game and attempt, and the other fields as canonical JSON without those that are
None. Exactly one text is the data of an event, so bytes that differ are another event or none.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any, ClassVar, NamedTuple, TypeVar, dataclass_transform

from pydantic import TypeAdapter

from judge.base.parsing import canonical_json

MAX_DATA_BYTES = 60_000
"""A leaf of the log has at most 65,535 bytes."""


class Line(NamedTuple):
    """The content of a line of the journal, without its time, digest, number and organiser."""

    name: str
    data: str
    game: str | None = None
    attempt: int | None = None


class Event:
    """A change of a contest, or what an organiser or the judge notes. The subclasses are in `judge.journal.events`."""

    __slots__ = ()
    NAME: ClassVar[str | type[StrEnum]]
    """The name of the lines, or names that are the field `state`."""
    MESSAGES: ClassVar[tuple[str, ...]]
    """Of its sentence (`judge.journal.sentences`), with fields in braces."""
    HEAD: ClassVar[str] = ""
    """Its title on pages; if empty, its name."""
    __match_args__: ClassVar[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class UnknownLine(Event):
    """A line that no judge writes: its event is unknown, or does not have this data, game or attempt."""

    line: Line


_Kind = TypeVar("_Kind", bound=Event)

_KINDS: dict[str, type[Event]] = {}

_COLUMNS = ("state", "game", "attempt")
"""Fields that are columns of a line."""


@dataclass_transform(frozen_default=True)
def journal_event(name: str | type[StrEnum], *messages: str, head: str = "") -> Callable[[type[_Kind]], type[_Kind]]:
    """Make a frozen dataclass and declare the name of its lines, its sentence and its title. Each name has one class.

    Of several messages, the first applies that has all its fields.
    """

    def declare(described: type[_Kind]) -> type[_Kind]:
        kind: type[_Kind] = dataclass(frozen=True, slots=True)(described)
        kind.NAME, kind.MESSAGES, kind.HEAD = name, messages, head
        _KINDS.update(dict.fromkeys([name] if isinstance(name, str) else map(str, name), kind))
        return kind

    return declare


def event_names() -> frozenset[str]:
    """The names of all lines that judge writes."""
    return frozenset(_KINDS)


def encode(event: Event) -> Line:
    """The line of an event."""
    if isinstance(event, UnknownLine):
        return event.line
    state, game, attempt = (getattr(event, column, None) for column in _COLUMNS)
    name = event.NAME if isinstance(event.NAME, str) else str(state)
    return Line(name, canonical_json(_fields(event)), game, attempt)


def decode(line: Line) -> Event:
    """The event for which `encode` returns this line; an `UnknownLine` if no judge writes it."""
    if line.name not in _KINDS or len(line.data) > MAX_DATA_BYTES:
        return UnknownLine(line)
    try:
        values, _ = _read_json(line.data)
        event: Event = _reader(line.name)({**values, "state": line.name, "game": line.game, "attempt": line.attempt})
    except (ValueError, TypeError, RecursionError):
        return UnknownLine(line)
    return event if encode(event) == line else UnknownLine(line)


def kind_of(event: Event) -> type[Event]:
    """The class of an event. For a line that no judge writes, the class of its name, or `UnknownLine`."""
    return _KINDS.get(event.line.name, UnknownLine) if isinstance(event, UnknownLine) else type(event)


_read_json = json.JSONDecoder().raw_decode


@cache
def _reader(name: str) -> Callable[[Any], Any]:
    return TypeAdapter(_KINDS[name]).validator.validate_python


def _fields(value: Any) -> dict[str, Any]:
    parts = ((name, getattr(value, name)) for name in value.__match_args__ if name not in _COLUMNS)
    return {name: _plain(part) for name, part in parts if part is not None}


def _plain(part: Any) -> Any:
    if isinstance(part, str | int):
        return part
    return [_fields(each) for each in part] if isinstance(part, tuple) else _fields(part)
