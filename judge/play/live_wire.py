"""The wire to two boxes, with one poll loop."""

import os
import select
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import chain

from judge.base.errors import HostError
from judge.games.types import SEATS
from judge.play.inbox import Inbox
from judge.play.kernel_watch import KernelWatch
from judge.play.pulse import PAUSE_NS, Pulse
from judge.play.stopped_boxes import StoppedBoxes
from judge.play.wait_meter import WaitMeter
from judge.record.transcript import Entry, EntryKind, Transcript
from judge.referee.requests import MemoryUse, RanOn
from judge.sandbox.box import NO_FREEZER, Box, Channel, EventSource, Limits
from judge.sandbox.evidence import Evidence, ProcessReport
from judge.sandbox.host_activity.core_use import CoreUse
from judge.sandbox.host_activity.stalls import StallWatch
from judge.sandbox.machine.pipes import PipeSource

_KIND_OF_CHANNEL = {
    Channel.OUT: EntryKind.READ,
    Channel.ERR: EntryKind.STDERR,
    Channel.REPORT: EntryKind.REPORT,
    Channel.OOM: EntryKind.OOM,
}

_IDLE_NS = 1_000_000
"""The judge's own work starts only after this time of a wait, so that it does not delay fast agents."""

_MAX_POLL_S = 3600.0
"""epoll refuses more than 2**31 - 1 ms."""

_STARTED = ProcessReport("started").encode()

_WRITABLE = select.EPOLLOUT
_BROKEN = select.EPOLLERR | select.EPOLLHUP

_PIPE_BYTES = 1 << 16

_REST_NS = 500_000
"""Without a rest, an agent keeps the judge busy by gigabytes of stderr a second, or by single letters."""

_OVERSLEPT_NS = 5_000_000
"""Shorter lateness at a deadline is not recorded."""


class _Surplus:
    """Rests after each read of stderr beyond its bound."""

    def __init__(self, epoll: select.epoll) -> None:
        self._epoll = epoll
        self._resting: dict[int, EventSource] = {}
        self._until = 0

    def rest(self, fd: int, source: EventSource) -> None:
        if isinstance(source, PipeSource):  # others also carry stdout
            with suppress(BlockingIOError):
                os.read(fd, _PIPE_BYTES)  # a small read costs as much
            self._epoll.modify(fd, 0)
            self._resting[fd] = source
            self._until = self._until or time.monotonic_ns() + _REST_NS

    def forget(self, fd: int) -> None:
        """Call before it is unregistered."""
        self._resting.pop(fd, None)

    def end_rest(self, now: int, until_ns: int) -> int:
        """End a rest that is over; return when to call again, at the latest `until_ns`."""
        if now < self._until:
            return min(self._until, until_ns)
        if self._until:
            for fd, source in self._resting.items():
                self._epoll.modify(fd, source.events)
            self._resting.clear()
            self._until = 0
        return until_ns


class LiveWire:
    """Two boxes, polled by one epoll."""

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
        kernel_bytes: int = Limits().kernel_bytes,
        seat_cores: Sequence[Sequence[int]] = (),
        is_elsewhere: bool = False,
    ) -> None:
        """`use` reads the use of the slot's `cores`, if it is distinguishable from the judge's.

        The kernel's memory for an agent is reported above `kernel_bytes`.
        The judge polls without sleeping for `spin_ns` of each wait. `stalls` is None where an agent could influence it.
        `seat_cores`: if agents may ponder. `is_elsewhere`: agents may run while this machine is suspended.
        """
        self.boxes = list(boxes)
        self._transcript = transcript
        self._new_box = new_box
        self._meters = [WaitMeter(self.boxes, use, cores, stalls)] * len(SEATS)
        if seat_cores:
            self._meters = [
                WaitMeter(self.boxes, CoreUse(own_cores) if use else None, len(own_cores), stalls, (seat,))
                for seat, own_cores in enumerate(seat_cores)
            ]
        self._meter = self._meters[0]
        self._kernel = KernelWatch(self.boxes, kernel_bytes)
        self._spin_ns = spin_ns
        self._inbox = Inbox(stderr_bytes, least_bytes)
        self._stopped = StoppedBoxes(self.boxes, transcript, may_spin=spin_ns > 0)
        self._epoll = select.epoll()
        self._sources: dict[int, tuple[int, EventSource]] = {}
        self._outbox = [bytearray(), bytearray()]
        self._has_looked = False
        self._room: dict[int, int] = {}
        self._surplus = _Surplus(self._epoll)
        self._pulse = pulse
        self._is_elsewhere = is_elsewhere
        self._suspended_ns = 0 if pulse is None else pulse.suspended_ns
        self._looked_at = self._ran_at = time.monotonic_ns()
        self.late_ns = 0
        """Longest time without a poll, or lateness at a deadline."""
        self.thaw_ns = 0
        """Longest call that thawed a box."""
        for seat in SEATS:
            self._watch(seat)

    def start(self, seat: int) -> int:
        self._meter = self._meters[seat]
        self._meter.take_snapshot()
        now = time.monotonic_ns()
        self._ran_at, self._has_looked = now, False
        self.boxes[seat].start()
        self._transcript.add(now, seat, EntryKind.STARTED)
        self._meter.begin(seat, now)
        return now

    def write_input(self, seat: int, data: bytes) -> None:
        self._transcript.add(time.monotonic_ns(), seat, EntryKind.WROTE, data)
        if self._outbox[seat]:
            self._outbox[seat] += data
            return
        taken = self.boxes[seat].write(data)
        if 0 <= taken < len(data):
            self._outbox[seat] += data[taken:]
            self._watch_room(seat)

    def thaw(self, seat: int) -> int:
        self._stopped.may_run(seat)
        self._meter = self._meters[seat]
        # Read the clock first: on a shared core the agent may run before the call returns.
        now = time.monotonic_ns()
        if self._meter.is_old(now):
            self._meter.take_snapshot()
            now = time.monotonic_ns()
        self._ran_at, self._has_looked = now, False
        self.boxes[seat].thaw()
        self.thaw_ns = max(self.thaw_ns, time.monotonic_ns() - now)
        self._transcript.add(now, seat, EntryKind.THAWED)
        self._meter.begin(seat, now)
        return now

    def freeze(self, seat: int) -> int | None:
        if self._stopped.let_rest(seat):
            self._looked_at = time.monotonic_ns()
        self._stopped.freeze(seat)
        self._meters[seat].end()
        now = time.monotonic_ns()
        used = self.boxes[seat].meter.memory_bytes()
        self._transcript.add(now, seat, EntryKind.FROZEN, b"" if used is None else b"%d" % used)
        self._watch_kernel(now)
        self._watch_kills(now)
        return used

    def await_stopped(self, seat: int, bound_ns: int) -> RanOn | None:
        ran = self._stopped.await_stopped(seat, bound_ns)
        if ran is not None:
            self._looked_at = time.monotonic_ns()
        return ran

    def read_stopped_cpu(self, seat: int, asked: int) -> int:
        return self._stopped.used_cpu(seat, asked)

    def read_pending(self) -> Sequence[Entry]:
        ready = self._poll_for(0.0)
        if self._has_looked:
            ready = [(fd, mask) for fd, mask in ready if self._is_stoppable(fd)]
        self._has_looked = True
        self._take(ready)
        self._inbox.end_lines()
        seen = self._inbox.take_all()
        if not seen:
            return ()
        for entry in seen:
            self._transcript.add(*entry[:4])
        self._transcript.add(time.monotonic_ns(), seen[-1].seat, EntryKind.LOOKED)
        return seen

    def await_event(self, until_ns: int) -> Entry:
        self._poll(until_ns)
        if self._is_elsewhere and self._pulse is not None and self._pulse.suspended_ns > self._suspended_ns:
            span_s = (self._pulse.suspended_ns - self._suspended_ns) / 1e9
            raise HostError(
                f"This machine was suspended for {span_s:.1f} s while agents of the game ran on another machine"
            )
        now = time.monotonic_ns()
        entry = self._inbox.take_first() or Entry(now, -1, EntryKind.EXPIRED, b"")
        self._transcript.add(*entry[:4])
        return entry

    def measure(self, seat: int) -> Evidence:
        box = self.boxes[seat]
        shares = self._meters[seat].shares(seat)
        evidence = box.meter.readings().model_copy(update={**shares, "held_by_others": box.is_held()})
        self._transcript.add(time.monotonic_ns(), seat, EntryKind.EVIDENCE, evidence.encode())
        return evidence

    def read_memory(self, seat: int, limit_bytes: int) -> MemoryUse | None:
        box = self.boxes[seat]
        peak = box.meter.readings().memory_peak_bytes
        if peak is None or peak <= limit_bytes:
            return None
        use = MemoryUse(peak, min(peak, box.file_bytes()))
        if use.own_bytes <= limit_bytes:
            return None
        self._transcript.add(time.monotonic_ns(), seat, EntryKind.MEMORY, use.encode())
        return use

    def restart(self, seat: int) -> int:
        self._transcript.add(time.monotonic_ns(), seat, EntryKind.RESPAWNED)
        self._meters[seat].end()
        self._forget(seat)
        self._stopped.replace(seat, self._new_box)
        self._kernel.forget_kills(seat)
        self.boxes[seat].prepare()
        self.boxes[seat].enter()
        self._watch(seat)
        self._looked_at = time.monotonic_ns()
        return self.start(seat)

    def mute(self, seat: int) -> None:
        for fd in [fd for fd, (owner, _) in self._sources.items() if owner == seat]:
            self._unwatch(fd)
        self._inbox.forget(seat)

    def kill(self, seat: int) -> None:
        self.boxes[seat].kill()
        self._stopped.ends(seat)
        self._looked_at = time.monotonic_ns()
        self._transcript.add(self._looked_at, seat, EntryKind.KILLED)

    def note_failure(self, why: str) -> None:
        self._transcript.add(time.monotonic_ns(), -1, EntryKind.FAILED, why.encode())

    def leave(self) -> tuple[float, float]:
        """Stop all processes on the slot's cores; never raises. Per seat: the seconds for which they ran after the
        kill.
        """
        for meter in self._meters:
            meter.end()
        for box in chain(*map(self._stopped.all_of, SEATS)):
            with suppress(HostError):
                box.kill()
        first, second = (sum(box.leave() for box in self._stopped.all_of(seat)) for seat in SEATS)
        return first, second

    def close(self) -> None:
        """Never raises."""
        self._epoll.close()
        for seat in SEATS:
            for box in self._stopped.all_of(seat):
                box.close()

    def _poll(self, until_ns: int) -> None:
        began = time.monotonic_ns()
        spun_until, idle_at = began + self._spin_ns, began + _IDLE_NS
        while not self._inbox:
            now = time.monotonic_ns()
            if self._watch_kernel(now):
                break
            closer_at = min(self._meter.read_for_verdict(now, until_ns), self._kernel.due_ns)
            closer_at = self._surplus.end_rest(now, closer_at)
            if now < spun_until:
                ready = self._poll_for(0.0)
            else:
                is_idle = now >= idle_at or not self._spin_ns
                if is_idle:
                    self._transcript.spill()
                wait_ns = min(until_ns, closer_at) if is_idle else min(until_ns, closer_at, idle_at)
                ready = self._poll_for(max(0.0, (wait_ns - now) / 1e9))
            if not ready and self._looked_at >= until_ns:
                ready = self._poll_for(0.0)
            looked_at = self._looked_at
            if looked_at - self._ran_at >= PAUSE_NS or looked_at - until_ns >= _OVERSLEPT_NS:
                self._note_absence(now, until_ns)
            self._ran_at = looked_at
            self._take(ready)
            if self._looked_at >= until_ns and not self._inbox:
                self._inbox.end_lines()
                if not ready:
                    self.late_ns = max(self.late_ns, self._looked_at - max(now, until_ns))
                return

    def _watch_kernel(self, now: int) -> bool:
        """If it is due; whether an agent is above its limit."""
        if now < self._kernel.due_ns:
            return False
        for seat, used in self._kernel.read():
            self._inbox.add(now, seat, EntryKind.KERNEL, b"%d" % used)
        self._watch_kills(now)
        return bool(self._inbox)

    def _watch_kills(self, now: int) -> None:
        for seat in self._kernel.read_kills():
            self._inbox.add(now, seat, EntryKind.OOM, b"")

    def _is_stoppable(self, fd: int) -> bool:
        return fd in self._sources and self.boxes[self._sources[fd][0]].freezer != NO_FREEZER

    def _poll_for(self, span_s: float) -> list[tuple[int, int]]:
        self.late_ns = max(self.late_ns, time.monotonic_ns() - self._looked_at)
        ready = self._epoll.poll(min(span_s, _MAX_POLL_S))
        self._looked_at = time.monotonic_ns()
        return ready

    def _note_absence(self, began: int, until_ns: int) -> None:
        """Only time since `began` counts: an agent can cause work before it."""
        paused_ns = self._note_pauses(self._looked_at)
        overslept_ns = self._looked_at - max(began, until_ns) - paused_ns
        self.late_ns = max(self.late_ns, paused_ns, overslept_ns)
        if overslept_ns >= _OVERSLEPT_NS:
            self._inbox.note(self._looked_at, EntryKind.OVERSLEPT, overslept_ns)

    def _note_pauses(self, now: int) -> int:
        before, self._ran_at = self._ran_at, now
        if self._pulse is None:
            return 0
        paused_ns = 0
        for pause in self._pulse.pauses_since(before):
            # Agents and other games can cause work and waiting for a core, so neither is a pause.
            span_ns = min(now, pause.ended_ns) - max(before, pause.began_ns) - pause.worked_ns - pause.waited_ns
            paused_ns += span_ns if span_ns >= PAUSE_NS else 0
        if paused_ns:
            self._inbox.note(now, EntryKind.PAUSED, paused_ns)
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
            for other_fd, (owner, other) in list(self._sources.items()):
                if owner == seat and other.ended:
                    self._unwatch(other_fd)
        elif not chunks and mask & _BROKEN and not mask & select.EPOLLPRI:
            self._unwatch(fd)  # it would be reported repeatedly
        for channel, data in chunks:
            if channel is Channel.ERR and data and not self._inbox.has_stderr_room(seat):
                self._surplus.rest(fd, source)
            if channel is Channel.REPORT and data != _STARTED:
                self._stopped.ends(seat)
            self._inbox.add(now, seat, _KIND_OF_CHANNEL[channel], data)

    def _flush(self, fd: int, mask: int) -> None:
        """A full pipe without a reader is reported as broken, never as writable."""
        seat = self._room[fd]
        outbox = self._outbox[seat]
        taken = self.boxes[seat].write(bytes(outbox))
        if taken < 0 or (taken == 0 and mask & _BROKEN):
            outbox.clear()
        del outbox[: max(0, taken)]
        if not outbox:
            self._unwatch_room(fd)

    def _watch(self, seat: int) -> None:
        for source in self.boxes[seat].sources:
            self._sources[source.fd] = (seat, source)
            self._register(source.fd, source.events)

    def _register(self, fd: int, events: int) -> None:
        try:
            self._epoll.register(fd, events)
        except OSError as error:
            raise HostError(
                f"The kernel does not let this user watch more pipes: {error.strerror}: see fs.epoll.max_user_watches"
            ) from error

    def _unwatch(self, fd: int) -> None:
        if self._sources.pop(fd, None) is not None:
            self._surplus.forget(fd)
            self._epoll.unregister(fd)

    def _watch_room(self, seat: int) -> None:
        fd = self.boxes[seat].stdin_fd
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
        self._stopped.may_run(seat)
