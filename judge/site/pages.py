"""Renders templates. Values are made printable, cut and escaped, except markup of templates and the site's own
pictures. Pages load nothing from other sites.
"""

import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from importlib.resources import files
from typing import Any, TypeVar
from urllib.parse import quote

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from judge import DISTRIBUTION
from judge.base.text import clock_text, duration, number, plain_text, points_text
from judge.contest_view.values import Stream
from judge.contest_view.view import ContestView
from judge.journal.sentences import text_of
from judge.translations.language import CODES, ENGLISH, Language, languages

Page = tuple[str, bytes]
Value = TypeVar("Value")

MAX_NAME_CHARACTERS = 48

MAX_SENTENCE_CHARACTERS = 600

STYLE, VIEWER, VERIFIER, GAMES = "style.css", "viewer.js", "verify.mjs", "games.js"
ASSETS = (STYLE, VIEWER, VERIFIER, GAMES)

POLICY = (
    "default-src 'none'; style-src 'self' file:; script-src 'self' file:; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
"""Content security policy of static pages; `file:` is for pages opened from disk."""


LIVE_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'"
)
"""Policy of live pages, which also load events and new versions of themselves."""


AUTHOR_POLICY = LIVE_POLICY.replace("form-action 'none'", "form-action 'self'")
"""Policy of author pages, which also send forms."""


HERE = __package__

_PERCENT = re.compile(r"(?<=\d)%(?!\w)")


def asset(name: str, package: str = HERE) -> bytes:
    """A file of a package's templates."""
    return files(package).joinpath("templates", name).read_bytes()


@dataclass(frozen=True)
class PagePlace:
    """A page's path below its language's pages, its language, and the site's languages.

    Pages of the first language are at the top of the site; each other language has a folder.
    """

    path: str
    language: Language = ENGLISH
    languages: Sequence[Language] = (ENGLISH,)
    query: str = ""
    """Query of the links to other languages."""

    @classmethod
    def of_file(cls, file: str, query: str = "") -> "PagePlace":
        """Place of a path from the top of a site in all languages."""
        folder, _, path = file.partition("/")
        spoken = languages(CODES)
        for language in spoken[1:]:
            if folder == language.code:
                return cls(path, language, spoken, query)
        return cls(file, spoken[0], spoken, query)

    @property
    def file(self) -> str:
        return self._folder(self.language) + self.path

    @property
    def root(self) -> str:
        """Relative path to the top of its language's pages, such as `../`."""
        return "../" * self.path.count("/")

    @property
    def top(self) -> str:
        """Relative path to the top of the site."""
        return "../" * self.file.count("/")

    @property
    def others(self) -> Sequence[tuple[Language, str]]:
        """The page in every language of the site, with relative paths."""
        path = f"{self.path}?{self.query}" if self.query else self.path
        return [(language, f"{self.top}{self._folder(language)}{path}") for language in self.languages]

    def _folder(self, language: Language) -> str:
        return "" if language.code == self.languages[0].code else f"{language.code}/"


@cache
def _environment(language: Language, package: str) -> Environment:
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in (package, HERE)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_print,
        auto_reload=False,
        extensions=["jinja2.ext.i18n"],
    )
    environment.policies["ext.i18n.trimmed"] = True
    install: Callable[..., None] = environment.install_gettext_callables  # type: ignore[attr-defined]
    install(language.gettext, language.ngettext, newstyle=True, pgettext=language.pgettext)

    @cache
    def message(text: str) -> Markup:
        return Markup(language.gettext(text))  # noqa: S704 texts of templates and catalogues

    @cache
    def constant(text: str) -> Markup:
        return message(text) % {}

    def translate(text: str, **values: object) -> Markup:
        """Faster than the extension's `_`."""
        return message(text) % values if values else constant(text)

    def measured(write: Callable[..., str]) -> Callable[..., str]:
        return lambda *values: language.measure(write(*values))

    def marked(text: str, is_translated: bool) -> Markup:
        """Sentences missing in the catalogue stay English and are marked so."""
        shown = escape(_PERCENT.sub(" %", text))  # records have both forms
        return shown if is_translated else Markup('<span lang="en">{}</span>').format(shown)

    def sentence_in(text: str, limit: int = MAX_SENTENCE_CHARACTERS) -> Markup:
        translated = language.sentence(text)
        return marked(plain_text(text if translated is None else translated, limit), translated is not None)

    def explanation_in(text: str, limit: int = MAX_SENTENCE_CHARACTERS) -> Markup:
        """As `sentence_in`, for sentences that `; ` joins."""
        return Markup("; ").join(marked(*part) for part in language.explanation(plain_text(text, limit)))

    environment.filters |= {
        "event": partial(text_of, language=language),
        "words": lambda text, limit=MAX_SENTENCE_CHARACTERS: marked(plain_text(text, limit), True),
        "explanation": explanation_in,
        "icon": icon_of,
        "picture": picture,
        "name": short_name,
        "cut": plain_text,
        "points": measured(points_text),
        "number": measured(number),
        "duration": measured(duration),
        "clock": measured(clock_text),
        "measure": language.measure,
        "grouped": language.grouped,
        "verdict": language.word,
        "stage": language.word,
        "unit": partial(language.pgettext, "unit"),
        "state": partial(language.pgettext, "state"),
        "fairness": partial(language.pgettext, "fairness"),
        "sentence": sentence_in,
    }
    environment.globals |= {
        "policy": POLICY,
        "distribution": DISTRIBUTION,
        "stream": None,
        "has_authors": False,
        "has_rounds": True,
        "above": "",
        "language": language,
        "_": translate,
    }
    return environment


def short_name(text: str) -> str:
    """An agent's name as shown on pages."""
    return plain_text(text, MAX_NAME_CHARACTERS)


@lru_cache(maxsize=64)
def icon_of(contest: str) -> str:
    """An icon: a contest's first letter, in a colour from its name."""
    hue, letter = zlib.crc32(contest.encode()) % 360, escape(short_name(contest)[:1].upper())
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="9" height="9" rx="2" fill="hsl({hue} '
        f'60% 35%)"/><text x="4.5" y="6.7" font-size="6" text-anchor="middle" fill="#fff">{letter}</text></svg>'
    )
    return f"data:image/svg+xml,{quote(svg)}"


def _print(value: object) -> object:
    if isinstance(value, str):
        return value if isinstance(value, Markup) else plain_text(value)
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value


def render(
    template: str, place: PagePlace, values: Mapping[str, Any], stream: Stream | None = None, package: str = HERE
) -> bytes:
    """Render a template, which may extend those of this package. Pages with a `stream` update themselves."""
    live: Mapping[str, Any] = (
        {} if stream is None else {"stream": stream, "policy": LIVE_POLICY, "has_authors": stream.has_authors}
    )
    page = _environment(place.language, package).get_template(template)
    return page.render(place=place, root=place.root, top=place.top, **values, **live).encode()


def render_for(
    contest: ContestView, template: str, here: str, place: PagePlace, values: Mapping[str, Any], package: str = HERE
) -> bytes:
    """Render a page of a contest. `here` is its tab in the navigation."""
    common = {
        "contest_name": contest.snapshot.shown_name,
        "above": contest.above,
        "here": here,
        "contest": contest,
        "has_rounds": contest.has_rounds,
        "withheld_from": contest.state.withheld_from,
    }
    return render(template, place, {**common, **values}, contest.stream, package)


def in_parts(values: Sequence[Value], size: int) -> Sequence[Sequence[Value]]:
    """Values by page; at least one part."""
    return [values[start : start + size] for start in range(0, max(1, len(values)), size)]


def picture(svg: str) -> Markup:
    """Mark an SVG as safe: the painters escape their input."""
    return Markup(svg)  # noqa: S704 it is markup, and none of it is a stranger's
