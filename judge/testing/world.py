"""Two scripted agents and a simulated clock for the referee: a game of 200 moves takes milliseconds.

An agent is a function from a received line to its acts, each with its own running time in milliseconds. It runs only
while it is thawed, as in a real box.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from judge.base.errors import HostError
from judge.games.types import End, Verdict
from judge.record.spec import GameSpec, SeatSpec
from judge.record.transcript import Entry, EntryKind, Transcript, seal, unseal
from judge.referee.blame import Void
from judge.referee.referee import Referee
from judge.referee.replay import Replay
from judge.referee.requests import MemoryUse, RanOn, StoppedCpu, drive
from judge.referee.setup import build_referee
from judge.referee.verify import plies_of, verdict_of, winner_of
from judge.sandbox.evidence import Evidence, ProcessReport

MS = 1_000_000


@dataclass(frozen=True)
class Say:
    """Bytes on stdout after `ms`."""

    data: bytes
    ms: float = 1.0


@dataclass(frozen=True)
class Do:
    """Another act after `ms`: a kind of entry with its bytes.

    During PAUSED and OVERSLEPT, which the judge itself records, it watches neither agents nor deadlines.
    """

    kind: EntryKind
    data: bytes = b""
    ms: float = 1.0


Act = Say | Do

Agent = Callable[[str], Sequence[Act]]
"""Maps a line to acts; the `ms` of each act begin after the previous one."""


def exits(code: int = 0, ms: float = 1.0) -> list[Act]:
    """Return the acts of a process that exits: end of file, then PID 1's report."""
    return [Say(b"", ms), Do(EntryKind.REPORT, ProcessReport("exited", code).encode(), 0)]


def dies(signal: int, ms: float = 1.0) -> list[Act]:
    """Return the acts of a process killed by a signal."""
    return [Say(b"", ms), Do(EntryKind.REPORT, ProcessReport("signalled", signal).encode(), 0)]


def _absence_ns(act: Act) -> int:
    is_absent = isinstance(act, Do) and act.kind in (EntryKind.PAUSED, EntryKind.OVERSLEPT)
    return int(act.data) if is_absent else 0


@dataclass
class Body:
    """An agent's process: its input so far (`heard`), pending input and acts, and whether it `runs`."""

    agent: Agent
    runs: bool = False
    unread: bytes = b""
    acts: deque[tuple[float, Act]] = field(default_factory=deque)
    heard: list[str] = field(default_factory=list)

    def hear(self) -> None:
        """Let the agent answer complete unread lines."""
        while b"\n" in self.unread:
            line, self.unread = self.unread.split(b"\n", 1)
            text = line.decode().rstrip("\r")
            self.heard.append(text)
            self.acts.extend((act.ms * MS, act) for act in self.agent(text))


class World:
    """Implements `judge.referee.requests.Wire`.

    Attributes set readings for a verdict, CPU use after freezing, and failures. `bodies` has each agent's input,
    `entries` the transcript.
    """

    def __init__(self, *agents: Agent, readings: Evidence | None = None, ponders: bool = False) -> None:
        """One agent per seat; `readings` are those of both boxes. If `ponders`, no agent is ever stopped."""
        self._agents = agents
        self._ponders = ponders
        self.bodies = [Body(agent) for agent in agents]
        self.before: list[Body] = []
        """Replaced processes."""
        self.transcript = Transcript()
        self.now = 5_000 * MS
        self.readings = [readings or Evidence(), readings or Evidence()]
        self.frozen = [False, False]
        self.memory_bytes: list[int | None] = [None, None]
        self.ran_on: dict[int, list[RanOn]] = {}
        """CPU use after each freeze and kill by seat, in order."""
        self.stopped_cpu_ms: dict[int, list[int]] = {}
        """CPU time while stopped by seat, in order of readings."""
        self.memory_use: dict[int, MemoryUse] = {}
        """Peak and files of each seat's box at the end."""
        self.killed: list[int] = []
        self.unkillable: set[int] = set()

    @property
    def entries(self) -> list[Entry]:
        return list(self.transcript)

    def start(self, seat: int) -> int:
        self.bodies[seat].runs = True
        self._note(seat, EntryKind.STARTED)
        return self.now

    def write_input(self, seat: int, data: bytes) -> None:
        self._note(seat, EntryKind.WROTE, data)
        self.bodies[seat].unread += data

    def thaw(self, seat: int) -> int:
        self.bodies[seat].runs = True
        self.frozen[seat] = False
        self._note(seat, EntryKind.THAWED)
        return self.now

    def freeze(self, seat: int) -> int | None:
        self.bodies[seat].runs = self._ponders
        self.frozen[seat] = True
        used = self.memory_bytes[seat]
        self._note(seat, EntryKind.FROZEN, b"" if used is None else b"%d" % used)
        return used

    def await_stopped(self, seat: int, bound_ns: int) -> RanOn | None:  # noqa: ARG002 `ran_on` decides
        if not (self.frozen[seat] or seat in self.killed) or not self.ran_on.get(seat):
            return None
        ran = self.ran_on[seat].pop(0)
        self.now += ran.ns
        self._note(seat, EntryKind.RAN_ON, ran.encode())
        return ran

    def read_stopped_cpu(self, seat: int, asked: int) -> int:
        used = self.stopped_cpu_ms.get(seat)
        if not self.frozen[seat] or not used or not (ns := used.pop(0) * MS):
            return 0
        self._note(seat, EntryKind.STOPPED_CPU, StoppedCpu(ns, asked).encode())
        return ns

    def read_pending(self) -> Sequence[Entry]:
        """Return acts that take no more time, also of a frozen seat: they are already in the pipe."""
        seen = []
        for seat, body in enumerate(self.bodies):
            while body.acts and body.acts[0][0] == 0:
                seen.append(self._happen(seat))
        if seen:
            self._note(seen[-1].seat, EntryKind.LOOKED)
        return seen

    def await_event(self, until_ns: int) -> Entry:
        """Jump to the next act, or to the deadline."""
        seat = self._soonest()
        left = max(0, until_ns - self.now)
        if seat is None or self.bodies[seat].acts[0][0] - _absence_ns(self.bodies[seat].acts[0][1]) > left:
            self._pass(left)
            entry = Entry(self.now, -1, EntryKind.EXPIRED, b"")
        else:
            self._pass(self.bodies[seat].acts[0][0])
            return self._happen(seat)
        self.transcript.add(*entry[:4])
        return entry

    def _happen(self, seat: int) -> Entry:
        _, act = self.bodies[seat].acts.popleft()
        kind = EntryKind.READ if isinstance(act, Say) else act.kind
        entry = Entry(self.now, seat, kind, act.data)
        self.transcript.add(*entry[:4])
        return entry

    def measure(self, seat: int) -> Evidence:
        evidence = self.readings[seat]
        self._note(seat, EntryKind.EVIDENCE, evidence.encode())
        return evidence

    def read_memory(self, seat: int, limit_bytes: int) -> MemoryUse | None:
        use = self.memory_use.get(seat)
        if use is None or use.own_bytes <= limit_bytes:
            return None
        self._note(seat, EntryKind.MEMORY, use.encode())
        return use

    def restart(self, seat: int) -> int:
        """Start the agent again; its former body goes to `before`."""
        self._note(seat, EntryKind.RESPAWNED)
        self.before.append(self.bodies[seat])
        self.bodies[seat] = Body(self._agents[seat])
        return self.start(seat)

    def mute(self, seat: int) -> None:
        self.bodies[seat].acts.clear()
        self.bodies[seat].agent = lambda _: []

    def note_failure(self, why: str) -> None:
        self._note(-1, EntryKind.FAILED, why.encode())

    def kill(self, seat: int) -> None:
        """Record the kill; HostError for a seat of `unkillable`."""
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
            # Delays are consecutive: only the first act of a running agent comes nearer.
            if body.runs and body.acts:
                left, act = body.acts[0]
                body.acts[0] = (max(0.0, left - span), act)


class ScriptedGame:
    """A finished game; `referee` has its game, sides and clocks, `faults` a verdict or None by seat."""

    def __init__(self, world: World, game_spec: GameSpec) -> None:
        """Referee the game to its end.

        Raises AssertionError if its transcript replays to a different game.
        """
        self.world = world
        self.referee: Referee = build_referee(game_spec)
        self.end: End | Void = drive(self.referee.requests(), world)
        self.verdict: Verdict = verdict_of(self.end)
        self.winner = winner_of(self.end)
        self.faults = [side.fault and side.fault.verdict for side in self.referee.sides]
        self._replay(game_spec)

    def _replay(self, game_spec: GameSpec) -> None:
        replay = Replay(build_referee(game_spec), unseal(seal(self.world.entries)))
        end = replay.finish()
        live, replayed = self.referee, replay.referee
        for what, expected, found in (
            ("end", self.end, end),
            ("answers", plies_of(live), plies_of(replayed)),
            ("evidence", [side.evidence for side in live.sides], [side.evidence for side in replayed.sides]),
        ):
            if expected != found:
                raise AssertionError(f"another {what} in the replay: {expected!r} became {found!r}")
        if not replay.is_finished:
            raise AssertionError("the replay ends before the transcript does")


def scripted_seats(protocol: str, names: tuple[str, str] = ("one", "two")) -> tuple[SeatSpec, SeatSpec]:
    """Return seats for a spec with scripted agents, which need no programs."""

    def seat(name: str) -> SeatSpec:
        return SeatSpec(name=name, digest="0" * 64, command=("./agent",), runtime="native", protocol=protocol)

    return seat(names[0]), seat(names[1])
