"""The referee's state of one seat, and of a running conversation with it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from judge.games.types import AgentFault
from judge.protocols.types import AgentProtocol, Clock, Note, Open, Wait
from judge.referee.blame import Evidence, Void
from judge.referee.clock import Deadline, SeatClock
from judge.referee.transcript import EntryKind
from judge.sandbox.box import ProcessReport

TURNS = (Wait.TURN, Wait.ROW, Wait.PERSON)
"""The waits that count as time of a turn."""

KEPT_NOTES = 200
"""How many notes a seat are stored; the transcript has everything."""

KEPT_NOTE_CHARACTERS = 1 << 20
"""How long all stored notes of a seat may be together; the note that exceeds it is the last."""

_NO_DEADLINE = Deadline(0, None, 0)


def counted(data: bytes, least: int) -> int:
    """What a read counts toward the bounds of a turn and a game: its bytes, or `least` for each line and for the read.

    So nobody gets more entries in a transcript than bytes, however little stands in each. `\\r\\n` ends one line.
    """
    return max(len(data), least * max(1, data.count(b"\n"), data.count(b"\r"))) if data else 0


class Ply(NamedTuple):
    """One answer: the seat, the text, the time charged in nanoseconds, what the agent reported of its search, and the
    memory that its box used afterwards (None if unknown)."""

    seat: int
    said: str
    charged_ns: int
    search: Mapping[str, str]
    memory_bytes: int | None = None


@dataclass(slots=True)
class Side:
    """The referee's state of one seat."""

    protocol: AgentProtocol
    clock: SeatClock
    opening: Open
    least_bytes: int = 1
    """The least that a line counts; see `judge.referee.policy.BytesPolicy`."""
    about: Mapping[str, str] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    fault: AgentFault | None = None
    evidence: Evidence | None = None
    turn_bytes: int = 0
    """What it has printed since its last answer, as `counted`."""
    game_bytes: int = 0
    stdout_ended: bool = False
    report: ProcessReport | None = None
    killed_for_memory: bool = False
    has_started: bool = False
    is_out: bool = False
    """Its fault is found: it gets no more requests, and its protocol gets no more of its output."""
    is_ended: bool = False
    """The judge ended it and no longer reads its output."""
    _room_for_notes: int = KEPT_NOTE_CHARACTERS

    @property
    def is_dead(self) -> bool:
        """Whether no answer can come any more."""
        return self.stdout_ended and self.report is not None

    @property
    def is_living(self) -> bool:
        """Whether its process was started and may still run."""
        return self.has_started and not self.is_dead and not self.is_ended

    def see(self, kind: EntryKind, data: bytes) -> None:
        """Note what happened to the seat, whichever seat is asked."""
        if kind is EntryKind.READ:
            count = counted(data, self.least_bytes)
            self.turn_bytes += count
            self.game_bytes += count
            self.stdout_ended = self.stdout_ended or not data
        elif kind is EntryKind.REPORT:
            report = ProcessReport.decode(data)
            if report.kind != "started":
                self.report = report
        elif kind is EntryKind.OOM:
            self.killed_for_memory = True

    def renew(self) -> None:
        """Begin again with a new process."""
        self.stdout_ended, self.report, self.is_ended = False, None, False

    def keep(self, note: Note) -> None:
        """Store a note unless there are too many."""
        if len(self.notes) < KEPT_NOTES and self._room_for_notes > 0:
            self.notes.append(note)
            self._room_for_notes -= len(note.text)


class FaultError(Exception):
    """A conversation cannot continue; carries the verdict of the blame table."""

    def __init__(self, verdict: AgentFault | Void) -> None:
        super().__init__(verdict.reason)
        self.verdict = verdict


@dataclass(slots=True)
class Dialogue:
    """A running conversation: what the agent is waited for, since when and until when."""

    wait: Wait | None = None
    since: int = 0
    deadline: Deadline = _NO_DEADLINE
    alarm_before_ns: int | None = None
    """How long before the deadline the protocol is to be woken."""
    alarm_ns: int | None = None
    """When the protocol is to be woken, independent of the deadline."""
    search: dict[str, str] = field(default_factory=dict)
    """What the agent reported of its search: the latest value of each keyword."""
    paused_ns: int = 0
    """For how long the judge's process did not run since `since`. Nobody knows when in it an agent answered."""
    overslept_ns: int = 0
    """How late the judge woke up at the deadline though no work of the agent's kept it."""
    charged_ns: int = 0
    """Time of turns: neither start-up nor sync."""
    memory_bytes: int | None = None
    """What the box used when it was frozen after the answer."""

    @property
    def alarm_at(self) -> int | None:
        """When the protocol is to be woken, if that is in the future and before the deadline."""
        if self.alarm_ns is not None:
            return self.alarm_ns if self.alarm_ns < self.over_at else None
        return None if self.alarm_before_ns is None else self.deadline.ns - self.alarm_before_ns

    def miss(self, kind: EntryKind, span_ns: int, now: int) -> None:
        """Note the part of a pause up to `now` that is in this wait, or of oversleeping that is after its deadline."""
        if kind is EntryKind.PAUSED:
            self.paused_ns += max(0, min(span_ns, now - self.since))
        else:
            self.overslept_ns += max(0, min(span_ns, now - self.over_at))

    def wake(self, at_ns: int | None = None, before_ns: int | None = None) -> None:
        """Set the alarm for a moment, or for a time before the deadline; without either, remove it."""
        self.alarm_ns, self.alarm_before_ns = at_ns, before_ns

    @property
    def over_at(self) -> int:
        """When the agent has had all its time, even if it could not run while the judge did not."""
        return self.deadline.ns + self.paused_ns

    def elapsed_ns(self, now: int) -> int:
        """The time of the wait that is the agent's: without what the judge missed."""
        return now - self.since - self.paused_ns - self.overslept_ns

    def shown(self, clock: SeatClock, now: int) -> Clock:
        """The time left that the agent is sent `now`. The current wait is charged later."""
        return clock.shown(self.wait, self.elapsed_ns(now))

    def settle(self, clock: SeatClock, now: int) -> None:
        """Charge the wait up to `now`."""
        if self.wait is not None:
            elapsed = self.elapsed_ns(now)
            clock.charge(self.wait, elapsed)
            if self.wait in TURNS:
                self.charged_ns += elapsed
            self.since, self.paused_ns, self.overslept_ns = now, 0, 0

    def change_wait(self, clock: SeatClock, wait: Wait, now: int | None) -> None:
        """Wait for another reason: the wait up to `now` is charged, and a new deadline begins. `now` is None while the
        clock does not run."""
        if now is None:
            self.wait = wait
            return
        self.settle(clock, now)
        self.wait, self.since = wait, now
        self.set_deadline(clock)

    def set_deadline(self, clock: SeatClock) -> None:
        """Set the deadline of the wait that began at `since`."""
        if self.wait is None:
            raise TypeError("a protocol awaits nothing and has not answered")
        self.deadline = clock.deadline(self.wait, self.since)
