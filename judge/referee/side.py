"""The referee's state of one seat, with its transitions, and of a conversation with it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from judge.games.types import AgentFault, Reply, Verdict
from judge.protocols.types import AgentProtocol, Clock, Note, Open, Wait
from judge.record.bounds import MIN_COUNT_BYTES
from judge.record.transcript import Entry, EntryKind, decode_number
from judge.referee.blame import Cause, Void
from judge.referee.clock import MS, Deadline, SeatClock
from judge.referee.requests import RanOn
from judge.sandbox.evidence import Evidence, ProcessReport

TURNS = (Wait.TURN, Wait.ROW, Wait.PERSON, Wait.SYNC)

MAX_STORED_NOTES = 200

MAX_NOTE_CHARACTERS = 1 << 20
"""Of all notes of a seat; the note that exceeds it is the last."""

BEYOND_MEMORY = "used more memory than its limit"
"""The start of a note."""

REPORT_GRACE_NS = 2_000_000_000
"""Between PID 1's report and the end of file, in either order."""

_NO_DEADLINE = Deadline(0, None, 0)


def counted(data: bytes, least: int) -> int:
    r"""What a read counts toward the output limits: its length, or `least` per line and read if that is more. A CR LF
    pair ends one line.
    """
    return max(len(data), least * max(1, data.count(b"\n"), data.count(b"\r"))) if data else 0


class Ply(NamedTuple):
    """An answer, and its box's memory afterwards (None: unknown)."""

    seat: int
    said: str
    charged_ns: int
    search: Mapping[str, str]
    memory_bytes: int | None
    reply: Reply


class SeatState(StrEnum):
    """What a seat's process may do."""

    UNOPENED = "unopened"
    """Its program has not run."""
    ASKED = "asked"
    """It runs in its own time."""
    STOPPED = "stopped"
    """Its opponent is asked. It is frozen, or ponders."""
    OUT = "out"
    """It has a fault, and gets no more requests."""
    CLOSING = "closing"
    """It runs to its end, which it may reach by itself."""
    EXITED = "exited"
    KILLED = "killed"


_LIMIT = "too much output or kernel memory"

TRANSITIONS: Mapping[SeatState, Mapping[SeatState, str]] = {
    SeatState.UNOPENED: {SeatState.ASKED: "start"},
    SeatState.ASKED: {
        SeatState.STOPPED: "answer",
        SeatState.OUT: "fault",
        SeatState.CLOSING: "goodbye, or a new process",
        SeatState.EXITED: "exit",
        SeatState.KILLED: _LIMIT,
    },
    SeatState.STOPPED: {
        SeatState.ASKED: "request",
        SeatState.OUT: "fault",
        SeatState.CLOSING: "goodbye",
        SeatState.EXITED: "exit",
        SeatState.KILLED: _LIMIT,
    },
    SeatState.OUT: {SeatState.CLOSING: "goodbye", SeatState.EXITED: "exit", SeatState.KILLED: _LIMIT},
    SeatState.CLOSING: {SeatState.EXITED: "exit", SeatState.KILLED: "its time is over"},
    SeatState.EXITED: {SeatState.ASKED: "restart", SeatState.KILLED: _LIMIT},
    SeatState.KILLED: {SeatState.ASKED: "restart"},
}
"""The events that lead from a state to others. Any other transition is a fault of the judge, and the game is void."""

LIVING = (SeatState.ASKED, SeatState.STOPPED, SeatState.OUT, SeatState.CLOSING)


class SeatStateError(Exception):
    """A transition that is not in the table: the judge's fault."""


@dataclass(slots=True)
class Side:
    """A seat: its state, its output and its readings."""

    protocol: AgentProtocol
    clock: SeatClock
    opening: Open
    game_limit: int
    """In bytes, as the next two."""
    turn_limit: int
    kernel_limit: int
    about: Mapping[str, str] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    fault: AgentFault | None = None
    evidence: Evidence | None = None
    """Of its fault."""
    turn_bytes: int = 0
    game_bytes: int = 0
    bytes_before: tuple[int, int] = (0, 0)
    """`turn_bytes` and `game_bytes` before the start-up with the current terms."""
    start_ns: int = 0
    """Charged for that start-up."""
    stdout_ended: bool = False
    report: ProcessReport | None = None
    killed_for_memory: bool = False
    kernel_bytes: int = 0
    """Above its limit; 0 if it never was."""
    state: SeatState = SeatState.UNOPENED
    unread: list[Entry] = field(default_factory=list)
    stopped_ns: int = 0
    """CPU time while stopped, in the game and in the opponent's last turn."""
    stopped_in_turn_ns: int = 0
    opponent_turns: int = 0
    lingered_ns: int = 0
    """After its fault or the game."""
    lingered_cpu_ns: int = 0
    _room_for_notes: int = MAX_NOTE_CHARACTERS

    @property
    def has_exited(self) -> bool:
        return self.report is not None and self.report.kind != "lost" and not self.killed_for_memory

    @property
    def has_fault(self) -> bool:
        """Its protocol gets no more requests and output."""
        return self.evidence is not None

    @property
    def is_living(self) -> bool:
        return self.state in LIVING

    def enter(self, state: SeatState) -> None:
        """Raises SeatStateError."""
        if state not in TRANSITIONS[self.state]:
            raise SeatStateError(f"a seat that is {self.state} cannot become {state}")
        self.state = state

    def run(self) -> None:
        """Call after a start or a thaw for its own time."""
        if self.state is not SeatState.ASKED:
            self.enter(SeatState.ASKED)

    def leave(self, state: SeatState) -> None:
        """Enter another state, if it lives."""
        if self.state in LIVING and self.state is not state:
            self.enter(state)

    @property
    def is_ending(self) -> bool:
        """One of report and end of file is there. The other comes at once or never: an agent may close its stdout."""
        return self.stdout_ended or self.report is not None

    @property
    def is_too_loud(self) -> bool:
        return self.cause_of_bytes() is not None

    @property
    def must_end(self) -> bool:
        """It gets no time for its goodbye."""
        return self.is_too_loud or self.kernel_bytes > self.kernel_limit

    def cause_of_kernel(self) -> Cause | None:
        return Cause.KERNEL_MEMORY if self.kernel_bytes > self.kernel_limit and not self.has_fault else None

    def cause_of_bytes(self) -> Cause | None:
        if self.game_bytes > self.game_limit:
            return Cause.GAME_BYTES
        return Cause.TURN_BYTES if self.turn_bytes > self.turn_limit else None

    def find_cause(self) -> Cause | None:
        """Too much memory or output, or an exit."""
        memory = Cause.MEMORY if self.killed_for_memory else None
        death = Cause.DEATH if self.state is SeatState.EXITED else None
        return self.cause_of_kernel() or memory or self.cause_of_bytes() or death

    def evidence_for(self, cause: Cause, measured: Evidence, times: Mapping[str, float | None]) -> Evidence:
        """Its readings, with what the referee knows and the `times` of the cause."""
        kernel_bytes = measured.kernel_peak_bytes
        if self.kernel_bytes:
            kernel_bytes = max(self.kernel_bytes, kernel_bytes or 0)
        game = {} if cause is Cause.MATCH_TIME else {"game_stalled_share": None, "game_slept_share": None}
        added = {
            "report": self.report,
            "kernel_peak_bytes": kernel_bytes,
            "kernel_limit_bytes": None if kernel_bytes is None else self.kernel_limit,
            "cpu_ms": None if measured.cpu_ns is None else measured.cpu_ns // MS,
            "bytes_read": self.game_bytes if cause is Cause.GAME_BYTES else self.turn_bytes,
        }
        return measured.model_copy(update={**added, **times, **game})

    def see(self, kind: EntryKind, data: bytes) -> None:
        if kind is EntryKind.READ:
            count = counted(data, MIN_COUNT_BYTES)
            self.turn_bytes += count
            self.game_bytes += count
            if not data:
                self.stdout_ended = True
                self.notice_exit()
        elif kind is EntryKind.REPORT:
            report = ProcessReport.decode(data)
            if report.kind != "started":
                self.report = report
                self.notice_exit()
        elif kind is EntryKind.OOM:
            self.killed_for_memory = True
        elif kind is EntryKind.KERNEL:
            self.kernel_bytes = decode_number(data)

    def notice_exit(self) -> None:
        if self.stdout_ended and self.report is not None:
            self.leave(SeatState.EXITED)

    def linger(self, ran: RanOn) -> None:
        self.lingered_ns += ran.ns
        self.lingered_cpu_ns += ran.cpu_ns or 0

    def renew(self) -> None:
        """Call before a restart."""
        self.stdout_ended, self.report = False, None

    def begin_terms(self, *, is_refuser: bool) -> None:
        """Call before the start-up with other terms. Only the seat that refused the former ones pays for theirs.

        A seat that exceeded a limit of output keeps its counts, because its reads have no other bound.
        """
        if not is_refuser:
            self.clock.charge(Wait.TURN, -self.start_ns)
            if not self.is_too_loud:
                self.turn_bytes, self.game_bytes = self.bytes_before
        self.bytes_before, self.start_ns = (self.turn_bytes, self.game_bytes), 0
        self.renew()

    @property
    def has_room_for_notes(self) -> bool:
        return len(self.notes) < MAX_STORED_NOTES and self._room_for_notes > 0

    def keep(self, note: Note) -> None:
        if self.has_room_for_notes:
            self.notes.append(note)
            self._room_for_notes -= len(note.text)


class FaultError(Exception):
    """The referee cannot continue with a seat. `times` are those of the cause, for its evidence.

    `is_settled`: the CPU time of the stopped opponent was read at that moment. `verdict` is None before it is judged.
    """

    def __init__(self, seat: int, cause: Cause, times: Mapping[str, float | None]) -> None:
        super().__init__(f"seat {seat}: {cause}")
        # Not in the class: compiled, an exception would lack them.
        self.is_settled = False
        self.verdict: AgentFault | Void | None = None
        self.seat, self.cause, self.times = seat, cause, times


@dataclass(slots=True)
class Dialogue:
    """A conversation: the current wait, its start and deadline."""

    clock: SeatClock
    wait: Wait | None = None
    since: int = 0
    deadline: Deadline = _NO_DEADLINE
    alarm_before_ns: int | None = None
    alarm_ns: int | None = None
    search: dict[str, str] = field(default_factory=dict)
    paused_ns: int = 0
    """Since `since`. Answers in a pause have no known time."""
    overslept_ns: int = 0
    given_ns: int = 0
    """Like `paused_ns`: CPU time of the stopped opponent."""
    charged_ns: int = 0
    """Without start-up."""
    memory_bytes: int | None = None

    @property
    def alarm_at(self) -> int | None:
        if self.alarm_ns is not None:
            return self.alarm_ns if self.alarm_ns < self.over_at else None
        return None if self.alarm_before_ns is None else self.deadline.ns - self.alarm_before_ns

    def miss(self, kind: EntryKind, span_ns: int, now: int) -> None:
        """Note a pause or a late wake-up, as far as it affects this wait."""
        if kind is EntryKind.PAUSED:
            missed_ns = max(0, min(span_ns, now - self.since))
            self.paused_ns += missed_ns
            if self.alarm_ns is not None:
                self.alarm_ns += missed_ns
        else:
            self.overslept_ns += max(0, min(span_ns, now - self.over_at))

    def wake(self, at_ns: int | None = None, before_ns: int | None = None) -> None:
        """Set the alarm to a moment, or to a time before the deadline; without arguments, remove it."""
        self.alarm_ns, self.alarm_before_ns = at_ns, before_ns

    @property
    def over_at(self) -> int:
        """The agent has had its full time without the judge's pauses."""
        return self.deadline.ns + self.paused_ns

    def elapsed_ns(self, now: int) -> int:
        """Without pauses."""
        return now - self.since - self.paused_ns - self.overslept_ns - self.given_ns

    def shown(self, now: int) -> Clock:
        return self.clock.shown(self.wait, self.elapsed_ns(now))

    def give(self, span_ns: int) -> None:
        self.given_ns += span_ns
        self.deadline = self.deadline._replace(ns=self.deadline.ns + span_ns)

    def give_back(self, span_ns: int) -> None:
        self.clock.charge(Wait.TURN, -span_ns)
        self.charged_ns = max(0, self.charged_ns - span_ns)

    def settle(self, now: int) -> None:
        if self.wait is not None:
            elapsed = self.elapsed_ns(now)
            self.clock.charge(self.wait, elapsed)
            if self.wait in TURNS:
                self.charged_ns += elapsed
            self.since, self.paused_ns, self.overslept_ns, self.given_ns = now, 0, 0, 0

    def change_wait(self, wait: Wait, now: int | None) -> None:
        """Charge the current wait and begin another kind. `now` is None while the clock is stopped."""
        if now is None:
            self.wait = wait
            return
        self.settle(now)
        self.wait, self.since = wait, now
        self.set_deadline()

    def expect_end(self, now: int) -> None:
        deadline = min(self.deadline.ns, now + REPORT_GRACE_NS)
        self.deadline = self.deadline._replace(ns=deadline, missed=self.deadline.missed or Verdict.TURN_TIME)

    def set_deadline(self) -> None:
        if self.wait is None:
            raise TypeError("a protocol awaits nothing and has not answered")
        self.deadline = self.clock.deadline(self.wait, self.since)
