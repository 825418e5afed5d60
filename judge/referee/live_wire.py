"""The wire to two boxes, watched in one poll loop; see `judge.referee.wire`."""

import os
import select
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence

from judge.base.errors import HostError
from judge.games.types import SEATS
from judge.referee.pulse import PAUSE_NS, Pulse
from judge.referee.transcript import EntryKind, Transcript
from judge.referee.wait_meter import WaitMeter
from judge.referee.wire import Happening, Measured, RanOn, StoppedCpu
from judge.sandbox.box import NO_FREEZER, Box, Channel, EventSource, ProcessReport
from judge.sandbox.host_activity.core_use import CoreUse
from judge.sandbox.host_activity.stalls import StallWatch

_KIND_OF_CHANNEL = {
    Channel.OUT: EntryKind.READ,
    Channel.ERR: EntryKind.STDERR,
    Channel.REPORT: EntryKind.REPORT,
    Channel.OOM: EntryKind.OOM,
}

_IDLE_NS = 1_000_000
"""An agent that answers sooner never waits for what the judge does while it waits: tell of the game, and move its
transcript to disk."""

_AT_ONCE_NS = 1_000_000
"""A box that is frozen within this time is frozen at once: an honest one takes some microseconds."""

_SPIN_NS = 60_000
"""How long a judge with a core of its own checks a box without a pause: enough where the box's core has nothing else to
do."""

_SHORT_NAP_S, _NAP_S = 0.00005, 0.0005
"""How long the first pause is between two checks of a box, and how long the longest; each is twice the one before."""

_LONGEST_POLL_S = 3600.0
"""The longest time of one poll; epoll refuses more than 2**31 - 1 ms, which is the Gomocup protocol's "no limit"."""

UNENDED_BYTES = 4096
"""A line without an end is reported when it has this many bytes."""

_REST_NS = 20_000_000
"""How long an agent may take to rest after its answer, such as on a core that others use too."""

_REST_CPU_NS = 2_000_000
"""How much processor time it may use for that, which nobody is charged for."""

_STOP_CPU_NS = 1_000_000
"""How much CPU time the kernel may add to a box after it reports it as stopped. Stopping takes microseconds, and is
counted late."""

_REPLACED_NS = 1_000_000_000
"""How long the judge waits for the box of a replaced process to be gone before it makes the new one."""

_STARTED = ProcessReport("started").encode()

_WRITABLE = select.EPOLLOUT
_BROKEN = select.EPOLLERR | select.EPOLLHUP

_OVERSLEPT_NS = 5_000_000
"""By how much the judge may wake up late at a deadline without a word of it in the transcript."""


class LiveWire:
    """Two boxes, watched by one epoll."""

    def __init__(
        self,
        boxes: Sequence[Box],
        transcript: Transcript,
        new_box: Callable[[int], Box],
        use: CoreUse | None,
        cores: int,
        stderr_bytes: int,
        spin_ns: int = 0,
        least_bytes: int = 1,
        stalls: StallWatch | None = None,
        pulse: Pulse | None = None,
        *,
        is_elsewhere: bool = False,
    ) -> None:
        """`use` reads how the slot's `cores` are used, where that can be told apart from the judge.

        For `spin_ns` of every wait the judge asks again instead of sleeping: with a core of its own that costs nobody
        anything, and a core that sleeps takes longer to wake than an instant agent to answer. Where it is 0 others want
        the core, and the judge wakes up no more often than it must. `stalls` tells of stalls of the host; None where an
        agent could reach it. `pulse` has the pauses of the judge.
        `is_elsewhere`: the agents may run while this machine is suspended.
        """
        self._boxes = list(boxes)
        self._transcript = transcript
        self._new_box = new_box
        self._meter = WaitMeter(self._boxes, use, cores, stalls)
        self._spin_ns = spin_ns
        self._stderr_room = [stderr_bytes, stderr_bytes]
        self._least_bytes = least_bytes
        self._unended = [bytearray(), bytearray()]
        """What was read of a line without its end: it is reported with its end, or when the judge looks."""
        self._epoll = select.epoll()
        self._sources: dict[int, tuple[int, EventSource]] = {}
        self._inbox: deque[Happening] = deque()
        self._outbox = [bytearray(), bytearray()]
        self._stands: list[Callable[[], bool] | None] = [None, None]
        """How to check that a seat is still that was frozen, killed or has ended; None: it may run."""
        self._replaced: tuple[list[Box], list[Box]] = ([], [])
        """Boxes that were replaced and are not closed yet."""
        self._stopped_cpu: list[int | None] = [None, None]
        """Per seat: its CPU time when it was seen stopped, or at the last growth. None while it may run."""
        self._has_looked = False
        """Whether the last step was a look."""
        self._room: dict[int, int] = {}
        """The seats whose stdin is watched for room, by its descriptor."""
        self._pulse = pulse
        self._is_elsewhere = is_elsewhere
        self._suspended_ns = 0 if pulse is None else pulse.suspended_ns
        self._looked_at = self._ran_at = time.monotonic_ns()
        """When the judge looked at its agents last, and when it ran last while the clock of one did."""
        self._late_ns = 0
        for seat in SEATS:
            self._watch(seat)

    @property
    def boxes(self) -> Sequence[Box]:
        """The boxes as they are now."""
        return self._boxes

    @property
    def late_ns(self) -> int:
        """The longest time for which the judge did not look, or overslept a deadline."""
        return self._late_ns

    # --- what the referee does ---------------------------------------------------------------------------------------

    def start(self, seat: int) -> int:
        """Start the agent."""
        self._meter.look()
        now = time.monotonic_ns()
        self._ran_at, self._has_looked = now, False
        self._boxes[seat].start()
        self._transcript.add(now, seat, EntryKind.STARTED)
        self._meter.begin(seat, now)
        return now

    def write(self, seat: int, data: bytes) -> None:
        """Queue bytes and give the pipe what it takes."""
        self._transcript.add(time.monotonic_ns(), seat, EntryKind.WROTE, data)
        if self._outbox[seat]:
            self._outbox[seat] += data
            return
        taken = self._boxes[seat].write(data)
        if 0 <= taken < len(data):
            self._outbox[seat] += data[taken:]
            self._watch_room(seat)

    def thaw(self, seat: int) -> int:
        """Thaw the agent."""
        self._stands[seat] = self._stopped_cpu[seat] = None
        # The moment is taken before the thaw: on a shared core the agent may run before the call returns.
        now = time.monotonic_ns()
        if self._meter.is_old(now):
            self._meter.look()
            now = time.monotonic_ns()
        self._ran_at, self._has_looked = now, False
        self._boxes[seat].thaw()
        self._transcript.add(now, seat, EntryKind.THAWED)
        self._meter.begin(seat, now)
        return now

    def freeze(self, seat: int) -> int | None:
        """Stop the box when it rests, and read its memory while it comes to a stand: nobody's clock runs."""
        self._let_rest(seat)
        self._boxes[seat].freeze()
        self._meter.end()
        self._stands[seat] = self._boxes[seat].is_frozen
        now = time.monotonic_ns()
        used = self._boxes[seat].meter.memory_bytes()
        self._transcript.add(now, seat, EntryKind.FROZEN, b"" if used is None else b"%d" % used)
        return used

    def _let_rest(self, seat: int) -> None:
        """Let an agent end what it does after its answer, if that is little.

        One that was stopped before would go on with it in its next turn, when the next request is there already:
        some brains end a search by reading what is there, and a part of the request would be gone.
        """
        box = self._boxes[seat]
        if box.freezer == NO_FREEZER or not box.meter.is_busy():
            return
        until, cpu, naps = time.monotonic_ns() + _REST_NS, self._cpu(seat), _naps()
        while time.monotonic_ns() < until and (cpu is None or (self._cpu(seat) or 0) - cpu < _REST_CPU_NS):
            next(naps)
            if not box.meter.is_busy():
                break
        self._looked_at = time.monotonic_ns()  # nobody's clock ran meanwhile

    def await_still(self, seat: int, bound_ns: int) -> RanOn | None:
        """Check until the box is still: at first without a pause, which is enough for an honest one."""
        if self._stands[seat] is None and not self._replaced[seat]:
            return None
        naps = _naps(_SPIN_NS if self._spin_ns else 0)
        if self._stands_within(seat, min(_AT_ONCE_NS, bound_ns), lambda: next(naps)):
            self._note_stopped(seat)
            return None
        began, cpu = time.monotonic_ns(), self._cpu(seat)
        self._stands_within(seat, bound_ns, lambda: time.sleep(_NAP_S))
        self._looked_at = now = time.monotonic_ns()  # nobody's clock ran meanwhile
        used = None if cpu is None else max(0, (self._cpu(seat) or 0) - cpu)
        self._note_stopped(seat)
        ran = RanOn(now - began, used)
        self._transcript.add(now, seat, EntryKind.RAN_ON, ran.encode())
        return ran

    def _note_stopped(self, seat: int) -> None:
        """What the seat uses from here on is charged to it, whether it stands still or not."""
        box = self._boxes[seat]
        self._stopped_cpu[seat] = None if box.freezer == NO_FREEZER else box.meter.cpu_ns()

    def stopped_cpu(self, seat: int, asked: int) -> int:
        """CPU time that a seat used while it was stopped; recorded if there is any."""
        before = self._stopped_cpu[seat]
        now = None if before is None else self._boxes[seat].meter.cpu_ns()
        if before is None or now is None or now - before <= _STOP_CPU_NS:
            return 0
        self._stopped_cpu[seat] = now
        used = StoppedCpu(now - before, asked)
        self._transcript.add(time.monotonic_ns(), seat, EntryKind.STOPPED_CPU, used.encode())
        return used.ns

    def look(self) -> Sequence[Happening]:
        """What has happened already. A second look in a row reads on where a seat is still."""
        ready = self._poll_for(0.0)
        if self._has_looked:
            ready = [(fd, mask) for fd, mask in ready if self._is_stoppable(fd)]
        self._has_looked = True
        self._take(ready)
        self._hand_out_unended()
        if not self._inbox:
            return ()
        seen = list(self._inbox)
        self._inbox.clear()
        for happening in seen:
            self._transcript.add(*happening)
        self._transcript.add(time.monotonic_ns(), seen[-1].seat, EntryKind.LOOKED)
        return seen

    def wait(self, until_ns: int) -> Happening:
        """The next thing that happens."""
        if not self._inbox:
            self._poll(until_ns)
        if self._is_elsewhere and self._pulse is not None and self._pulse.suspended_ns > self._suspended_ns:
            span_s = (self._pulse.suspended_ns - self._suspended_ns) / 1e9
            raise HostError(f"This machine was suspended for {span_s:.1f} s, and agents of the game run on another one")
        now = time.monotonic_ns()
        happening = self._inbox.popleft() if self._inbox else Happening(now, -1, EntryKind.EXPIRED, b"")
        self._transcript.add(*happening)
        return happening

    def measure(self, seat: int) -> Measured:
        """Readings of the box, and what others did to it and used of the slot."""
        box = self._boxes[seat]
        shares = self._meter.shares(seat)
        measured = Measured(box.meter.readings(), held_by_others=box.is_held(), **shares._asdict())
        self._transcript.add(time.monotonic_ns(), seat, EntryKind.EVIDENCE, measured.encode())
        return measured

    def respawn(self, seat: int) -> int:
        """A new box for the same agent."""
        self._transcript.add(time.monotonic_ns(), seat, EntryKind.RESPAWNED)
        self._meter.end()
        self._forget(seat)
        self._boxes[seat].kill()
        self._replaced[seat].append(self._boxes[seat])
        self._wait_for(lambda: self._are_gone(seat), _REPLACED_NS, lambda: time.sleep(_NAP_S))
        self._boxes[seat] = self._new_box(seat)
        self._boxes[seat].prepare()
        self._boxes[seat].enter()
        self._watch(seat)
        self._looked_at = time.monotonic_ns()  # nobody ran meanwhile
        return self.start(seat)

    def mute(self, seat: int) -> None:
        """Read nothing more of a seat; an agent that continues to print blocks on its pipe."""
        for fd in [fd for fd, (owner, _) in self._sources.items() if owner == seat]:
            self._unwatch(fd)
        self._inbox = deque(item for item in self._inbox if item.seat != seat)
        self._unended[seat].clear()

    def kill(self, seat: int) -> None:
        """End the agent."""
        self._boxes[seat].kill()
        self._stands[seat] = self._boxes[seat].is_gone
        self._looked_at = time.monotonic_ns()  # the game is over: nobody is waited for
        self._transcript.add(self._looked_at, seat, EntryKind.KILLED)

    def fail(self, why: str) -> None:
        """Note how the host failed."""
        self._transcript.add(time.monotonic_ns(), -1, EntryKind.FAILED, why.encode())

    def leave(self) -> tuple[float, float]:
        """Run nothing of either seat on the slot's cores any more; never raises.

        For how many seconds each seat's processes ran on after they were killed.
        """
        self._meter.end()
        first, second = (sum(box.leave() for box in (self._boxes[seat], *self._replaced[seat])) for seat in SEATS)
        return first, second

    def close(self) -> None:
        """Close both boxes; never raises."""
        self._epoll.close()
        for box in (*self._boxes, *self._replaced[0], *self._replaced[1]):
            box.close()

    # --- polling -----------------------------------------------------------------------------------------------------

    def _poll(self, until_ns: int) -> None:
        """Fill the inbox with what has happened; wait for it until the deadline."""
        began = time.monotonic_ns()
        spun_until, idle_at = began + self._spin_ns, began + _IDLE_NS
        while not self._inbox:
            now = time.monotonic_ns()
            closer_at = self._meter.look_closer(now, until_ns)
            if now < spun_until:
                ready = self._poll_for(0.0)
            else:
                is_idle = now >= idle_at or not self._spin_ns
                if is_idle:
                    self._transcript.spill()
                wait_ns = min(until_ns, closer_at) if is_idle else min(until_ns, closer_at, idle_at)
                ready = self._poll_for(max(0.0, (wait_ns - now) / 1e9))
            if not ready and self._looked_at >= until_ns:
                ready = self._poll_for(0.0)  # the limit is over when nothing came before this look
            looked_at = self._looked_at
            if looked_at - self._ran_at >= PAUSE_NS or looked_at - until_ns >= _OVERSLEPT_NS:
                self._note_absence(now, until_ns)
            self._ran_at = looked_at
            self._take(ready)
            if self._looked_at >= until_ns and not self._inbox:
                self._hand_out_unended()
                if not ready:
                    self._late_ns = max(self._late_ns, self._looked_at - max(now, until_ns))
                return

    def _is_stoppable(self, fd: int) -> bool:
        """Whether the seat of a source is still between its turns; others may write for ever."""
        return fd in self._sources and self._boxes[self._sources[fd][0]].freezer != NO_FREEZER

    def _poll_for(self, span_s: float) -> list[tuple[int, int]]:
        """Poll, and measure the longest time between two polls."""
        self._late_ns = max(self._late_ns, time.monotonic_ns() - self._looked_at)
        ready = self._epoll.poll(min(span_s, _LONGEST_POLL_S))
        self._looked_at = time.monotonic_ns()
        return ready

    def _note_absence(self, began: int, until_ns: int) -> None:
        """Report pauses of the judge, and that it woke up late at `until_ns`, before what was read only then.

        It slept from `began` on. What it did before that was work, which an agent can cause.
        """
        paused_ns = self._note_pauses(self._looked_at)
        overslept_ns = self._looked_at - max(began, until_ns) - paused_ns
        self._late_ns = max(self._late_ns, paused_ns, overslept_ns)
        if overslept_ns >= _OVERSLEPT_NS:
            self._inbox.append(Happening(self._looked_at, -1, EntryKind.OVERSLEPT, b"%d" % overslept_ns))

    def _note_pauses(self, now: int) -> int:
        """Report for how long the judge's process did not run since it ran last, if that is a pause."""
        before, self._ran_at = self._ran_at, now
        if self._pulse is None:
            return 0
        paused_ns = 0
        for pause in self._pulse.pauses_since(before):
            # A process that works, or waits for a core, is not stopped: agents and other games can make it do both.
            span_ns = min(now, pause.ended_ns) - max(before, pause.began_ns) - pause.worked_ns - pause.waited_ns
            paused_ns += span_ns if span_ns >= PAUSE_NS else 0
        if paused_ns:
            self._inbox.append(Happening(now, -1, EntryKind.PAUSED, b"%d" % paused_ns))
        return paused_ns

    def _take(self, ready: Sequence[tuple[int, int]]) -> None:
        for fd, mask in ready:
            if fd in self._room:
                self._flush(fd, mask)
            if fd in self._sources and mask & ~_WRITABLE:
                self._read(fd, mask)

    def _read(self, fd: int, mask: int) -> None:
        seat, source = self._sources[fd]
        chunks = source.read()
        now = time.monotonic_ns()
        if now - self._ran_at >= PAUSE_NS:
            self._note_pauses(now)
        if source.ended:
            self._unwatch_ended(seat)
        elif not chunks and mask & _BROKEN and not mask & select.EPOLLPRI:
            self._unwatch(fd)  # it would be reported again and again, and nothing can be read
        for channel, data in chunks:
            if channel is Channel.OUT and self._is_unended(seat, data):
                continue
            kept = self._bounded(seat, data) if channel is Channel.ERR else data
            if channel is Channel.REPORT and data != _STARTED:
                self._stands[seat] = self._boxes[seat].is_gone
            if kept or not data:
                self._happen(now, seat, _KIND_OF_CHANNEL[channel], kept)

    def _is_unended(self, seat: int, data: bytes) -> bool:
        """Whether `data` ends no line: then it is kept for the read that does, so that an agent that writes letter by
        letter makes no more entries than one that writes line by line."""
        unended = self._unended[seat]
        if not data or b"\n" in data or b"\r" in data or len(unended) + len(data) > UNENDED_BYTES:
            return False
        unended += data
        return True

    def _happen(self, now: int, seat: int, kind: EntryKind, data: bytes) -> None:
        """News for the inbox; what stdout said before it comes with it, or before it."""
        unended = self._unended[seat]
        if unended and kind is not EntryKind.STDERR:
            if kind is EntryKind.READ and data:
                data = bytes(unended) + data
            else:
                self._inbox.append(Happening(now, seat, EntryKind.READ, bytes(unended)))
            unended.clear()
        last = self._inbox[-1] if self._inbox else None
        if data and last and last.data and (now, seat, kind) == last[:3] and kind is EntryKind.READ:
            # One moment has one read of a seat: the parts of a chunk are known by it (`judge.referee.replay`).
            self._inbox[-1] = last._replace(data=last.data + data)
            return
        self._inbox.append(Happening(now, seat, kind, data))

    def _hand_out_unended(self) -> None:
        """Report all that was read, whether its line has ended or not."""
        for seat in SEATS:
            if self._unended[seat]:
                data = bytes(self._unended[seat])
                self._unended[seat].clear()
                self._inbox.append(Happening(time.monotonic_ns(), seat, EntryKind.READ, data))

    def _bounded(self, seat: int, data: bytes) -> bytes:
        """The part of stderr that is stored; the rest is read so that the agent does not block."""
        kept = data[: max(0, self._stderr_room[seat])]
        self._stderr_room[seat] -= max(len(kept), self._least_bytes)
        return kept

    def _flush(self, fd: int, mask: int) -> None:
        """Give a pipe what it takes. One that is full and has no reader is reported as broken, never as writable."""
        seat = self._room[fd]
        outbox = self._outbox[seat]
        taken = self._boxes[seat].write(bytes(outbox))
        if taken < 0 or (taken == 0 and mask & _BROKEN):
            outbox.clear()
        del outbox[: max(0, taken)]
        if not outbox:
            self._unwatch_room(fd)

    def _watch(self, seat: int) -> None:
        for source in self._boxes[seat].sources:
            self._sources[source.fd] = (seat, source)
            self._register(source.fd, source.events)

    def _register(self, fd: int, events: int) -> None:
        try:
            self._epoll.register(fd, events)
        except OSError as error:
            raise HostError(
                f"The kernel does not let this user watch more pipes: {error.strerror}: see fs.epoll.max_user_watches"
            ) from error

    def _unwatch_ended(self, seat: int) -> None:
        """An end may end more than the stream that it was read from."""
        for fd, (owner, source) in list(self._sources.items()):
            if owner == seat and source.ended:
                self._unwatch(fd)

    def _unwatch(self, fd: int) -> None:
        if self._sources.pop(fd, None) is not None:
            self._epoll.unregister(fd)

    def _watch_room(self, seat: int) -> None:
        fd = self._boxes[seat].stdin_fd
        if fd < 0:
            self._outbox[seat].clear()
        else:
            self._room[fd] = seat
            self._register(fd, _WRITABLE)

    def _unwatch_room(self, fd: int) -> None:
        del self._room[fd]
        self._epoll.unregister(fd)

    def _forget(self, seat: int) -> None:
        self.mute(seat)
        for fd in [fd for fd, owner in self._room.items() if owner == seat]:
            self._unwatch_room(fd)
        self._outbox[seat].clear()
        self._stands[seat] = self._stopped_cpu[seat] = None

    # --- freezing ------------------------------------------------------------------------------------------------

    def _stands_within(self, seat: int, span_ns: int, pause: Callable[[], None]) -> bool:
        """Whether a seat is still now, or within the span."""
        return self._wait_for(lambda: self._stands_now(seat), span_ns, pause)

    def _stands_now(self, seat: int) -> bool:
        stands = self._stands[seat]
        if stands is not None and not stands():
            return False
        self._stands[seat] = None
        return self._are_gone(seat)

    def _are_gone(self, seat: int) -> bool:
        """Whether all replaced boxes of a seat are gone."""
        dying = self._replaced[seat]
        while dying and dying[0].is_gone():
            dying.pop(0).close()
        return not dying

    @staticmethod
    def _wait_for(holds: Callable[[], bool], span_ns: int, pause: Callable[[], None]) -> bool:
        """Whether a condition holds now, or within the span."""
        until = time.monotonic_ns() + span_ns
        while not holds():
            if time.monotonic_ns() >= until:
                return False
            pause()
        return True

    def _cpu(self, seat: int) -> int | None:
        """CPU time of a seat that is not still, even if the Engine takes long to answer."""
        used = [box.meter.readings().cpu_ns for box in (self._boxes[seat], *self._replaced[seat])]
        return None if None in used else sum(filter(None, used))


def _naps(spin_ns: int = 0) -> Iterator[None]:
    """Each step is a pause between two checks: for `spin_ns` just long enough to let others run, then longer ones."""
    spin_until = time.monotonic_ns() + spin_ns
    while time.monotonic_ns() < spin_until:
        os.sched_yield()
        yield
    nap_s = _SHORT_NAP_S
    while True:
        time.sleep(nap_s)
        nap_s = min(2 * nap_s, _NAP_S)
        yield
