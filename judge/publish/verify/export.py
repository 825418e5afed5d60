"""`judge contest verify`: checks that an export is the correct result of its contest.

It checks the signature of all files, replays every record, recomputes schedule and tables, and compares all with the
log, which must continue an old checkpoint. Pages of other packages are rendered again. Only the signature covers other
pages, PGN and the columns' description.
"""

import csv
import io
import json
import math
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

from judge.base.durable_files import read_bounded
from judge.base.errors import InputError
from judge.base.parsing import refuse_ambiguous
from judge.base.progress import Tracker, untracked
from judge.base.text import percent
from judge.base.worker_processes import in_parallel
from judge.contest_games import OPEN_STATES, AttemptState, GameState, PublishedGame
from judge.contest_view.export import CHANCE, CONTRADICTIONS, MAX_TABLE_BYTES, load_export
from judge.contest_view.joined import JOINED, FormerContest
from judge.contest_view.values import chance_words
from judge.contest_view.view import ContestView
from judge.publish.manifest import FileCheck, ManifestCheck, file_names
from judge.publish.pages import FOLDER, PAGES
from judge.publish.tables import CERTIFICATE, HISTORIES, README, tables, write_csv, write_rows
from judge.publish.verify.copies import original_line_ends
from judge.publish.verify.draws import (
    admission_problems,
    draw_problems,
    ladder_problems,
    pairing_problems,
    undecided,
)
from judge.publish.verify.log import (
    ReadLog,
    Witnessed,
    read_log,
    read_witness_keys,
    receipt_problems,
    since_problems,
    witness_problems,
)
from judge.publish.verify.log_lines import log_problems, logged_decisions, time_problems, uncounted_attempts
from judge.publish.verify.records import VerifiedRecord, chain_problems, check_record
from judge.publish.verify.sample import Sample
from judge.statistics.fairness import FairnessTest
from judge.store.types import cancellation
from judge.tournament.snapshot import Freeze, ranks_of
from judge.transparency.checkpoint import MAX_CHECKPOINT_BYTES, Checkpoint, read_checkpoint
from judge.transparency.log import LOG
from judge.transparency.merkle import CHECKPOINT
from judge.transparency.receipt import Receipt, read_receipt

MAX_ANSWER_BYTES = 64 << 10

MAX_PAGE_BYTES = 16 << 20

TOLERANCE = 1e-9
"""Of floats computed on another machine."""


ROUNDED = 2e-6
"""Tolerance for estimates of six decimals."""


@dataclass(frozen=True, slots=True)
class VerificationReport:
    """`replayed` records, `uncounted` attempts among them, `unfinished` games.

    `is_over`: no game or round remains. `decisions` are the organiser's and cannot be verified. `chance`: source of
    randomness, checked when revealed. `fairness`: recomputed tests; None with a sample.
    """

    manifest: ManifestCheck
    problems: Sequence[str]
    contest: str = ""
    title: str = ""
    replayed: int = 0
    uncounted: int = 0
    unfinished: int = 0
    is_over: bool = False
    decisions: Sequence[str] = ()
    chance: str = ""
    joined: Sequence[FormerContest] = ()
    fairness: Sequence[FairnessTest] | None = None
    freeze: Freeze | None = None
    """Part of the log that the draw depends on; None without a log."""
    log: Checkpoint | None = None
    """Checkpoint of the verified log; None without a log."""
    witnesses: Sequence[Witnessed] = ()
    """Announced or named witnesses with signed sizes."""
    receipt: Receipt | None = None
    sampled_of: int | None = None
    """With a sample: number of finished games, of which `replayed - uncounted` were replayed."""
    changed_line_ends: int = 0
    """Number of files whose line ends were undone before the verification."""


def verify_export(
    directory: Path,
    public_key: Path | None,
    since: Path | None = None,
    receipt: Path | None = None,
    witness: Path | None = None,
    sample: Sample | None = None,
    track: Tracker = untracked,
) -> VerificationReport:
    """Verify an export. Its log must continue `since`, contain the upload of `receipt`, and be signed by `witness`.

    With a `sample` only its games are replayed. Other results are those of games.json; folders and fairness are not
    checked. If a copy tool changed line ends, a copy with the original ones is verified. Raises InputError for a
    missing export, key, checkpoint or receipt.
    """
    with original_line_ends(directory) as original:
        key = original.path_of(public_key, directory)
        report = _verify(original.directory, key, since, receipt, witness, sample, track)
        return replace(report, manifest=original.checked(report.manifest), changed_line_ends=original.changed)


def _verify(
    directory: Path,
    public_key: Path | None,
    since: Path | None,
    receipt: Path | None,
    witness: Path | None,
    sample: Sample | None,
    track: Tracker,
) -> VerificationReport:
    old = None if since is None else read_checkpoint(read_bounded(since, MAX_CHECKPOINT_BYTES), str(since))
    given = None if receipt is None else read_receipt(read_bounded(receipt, MAX_ANSWER_BYTES), str(receipt))
    named = [] if witness is None else read_witness_keys(witness)
    files = FileCheck(directory, public_key)
    key = files.checked.key
    witnesses: list[Witnessed] = []
    try:
        contest, problems = load_export(directory, is_claimed=sample is not None)
        named_in_manifest = files.checked.contest
        if named_in_manifest not in (contest.name, None):
            problems.insert(0, f"manifest.json names the contest {named_in_manifest!r}, contest.json {contest.name!r}")
        finished = [game.number for game in contest.games if game.state == GameState.DONE]
        chosen = None if sample is None else sample.choose(finished)
        log = read_log(directory, contest, key) if os.path.lexists(directory / LOG) else None
        checked = in_parallel(check_record, _jobs(directory, contest, chosen), files)
        count = len(finished) + sum(len(game.uncounted) for game in contest.games)
        records = list(track(checked, count, "replaying games"))
        problems += [problem for record in records for problem in record.problems]
        if sample is None:
            problems += _chain_problems(contest, records)
        counted = [record for record in records if record.state == AttemptState.ACCEPTED]
        contest = _with_results(contest, counted)
        problems += _state_problems(contest)
        outcomes = {(record.number, record.attempt): record.outcome for record in records}
        problems += () if log is None else pairing_problems(contest, log.lines, outcomes)
        # Problems make the state of the contest unreliable.
        is_over = not problems and contest.is_over
        if is_over:
            failed = contest.tournament.failed(contest.results, contest.out).items()
            problems += [
                f"{agent} failed in {percent(share)} of its games, but is not disqualified" for agent, share in failed
            ]
        computed = tables(contest)
        problems += [*_chance_problems(contest), *_table_problems(directory, contest, computed, sample is None)]
        decisions = [
            *(f"{agent} disqualified: {why}" for agent, why in contest.disqualified.items()),
            *(f"{agent} withdrew: {why}" for agent, why in contest.withdrawn.items()),
            *(f"{agent} entered after the start: {why}" for agent, (why, _) in contest.entered.items()),
        ]
        if log is None:
            problems.append("the export has no log, but its draw depends on one")
            problems += ["the export has no log"] if old or given or named else []
        else:
            digests = {(record.number, record.attempt): record.digest for record in records}
            problems += [*log.problems, *log_problems(contest, log, digests, outcomes), *draw_problems(contest, log)]
            problems += time_problems(contest, log.lines, records)
            problems += [*ladder_problems(contest, log, outcomes), *admission_problems(contest, log)]
            problems += witness_problems(directory, contest.snapshot, log, key, named, witnesses)
            problems += () if old is None else since_problems(log, old, key)
            problems += () if given is None else receipt_problems(log, given, key)
            decisions += [*logged_decisions(log), *undecided(contest, log), *uncounted_attempts(contest, log)]
        problems += _stray_problems(directory, contest, computed, log)
    except (*CONTRADICTIONS, MemoryError) as error:
        files.finish(track)
        manifest = files.checked
        return VerificationReport(manifest, [*manifest.problems, f"the export cannot be checked: {error}"])
    files.finish(track)
    manifest = files.checked
    return VerificationReport(
        manifest=manifest,
        problems=[*manifest.problems, *problems],
        contest=contest.name,
        title=contest.snapshot.title,
        replayed=sum(record.is_replayed for record in records),
        uncounted=sum(record.is_replayed and record.state != AttemptState.ACCEPTED for record in records),
        unfinished=len(contest.unfinished),
        is_over=is_over,
        decisions=decisions,
        chance=chance_words(contest.snapshot, contest.secret),
        joined=() if contest.joined is None else contest.joined.contests,
        fairness=contest.fairness if sample is None else None,
        freeze=contest.snapshot.freeze,
        log=None if log is None else log.checkpoint,
        witnesses=witnesses,
        receipt=given,
        sampled_of=None if sample is None else len(finished),
    )


# --- records ---------------------------------------------------------------------------------------------------------


def _jobs(directory: Path, contest: ContestView, chosen: Collection[int] | None) -> Iterator[VerifiedRecord]:
    """Draws may depend on withdrawn results."""
    entries = contest.snapshot.by_name()
    openings = contest.tournament.openings(contest.pairings)

    def job(game: PublishedGame, attempt: int, path: str, state: str, why: str = "") -> VerifiedRecord:
        return VerifiedRecord(
            number=game.number,
            directory=directory,
            name=path,
            game_id=game.id,
            spec=game.spec,
            attempt=attempt,
            state=state,
            why=why,
            names=(entries[game.first].calls_itself, entries[game.second].calls_itself),
            seed=contest.tournament.seed_of(game, attempt),
            openings=openings[game.number],
            is_replayed=chosen is None or game.number in chosen or state == AttemptState.ANNULLED,
        )

    for game in contest.games:
        if game.state == GameState.DONE:
            yield job(game, game.attempt, game.record_path, AttemptState.ACCEPTED)
    for game in contest.games:
        for attempt in game.uncounted:
            yield job(game, attempt.number, game.attempt_path(attempt.number), attempt.state, attempt.why)


def _chain_problems(contest: ContestView, records: Sequence[VerifiedRecord]) -> list[str]:
    by_number = {game.number: game for game in contest.games}
    ordered = sorted(records, key=lambda record: (record.number, record.attempt))
    games = [by_number[record.number] for record in ordered]
    agents = [game.agents for game in games]
    begins = {entry.name: entry.persistent for entry in contest.snapshot.entries if entry.persistent}
    return chain_problems(ordered, agents, begins)


def _with_results(contest: ContestView, records: Sequence[VerifiedRecord]) -> ContestView:
    by_number = {record.number: record for record in records}
    games = []
    for game in contest.games:
        record = by_number.get(game.number)
        result = None if record is None or record.outcome is None else record.outcome.row(game, game.attempt)
        if record is not None and not record.is_replayed:
            result = game.result
        games.append(replace(game, result=result, conditions=None if record is None else record.conditions))
    return replace(contest, games=games)


# --- schedule --------------------------------------------------------------------------------------------------------


_UNCOUNTED = frozenset({AttemptState.VOID, AttemptState.ANNULLED, AttemptState.SUPERSEDED})


def _state_problems(contest: ContestView) -> Iterator[str]:
    for game in contest.games:
        listed = [attempt.number for attempt in game.uncounted]
        listed += [game.attempt] if game.state == GameState.DONE else []
        if len(set(listed)) < len(listed):
            yield f"data/attempts.json: game {game.number} has an attempt twice, or one that counts"
        for state in sorted({attempt.state for attempt in game.uncounted} - _UNCOUNTED):
            yield f"data/attempts.json: game {game.number}: {state!r:.80} is not the state of an uncounted attempt"
        if game.state not in (*OPEN_STATES, GameState.DONE, GameState.CANCELLED):
            yield f"game {game.number}: {game.state!r} is not a state of a game"
        out = [agent for agent in game.agents if agent in contest.out]
        if game.state == GameState.CANCELLED and not out:
            yield f"game {game.number}: cancelled, but no agent is disqualified or withdrawn"
        gone = [(agent, contest.disqualified.get(agent), contest.withdrawn.get(agent)) for agent in out]
        why = [cancellation(agent, why, None) for agent, why, _ in gone if why is not None]
        why += [cancellation(agent, None, why) for agent, _, why in gone if why is not None]
        if game.state not in OPEN_STATES and game.why not in ([""] if game.state == GameState.DONE else why):
            yield f"game {game.number}: {game.why!r:.80} is not a valid reason for {game.state}"


def _chance_problems(contest: ContestView) -> Iterator[str]:
    snapshot, seed = contest.snapshot, contest.tournament.seed
    if seed is None and contest.is_over:
        yield f"the contest is over, but {CHANCE} does not reveal the secret seed"
    if snapshot.commitment is not None and seed is not None and not contest.is_over:
        yield f"{CHANCE} reveals the secret seed before the last game"
    ranks = [entry.rank for entry in snapshot.entries if entry.name not in contest.entered]
    if snapshot.seeding == "drawn" and seed is None:
        if sorted(ranks) != list(range(1, len(ranks) + 1)):
            yield "the agents' ranks are not 1, 2, 3, ..."
    # Listed seeding does not use the seed.
    elif ranks != ranks_of(len(ranks), snapshot.seeding, seed or 0):
        source = "the list" if snapshot.seeding == "listed" else "the contest's chance"
        yield f"the agents' ranks do not follow from {source}"


# --- tables ----------------------------------------------------------------------------------------------------------


def _table_problems(
    directory: Path, contest: ContestView, computed: Mapping[str, bytes], has_all_conditions: bool
) -> Iterator[str]:
    for name in HISTORIES if contest.joined is None else ():
        if os.path.lexists(directory / "data" / name):
            yield f"data/{name}: {JOINED}, on which it depends, is missing"
    for name, expected in computed.items():
        try:
            table = read_bounded(directory / "data" / name, MAX_TABLE_BYTES)
        except InputError as error:
            yield str(error)
            continue
        # Another version may describe the columns in other words.
        if name == README or (name in CERTIFICATE and not has_all_conditions):
            continue
        is_csv = name.endswith(".csv")
        right = _csv_of(directory, name.removesuffix(".csv"), computed) if is_csv else expected
        if wrong := difference(name, table, right):
            yield f"data/{name}: differs from the records: {wrong}"


def _csv_of(directory: Path, name: str, computed: Mapping[str, bytes]) -> bytes:
    expected = computed[f"{name}.csv"]
    try:
        table = read_bounded(directory / "data" / f"{name}.json", MAX_TABLE_BYTES)
        if table == computed[f"{name}.json"] or difference(f"{name}.json", table, computed[f"{name}.json"]):
            return expected
        rows = json.loads(table)
        if name == "crosstable":
            cells = zip(rows["agents"], rows["points"], strict=True)
            return write_rows([["agent", *rows["agents"]], *([agent, *points] for agent, points in cells)])
        return write_csv(next(csv.reader([expected.decode().partition("\r\n")[0]])), rows)
    except InputError:
        return expected  # the JSON file is reported separately


def difference(name: str, table: bytes, expected: bytes) -> str:
    """First difference of a CSV or JSON table from the expected one, or "".

    Only floats may differ, by `TOLERANCE`.
    """
    if table == expected:
        return ""
    is_csv, is_estimate = name.endswith(".csv"), name in CERTIFICATE
    try:
        if not is_csv:
            refuse_ambiguous(table, "it")
        read = _csv_values if is_csv else _json_values
        pairs = zip_longest(read(table), read(expected), fillvalue=("the end", ""))
        for (place, value), (expected_place, right) in pairs:
            slack = ROUNDED if is_estimate or place.endswith(":elo") else TOLERANCE
            if place != expected_place:
                return f"found {place}, expected {expected_place}"
            if (type(value), value) == (type(right), right):
                continue
            is_number = type(value) in (int, float) and type(right) is float
            if not is_number or not math.isclose(value, right, rel_tol=TOLERANCE, abs_tol=slack):  # type: ignore[arg-type]
                return f"{place} is {value!r:.80}, expected {right!r:.80}"
    except InputError as error:
        return str(error)
    except (ValueError, RecursionError, OverflowError, csv.Error) as error:
        return f"it cannot be read: {error}"
    return "its line ends or quotes differ" if is_csv else ""


def _csv_values(data: bytes) -> Iterator[tuple[str, object]]:
    heads: list[str] = []  # of the expected table, or the first line differs
    for line, row in enumerate(csv.reader(io.StringIO(data.decode(), newline=""), strict=True), 1):
        for column, cell in enumerate(row, 1):
            yield f"line {line}, {heads[column - 1] if column <= len(heads) else f'column {column}'}", cell
        heads = heads or row


def _json_values(data: bytes) -> Iterator[tuple[str, object]]:
    waiting = [("", json.loads(data.decode()))]
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, list):
            yield f"the length of {place or 'the table'}", len(value)
            waiting += [(f"{place}[{at}]", value[at]) for at in reversed(range(len(value)))]
        elif isinstance(value, dict):
            keys = sorted(value)
            yield f"the list of keys of {place or 'the table'}", ", ".join(keys)
            waiting += [(f"{place}.{key}", value[key]) for key in reversed(keys)]
        else:
            yield place, value


# --- files -----------------------------------------------------------------------------------------------------------

LANGUAGE = r"([a-z]{2,3}(-[A-Za-z]{2,4})?/)?"
"""Pattern of the folder of a page's language."""
PAGE_NAME = r"[a-z][a-z0-9_-]*\.html"
SIGNED_NAME = r"manifest\.json|manifest\.sig|organiser\.pem|[a-z]+\.(css|js|mjs)"
"""Patterns of the other files of every export that only the signature covers."""

_PAGE = re.compile(
    rf"{LANGUAGE}((?P<kind>games|agents|pairs|rounds)/(?P<numbers>[0-9]{{1,9}}(-[0-9]{{1,9}})?)\.(html|png)|{PAGE_NAME})"
)
_TOP = re.compile(rf"{SIGNED_NAME}|(contest|chance|joined)\.json|games\.pgn")
_WITNESSED = re.compile(r"log/witness/[0-9a-f]{8}")


def _stray_problems(
    directory: Path, contest: ContestView, computed: Collection[str], log: ReadLog | None
) -> Iterator[str]:
    known = {f"data/{name}" for name in (*computed, *CERTIFICATE, *HISTORIES)}
    known |= {game.record_path for game in contest.games if game.state == GameState.DONE}
    known |= {game.attempt_path(attempt.number) for game in contest.games for attempt in game.uncounted}
    if log is not None:
        known |= {f"{LOG}{CHECKPOINT}", *(f"{LOG}{path}" for path in log.files)}
    names = sorted(file_names(directory, []))
    added = [name for name in names if name.startswith(FOLDER)]
    yield from _page_problems(directory, contest, added)
    known.update(added)
    for name in names:
        is_fixed = any(kind.fullmatch(name) for kind in (_TOP, _WITNESSED))
        if name not in known and not is_fixed and not _is_page(contest, name):
            yield f"{name}: unexpected file"


def _page_problems(directory: Path, contest: ContestView, names: Sequence[str]) -> Iterator[str]:
    """Render each of the pages `names` of an export again. A page whose package is missing is a problem."""
    for name in names:
        try:
            page = PAGES.entry(name.removeprefix(FOLDER).removesuffix(".html"))
            if page.path != name:
                yield f"{name}: unexpected file"
            elif page.render(contest) != read_bounded(directory / name, MAX_PAGE_BYTES):
                yield f"{name}: not the page that follows from the results"
        except InputError as error:
            yield f"{name}: it cannot be verified: {error}"
        except Exception as error:  # noqa: BLE001 code of another package
            yield f"{name}: it cannot be verified: {type(error).__name__}: {error}"


def _is_page(contest: ContestView, name: str) -> bool:
    found = _PAGE.fullmatch(name)
    if found is None or found["kind"] is None:
        return found is not None
    most = {
        "games": max((game.number for game in contest.games), default=0),
        "rounds": max((pairing.round for pairing in contest.pairings), default=0),
    }.get(found["kind"], len(contest.snapshot.entries))
    numbers = found["numbers"].split("-")
    return len(numbers) == 1 + (found["kind"] == "pairs") and all(1 <= int(number) <= most for number in numbers)
