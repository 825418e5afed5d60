"""Two scripted agents and a clock that jumps, for the referee: a game of 200 moves takes milliseconds.

An agent is a function: the line it hears -> what it then does, each with the milliseconds of its own running time that
it takes. It only runs while it is thawed, as in a real box.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from judge.base.errors import HostError
from judge.referee.transcript import Entry, EntryKind, Transcript
from judge.referee.wire import Happening, Measured, RanOn, StoppedCpu
from judge.sandbox.box import ProcessReport, Readings

MS = 1_000_000
"""Nanoseconds of a millisecond."""


@dataclass(frozen=True)
class Say:
    """Bytes on stdout after `ms`."""

    data: bytes
    ms: float = 1.0


@dataclass(frozen=True)
class Do:
    """Something else after `ms`: a kind of entry with its bytes.

    PAUSED and OVERSLEPT are the judge's own: for as long as they say it looks neither at its agents nor at a deadline.
    """

    kind: EntryKind
    data: bytes = b""
    ms: float = 1.0


Act = Say | Do

Agent = Callable[[str], Sequence[Act]]
"""From a line, without its end, to what the agent does then: the `ms` of each act begin when the one before is done."""


def exits(code: int = 0, ms: float = 1.0) -> list[Act]:
    """The process ends: end of file, then PID 1's word."""
    return [Say(b"", ms), Do(EntryKind.REPORT, ProcessReport("exited", code).encode(), 0)]


def dies(signal: int, ms: float = 1.0) -> list[Act]:
    """The process is ended by a signal."""
    return [Say(b"", ms), Do(EntryKind.REPORT, ProcessReport("signalled", signal).encode(), 0)]


def _absence_ns(act: Act) -> int:
    """For how long before an act the judge does not look."""
    is_absent = isinstance(act, Do) and act.kind in (EntryKind.PAUSED, EntryKind.OVERSLEPT)
    return int(act.data) if is_absent else 0


@dataclass
class Body:
    """One process of an agent: what it has `heard`, what it has still to read and to do, and whether it `runs`."""

    agent: Agent
    runs: bool = False
    unread: bytes = b""
    acts: deque[tuple[float, Act]] = field(default_factory=deque)
    heard: list[str] = field(default_factory=list)

    def hear(self) -> None:
        """Let the agent answer every whole line that it has not read yet."""
        while b"\n" in self.unread:
            line, self.unread = self.unread.split(b"\n", 1)
            text = line.decode().rstrip("\r")
            self.heard.append(text)
            self.acts.extend((act.ms * MS, act) for act in self.agent(text))


class World:
    """Implements `judge.referee.wire.Wire`.

    Its attributes may be set before and during a game: what the host measures, how a seat runs on, and at whose end it
    fails. `bodies` has what each agent heard, `entries` the transcript.
    """

    def __init__(self, *agents: Agent, readings: Readings | None = None) -> None:
        """One agent a seat; `readings` are those of both boxes."""
        self._agents = agents
        self.bodies = [Body(agent) for agent in agents]
        self.before: list[Body] = []
        """Processes that were replaced."""
        self.transcript = Transcript()
        self.now = 5_000 * MS
        self.readings = [readings or Readings(), readings or Readings()]
        self.others_share: float | None = None
        self.waited_share: float | None = None
        self.stalled_share: float | None = None
        self.slept_share: float | None = None
        self.game_stalled_share: float | None = None
        self.game_slept_share: float | None = None
        self.held_by_others: bool | None = None
        self.frozen = [False, False]
        self.memory_bytes: list[int | None] = [None, None]
        """What each seat uses when it is frozen."""
        self.ran_on: dict[int, list[RanOn]] = {}
        """How a seat runs on each time that it is frozen, from the first; after the last it is still."""
        self.opponent_cpu_ms: int | None = None
        """Processor time of the seat that is not asked, in a turn that is lost on time, as older judges recorded it."""
        self.stopped_cpu_ms: dict[int, list[int]] = {}
        """CPU time that each seat used while it was stopped, each time that it is read, from the first."""
        self.killed: list[int] = []
        self.unkillable: set[int] = set()
        """Seats whose end the host fails at."""

    @property
    def entries(self) -> list[Entry]:
        """The transcript so far."""
        return list(self.transcript)

    def start(self, seat: int) -> int:
        """Begin to run the agent."""
        self.bodies[seat].runs = True
        self._note(seat, EntryKind.STARTED)
        return self.now

    def write(self, seat: int, data: bytes) -> None:
        """The agent hears it when it runs."""
        self._note(seat, EntryKind.WROTE, data)
        self.bodies[seat].unread += data

    def thaw(self, seat: int) -> int:
        """Let the agent run again."""
        self.bodies[seat].runs = True
        self.frozen[seat] = False
        self._note(seat, EntryKind.THAWED)
        return self.now

    def freeze(self, seat: int) -> int | None:
        """The agent is frozen."""
        self.bodies[seat].runs = False
        self.frozen[seat] = True
        used = self.memory_bytes[seat]
        self._note(seat, EntryKind.FROZEN, b"" if used is None else b"%d" % used)
        return used

    def await_still(self, seat: int, bound_ns: int) -> RanOn | None:  # noqa: ARG002 it runs on as it was told to
        """How the seat runs on, if `ran_on` says so."""
        if not self.frozen[seat] or not self.ran_on.get(seat):
            return None
        ran = self.ran_on[seat].pop(0)
        self.now += ran.ns
        self._note(seat, EntryKind.RAN_ON, ran.encode())
        return ran

    def stopped_cpu(self, seat: int, asked: int) -> int:
        """What `stopped_cpu_ms` says."""
        used = self.stopped_cpu_ms.get(seat)
        if not self.frozen[seat] or not used or not (ns := used.pop(0) * MS):
            return 0
        self._note(seat, EntryKind.STOPPED_CPU, StoppedCpu(ns, asked).encode())
        return ns

    def look(self) -> Sequence[Happening]:
        """Acts that take no more time are in the pipe already, also if the seat is frozen."""
        seen = []
        for seat, body in enumerate(self.bodies):
            while body.acts and body.acts[0][0] == 0:
                seen.append(self._happen(seat))
        if seen:
            self._note(seen[-1].seat, EntryKind.LOOKED)
        return seen

    def wait(self, until_ns: int) -> Happening:
        """Jump to what happens next, or to the deadline."""
        seat = self._soonest()
        left = max(0, until_ns - self.now)
        if seat is None or self.bodies[seat].acts[0][0] - _absence_ns(self.bodies[seat].acts[0][1]) > left:
            self._pass(left)
            happening = Happening(self.now, -1, EntryKind.EXPIRED, b"")
        else:
            self._pass(self.bodies[seat].acts[0][0])
            return self._happen(seat)
        self.transcript.add(*happening)
        return happening

    def _happen(self, seat: int) -> Happening:
        _, act = self.bodies[seat].acts.popleft()
        kind = EntryKind.READ if isinstance(act, Say) else act.kind
        happening = Happening(self.now, seat, kind, act.data)
        self.transcript.add(*happening)
        return happening

    def measure(self, seat: int) -> Measured:
        """What the attributes say."""
        used = None if self.opponent_cpu_ms is None or self.frozen[seat] else self.opponent_cpu_ms * MS
        measured = Measured(
            self.readings[seat],
            self.others_share,
            self.held_by_others,
            used,
            self.waited_share,
            self.stalled_share,
            self.slept_share,
            self.game_stalled_share,
            self.game_slept_share,
        )
        self._note(seat, EntryKind.EVIDENCE, measured.encode())
        return measured

    def respawn(self, seat: int) -> int:
        """Start the agent again; its former body goes to `before`."""
        self._note(seat, EntryKind.RESPAWNED)
        self.before.append(self.bodies[seat])
        self.bodies[seat] = Body(self._agents[seat])
        return self.start(seat)

    def mute(self, seat: int) -> None:
        """The agent does nothing any more."""
        self.bodies[seat].acts.clear()
        self.bodies[seat].agent = lambda _: []

    def fail(self, why: str) -> None:
        """Note it."""
        self._note(-1, EntryKind.FAILED, why.encode())

    def kill(self, seat: int) -> None:
        """Note it; HostError for a seat of `unkillable`."""
        if seat in self.unkillable:
            raise HostError("the Engine refused to kill a container")
        self.killed.append(seat)
        self._note(seat, EntryKind.KILLED)

    def _note(self, seat: int, kind: EntryKind, data: bytes = b"") -> None:
        self.transcript.add(self.now, seat, kind, data)

    def _soonest(self) -> int | None:
        for body in self.bodies:
            if body.runs:
                body.hear()
        due = [(body.acts[0][0], seat) for seat, body in enumerate(self.bodies) if body.runs and body.acts]
        return min(due)[1] if due else None

    def _pass(self, span: float) -> None:
        self.now += int(span)
        for body in self.bodies:
            # Delays follow each other: only the first act of a running agent comes nearer.
            if body.runs and body.acts:
                left, act = body.acts[0]
                body.acts[0] = (max(0.0, left - span), act)
