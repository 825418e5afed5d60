"""Tables of an export as CSV and JSON, and the documents next to them.

Names and order of columns are the file format and must not change. In CSV, texts like formulas get an apostrophe, and
control characters are replaced.
"""

import csv
import hashlib
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Any, get_type_hints

from judge.base.text import plain_text
from judge.contest_view.export import (
    CHANCE,
    DOCUMENT,
    AttemptRow,
    EnteredRow,
    GameRow,
    JournalRow,
    PairingRow,
    ReasonRow,
    Revealed,
    TableRow,
    attempt_rows,
    game_row,
)
from judge.contest_view.joined import JOINED
from judge.contest_view.view import ContestView
from judge.statistics.ratings import Rating, Version
from judge.tournament.standings import MAX_CROSSTABLE_AGENTS, STANDINGS_COLUMNS, TableLine

MAX_CELL_CHARACTERS = 10_000
"""Characters; spreadsheets allow 32,767."""

CRITERION = "compared:NAME"
"""Column of each ranking criterion."""

FORMULA = frozenset("=+-@＝＋－＠")  # noqa: RUF001 some spreadsheets take the wide ones too
"""First characters of formulas in spreadsheets."""


def _columns(row: type[TableRow]) -> Mapping[str, str]:
    hints = get_type_hints(row, include_extras=True)
    return {field.name: hints[field.name].__metadata__[0] for field in fields(row)}


RATING_COLUMNS = {
    "elo": "rating relative to the mean of its pool; empty without a rating",
    "elo_low": "lower end of the 95 % interval; empty if the games do not determine it",
    "elo_high": "upper end of the 95 % interval; empty if the games do not determine it",
    "pool": "agents connected through games have the same number; ratings of different pools are not comparable",
}
"""Columns of the standings that are estimated."""

TABLES: Mapping[str, Mapping[str, str]] = {
    "standings": {
        "place": "from 1; after shared places the next places are skipped",
        "agent": "the agent's name",
        **{column.name: column.meaning for column in STANDINGS_COLUMNS},
        **RATING_COLUMNS,
        CRITERION: "a ranking criterion, in order, for agents with equal previous criteria; in groups and leagues over "
        "the games of the last one that the agent reached; more is better",
    },
    "crosstable": {
        "agent": "the row; rows and columns are in the order of the standings; only with at most "
        f"{MAX_CROSSTABLE_AGENTS} agents",
        "(a name)": "the row's points against that agent; empty if the two never met",
    },
    "pairs": {
        "agent": "the agent that scored the points",
        "opponent": "its opponent",
        "points": "of their pairings",
        "games": "played",
        "wins": "won by the agent",
        "draws": "drawn",
        "losses": "lost by the agent",
    },
    "games": _columns(GameRow),
    "pairings": _columns(PairingRow),
    "disqualified": _columns(ReasonRow),
    "withdrawn": {
        "agent": "the agent's name, in the order of the decisions; this table is there if an agent withdrew",
        "why": "the reason",
    },
    "entered": _columns(EnteredRow),
    "attempts": _columns(AttemptRow),
    "journal": _columns(JournalRow),
    "fairness": {
        "factor": "slot, host, hour, order, neighbours or seat",
        "response": "score of the first seat in points, or time a move (an effect of 0.01 is 1 % more, -0.5 half)",
        "levels": "number of compared slots, hosts or hours; 1 for a numeric factor",
        "games": "number of games in the test",
        "p": "probability of such a difference on fair machines; empty without a comparison",
        "adjusted": "p adjusted for all tests of the table (Holm); 0.05 or less is an effect",
        "level": "the level that differs most from the others",
        "effect": "size of the difference; for a numeric factor, between its extremes",
        "low": "lower end of its 95 % interval, which is valid for all levels jointly",
        "high": "upper end of its 95 % interval",
        "found": "an effect that would have been found with a probability of at least 90 %",
        "why": "why no comparison is possible",
    },
    "histories": {
        "agent": "the agent's name in that contest; includes agents that are not in this contest",
        "contest": "the contest's name",
        "began": "when its entries were locked in, UTC",
        "files": "SHA-256 of the agent's files; the same files have one rating",
        "games": "games that count in that contest",
        **RATING_COLUMNS,
        # These keep their places.
        "elo": "rating of these files from all contests, relative to the anchors",
        "pool": "ratings of different pools are not comparable",
    },
}


def tables(contest: ContestView) -> Mapping[str, bytes]:
    """Files of the folder `data` by name."""
    files = dict(result_tables(contest))
    # A running contest has not loaded its games' conditions.
    return files if contest.stream is not None else {**files, **certificate_files(contest)}


def result_tables(contest: ContestView) -> Iterator[tuple[str, bytes]]:
    """Without the certificate."""
    rows_by_table: dict[str, Iterable[_Values]] = {
        "pairs": _pairs(contest),
        "games": [game_row(contest, game) for game in contest.games],
        "pairings": [_values(pairing, *TABLES["pairings"]) for pairing in contest.pairings],
        "disqualified": _reasons(contest.disqualified),
        "attempts": [row for game in contest.games for row in attempt_rows(game)],
        "journal": [_values(line, *TABLES["journal"]) for line in contest.journal],
    }
    if contest.withdrawn:
        rows_by_table["withdrawn"] = _reasons(contest.withdrawn)
    if contest.entered:
        rows_by_table["entered"] = [
            {"agent": agent, "why": why, "entry": entry} for agent, (why, entry) in contest.entered.items()
        ]
    if contest.joined is not None:
        rows_by_table["histories"] = [
            _history(agent, version) for agent, versions in sorted(contest.histories.items()) for version in versions
        ]
    criteria = [CRITERION.replace("NAME", criterion) for criterion in contest.table.ranking]
    columns = [*(column for column in TABLES["standings"] if column != CRITERION), *criteria]
    yield from _files("standings", columns, [_standing(contest, line, criteria) for line in contest.table.lines])
    for name, rows in rows_by_table.items():
        columns = [*TABLES[name]]
        yield from _files(name, columns, [{column: row[column] for column in columns} for row in rows])
    agents = [line.agent for line in contest.table.lines]
    if len(agents) <= MAX_CROSSTABLE_AGENTS:
        cells = contest.table.crosstable
        points = [[cells[row][column].points if column in cells[row] else None for column in agents] for row in agents]
        cross: list[Sequence[object]] = [["agent", *agents]]
        cross += [[name, *row] for name, row in zip(agents, points, strict=True)]
        yield "crosstable.csv", write_rows(cross)
        yield "crosstable.json", write_json({"agents": agents, "points": points})
    parts = ["# Columns\n\nEach table is there as `.csv` and as `.json`. An empty cell is `null` in JSON.\n"]
    for name, texts in TABLES.items():
        lines = "\n".join(f"| `{column}` | {text} |" for column, text in texts.items())
        parts.append(f"\n## {name}\n\n| column | meaning |\n|---|---|\n{lines}\n")
    yield README, "".join(parts).encode()


def certificate_files(contest: ContestView) -> Mapping[str, bytes]:
    """The table of fairness tests. Games' conditions must be loaded."""
    columns = list(TABLES["fairness"])
    values = [{column: _rounded(getattr(test, column)) for column in columns} for test in contest.fairness]
    return dict(_files("fairness", columns, values))


def _files(name: str, columns: Sequence[str], rows: Sequence[Mapping[str, object]]) -> Iterator[tuple[str, bytes]]:
    yield f"{name}.csv", write_csv(columns, rows)
    yield f"{name}.json", write_json(rows)


README = "README.md"


CERTIFICATE = ("fairness.csv", "fairness.json")

HISTORIES = ("histories.csv", "histories.json")


# --- rows ------------------------------------------------------------------------------------------------------------


_Values = dict[str, object]


def _values(source: object, *columns: str) -> _Values:
    return {column: getattr(source, column) for column in columns}


def _standing(contest: ContestView, line: TableLine, criteria: Sequence[str]) -> _Values:
    columns = {column.name: column.value(line) for column in STANDINGS_COLUMNS}
    rating = _rating(contest.rated.get(line.agent))
    return _values(line, "place", "agent") | columns | rating | dict(zip(criteria, line.values, strict=True))


def _rating(rating: Rating | None) -> _Values:
    if rating is None:
        return dict.fromkeys(RATING_COLUMNS)
    ends = (None if end is None else round(end, 1) + 0.0 for end in (rating.elo, rating.low, rating.high))
    return dict(zip(RATING_COLUMNS, (*ends, rating.pool), strict=True))


def _history(agent: str, version: Version) -> _Values:
    found = _values(version, "contest", "began", "games") | _rating(version.rating)
    return found | {"agent": agent, "files": version.digest}


def _reasons(agents: Mapping[str, str]) -> list[_Values]:
    return [{"agent": agent, "why": why} for agent, why in agents.items()]


def _rounded(value: object) -> object:
    return round(value, 6) + 0.0 if isinstance(value, float) else value


def _pairs(contest: ContestView) -> Iterator[_Values]:
    for agent, row in contest.table.crosstable.items():
        for other, cell in row.items():
            done = _values(cell.done, "games", "wins", "draws", "losses")
            yield {"agent": agent, "opponent": other, "points": cell.points} | done


# --- files -----------------------------------------------------------------------------------------------------------


def write_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> bytes:
    """A table with a header as CSV."""
    return write_rows([columns, *([*map(row.__getitem__, columns)] for row in rows)])


def write_rows(rows: Iterable[Sequence[object]]) -> bytes:
    """Rows as CSV: UTF-8, commas, CRLF (RFC 4180); None is empty."""
    out = io.StringIO(newline="")
    csv.writer(out).writerows(
        [value if value.__class__ in _CSV_TYPES else cell_text(value) for value in row] for row in rows
    )
    return out.getvalue().encode()


_CSV_TYPES = frozenset({int, type(None)})


def cell_text(value: object) -> str:
    """A CSV cell, never a formula (OWASP, CSV injection)."""
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    if not isinstance(value, str):
        return str(value)
    return _cell_of_text(value)


@lru_cache(maxsize=1024)
def _cell_of_text(value: str) -> str:
    text = plain_text(value, MAX_CELL_CHARACTERS)
    return f"'{text}" if FORMULA.intersection(text.lstrip()[:1]) else text


def write_json(value: object) -> bytes:
    """Readable ASCII JSON with a final line feed."""
    if isinstance(value, list) and value and all(map(_is_flat, value)):
        # As below, by json's fast encoder.
        rows = ",\n ".join(f"{{\n  {_flat_encoder.encode(row)[1:-1]}\n }}" for row in value)
        return f"[\n {rows}\n]\n".encode()
    return f"{json.dumps(value, indent=1, allow_nan=False)}\n".encode()


_flat_encoder = json.JSONEncoder(allow_nan=False, separators=(",\n  ", ": "))


def _is_flat(row: object) -> bool:
    return (
        isinstance(row, dict)
        and bool(row)
        and not any(isinstance(value, list | tuple | dict) for value in row.values())
    )


# --- documents -------------------------------------------------------------------------------------------------------


def documents(contest: ContestView) -> Mapping[str, Callable[[], bytes]]:
    """The contents by file. The secret is missing until the contest is over."""
    snapshot = contest.snapshot
    found: dict[str, Callable[[], bytes]] = {DOCUMENT: lambda: _terms(contest)}
    if contest.secret is not None and snapshot.commitment is not None:
        revealed = Revealed(contest=snapshot.name, commitment=snapshot.commitment, secret=contest.secret)
        found[CHANCE] = lambda: f"{revealed.model_dump_json(indent=1)}\n".encode()
    if contest.joined is not None:
        found[JOINED] = contest.joined.encoded
    return found


def term_digests(contest: ContestView) -> Sequence[tuple[str, str]]:
    """Names and digests of what is fixed before the first game."""
    snapshot = contest.snapshot
    return [
        (DOCUMENT, hashlib.sha256(_terms(contest)).hexdigest()),
        ("contest.toml", snapshot.plan_sha256),
        *((f"image {name}", image.content or image.id) for name, image in snapshot.images.items()),
        *((f"agent {entry.name}", entry.seat.digest) for entry in snapshot.entries),
    ]


def _terms(contest: ContestView) -> bytes:
    return f"{contest.document}\n".encode()
