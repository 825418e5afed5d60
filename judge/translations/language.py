"""The languages of pages: English in the code, and a gettext catalogue for each other one.

`scripts/messages.py` updates the catalogues `CODE.po`, and a test finds missing messages. The terminal uses English.

English sentences of records are translated by finding their messages. The code marks a sentence with
`judge.base.text.sentence(f"exited with code {code} before the game was over")`. The catalogue has the same text with
names in braces, in the context `SENTENCE`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files
from io import BytesIO
from typing import NamedTuple

_UNITS = re.compile(r"(?<=\d )(ms|s|min|h|d)\b")
_POINT = re.compile(r"(?<=\d)\.(?=\d)")
_JOINT = "; "

EVENT = "event"
"""The context of messages of events in catalogues."""

SENTENCE = "sentence"

MAX_SENTENCE_CHARACTERS = 600
"""Maximum number of characters of a sentence."""

FIELD = re.compile(r"\{(\w+)\}")
_DEPTH = 5
"""Maximum nesting of sentences."""

MAX_PARTS = 12
"""Maximum number of joined sentences that are translated separately."""


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


@dataclass(frozen=True, eq=False)
class Language:
    """A language. `code` is its folder, `tag` its name in HTML, `name` its name in the language.

    `point` and `group` are the decimal and thousands separators.
    """

    code: str
    tag: str
    name: str
    region: str
    """Open Graph: `cs_CZ`."""
    point: str = "."
    group: str = ","
    messages: NullTranslations = field(default_factory=NullTranslations)

    def gettext(self, message: str) -> str:
        """Return a translated message, or the English one."""
        return self.messages.gettext(message)

    def ngettext(self, one: str, many: str, count: int) -> str:
        return self.messages.ngettext(one, many, count)

    def pgettext(self, context: str, message: str) -> str:
        return self.messages.pgettext(context, message)

    def sentence(self, text: str) -> str | None:
        """Translate a sentence, or return None."""
        return text if self._is_english else self._sentences.translated(text)

    def explanation(self, text: str) -> Sequence[tuple[str, bool]]:
        """Translate sentences that `; ` joins. Return each with whether it is in this language."""
        parts = text.split(_JOINT, MAX_PARTS - 1)
        found: list[tuple[str, str | None]] = []
        while parts:
            # A sentence may contain the joint.
            tried = ((count, self.sentence(_JOINT.join(parts[:count]))) for count in range(1, len(parts) + 1))
            count, said = next(((count, said) for count, said in tried if said is not None), (1, None))
            part = _JOINT.join(parts[:count])
            del parts[:count]
            if said is None and found:
                whole = f"{found[-1][0]}{_JOINT}{part}"
                if (said := self.sentence(whole)) is not None:
                    part = whole
                    found.pop()
            found.append((part, said))
        return [(part if said is None else said, said is not None) for part, said in found]

    def fill(self, message: str, **parts: object) -> str:
        """A translated sentence with its parts, whose names are in braces."""
        return filled(self.pgettext(EVENT, message), parts)

    def explain(self, text: str) -> str:
        """As `explanation`, joined."""
        return text if self._is_english else _JOINT.join(part for part, _ in self.explanation(text))

    def word(self, word: str) -> str:
        """Translate a word of a game or verdict."""
        return self.sentence(word) or word

    def words(self, text: str) -> str:
        """Translate words such as `white queen or rook`."""
        return " ".join(map(self.word, text.split(" ")))

    def measure(self, text: str) -> str:
        """Format a number, time or size, such as `3.4 s`."""
        return text if self._is_english else self._measured(text)

    @cached_property
    def _measured(self) -> Callable[[str], str]:
        return lru_cache(maxsize=4096)(self._translate_units)

    def _translate_units(self, text: str) -> str:
        units = _UNITS.sub(lambda found: self.pgettext("unit", found[1]), text)
        return _POINT.sub(self.point, units)

    def grouped(self, count: int) -> str:
        """Format an integer with thousands separators."""
        return f"{count:,}".replace(",", self.group)

    @property
    def _is_english(self) -> bool:
        return self.code == "en"

    @cached_property
    def _sentences(self) -> SentenceBook:
        return SentenceBook(self.messages)


ENGLISH = Language("en", "en", "English", "en_US")

CODES = ("en", "cs", "zh")


@cache
def language(code: str) -> Language:
    """Return the language of a code."""
    match code:
        case "cs":
            return Language("cs", "cs", "Čeština", "cs_CZ", ",", "\N{NO-BREAK SPACE}", _catalogue("cs"))
        case "zh":
            return Language("zh", "zh-Hans", "中文", "zh_CN", messages=_catalogue("zh"))
        case _:
            return ENGLISH


def languages(codes: Sequence[str]) -> Sequence[Language]:
    """Return the languages of these codes."""
    return [language(code) for code in codes]


def _catalogue(code: str) -> GNUTranslations:
    # Slow to import.
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    with files(__package__).joinpath(f"{code}.po").open("rb") as stream:
        catalogue = read_po(stream, locale=code)
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return GNUTranslations(compiled)
