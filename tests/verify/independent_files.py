"""Files of an export, read by the standard library alone: strict JSON, tables with their CSV, and transcripts."""

import csv
import hashlib
import io
import json
import math
import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

Row = dict[str, Any]

MAX_DEPTH = 100
MAX_CELL_CHARACTERS = 10_000


class Problems(list[str]):
    """What contradicts what; empty if nothing does."""

    def expect(self, is_true: object, problem: str) -> None:
        if not is_true:
            self.append(problem)

    def compare(self, place: str, found: Any, expected: Any, slack: float = 0.0) -> None:
        """Report each value of `expected` that differs in `found`; `found` may have more keys."""
        if isinstance(expected, Mapping):
            for key, value in expected.items():
                self.compare(f"{place}, {key}", found.get(key) if isinstance(found, Mapping) else None, value, slack)
        elif isinstance(expected, list | tuple):
            found = found if isinstance(found, list | tuple) else ()
            self.expect(len(found) == len(expected), f"{place}, length: {len(found)}, expected {len(expected)}")
            for number, pair in enumerate(zip(found, expected, strict=False)):
                self.compare(f"{place}, {number}", *pair, slack)
        else:
            are_numbers = isinstance(found, int | float) and isinstance(expected, int | float)
            is_near = are_numbers and math.isclose(found, expected, rel_tol=slack, abs_tol=slack)
            is_same = found == expected and isinstance(found, bool) == isinstance(expected, bool)
            self.expect(is_same or is_near, f"{place}: found {found!r:.80}, expected {expected!r:.80}")


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def canonical(value: Any) -> str:
    """JSON with sorted keys, ASCII, without spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def parse(data: bytes | str, name: str) -> Any:
    """A JSON value. Raises ValueError for JSON that other parsers may read differently."""

    def object_of(pairs: list[tuple[str, Any]]) -> Row:
        if len(dict(pairs)) < len(pairs):
            raise ValueError(f"{name}: an object has a key twice")
        return dict(pairs)

    def refuse(text: str) -> float:
        raise ValueError(f"{name}: {text} is not a number")

    text = data.decode() if isinstance(data, bytes) else data
    value = json.loads(text, object_pairs_hook=object_of, parse_constant=refuse)
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        for each in level:
            if isinstance(each, float) and not math.isfinite(each):
                raise ValueError(f"{name}: a number is too large")
            if isinstance(each, str):
                each.encode()  # raises ValueError for half of a surrogate pair
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in ([*each, *each.values()] if isinstance(each, dict) else each)
        ]
        if not level:
            return value
    raise ValueError(f"{name}: values are nested deeper than {MAX_DEPTH}")


def is_time(text: object) -> bool:
    """Whether it is a moment in UTC with seconds, and perhaps milliseconds or microseconds."""
    form = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{3}([0-9]{3})?)?[+]00:00"
    if not isinstance(text, str) or not re.fullmatch(form, text):
        return False
    try:
        return bool(datetime.fromisoformat(text))
    except ValueError:
        return False


# --- tables ----------------------------------------------------------------------------------------------------------

_TEXT, _INTEGER, _NUMBER = (str,), (int,), (int, float)
_TYPES: Mapping[str, tuple[type, ...]] = {"t": _TEXT, "i": _INTEGER, "f": _NUMBER}

COLUMNS: Mapping[str, str] = {
    "standings": "place:i agent points:f games:i wins:i draws:i losses:i byes:i failures:i replies:i charged_ms:f "
    "elo:f? elo_low:f? elo_high:f? pool:i?",
    "pairs": "agent opponent points:f games:i wins:i draws:i losses:i",
    "games": "number:i round:i table:i leg:i first second state why winner:t? verdict:t? reason:t? result:t? "
    "first_points:f? second_points:f? first_fault:t? second_fault:t? first_replies:i? second_replies:i? "
    "first_charged_ms:f? second_charged_ms:f? seconds:f? moves:t? attempt:i? id record:t?",
    "pairings": "round:i table:i first second:t? meeting:i group",
    "disqualified": "agent why",
    "withdrawn": "agent why",
    "entered": "agent why entry",
    "attempts": "number:i attempt:i state why record",
    "journal": "at event game:t? attempt:i? text",
}
"""Columns of the tables with their types: text, integer or number, with `?` if null is possible."""

OPTIONAL = ("withdrawn", "entered")


def read_tables(directory: Path, ranking: Sequence[str], problems: Problems) -> dict[str, Any]:
    """All tables that follow from records and journal; `ranking` are the criteria of the standings."""
    found: dict[str, Any] = {}
    for name, columns in COLUMNS.items():
        if name in OPTIONAL and not (directory / f"data/{name}.json").exists():
            found[name] = []
            continue
        more = [f"compared:{criterion}:f?" for criterion in ranking] if name == "standings" else []
        found[name] = _read_table(directory, name, [*columns.split(), *more], problems)
    found["crosstable"] = parse((directory / "data/crosstable.json").read_bytes(), "crosstable.json")
    agents, points = found["crosstable"]["agents"], found["crosstable"]["points"]
    cells = [["agent", *agents], *([agent, *row] for agent, row in zip(agents, points, strict=True))]
    _check_csv(directory, "crosstable", cells, problems)
    problems.compare("crosstable.json, keys", sorted(found["crosstable"]), ["agents", "points"])
    return found


def _read_table(directory: Path, name: str, columns: Iterable[str], problems: Problems) -> list[Row]:
    rows = parse((directory / f"data/{name}.json").read_bytes(), f"{name}.json")
    types = dict(column.rpartition(":")[::2] if ":" in column else (column, "t") for column in columns)
    if not isinstance(rows, list):
        raise TypeError(f"{name}.json: not a table")
    for number, row in enumerate(rows):
        if not isinstance(row, dict) or row.keys() != types.keys():
            raise ValueError(f"{name}.json: row {number}: wrong columns")
        for column, value in row.items():
            is_right = type(value) in _TYPES[types[column][0]] and (type(value) is not int or abs(value) < 2**53)
            if not (is_right or (value is None and types[column].endswith("?"))):
                raise ValueError(f"{name}.json: row {number}, {column}: {value!r:.80} has a wrong type")
    _check_csv(directory, name, [list(types), *([row[column] for column in types] for row in rows)], problems)
    return rows


def _check_csv(directory: Path, name: str, cells: Iterable[Sequence[object]], problems: Problems) -> None:
    """Non-ASCII characters are compared only by their places: how they are cleaned depends on Unicode's version."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows([_cell(value) for value in row] for row in cells)
    found = (directory / f"data/{name}.csv").read_bytes().decode()
    expected, found = (re.sub(r"[?\x80-\U0010ffff]+", "?", each) for each in (text.getvalue(), found))
    lines = zip(f"{expected}\r\n".split("\r\n"), f"{found}\r\n".split("\r\n"), strict=False)
    line = next((number for number, (one, other) in enumerate(lines, 1) if one != other), 0)
    problems.expect(expected == found, f"{name}.csv, line {line}: differs from {name}.json")


def _cell(value: object) -> object:
    """A text that a spreadsheet would run as a formula begins with an apostrophe."""
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    if not isinstance(value, str):
        return value
    if len(value) > MAX_CELL_CHARACTERS:
        value = f"{value[: MAX_CELL_CHARACTERS - 1]}\u2026"
    text = re.sub(r"[\0-\x1f\x7f]", "\ufffd", re.sub(r"[\t\n\r]", " ", value))
    is_formula = re.match(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]", text)
    return f"'{text}" if is_formula else text


# --- records ---------------------------------------------------------------------------------------------------------


def transcript_digest(transcript: Row) -> str:
    """The digest over all blocks: of their public entries, and of their private ones as the block has it."""
    chain = hashlib.sha256()
    for block in transcript["blocks"]:
        public = b"".join(_entry(*entry) for entry in block["entries"])
        chain.update(hashlib.sha256(public).digest() + bytes.fromhex(block["private_sha256"]))
    return chain.hexdigest()


def _entry(ns: int, seat: int, kind: str, text: str | int | list[Any]) -> bytes:
    """In place of a private text an entry has its length, or that and its line ends."""
    length, data, tag = (len(text), text, "o") if isinstance(text, str) else (text, "", "p")
    if isinstance(text, list):
        (length, data), tag = text, "e"
    try:
        if {type(ns), type(seat), type(length)} != {int} or not re.fullmatch("[!-~]", kind):
            raise ValueError
        return struct.pack("<QbBI", ns, seat, ord(kind), length) + f"{data}{tag}".encode("latin-1")
    except (ValueError, TypeError, struct.error):
        raise ValueError(f"invalid entry in a transcript, at {ns!r:.40} ns") from None


def check_measurements(record: Row, name: str, problems: Problems) -> None:
    """Report measurements that are negative, too large or no numbers, and cores that do not fit the clock."""
    placement, values = record["placement"], [record["seconds"], record.get("judge_late_ms", 0)]
    own = placement.get("seat_cores") or []
    divided = sorted(core for cores in own for core in cores)
    values += [*placement["judge_cores"], *placement["slot_cores"], *divided]
    for seat in record["seats"]:
        values += [seat["charged_ms"], seat.get("lingered_ms", 0), seat["cpu_ms"], seat["memory_peak_bytes"]]
        for folder in (seat.get("folders") or {}).values():
            values += [folder["used_bytes"], folder["used_inodes"]]
    values += [ply[key] for ply in record["plies"] for key in ("ms", "memory_bytes")]
    wrong = [each for each in values if each is not None and (type(each) not in _NUMBER or not 0 <= each < 2**53)]
    problems.expect(not wrong, f"{name}: invalid measurement: {wrong[:1]}")
    problems.expect(is_time(record["started_at"]), f"{name}: invalid time: {record['started_at']!r:.80}")
    is_divided = len(own) == 2 and all(own) and divided == sorted(set(placement["slot_cores"]))
    ponders = (record["spec"]["policy"].get("clock") or {}).get("ponder")
    problems.expect(is_divided if ponders else not own, f"{name}: the cores of the seats do not fit clock.ponder")
