"""Finds the message that an English sentence was made of, so that what records say is translated when it is shown.

The code marks a sentence by `judge.base.text.sentence(f"exited with code {code} before the game was over")`. The
message of the catalogue is the same text with the names in braces, under the context `SENTENCE`. The text in the
braces is translated in turn if it is a sentence too. Records and the terminal stay in English. Records of earlier
versions are translated as well.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from gettext import NullTranslations
from typing import NamedTuple

SENTENCE = "sentence"
"""The context of the messages in the catalogues."""

LONGEST = 600
"""Characters of a sentence that is looked for."""

_NAME = re.compile(r"\{(\w+)\}")
_DEPTH = 5
"""Sentences within sentences."""


class SentenceBook:
    """The sentences of a catalogue."""

    def __init__(self, messages: NullTranslations) -> None:
        """`messages` is the catalogue; one without sentences translates nothing."""
        self._messages = messages
        known = list(_sentences(messages))
        self._plain = {message for message in known if "{" not in message}
        self._patterns = [(_pattern(message), message) for message in known if "{" in message]
        self._found = lru_cache(maxsize=4096)(self._find)

    def translated(self, text: str) -> str | None:
        """The translation of an English sentence; None if the catalogue does not have it."""
        found = self._found(text, _DEPTH) if len(text) <= LONGEST else None
        return None if found is None else found.text

    def _find(self, text: str, depth: int) -> "_Found | None":
        """Of all messages that `text` can be made of, the one that explains most of it."""
        if text in self._plain:
            return _Found(len(text), 0, self._messages.pgettext(SENTENCE, text))
        found = []
        for pattern, message in self._patterns if depth else ():
            match = pattern.fullmatch(text)
            if match is None:
                continue
            inner = {name: self._found(part, depth - 1) for name, part in match.groupdict().items()}
            own = _NAME.sub("", message)
            # A message of names and punctuation alone, such as `{outcome}: {reason}`, is like any other text.
            if own.strip(" :;,()-") or any(inner.values()):
                explained = len(own) + sum(part.explained for part in inner.values() if part is not None)
                said = self._messages.pgettext(SENTENCE, message)
                parts = {name: part.text if part else match[name] for name, part in inner.items()}
                found.append(_Found(explained, -sum(map(str.isalpha, own)), _filled(said, parts)))
        return max(found, default=None)


class _Found(NamedTuple):
    """A translation. Of two that explain as much, the outer message is the one with fewer letters of its own."""

    explained: int
    outer: int
    text: str


def _filled(message: str, parts: Mapping[str, str]) -> str:
    """Not by `str.format`: what stands in the braces of a translation is a name and nothing else."""
    return _NAME.sub(lambda name: parts[name[1]], message)


def _sentences(messages: NullTranslations) -> Iterator[str]:
    """The English texts of a catalogue's sentences; gettext has contexts before a byte 4."""
    catalogue: dict[object, str] = getattr(messages, "_catalog", {})
    prefix = f"{SENTENCE}\x04"
    for key in catalogue:
        if isinstance(key, str) and key.startswith(prefix):
            yield key.removeprefix(prefix)


def _pattern(message: str) -> re.Pattern[str]:
    """Each name of a message takes as little as it can and gives nothing back, so that no text is slow to compare."""
    pieces = _NAME.split(message)
    pattern = re.escape(pieces[0])
    for name, after in zip(pieces[1::2], pieces[2::2], strict=True):
        pattern += f"(?>(?P<{name}>.*?){re.escape(after)})" if after else f"(?P<{name}>.*)"
    return re.compile(pattern, re.DOTALL)
