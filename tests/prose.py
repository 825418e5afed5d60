"""Counts the phrases that CONTRIBUTING.md asks writers to avoid, per package and kind of text.

`python -m tests.prose` lists every hit, `python -m tests.prose judge/store README.md` those below some paths, and
`python -m tests.prose --lower` writes the present counts to `tests/prose.json`, but never a higher one.
"""

import ast
import io
import json
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
COUNTS = ROOT / "tests" / "prose.json"

PATTERNS = {
    "question as a noun": r"\b(what|who|whose|whoever)\b[^.;:]{1,40}\b(is|are|was|has|have|may|came|comes)\b",
    "a program that speaks": r"\b(says?|said|tells?|told)\b",
    "none as a predicate": r"\b(is|are|was|has|have) none\b",
    "nobody, somebody": r"\b([Nn]o|[Ss]ome)body\b",
    "behind, beside": r"\bbehind\b|\bbesides?\b",
    "stands, lies": r"\b(stands?|lies?)\b",
    "so many, so long": r"\b[Ss]o (many|long|much|few)\b",
    "goes on": r"\bgo(es)? on\b",
    "of its own": r"\bof (its|their|his|our|a) own\b",
    "as it is": r"\bas (it|they) (is|are|was|were)\b",
    "too at the end": r"\b(too|besides|meanwhile)[.;:]",
    "three of": r"\bof\b[^.;:]*\bof\b[^.;:]*\bof\b",
    "he, his": r"\b(he|his|him)\b",
}
"""Each phrase, and the regular expression that finds it."""

DOCUMENTS = ("*.md", "docs/**/*.md", "examples/**/*.md")
TRANSLATED = r'_\("((?:[^"\\]|\\.)*)"'
MIN_SPACES = 2
"""A string constant with fewer spaces is a key or a name."""


class Text(NamedTuple):
    """A piece of text of a file."""

    path: Path
    line: int
    kind: str
    """"docstrings", "comments", "messages", "templates" or "documents"."""
    text: str

    @property
    def place(self) -> str:
        """The package, such as judge/store, or the document's path."""
        parts = self.path.relative_to(ROOT).parts
        return "/".join(parts[:2]) if parts[0] == "judge" else "/".join(parts)

    def hits(self) -> Iterator[tuple[str, str]]:
        """The name of each pattern that occurs, and what it matched."""
        for name, pattern in PATTERNS.items():
            for match in re.finditer(pattern, self.text):
                yield name, match.group(0)


def texts() -> Iterator[Text]:
    """All text of the product: Python files and templates of judge/, and documents."""
    for path in sorted((ROOT / "judge").rglob("*.py")):
        yield from texts_of_module(path)
    for path in sorted((ROOT / "judge").rglob("*.html")):
        yield from texts_of_template(path)
    for path in sorted({path for glob in DOCUMENTS for path in ROOT.glob(glob)}):
        for line, text in enumerate(path.read_text().splitlines(), 1):
            yield Text(path, line, "documents", re.sub(r"\]\([^)]*\)|\S+\.md\b|`[^`]*`", "", text))


def texts_of_template(path: Path) -> Iterator[Text]:
    """What a template shows: translated strings, and text outside tags and expressions."""
    for line, source in enumerate(path.read_text().splitlines(), 1):
        for text in (*re.findall(TRANSLATED, source), re.sub(r"{%.*?%}|{{.*?}}|<[^>]*>", " ", source)):
            yield Text(path, line, "templates", text)


def texts_of_module(path: Path) -> Iterator[Text]:
    """Docstrings, comments and string constants of a Python file."""
    source = path.read_text()
    docstrings: set[ast.Constant] = set()
    former: set[ast.AST] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "REWORDED":
            former.update(ast.walk(node))
        elif node in former:
            continue
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            docstrings.add(node.value)
            yield Text(path, node.lineno, "docstrings", node.value.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docstrings:
            yield Text(path, node.lineno, "messages", node.value if node.value.count(" ") >= MIN_SPACES else "")
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield Text(path, token.start[0], "comments", token.string)


@cache
def counts() -> dict[str, dict[str, int]]:
    """For each package or document the number of hits per kind of text."""
    found: dict[str, Counter[str]] = {}
    for text in texts():
        counter = found.setdefault(text.place, Counter())
        counter[text.kind] += len(list(text.hits()))
    return {place: {kind: n for kind, n in sorted(found[place].items()) if n} for place in sorted(found)}


def stored() -> Mapping[str, Mapping[str, int]]:
    """The counts that must not be exceeded."""
    document: Mapping[str, Mapping[str, int]] = json.loads(COUNTS.read_text())
    return document


def main(arguments: Sequence[str]) -> None:
    """List hits below paths, or lower the stored counts."""
    if arguments == ["--lower"]:
        before = stored() if COUNTS.exists() else None
        now = counts()
        if before is not None:
            now = {
                place: {kind: min(n, before.get(place, {}).get(kind, 0)) for kind, n in kinds.items()}
                for place, kinds in now.items()
            }
        COUNTS.write_text(json.dumps(now, indent=1) + "\n")
        return
    for text in texts():
        if not arguments or any((ROOT / argument) in (text.path, *text.path.parents) for argument in arguments):
            for name, words in text.hits():
                sys.stdout.write(f"{text.path.relative_to(ROOT)}:{text.line}: {text.kind}: {name}: {words}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
