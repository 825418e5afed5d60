"""The referee of one game: a generator that yields requests to the world, without clock, files and threads. It is
independent of game and protocol.

    open both seats, one after the other
    until the game is over: ask the active player (or nature), apply the answer, send events
    close both seats

If no answer is possible, the blame table decides.
"""

from collections.abc import Callable, Sequence

from judge.base.errors import HostError
from judge.games.types import NATURE, SEATS, End, Event, Game, Reply, Request, faults_of
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
from judge.referee.blame import Void, judge_start
from judge.referee.clock import MS, SeatClock
from judge.referee.fault_finder import FaultFinder
from judge.referee.observer import Observer
from judge.referee.policy import BytesPolicy, ClockPolicy
from judge.referee.requests import (
    AwaitEvent,
    Freeze,
    Kill,
    Mute,
    NoteFailure,
    ReadPending,
    Requests,
    Restart,
    Start,
    Thaw,
    WriteInput,
)
from judge.referee.side import Dialogue, FaultError, Ply, Side
from judge.referee.transcript import EntryKind, decode_span
from judge.referee.wire import Happening
from judge.sandbox.box import Limits

MAX_LOOKS = 1000
"""Reads before a request. The rest is read later, so endless output delays no opponent."""

LOOK_GRACE_NS = 5_000_000
"""Tolerance to wake up at the deadline and read."""


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
            Side(protocol, SeatClock(clock, seat), opening)
            for seat, (protocol, opening) in enumerate(zip(protocols, openings, strict=True))
        ]
        self.plies: list[Ply] = []
        self.has_unapplied_answer = False
        """The game has not applied the last of `plies`; the other seat is read before that."""
        self.unclosed = ""
        self._unopened = list(SEATS)
        self._faults = FaultFinder(self.sides, self.plies, clock, bounds, kernel_bytes)
        self._ponders = clock.ponder
        self._chance = chance
        self._observer = observer or Observer()

    def requests(self) -> Requests[End | Void]:
        """Requests until the game is over, and its end.

        Raises HostError if the host fails before; the caller makes that a void. The result is final at the end: a late
        goodbye, a survived kill or a failure changes nothing.
        """
        while (end := self.game.end) is None:
            try:
                if self._unopened:
                    yield from self._prepare_start(self._unopened[0])
                    yield from self._open(self._unopened.pop(0))
                else:
                    yield from self._step()
            except FaultError as faulted:
                if isinstance(faulted.verdict, Void):
                    return faulted.verdict
                yield from self._tell(self.game.forfeit(faulted.verdict))
                if self.game.end is None:
                    # The other seat is still asked; no other agent may run in its time.
                    yield Freeze(faulted.verdict.seat)
        self._set_faults(end)
        try:
            yield from self._close()
        except HostError as error:
            yield from self.stop_closing(end, str(error))
        self._faults.judge_lingering()
        return end

    def stop_closing(self, end: End, why: str) -> Requests[None]:
        self._set_faults(end)
        self.unclosed = why
        yield NoteFailure(why)

    def _set_faults(self, end: End) -> None:
        for fault in faults_of(end):
            self.sides[fault.seat].fault = fault

    def _step(self) -> Requests[None]:
        request = self.game.pending()
        if request.seat == NATURE:
            reply = self._chance(request)
        else:
            charged_ns = self.sides[request.seat].clock.charged_ns
            reply = yield from self._ask(request)
            self.has_unapplied_answer = True
            try:
                yield from self._judge_stopped(1 - request.seat, charged_ns)
            except FaultError as faulted:
                if isinstance(faulted.verdict, Void):
                    raise
                yield from self._tell(self.game.forfeit(faulted.verdict))
                if self.game.end is not None:
                    return
        events = self.game.apply(reply)
        self.has_unapplied_answer = False
        yield from self._tell(events)

    def _judge_stopped(self, seat: int, charged_ns: int) -> Requests[None]:
        """After a turn of its opponent, whose clock had `charged_ns` before."""
        if self.sides[seat].stopped_in_turn_ns:
            yield from self._faults.judge_stopped(seat, self.sides[1 - seat].clock.charged_ns - charged_ns)

    def _tell(self, events: Sequence[Event]) -> Requests[None]:
        for event in events:
            told = Tell(event)
            for seat in SEATS:
                if event.only is None or event.only == seat:
                    self._observer.see_event(seat, event)
                    for effect in self.sides[seat].protocol.feed(told):
                        if (data := self._carry_out_idle(seat, effect)) is not None:
                            yield WriteInput(seat, data)

    def _ask(self, request: Request) -> Requests[Reply]:
        seat = request.seat
        side = self.sides[seat]
        yield from self._faults.await_still(1 - seat)
        yield from self._faults.charge_stopped(seat, seat)
        if side.stopped_in_turn_ns:
            yield from self._faults.judge_stopped(seat)
        yield from self._look()
        if cause := self._faults.cause_of_kernel(1 - seat):
            raise (yield from self._faults.faulted(1 - seat, cause))
        if cause := self._faults.find_cause(seat):
            raise (yield from self._faults.faulted(seat, cause))
        if self._ponders:
            yield from self._let_ponder(1 - seat)
        charged_ns, clock = side.clock.charged_ns, side.clock.shown()
        self._observer.see_request(seat, clock)
        end, talk = yield from self._converse(seat, Ask(request, clock, self.sides[1 - seat].clock.shown()))
        if not isinstance(end, Answer):
            raise TypeError(f"{type(side.protocol).__name__} ended a request with {end!r}")
        yield from self._faults.give_back(seat, talk, charged_ns)
        side.clock.answered()
        side.turn_bytes = 0
        ply = Ply(seat, end.reply.said, talk.charged_ns, talk.search, talk.memory_bytes, end.reply)
        self.plies.append(ply)
        self._observer.see_answer(ply)
        return end.reply

    def _let_ponder(self, seat: int) -> Requests[None]:
        side = self.sides[seat]
        if side.opening.limits.ponder and side.is_living and not side.is_out:
            for effect in side.protocol.feed(Ponder(side.clock.shown(), self.sides[1 - seat].clock.shown())):
                if (data := self._carry_out_idle(seat, effect)) is not None:
                    yield WriteInput(seat, data)

    def _prepare_start(self, seat: int) -> Requests[None]:
        yield from self._faults.await_still(1 - seat)
        yield from self._look()
        if cause := self._faults.cause_of_kernel(1 - seat):
            raise (yield from self._faults.faulted(1 - seat, cause))

    def _open(self, seat: int) -> Requests[None]:
        side = self.sides[seat]
        started = (yield Restart(seat)) if side.has_started else (yield Start(seat))
        side.has_started, charged_ns = True, side.clock.charged_ns
        end, talk = yield from self._converse(seat, side.opening, started=started)
        if isinstance(end, Ready):
            side.about = end.about
            yield from self._faults.give_back(seat, talk, charged_ns)
            yield from self._judge_stopped(1 - seat, charged_ns)
        elif self.game.renegotiate():
            yield from self._reopen()
        else:
            raise FaultError(judge_start(seat, end.reply))

    def _reopen(self) -> Requests[None]:
        yield from self._close()
        self._unopened = list(SEATS)
        for side in self.sides:
            side.opening.game = self.game.describe()
            side.renew()

    def _look(self) -> Requests[None]:
        if self._ponders:
            yield from self._receive_unread()
        for _ in range(MAX_LOOKS):
            seen = yield ReadPending()
            if not seen:
                return
            for happening in seen:
                self._faults.note(happening)
                yield from self._receive_unrequested(happening)

    def _receive_unread(self) -> Requests[None]:
        for side in self.sides if self._ponders else ():
            unread, side.unread = side.unread, []
            for happening in unread:
                yield from self._receive_unrequested(happening)

    def _close(self) -> Requests[None]:
        yield from self._receive_unread()
        yield from self._faults.settle()
        living = [seat for seat in SEATS if self.sides[seat].is_living]
        for seat in living:
            if self.sides[seat].is_out:  # it may have run since
                yield Freeze(seat)
        for seat in living:
            yield from self._faults.await_end(1 - seat)
            yield from self._await_ends([seat], (yield from self._say_goodbye(seat)))
        yield from self._faults.await_ends()

    def _say_goodbye(self, seat: int) -> Requests[int]:
        side = self.sides[seat]
        if self._faults.must_end(seat):
            yield from self._end(seat)
            return 0
        result = "" if self.game.end is None else self.game.result(side.opening.names)
        for effect in side.protocol.feed(Close(result)):
            if (data := self._carry_out_idle(seat, effect)) is not None:
                yield WriteInput(seat, data)
        return side.clock.deadline(Wait.CLOSE, (yield Thaw(seat))).ns

    def _await_ends(self, leaving: Sequence[int], deadline: int) -> Requests[None]:
        while any(self.sides[seat].is_living for seat in leaving):
            happening = yield AwaitEvent(deadline)
            self._faults.note(happening)
            if happening.kind is EntryKind.PAUSED:
                deadline += decode_span(happening.data)
            elif happening.seat not in leaving:
                yield from self._receive_unrequested(happening)
            elif self._faults.must_end(happening.seat):
                yield from self._end(happening.seat)
            if happening.ns >= deadline:
                break
        for seat in leaving:
            if self.sides[seat].is_living:
                yield from self._end(seat)

    def _replace(self, seat: int, talk: Dialogue, now: int) -> Requests[int]:
        side = self.sides[seat]
        talk.settle(side.clock, now)
        yield from self._await_ends([seat], side.clock.deadline(Wait.CLOSE, now).ns)
        # Else it would take the new process's time, and look like another program.
        yield from self._faults.await_end(seat)
        side.renew()
        talk.since, talk.wait = (yield Restart(seat)), None
        return talk.since

    def _end(self, seat: int) -> Requests[None]:
        yield Mute(seat)
        yield Kill(seat)
        self.sides[seat].is_ended = True

    def _converse(
        self, seat: int, stimulus: Stimulus, started: int | None = None
    ) -> Requests[tuple[Ready | Answer, Dialogue]]:
        side = self.sides[seat]
        self._faults.begin_turn(seat)
        talk = Dialogue()
        end = yield from self._carry_out(seat, side.protocol.feed(stimulus), talk)
        if end is None:
            talk.since = (yield Thaw(seat)) if started is None else started
            talk.set_deadline(side.clock)
            while end is None:
                end = yield from self._next_effects(seat, talk)
            talk.memory_bytes = yield Freeze(seat)
        elif started is not None:
            yield Freeze(seat)
        return end, talk

    def _next_effects(self, seat: int, talk: Dialogue) -> Requests[Ready | Answer | None]:
        side = self.sides[seat]
        alarm_at = talk.alarm_at
        happening = yield AwaitEvent(talk.over_at if alarm_at is None else alarm_at)
        now, asked, kind, data = happening
        self._faults.note(happening)
        end = None
        if kind is EntryKind.PAUSED or kind is EntryKind.OVERSLEPT:
            talk.miss(kind, decode_span(data), now)
            return None
        if asked == seat:
            if kind is EntryKind.READ:
                if cause := self._faults.cause_of_bytes(seat):
                    raise (yield from self._faults.faulted(seat, cause))
                is_doubtful = now > talk.deadline.ns and (yield from self._judge_lateness(seat, talk, now))
                effects = side.protocol.feed(Bytes(data, talk.shown(side.clock, now))) if data else ()
                if is_doubtful and _is_step(effects, talk):
                    raise (yield from self._faults.late(seat, talk, now))
                end = yield from self._carry_out(seat, effects, talk, now)
                if end is not None:
                    talk.settle(side.clock, now)
                    return end
            if cause := self._faults.find_cause(seat):
                raise (yield from self._faults.faulted(seat, cause, talk, now))
            self._faults.expect_end(seat, talk, now)
        elif self._ponders and kind is EntryKind.KERNEL:
            yield from self._end(asked)  # it runs on, and is judged after this turn
        elif self._ponders and not self._faults.is_too_loud(asked):
            # Parsing it now would delay the reading of the answer.
            self.sides[asked].unread.append(happening)
        else:
            yield from self._receive_unrequested(happening)
        if alarm_at is not None and now >= alarm_at:
            talk.wake()
            end = yield from self._alarm(seat, talk, now)
        elif now >= talk.over_at + (0 if kind is EntryKind.EXPIRED else LOOK_GRACE_NS + talk.overslept_ns):
            end = yield from self._miss_deadline(seat, talk, now)
        if end is not None:
            talk.settle(side.clock, now)
        return end

    def _judge_lateness(self, seat: int, talk: Dialogue, now: int) -> Requests[bool]:
        """Whether it is unknown if bytes read `now` were in time. Raises FaultError if they were late.

        They are in time if an idle judge reads them as soon as it wakes up. An agent that keeps it busy is late.
        """
        if talk.deadline.missed is None:
            return False
        if now <= talk.deadline.ns + LOOK_GRACE_NS + talk.overslept_ns:
            return False
        if now < talk.over_at:
            return True
        yield from self._miss_deadline(seat, talk, now)
        return (yield from self._judge_lateness(seat, talk, now))

    def _miss_deadline(self, seat: int, talk: Dialogue, now: int) -> Requests[Ready | Answer | None]:
        if talk.deadline.missed is None:
            return (yield from self._alarm(seat, talk, now))
        talk.give((yield from self._faults.charge_stopped(1 - seat, seat)))
        if now < talk.over_at:
            return None
        raise (yield from self._faults.missed_deadline(seat, talk, now))

    def _alarm(self, seat: int, talk: Dialogue, now: int) -> Requests[Ready | Answer | None]:
        side = self.sides[seat]
        alarm = Alarm(talk.shown(side.clock, now))
        return (yield from self._carry_out(seat, side.protocol.feed(alarm), talk, now))

    def _carry_out(
        self, seat: int, effects: Sequence[Effect], talk: Dialogue, now: int | None = None
    ) -> Requests[Ready | Answer | None]:
        side = self.sides[seat]
        end: Ready | Answer | None = None
        for effect in effects:
            match effect:
                case Write():
                    yield WriteInput(seat, effect.data)
                case Answer() | Ready():
                    end = effect
                case Await():
                    if effect.wait is not talk.wait:
                        talk.change_wait(side.clock, effect.wait, now)
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

    def _carry_out_idle(self, seat: int, effect: Effect) -> bytes | None:
        """Returns what must be written to the seat."""
        match effect:
            case Write(data):
                return data
            case Note():
                self._note(seat, effect)
            case Await(Wait.CLOSE):
                pass
            case _:
                raise TypeError(f"{effect!r} outside a conversation")
        return None

    def _note(self, seat: int, note: Note) -> None:
        self.sides[seat].keep(note)
        self._observer.see_note(seat, note)

    def _receive_unrequested(self, happening: Happening) -> Requests[None]:
        if happening.kind is EntryKind.READ and happening.data:
            if self._faults.is_too_loud(happening.seat):
                yield Mute(happening.seat)
                return
            side = self.sides[happening.seat]
            if side.is_out:
                side.keep(Note(f"late: {len(happening.data)} bytes that came after its fault"))
                return
            heard = Bytes(happening.data, side.clock.shown())
            for effect in side.protocol.feed(heard):
                if (data := self._carry_out_idle(happening.seat, effect)) is not None:
                    yield WriteInput(happening.seat, data)


def _is_step(effects: Sequence[Effect], talk: Dialogue) -> bool:
    return any(
        isinstance(effect, Answer | Ready | Respawn) or (isinstance(effect, Await) and effect.wait is not talk.wait)
        for effect in effects
    )
