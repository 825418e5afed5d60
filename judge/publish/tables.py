"""Tables of an export as CSV and JSON. Each row class is a table; annotations describe columns.

Names and order of columns are the file format and must not change. In CSV, texts like formulas get an apostrophe, and
control characters are replaced.
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Annotated, Any, ClassVar, get_type_hints

from pydantic import ConfigDict

from judge.base.text import plain_text
from judge.contest_games import PublishedGame
from judge.publish.model import PublishedContest
from judge.statistics.ratings import Version
from judge.tournament.crosstable import MAX_CROSSTABLE_AGENTS
from judge.tournament.points import points_table
from judge.tournament.standings import TableLine

MAX_CELL_CHARACTERS = 10_000
"""Characters; spreadsheets allow 32,767."""

CRITERION = "compared:NAME"
"""Column of each ranking criterion."""

FORMULA = frozenset("=+-@＝＋－＠")  # noqa: RUF001 some spreadsheets take the wide ones too
"""First characters of formulas in spreadsheets."""


@dataclass(frozen=True, slots=True)
class _Row:
    __pydantic_config__: ClassVar = ConfigDict(strict=True, extra="ignore")


@dataclass(frozen=True, slots=True)
class StandingsRow(_Row):
    """An agent."""

    place: Annotated[int, "from 1; after shared places the next places are skipped"]
    agent: Annotated[str, "the agent's name"]
    points: Annotated[float, "as the contest scores"]
    games: Annotated[int, "played"]
    wins: Annotated[int, "games won"]
    draws: Annotated[int, "games drawn"]
    losses: Annotated[int, "games lost, including those that both agents lost by a fault"]
    byes: Annotated[int, "rounds without an opponent"]
    failures: Annotated[
        int, "games lost by the agent's failure: illegal, unreadable, time, memory, output, crash, refused"
    ]
    replies: Annotated[int, "answers in all games"]
    charged_ms: Annotated[float, "time charged to its clocks in all games, milliseconds"]
    elo: Annotated[float | None, "rating relative to the mean of its pool; empty without a rating"]
    elo_low: Annotated[float | None, "lower end of the 95 % interval; empty if the games do not determine it"]
    elo_high: Annotated[float | None, "upper end of the 95 % interval; empty if the games do not determine it"]
    pool: Annotated[
        int | None, "agents connected through games have the same number; ratings of different pools are not comparable"
    ]


@dataclass(frozen=True, slots=True)
class PairRow(_Row):
    """An agent and one of its opponents."""

    agent: Annotated[str, "the agent that scored the points"]
    opponent: Annotated[str, "its opponent"]
    points: Annotated[float, "of their pairings"]
    games: Annotated[int, "played"]
    wins: Annotated[int, "won by the agent"]
    draws: Annotated[int, "drawn"]
    losses: Annotated[int, "lost by the agent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRow(_Row):
    """A scheduled game."""

    number: Annotated[int, "place in the schedule, from 1"]
    round: Annotated[int, "from 1"]
    table: Annotated[int, "in the round, from 1"]
    leg: Annotated[int, "of the pairing, from 0"]
    first: Annotated[str, "the agent in seat 0"]
    second: Annotated[str, "the agent in seat 1"]
    state: Annotated[str, "done, pending, running, held or cancelled"]
    why: Annotated[str, "the reason for the state, if it is not done"]
    winner: Annotated[str | None, "empty for a draw, and if both were at fault"] = None
    verdict: Annotated[str | None, "how it ended, in one word"] = None
    reason: Annotated[str | None, "how it ended, in words"] = None
    result: Annotated[str | None, "the result line of the field's own manager"] = None
    first_points: Annotated[float | None, "points of seat 0; empty if the games of a pairing are scored as one"] = None
    second_points: Annotated[float | None, "points of seat 1, likewise"] = None
    first_fault: Annotated[str | None, "the verdict on a fault of seat 0; after the game it changes no result"] = None
    second_fault: Annotated[str | None, "the verdict on a fault of seat 1; after the game it changes no result"] = None
    first_replies: Annotated[int | None, "answers of seat 0"] = None
    second_replies: Annotated[int | None, "answers of seat 1"] = None
    first_charged_ms: Annotated[float | None, "time charged to seat 0, milliseconds"] = None
    second_charged_ms: Annotated[float | None, "time charged to seat 1, milliseconds"] = None
    seconds: Annotated[float | None, "duration of the game by the judge's clock"] = None
    moves: Annotated[
        str | None, "SHA-256 of opening, answers and result: games of the same seats with equal values are copies"
    ] = None
    attempt: Annotated[int | None, "number of the attempt that counts; those before it were void"] = None
    id: Annotated[str, "the game's id: a digest of everything fixed before the game, except the states of folders"]
    record: Annotated[str | None, "file of its record"] = None


@dataclass(frozen=True, slots=True)
class PairingRow(_Row):
    """A pairing or a bye."""

    round: Annotated[int, "from 1"]
    table: Annotated[int, "in the round, from 1"]
    first: Annotated[str, "the agent in the first seat of the first game"]
    second: Annotated[str | None, "its opponent; empty for a bye"]
    meeting: Annotated[int, "how many times the two have met before"]
    group: Annotated[str, "the group or league in which they meet"]


@dataclass(frozen=True, slots=True)
class DisqualifiedRow(_Row):
    """A disqualified agent."""

    agent: Annotated[str, "the agent's name, in the order of the decisions"]
    why: Annotated[str, "the reason"]


@dataclass(frozen=True, slots=True)
class WithdrawnRow(_Row):
    """An agent that withdrew after the start."""

    agent: Annotated[str, "the agent's name, in the order of the decisions; this table is there if an agent withdrew"]
    why: Annotated[str, "the reason"]


@dataclass(frozen=True, slots=True)
class EnteredRow(_Row):
    """An agent that entered after the start."""

    agent: Annotated[str, "the agent's name, in the order of entry; this table is there if an agent entered late"]
    why: Annotated[str, "the reason"]
    entry: Annotated[str, "its entry as in `contest.json`, as JSON; the log has its SHA-256"]


@dataclass(frozen=True, slots=True)
class AttemptRow(_Row):
    """An attempt that has a record and does not count."""

    number: Annotated[int, "the game's place in the schedule"]
    attempt: Annotated[int, "from 1"]
    state: Annotated[str, "void, annulled or superseded"]
    why: Annotated[str, "the reason"]
    record: Annotated[str, "file of its record"]


@dataclass(frozen=True, slots=True)
class JournalRow(_Row):
    """A line of the contest's journal."""

    at: Annotated[str, "UTC"]
    event: Annotated[str, "what happened, in one word"]
    game: Annotated[str | None, "the game's id, if the line is about one"]
    attempt: Annotated[int | None, "the number of the attempt, if the line is about one"]
    data: Annotated[str, "the other fields of the event, as canonical JSON"]


@dataclass(frozen=True, slots=True)
class FairnessRow(_Row):
    """A fairness test: whether a factor affected scores or times."""

    factor: Annotated[str, "slot, host, hour, order, neighbours or seat"]
    response: Annotated[
        str, "score of the first seat in points, or time a move (an effect of 0.01 is 1 % more, -0.5 half)"
    ]
    levels: Annotated[int, "number of compared slots, hosts or hours; 1 for a numeric factor"]
    games: Annotated[int, "number of games in the test"]
    p: Annotated[float | None, "probability of such a difference on fair machines; empty without a comparison"]
    adjusted: Annotated[float | None, "p adjusted for all tests of the table (Holm); 0.05 or less is an effect"]
    level: Annotated[str, "the level that differs most from the others"]
    effect: Annotated[float | None, "size of the difference; for a numeric factor, between its extremes"]
    low: Annotated[float | None, "lower end of its 95 % interval, which is valid for all levels jointly"]
    high: Annotated[float | None, "upper end of its 95 % interval"]
    found: Annotated[float | None, "an effect that would have been found with a probability of at least 90 %"]
    why: Annotated[str, "why no comparison is possible"]


@dataclass(frozen=True, slots=True)
class HistoryRow(_Row):
    """An agent in one of the joined contests."""

    agent: Annotated[str, "the agent's name in that contest; includes agents that are not in this contest"]
    contest: Annotated[str, "the contest's name"]
    began: Annotated[str, "when its entries were locked in, UTC"]
    files: Annotated[str, "SHA-256 of the agent's files; the same files have one rating"]
    games: Annotated[int, "games that count in that contest"]
    elo: Annotated[float, "rating of these files from all contests, relative to the anchors"]
    elo_low: Annotated[float | None, "lower end of the 95 % interval; empty if the games do not determine it"]
    elo_high: Annotated[float | None, "upper end of the 95 % interval; empty if the games do not determine it"]
    pool: Annotated[int, "ratings of different pools are not comparable"]


def _columns(row: type[_Row]) -> Mapping[str, str]:
    hints = get_type_hints(row, include_extras=True)
    return {field.name: hints[field.name].__metadata__[0] for field in fields(row)}


COLUMNS: Mapping[str, Mapping[str, str]] = {
    "standings": {
        **_columns(StandingsRow),
        CRITERION: "a ranking criterion, in order, for agents with equal previous criteria; in groups and leagues over "
        "the games of the last one that the agent reached; more is better",
    },
    "crosstable": {
        "agent": "the row; rows and columns are in the order of the standings; only with at most "
        f"{MAX_CROSSTABLE_AGENTS} agents",
        "(a name)": "the row's points against that agent; empty if the two never met",
    },
    "pairs": _columns(PairRow),
    "games": _columns(GameRow),
    "pairings": _columns(PairingRow),
    "disqualified": _columns(DisqualifiedRow),
    "withdrawn": _columns(WithdrawnRow),
    "entered": _columns(EnteredRow),
    "attempts": _columns(AttemptRow),
    "journal": _columns(JournalRow),
    "fairness": _columns(FairnessRow),
    "histories": _columns(HistoryRow),
}
"""Columns of each table in order."""


def tables(contest: PublishedContest) -> Mapping[str, bytes]:
    """Files of the folder `data` by name."""
    files = dict(result_tables(contest))
    # A running contest has not loaded its games' conditions.
    return files if contest.stream is not None else {**files, **certificate_files(contest)}


def result_tables(contest: PublishedContest) -> Iterator[tuple[str, bytes]]:
    """Without the certificate."""
    rows_by_table: dict[str, Sequence[object]] = {
        "standings": [_standing(contest, line) for line in contest.table.lines],
        "pairs": _pairs(contest),
        "games": [_game(game, points) for game, points in zip(contest.games, _points(contest), strict=True)],
        "pairings": contest.pairings,
        "disqualified": [DisqualifiedRow(agent, why) for agent, why in contest.disqualified.items()],
        "attempts": [
            AttemptRow(game.number, attempt.number, attempt.state, attempt.why, game.attempt_path(attempt.number))
            for game in contest.games
            for attempt in game.uncounted
        ],
        "journal": contest.journal,
    }
    if contest.withdrawn:
        rows_by_table["withdrawn"] = [WithdrawnRow(agent, why) for agent, why in contest.withdrawn.items()]
    if contest.entered:
        rows_by_table["entered"] = [EnteredRow(agent, *rest) for agent, rest in contest.entered.items()]
    if contest.joined is not None:
        rows_by_table["histories"] = [
            _history(agent, version) for agent, versions in sorted(contest.histories.items()) for version in versions
        ]
    for name, rows in rows_by_table.items():
        columns = [column for column in COLUMNS[name] if column != CRITERION]
        values = [{column: getattr(row, column) for column in columns} for row in rows]
        if name == "standings":
            criteria = [CRITERION.replace("NAME", criterion) for criterion in contest.table.ranking]
            columns += criteria
            for row, line in zip(values, contest.table.lines, strict=True):
                row |= zip(criteria, line.values, strict=True)
        yield f"{name}.csv", write_csv(columns, values)
        yield f"{name}.json", write_json(values)
    agents = [line.agent for line in contest.table.lines]
    if len(agents) <= MAX_CROSSTABLE_AGENTS:
        cells = contest.table.crosstable
        points = [[cells[row][column].points if column in cells[row] else None for column in agents] for row in agents]
        cross: list[Sequence[object]] = [["agent", *agents]]
        cross += [[name, *row] for name, row in zip(agents, points, strict=True)]
        yield "crosstable.csv", write_rows(cross)
        yield "crosstable.json", write_json({"agents": agents, "points": points})
    parts = ["# Columns\n\nEach table is there as `.csv` and as `.json`. An empty cell is `null` in JSON.\n"]
    for name, texts in COLUMNS.items():
        lines = "\n".join(f"| `{column}` | {text} |" for column, text in texts.items())
        parts.append(f"\n## {name}\n\n| column | meaning |\n|---|---|\n{lines}\n")
    yield README, "".join(parts).encode()


def certificate_files(contest: PublishedContest) -> Mapping[str, bytes]:
    """The table of fairness tests. Games' conditions must be loaded."""
    columns = list(COLUMNS["fairness"])
    values = [{column: _rounded(getattr(test, column)) for column in columns} for test in contest.fairness]
    return dict(zip(CERTIFICATE, (write_csv(columns, values), write_json(values)), strict=True))


README = "README.md"


CERTIFICATE = ("fairness.csv", "fairness.json")

HISTORIES = ("histories.csv", "histories.json")


# --- rows ------------------------------------------------------------------------------------------------------------


def _standing(contest: PublishedContest, line: TableLine) -> StandingsRow:
    done, rating = line.done, contest.rated.get(line.agent)
    return StandingsRow(
        place=line.place,
        agent=line.agent,
        points=line.points,
        games=done.games,
        wins=done.wins,
        draws=done.draws,
        losses=done.losses,
        byes=line.byes,
        failures=done.failures,
        replies=done.replies,
        charged_ms=round(done.charged_ms, 3),
        elo=None if rating is None else _elo(rating.elo),
        elo_low=None if rating is None else _elo(rating.low),
        elo_high=None if rating is None else _elo(rating.high),
        pool=None if rating is None else rating.pool,
    )


def _elo(elo: float | None) -> float | None:
    return None if elo is None else round(elo, 1) + 0.0


def _rounded(value: object) -> object:
    return round(value, 6) + 0.0 if isinstance(value, float) else value


def _history(agent: str, version: Version) -> HistoryRow:
    rating = version.rating
    return HistoryRow(
        agent=agent,
        contest=version.contest,
        began=version.began,
        files=version.digest,
        games=version.games,
        elo=round(rating.elo, 1) + 0.0,
        elo_low=_elo(rating.low),
        elo_high=_elo(rating.high),
        pool=rating.pool,
    )


def _pairs(contest: PublishedContest) -> list[PairRow]:
    return [
        PairRow(agent, other, cell.points, cell.done.games, cell.done.wins, cell.done.draws, cell.done.losses)
        for agent, row in contest.table.crosstable.items()
        for other, cell in row.items()
    ]


def _points(contest: PublishedContest) -> Iterator[tuple[float, float] | None]:
    table = None if contest.snapshot.duel is not None else points_table(contest.snapshot.policy)
    for game in contest.games:
        yield None if table is None or game.result is None else table.of(game.result)


def _game(game: PublishedGame, points: tuple[float, float] | None) -> GameRow:
    row = GameRow(
        number=game.number,
        round=game.round,
        table=game.table,
        leg=game.leg,
        first=game.first,
        second=game.second,
        state=game.state,
        why=game.why,
        id=game.id,
    )
    result = game.result
    if result is None:
        return row
    return replace(
        row,
        winner=result.winner,
        verdict=result.verdict.value,
        reason=result.reason,
        result=result.result,
        first_points=None if points is None else points[0],
        second_points=None if points is None else points[1],
        first_fault=result.faults[0],
        second_fault=result.faults[1],
        first_replies=result.replies[0],
        second_replies=result.replies[1],
        first_charged_ms=result.charged_ms[0],
        second_charged_ms=result.charged_ms[1],
        seconds=result.seconds,
        moves=result.moves or None,
        attempt=game.attempt,
        record=game.record_path,
    )


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
