"""Loads a published contest from a store or an export, with joined former contests.

A store is trusted. An export's results are claims; `judge.publish.verify.export` recomputes them.
"""

import hashlib
import json
import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from judge.base.durable_files import read_bounded
from judge.base.errors import HostError, InputError
from judge.base.parsing import FrozenModel, parse, parse_foreign, refuse_ambiguous
from judge.base.text import printable, quote
from judge.contest.contest import Contest, has_begun
from judge.contest.foreign_store import open_foreign
from judge.contest.plan import Planned, load_plan
from judge.contest_games import Attempt, GameResult, GameState, Pairing, PublishedGame
from judge.games.types import Verdict
from judge.publish.joined import JOINED, MAX_JOINED_BYTES, FormerContest, Joined
from judge.publish.manifest import MANIFEST, MAX_MANIFEST_BYTES
from judge.publish.model import PublishedContest
from judge.publish.tables import AttemptRow, DisqualifiedRow, EnteredRow, GameRow, JournalRow, PairingRow, WithdrawnRow
from judge.record.policy import Policy
from judge.record.seeds import Key
from judge.store.types import JournalLine, state_after
from judge.tournament.comparable import policy_difference
from judge.tournament.schedule import Tournament
from judge.tournament.seeds import commitment_to
from judge.tournament.snapshot import Snapshot, read_snapshot, refuse_missing_pairings

DOCUMENT, CHANCE = "contest.json", "chance.json"

MAX_TABLE_BYTES = 256 << 20
"""Ten thousand games need 1 % of it."""

MAX_DOCUMENT_BYTES = 4 << 20
"""An entry needs about 700."""

MAX_PART_BYTES = 16 << 10
"""Characters of a policy or seat, which every scheduled game copies."""

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


# --- from a store ----------------------------------------------------------------------------------------------------


def load_store(contest: Contest) -> PublishedContest:
    """A contest's current state."""
    name = contest.name
    with contest.store.moment() as store:
        attempts = store.attempts(name)
        results = {result.id: result for result in store.results(name)}
        pairings = store.pairings(name)
        scheduled = store.games(name)
        journal = store.journal(name)
        entries = store.entries(name)
        document = store.document(name)
    uncounted: dict[str, list[Attempt]] = {}
    for attempt in attempts:
        result = results.get(attempt.game)
        if attempt.record is not None and (result is None or result.attempt != attempt.number):
            uncounted.setdefault(attempt.game, []).append(attempt)
    games = [PublishedGame.of(game, results.get(game.id), uncounted.get(game.id, ())) for game in scheduled]
    known, state = contest.first.by_name(), state_after(journal)
    late = {each.name: (state.entered[each.name], each.entry) for each in entries if each.name not in known}
    snapshot = contest.first.with_late(entry for _, entry in late.values())
    published = PublishedContest(
        snapshot, document, pairings, games, state.disqualified, journal, withdrawn=state.withdrawn, entered=late
    )
    return replace(published, secret=contest.secret) if published.is_over else published


# --- from an export --------------------------------------------------------------------------------------------------


def load_export(directory: Path) -> tuple[PublishedContest, list[str]]:
    """An export's contest without results, and games missing in schedule or table as problems.

    Raises InputError with the invalid file.
    """
    document, snapshot = _read_document(directory)
    entered: dict[str, tuple[str, str]] = {}
    if os.path.lexists(directory / "data" / "entered.json"):
        late = _read_table(directory, "entered", EnteredRow)
        if any(len(row.entry) > MAX_PART_BYTES or _depth(row.entry) > MAX_DEPTH for row in late):
            raise InputError(
                f"entered.json: an entry has more than {MAX_PART_BYTES} characters, or is nested too deeply"
            )
        for each in late:
            refuse_ambiguous(each.entry.encode(), f"entered.json: {quote(each.agent)}")
        snapshot = snapshot.with_late(row.entry for row in late)
        entered = {row.agent: (row.why, row.entry) for row in late}
        if list(entered) != [entry.name for entry in snapshot.entries[-len(late) :]]:
            raise InputError("entered.json: the names differ from those of the entries")
    secret = _read_secret(directory / CHANCE, snapshot)
    pairings = [
        Pairing(row.first, row.second, row.round, row.table, row.meeting, row.group)
        for row in _read_table(directory, "pairings", PairingRow)
    ]
    known = {*snapshot.by_name(), None}
    if unknown := [name for pairing in pairings for name in (pairing.first, pairing.second) if name not in known]:
        raise InputError(f"{directory / 'data/pairings.json'}: {quote(unknown[0] or '')} is not an entry of {DOCUMENT}")
    count = len(snapshot.entries) - len(entered)
    refuse_missing_pairings(snapshot.format, count, len(pairings), f"{DOCUMENT} and pairings.json")
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
        games.append(PublishedGame.of(listed, None, uncounted.get(game.number, ())))
    scheduled = {game.number for game in games}
    problems = [
        f"game {number} is missing in {'games.json' if number in scheduled else 'the schedule'}"
        for number in sorted(scheduled ^ rows.keys())
    ]
    out = {row.agent: row.why for row in _read_table(directory, "disqualified", DisqualifiedRow)}
    journal = [
        JournalLine(row.at, row.event, row.game, row.attempt, row.data)
        for row in _read_table(directory, "journal", JournalRow)
    ]
    document = document.removesuffix("\n")
    contest = PublishedContest(snapshot, document, pairings, games, out, journal, secret)
    joined, path = None, directory / JOINED
    if path.is_symlink() or path.exists():
        data = read_bounded(path, MAX_JOINED_BYTES)
        joined = parse_foreign(Joined, data, f"{path.name}: not a valid file of joined contests")
    if os.path.lexists(directory / "data" / "withdrawn.json"):
        rows_of_withdrawn = _read_table(directory, "withdrawn", WithdrawnRow)
        contest = replace(contest, withdrawn={row.agent: row.why for row in rows_of_withdrawn})
    return replace(contest, joined=joined, entered=entered), problems


def _read_document(directory: Path) -> tuple[str, Snapshot]:
    data = read_bounded(directory / DOCUMENT, MAX_DOCUMENT_BYTES)
    refuse_ambiguous(data, DOCUMENT)
    snapshot = read_snapshot(text := data.decode())
    for name, part in (("policy", snapshot.policy), *((entry.name, entry.seat) for entry in snapshot.entries)):
        if len(part.model_dump_json()) > MAX_PART_BYTES:
            raise InputError(f"{DOCUMENT}: {name:.60}: more than {MAX_PART_BYTES} characters")
    if len(snapshot.by_name()) < len(snapshot.entries):
        raise InputError(f"{DOCUMENT}: two entries have one name")
    if len({each.name for each in snapshot.witnesses}) < len(snapshot.witnesses):
        raise InputError(f"{DOCUMENT}: two witnesses have one name")
    if _depth(text) > MAX_DEPTH:
        raise InputError(f"{DOCUMENT}: values are nested deeper than {MAX_DEPTH}")
    return text, snapshot


def _depth(text: str) -> int:
    depth, waiting = 0, [json.loads(text)]
    while waiting := [
        inner
        for value in waiting
        if isinstance(value, list | dict)
        for inner in (value.values() if isinstance(value, dict) else value)
    ]:
        depth += 1
    return depth


def load_claimed(directory: Path) -> PublishedContest:
    """An export's contest with its claimed results. Raises InputError as `load_export`."""
    contest, problems = load_export(directory)
    if problems:
        raise InputError(f"{directory}: {problems[0]}; run judge contest verify {directory} for details")
    claims = claimed_results(directory, contest)
    claimed = replace(contest, games=[replace(game, result=claims[game.number]) for game in contest.games])
    try:
        for game in claimed.games:
            if (game.state == GameState.DONE) != (game.result is not None):
                raise ValueError(f"game {game.number} is {game.state}")
        claimed.table  # noqa: B018 - computed once
    except (ValueError, LookupError, ArithmeticError) as error:
        raise contradiction(directory, error) from None
    return claimed


def contradiction(directory: Path, error: Exception) -> InputError:
    """For tables that contradict each other."""
    said = printable(str(error), 300)
    return InputError(f"{directory}: its tables contradict each other: {said}; run judge contest verify {directory}")


def claimed_results(directory: Path, contest: PublishedContest) -> Mapping[int, GameResult | None]:
    """Results in games.json by number. Raises InputError."""
    rows = {row.number: row for row in _read_table(directory, "games", GameRow)}
    return {game.number: _claimed(rows[game.number], game.id) for game in contest.games if game.number in rows}


def _claimed(row: GameRow, game: str) -> GameResult | None:
    if row.verdict is None:
        return None
    try:
        faults = tuple(None if fault is None else Verdict(fault) for fault in (row.first_fault, row.second_fault))
        return GameResult(
            row.first,
            row.second,
            row.winner,
            Verdict(row.verdict),
            row.reason or "",
            row.result or "",
            (faults[0], faults[1]),
            (row.first_replies or 0, row.second_replies or 0),
            (row.first_charged_ms or 0.0, row.second_charged_ms or 0.0),
            row.round,
            row.table,
            row.leg,
            game,
            row.number,
            row.attempt or 0,
            row.record or "",
            row.seconds or 0.0,
            row.moves or "",
        )
    except ValueError as error:
        raise InputError(f"games.json: game {row.number}: {error}") from None


def _read_secret(path: Path, snapshot: Snapshot) -> Key | None:
    if not path.is_symlink() and not path.exists():
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


def load_any(path: Path, named: Collection[str] = (), store: str = "") -> PublishedContest:
    """The contest of a contest.toml, its folder, or an unverified export.

    See `judge.contest.foreign_store` for `named` and `store`. Raises InputError if not begun or a file is invalid.
    """
    if (path / DOCUMENT).is_file():
        return load_claimed(path)
    planned = load_plan(path)
    if not planned.has_no_store:
        with closing(open_foreign(planned, named, store)) as opened:
            if has_begun(opened, planned):
                return load_store(Contest(opened, planned))
    raise planned.not_begun()


def read_joined(planned: Planned, policy: Policy) -> tuple[Joined | None, Sequence[str]]:
    """The contests of [ratings], or why they are omitted. `policy`: locked in or planned."""
    chosen = planned.plan.ratings
    if not chosen.with_:
        return None, ()
    contests, problems = [], []
    for name in chosen.with_:
        try:
            contests.append(_former(planned, planned.folder / name, policy))
        except (InputError, HostError) as error:
            problems.append(str(error))
    if problems:
        return None, problems
    try:
        document = {"anchors": chosen.anchors, "contests": contests}
        return parse(Joined, document, f"{planned.path}: [ratings]"), ()
    except InputError as error:
        return None, [str(error)]


def with_joined(contest: PublishedContest, planned: Planned) -> tuple[PublishedContest, Sequence[str]]:
    """With the contests of [ratings], or why they are omitted."""
    joined, problems = read_joined(planned, contest.snapshot.policy)
    found = replace(contest, joined=joined)
    try:
        found.histories  # noqa: B018 - a missing or ambiguous anchor
    except InputError as error:
        return contest, [f"{planned.path}: [ratings]: {error}"]
    return found, problems


def former_problem(planned: Planned, name: str) -> str:
    """Why the contest `name` cannot be joined; or empty."""
    try:
        _former(planned, planned.folder / name, planned.policy)
    except (InputError, HostError) as error:
        return str(error).removeprefix(f"{planned.path}: [ratings] with: ").removesuffix("; leave it out")
    return ""


def _former(planned: Planned, path: Path, policy: Policy) -> FormerContest:
    contest = load_any(path, [planned.store_url])
    game, own = contest.snapshot.policy.game.name, policy.game.name
    if game != own:
        raise InputError(f"{planned.path}: [ratings] with: {path}: ratings of {game} cannot be used for {own}")
    if what := policy_difference(contest.snapshot.policy, policy):
        raise InputError(
            f"{planned.path}: [ratings] with: {path} has other rules or clocks ({what}), which makes the "
            "ratings incomparable; leave it out"
        )
    if contest.name == planned.name:
        raise InputError(f"{planned.path}: [ratings] with: {path} is of a contest of the same name; leave it out")
    manifest = None
    if (path / DOCUMENT).is_file():
        manifest = hashlib.sha256(read_bounded(path / MANIFEST, MAX_MANIFEST_BYTES)).hexdigest()
    return FormerContest.of(contest.as_rated, manifest)
