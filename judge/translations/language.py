"""The languages of pages: English in the code, and a gettext catalogue for each other one.

`scripts/messages.py` updates the catalogues `CODE.po`, and a test finds missing messages. The terminal uses English.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files
from io import BytesIO

from judge.translations.sentences import SentenceBook, filled

_UNITS = re.compile(r"(?<=\d )(ms|s|min|h|d)\b")
_POINT = re.compile(r"(?<=\d)\.(?=\d)")
_JOINT = "; "

EVENT = "event"
"""The context of messages of events in catalogues."""

MAX_PARTS = 12
"""Maximum number of joined sentences that are translated separately."""


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
