"""The languages that pages are written in: English in the code, and a catalogue of gettext for each of the others.

A catalogue is `CODE.po` beside this module; `scripts/messages.py` brings it up to date with the code, and a test finds
what it misses. It is read as it is, so there is nothing to compile. The terminal speaks English.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files
from io import BytesIO

from judge.translations.sentences import SentenceBook

_UNITS = re.compile(r"(?<=\d )(ms|s|min|h)\b")
_POINT = re.compile(r"(?<=\d)\.(?=\d)")


@dataclass(frozen=True, eq=False)
class Language:
    """A language. `code` is its folder and `tag` its name in HTML; `name` is what its readers call it.

    `point` and `group` stand in numbers before the decimals and between thousands.
    """

    code: str
    tag: str
    name: str
    region: str
    """As Open Graph has it: `cs_CZ`."""
    point: str = "."
    group: str = ","
    messages: NullTranslations = field(default_factory=NullTranslations)

    def gettext(self, message: str) -> str:
        """A message in this language; in English where the catalogue has none."""
        return self.messages.gettext(message)

    def ngettext(self, one: str, many: str, count: int) -> str:
        """A message of a count."""
        return self.messages.ngettext(one, many, count)

    def pgettext(self, context: str, message: str) -> str:
        """A message that has another meaning elsewhere."""
        return self.messages.pgettext(context, message)

    def sentence(self, text: str) -> str | None:
        """A sentence that the judge has put into a record, from the message that it was made of; None: not known."""
        return text if self._is_english else self._sentences.translated(text)

    def word(self, word: str) -> str:
        """A word of a game or a verdict; as it is if the catalogue does not have it."""
        return self.sentence(word) or word

    def words(self, text: str) -> str:
        """Words of a game one by one, such as `white queen or rook`."""
        return " ".join(map(self.word, text.split(" ")))

    def measure(self, text: str) -> str:
        """A number, a time or a size that `judge.base.text` wrote, such as `3.4 s`."""
        if self._is_english:
            return text
        units = _UNITS.sub(lambda found: self.pgettext("unit", found[1]), text)
        return _POINT.sub(self.point, units)

    def grouped(self, count: int) -> str:
        """A whole number in groups of three digits."""
        return f"{count:,}".replace(",", self.group)

    @property
    def _is_english(self) -> bool:
        return self.code == "en"

    @cached_property
    def _sentences(self) -> SentenceBook:
        return SentenceBook(self.messages)


ENGLISH = Language("en", "en", "English", "en_US")

CODES = ("en", "cs", "zh")
"""The languages that there are."""


@cache
def language(code: str) -> Language:
    """The language of one of `CODES`."""
    match code:
        case "cs":
            return Language("cs", "cs", "Čeština", "cs_CZ", ",", "\N{NO-BREAK SPACE}", _catalogue("cs"))
        case "zh":
            return Language("zh", "zh-Hans", "中文", "zh_CN", messages=_catalogue("zh"))
        case _:
            return ENGLISH


def languages(codes: Sequence[str]) -> Sequence[Language]:
    """The languages of these codes."""
    return [language(code) for code in codes]


def _catalogue(code: str) -> GNUTranslations:
    # Only those who write pages need Babel, which takes long to import.
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    with files(__package__).joinpath(f"{code}.po").open("rb") as stream:
        catalogue = read_po(stream, locale=code)
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return GNUTranslations(compiled)
