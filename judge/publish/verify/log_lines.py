"""Verifies the lines of an export's log: they have every result, void and decision of the tables, in order of time, and
records were played between the start and the end of their attempts.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType

from judge.contest_games import AttemptState, GameState, PublishedGame, schedule_digest
from judge.contest_view.view import ContestView
from judge.journal.codec import Event, Line, UnknownLine, decode, kind_of
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
    StartTimeReached,
    Stopped,
    SubmissionChanged,
    SubmissionsClosed,
    SubmissionsOpened,
    Superseded,
    Voided,
    Withdrawn,
)
from judge.journal.state import ContestState, JournalLine, state_after, withheld_round
from judge.publish.verify.log import ReadLog
from judge.publish.verify.records import Outcomes, VerifiedRecord, result_of
from judge.referee.verify import MAX_MEASURED_VALUE
from judge.store.types import MAX_CLOCK_STEP
from judge.tournament.formats.ladder import Ladder

_SALT = re.compile(r"[0-9a-f]{32}")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}\+00:00")
_UTC = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3}([0-9]{3})?)?\+00:00")
_AT_A_MOMENT = (SubmissionsOpened, SubmissionsClosed, StartTimeReached)

Attempts = Mapping[tuple[int, int], str]
"""SHA-256 of published records, by game number and attempt."""

_OF_SEASON = (SeasonEnded, AdmissionsFrozen, AdmissionsReopened, Rated)

_WITHOUT_RESULT = (Voided, Abandoned, Superseded, Annulled)

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
    reasons = {attempt: event.why for attempt, (event, _) in ended.items() if isinstance(event, _WITHOUT_RESULT)}
    for each in game.uncounted:
        if each.number in ended and reasons.get(each.number) != each.why:
            yield f"game {game.number}: log and tables have different reasons of attempt {each.number}"
    for attempt, (event, digest) in ended.items():
        if digest is not None and attempt not in listed:
            yield f"game {game.number}: attempt {attempt} is {event.NAME} in the log, but missing in the tables"


def _has_too_many_columns(line: Line) -> bool:
    fewer = (line._replace(attempt=None), line._replace(game=None, attempt=None))
    return any(each != line and not isinstance(decode(each), UnknownLine) for each in fewer)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# --- times -----------------------------------------------------------------------------------------------------------


def time_of(line: JournalLine) -> datetime | None:
    """None if the line has no valid time."""
    try:
        return datetime.fromisoformat(line.at) if _TIME.fullmatch(line.at) else None
    except ValueError:
        return None


def time_problems(
    contest: ContestView, lines: Sequence[JournalLine], records: Sequence[VerifiedRecord]
) -> Iterator[str]:
    """Times that contradict the order of the log. A clock may be wrong by `MAX_CLOCK_STEP`."""
    before: datetime | None = None
    for number, line in enumerate(lines):
        time = time_of(line)
        if time is None:
            yield f"leaf {number} of the log, {line.event}: {line.at!r:.40} is not a time"
            continue
        if before is not None and time < before:
            yield f"leaf {number} of the log, {line.event}: {line.at} is before the time of the line before it"
        if isinstance(line.change, _AT_A_MOMENT) and line.change.at.time > time + MAX_CLOCK_STEP:
            yield f"leaf {number} of the log, {line.event}: {line.text!r:.80} is not a moment that had passed"
        before = time
    yield from _snapshot_problems(contest, lines)
    yield from _record_problems(contest, lines, records)


def _snapshot_problems(contest: ContestView, lines: Sequence[JournalLine]) -> Iterator[str]:
    """A snapshot is taken after the announcement, before the entries are locked in; without it, before the creation."""
    last = next((line for line in lines if isinstance(line.change, LockedIn | Created)), None)
    if last is None:
        return
    taken, is_announced = contest.snapshot.frozen_at, isinstance(last.change, LockedIn) and last.at != lines[0].at
    if not _is_between(taken, 0.0, time_of(lines[0]) if is_announced else None, time_of(last)):
        yield f"frozen_at {taken!r:.40} is not between the announcement and the lock-in in the log"


def _earliest(lines: Sequence[JournalLine]) -> Iterator[datetime | None]:
    """The time before each line. Lines of equal times may be those of a clock that was set back."""
    before: datetime | None = None
    last: datetime | None = None
    for line in lines:
        time = time_of(line)
        if time != last:
            before, last = last, time
            yield time
        else:
            yield before


def _record_problems(
    contest: ContestView, lines: Sequence[JournalLine], records: Sequence[VerifiedRecord]
) -> Iterator[str]:
    begins: dict[tuple[str, int], datetime | None] = {}
    ends: dict[tuple[str, int], datetime | None] = {}
    for line, earliest in zip(lines, _earliest(lines), strict=True):
        attempt = line.game or "", line.attempt or 0
        if isinstance(line.change, Started):
            begins.setdefault(attempt, earliest)
        elif isinstance(line.change, Accepted | Voided | Abandoned | Superseded):
            ends.setdefault(attempt, time_of(line))
    ids = {game.number: game.id for game in contest.games}
    for record in records:
        attempt = ids[record.number], record.attempt
        if not record.started_at or attempt not in begins or attempt not in ends:
            continue
        if not _is_between(record.started_at, record.seconds, begins[attempt], ends[attempt]):
            yield (
                f"{record.name}: started_at {record.started_at:.40} and {record.seconds:.0f} s are not between the "
                "start and the end of the attempt in the log"
            )


def _is_between(text: str, seconds: float, begin: datetime | None, end: datetime | None) -> bool:
    if not _UTC.fullmatch(text):
        return False
    try:
        time = datetime.fromisoformat(text)
        last = time + timedelta(seconds=seconds)
        is_after = begin is None or time >= begin - MAX_CLOCK_STEP
        return is_after and (end is None or last <= end + MAX_CLOCK_STEP)
    except (ValueError, OverflowError, TypeError):
        return False
