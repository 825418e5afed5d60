"""The files of an export and the columns of its tables."""

import csv
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from html import unescape
from pathlib import Path
from typing import Any

from judge.publish.export.export import PageOptions, publish
from judge.translations.language import CODES
from judge.transparency.keys import make_key
from tests.publish.cups import STRONG_TO_WEAK, Cup

CAST = {name: STRONG_TO_WEAK[name] for name in ("anna", "crash.test")}
"""One of the two agents loses by a fault."""

PARTS = ("public", "private")

_REPLACED = (
    (rf"^({'|'.join(CODES[1:])})/", "{language}/"),
    (rf"\b({'|'.join(map(re.escape, CAST))})\b", "{agent}"),
    (r"\.attempt-\d+", ".attempt-{attempt}"),
    (r"\.p/\d+$", ".p/{width}"),
    (r"\b\d{5}\b", "{game}"),
    (r"\b\d{3}\b", "{number}"),
    (r"\b[0-9a-f]{64}\b", "{digest}"),
)

_TABLE = re.compile(r"<table.*?</table>", re.DOTALL)
_ROW = re.compile(r"<tr.*?</tr>", re.DOTALL)
_HEADING = re.compile(r"<th\b[^>]*>(.*?)</th>", re.DOTALL)


def small_cup(folder: Path, more: str = "") -> Cup:
    """A contest of two games that are not yet played."""
    return Cup(folder, CAST, more=f"[failures]\nafter = 1000\n{more}")


def pattern(path: str) -> str:
    """A path of an export with its numbers, names, digests and language replaced."""
    for found, name in _REPLACED:
        path = re.sub(found, name, path)
    return path


def export(folder: Path) -> Path:
    """Play a small contest whose first game is void once, and export it; the directory with an export for each of
    `PARTS`."""
    with closing(small_cup(folder / "cup")) as cup:
        cup.play(void=[1])
        key = make_key(folder / "organiser.key")
        publish(cup.contest, folder / "public", folder / "private", key, PageOptions("https://example.org/cup/"))
    return folder


def files_by_pattern(folder: Path) -> Mapping[str, list[Path]]:
    """The files in a folder, by the pattern of their path in it."""
    found: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found.setdefault(pattern(path.relative_to(folder).as_posix()), []).append(path)
    return dict(sorted(found.items()))


def export_text(exported: Path) -> str:
    """The patterns of all files, then of each CSV file its columns, of each JSON file the paths of its keys, and of
    each page the headings of its tables. Records have a JSON schema."""
    parts = {part: files_by_pattern(exported / part) for part in PARTS}
    files = {f"{part}/{name}": paths for part, found in parts.items() for name, paths in found.items()}
    return "\n".join((*files, "", *(line for name, paths in files.items() for line in _columns(name, paths))))


def _columns(name: str, paths: list[Path]) -> Iterator[str]:
    found: list[str] = []
    if name.endswith(".csv"):
        with paths[0].open(encoding="utf-8-sig", newline="") as file:
            found = next(csv.reader(file))
    elif name.endswith(".json") and "/records/" not in name:
        found = sorted({key for path in paths for key in _keys(json.loads(path.read_bytes()))})
    elif name.endswith(".html") and not name.startswith("public/{language}"):
        found = sorted({line for path in paths for line in _headings(path.read_text(encoding="utf-8"))})
    if found:
        yield f"[{name}]"
        yield from found
        yield ""


def _keys(value: Any, place: str = "") -> Iterator[str]:
    """`a.b` for a key in a document and `a[].b` for one in each item of a list; a policy has its own JSON schema."""
    if isinstance(value, dict):
        for key, inner in value.items():
            here = f"{place}.{pattern(key)}" if place else pattern(key)
            yield here
            if key != "policy":
                yield from _keys(inner, here)
    elif isinstance(value, list):
        for inner in value:
            yield from _keys(inner, f"{place}[]")


def _headings(page: str) -> Iterator[str]:
    for table in _TABLE.findall(page):
        rows = [_HEADING.findall(row) for row in _ROW.findall(table)]
        texts = [unescape(re.sub(r"<[^>]+>", " ", cell)) for cell in max(rows, key=len, default=[])]
        yield " | ".join(" ".join(text.split()) for text in texts)
