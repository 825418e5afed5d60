"""Reads the ratings by which a contest leaves out pairs: from a CSV file or earlier contests."""

import csv
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

from judge.base.durable_files import is_directory, is_file, read_bounded
from judge.base.errors import InputError
from judge.base.parsing import parse_foreign
from judge.base.text import quote, suggest
from judge.contest.plan import PLAN_FILE, Planned, load_plan
from judge.contest_games import GameResult, GameState, Pairing
from judge.games.types import Verdict
from judge.records.text_files import decode_file
from judge.statistics.rating_model import GOMOCUP_MODEL
from judge.statistics.ratings import rate
from judge.tournament.formats import AnyFormat
from judge.tournament.formats.base import skip_of
from judge.tournament.formats.groups import Leagues
from judge.tournament.pairings import Competitor
from judge.tournament.schedule import Tournament
from judge.tournament.skipped_pairs import MAX_RATING, PreviousTable, SourcedRating, league_ratings
from judge.tournament.snapshot import Snapshot, read_snapshot

MAX_CSV_BYTES = 1 << 20
MAX_DOCUMENT_BYTES = 4 << 20
MAX_TABLE_BYTES = 256 << 20

Agents = Sequence[tuple[str, str]]
"""Names and digests of files; an empty digest is unknown."""


def with_ratings(planned: Planned, agents: Agents) -> AnyFormat:
    """Return the plan's format with each agent's rating. Raises InputError, also if no pair remains."""
    chosen = planned.plan.format
    skip, names = skip_of(chosen), [name for name, _ in agents]
    if skip is None:
        return chosen
    for name in skip.agents:
        if name not in names:
            raise InputError(
                f"{planned.path}: format.skip.agents: {quote(name, 64)} does not take part; {suggest(name, names)}"
            )
    ratings = {**_read_ratings(planned, skip.ratings, skip.above, agents), **skip.agents}
    used = {name: ratings[name] for name in names if name in ratings}
    rated = chosen.model_copy(update={"skip": skip.model_copy(update={"agents": used})})
    entries = [Competitor(name, number) for number, name in enumerate(names, 1)]
    if len(entries) > 1 and not rated.next_rounds(entries, [], 0):
        raise InputError(f"{planned.path}: format.skip leaves out all pairs; raise rating_difference")
    return rated


def _read_ratings(planned: Planned, source: str, above: str, agents: Agents) -> Mapping[str, SourcedRating]:
    names = [name for name, _ in agents]
    if not source:
        reason = "no rating in format.skip.agents"
        return {name: SourcedRating(rating=0, reason=reason) for name in names}
    path = planned.folder / source
    if is_file(path) and path.suffix != ".toml":
        if above:
            raise InputError(
                f"{planned.path}: format.skip: above needs an earlier contest in ratings; {source} is a file of ratings"
            )
        return read_ratings_csv(path, names)
    earlier = [_read_earlier(planned, path)]
    if above:
        earlier.append(_read_earlier(planned, planned.folder / above))
    programs = {name: digest for each in reversed(earlier) for name, digest in each.programs.items()}
    updated = {name for name, digest in agents if digest and programs.get(name, digest) != digest}
    return league_ratings(names, [table for each in earlier for table in each.tables], updated)


# --- a CSV file ------------------------------------------------------------------------------------------------------


def read_ratings_csv(path: Path, agents: Sequence[str]) -> Mapping[str, SourcedRating]:
    """Read the columns agent and rating. Agents without a line have 0. Raises InputError with the line."""
    data = read_bounded(path, MAX_CSV_BYTES, "give a CSV file with the columns agent,rating", links=True)
    lines = decode_file(data, str(path)).split("\n")
    header = [column.strip() for column in _cells(path, 1, lines[0])]
    for column in ("agent", "rating"):
        if header.count(column) != 1:
            raise InputError(f"{path}, line 1: no column {column!r}; write agent,rating in the first line")
    found: dict[str, SourcedRating] = {}
    first: dict[str, int] = {}
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in _cells(path, number, line)]
        if len(cells) != len(header):
            raise InputError(f"{path}, line {number}: {len(cells)} values; the first line has {len(header)} columns")
        name, text = cells[header.index("agent")], cells[header.index("rating")]
        where = f"{path}, line {number}"
        if name not in agents:
            raise InputError(
                f"{where}: agent {quote(name, 64)} does not take part; {suggest(name, agents)}, or remove the line"
            )
        if name in found:
            raise InputError(f"{where}: agent {name} is already in line {first[name]}; remove one of the two")
        if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,9})?", text) or float(text) > MAX_RATING:
            raise InputError(
                f"{where}: rating {quote(text, 30)}: write a number from 0 to {MAX_RATING}, 0 for an agent without a "
                "rating"
            )
        found[name] = SourcedRating(rating=float(text), reason=f"{path.name}, line {number}")
        first[name] = number
    missing = SourcedRating(rating=0, reason=f"not in {path.name}")
    return {name: found.get(name, missing) for name in agents}


def _cells(path: Path, number: int, line: str) -> list[str]:
    try:
        return next(csv.reader([line], strict=True), [])
    except csv.Error as error:
        raise InputError(f"{path}, line {number}: not CSV: {error}") from None


# --- earlier contests ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Earlier:
    """`tables`: last league first. `programs`: digest of files by agent."""

    tables: Sequence[PreviousTable]
    programs: Mapping[str, str]


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Game(_Row):
    number: int
    round: int
    table: int
    leg: int
    first: str
    second: str
    state: str
    winner: str | None
    verdict: Verdict | None


class _Paired(_Row):
    first: str
    second: str | None
    round: int
    table: int
    meeting: int
    group: str


class _Out(_Row):
    agent: str


Row = TypeVar("Row", bound=_Row)


def _read_earlier(planned: Planned, path: Path) -> _Earlier:
    if is_file(path / "contest.json"):
        return _of_export(path)
    if not is_file(path) and not is_file(path / PLAN_FILE):
        kind = "a directory without a contest" if is_directory(path) else "missing"
        raise InputError(
            f"{planned.path}: format.skip: {path} is {kind}; name a CSV file with the columns agent,rating, or an "
            "earlier contest's folder or export"
        )
    from judge.store.contests import Store  # only contests that refer to others open a second store

    earlier = load_plan(path)
    if earlier.name == planned.name:
        raise InputError(f"{planned.path}: format.skip: {path} is this contest; name an earlier one")
    if earlier.has_no_store:
        raise earlier.not_begun()
    with closing(Store(earlier.store_url)) as store:
        if earlier.name not in store.contest_names():
            raise earlier.not_begun()
        counts = store.counts(earlier.name)
        waiting = counts[GameState.PENDING] + counts[GameState.RUNNING] + counts[GameState.HELD]
        pairings = store.pairings(earlier.name)
        out = {entry.name for entry in store.entries(earlier.name) if entry.disqualified is not None}
        snapshot = read_snapshot(store.document(earlier.name))
        return _rated(path, snapshot, pairings, store.results(earlier.name), out, waiting)


def _of_export(directory: Path) -> _Earlier:
    snapshot = read_snapshot(read_bounded(directory / "contest.json", MAX_DOCUMENT_BYTES).decode("utf-8", "replace"))
    pairings = [
        Pairing(row.first, row.second, row.round, row.table, row.meeting, row.group)
        for row in _rows(directory, "pairings", _Paired)
    ]
    out = {row.agent for row in _rows(directory, "disqualified", _Out)}
    results, waiting = [], 0
    for game in _rows(directory, "games", _Game):
        waiting += game.state not in (GameState.DONE, GameState.CANCELLED)
        if game.verdict is not None:
            if game.winner not in (None, game.first, game.second):
                raise InputError(f"{directory / 'data/games.json'}: game {game.number}: its winner did not play")
            results.append(
                GameResult(
                    game.first,
                    game.second,
                    game.winner,
                    game.verdict,
                    round=game.round,
                    table=game.table,
                    leg=game.leg,
                )
            )
    return _rated(directory, snapshot, pairings, results, out, waiting)


def _rows(directory: Path, name: str, kind: type[Row]) -> list[Row]:
    path = directory / "data" / f"{name}.json"
    data = read_bounded(path, MAX_TABLE_BYTES)
    return parse_foreign(list[kind], data, f"{path}: not a table of an export")  # type: ignore[valid-type]


def _rated(
    path: Path,
    snapshot: Snapshot,
    pairings: Sequence[Pairing],
    results: Sequence[GameResult],
    out: Set[str],
    waiting: int,
) -> _Earlier:
    waiting = waiting or len(Tournament(snapshot).next(pairings, results, out).games)
    if waiting:
        raise InputError(f"{path}: {waiting} games are not finished, so it has no final table; finish the contest")
    groups = {(pairing.round, pairing.table): pairing.group for pairing in pairings}
    counting = [result for result in results if out.isdisjoint(result.agents)]
    if not counting:
        raise InputError(f"{path}: no game counts, so it has no ratings; name another contest or a CSV file")
    leagues: dict[str, list[GameResult]] = defaultdict(list)
    for result in counting:
        leagues[groups.get((result.round, result.table), "")].append(result)
    if isinstance(snapshot.format, Leagues):
        tables = [
            _table(path, f"{snapshot.format.stage_name(group)} of {snapshot.name}", leagues[group])
            for group in sorted(leagues, key=lambda group: (len(group), group), reverse=True)
        ]
    else:
        tables = [_table(path, snapshot.name, counting)]
    return _Earlier(tables, {entry.name: entry.seat.digest for entry in snapshot.entries})


def _table(path: Path, source: str, results: Sequence[GameResult]) -> PreviousTable:
    ratings = rate(results, GOMOCUP_MODEL).ratings
    if any(rating.pool for rating in ratings):
        raise InputError(
            f"{path}: some agents of {source} are not connected by games, so their ratings cannot be compared; write "
            "a CSV file with the columns agent,rating"
        )
    return PreviousTable(source, {rating.agent: rating.elo for rating in ratings})
