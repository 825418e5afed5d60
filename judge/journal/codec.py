"""Converts events to lines of the journal and back. No other module reads the text of a line.

A class of events declares the name of its lines and templates of their text. `{agent}: {why}` is the text of an event
with the fields `agent` and `why`; the type of a field says which text it has. The fields `game` and `attempt` are
columns of the line.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import Field, dataclass, fields
from enum import StrEnum
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar, dataclass_transform, get_args, get_type_hints

Name = Annotated[str, r"[^:]{1,100}?"]
"""The name of an agent: text without a colon. It is bounded, so a long text of two names is decoded fast."""

Number = Annotated[int, r"0|[1-9][0-9]{0,17}"]

_WORDS = r".*"

_FIELD = re.compile(r"\{(\w+)\}")


class Line(NamedTuple):
    """What a line of the journal says, without its time, digest, number and organiser."""

    name: str
    text: str
    game: str | None = None
    attempt: int | None = None


class Event:
    """A change of a contest, or what an organiser or the judge notes. The subclasses are in `judge.journal.events`."""

    __slots__ = ()
    NAME: ClassVar[str | type[StrEnum]]
    """The name of the lines, or names that are the field `state`."""
    TEMPLATES: ClassVar[tuple[str, ...]]
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


@dataclass(frozen=True, slots=True)
class UnknownLine(Event):
    """A line that no judge writes: its event is unknown, or does not have this text, game or attempt."""

    line: Line


_Kind = TypeVar("_Kind", bound=Event)


@dataclass(frozen=True, slots=True)
class _Form:
    """Lines of a name that are events of a class."""

    kind: type[Event]
    pattern: "re.Pattern[str]"
    numbers: tuple[str, ...]
    state: StrEnum | None
    columns: tuple[bool, bool]
    """Whether the lines have a game and an attempt."""


_FORMS: dict[str, list[_Form]] = {}


@dataclass_transform(frozen_default=True)
def journal_event(name: str | type[StrEnum], *templates: str) -> Callable[[type[_Kind]], type[_Kind]]:
    """Make a frozen dataclass and declare its lines. Of several templates, the first whose fields are not None applies.

    Several classes may have one name; a line belongs to the first class that has its text.
    """

    def declare(described: type[_Kind]) -> type[_Kind]:
        kind: type[_Kind] = dataclass(frozen=True, slots=True)(described)
        kind.NAME, kind.TEMPLATES = name, templates
        for form in _forms(kind):
            _FORMS.setdefault(str(form.state or name), []).append(form)
        return kind

    return declare


def event_names() -> frozenset[str]:
    """The names of all lines that judge writes."""
    return frozenset(_FORMS)


def encode(event: Event) -> Line:
    """The line of an event. Raises TypeError if a field is None without which it has no text."""
    if isinstance(event, UnknownLine):
        return event.line
    values = {field.name: getattr(event, field.name) for field in fields(event)}
    name = event.NAME if isinstance(event.NAME, str) else str(values["state"])
    for template in event.TEMPLATES:
        if all(values[field] is not None for field in _FIELD.findall(template)):
            return Line(name, template.format_map(values), values.get("game"), values.get("attempt"))
    raise TypeError(f"{event!r} has no text")


def decode(line: Line) -> Event:
    """The event for which `encode` returns this line; an `UnknownLine` if no judge writes it."""
    columns = (line.game is not None, line.attempt is not None)
    for form in _FORMS.get(line.name, ()):
        if form.columns == columns and (found := form.pattern.fullmatch(line.text)):
            values: dict[str, Any] = found.groupdict()
            for name in form.numbers:
                values[name] = int(values[name])
            if form.state is not None:
                values["state"] = form.state
            if line.game is not None:
                values["game"] = line.game
            if line.attempt is not None:
                values["attempt"] = line.attempt
            return form.kind(**values)
    return UnknownLine(line)


def kind_of(event: Event) -> type[Event]:
    """The class of an event. For a line that no judge writes, the first class with its name, or `UnknownLine`."""
    if isinstance(event, UnknownLine) and event.line.name in _FORMS:
        return _FORMS[event.line.name][0].kind
    return type(event)


def _forms(kind: type[Event]) -> Iterator[_Form]:
    texts = {name: _text_of(hint) for name, hint in get_type_hints(kind, include_extras=True).items()}
    for template in kind.TEMPLATES:
        names = _FIELD.findall(template)
        parts = _FIELD.split(template)  # texts and names in turn
        parts[::2] = map(re.escape, parts[::2])
        parts[1::2] = [f"(?P<{name}>{texts[name][1]})" for name in names]
        pattern = re.compile("".join(parts), re.DOTALL)
        numbers = tuple(name for name in names if texts[name][0] is int)
        columns = ("game" in texts, "attempt" in texts)
        for state in [None] if isinstance(kind.NAME, str) else kind.NAME:
            yield _Form(kind, pattern, numbers, state, columns)


def _text_of(hint: Any) -> tuple[Any, str]:
    """The class of a field and the pattern of its text."""
    if type(None) in get_args(hint):
        (hint,) = (each for each in get_args(hint) if each is not type(None))
    pattern = getattr(hint, "__metadata__", (_WORDS,))[0]
    return (get_args(hint)[0] if hasattr(hint, "__metadata__") else hint), pattern
