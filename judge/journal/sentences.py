"""Makes the sentence of an event, in the language of its reader. Nothing reads a sentence back."""

from collections.abc import Sequence
from typing import Any

from judge.base.moments import moment_text
from judge.journal.codec import Event, UnknownLine
from judge.journal.events import Moment, ScheduleChanged, SettingChange
from judge.translations.language import ENGLISH, FIELD, Language


def event_message(text: str) -> str:
    """Mark `text`, which is returned unchanged, as a message of events, with fields in braces."""
    return text


_EXPLAINED = frozenset({"why", "reason", "source", "images", "words"})
"""Fields with words of the judge, which may have a translation."""

_SUBMISSIONS = (
    event_message("submissions open at {opens}, close at {closes}"),
    event_message("submissions open at {opens}"),
    event_message("submissions close at {closes}"),
)
_START = (event_message("the contest starts at {starts}"),)


def text_of(event: Event, language: Language = ENGLISH) -> str:
    """The sentence of an event, or empty; of a line that no judge writes, its data."""
    if isinstance(event, UnknownLine):
        return event.line.data
    if isinstance(event, ScheduleChanged):
        parts = [_filled(event, messages, language) for messages in (_SUBMISSIONS, _START)]
        return "; ".join(filter(None, parts)) or "none"
    return _filled(event, event.MESSAGES, language)


def _filled(event: Event, messages: tuple[str, ...], language: Language) -> str:
    """The first message that has all its fields."""
    for each in messages:
        parts = {name: _part(name, getattr(event, name), language) for name in FIELD.findall(each)}
        if None not in parts.values():
            return language.fill(each, **parts)
    return ""


def _part(name: str, value: Any, language: Language) -> object:
    if name in _EXPLAINED:
        return language.explain(value)
    if isinstance(value, Moment):
        return moment_text(value.local)
    return changes_text(value) if isinstance(value, tuple) else value


def changes_text(changes: Sequence[SettingChange]) -> str:
    """Settings with their old and new values."""
    return "; ".join(f"{each.name}: {each.before or 'none'} -> {each.after or 'none'}" for each in changes)
