"""Reads `records/` and `names/`: yearly results of leagues, and tables for rating lists.

A record `records/2026_c.txt` has a line `A - B: 7 : 1` for each pair, with both agents' wins. `0 : 0`: the pair did not
meet.
"""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice
from pathlib import Path

from judge.base.durable_files import read_bounded, read_lines_bounded
from judge.base.errors import InputError
from judge.base.text import is_printable, printable, quote
from judge.base.toml_files import decode_text
from judge.contest_games import GameResult, PairResult
from judge_gomocup.rating_lists import LeagueRecord, ListRule, NameTables, RecordLine, family, record_lines

MAX_RECORDS = 2000
MAX_RECORD_BYTES = 4 << 20
MAX_RECORD_LINES = 50_000
MAX_LINES = 1_000_000
"""Lines of all records."""
MAX_NAMES = 300
"""Programs of a record."""
MAX_TABLE_BYTES = 4 << 20

_MAX_NAME = 60
_MAX_MISSING_NAMED = 3

_RECORD_NAME = re.compile(r"([12][0-9]{3})_([0-9a-z]{1,8})\.txt")
_LINE = re.compile(r"(\S+) - (\S+): (-?[0-9]{1,6}) : (-?[0-9]{1,6})")
_FORM = "write `A - B: 7 : 1`, with single blanks"
_NUMBER = re.compile(r"-?[0-9]{1,6}")

_COLUMNS: Mapping[str, Sequence[str]] = {
    "nickname": ("name", "family", "version"),
    "displayname": ("version", "shown"),
    "blacklist": ("name", "league"),
    "benchmark": ("version", "elo"),
    "rules": ("id", "suffixes", "min_games", "extra_bias"),
}


class LeagueRecords:
    """Records by year and league, tables of names, and warnings with file and line."""

    def __init__(self, directory: Path) -> None:
        """Raises InputError for invalid files."""
        self.warnings: list[str] = []
        self._directory = directory
        self._blacklist_places: dict[tuple[str, str], str] = {}
        self.names = self._read_names()
        self._suffixes = {suffix for rule in self.names.rules for suffix in rule.suffixes}
        self._families = {family(version) for version in (*self.names.nicknames.values(), *self.names.shown)}
        self.records = self._read_records()

    def rule(self, name: str) -> ListRule:
        """The rule of a list. Raises InputError for an unknown list."""
        for rule in self.names.rules:
            if rule.name == name:
                return rule
        known = ", ".join(printable(rule.name, _MAX_NAME) for rule in self.names.rules)
        raise InputError(f"{printable(name, _MAX_NAME)}: no such list in names/rules.csv; choose among {known}")

    def add(self, league: str, name: str, results: Sequence[GameResult]) -> None:
        """Add contest `name` as record `league`. Raises InputError if it cannot be a record."""
        place = f"--add {printable(league, _MAX_NAME)}={printable(name, _MAX_NAME)}"
        found = _RECORD_NAME.fullmatch(f"{league}.txt")
        if found is None or found[2] not in self._suffixes:
            known = ", ".join(sorted(self._suffixes))
            raise InputError(f"{place}: write YEAR_LEAGUE=CONTEST, such as 2027_c=cup; the leagues are {known}")
        if any(record.league == league for record in self.records):
            raise InputError(f"{place}: there is already a record of this year and league; choose another one")
        lines = record_lines(results)
        if not lines:
            raise InputError(f"{place}: this contest has no results")
        agents = {agent for game in results for agent in game.agents}
        if len({agent.upper() for agent in agents}) < len(agents):
            raise InputError(f"{place}: two agents have names that differ only in upper and lower case")
        record = LeagueRecord(int(found[1]), found[2], lines)
        self.records = sorted([*self.records, record], key=lambda each: (each.year, each.suffix))
        for unknown in self._unknown_names(record):
            self.warnings.append(f"{place}: unknown name {unknown}; {_ADD_NAME}")

    # --- records -----------------------------------------------------------------------------------------------------

    def _read_records(self) -> list[LeagueRecord]:
        folder = self._directory / "records"
        records, lines = [], 0
        for path in _listed(folder):
            found = _RECORD_NAME.fullmatch(path.name)
            if found is None:
                self.warnings.append(f"{path}: not read; the name of a record is YEAR_LEAGUE.txt, such as 2026_c.txt")
                continue
            record = LeagueRecord(int(found[1]), found[2], _record_lines(path))
            if not record.lines:
                raise InputError(f"{path}: it has no results; {_FORM}, or remove the file")
            if record.suffix not in self._suffixes:
                self.warnings.append(f"{path}: no list of names/rules.csv has the league {record.suffix!r}")
            lines += len(record.lines)
            if lines > MAX_LINES:
                raise InputError(f"{path}: the records have more than {MAX_LINES} lines together")
            records.append(record)
            self.warnings += self._faults(path, record)
        if not records:
            raise InputError(f"{folder}: it has no record; the name of a record is YEAR_LEAGUE.txt, such as 2026_c.txt")
        self._check_blacklist(records)
        return records

    def _faults(self, path: Path, record: LeagueRecord) -> Iterator[str]:
        yield from _missing_pairs(path, record)
        yield from _extra_games(path, self.names.kept(record))
        for name, number in self._unknown_names(record).items():
            yield f"{path}, line {number}: unknown name {name}; correct it, or {_ADD_NAME}"

    def _unknown_names(self, record: LeagueRecord) -> Mapping[str, int]:
        unknown: dict[str, int] = {}
        for line in self.names.kept(record):
            for name in (line.first, line.second):
                if family(self.names.version(name, record.year)) not in self._families:
                    unknown.setdefault(name, line.number)
        return unknown

    def _check_blacklist(self, records: Sequence[LeagueRecord]) -> None:
        names = {
            record.league: {name for line in record.lines for name in (line.first, line.second)} for record in records
        }
        for (name, league), place in self._blacklist_places.items():
            if name not in names.get(league, ()):
                self.warnings.append(
                    f"{place}: {name} is not in records/{league}.txt, which may lack a disqualified program"
                )

    # --- names -------------------------------------------------------------------------------------------------------

    def _read_names(self) -> NameTables:
        nicknames = {
            row["name"].upper(): f"{row['family']} {row['version']}".strip() for _, row in self._rows("nickname")
        }
        shown = {row["version"]: row["shown"] for _, row in self._rows("displayname")}
        for place, row in self._rows("blacklist"):
            self._blacklist_places[row["name"].upper(), row["league"]] = place
        anchors = [(row["version"], _integer(row, "elo", place)) for place, row in self._rows("benchmark")]
        rules: dict[str, ListRule] = {}
        for place, row in self._rows("rules"):
            name, min_games = row["id"], _integer(row, "min_games", place)
            if name in rules:
                raise InputError(f"{place}: the list {name} is there twice; remove one")
            if min_games < 0:
                raise InputError(f"{place}: min_games is {min_games}; give 0 or more")
            suffixes = frozenset(row["suffixes"].split())
            rules[name] = ListRule(name, suffixes, min_games, _integer(row, "extra_bias", place))
        if not rules:
            raise InputError(f"{self._directory / 'names/rules.csv'}: it has no list")
        return NameTables(nicknames, shown, frozenset(self._blacklist_places), anchors, list(rules.values()))

    def _rows(self, table: str) -> Iterator[tuple[str, Mapping[str, str]]]:
        return _table_rows(self._directory, table)


_ADD_NAME = "add it to names/nickname.csv or names/displayname.csv"
_LAYOUT = "give a directory with records/ and names/"


def read_record(path: Path) -> tuple[list[PairResult], list[str]]:
    """A record's results and warnings. Games that neither won are draws, if the pair met.

    Without disqualified programs, if `names/blacklist.csv` is next to its `records/`. Raises InputError for an unusable
    record.
    """
    lines = _record_lines(path)
    directory = path.absolute().parent.parent
    out: set[str] = set()
    if (directory / "names/blacklist.csv").is_file():
        out = {row["name"].upper() for _, row in _table_rows(directory, "blacklist") if row["league"] == path.stem}
    kept = [line for line in lines if out.isdisjoint((line.first, line.second))]
    games = max((line.decided for line in kept), default=0)
    if not games:
        raise InputError(f"{path}: it has no results; {_FORM}")
    warnings = [*_missing_pairs(path, LeagueRecord(0, "", lines)), *_extra_games(path, kept)]
    return [
        PairResult(line.first, line.second, line.wins, games - line.decided, line.losses)
        for line in kept
        if line.decided
    ], warnings


def _table_rows(directory: Path, table: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    path, columns = directory / "names" / f"{table}.csv", _COLUMNS[table]
    text = decode_text(path, read_bounded(path, MAX_TABLE_BYTES, _LAYOUT, links=True), "tables of names are CSV")
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        missing = [column for column in columns if column not in (reader.fieldnames or ())]
        if missing:
            raise InputError(f"{path}, line 1: no column {missing[0]!r}; its columns are {', '.join(columns)}")
        for row in reader:
            place = f"{path}, line {reader.line_num}"
            # DictReader gives None to missing cells, and a list under None to cells without a column.
            if None in row or None in row.values():
                raise InputError(f"{place}: it has not as many cells as the first line")
            for column in columns:
                if len(row[column]) > _MAX_NAME or not is_printable(row[column]):
                    raise InputError(
                        f"{place}: {column} is {quote(row[column])}; write at most {_MAX_NAME} printable characters"
                    )
            yield place, row
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num + 1}: {error}") from None


def _listed(folder: Path) -> list[Path]:
    try:
        found = list(islice(folder.iterdir(), MAX_RECORDS + 1))
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}; {_LAYOUT}") from None
    if len(found) > MAX_RECORDS:
        raise InputError(f"{folder}: it has more than {MAX_RECORDS} files")
    return sorted(path for path in found if not path.name.startswith("."))


def _integer(row: Mapping[str, str], column: str, place: str) -> int:
    if not _NUMBER.fullmatch(row[column]):
        raise InputError(f"{place}: {column} is {quote(row[column])}; write an integer of at most six digits")
    return int(row[column])


def _record_lines(path: Path) -> list[RecordLine]:
    data = read_lines_bounded(path, MAX_RECORD_BYTES, MAX_RECORD_LINES, "a record")
    if data.startswith(codecs.BOM_UTF8):
        raise InputError(f"{path}, line 1: it begins with a byte order mark; save it as UTF-8 without one")
    lines: list[RecordLine] = []
    seen: dict[frozenset[str], int] = {}
    names: set[str] = set()
    for number, text in enumerate(decode_text(path, data, "a record has UTF-8 names").split("\n"), 1):
        place = f"{path}, line {number}"
        if number > MAX_RECORD_LINES:
            raise InputError(f"{place}: a record has at most {MAX_RECORD_LINES} lines")
        stripped = text.removesuffix("\r").rstrip(" ")
        if not stripped:
            continue
        line = _record_line(place, number, stripped)
        pair = frozenset((line.first, line.second))
        if len(pair) == 1:
            raise InputError(f"{place}: {line.first} against itself")
        if pair in seen:
            raise InputError(f"{place}: {line.first} - {line.second} is also in line {seen[pair]}; remove one")
        seen[pair] = number
        names |= pair
        if len(names) > MAX_NAMES:
            raise InputError(f"{place}: a record has at most {MAX_NAMES} names")
        lines.append(line)
    return lines


def _record_line(place: str, number: int, text: str) -> RecordLine:
    if "\t" in text:
        raise InputError(f"{place}: it has a tab; {_FORM}")
    found = _LINE.fullmatch(text)
    if found is None:
        raise InputError(f"{place}: {quote(text)} is not a result; {_FORM}")
    # Older records have lower-case names.
    first, second = found[1].upper(), found[2].upper()
    for name in (first, second):
        if len(name) > _MAX_NAME or not is_printable(name):
            raise InputError(f"{place}: the name {quote(name)}; write at most {_MAX_NAME} printable characters")
    wins, losses = int(found[3]), int(found[4])
    if wins < 0 or losses < 0:
        raise InputError(f"{place}: {min(wins, losses)} wins; write 0 or more")
    return RecordLine(number, first, second, wins, losses)


# --- inconsistent records --------------------------------------------------------------------------------------------


def _missing_pairs(path: Path, record: LeagueRecord) -> Iterator[str]:
    """The first column has all names in order."""
    lines = record.lines
    names = list(dict.fromkeys([*(line.first for line in lines), *(line.second for line in lines)]))
    count = len(names) * (len(names) - 1) // 2 - len(lines)
    if not count:
        return
    number_of = {frozenset((line.first, line.second)): line.number for line in lines}
    missing = [
        (one, other)
        for one, other in combinations(range(len(names)), 2)
        if frozenset((names[one], names[other])) not in number_of
    ]
    one, other = missing[0]
    # The missing line belongs after this one.
    before = max(
        (number_of.get(frozenset((names[one], names[earlier])), 0) for earlier in range(other)),
        default=0,
    )
    place = f"{path}, after line {before}"
    distance, on_diagonal = Counter(other - one for one, other in missing).most_common(1)[0]
    if on_diagonal == count and count > _MAX_MISSING_NAMED and distance > 0:
        yield (
            f"{place}: {count} pairs are missing, each of a name and the {_ordinal(distance)} after it, such as "
            f"{names[one]} - {names[other]}; results are probably {distance} columns off, next to wrong opponents"
        )
        return
    listed = ", ".join(f"{names[one]} - {names[other]}" for one, other in missing[:_MAX_MISSING_NAMED])
    more = f" and {count - _MAX_MISSING_NAMED} more" if count > _MAX_MISSING_NAMED else ""
    yield f"{place}: no line for {listed}{more}; write 0 : 0 for a pair that did not meet"


def _ordinal(number: int) -> str:
    return {1: "first", 2: "second", 3: "third"}.get(number, f"{number}th")


def _extra_games(path: Path, lines: Sequence[RecordLine]) -> Iterator[str]:
    """Most pairs have no draw: the most frequent sum is the games of a pairing."""
    counts = Counter(line.decided for line in lines if line.decided)
    if not counts:
        return
    games = max(counts, key=lambda decided: (counts[decided], decided))
    for line in lines:
        if line.decided <= games:
            continue
        fault = f"{path}, line {line.number}: {line.decided} games, and a pairing seems to have {games}"
        if 2 * counts[games] > sum(counts.values()):
            raise InputError(f"{fault}; correct the result")
        yield fault
