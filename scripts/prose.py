"""Finds the phrases that CONTRIBUTING.md asks writers to avoid.

`python scripts/prose.py` lists every hit, `python scripts/prose.py judge/store README.md` those below some paths, and
`python scripts/prose.py --staged` those on lines that the next commit adds. With a hit it exits with 1.
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]

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

    def hits(self) -> Iterator[tuple[int, str, str]]:
        """Return the line of each hit, the name of the pattern and the words."""
        for name, pattern in PATTERNS.items():
            for match in re.finditer(pattern, self.text):
                yield self.line + self.text.count("\n", 0, match.start()), name, match.group(0)


def texts(root: Path = ROOT) -> Iterator[Text]:
    """Return all text of the product: Python files and templates of judge/, and documents."""
    for path in sorted((root / "judge").rglob("*.py")):
        yield from texts_of_module(path)
    for path in sorted((root / "judge").rglob("*.html")):
        yield from texts_of_template(path)
    for path in sorted({path for glob in DOCUMENTS for path in root.glob(glob)}):
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


def added_lines(root: Path = ROOT) -> Mapping[Path, set[int]]:
    """Return the lines that the next commit adds or changes, by file."""
    words = ["git", "diff", "--cached", "--unified=0", "--no-ext-diff", "--no-prefix", "--no-color"]
    shown = subprocess.run(words, cwd=root, capture_output=True, text=True, check=True).stdout
    found: dict[Path, set[int]] = {}
    lines: set[int] = set()
    for line in shown.splitlines():
        if line.startswith("+++ "):
            lines = found.setdefault(root / line.removeprefix("+++ "), set())
        elif match := re.match(r"@@ \S+ \+(\d+)(?:,(\d+))? @@", line):
            lines.update(range(int(match[1]), int(match[1]) + int(match[2] or 1)))
    return found


def main(arguments: Sequence[str], root: Path = ROOT) -> int:
    """List hits below paths or on added lines; return 1 if there are any."""
    added = added_lines(root) if arguments == ["--staged"] else None
    paths = [root / argument for argument in arguments]
    found = 0
    for text in texts(root):
        if added is None and paths and not {text.path, *text.path.parents}.intersection(paths):
            continue
        for line, name, words in text.hits():
            if added is None or line in added.get(text.path, ()):
                print(f"{text.path.relative_to(root)}:{line}: {text.kind}: {name}: {words}")
                found += 1
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
