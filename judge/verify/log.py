"""Verifies an export's log: it equals the journal and has every result, void and decision of the tables."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from judge.base.durable_files import read_bounded
from judge.base.errors import InputError
from judge.contest_games import AttemptState, GameState, PublishedGame, schedule_digest
from judge.journal.codec import UnknownLine, event_names, kind_of
from judge.journal.events import (
    Abandoned,
    Accepted,
    AdmissionsFrozen,
    AdmissionsReopened,
    Announced,
    Annulled,
    AttemptEvent,
    Created,
    Disqualified,
    Entered,
    LockedIn,
    NotEntered,
    Paused,
    Rated,
    Resumed,
    Scheduled,
    SeasonEnded,
    Started,
    Stopped,
    SubmissionChanged,
    SubmissionState,
    Superseded,
    Voided,
    Withdrawn,
)
from judge.publish.load import DOCUMENT
from judge.publish.model import PublishedContest
from judge.referee.verify import MAX_MEASURED_VALUE
from judge.store.types import (
    ENTERS,
    JournalLine,
    season_end_text,
)
from judge.tournament.formats.ladder import Ladder
from judge.tournament.snapshot import terms_digest
from judge.transparency.checkpoint import MAX_CHECKPOINT_BYTES, Checkpoint, origin_of, read_checkpoint
from judge.transparency.log import LOG
from judge.transparency.merkle import Tree
from judge.transparency.receipt import Receipt
from judge.transparency.tiles import CHECKPOINT, MAX_TILE_BYTES, read_leaves, tile_files
from judge.verify.line_times import time_of

Attempts = Mapping[tuple[int, int], str]
"""SHA-256 of published records, by game number and attempt."""


@dataclass(slots=True)
class ReadLog:
    """A verified log: checkpoint, tree, and the journal with the leaves' digests."""

    checkpoint: Checkpoint
    tree: Tree
    lines: Sequence[JournalLine]
    problems: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    """Paths of its tiles."""


def has_log(directory: Path) -> bool:
    """Whether an export has a log; early versions had none."""
    return os.path.lexists(directory / LOG)


def read_log(directory: Path, contest: PublishedContest, key: Ed25519PublicKey) -> ReadLog:
    """Compare the log of an export with checkpoint, tiles and journal. Raises InputError."""
    checkpoint = read_checkpoint(read_bounded(directory / LOG / CHECKPOINT, MAX_CHECKPOINT_BYTES), LOG + CHECKPOINT)
    if checkpoint.size != len(contest.journal):
        raise InputError(f"{LOG}{CHECKPOINT}: {checkpoint.size} leaves, but the journal has {len(contest.journal)}")
    leaves = read_leaves(lambda path: read_bounded(directory / LOG / path, MAX_TILE_BYTES), checkpoint.size)
    tree = Tree(leaves)
    lines = [_with_digest(line, leaf) for line, leaf in zip(contest.journal, leaves, strict=True)]
    log = ReadLog(checkpoint, tree, lines)
    if checkpoint.origin != origin_of(contest.name):
        log.problems.append(f"{LOG}{CHECKPOINT}: of another log, {checkpoint.origin!r}")
    if not checkpoint.is_signed(key):
        log.problems.append(f"{LOG}{CHECKPOINT}: not signed by the organiser's key")
    if tree.root() != checkpoint.root:
        log.problems.append(f"{LOG}{CHECKPOINT}: its root is not that of the leaves")
    for path, data in tile_files(tree, lambda start, end: leaves[start:end]):
        log.files.append(path)
        if read_bounded(directory / LOG / path, MAX_TILE_BYTES) != data:
            log.problems.append(f"{LOG}{path}: not the hashes of the leaves")
    log.problems += [
        f"leaf {number} of the log differs from the line of the journal"
        for number, (line, leaf) in enumerate(zip(lines, leaves, strict=True))
        if line.leaf != leaf
    ]
    return log


def _with_digest(line: JournalLine, leaf: bytes) -> JournalLine:
    try:
        digest = json.loads(leaf).get("digest")
    except (ValueError, AttributeError, RecursionError):
        digest = None
    return replace(line, digest=digest if isinstance(digest, str) else None)


def since_problems(log: ReadLog, old: Checkpoint, key: Ed25519PublicKey) -> Iterator[str]:
    """Contradictions to an old checkpoint."""
    if not old.is_signed(key):
        yield "the old checkpoint is not signed by the organiser's key, so it proves nothing"
    elif old.origin != log.checkpoint.origin:
        yield f"the old checkpoint is of another log, {old.origin!r}"
    elif old.size > log.tree.size:
        yield f"the log has {log.tree.size} leaves, but the old checkpoint has {old.size}: leaves were removed"
    elif log.tree.root(old.size) != old.root:
        yield (
            f"the first {old.size} leaves of the log differ from those of the old checkpoint: "
            "leaves were removed, added or changed"
        )


def receipt_problems(log: ReadLog, receipt: Receipt, key: Ed25519PublicKey) -> Iterator[str]:
    """Contradictions to a receipt."""
    if why := receipt.problem(key):
        yield f"the receipt proves nothing: {why}"
        return
    yield from since_problems(log, receipt.signed, key)
    if receipt.number >= log.tree.size or log.lines[receipt.number].leaf != receipt.leaf.encode():
        yield f"leaf {receipt.number} of the log differs from the receipt: {receipt.text} was removed or changed"


# --- the draw --------------------------------------------------------------------------------------------------------


def draw_problems(contest: PublishedContest, log: ReadLog) -> Iterator[str]:
    """Signs of a manipulated draw: the commitment must be the first leaf, and the terms must be locked in once,
    before the contest is created.
    """
    freeze, events = contest.snapshot.freeze, [kind_of(line.change) for line in log.lines]
    if freeze is None:
        if LockedIn in events or Announced in events:
            yield f"the log locks in the entries, but the draw in {DOCUMENT} does not depend on it"
        return
    if events[:1] != [Announced] or log.lines[0].digest != contest.snapshot.commitment:
        yield f"the log does not begin with the commitment of {DOCUMENT}"
    terms = terms_digest(contest.document)
    frozen = [number for number, event in enumerate(events, 1) if event is LockedIn]
    if frozen != [freeze.leaves] or Created in events[: freeze.leaves] or Created not in events:
        yield f"the log does not lock in the entries once, as leaf {freeze.leaves}, before the contest is created"
    elif {terms, freeze.entries} != {log.lines[freeze.leaves - 1].digest}:
        yield f"the entries and terms that the log locked in differ from those of {DOCUMENT}"
    elif log.tree.root(freeze.leaves).hex() != freeze.root:
        yield f"the draw depends on another log: the root of the first {freeze.leaves} leaves differs"
    yield from _entry_problems(contest, log.lines[: freeze.leaves])


def _entry_problems(contest: PublishedContest, lines: Sequence[JournalLine]) -> Iterator[str]:
    ends = {number: each for number, each in _submissions(lines).items() if each[0].state in ENTERS}
    names = {number: (change.name or "").lower() for number, (change, _) in ends.items()}
    latest = {names[number]: number for number in sorted(ends)}
    entries = {entry.submission: entry for entry in contest.snapshot.entries}
    for number, (_, digest) in ends.items():
        entry = entries.get(number)
        if entry is not None and names[number] not in ("", entry.name.casefold()):
            yield f"submission {number} takes part as {entry.name}, but passed with another name"
        if entry is None and latest[names[number]] == number:
            yield f"submission {number} passed before the entries were locked in, but does not take part"
        if entry is not None and entry.seat.digest != digest:
            yield f"submission {number} takes part with files that differ from those that passed"


def undecided(contest: PublishedContest, log: ReadLog) -> Iterator[str]:
    """Submissions that were undecided at lock-in."""
    freeze = contest.snapshot.freeze
    for number, (change, _) in _submissions(log.lines[: freeze.leaves] if freeze else ()).items():
        if words := _UNDECIDED.get(change.state):
            yield f"submission {number} {words} when the entries were locked in"


_UNDECIDED: Mapping[SubmissionState, str] = {
    SubmissionState.RECEIVED: "had no result",
    SubmissionState.FAILED: "had no result, because the judge's host failed during its check,",
}


def _submissions(lines: Sequence[JournalLine]) -> Mapping[int, tuple[SubmissionChanged, str | None]]:
    """The last change of each submission, with the line's digest."""
    last = {}
    for line in lines:
        if isinstance(change := line.change, SubmissionChanged):
            last[change.number] = change, line.digest
    return last


# --- tables ----------------------------------------------------------------------------------------------------------


_OF_SEASON = (SeasonEnded, AdmissionsFrozen, AdmissionsReopened, Rated)

_AFTER_CREATION = (
    *(Scheduled, Started, Accepted, Disqualified, Withdrawn, Entered, Resumed, Paused, Stopped),
    *_OF_SEASON,
)


def season_decisions(contest: PublishedContest, log: ReadLog) -> Iterator[str]:
    """The organiser's orders on a ladder's season and admissions, and submissions that could not enter."""
    ends = _season_end(contest)
    for line in log.lines:
        match line.change:
            case SeasonEnded(why) if ends is None or why != season_end_text(ends):
                yield f"the organiser ended the season: {why}"
            case AdmissionsFrozen(why):
                yield f"admissions frozen: {why}"
            case AdmissionsReopened(why):
                yield f"admissions reopened: {why}"
            case NotEntered(agent, why):
                yield f"not entered: {agent}: {why}"


def _season_end(contest: PublishedContest) -> datetime | None:
    form = contest.snapshot.format
    return form.ends if isinstance(form, Ladder) else None


def uncounted_attempts(contest: PublishedContest, log: ReadLog) -> Iterator[str]:
    """Started attempts that do not count and have no record to verify."""
    numbers = {game.id: game.number for game in contest.games}
    last: dict[tuple[str, int], JournalLine] = {}
    with_record: set[tuple[str, int]] = set()
    for line in log.lines:
        if isinstance(change := line.change, AttemptEvent) and change.game in numbers:
            key = (change.game, change.attempt)
            last[key] = line
            if line.digest is not None:
                with_record.add(key)
    found: dict[str, list[tuple[int, int]]] = {}
    for key, line in last.items():
        if not isinstance(line.change, Accepted | Started):
            kind = line.event if key in with_record else f"{line.event} without a record"
            found.setdefault(kind, []).append((numbers[key[0]], key[1]))
    for kind, each in sorted(found.items()):
        attempts = [f"{number}.{attempt}" for number, attempt in sorted(each)]
        more = f" and {len(attempts) - MAX_NAMED} more" if len(attempts) > MAX_NAMED else ""
        noun = "attempt does" if len(attempts) == 1 else "attempts do"
        yield f"{len(attempts)} {noun} not count, {kind} (game.attempt): {', '.join(attempts[:MAX_NAMED])}{more}"


MAX_NAMED = 20


def log_problems(contest: PublishedContest, log: ReadLog, records: Attempts) -> Iterator[str]:
    """Differences between log and tables."""
    story = _SubmissionHistory(contest)
    for number, line in enumerate(log.lines):
        for problem in story.take(line):
            yield f"leaf {number} of the log, {line.event}: {problem}"
    yield from story.end(records)


class _SubmissionHistory:
    """Reads a log; each line must be possible after the previous ones."""

    def __init__(self, contest: PublishedContest) -> None:
        self._contest = contest
        self._games = {game.id: game for game in contest.games}
        self._schedule = sorted(contest.games, key=lambda game: game.number)
        self._scheduled: set[str] = set()
        self._created = False
        self._is_open = True
        self._ends = _season_end(contest)
        self._has_ended = False
        self._is_frozen = False
        self._replaced = ""
        """Agent that the next line withdraws."""
        self._out: list[tuple[str, str]] = []
        self._withdrawn: set[str] = set()
        self._coming = set(contest.entered)
        self._running: dict[str, int] = {}
        self._done: dict[str, int] = {}
        self._last: dict[str, int] = {}
        self._ended: dict[str, dict[int, JournalLine]] = {game: {} for game in self._games}

    def take(self, line: JournalLine) -> Iterator[str]:
        if line.event not in event_names():
            yield "judge writes no such event"
        if not 0 <= (line.attempt or 0) <= MAX_MEASURED_VALUE:
            yield "impossible number of an attempt"
        kind = kind_of(line.change)
        if issubclass(kind, _AFTER_CREATION) and not self._created:
            yield "it precedes the creation of the contest"
        replaced, self._replaced = self._replaced, ""
        if replaced and not (isinstance(line.change, Withdrawn) and line.change.agent == replaced):
            yield f"it is not the withdrawal of {replaced}, which the last entry replaces"
        match line.change:
            case _ if kind is Created:
                document = hashlib.sha256(f"{self._contest.document}\n".encode()).hexdigest()
                if self._created or line.digest != document:
                    yield "it is of another contest.json"
                self._created = True
            case Scheduled(number):
                new = self._schedule[len(self._scheduled) :][:number]
                if schedule_digest(new) != line.digest:
                    yield "the games of the schedule differ"
                self._scheduled |= {game.id for game in new}
                gone = {agent for game in new for agent in (game.first, game.second) if agent in self._withdrawn}
                if gone:
                    yield f"a game of {min(gone)}, which had withdrawn"
                if self._has_ended or self._is_at_end(line):
                    yield "a game was drawn after the end of the season"
                early = self._coming & {agent for game in new for agent in (game.first, game.second)}
                if early:
                    yield f"a game of {min(early)}, which had not entered"
            case Disqualified(agent, why):
                self._out.append((agent, why))
            case Entered(agent, why):
                known, entry = self._contest.entered.get(agent, ("", ""))
                if (
                    agent not in self._coming
                    or known != why
                    or hashlib.sha256(entry.encode()).hexdigest() != line.digest
                ):
                    yield "the tables do not contain this entry"
                if self._is_frozen:
                    yield f"{agent} entered while admissions were frozen"
                yield from self._of_version(agent)
                self._coming.discard(agent)
            case Withdrawn(agent, why):
                if agent in self._withdrawn or self._contest.withdrawn.get(agent) != why:
                    yield "the tables do not contain this withdrawal"
                self._withdrawn.add(agent)
            case Resumed() | Paused() | Stopped():
                self._is_open = isinstance(line.change, Resumed)
            case _ if issubclass(kind, _OF_SEASON):
                yield from self._of_season(line)
            case UnknownLine() if kind is Scheduled:
                yield "the games of the schedule differ"
            case Started() | Accepted() | Voided() | Abandoned() | Superseded() | Annulled():
                yield from self._of_attempt(line, line.change)

    def _of_version(self, agent: str) -> Iterator[str]:
        entries = self._contest.snapshot.by_name()
        parent = entries[agent].parent if agent in entries else ""
        if not parent:
            return
        if parent not in entries or parent in self._coming or entries[parent].author != entries[agent].author:
            yield f"{agent} is a new version of {parent}, which has not entered, or is of another author"
        elif sum(entry.parent == parent for entry in entries.values()) > 1:
            yield f"{parent} has several new versions"
        elif parent not in self._withdrawn and not any(agent == parent for agent, _ in self._out):
            self._replaced = parent

    def _is_at_end(self, line: JournalLine) -> bool:
        time = time_of(line)
        return self._ends is not None and time is not None and time >= self._ends

    def _of_season(self, line: JournalLine) -> Iterator[str]:
        if not isinstance(self._contest.snapshot.format, Ladder):
            yield "the contest is no ladder"
            return
        match line.change:
            case SeasonEnded(why):
                if self._has_ended:
                    yield "the season had ended before"
                if self._ends is not None and why == season_end_text(self._ends) and not self._is_at_end(line):
                    yield "it is earlier than the end of the season"
                self._has_ended = True
            case AdmissionsFrozen() | AdmissionsReopened():
                is_frozen = isinstance(line.change, AdmissionsFrozen)
                if self._is_frozen == is_frozen:
                    yield f"admissions were {'frozen' if self._is_frozen else 'open'} before"
                self._is_frozen = is_frozen

    def _of_attempt(self, line: JournalLine, event: AttemptEvent) -> Iterator[str]:
        game, attempt = event.game, event.attempt
        is_running = self._running.get(game) == attempt
        if game not in self._games:
            yield f"unknown game {game!r:.80}"
            return
        if isinstance(event, Started):
            yield from self._of_start(game, attempt)
            self._last[game] = self._running[game] = attempt
            self._done.pop(game, None)
            return
        if not 1 <= attempt <= self._last.get(game, 0):
            yield f"attempt {attempt} was not started"
            return
        if isinstance(event, Superseded):
            if is_running:
                yield f"attempt {attempt} was running, so it cannot be superseded"
            elif attempt not in self._ended[game]:
                yield f"attempt {attempt} had not ended"
            self._ended[game][attempt] = line
        elif isinstance(event, Annulled):
            if not is_running and self._done.get(game) != attempt:
                yield f"attempt {attempt} was not running and has no counted result"
            self._running.pop(game, None)
            self._done.pop(game, None)
            before = self._ended[game].get(attempt)
            self._ended[game][attempt] = replace(line, digest=None if before is None else before.digest)
        elif not is_running:
            yield f"attempt {attempt} was not running"
        else:
            del self._running[game]
            self._ended[game][attempt] = line
            if isinstance(event, Accepted):
                self._done[game] = attempt

    def _of_start(self, game: str, attempt: int) -> Iterator[str]:
        last = self._last.get(game, 0)
        if game not in self._scheduled:
            yield "the game was not scheduled"
        if not self._is_open:
            yield "the contest was not open"
        if attempt != last + 1:
            yield f"attempt {attempt} does not follow {last}"
        if game in self._running:
            yield f"attempt {self._running[game]} of the game has not ended"
        if game in self._done:
            yield f"the game already has a result, of attempt {self._done[game]}"
        found = self._games[game]
        out = {agent for agent, _ in self._out}
        gone = [agent for agent in (found.first, found.second) if agent in out]
        if gone:
            yield f"{gone[0]} was disqualified"
        left = self._withdrawn & {found.first, found.second} & self._contest.out.keys()
        if left:
            yield f"{min(left)} had withdrawn"

    def end(self, records: Attempts) -> Iterator[str]:
        if not self._created:
            yield "the log does not contain the creation of the contest"
        if len(self._scheduled) != len(self._schedule):
            yield f"the log schedules {len(self._scheduled)} games, the tables have {len(self._schedule)}"
        if sorted(self._contest.disqualified.items()) != sorted(self._out):
            yield "the log and the tables disqualify different agents"
        for agent in sorted(self._coming):
            yield f"the log does not contain the entry of {agent}"
        if self._replaced:
            yield f"the log does not contain the withdrawal of {self._replaced}"
        if self._withdrawn != self._contest.withdrawn.keys():
            yield "the log and the tables have different withdrawals"
        for game in self._schedule:
            yield from self._of_game(game, self._ended[game.id], records)
            is_running = game.state == GameState.RUNNING
            if (game.id in self._running) != is_running:
                attempt, state = self._running.get(game.id, 0), f"{game.state} in the tables"
                told = f"attempt {attempt} is running" if attempt else "no attempt is running"
                yield f"game {game.number}: {told} in the log, but it is {state} in the tables"

    def _of_game(self, game: PublishedGame, ended: Mapping[int, JournalLine], records: Attempts) -> Iterator[str]:
        listed: dict[int, str] = {attempt.number: attempt.state for attempt in game.uncounted}
        if game.state == GameState.DONE:
            listed[game.attempt] = AttemptState.ACCEPTED
        for attempt, state in listed.items():
            line = ended.get(attempt)
            if line is None or line.event != state:
                told = "nothing" if line is None else line.event
                yield f"game {game.number}: attempt {attempt} is {told} in the log, {state} in the tables"
            elif line.digest != records.get((game.number, attempt)):
                yield f"game {game.number}: the record of attempt {attempt} differs from the log"
        for each in game.uncounted:
            if each.number in ended and ended[each.number].text != each.why:
                yield f"game {game.number}: log and tables have different reasons of attempt {each.number}"
        for attempt, line in ended.items():
            if line.digest is not None and attempt not in listed:
                yield f"game {game.number}: attempt {attempt} is {line.event} in the log, but missing in the tables"
