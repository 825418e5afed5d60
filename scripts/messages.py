"""Brings the catalogues of pages up to date with the messages in the code: `.venv/bin/python scripts/messages.py`.

New messages are added without a translation, and those that the code has no more are removed; a release needs all
translations. Messages are: calls of `gettext`, `ngettext` and `pgettext` in judge/ and in the templates, what
is marked by `MARKS` (its f-strings become texts with names in braces), and words of fixed lists.
"""

import ast
import io
import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import NamedTuple

from babel.messages.catalog import Catalog
from babel.messages.extract import extract, extract_python
from babel.messages.pofile import read_po, write_po
from jinja2.ext import babel_extract

from judge.contest_games import AttemptState, GameState
from judge.games.gomoku.requests import COLOURS as STONES
from judge.games.quantum_chess.board import COLOURS as ARMIES
from judge.games.quantum_chess.board import PieceType
from judge.games.stratego.types import COLOURS as SIDES
from judge.games.types import Verdict
from judge.journal.codec import event_names
from judge.journal.events import SubmissionState
from judge.statistics.fairness import FAIRNESS_WORDS
from judge.submissions.check import Grade
from judge.submissions.pipeline import Stage
from judge.tournament.standings import CRITERIA, SHOWN_COLUMNS
from judge.translations.language import CODES, EVENT, SENTENCE

ROOT = Path(__file__).parents[1]
CATALOGUES = ROOT / "judge/translations"

WORDS = {
    None: [
        *(text for criterion in CRITERIA.values() for text in (criterion.head, criterion.meaning)),
        *(text for column in SHOWN_COLUMNS for text in (column.head, column.title) if text),
    ],
    "state": [
        *(*GameState, *AttemptState, *sorted(event_names()), *Stage, *Grade),
        *("open", "paused", "stopped", "over", "not begun", "stored"),
    ],
    "unit": ["ms", "s", "min", "h", "d"],
    "fairness": [*FAIRNESS_WORDS],
    SENTENCE: [*Verdict, "or", "hidden", "unknown", *STONES, *ARMIES, *SIDES, *PieceType, *SubmissionState],
}
"""Messages that are values of the code, by context."""

MARKS = {"sentence": (SENTENCE, 0), "event_message": (EVENT, 0), "journal_event": (EVENT, 1)}
"""Calls that mark messages, with their context and the number of the first message among the arguments."""

KEYWORDS = {"gettext": None, "_": None, "ngettext": (1, 2), "pgettext": ((1, "c"), 2)}
_UNSAID = re.compile(
    r'^"(Project-Id-Version|Report-Msgid|POT-Creation|PO-Revision|Last-Translator|MIME|Generated-By|Language-Team).*\n',
    re.MULTILINE,
)


class Message(NamedTuple):
    """A message; `text` is a pair if it has a plural."""

    text: str | tuple[str, str]
    context: str | None = None


def messages() -> Iterator[Message]:
    """Every message of the code, some more than once."""
    for path in sorted((ROOT / "judge").rglob("*.py")):
        source = path.read_bytes()
        # Few modules have messages, and to read all of them takes seconds.
        if b"gettext" in source:
            yield from _extracted(extract_python, source, {})
        if any(f"{mark}(".encode() in source for mark in MARKS):
            yield from _marked(ast.parse(source))
    for path in sorted((ROOT / "judge").rglob("templates/*.html")):
        yield from _extracted(babel_extract, path.read_bytes(), {"trimmed": "true", "newstyle_gettext": "true"})
    for context, words in WORDS.items():
        yield from (Message(str(word), context) for word in words)


def _extracted(method: object, source: bytes, options: dict[str, str]) -> Iterator[Message]:
    for _, text, _, context in extract(method, io.BytesIO(source), KEYWORDS, options=options):  # type: ignore[arg-type]
        yield Message((text[0], text[1]) if isinstance(text, tuple) else text, context)


def _marked(tree: ast.AST) -> Iterator[Message]:
    """What is marked in a module, without messages that are one field."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MARKS:
            context, start = MARKS[node.func.id]
            for text in map(message_of, [*node.args[start:], *(each.value for each in node.keywords)]):
                if not re.fullmatch(r"(\{\w+\})?", text):
                    yield Message(text, context)


def message_of(node: ast.expr) -> str:
    """A text or an f-string as a message: `f"code {end.code:d}"` is `code {code}`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if not isinstance(node, ast.JoinedStr):
        raise TypeError(f"line {node.lineno}: sentence() takes a text or an f-string")
    names: list[str] = []
    parts = []
    for value in node.values:
        if isinstance(value, ast.Constant):
            parts.append(str(value.value))
        else:
            names.append(_name(value))
            parts.append(f"{{{names[-1]}{names.count(names[-1]) if names.count(names[-1]) > 1 else ''}}}")
    return "".join(parts)


def _name(value: ast.expr) -> str:
    """What an expression in braces is called: by the last name in it that stands for a value."""
    found = [node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "") for node in ast.walk(value)]
    return next(name for name in found if name).strip("_")


@cache
def template() -> Catalog:
    """All messages, without translations."""
    catalogue = Catalog(charset="utf-8")
    for message in messages():
        catalogue.add(message.text, context=message.context)
    return catalogue


def read_catalogue(code: str) -> Catalog:
    """The catalogue of a language, empty if there is none."""
    path = CATALOGUES / f"{code}.po"
    if not path.exists():
        return Catalog(locale=code, header_comment="# TITLE")
    with path.open("rb") as stream:
        return read_po(stream, locale=code)


def write_catalogue(code: str, catalogue: Catalog) -> None:
    """Write a catalogue, without what changes each time."""
    catalogue.fuzzy = False
    written = io.BytesIO()
    write_po(written, catalogue, width=120, no_location=True, ignore_obsolete=True)
    (CATALOGUES / f"{code}.po").write_text(_UNSAID.sub("", written.getvalue().decode()))


def forms(text: str | Sequence[str] | None) -> list[str]:
    """The singular and the plural, or the only form; empty without a translation."""
    return list(text) if isinstance(text, list | tuple) else [str(text or "")]


def main() -> None:
    """Write all catalogues."""
    for code in CODES[1:]:
        catalogue = read_catalogue(code)
        # An update takes the template's objects, which must not get the translations of two languages.
        catalogue.update(deepcopy(template()), no_fuzzy_matching=True)
        write_catalogue(code, catalogue)
        missing = sum(not all(forms(message.string)) for message in catalogue if message.id)
        print(f"{code}.po: {len(catalogue)} messages, {missing} without a translation")


if __name__ == "__main__":
    main()
