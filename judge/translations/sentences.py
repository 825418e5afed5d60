"""Translates English sentences of records by finding their messages.

The code marks a sentence with `judge.base.text.sentence(f"exited with code {code} before the game was over")`. The
catalogue has the same text with names in braces, in the context `SENTENCE`.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from gettext import NullTranslations
from typing import NamedTuple

SENTENCE = "sentence"

MAX_SENTENCE_CHARACTERS = 600
"""Maximum number of characters of a sentence."""

FIELD = re.compile(r"\{(\w+)\}")
_DEPTH = 5
"""Maximum nesting of sentences."""


class SentenceBook:
    """The sentences of a catalogue."""

    def __init__(self, messages: NullTranslations) -> None:
        """`messages` is the catalogue."""
        self._messages = messages
        known = list(_sentences(messages))
        self._plain = {message for message in known if "{" not in message}
        self._patterns = [(_pattern(message), message) for message in known if "{" in message]
        self._found = lru_cache(maxsize=4096)(self._find)

    def translated(self, text: str) -> str | None:
        """Return the translation of an English sentence, or None."""
        found = self._found(text, _DEPTH) if len(text) <= MAX_SENTENCE_CHARACTERS else None
        return None if found is None else found.text

    def _find(self, text: str, depth: int) -> "_Found | None":
        if text in self._plain:
            return _Found(len(text), 0, self._messages.pgettext(SENTENCE, text))
        found = []
        for pattern, message in self._patterns if depth else ():
            match = pattern.fullmatch(text)
            if match is None:
                continue
            inner = {name: self._found(part, depth - 1) for name, part in match.groupdict().items()}
            literal = FIELD.sub("", message)
            # Such as `{outcome}: {reason}`, which matches any text.
            if literal.strip(" :;,()-") or any(inner.values()):
                explained = len(literal) + sum(part.explained for part in inner.values() if part is not None)
                said = self._messages.pgettext(SENTENCE, message)
                parts = {name: part.text if part else match[name] for name, part in inner.items()}
                found.append(_Found(explained, -sum(map(str.isalpha, literal)), filled(said, parts)))
        return max(found, default=None)


class _Found(NamedTuple):
    """Of two equal matches, the one with fewer literal letters is the outer message."""

    explained: int
    outer: int
    text: str


def filled(message: str, parts: Mapping[str, object]) -> str:
    """Unlike `str.format`, braces may contain names only."""
    return FIELD.sub(lambda name: str(parts[name[1]]), message)


def _sentences(messages: NullTranslations) -> Iterator[str]:
    """gettext stores the context before a byte 4."""
    catalogue: dict[object, str] = getattr(messages, "_catalog", {})
    prefix = f"{SENTENCE}\x04"
    for key in catalogue:
        if isinstance(key, str) and key.startswith(prefix):
            yield key.removeprefix(prefix)


def _pattern(message: str) -> re.Pattern[str]:
    """Groups match lazily and without backtracking, so no text is slow to match."""
    pieces = FIELD.split(message)
    pattern = re.escape(pieces[0])
    for name, after in zip(pieces[1::2], pieces[2::2], strict=True):
        pattern += f"(?>(?P<{name}>.*?){re.escape(after)})" if after else f"(?P<{name}>.*)"
    return re.compile(pattern, re.DOTALL)
