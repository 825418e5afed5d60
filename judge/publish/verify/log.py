"""Verifies an export's log: it equals the journal and has every result, void and decision of the tables."""

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from judge.base.durable_files import read_bounded
from judge.base.errors import InputError
from judge.contest_games import AttemptState, GameState, PublishedGame, schedule_digest
from judge.contest_view.export import DOCUMENT
from judge.contest_view.view import ContestView
from judge.journal.codec import Event, Line, UnknownLine, decode, kind_of
from judge.journal.events import (
    Accepted,
    AdmissionsFrozen,
    AdmissionsReopened,
    Announced,
    AttemptEvent,
    Created,
    Disqualified,
    Entered,
    LockedIn,
    Moment,
    NotEntered,
    Paused,
    Rated,
    Resumed,
    Revealed,
    RoundPlayed,
    Scheduled,
    SeasonEnded,
    SetAside,
    StandingsFrozen,
    Started,
    Stopped,
    SubmissionChanged,
    SubmissionState,
    Superseded,
    Voided,
    Withdrawn,
)
from judge.journal.sentences import text_of
from judge.journal.state import ContestState, JournalLine, state_after, withheld_round
from judge.publish.verify.line_times import time_of
from judge.publish.verify.records import Outcomes, result_of
from judge.referee.verify import MAX_MEASURED_VALUE
from judge.store.types import ENTERS, MAX_CLOCK_STEP
from judge.tournament.formats.ladder import Ladder
from judge.tournament.snapshot import terms_digest
from judge.transparency.checkpoint import MAX_CHECKPOINT_BYTES, Checkpoint, origin_of, read_checkpoint
from judge.transparency.log import LOG
from judge.transparency.merkle import CHECKPOINT, MAX_TILE_BYTES, Tree, read_leaves, tile_files
from judge.transparency.receipt import Receipt

_SALT = re.compile(r"[0-9a-f]{32}")

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


def read_log(directory: Path, contest: ContestView, key: Ed25519PublicKey) -> ReadLog:
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
    for path, data in tile_files(tree, lambda start, end: leaves[start:end], tree.size):
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
    """The line with what only its leaf has."""
    try:
        digest, salt = map(json.loads(leaf).get, ("digest", "salt"))
    except (ValueError, AttributeError, RecursionError):
        return line
    return replace(
        line, digest=digest if isinstance(digest, str) else None, salt=salt if isinstance(salt, str) else None
    )


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


def draw_problems(contest: ContestView, log: ReadLog) -> Iterator[str]:
    """Signs of a manipulated draw: the commitment must be the first leaf, and the terms must be locked in once,
    before the contest is created.
    """
    freeze, events = contest.snapshot.freeze, [kind_of(line.change) for line in log.lines]
    if freeze is None:
        yield f"the draw in {DOCUMENT} does not depend on the log, so the organiser could choose it"
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


def _entry_problems(contest: ContestView, lines: Sequence[JournalLine]) -> Iterator[str]:
    ends = {number: each for number, each in state_after(lines).submissions.items() if each[0].state in ENTERS}
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


def undecided(contest: ContestView, log: ReadLog) -> Iterator[str]:
    """Submissions that were undecided at lock-in."""
    freeze = contest.snapshot.freeze
    for number, (change, _) in state_after(log.lines[: freeze.leaves] if freeze else ()).submissions.items():
        if words := _UNDECIDED.get(change.state):
            yield f"submission {number} {words} when the entries were locked in"


_UNDECIDED: Mapping[SubmissionState, str] = {
    SubmissionState.RECEIVED: "had no result",
    SubmissionState.FAILED: "had no result, because the judge's host failed during its check,",
}


# --- tables ----------------------------------------------------------------------------------------------------------


_OF_SEASON = (SeasonEnded, AdmissionsFrozen, AdmissionsReopened, Rated)

_WITH_DIGESTS = (
    *(Accepted, Voided, Superseded),
    *(Announced, LockedIn, Created, Scheduled, Entered, SubmissionChanged),
)

_AFTER_CREATION = (
    *(Scheduled, Started, Accepted, Disqualified, Withdrawn, Entered, Resumed, Paused, Stopped),
    *(StandingsFrozen, RoundPlayed, Revealed),
    *_OF_SEASON,
)


def logged_decisions(log: ReadLog) -> Iterator[str]:
    """The organiser's orders on a ladder's season and admissions, agents that could not enter, and withheld results."""
    for line in log.lines:
        match line.change:
            case SeasonEnded(why=str() as why):
                yield f"the organiser ended the season: {why}"
            case AdmissionsFrozen(why):
                yield f"admissions frozen: {why}"
            case AdmissionsReopened(why):
                yield f"admissions reopened: {why}"
            case NotEntered(agent, why):
                yield f"not entered: {agent}: {why}"
            case StandingsFrozen() | Revealed():
                yield f"{kind_of(line.change).HEAD.lower()} at {line.at}: {line.text}"
    if (first := state_after(log.lines).withheld_from) is not None:
        yield f"results from round {first} on are not revealed: this export is not for publication"


def uncounted_attempts(contest: ContestView, log: ReadLog) -> Iterator[str]:
    """Started attempts that do not count and have no record to verify."""
    games, found = state_after(log.lines).games, defaultdict[str, list[tuple[int, int]]](list)
    for game in contest.games:
        for attempt, (event, digest) in games[game.id].ended.items():
            if not isinstance(event, Accepted):
                words = str(event.NAME) + (" without a record" if digest is None else "")
                found[words].append((game.number, attempt))
    for kind, each in sorted(found.items()):
        attempts = [f"{number}.{attempt}" for number, attempt in sorted(each)]
        more = f" and {len(attempts) - MAX_NAMED} more" if len(attempts) > MAX_NAMED else ""
        noun = "attempt does" if len(attempts) == 1 else "attempts do"
        yield f"{len(attempts)} {noun} not count, {kind} (game.attempt): {', '.join(attempts[:MAX_NAMED])}{more}"


MAX_NAMED = 20


def log_problems(
    contest: ContestView, log: ReadLog, records: Attempts, outcomes: Outcomes = MappingProxyType({})
) -> Iterator[str]:
    """Lines that no judge writes in this contest, and differences between log and tables."""
    compared = _ComparedLog(contest, outcomes)
    for number, line in enumerate(log.lines):
        for problem in (*compared.take(line), *compared.check_data(line)):
            yield f"leaf {number} of the log, {line.event}: {problem}"
    yield from compared.end(records)


class _ComparedLog:
    """Reads a log; each line must be possible after the previous ones and agree with the tables."""

    def __init__(self, contest: ContestView, outcomes: Outcomes) -> None:
        self._contest = contest
        self._outcomes = outcomes
        self._entries = contest.snapshot.by_name()
        self._voids: dict[str, str] = {}
        """The last reason, by game."""
        self._schedule = sorted(contest.games, key=lambda game: game.number)
        self._places = {game.id: place for place, game in enumerate(self._schedule)}
        self._state = ContestState()
        self._rounds = {game.id: game.round for game in contest.games}
        form = contest.snapshot.format
        self._ends = form.ends if isinstance(form, Ladder) else None
        self._replaced = ""
        """Agent that the next line withdraws."""

    def take(self, line: JournalLine) -> Iterator[str]:
        event, kind, state = line.change, kind_of(line.change), self._state
        if kind is UnknownLine:
            yield "judge writes no such event"
        if not 0 <= (line.attempt or 0) <= MAX_MEASURED_VALUE:
            yield "impossible number of an attempt"
        if issubclass(kind, _AFTER_CREATION) and not state.is_created:
            yield "it precedes the creation of the contest"
        replaced, self._replaced = self._replaced, ""
        if replaced and not (isinstance(event, Withdrawn) and event.agent == replaced):
            yield f"it is not the withdrawal of {replaced}, which the last entry replaces"
        new: Sequence[PublishedGame] = ()
        match event:
            case _ if kind is Created and (state.is_created or line.digest != _digest(f"{self._contest.document}\n")):
                yield "it is of another contest.json"
            case Scheduled(count):
                new = self._schedule[state.scheduled : state.scheduled + count]
                if schedule_digest(new) != line.digest:
                    yield "the games of the schedule differ"
                if gone := {agent for game in new for agent in game.agents if agent in state.withdrawn}:
                    yield f"a game of {min(gone)}, which had withdrawn"
            case UnknownLine() if kind is Scheduled:
                yield "the games of the schedule differ"
            case Entered(agent, why):
                known, entry = self._contest.entered.get(agent, ("", ""))
                if not self._is_coming(agent) or (known, _digest(entry)) != (why, line.digest):
                    yield "the tables do not contain this entry"
            case Withdrawn(agent, why) if agent in state.withdrawn or self._contest.withdrawn.get(agent) != why:
                yield "the tables do not contain this withdrawal"
            case _ if issubclass(kind, _OF_SEASON) and self._contest.has_rounds:
                yield "the contest is no ladder"
                return
            case _ if isinstance(event, AttemptEvent) and event.game not in self._places:
                yield f"unknown game {event.game!r:.80}"
                return
            case Started(game) if self._places[game] >= state.scheduled:
                yield "the game was not scheduled"
            case StandingsFrozen(first):
                yield from self._freeze_problems(line, first)
        yield from self._salt_problems(line, min((game.round for game in new), default=None))
        yield from state.apply(Created(0) if kind is Created else event, line.digest)
        match event:
            case Scheduled():
                if self._is_at_end(line) and not state.has_ended:
                    yield "a game was drawn after the end of the season"
                if early := {agent for game in new for agent in game.agents if self._is_coming(agent)}:
                    yield f"a game of {min(early)}, which had not entered"
            case Entered(agent):
                yield from self._of_version(agent)
            case SeasonEnded(ends=Moment() as ends) if ends.time != self._ends:
                yield "the season does not end at this moment"
            case SeasonEnded(ends=Moment()) if not self._is_at_end(line):
                yield "it is earlier than the end of the season"
            case Started(game):
                agents = self._schedule[self._places[game]].agents
                if out := [agent for agent in agents if agent in state.disqualified]:
                    yield f"{out[0]} was disqualified"
                if (left := state.withdrawn.keys() & agents) and self._contest.snapshot.format.withdrawal == "annuls":
                    yield f"{min(left)} had withdrawn"

    def _freeze_problems(self, line: JournalLine, first: int) -> Iterator[str]:
        snapshot, time = self._contest.snapshot, time_of(line)
        at = None if snapshot.withholding is None else snapshot.withholding.at
        if snapshot.withheld_from != first and (at is None or (time is not None and time + MAX_CLOCK_STEP < at)):
            yield f"the terms do not withhold results from round {first} on"

    def _salt_problems(self, line: JournalLine, scheduled: int | None) -> Iterator[str]:
        """A withheld leaf has a salt, so nobody could guess it; no other leaf has one."""
        first = self._state.withheld_from
        played_in = self._rounds.get(line.game or "", scheduled)
        is_withheld = first is not None and withheld_round(line.change, played_in, first, 0) is not None
        if (line.salt is not None) != is_withheld:
            yield "it was withheld without a salt" if is_withheld else "it was not withheld, but has a salt"
        elif line.salt is not None and not _SALT.fullmatch(line.salt):
            yield "its salt is not of 32 hexadecimal digits"

    def check_data(self, line: JournalLine) -> Iterator[str]:
        """Data, columns and digest that no judge writes."""
        event = line.change
        if isinstance(event, UnknownLine) and _has_too_many_columns(event.line):
            yield "judge writes no game or attempt there"
            return
        if line.digest is not None and not issubclass(kind_of(event), _WITH_DIGESTS):
            yield "judge writes no digest there"
        if line.digest is None and isinstance(event, Accepted):
            yield "it has no digest of a record"
        if not self._is_written(event):
            yield f"judge does not write {line.text!r:.100} there"
        if isinstance(event, Voided):
            self._voids[event.game] = event.why

    def _is_written(self, event: Event) -> bool:
        match event:
            case UnknownLine():
                return kind_of(event) is UnknownLine  # an unknown event has its own problem
            case Created(count):
                return count == len(self._contest.snapshot.entries) - len(self._contest.entered)
            case Started(game, first=first, second=second) if game in self._places:
                return (first, second) == self._schedule[self._places[game]].agents
            case Accepted(game) if game in self._places:
                row = self._schedule[self._places[game]]
                result = result_of(row, event.attempt, self._outcomes)
                # Without a record there is nothing to compare.
                return result is None or event == Accepted.of_result(
                    game, event.attempt, row.agents, result.winner, result.reason
                )
            case SetAside(game, why=why):
                return self._voids.get(game) == why
            case Rated(agent):
                return agent in self._entries
            case Stopped(first, second):
                return {first, second} <= self._entries.keys()
        return True  # of agents: compared with the tables

    def _is_coming(self, agent: str) -> bool:
        return agent in self._contest.entered and agent not in self._state.entered

    def _of_version(self, agent: str) -> Iterator[str]:
        entries = self._entries
        parent = entries[agent].parent if agent in entries else ""
        if not parent:
            return
        has_entered = parent in entries and parent != agent and not self._is_coming(parent)
        if not has_entered or entries[parent].author != entries[agent].author:
            yield f"{agent} is a new version of {parent}, which has not entered, or is of another author"
        elif sum(entry.parent == parent for entry in entries.values()) > 1:
            yield f"{parent} has several new versions"
        elif parent not in self._state.withdrawn and parent not in self._state.disqualified:
            self._replaced = parent

    def _is_at_end(self, line: JournalLine) -> bool:
        time = time_of(line)
        return self._ends is not None and time is not None and time >= self._ends

    def end(self, records: Attempts) -> Iterator[str]:
        contest, state = self._contest, self._state
        if not state.is_created:
            yield "the log does not contain the creation of the contest"
        if state.scheduled < len(self._schedule):
            yield f"the log schedules {state.scheduled} games, the tables have {len(self._schedule)}"
        out = [(change.agent, change.why) for change in state.changes if isinstance(change, Disqualified)]
        if sorted(contest.disqualified.items()) != sorted(out):
            yield "the log and the tables disqualify different agents"
        for agent in sorted(contest.entered.keys() - state.entered):
            yield f"the log does not contain the entry of {agent}"
        if self._replaced:
            yield f"the log does not contain the withdrawal of {self._replaced}"
        if state.withdrawn.keys() != contest.withdrawn.keys():
            yield "the log and the tables have different withdrawals"
        for game in self._schedule:
            attempts = state.games[game.id]
            yield from _attempt_problems(game, attempts.ended, records)
            if (attempts.running is not None) != (game.state == GameState.RUNNING):
                running = f"attempt {attempts.running} is running" if attempts.running else "no attempt is running"
                yield f"game {game.number}: {running} in the log, but it is {game.state} in the tables"
            if attempts.counted is not None and game.state not in (GameState.DONE, ""):  # "" is a missing row
                counted = f"attempt {attempts.counted} counts"
                yield f"game {game.number}: {counted} in the log, but it is {game.state} in the tables"


def _attempt_problems(
    game: PublishedGame, ended: Mapping[int, tuple[AttemptEvent, str | None]], records: Attempts
) -> Iterator[str]:
    listed: dict[int, str] = {attempt.number: attempt.state for attempt in game.uncounted}
    if game.state == GameState.DONE:
        listed[game.attempt] = AttemptState.ACCEPTED
    for attempt, state in listed.items():
        event, digest = ended.get(attempt, (None, None))
        name = "nothing" if event is None else event.NAME
        if name != state:
            yield f"game {game.number}: attempt {attempt} is {name} in the log, {state} in the tables"
        elif digest != records.get((game.number, attempt)):
            yield f"game {game.number}: the record of attempt {attempt} differs from the log"
    for each in game.uncounted:
        if each.number in ended and text_of(ended[each.number][0]) != each.why:
            yield f"game {game.number}: log and tables have different reasons of attempt {each.number}"
    for attempt, (event, digest) in ended.items():
        if digest is not None and attempt not in listed:
            yield f"game {game.number}: attempt {attempt} is {event.NAME} in the log, but missing in the tables"


def _has_too_many_columns(line: Line) -> bool:
    fewer = (line._replace(attempt=None), line._replace(game=None, attempt=None))
    return any(each != line and not isinstance(decode(each), UnknownLine) for each in fewer)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
