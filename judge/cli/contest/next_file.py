"""The text of the next contest's file, made from the last one's."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from judge.base.toml_files import toml_quoted, with_value
from judge.contest.plan import Planned

_PATH_KEY = re.compile(r'^(\s*(?:path|file|from|policy)\s*=\s*)"((?:[^"\\]|\\.)*)"(.*)$')
_ONLY_OF_THE_LAST = re.compile(
    r"^\s*(?:\[(?:submissions|contest)\]|(?:opens|closes|starts|ends)\s*=.*|cup\s*=\s*\{.*)\s*(?:#.*)?$"
)
_RATINGS_WITH = re.compile(r"^with\s*=\s*\[[^\]]*\][^\n]*\n?", re.MULTILINE)
_RATINGS_FROM = re.compile(r"^from\s*=[^\n]*\n?", re.MULTILINE)
_TABLE = re.compile(r"^\s*\[", re.MULTILINE)


def next_text(last: Planned, folder: Path, values: Mapping[str, str], *, with_ratings: bool) -> str:
    """The file of the contest in `folder`: the last one's without schedule and cup, with paths that still fit.

    `values` are TOML values of top-level keys to set. `with_ratings` joins the ratings of the last contest; a ladder
    starts from them.
    """
    lines = [
        _relocated(line, last.folder, folder) for line in last.text.splitlines() if not _ONLY_OF_THE_LAST.match(line)
    ]
    text = "\n".join(lines) + "\n"
    for key, value in values.items():
        text = with_value(text, "", key, value)
    if not with_ratings:
        return text
    known = [_relative(each, last.folder, folder) for each in last.plan.ratings.with_]
    source = toml_quoted(os.path.relpath(last.folder.resolve(), folder.resolve()))
    joined = ", ".join([*(toml_quoted(each) for each in known), source])
    line = f"with = [{joined}]\n"
    line += "" if last.plan.format.has_rounds else f"from = {source}\n"
    if re.search(r"^\[ratings\]", text, re.MULTILINE) is None:
        return f"{text}\n[ratings]\n{line}"
    start, _, rest = _partition_at(text, r"^\[ratings\][^\n]*\n")
    own, following = _split_at_table(rest)
    return start + line + _RATINGS_FROM.sub("", _RATINGS_WITH.sub("", own, count=1), count=1) + following


def _split_at_table(text: str) -> tuple[str, str]:
    first = _TABLE.search(text)
    at = len(text) if first is None else first.start()
    return text[:at], text[at:]


def _partition_at(text: str, pattern: str) -> tuple[str, str, str]:
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        return text, "", ""
    return text[: found.end()], found[0], text[found.end() :]


def _relocated(line: str, last: Path, folder: Path) -> str:
    found = _PATH_KEY.match(line)
    if found is None or "\\" in found[2]:
        return line
    return f"{found[1]}{toml_quoted(_relative(found[2], last, folder))}{found[3]}"


def _relative(named: str, last: Path, folder: Path) -> str:
    file, colon, variant = named.partition(":")
    if not file or Path(file).is_absolute() or not (last / file).exists():
        return named
    return os.path.relpath((last / file).resolve(), folder.resolve()) + colon + variant
