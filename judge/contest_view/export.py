"""The tables of an export in the folder `data`, whose rows are classes with annotated columns, and a contest from them.

Results are claims; `judge.publish.verify.export` recomputes them.
"""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import ConfigDict

from judge.base.durable_files import read_bounded
from judge.base.errors import InputError
from judge.base.parsing import FrozenModel, parse_foreign, refuse_ambiguous
from judge.base.text import printable, quote
from judge.contest_games import Attempt, GameResult, GameState, Pairing, PublishedGame, game_result
from judge.contest_view.joined import JOINED, MAX_JOINED_BYTES, Joined
from judge.contest_view.view import ContestView
from judge.journal.state import JournalLine
from judge.record.seeds import Key
from judge.tournament.schedule import Tournament
from judge.tournament.snapshot import (
    MAX_DOCUMENT_BYTES,
    MAX_PART_CHARACTERS,
    Snapshot,
    commitment_to,
    read_snapshot,
    refuse_large_snapshot,
    refuse_missing_pairings,
)

DOCUMENT, CHANCE = "contest.json", "chance.json"

MAX_TABLE_BYTES = 256 << 20
"""Ten thousand games need 1 % of it."""

CONTRADICTIONS = (InputError, ValueError, LookupError, ArithmeticError, TypeError, AttributeError, RecursionError)
"""Errors of a computation with values that contradict each other."""

MAX_DEPTH = 100

MAX_GAMES = 1_000_000

_MAX_MISSING = 1000
"""Missing in games.json; with more, the tables are of another contest."""

Row = TypeVar("Row")


class Revealed(FrozenModel):
    """Contents of `chance.json`."""

    contest: str
    commitment: Key
    """SHA-256 of the secret's 32 bytes."""
    secret: Key


@dataclass(frozen=True, slots=True)
class TableRow:
    """A line of a table. Names and order of columns are the file format and must not change."""

    __pydantic_config__: ClassVar = ConfigDict(strict=True, extra="ignore")


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRow(TableRow):
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

    def claim(self, game: str) -> GameResult | None:
        """Its result; `game` is the id by the schedule. Raises InputError."""
        if self.verdict is None:
            return None
        try:
            result = game_result(
                (
                    *(self.first, self.second, None, self.verdict, self.reason or "", self.result or ""),
                    *(self.first_fault, self.second_fault, self.first_replies or 0, self.second_replies or 0),
                    *(self.first_charged_ms or 0.0, self.second_charged_ms or 0.0, self.round, self.table, self.leg),
                    *(game, self.number, self.attempt or 0, self.record or "", self.seconds or 0.0, self.moves or ""),
                )
            )
        except KeyError as error:
            raise InputError(f"games.json: game {self.number}: {error} is not a valid Verdict") from None
        return result._replace(winner=self.winner)


@dataclass(frozen=True, slots=True)
class PairingRow(TableRow):
    """A pairing or a bye."""

    round: Annotated[int, "from 1"]
    table: Annotated[int, "in the round, from 1"]
    first: Annotated[str, "the agent in the first seat of the first game"]
    second: Annotated[str | None, "its opponent; empty for a bye"]
    meeting: Annotated[int, "how many times the two have met before"]
    group: Annotated[str, "the group or league in which they meet"]


@dataclass(frozen=True, slots=True)
class ReasonRow(TableRow):
    """An agent that is disqualified, or withdrew after the start."""

    agent: Annotated[str, "the agent's name, in the order of the decisions"]
    why: Annotated[str, "the reason"]


@dataclass(frozen=True, slots=True)
class EnteredRow(TableRow):
    """An agent that entered after the start."""

    agent: Annotated[str, "the agent's name, in the order of entry; this table is there if an agent entered late"]
    why: Annotated[str, "the reason"]
    entry: Annotated[str, "its entry as in `contest.json`, as JSON; the log has its SHA-256"]


@dataclass(frozen=True, slots=True)
class AttemptRow(TableRow):
    """An attempt that has a record and does not count."""

    number: Annotated[int, "the game's place in the schedule"]
    attempt: Annotated[int, "from 1"]
    state: Annotated[str, "void, annulled or superseded"]
    why: Annotated[str, "the reason"]
    record: Annotated[str, "file of its record"]


@dataclass(frozen=True, slots=True)
class JournalRow(TableRow):
    """A line of the contest's journal."""

    at: Annotated[str, "UTC"]
    event: Annotated[str, "what happened, in one word"]
    game: Annotated[str | None, "the game's id, if the line is about one"]
    attempt: Annotated[int | None, "the number of the attempt, if the line is about one"]
    data: Annotated[str, "the other fields of the event, as canonical JSON"]


def game_row(view: ContestView, game: PublishedGame) -> dict[str, Any]:
    """The values of a `GameRow`."""
    names = ("number", "round", "table", "leg", "first", "second", "state", "why", "id")
    row = _NO_RESULT | {name: getattr(game, name) for name in names}
    result = game.result
    if result is None:
        return row
    row |= {name: getattr(result, name) for name in ("winner", "verdict", "reason", "result", "seconds")}
    points = (None, None) if view.game_points is None else view.game_points.of(result)
    row |= {"moves": result.moves or None, "attempt": game.attempt, "record": game.record_path}
    for seat, side in enumerate(("first", "second")):
        row[f"{side}_points"], row[f"{side}_fault"] = points[seat], result.faults[seat]
        row[f"{side}_replies"], row[f"{side}_charged_ms"] = result.replies[seat], result.charged_ms[seat]
    return row


_NO_RESULT: dict[str, Any] = dict.fromkeys(field.name for field in fields(GameRow))


def attempt_rows(game: PublishedGame) -> Iterator[dict[str, Any]]:
    """The values of an `AttemptRow` for each attempt that does not count."""
    for each in game.uncounted:
        yield {
            "number": game.number,
            "attempt": each.number,
            "state": each.state,
            "why": each.why,
            "record": game.attempt_path(each.number),
        }


def load_export(directory: Path, *, is_claimed: bool = False) -> tuple[ContestView, list[str]]:
    """An export's contest, and games missing in schedule or table as problems. `is_claimed`: with the results.

    Raises InputError with the invalid file.
    """
    document, snapshot = _read_document(directory)
    late = _read_late(directory)
    snapshot = snapshot.with_late(row.entry for row in late)
    if [row.agent for row in late] != [entry.name for entry in snapshot.entries[len(snapshot.entries) - len(late) :]]:
        raise InputError("entered.json: the names differ from those of the entries")
    secret = _read_secret(directory / CHANCE, snapshot)
    pairings = _read_pairings(directory, snapshot, len(late))
    rows = {row.number: row for row in _read_table(directory, "games", GameRow)}
    expected = sum(pairing.second is not None for pairing in pairings) * snapshot.format.games
    # Check first: contest.json, which is untrusted, determines the schedule's length.
    if expected > min(MAX_GAMES, len(rows) + _MAX_MISSING):
        raise InputError(f"contest.json and pairings.json have {expected} games, games.json has {len(rows)}")
    uncounted: dict[int, list[Attempt]] = {}
    for attempt in _read_table(directory, "attempts", AttemptRow):
        uncounted.setdefault(attempt.number, []).append(Attempt("", attempt.attempt, attempt.state, attempt.why))
    games = []
    for game in Tournament(snapshot, secret).games(pairings):
        row = rows.get(game.number)
        state, why, number = ("", "", 0) if row is None else (row.state, row.why, row.attempt or 0)
        listed = replace(game, state=state, why=why, attempt=number)
        result = None if row is None or not is_claimed else row.claim(game.id)
        games.append(PublishedGame.of(listed, result, uncounted.get(game.number, ())))
    scheduled = {game.number for game in games}
    problems = [
        f"game {number} is missing in {'games.json' if number in scheduled else 'the schedule'}"
        for number in sorted(scheduled ^ rows.keys())
    ]
    contest = ContestView(
        snapshot,
        document.removesuffix("\n"),
        pairings,
        games,
        {row.agent: row.why for row in _read_table(directory, "disqualified", ReasonRow)},
        [
            JournalLine(row.at, row.event, row.game, row.attempt, row.data)
            for row in _read_table(directory, "journal", JournalRow)
        ],
        secret,
        joined=_read_joined(directory / JOINED),
        withdrawn={row.agent: row.why for row in _read_optional(directory, "withdrawn", ReasonRow)},
        entered={row.agent: (row.why, row.entry) for row in late},
    )
    return contest, problems


def _read_late(directory: Path) -> Sequence[EnteredRow]:
    late = _read_optional(directory, "entered", EnteredRow)
    for row in late:
        place = f"entered.json: {quote(row.agent)}"
        if len(row.entry) > MAX_PART_CHARACTERS:
            raise InputError(f"{place}: an entry with more than {MAX_PART_CHARACTERS} characters")
        refuse_ambiguous(row.entry.encode(), place)
        _refuse_deep(row.entry, place)
    return late


def _read_pairings(directory: Path, snapshot: Snapshot, late: int) -> Sequence[Pairing]:
    pairings = [
        Pairing(row.first, row.second, row.round, row.table, row.meeting, row.group)
        for row in _read_table(directory, "pairings", PairingRow)
    ]
    known = {*snapshot.by_name(), None}
    if unknown := [name for pairing in pairings for name in (pairing.first, pairing.second) if name not in known]:
        raise InputError(f"{directory / 'data/pairings.json'}: {quote(unknown[0] or '')} is not an entry of {DOCUMENT}")
    count = len(snapshot.entries) - late
    refuse_missing_pairings(snapshot.format, count, len(pairings), f"{DOCUMENT} and pairings.json")
    return pairings


def _read_joined(path: Path) -> Joined | None:
    if not os.path.lexists(path):
        return None
    data = read_bounded(path, MAX_JOINED_BYTES)
    return parse_foreign(Joined, data, f"{path.name}: not a valid file of joined contests")


def _read_document(directory: Path) -> tuple[str, Snapshot]:
    data = read_bounded(directory / DOCUMENT, MAX_DOCUMENT_BYTES)
    refuse_ambiguous(data, DOCUMENT)
    snapshot = read_snapshot(text := data.decode())
    refuse_large_snapshot(snapshot, DOCUMENT)
    if len(snapshot.by_name()) < len(snapshot.entries):
        raise InputError(f"{DOCUMENT}: two entries have one name")
    if len({each.name for each in snapshot.witnesses}) < len(snapshot.witnesses):
        raise InputError(f"{DOCUMENT}: two witnesses have one name")
    _refuse_deep(text, DOCUMENT)
    return text, snapshot


def _refuse_deep(text: str, what: str) -> None:
    try:
        depth, waiting = 0, [json.loads(text)]
    except (ValueError, RecursionError):
        raise InputError(f"{what}: not JSON, or values are nested too deeply") from None
    while waiting := [
        inner
        for value in waiting
        if isinstance(value, list | dict)
        for inner in (value.values() if isinstance(value, dict) else value)
    ]:
        depth += 1
    if depth > MAX_DEPTH:
        raise InputError(f"{what}: values are nested deeper than {MAX_DEPTH}")


def load_claimed(directory: Path) -> ContestView:
    """An export's contest with its claimed results. Raises InputError as `load_export`."""
    try:
        claimed, problems = load_export(directory, is_claimed=True)
        if problems:
            raise InputError(f"{directory}: {problems[0]}; run judge contest verify {directory} for details")
        for game in claimed.games:
            if (game.state == GameState.DONE) != (game.result is not None):
                raise ValueError(f"game {game.number} is {game.state}")
        claimed.table  # noqa: B018 - computed once
    except InputError:
        raise
    except CONTRADICTIONS as error:
        raise contradiction(directory, error) from None
    return claimed


def contradiction(directory: Path, error: Exception) -> InputError:
    """For tables that contradict each other."""
    said = printable(str(error), 300)
    return InputError(f"{directory}: its tables contradict each other: {said}; run judge contest verify {directory}")


def _read_secret(path: Path, snapshot: Snapshot) -> Key | None:
    if not os.path.lexists(path):
        return None
    data = read_bounded(path, MAX_TABLE_BYTES)
    revealed = parse_foreign(Revealed, data, f"{path.name}: not a contest's random secret")
    is_own = (revealed.contest, revealed.commitment) == (snapshot.name, snapshot.commitment)
    if not is_own or commitment_to(revealed.secret) != snapshot.commitment:
        raise InputError(f"{path.name}: does not match the commitment in {DOCUMENT}")
    return revealed.secret


def _read_table(directory: Path, name: str, kind: type[Row]) -> list[Row]:
    path = directory / "data" / f"{name}.json"
    data = read_bounded(path, MAX_TABLE_BYTES)
    return parse_foreign(list[kind], data, f"{path}: not a table of an export")  # type: ignore[valid-type]


def _read_optional(directory: Path, name: str, kind: type[Row]) -> list[Row]:
    return _read_table(directory, name, kind) if os.path.lexists(directory / "data" / f"{name}.json") else []
