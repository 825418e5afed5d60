"""`judge contest verify`: is an export what a contest with these agents, under these rules, must have come to?

Four questions, each with its own problems: did anybody change a file since it was signed, does every record replay and
belong to its place in the schedule, does the schedule follow from what was frozen and from the results, and are the
published tables what all that gives? The pages and the PGN are covered by the signature alone.
"""

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from judge.contest.schedule import Tournament
from judge.contest.snapshot import ranks_of
from judge.errors import InputError
from judge.publish.data import attempt_path, tables
from judge.publish.load import CHANCE, LARGEST_TABLE, Export, read_export
from judge.publish.manifest import Checked, check_manifest, read_bounded
from judge.publish.publication import PublishedGame, Uncounted
from judge.publish.source import OPEN, ContestSource, SourceGame, chance_words, publication_of
from judge.publish.verify_records import RecordJob, VerifiedRecord, chain_problems, replay
from judge.store.types import MatchState, Paired, Result, Scheduled
from judge.workers import in_parallel

TOLERANCE = 1e-3
"""How far a number may be off that another machine computed: far less than any place hangs on."""

MOST_GAMES = 1_000_000


@dataclass(frozen=True, slots=True)
class VerificationReport:
    """What was found. `replayed` games, `uncounted` attempts among them; `open_games` have no result.

    `is_over`: every game was played, and no round follows. `decisions` are the organiser's, which nobody can recompute.
    `chance` says where it comes from: what is not revealed yet could not be checked.
    """

    contest: str
    checked: Checked
    replayed: int
    uncounted: int
    open_games: int
    is_over: bool
    decisions: Sequence[str]
    problems: Sequence[str]
    chance: str


def verify_export(directory: Path, public_key: Path | None) -> VerificationReport:
    """Check an export; what is wrong with it is a problem. InputError where there is none to check, or no key."""
    checked = check_manifest(directory, public_key)
    try:
        export = read_export(directory)
        found = _Verifier(export).verify()
    except (InputError, ValueError, LookupError) as error:
        found = _Found(problems=[f"not an export that a judge wrote: {error}"])
        export = None
    return VerificationReport(
        contest=export.frozen.name if export else "",
        checked=checked,
        replayed=found.replayed,
        uncounted=found.uncounted,
        open_games=found.open_games,
        is_over=found.is_over,
        decisions=[f"{agent} disqualified: {why}" for agent, why in export.out.items()] if export else [],
        problems=[*checked.problems, *_contest_problem(export, checked), *found.problems],
        chance=chance_words(export.frozen, export.secret) if export else "",
    )


def _contest_problem(export: Export | None, checked: Checked) -> list[str]:
    if export is None or checked.manifest is None:
        return []
    signed, frozen = checked.manifest.contest, export.frozen.name
    return [] if signed == frozen else [f"the manifest is of {signed!r}, the contest is {frozen!r}"]


@dataclass(slots=True)
class _Found:
    problems: list[str]
    replayed: int = 0
    uncounted: int = 0
    open_games: int = 0
    is_over: bool = False


class _Verifier:
    def __init__(self, export: Export) -> None:
        """InputError for a contest that no judge could play."""
        self._export = export
        self._course = Tournament(export.frozen, export.secret)
        games = len(export.pairings) * export.frozen.format.games
        if games > MOST_GAMES:
            raise InputError(f"{games} games are more than {MOST_GAMES}")
        self._games = self._course.games(export.pairings)
        self._openings = self._course.openings(export.pairings)
        self._problems: list[str] = []

    def verify(self) -> _Found:
        """Everything but the manifest."""
        self._check_listed()
        done = {each.job.number: each for each in in_parallel(replay, self._jobs())}
        attempts = list(in_parallel(replay, self._attempt_jobs()))
        for each in (*done.values(), *attempts):
            self._problems += each.problems
        self._check_folders([*attempts, *done.values()])
        source = self._source(done)
        self._check_states(source)
        self._check_draws(source)
        is_over = self._check_end(source)
        self._check_chance(source)
        self._check_tables(source)
        return _Found(
            problems=self._problems,
            replayed=len(done) + len(attempts),
            uncounted=len(attempts),
            open_games=sum(game.state in OPEN for game in source.games),
            is_over=is_over,
        )

    # --- records -----------------------------------------------------------------------------------------------------

    def _check_listed(self) -> None:
        numbers = {match.number for match in self._games}
        for number in sorted(numbers.symmetric_difference(self._export.games)):
            where = "games.json" if number in numbers else "the schedule"
            self._problems.append(f"game {number} is missing in {where}")

    def _jobs(self) -> list[RecordJob]:
        rows = self._export.games
        return [
            self._job(match, _path(match), rows[match.number].attempt)
            for match in self._games
            if match.number in rows and rows[match.number].state == MatchState.DONE
        ]

    def _attempt_jobs(self) -> list[RecordJob]:
        return [
            self._job(match, attempt_path(_named(match), row.attempt), row.attempt)
            for match in self._games
            for row in self._export.uncounted.get(match.number, ())
        ]

    def _job(self, match: Scheduled, name: str, attempt: int | None) -> RecordJob:
        entries = self._export.frozen.by_name()
        names = (entries[match.first].calls_itself, entries[match.second].calls_itself)
        return RecordJob(
            match.number,
            self._export.directory,
            name,
            match.spec,
            attempt,
            names,
            self._course.seed_of(match, attempt or 0),
            self._openings[match.number],
        )

    def _check_folders(self, replayed: Sequence[VerifiedRecord]) -> None:
        by_number = {match.number: match for match in self._games}
        ordered = sorted(replayed, key=lambda each: (each.job.number, each.job.attempt or 0))
        matches = [by_number[each.job.number] for each in ordered]
        agents = [(match.first, match.second) for match in matches]
        entries = self._export.frozen.entries
        begins = {entry.name: entry.persistent for entry in entries if entry.persistent}
        self._problems += chain_problems(ordered, agents, begins)

    # --- the course --------------------------------------------------------------------------------------------------

    def _source(self, done: Mapping[int, VerifiedRecord]) -> ContestSource:
        export = self._export
        games = []
        for match in self._games:
            row, replayed = export.games.get(match.number), done.get(match.number)
            attempts = export.uncounted.get(match.number, ())
            games.append(
                SourceGame(
                    match,
                    "" if row is None else row.state,
                    (0 if row is None else row.attempt) or 0,
                    "" if row is None else row.why,
                    None if replayed is None else replayed.ended,
                    tuple(Uncounted(each.attempt, each.state, each.why) for each in attempts),
                )
            )
        return ContestSource(export.frozen, export.document, export.pairings, games, export.out, export.journal)

    def _check_states(self, source: ContestSource) -> None:
        for game in source.games:
            match = game.match
            if game.state not in (*OPEN, MatchState.DONE, MatchState.CANCELLED):
                self._problems.append(f"game {match.number}: nothing of a game is {game.state!r}")
            if game.state == MatchState.CANCELLED and not {match.first, match.second} & set(source.out):
                self._problems.append(f"game {match.number}: cancelled, and nobody is disqualified")

    def _check_draws(self, source: ContestSource) -> None:
        """Round by round, every draw must follow from the results before it, with who was disqualified by then."""
        pairings, out = list(source.pairings), list(source.out)
        drawn: list[Paired] = []
        gone = 0
        while len(drawn) < len(pairings):
            rounds = {each.round for each in drawn}
            results = [each for each in source.results if each.match.round in rounds]
            left = tuple(pairings[len(drawn) :])
            found = self._draw(drawn, results, out, gone, left)
            if found is None:
                self._problems.append(
                    f"round {left[0].round} does not follow from what was frozen and played before it"
                )
                return
            gone, pairs = found
            drawn += pairs

    def _draw(
        self, drawn: Sequence[Paired], results: Sequence[Result], out: Sequence[str], gone: int, left: Sequence[Paired]
    ) -> tuple[int, Sequence[Paired]] | None:
        """How many were disqualified when `left` was drawn, and the pairings of that draw."""
        for count in range(gone, len(out) + 1):
            for lots in _LOTS if self._course.seed is None else (None,):
                pairs = self._course.next(drawn, results, out[:count], lots).pairings
                if pairs and tuple(left[: len(pairs)]) == pairs:
                    return count, pairs
        return None

    def _check_chance(self, source: ContestSource) -> None:
        """It is revealed when the contest is over, and not before; the ranks follow from it."""
        frozen, seed = source.frozen, self._course.seed
        if frozen.commitment is None:
            return
        if seed is None:
            if source.is_over(self._course):
                self._problems.append(f"the contest is over, and {CHANCE} does not reveal its chance")
            return
        if not source.is_over(self._course):
            self._problems.append(f"{CHANCE} reveals the chance of games that are still to come")
        if [each.rank for each in frozen.entries] != ranks_of(len(frozen.entries), frozen.seeding, seed):
            self._problems.append("the agents' ranks do not follow from the contest's chance")

    def _check_end(self, source: ContestSource) -> bool:
        """Whether the contest is over; who has failed too often must be out by then."""
        if self._problems or not source.is_over(self._course):
            return False
        self._problems += [
            f"{agent} failed in {share:.0%} of its games and is not disqualified"
            for agent, share in self._course.failed(source.results, source.out).items()
        ]
        return True

    # --- tables ------------------------------------------------------------------------------------------------------

    def _check_tables(self, source: ContestSource) -> None:
        for name, expected in tables(publication_of(source)).items():
            path = self._export.directory / "data" / name
            try:
                there = read_bounded(path, LARGEST_TABLE)
            except InputError as error:
                self._problems.append(str(error))
                continue
            where = difference(name, there, expected)
            if where:
                self._problems.append(f"data/{name}: not what the records give: {where}")


_LOTS = range(16)
"""Seeds that give each lot of two both ways: while its chance is secret a round may be drawn in either."""


def _named(match: Scheduled) -> PublishedGame:
    return PublishedGame(match.number, match.id, match.round, match.table, match.game, match.first, match.second, "")


def _path(match: Scheduled) -> str:
    return f"records/{_named(match).stem}.json"


# --- comparing -------------------------------------------------------------------------------------------------------


def difference(name: str, there: bytes, expected: bytes) -> str:
    """Where a table differs from what it must be; empty where it does not, but for the last digits of numbers."""
    if there == expected:
        return ""
    if name.endswith(".json"):
        try:
            return _json_difference(json.loads(there), json.loads(expected), "")
        except (ValueError, RecursionError):
            return "not JSON"
    if name.endswith(".csv"):
        return _csv_difference(there, expected)
    return "another text"


def _json_difference(there: object, expected: object, where: str) -> str:
    if isinstance(there, dict) and isinstance(expected, dict):
        if there.keys() != expected.keys():
            return f"other keys at {where or 'the top'}"
        pairs = [(f"{where}.{key}", there[key], expected[key]) for key in expected]
    elif isinstance(there, list) and isinstance(expected, list):
        if len(there) != len(expected):
            return f"{len(there)} rows at {where or 'the top'}, {len(expected)} are right"
        pairs = [(f"{where}[{at}]", *both) for at, both in enumerate(zip(there, expected, strict=True))]
    else:
        is_same = _is_near(there, expected) or (type(there) is type(expected) and there == expected)
        return "" if is_same else f"{where} is {there!r:.80}, {expected!r:.80} is right"
    return next((found for key, a, b in pairs if (found := _json_difference(a, b, key))), "")


def _csv_difference(there: bytes, expected: bytes) -> str:
    rows = (list(csv.reader(io.StringIO(data.decode("utf-8", "replace"), newline=""))) for data in (there, expected))
    for line, (found, right) in enumerate(zip_longest(*rows), 1):
        if found is None or right is None:
            return f"line {line}: {'missing' if found is None else 'one too many'}"
        for cell, other in zip_longest(found, right):
            if cell != other and not _is_near(_as_number(cell), _as_number(other)):
                return f"line {line}: {cell!r:.80}, {other!r:.80} is right"
    return ""


def _as_number(text: str | None) -> float | None:
    try:
        return float(text or "")
    except ValueError:
        return None


def _is_near(there: object, expected: object) -> bool:
    return (
        isinstance(there, int | float)
        and isinstance(expected, int | float)
        and not isinstance(there, bool)
        and math.isclose(there, expected, rel_tol=1e-9, abs_tol=TOLERANCE)
    )
