"""The referee of one game: a generator that yields requests to the world, without clock, files and threads. It is
independent of game and protocol.

    open both seats, one after the other
    until the game is over: ask the active player (or nature), apply the answer, send events
    close both seats

If no answer is possible, the referee takes readings, and the blame table decides. CPU time that a stopped seat uses is
charged to it, and given back to its opponent.
"""

from collections.abc import Callable, Sequence

from judge.base.errors import HostError
from judge.base.text import mib, sentence
from judge.games.types import FAILURES, NATURE, SEATS, AgentFault, End, Event, Game, Reply, Request, Verdict, faults_of
from judge.protocols.types import (
    AgentProtocol,
    Alarm,
    Answer,
    Ask,
    Await,
    Bytes,
    Close,
    Effect,
    Note,
    Open,
    Ponder,
    Ready,
    Respawn,
    Search,
    Stimulus,
    Tell,
    Wait,
    WakeAfter,
    WakeAt,
    Write,
)
from judge.record.policy import BytesPolicy, ClockPolicy
from judge.record.transcript import Entry, EntryKind, decode_number
from judge.referee.blame import LATE_OR_DEAD, Cause, Void, judge, judge_start
from judge.referee.clock import MS, SeatClock
from judge.referee.observer import Observer
from judge.referee.requests import (
    FREEZE,
    READ_PENDING,
    THAW,
    AwaitEvent,
    AwaitStopped,
    Kill,
    Measure,
    Mute,
    NoteFailure,
    RanOn,
    ReadMemory,
    ReadStoppedCpu,
    Requests,
    Restart,
    Start,
    WriteInput,
)
from judge.referee.side import Dialogue, FaultError, Ply, SeatState, Side
from judge.sandbox.box import Limits
from judge.sandbox.evidence import Evidence

MAX_LOOKS = 1000
"""Reads before a request. The rest is read later, so endless output delays no opponent."""

LOOK_GRACE_NS = 5_000_000
"""Tolerance to wake up at the deadline and read."""

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


class Referee:
    """Plays one game; `requests` may be called once."""

    def __init__(
        self,
        game: Game,
        protocols: Sequence[AgentProtocol],
        openings: Sequence[Open],
        clock: ClockPolicy,
        bounds: BytesPolicy,
        chance: Callable[[Request], Reply],
        observer: Observer | None = None,
        *,
        kernel_bytes: int = Limits().kernel_bytes,
    ) -> None:
        """`kernel_bytes`: maximum of the kernel's memory for an agent."""
        self.game = game
        self.sides = [
            Side(protocol, SeatClock(clock, seat), opening, bounds.game_bytes, bounds.turn_bytes, kernel_bytes)
            for seat, (protocol, opening) in enumerate(zip(protocols, openings, strict=True))
        ]
        self.plies: list[Ply] = []
        self.unapplied: Reply | None = None
        """Of the last of `plies`, until the game applies it; the other seat is read before that."""
        self.unclosed = ""
        self._unopened = list(SEATS)
        self._starved_share = clock.starved_share
        self._still_ns, self._ran_on_ns = STILL_MS * MS, RAN_ON_MS * MS
        self._await_stopped = [AwaitStopped(seat, self._still_ns) for seat in SEATS]
        self._ponders = clock.ponder
        self._chance = chance
        self._observer = observer or Observer()

    def requests(self) -> Requests[End | Void]:
        """Requests until the game is over, and its end.

        Raises HostError if the host fails before; the caller makes that a void. The result is final at the end: a late
        goodbye, a survived kill or a failure changes nothing.
        """
        try:
            while (end := self.game.end) is None:
                try:
                    if self._unopened:
                        yield from self._open(self._unopened[0])
                    elif self.unapplied is not None:
                        events, self.unapplied = self.game.apply(self.unapplied), None
                        yield from self._tell(events)
                    elif (request := self.game.pending()).seat == NATURE:
                        yield from self._tell(self.game.apply(self._chance(request)))
                    else:
                        yield from self._ask(request)
                except FaultError as fault:
                    verdict = fault.verdict or (yield from self._resolve(fault))
                    if isinstance(verdict, Void):
                        return verdict
            self._set_faults(end)
            yield from self._close()
        except HostError as error:
            end = self.game.end
            if end is None:
                raise
            yield from self.stop_closing(end, str(error))
        self._judge_lingering()
        return end

    def stop_closing(self, end: End, why: str) -> Requests[None]:
        self._set_faults(end)
        self.unclosed = why
        yield NoteFailure(why)

    def _set_faults(self, end: End) -> None:
        for fault in faults_of(end):
            self.sides[fault.seat].fault = fault

    def _forfeit(self, fault: AgentFault) -> Requests[None]:
        yield from self._tell(self.game.forfeit(fault))
        if self.game.end is None and self.unapplied is None:
            # The other seat is still asked; no other agent may run in its time.
            yield FREEZE[fault.seat]

    def _tell(self, events: Sequence[Event]) -> Sequence[WriteInput]:
        writes: list[WriteInput] = []
        for event in events:
            stimulus = Tell(event)
            for seat in SEATS:
                if event.only is None or event.only == seat:
                    self._observer.see_event(seat, event)
                    writes += self._feed_idle(seat, stimulus)
        return writes

    def _ask(self, request: Request) -> Requests[None]:
        seat = request.seat
        side = self.sides[seat]
        first_ns = side.clock.charged_ns
        yield from self._prepare(seat)
        if cause := side.find_cause():
            raise self._faulted(seat, cause)
        other = self.sides[1 - seat]
        if self._ponders and other.opening.limits.ponder and other.state is SeatState.STOPPED:
            yield from self._feed_idle(1 - seat, Ponder(other.clock.shown(), side.clock.shown()))
        charged_ns, clock = side.clock.charged_ns, side.clock.shown()
        self._observer.see_request(seat, clock)
        end, talk = yield from self._converse(seat, Ask(request, clock, other.clock.shown()))
        if not isinstance(end, Answer):
            raise TypeError(f"{type(side.protocol).__name__} ended a request with {end!r}")
        # A seat that did not run used no time; a second reading without an entry between has no place in a record.
        if talk.since and (used_ns := (yield ReadStoppedCpu(1 - seat, seat))):
            self._give_back(seat, talk, used_ns, charged_ns)
        side.clock.answered()
        side.turn_bytes = 0
        self.unapplied = end.reply
        ply = Ply(seat, end.reply.said, talk.charged_ns, talk.search, talk.memory_bytes, end.reply)
        self.plies.append(ply)
        self._observer.see_answer(ply)
        self._judge_stopped(1 - seat, side.clock.charged_ns - first_ns)

    def _open(self, seat: int) -> Requests[None]:
        side = self.sides[seat]
        yield from self._prepare(seat)
        self._unopened.remove(seat)
        started = yield (Start if side.state is SeatState.UNOPENED else Restart)(seat)
        side.run()
        side.notice_exit()  # before its start
        charged_ns = side.clock.charged_ns
        end, talk = yield from self._converse(seat, side.opening, started)
        if isinstance(end, Ready):
            side.about = end.about
            if used_ns := (yield ReadStoppedCpu(1 - seat, seat)):
                self._give_back(seat, talk, used_ns, charged_ns)
            side.start_ns = side.clock.charged_ns - charged_ns
            self._judge_stopped(1 - seat, side.start_ns)
        elif self.game.renegotiate():
            yield from self._close()
            self._unopened = list(SEATS)
            for each in self.sides:
                each.opening.game = self.game.describe()
                each.begin_terms(is_refuser=each is side)
        else:
            yield from self._forfeit(judge_start(seat, end.reply))

    def _prepare(self, seat: int) -> Requests[None]:
        """Before a seat's own time: its opponent is stopped, and all output is read."""
        other = 1 - seat
        yield from self._stop(other)
        if not self._unopened:
            if used_ns := (yield ReadStoppedCpu(seat, seat)):
                self._charge_stopped(seat, used_ns)
            self._judge_stopped(seat)
        if self._ponders:
            yield from self._receive_unread()
        for _ in range(MAX_LOOKS):
            seen = yield READ_PENDING
            if not seen:
                break
            for entry in seen:
                self._see(entry)
                yield from self._receive_unrequested(entry)
        if cause := self.sides[other].cause_of_kernel():
            raise self._faulted(other, cause)

    def _stop(self, seat: int) -> Requests[None]:
        while (ran := (yield self._await_stopped[seat])) is not None and self._charge_running(seat, ran):
            pass

    def _receive_unread(self) -> Requests[None]:
        for side in self.sides:
            unread, side.unread = side.unread, []
            for entry in unread:
                yield from self._receive_unrequested(entry)

    def _close(self) -> Requests[None]:
        yield from self._receive_unread()
        for seat in SEATS:
            self._charge_stopped(seat, (yield ReadStoppedCpu(seat, NATURE)))
            yield from self._note_memory(seat)
        living = [seat for seat in SEATS if self.sides[seat].is_living]
        for seat in living:
            if self.sides[seat].state is SeatState.OUT:  # it may have run since
                yield FREEZE[seat]
        for seat in living:
            yield from self._await_end(1 - seat)
            yield from self._await_exit(seat, (yield from self._say_goodbye(seat)))
        for seat, side in enumerate(self.sides):
            if not side.has_exited:
                yield from self._await_end(seat)

    def _say_goodbye(self, seat: int) -> Requests[int]:
        side = self.sides[seat]
        if side.must_end:
            yield from self._end(seat)
            return 0
        result = "" if self.game.end is None else self.game.result(side.opening.names)
        yield from self._feed_idle(seat, Close(result))
        now = yield THAW[seat]
        side.leave(SeatState.CLOSING)
        return side.clock.deadline(Wait.CLOSE, now).ns

    def _await_exit(self, seat: int, deadline: int) -> Requests[None]:
        side = self.sides[seat]
        while side.is_living:
            entry = yield AwaitEvent(deadline)
            self._see(entry)
            if entry.kind is EntryKind.PAUSED:
                deadline += decode_number(entry.data)
            elif entry.seat != seat:
                yield from self._receive_unrequested(entry)
            elif side.must_end:
                yield from self._end(seat)
            if entry.ns >= deadline:
                break
        if side.is_living:
            yield from self._end(seat)

    def _replace(self, seat: int, talk: Dialogue, now: int) -> Requests[int]:
        side = self.sides[seat]
        talk.settle(now)
        side.leave(SeatState.CLOSING)
        yield from self._await_exit(seat, side.clock.deadline(Wait.CLOSE, now).ns)
        # Else it would take the new process's time, and look like another program.
        yield from self._await_end(seat)
        side.renew()
        talk.since, talk.wait = (yield Restart(seat)), None
        side.run()
        return talk.since

    def _end(self, seat: int) -> Requests[None]:
        yield Mute(seat)
        yield Kill(seat)
        self.sides[seat].enter(SeatState.KILLED)

    def _converse(
        self, seat: int, stimulus: Stimulus, started: int | None = None
    ) -> Requests[tuple[Ready | Answer, Dialogue]]:
        side = self.sides[seat]
        other = self.sides[1 - seat]
        other.opponent_turns += 1
        other.stopped_in_turn_ns = 0
        talk = Dialogue(side.clock)
        end = yield from self._carry_out(seat, side.protocol.feed(stimulus), talk)
        if end is None:
            if started is None:
                started = yield THAW[seat]
                side.run()
            talk.since = started
            talk.set_deadline()
            while end is None:
                end = yield from self._next_effects(seat, talk)
        if started is not None:
            talk.memory_bytes = yield FREEZE[seat]
            side.leave(SeatState.STOPPED)
        return end, talk

    def _next_effects(self, seat: int, talk: Dialogue) -> Requests[Ready | Answer | None]:
        side = self.sides[seat]
        alarm_at = talk.alarm_at
        entry = yield AwaitEvent(talk.over_at if alarm_at is None else alarm_at)
        now, asked, kind, data, _ = entry
        now = max(now, talk.since)  # a verdict on the other seat may be later
        self._see(entry)
        end = None
        if kind is EntryKind.PAUSED or kind is EntryKind.OVERSLEPT:
            talk.miss(kind, decode_number(data), now)
            return None
        if asked == seat:
            if kind is EntryKind.READ:
                if cause := side.cause_of_bytes():
                    raise self._faulted(seat, cause)
                is_doubtful = now > talk.deadline.ns and (yield from self._judge_lateness(seat, talk, now))
                now = max(now, talk.since)
                effects = side.protocol.feed(Bytes(data, talk.shown(now))) if data else ()
                if is_doubtful and _is_step(effects, talk):
                    yield from self._excuse(self._late(seat, talk, now), talk)
                    now = max(now, talk.since)
                end = yield from self._carry_out(seat, effects, talk, now)
                if end is not None:
                    talk.settle(now)
                    return end
            if cause := side.find_cause():
                raise self._faulted(seat, cause, talk, now)
            if side.is_ending:
                talk.expect_end(now)
        elif self._ponders and kind is EntryKind.KERNEL:
            if self.sides[asked].is_living:
                yield from self._end(asked)  # it runs on, and is judged after this turn
        elif self._ponders and not self.sides[asked].is_too_loud:
            # Parsing it now would delay the reading of the answer.
            self.sides[asked].unread.append(entry)
        else:
            yield from self._receive_unrequested(entry)
        if alarm_at is not None and now >= alarm_at:
            talk.wake()
            end = yield from self._alarm(seat, talk, now)
        elif now >= talk.over_at + (0 if kind is EntryKind.EXPIRED else LOOK_GRACE_NS + talk.overslept_ns):
            end = yield from self._miss_deadline(seat, talk, now)
        if end is not None:
            talk.settle(now)
        return end

    def _judge_lateness(self, seat: int, talk: Dialogue, now: int) -> Requests[bool]:
        """Whether it is unknown if bytes read `now` were in time. Raises FaultError if they were late by its own fault.

        They are in time if an idle judge reads them as soon as it wakes up. An agent that keeps it busy is late.
        """
        while talk.deadline.missed is not None and now > talk.deadline.ns + LOOK_GRACE_NS + talk.overslept_ns:
            if now < talk.over_at:
                return True
            yield from self._miss_deadline(seat, talk, now)
        return False

    def _miss_deadline(self, seat: int, talk: Dialogue, now: int) -> Requests[Ready | Answer | None]:
        if talk.deadline.missed is None:
            return (yield from self._alarm(seat, talk, now))
        used_ns = self._charge_stopped(1 - seat, (yield ReadStoppedCpu(1 - seat, seat)))
        talk.give(min(used_ns, talk.elapsed_ns(now)))  # more than one core may have run
        if now < talk.over_at:
            return None
        is_dead = self.sides[seat].is_ending
        fault = self._faulted(seat, Cause.DEATH, talk, now) if is_dead else self._late(seat, talk, now)
        fault.is_settled = True
        yield from self._excuse(fault, talk)
        return None

    def _alarm(self, seat: int, talk: Dialogue, now: int) -> Requests[Ready | Answer | None]:
        effects = self.sides[seat].protocol.feed(Alarm(talk.shown(now)))
        return (yield from self._carry_out(seat, effects, talk, now))

    def _carry_out(
        self, seat: int, effects: Sequence[Effect], talk: Dialogue, now: int | None = None
    ) -> Requests[Ready | Answer | None]:
        end: Ready | Answer | None = None
        for effect in effects:
            match effect:
                case Write():
                    yield WriteInput(seat, effect.data)
                case Answer() | Ready():
                    end = effect
                case Await():
                    if effect.wait is not talk.wait:
                        talk.change_wait(effect.wait, now)
                case WakeAt(before_deadline_ms):
                    talk.wake(before_ns=before_deadline_ms * MS)
                case WakeAfter(ms):
                    talk.wake(at_ns=(talk.since if now is None else now) + ms * MS)
                case Respawn():
                    now = yield from self._replace(seat, talk, now or talk.since)
                case Search(values):
                    talk.search.update(values)
                    self._observer.see_search(seat, values)
                case Note():
                    self._note(seat, effect)
        return end

    def _feed_idle(self, seat: int, stimulus: Stimulus) -> Sequence[WriteInput]:
        """Outside a conversation."""
        writes = []
        for effect in self.sides[seat].protocol.feed(stimulus):
            match effect:
                case Write():
                    writes.append(WriteInput(seat, effect.data))
                case Note():
                    self._note(seat, effect)
                case Await(Wait.CLOSE):
                    pass
                case _ if self.sides[seat].state is not SeatState.ASKED:  # else its opponent's fault ended the game
                    raise TypeError(f"{effect!r} outside a conversation")
        return writes

    def _note(self, seat: int, note: Note) -> None:
        self.sides[seat].keep(note)
        self._observer.see_note(seat, note)

    def _see(self, entry: Entry) -> None:
        if entry.seat >= 0:
            self.sides[entry.seat].see(entry.kind, entry.data)

    def _receive_unrequested(self, entry: Entry) -> Sequence[WriteInput | Mute]:
        if entry.kind is not EntryKind.READ or not entry.data:
            return ()
        side = self.sides[entry.seat]
        if side.is_too_loud:
            return (Mute(entry.seat),)
        if side.has_fault:
            side.keep(Note(f"late: {len(entry.data)} bytes that came after its fault"))
            return ()
        return self._feed_idle(entry.seat, Bytes(entry.data, side.clock.shown()))

    # --- stopped seats ------------------------------------------------------------------------------------------------

    def _charge_running(self, seat: int, ran: RanOn) -> bool:
        """Whether to wait further until a seat is stopped. Raises FaultError after its time to stop.

        Without CPU use, the seat waited for the host and does not lose.
        """
        side = self.sides[seat]
        used_ns = ran.ns if ran.cpu_ns is None else ran.cpu_ns
        self._charge(seat, min(used_ns, ran.ns))
        if side.has_fault:
            side.linger(ran)
        if ran.ns < self._still_ns or used_ns <= self._ran_on_ns:
            return False
        if side.has_fault:
            return True
        cpu_ms = None if ran.cpu_ns is None else ran.cpu_ns / MS
        raise FaultError(seat, Cause.RAN_ON, {"ran_on_ms": ran.ns / MS, "ran_on_cpu_ms": cpu_ms})

    def _await_end(self, seat: int) -> Requests[None]:
        """For a frozen box only while it uses CPU time."""
        is_killed = self.sides[seat].state is SeatState.KILLED
        while (ran := (yield self._await_stopped[seat])) is not None:
            self.sides[seat].linger(ran)
            if ran.ns < self._still_ns or not (is_killed or (ran.cpu_ns or 0) > self._ran_on_ns):
                return

    def _charge_stopped(self, seat: int, used_ns: int) -> int:
        if used_ns:
            side = self.sides[seat]
            side.stopped_ns += used_ns
            side.stopped_in_turn_ns += used_ns
            self._charge(seat, used_ns)
        return used_ns

    def _charge(self, seat: int, ran_ns: int) -> None:
        self.sides[seat].clock.charge(Wait.TURN, ran_ns)
        for number in range(len(self.plies) - 1, -1, -1):
            ply = self.plies[number]
            if ply.seat == seat:
                self.plies[number] = ply._replace(charged_ns=ply.charged_ns + ran_ns)
                return

    def _give_back(self, seat: int, talk: Dialogue, used_ns: int, charged_ns: int) -> None:
        """The time that its stopped opponent used, up to its charge since `charged_ns`."""
        self._charge_stopped(1 - seat, used_ns)
        talk.give_back(min(used_ns, talk.clock.charged_ns - charged_ns))

    def _judge_stopped(self, seat: int, span_ns: int = 0) -> None:
        """Raises FaultError if a stopped seat used too much CPU time in `span_ns` of its opponent, or in the game."""
        side = self.sides[seat]
        if not side.stopped_in_turn_ns or side.has_fault:
            return
        if side.stopped_in_turn_ns > self._ran_on_ns:
            times = {"ran_on_ms": span_ns / MS, "ran_on_cpu_ms": side.stopped_in_turn_ns / MS}
            raise FaultError(seat, Cause.RAN_ON, times)
        if side.stopped_ns > max(self._ran_on_ns, side.opponent_turns * self._ran_on_ns // RAN_ON_MEAN_PART):
            sums = {"stopped_cpu_ms": side.stopped_ns / MS, "stopped_turns": side.opponent_turns}
            raise FaultError(seat, Cause.RAN_ON, sums)

    def _note_memory(self, seat: int) -> Requests[None]:
        side = self.sides[seat]
        limit = side.opening.limits.memory_bytes
        use = (yield ReadMemory(seat, limit)) if limit and side.state is not SeatState.UNOPENED else None
        if use is not None:
            peak, most = mib(use.own_bytes), mib(limit)
            without_files = sentence(
                f"used more memory than its limit, without the files in its folders: peak {peak} of {most}"
            )
            side.notes.append(Note(without_files))

    # --- faults -------------------------------------------------------------------------------------------------------

    def _late(self, seat: int, talk: Dialogue, now: int) -> FaultError:
        return self._faulted(seat, Cause((talk.deadline.missed or Verdict.TURN_TIME).value), talk, now)

    def _faulted(self, seat: int, cause: Cause, talk: Dialogue | None = None, now: int = 0) -> FaultError:
        """The seat's time in `talk` is charged up to `now`."""
        times: dict[str, float | None] = {"charged_ms": 0.0, "allowed_ms": 0}
        if talk is not None and talk.wait is not None:
            times = {"charged_ms": talk.elapsed_ns(now) / MS, "allowed_ms": talk.deadline.allowed_ms}
            if talk.paused_ns:
                times["judge_paused_ms"] = talk.paused_ns / MS
            talk.settle(now)
        return FaultError(seat, cause, times)

    def _resolve(self, fault: FaultError) -> Requests[AgentFault | Void]:
        """Judge a fault, and carry out its verdict."""
        verdict = fault.verdict = yield from self._judge(fault)
        if isinstance(verdict, AgentFault):
            yield from self._forfeit(verdict)
        return verdict

    def _excuse(self, fault: FaultError, talk: Dialogue) -> Requests[None]:
        """Resolve a fault. If the other seat is to blame and the game continues, so does `talk`, with a new deadline.

        Raises the fault otherwise.
        """
        seat, other = fault.seat, self.sides[1 - fault.seat]
        given_ns = other.stopped_in_turn_ns
        verdict = yield from self._resolve(fault)
        if isinstance(verdict, Void) or verdict.seat == seat or self.game.end is not None:
            raise fault
        yield from self._stop(1 - seat)
        talk.give_back(min(other.stopped_in_turn_ns - given_ns, talk.charged_ns))
        talk.since = yield THAW[seat]
        talk.set_deadline()

    def _judge(self, fault: FaultError) -> Requests[AgentFault | Void]:
        """The verdict, by readings. The seat's protocol receives no more output.

        A late or dead seat is not at fault if the other seat ran in its time.
        """
        seat, cause, times = fault.seat, fault.cause, fault.times
        other = self.sides[1 - seat]
        if cause is not Cause.RAN_ON and not fault.is_settled:
            self._charge_stopped(1 - seat, (yield ReadStoppedCpu(1 - seat, seat)))
        measured: Evidence = yield Measure(seat)
        ran_ns = max(other.stopped_in_turn_ns, measured.opponent_cpu_ns or 0)
        if cause in LATE_OR_DEAD and ran_ns > self._ran_on_ns and not other.has_fault:
            times = {"ran_on_ms": times["charged_ms"], "ran_on_cpu_ms": ran_ns / MS}
            seat, cause, measured = 1 - seat, Cause.RAN_ON, (yield Measure(1 - seat))
        side = self.sides[seat]
        side.leave(SeatState.OUT)
        side.evidence = side.evidence_for(cause, measured, times)
        return judge(cause, side.evidence, self._starved_share, seat)

    def _judge_lingering(self) -> None:
        """CPU time, because a slow host delays the end of a box."""
        for seat, side in enumerate(self.sides):
            has_failed = side.fault is not None and side.fault.verdict in FAILURES
            if side.lingered_cpu_ns > self._still_ns and not has_failed:
                evidence = Evidence(lingered_ms=side.lingered_ns / MS, lingered_cpu_ms=side.lingered_cpu_ns / MS)
                fault = judge(Cause.RAN_ON, evidence, self._starved_share, seat)
                if isinstance(fault, AgentFault):
                    side.fault, side.evidence = fault, evidence


def _is_step(effects: Sequence[Effect], talk: Dialogue) -> bool:
    return any(
        isinstance(effect, Answer | Ready | Respawn) or (isinstance(effect, Await) and effect.wait is not talk.wait)
        for effect in effects
    )
