"""Detects faults of seats: takes readings and applies the blame table."""

from collections.abc import Mapping, MutableSequence, Sequence

from judge.base.text import mib, sentence
from judge.games.types import FAILURES, NATURE, SEATS, AgentFault, Verdict
from judge.protocols.types import Note, Wait
from judge.referee.blame import LATE_OR_DEAD, Cause, judge
from judge.referee.clock import MS, Deadline
from judge.referee.policy import BytesPolicy, ClockPolicy
from judge.referee.requests import AwaitStopped, Measure, ReadMemory, ReadStoppedCpu, Requests
from judge.referee.side import Dialogue, FaultError, Ply, Side
from judge.referee.wire import Happening, RanOn
from judge.sandbox.evidence import Evidence

REPORT_GRACE_NS = 2_000_000_000
"""Between PID 1's report and the end of file, in either order."""

STILL_MS = 1000
"""Time to stop after a turn, before the opponent's clock starts. Processor time in it is charged to the game. An agent
that needs longer loses. A killed box that uses more is a failure.
"""
RAN_ON_MS = 20
"""Processor time that an agent may use while it should be stopped; charged to the game. Above it the agent loses;
below it `STILL_MS` does not apply.
"""
RAN_ON_MEAN_PART = 4
"""Part of `RAN_ON_MS` for the mean of all turns, if their sum is above it: 5 ms."""

_FAULT_OF_WAIT = {
    Verdict.START_TIME: Cause.START_TIME,
    Verdict.TURN_TIME: Cause.TURN_TIME,
    Verdict.MATCH_TIME: Cause.MATCH_TIME,
}


class FaultFinder:
    """Finds faults, and charges CPU time used by stopped seats.

    After a `FaultError` the seat's protocol receives no more output.
    """

    def __init__(
        self,
        sides: Sequence[Side],
        plies: MutableSequence[Ply],
        clock: ClockPolicy,
        bounds: BytesPolicy,
        kernel_bytes: int,
    ) -> None:
        self._sides = sides
        self._plies = plies
        self._bounds = bounds
        self._kernel_bytes = kernel_bytes
        self._starved_share = clock.starved_share
        self._still_ns, self._ran_on_ns = STILL_MS * MS, RAN_ON_MS * MS

    def await_still(self, seat: int) -> Requests[None]:
        """Wait until a seat is stopped, before the other seat's clock starts.

        Without CPU use, the seat waited for the host and does not lose.
        """
        side = self._sides[seat]
        while (ran := (yield AwaitStopped(seat, self._still_ns))) is not None:
            used_ns = ran.ns if ran.cpu_ns is None else ran.cpu_ns
            self._charge(seat, min(used_ns, ran.ns))
            if side.is_out:
                self._note_lingering(seat, ran)
            if ran.ns < self._still_ns or used_ns <= self._ran_on_ns:
                return
            if not side.is_out:
                raise (yield from self._ran_on(seat, ran))

    def await_end(self, seat: int) -> Requests[None]:
        """For a frozen box only while it uses CPU time."""
        is_killed = self._sides[seat].is_ended
        while (ran := (yield AwaitStopped(seat, self._still_ns))) is not None:
            self._note_lingering(seat, ran)
            if ran.ns < self._still_ns or not (is_killed or (ran.cpu_ns or 0) > self._ran_on_ns):
                return

    def _note_lingering(self, seat: int, ran: RanOn) -> None:
        side = self._sides[seat]
        side.lingered_ns += ran.ns
        side.lingered_cpu_ns += ran.cpu_ns or 0

    def await_ends(self) -> Requests[None]:
        for seat, side in enumerate(self._sides):
            if not side.has_exited:
                yield from self.await_end(seat)

    def judge_lingering(self) -> None:
        """CPU time, because a slow host delays the end of a box."""
        for seat, side in enumerate(self._sides):
            has_failed = side.fault is not None and side.fault.verdict in FAILURES
            if side.lingered_cpu_ns > self._still_ns and not has_failed:
                evidence = Evidence(lingered_ms=side.lingered_ns / MS, lingered_cpu_ms=side.lingered_cpu_ns / MS)
                fault = judge(Cause.RAN_ON, evidence, self._starved_share, seat)
                if isinstance(fault, AgentFault):
                    side.fault, side.evidence = fault, evidence

    def settle(self) -> Requests[None]:
        for seat in SEATS:
            yield from self.charge_stopped(seat, NATURE)
            yield from self._note_memory(seat)

    def _note_memory(self, seat: int) -> Requests[None]:
        side = self._sides[seat]
        limit = side.opening.limits.memory_bytes
        use = (yield ReadMemory(seat, limit)) if limit and side.has_started else None
        if use is not None:
            peak, most = mib(use.own_bytes), mib(limit)
            without_files = sentence(
                f"used more memory than its limit, without the files in its folders: peak {peak} of {most}"
            )
            side.notes.append(Note(without_files))

    def give_back(self, seat: int, talk: Dialogue, charged_ns: int) -> Requests[None]:
        """The time that its stopped opponent used, up to its charge since `charged_ns`."""
        clock = self._sides[seat].clock
        if used_ns := (yield from self.charge_stopped(1 - seat, seat)):
            talk.give_back(clock, min(used_ns, clock.charged_ns - charged_ns))

    def begin_turn(self, seat: int) -> None:
        other = self._sides[1 - seat]
        other.opponent_turns += 1
        other.stopped_in_turn_ns = 0

    def judge_stopped(self, seat: int, span_ns: int = 0) -> Requests[None]:
        """Raises FaultError if a stopped seat used too much CPU time in `span_ns` of its opponent, or in the game."""
        side = self._sides[seat]
        if side.is_out:
            return
        if side.stopped_in_turn_ns > self._ran_on_ns:
            raise (yield from self._ran_on(seat, RanOn(span_ns, side.stopped_in_turn_ns)))
        if side.stopped_ns > max(self._ran_on_ns, side.opponent_turns * self._ran_on_ns // RAN_ON_MEAN_PART):
            sums = {"stopped_cpu_ms": side.stopped_ns / MS, "stopped_turns": side.opponent_turns}
            raise self._found(seat, Cause.RAN_ON, (yield Measure(seat)), sums)

    def charge_stopped(self, seat: int, asked: int) -> Requests[int]:
        """`asked` is as in `StoppedCpu`."""
        used_ns: int = yield ReadStoppedCpu(seat, asked)
        if used_ns:
            side = self._sides[seat]
            side.stopped_ns += used_ns
            side.stopped_in_turn_ns += used_ns
            self._charge(seat, used_ns)
        return used_ns

    def _charge(self, seat: int, ran_ns: int) -> None:
        self._sides[seat].clock.charge(Wait.TURN, ran_ns)
        for number in range(len(self._plies) - 1, -1, -1):
            ply = self._plies[number]
            if ply.seat == seat:
                self._plies[number] = ply._replace(charged_ns=ply.charged_ns + ran_ns)
                return

    def note(self, happening: Happening) -> None:
        if happening.seat >= 0:
            self._sides[happening.seat].see(happening.kind, happening.data)

    def find_cause(self, seat: int) -> Cause | None:
        """Too much memory or output, or an exit."""
        if cause := self.cause_of_kernel(seat):
            return cause
        if self._sides[seat].killed_for_memory:
            return Cause.MEMORY
        if cause := self.cause_of_bytes(seat):
            return cause
        return Cause.DEATH if self._sides[seat].is_dead else None

    def is_too_loud(self, seat: int) -> bool:
        side, bounds = self._sides[seat], self._bounds
        return side.game_bytes > bounds.game_bytes or side.turn_bytes > bounds.turn_bytes

    def _uses_kernel(self, seat: int) -> bool:
        return self._sides[seat].kernel_bytes > self._kernel_bytes

    def must_end(self, seat: int) -> bool:
        """Whether a seat gets no time for its goodbye."""
        return self.is_too_loud(seat) or self._uses_kernel(seat)

    def cause_of_kernel(self, seat: int) -> Cause | None:
        return Cause.KERNEL_MEMORY if self._uses_kernel(seat) and not self._sides[seat].is_out else None

    def cause_of_bytes(self, seat: int) -> Cause | None:
        side = self._sides[seat]
        if side.game_bytes > self._bounds.game_bytes:
            return Cause.GAME_BYTES
        return Cause.TURN_BYTES if side.turn_bytes > self._bounds.turn_bytes else None

    def expect_end(self, seat: int, talk: Dialogue, now: int) -> None:
        """The missing one of report and end of file comes at once or never.

        An agent may close its stdout and run on.
        """
        if self._sides[seat].stdout_ended or self._sides[seat].report is not None:
            deadline = min(talk.deadline.ns, now + REPORT_GRACE_NS)
            missed = talk.deadline.missed or Verdict.TURN_TIME
            talk.deadline = Deadline(deadline, missed, talk.deadline.allowed_ms)

    def missed_deadline(self, seat: int, talk: Dialogue, now: int) -> Requests[FaultError]:
        if self._sides[seat].stdout_ended or self._sides[seat].report is not None:
            return (yield from self.faulted(seat, Cause.DEATH, talk, now))
        return (yield from self.late(seat, talk, now))

    def late(self, seat: int, talk: Dialogue, now: int) -> Requests[FaultError]:
        return (yield from self.faulted(seat, _FAULT_OF_WAIT[talk.deadline.missed or Verdict.TURN_TIME], talk, now))

    def faulted(self, seat: int, cause: Cause, talk: Dialogue | None = None, now: int = 0) -> Requests[FaultError]:
        """The seat's time in `talk` is charged up to `now`.

        A late or dead seat is not at fault if the other seat ran in its time.
        """
        side = self._sides[seat]
        elapsed_ns, allowed_ms, paused_ns = 0, 0, 0
        if talk is not None and talk.wait is not None:
            elapsed_ns, allowed_ms, paused_ns = talk.elapsed_ns(now), talk.deadline.allowed_ms, talk.paused_ns
            talk.settle(side.clock, now)
        yield from self.charge_stopped(1 - seat, seat)
        evidence: Evidence = yield Measure(seat)
        ran_ns = max(self._sides[1 - seat].stopped_in_turn_ns, evidence.opponent_cpu_ns or 0)
        if cause in LATE_OR_DEAD and ran_ns > self._ran_on_ns:
            return (yield from self._ran_on(1 - seat, RanOn(elapsed_ns, ran_ns)))
        charged: dict[str, float] = {"charged_ms": elapsed_ns / MS, "allowed_ms": allowed_ms}
        if paused_ns:
            charged["judge_paused_ms"] = paused_ns / MS
        return self._found(seat, cause, evidence, charged)

    def _ran_on(self, seat: int, ran: RanOn) -> Requests[FaultError]:
        cpu_ms = None if ran.cpu_ns is None else ran.cpu_ns / MS
        times = {"ran_on_ms": ran.ns / MS, "ran_on_cpu_ms": cpu_ms}
        return self._found(seat, Cause.RAN_ON, (yield Measure(seat)), times)

    def _found(self, seat: int, cause: Cause, measured: Evidence, times: Mapping[str, float | None]) -> FaultError:
        side = self._sides[seat]
        kernel_bytes = measured.kernel_peak_bytes
        if side.kernel_bytes:
            kernel_bytes = max(side.kernel_bytes, kernel_bytes or 0)
        game = {} if cause is Cause.MATCH_TIME else {"game_stalled_share": None, "game_slept_share": None}
        added = {
            "report": side.report,
            "kernel_peak_bytes": kernel_bytes,
            "kernel_limit_bytes": None if kernel_bytes is None else self._kernel_bytes,
            "cpu_ms": None if measured.cpu_ns is None else measured.cpu_ns // MS,
            "bytes_read": side.game_bytes if cause is Cause.GAME_BYTES else side.turn_bytes,
            **times,
            **game,
        }
        side.is_out, side.evidence = True, measured.model_copy(update=added)
        return FaultError(judge(cause, side.evidence, self._starved_share, seat))
