"""The tables of a contest as CSV for people's spreadsheets and as JSON for programs; `COLUMNS` says what stands where.

In CSV a text that a spreadsheet would take for a formula begins with an apostrophe, and control characters are
replaced. JSON has every text as it is.
"""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from judge.contest.standings import Cell
from judge.publish.formatting import plain
from judge.publish.publication import Publication, PublishedGame

Row = Mapping[str, Any]

LONGEST_CELL = 10_000
"""Characters of a text in CSV; spreadsheets take 32,767."""

CRITERION = "criterion:NAME"
"""The column of each criterion of the ranking."""

FORMULA = frozenset("=+-@＝＋－＠")  # noqa: RUF001 some spreadsheets take the wide ones too
"""How a formula begins. What follows a tab or a line end may be one too, but those are spaces by then."""

COLUMNS: Mapping[str, Mapping[str, str]] = {
    "standings": {
        "place": "from 1; who shares a place leaves the next ones out",
        "agent": "its name",
        "points": "as the contest scores",
        "games": "played",
        "wins": "games won",
        "draws": "games drawn",
        "losses": "games lost, also those that both lost by a fault",
        "byes": "rounds without an opponent",
        "failures": "games lost by the agent's failure: illegal, unreadable, time, memory, output, crash, refused",
        "replies": "answers given in all games",
        "charged_ms": "time charged to its match clocks in all games, milliseconds",
        "elo": "rating against the mean of its pool; empty where it has none",
        "elo_low": "lower end of the 95 % interval; empty where games give none",
        "elo_high": "upper end of the 95 % interval; empty where games give none",
        "pool": "who is connected through games has the same number; ratings of two pools do not compare",
        CRITERION: "what the ranking asked for, in its order; more is better",
    },
    "crosstable": {
        "agent": "the row; rows and columns in the order of the standings",
        "(a name)": "the row's points against that agent; empty where the two never met",
    },
    "pairs": {
        "agent": "whose points these are",
        "opponent": "against whom",
        "points": "of their pairings",
        "games": "played",
        "wins": "won by the agent",
        "draws": "drawn",
        "losses": "lost by the agent",
    },
    "games": {
        "number": "place in the schedule, from 1",
        "round": "from 1",
        "table": "in the round, from 1",
        "game": "at the table, from 0",
        "first": "who sat in seat 0",
        "second": "who sat in seat 1",
        "state": "done, pending, running or held",
        "why": "what was said last of a game that is not done",
        "winner": "empty for a draw, and where both were at fault",
        "verdict": "how it ended, in one word",
        "reason": "how it ended, in words",
        "result": "the line of the field's own manager",
        "first_points": "what the game scored; empty where a pairing's games are weighed as one",
        "second_points": "the same for seat 1",
        "first_fault": "the word for which seat 0 lost, if it was at fault",
        "second_fault": "the same for seat 1",
        "first_replies": "answers of seat 0",
        "second_replies": "answers of seat 1",
        "first_charged_ms": "time charged to seat 0, milliseconds",
        "second_charged_ms": "time charged to seat 1, milliseconds",
        "seconds": "how long the game took, by the judge's clock",
        "attempt": "which attempt counted; those before it were void",
        "match": "the match's id: a digest of all that was fixed before it, but for the states of kept folders",
        "record": "file of its record",
    },
    "pairings": {
        "round": "from 1",
        "table": "in the round, from 1",
        "first": "who has the first seat in the first game",
        "second": "the other; empty for a bye",
        "meeting": "how often the two had met before",
        "group": "the group or league they meet in",
    },
    "disqualified": {"agent": "who, in the order of the decisions", "why": "in words"},
    "attempts": {
        "number": "the game's place in the schedule",
        "attempt": "from 1",
        "state": "void, annulled or superseded",
        "why": "in words",
        "record": "file of its record",
    },
    "journal": {
        "at": "UTC",
        "event": "what happened, in one word",
        "match": "the match's id, if it was about one",
        "attempt": "the attempt, if it was about one",
        "text": "what was said",
    },
}
"""The columns of each table: what its CSV has in this order, and its JSON as keys."""


def tables(publication: Publication) -> Mapping[str, bytes]:
    """Every file of the folder `data`, by its name."""
    found: dict[str, bytes] = {}
    for name, rows in (
        ("standings", standings_rows(publication)),
        ("pairs", pairs_rows(publication)),
        ("games", games_rows(publication)),
        ("pairings", pairings_rows(publication)),
        ("disqualified", [{"agent": agent, "why": why} for agent, why in publication.out.items()]),
        ("attempts", attempts_rows(publication)),
        ("journal", journal_rows(publication)),
    ):
        columns = [column for column in COLUMNS[name] if column != CRITERION]
        if name == "standings":
            columns += [CRITERION.replace("NAME", asked) for asked in publication.ranking]
        found[f"{name}.csv"] = write_csv(columns, rows)
        found[f"{name}.json"] = write_json(rows)
    names = [line.agent for line in publication.table]
    points = [[None if cell is None else cell.points for cell in row] for row in publication.cells]
    found["crosstable.csv"] = _write_matrix(names, points)
    found["crosstable.json"] = write_json({"agents": names, "points": points})
    found["README.md"] = _readme().encode()
    return found


# --- rows ------------------------------------------------------------------------------------------------------------


def standings_rows(publication: Publication) -> list[Row]:
    """A row an agent, in the table's order."""
    rows: list[Row] = []
    for line in publication.table:
        done, rating = line.done, publication.rated.get(line.agent)
        rows.append(
            {
                "place": line.place,
                "agent": line.agent,
                "points": line.points,
                "games": done.games,
                "wins": done.wins,
                "draws": done.draws,
                "losses": done.losses,
                "byes": line.byes,
                "failures": done.failures,
                "replies": done.replies,
                "charged_ms": round(done.charged_ms, 3),
                "elo": None if rating is None else _elo(rating.elo),
                "elo_low": None if rating is None else _elo(rating.low),
                "elo_high": None if rating is None else _elo(rating.high),
                "pool": None if rating is None else rating.pool,
            }
            | {
                CRITERION.replace("NAME", asked): value
                for asked, value in zip(publication.ranking, line.values, strict=True)
            }
        )
    return rows


def pairs_rows(publication: Publication) -> list[Row]:
    """A row for each agent and each opponent that it met."""
    names = [line.agent for line in publication.table]
    return [
        _pair(agent, opponent, cell)
        for agent, row in zip(names, publication.cells, strict=True)
        for opponent, cell in zip(names, row, strict=True)
        if cell is not None
    ]


def _pair(agent: str, opponent: str, cell: Cell) -> Row:
    return {
        "agent": agent,
        "opponent": opponent,
        "points": cell.points,
        "games": cell.done.games,
        "wins": cell.done.wins,
        "draws": cell.done.draws,
        "losses": cell.done.losses,
    }


def games_rows(publication: Publication) -> list[Row]:
    """A row a game, in the schedule's order."""
    return [_game(game) for game in publication.games]


def _game(game: PublishedGame) -> Row:
    row: dict[str, Any] = dict.fromkeys(COLUMNS["games"])
    row |= {
        "number": game.number,
        "round": game.round,
        "table": game.table,
        "game": game.game,
        "first": game.first,
        "second": game.second,
        "state": game.state,
        "why": game.why,
        "match": game.match,
    }
    result = game.result
    if result is None:
        return row
    first_points, second_points = (None, None) if game.points is None else game.points
    return row | {
        "winner": result.winner,
        "verdict": result.verdict.value,
        "reason": result.reason,
        "result": result.result,
        "first_points": first_points,
        "second_points": second_points,
        "first_fault": result.faults[0],
        "second_fault": result.faults[1],
        "first_replies": result.replies[0],
        "second_replies": result.replies[1],
        "first_charged_ms": result.charged_ms[0],
        "second_charged_ms": result.charged_ms[1],
        "seconds": game.seconds,
        "attempt": game.attempt,
        "record": record_path(game),
    }


def record_path(game: PublishedGame) -> str:
    """Where the record of a game lies in the export."""
    return f"records/{game.stem}.json"


def attempt_path(game: PublishedGame, attempt: int) -> str:
    """Where the record of an attempt that does not count lies in the export."""
    return f"records/{game.stem}.attempt-{attempt}.json"


def pairings_rows(publication: Publication) -> list[Row]:
    """A row a pairing, byes too."""
    return [
        {
            "round": each.round,
            "table": each.table,
            "first": each.first,
            "second": each.second,
            "meeting": each.meeting,
            "group": each.league,
        }
        for each in publication.pairings
    ]


def attempts_rows(publication: Publication) -> list[Row]:
    """A row an attempt that has a record and does not count."""
    return [
        {
            "number": game.number,
            "attempt": each.attempt,
            "state": each.state,
            "why": each.why,
            "record": attempt_path(game, each.attempt),
        }
        for game in publication.games
        for each in game.uncounted
    ]


def journal_rows(publication: Publication) -> list[Row]:
    """A row a line of the contest's log."""
    return [
        {"at": line.at, "event": line.event, "match": line.match, "attempt": line.attempt, "text": line.text}
        for line in publication.journal
    ]


def _elo(elo: float | None) -> float | None:
    """One decimal is more than any interval of a contest allows to tell apart."""
    return None if elo is None else round(elo, 1) + 0.0


# --- files -----------------------------------------------------------------------------------------------------------


def write_csv(columns: Sequence[str], rows: Iterable[Row]) -> bytes:
    """UTF-8, commas, CRLF as RFC 4180 has it; None is empty."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow([cell_text(column) for column in columns])
    writer.writerows([cell_text(row[column]) for column in columns] for row in rows)
    return out.getvalue().encode()


def _write_matrix(names: Sequence[str], rows: Sequence[Sequence[float | None]]) -> bytes:
    """Two agents may be called alike once control characters are gone: their columns stay apart."""
    columns = [str(number) for number in range(len(names) + 1)]
    lines: list[Sequence[Any]] = [["agent", *names]]
    lines += [[name, *row] for name, row in zip(names, rows, strict=True)]
    text = write_csv(columns, [dict(zip(columns, line, strict=True)) for line in lines])
    return text.partition(b"\r\n")[2]


def cell_text(value: object) -> str:
    """A cell as CSV has it; a text can be no formula (OWASP, CSV injection)."""
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    if not isinstance(value, str):
        return str(value)
    text = plain(value, LONGEST_CELL)
    return f"'{text}" if FORMULA.intersection(text.lstrip()[:1]) else text


def write_json(value: object) -> bytes:
    """Readable, ASCII, a line feed at the end."""
    return f"{json.dumps(value, indent=1, allow_nan=False)}\n".encode()


def _readme() -> str:
    parts = ["# Columns\n\nEach table is there as `.csv` and as `.json`. An empty cell is `null` in JSON.\n"]
    for name, columns in COLUMNS.items():
        lines = "\n".join(f"| `{column}` | {text} |" for column, text in columns.items())
        parts.append(f"\n## {name}\n\n| column | what it is |\n|---|---|\n{lines}\n")
    return "".join(parts)
