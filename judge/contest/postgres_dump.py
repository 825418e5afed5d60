"""Checks a dump that `pg_dump --format=custom` wrote, and reads a contest's journal from it."""

import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path

from judge.base.errors import HostError, InputError
from judge.base.text import printable
from judge.store.tables import metadata
from judge.store.types import JournalLine

_DATA = re.compile(r"^\d+; \d+ \d+ TABLE DATA \S+ (\S+) ", re.MULTILINE)
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


def journal_of_dump(dump: Path, contest: str) -> Sequence[JournalLine]:
    """A contest's journal in a dump. Raises InputError unless the dump is a complete store."""
    listed = set(_DATA.findall("".join(_pg_restore("--list", str(dump)))))
    if missing := sorted(set(metadata.tables) - listed):
        raise InputError(f"{dump}: not a complete dump of a store: the data of {', '.join(missing)} is missing")
    return list(_lines(_pg_restore("--data-only", "--table=journal", "--file=-", str(dump)), contest))


def _pg_restore(*arguments: str) -> Iterator[str]:
    try:
        process = subprocess.Popen(
            ["pg_restore", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
        )
    except OSError as error:
        raise HostError(f"pg_restore: {error.strerror}; install the client programs of PostgreSQL") from None
    with process:
        if process.stdout is not None:
            yield from process.stdout
        said = "" if process.stderr is None else process.stderr.read()
    if process.returncode:
        raise InputError(f"{arguments[-1]}: pg_restore cannot read it: {printable(said)}; use pg_dump --format=custom")


def _lines(output: Iterator[str], contest: str) -> Iterator[JournalLine]:
    columns: list[str] = []
    found: list[tuple[int, JournalLine]] = []
    for line in output:
        if line.startswith("COPY ") and "(" in line:
            columns = [name.strip(' "') for name in line.partition("(")[2].partition(")")[0].split(",")]
        elif line.startswith("\\."):
            columns = []
        elif columns:
            row = dict(zip(columns, map(_value, line.rstrip("\n").split("\t")), strict=True))
            if row["contest"] == contest:
                found.append((int(row["id"] or 0), _journal_line(row)))
    yield from (line for _, line in sorted(found, key=lambda each: each[0]))


def _journal_line(row: dict[str, str | None]) -> JournalLine:
    values = {each.name: row.get(each.name) for each in fields(JournalLine)}
    numbers = {name: None if values[name] is None else int(values[name] or 0) for name in ("attempt", "number")}
    return JournalLine(**{**values, **numbers})  # type: ignore[arg-type]


def _value(text: str) -> str | None:
    if text == r"\N":
        return None
    return _ESCAPE.sub(lambda found: _ESCAPES.get(found[1], found[1]), text)
