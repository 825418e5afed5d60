"""Reads final tables of earlier contests, from their stores or exports."""

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
from judge.contest.plan import PLAN_FILE, Planned, load_plan
from judge.contest_games import GameResult, GameState, Pairing, without_copies
from judge.games.types import Verdict
from judge.journal.codec import Line, decode
from judge.journal.events import SeasonEnded
from judge.statistics.rating_model import BAYESELO_MODEL
from judge.statistics.ratings import rate
from judge.tournament.formats.groups import Leagues
from judge.tournament.schedule import Tournament
from judge.tournament.skipped_pairs import PreviousTable
from judge.tournament.snapshot import Snapshot, read_snapshot

MAX_DOCUMENT_BYTES = 4 << 20
MAX_TABLE_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class EarlierContest:
    """`tables`: ratings, last league first. `first_league`: final order. `results`: those that count."""

    tables: Sequence[PreviousTable]
    first_league: Sequence[str]
    snapshot: Snapshot
    results: Sequence[GameResult]

    @property
    def programs(self) -> Mapping[str, str]:
        """Digests of files by agent."""
        return {entry.name: entry.seat.digest for entry in self.snapshot.entries}


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
    moves: str | None = None


class _Paired(_Row):
    first: str
    second: str | None
    round: int
    table: int
    meeting: int
    group: str


class _Out(_Row):
    agent: str


class _Entered(_Row):
    entry: str


class _Line(_Row):
    event: str
    data: str


Row = TypeVar("Row", bound=_Row)


def read_earlier(planned: Planned, path: Path, option: str) -> EarlierContest:
    """Read a contest's folder or export. Raises InputError, also if it is not over."""
    if is_file(path / "contest.json"):
        return _of_export(path)
    if not is_file(path) and not is_file(path / PLAN_FILE):
        kind = "a directory without a contest" if is_directory(path) else "missing"
        raise InputError(
            f"{planned.path}: {option}: {path} is {kind}; name an earlier contest's folder or export"
            f"{', or a CSV file with the columns agent,rating' if option == 'format.skip' else ''}"
        )
    from judge.contest.foreign_store import open_foreign  # only contests that refer to others open a second store

    earlier = load_plan(path)
    if earlier.name == planned.name:
        raise InputError(f"{planned.path}: {option}: {path} is this contest; name an earlier one")
    if earlier.has_no_store:
        raise earlier.not_begun()
    with closing(open_foreign(earlier, [planned.store_url])) as store:
        if earlier.name not in store.contest_names():
            raise earlier.not_begun()
        counts = store.counts(earlier.name)
        waiting = counts[GameState.PENDING] + counts[GameState.RUNNING] + counts[GameState.HELD]
        pairings = store.pairings(earlier.name)
        entries = store.entries(earlier.name)
        out = {entry.name for entry in entries if entry.out is not None}
        snapshot = read_snapshot(store.document(earlier.name))
        known = snapshot.by_name()
        snapshot = snapshot.with_late(entry.entry for entry in entries if entry.name not in known)
        has_ended = bool(store.last_lines(earlier.name, 1, SeasonEnded))
        return _rated(path, snapshot, pairings, store.results(earlier.name), out, waiting, has_ended=has_ended)


def _of_export(directory: Path) -> EarlierContest:
    document = read_bounded(directory / "contest.json", MAX_DOCUMENT_BYTES).decode("utf-8", "replace")
    late: list[_Entered] = []
    if (directory / "data" / "entered.json").exists():
        late = _rows(directory, "entered", _Entered)
    try:
        snapshot = read_snapshot(document).with_late(row.entry for row in late)
    except InputError as error:
        raise InputError(f"{directory}: {error}; export the contest again") from None
    pairings = [
        Pairing(row.first, row.second, row.round, row.table, row.meeting, row.group)
        for row in _rows(directory, "pairings", _Paired)
    ]
    out = {row.agent for row in _rows(directory, "disqualified", _Out)}
    if snapshot.format.withdrawal == "annuls" and (directory / "data" / "withdrawn.json").exists():
        out |= {row.agent for row in _rows(directory, "withdrawn", _Out)}
    results, waiting, entries = [], 0, snapshot.by_name()
    for game in _rows(directory, "games", _Game):
        if game.first not in entries or game.second not in entries:
            raise InputError(f"{directory / 'data/games.json'}: game {game.number}: an agent that is not an entry")
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
                    number=game.number,
                    moves=game.moves or "",
                )
            )
    try:
        is_ladder = not snapshot.format.has_rounds
        has_ended = is_ladder and any(
            isinstance(decode(Line(line.event, line.data)), SeasonEnded) for line in _rows(directory, "journal", _Line)
        )
        return _rated(directory, snapshot, pairings, results, out, waiting, has_ended=has_ended)
    except (ValueError, LookupError) as error:
        raise InputError(f"{directory}: its tables contradict each other: {error}; export the contest again") from None


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
    *,
    has_ended: bool,
) -> EarlierContest:
    tournament = Tournament(snapshot)
    if waiting or (not has_ended and tournament.goes_on(pairings, results, out)):
        raise InputError(f"{path}: some games are not finished, so it has no final table; finish the contest")
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
    played = tournament.played(pairings, results)
    order = [line.agent for line in tournament.table(played, out).lines]
    if isinstance(snapshot.format, Leagues):
        last = snapshot.format.groups_now(tournament.entries(out), played)
        order = [agent for agent in order if last[agent] == "1"]
    return EarlierContest(tables, order, snapshot, counting)


def _table(path: Path, source: str, results: Sequence[GameResult]) -> PreviousTable:
    from judge.statistics.bayeselo import strengths_of
    from judge.statistics.certainty import pair_results

    evidence = without_copies(results)
    ratings = rate(evidence, BAYESELO_MODEL).ratings
    if any(rating.pool for rating in ratings):
        raise InputError(
            f"{path}: some agents of {source} are not connected by games, so their ratings cannot be compared; write "
            "a CSV file with the columns agent,rating"
        )
    return PreviousTable(source, strengths_of(pair_results(evidence)))
