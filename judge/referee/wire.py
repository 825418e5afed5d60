"""All that the referee knows of the world comes through a wire, and each thing it learns or does is recorded.

A live wire watches two boxes in one poll loop; a replay wire (`judge.referee.replay`) reads a transcript. The referee
has no other source of time or bytes, so the same referee on the same entries reaches the same end.
"""

import json
import os
import select
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from judge.games.types import SEATS
from judge.referee.transcript import EntryKind, Transcript
from judge.sandbox.box import NO_FREEZER, Box, Channel, EventSource, ProcessReport, Readings
from judge.sandbox.cores import Use
from judge.sandbox.stall_probe import STALL_NS
from judge.sandbox.stalls import StallWatch

_KIND_OF_CHANNEL = {
    Channel.OUT: EntryKind.READ,
    Channel.ERR: EntryKind.STDERR,
    Channel.REPORT: EntryKind.REPORT,
    Channel.OOM: EntryKind.OOM,
}

_SNAPSHOT_NS = 20_000_000
"""How old the last reading of the cores' busy time may be when a wait begins; a reading costs about 50 us."""

_AT_ONCE_NS = 1_000_000
"""A box that is frozen within this time is frozen at once: an honest one takes some microseconds."""

_NAP_S = 0.0005
"""How often a box that is not frozen at once is checked."""

UNENDED_BYTES = 4096
"""A line without an end is reported when it has this many bytes."""

_REPLACED_NS = 1_000_000_000
"""How long the judge waits for the box of a replaced process to be gone before it makes the new one."""

_STARTED = ProcessReport("started").encode()

_WRITABLE = select.EPOLLOUT


class Happening(NamedTuple):
    """Something the judge saw: when (monotonic ns), of which seat (-1: of none), what, and its bytes."""

    ns: int
    seat: int
    kind: EntryKind
    data: bytes


class RanOn(NamedTuple):
    """How long a seat ran on after it was frozen, and the CPU time that it used (None if unknown)."""

    ns: int
    cpu_ns: int | None

    def encode(self) -> bytes:
        """JSON, as in a transcript."""
        return json.dumps(self).encode()

    @classmethod
    def decode(cls, data: bytes) -> "RanOn":
        """The inverse of `encode`; ValueError or TypeError for anything else."""
        ns, cpu_ns = json.loads(data)
        return cls(int(ns), None if cpu_ns is None else int(cpu_ns))


class Measured(NamedTuple):
    """Readings for a verdict; see `judge.referee.blame.Evidence`."""

    readings: Readings
    others_share: float | None
    held_by_others: bool | None
    opponent_cpu_ns: int | None = None
    """CPU time that the other seat, which should be frozen, used since this seat's wait began."""
    waited_share: float | None = None
    stalled_share: float | None = None
    slept_share: float | None = None
    game_stalled_share: float | None = None
    game_slept_share: float | None = None
    pressure_share: float | None = None
    host_pressure_share: float | None = None

    def encode(self) -> bytes:
        """JSON, as in a transcript."""
        values = [getattr(self.readings, name) for name in Readings.__slots__]
        return json.dumps([*values, *self[1:]]).encode()

    @classmethod
    def decode(cls, data: bytes) -> "Measured":
        """The inverse of `encode`; fields that are newer than the record are None."""
        values = json.loads(data)
        count = len(Readings.__slots__)
        return cls(Readings(*values[:count]), *values[count:])


class _Look(NamedTuple):
    """What was counted of the slot at one moment, in nanoseconds since fixed ones."""

    ns: int
    others_ns: int = 0
    """Time of the slot's cores that neither agent used."""
    stolen_ns: int = 0
    cpu_ns: tuple[int | None, int | None] = (None, None)
    """The CPU time of each seat."""
    waited_ns: tuple[int | None, int | None] = (None, None)
    """For how long each seat waited for a core."""
    pressure_ns: tuple[int | None, int | None] = (None, None)
    """For how long each seat waited for memory or a disk."""
    host_pressure_ns: int | None = None
    stalled_ns: int | None = None
    """For how long the kernel stalled a process of the judge's own."""


class _Waits:
    """All the time for which a seat was waited for in this game, but the present wait."""

    def __init__(self) -> None:
        self.ns = 0
        self.stalled_ns = 0


class Wire(Protocol):
    """Both seats, as the referee sees them. Every method may raise HostError."""

    def start(self, seat: int) -> int:
        """Start the agent; returns the moment at which its time begins."""

    def write(self, seat: int, data: bytes) -> None:
        """Queue bytes for the agent's stdin; what the pipe does not take now is written during waits."""

    def thaw(self, seat: int) -> int:
        """Thaw the agent; returns the moment from which its clock runs."""

    def freeze(self, seat: int) -> None:
        """Stop the whole box of a seat; `await_still` confirms."""

    def await_still(self, seat: int, bound_ns: int) -> RanOn | None:
        """Wait until a seat that was frozen stands still, for `bound_ns` at most; None: it does so at once.

        No clock of the other seat runs meanwhile.
        """

    def look(self) -> Sequence[Happening]:
        """What has happened already, before a request; does not wait."""

    def wait(self, until_ns: int) -> Happening:
        """The next observation; one of kind EXPIRED if nothing happens until `until_ns`."""

    def measure(self, seat: int) -> Measured:
        """Readings of a seat's box; what others used of its cores since its wait began, and whether they paused it."""

    def respawn(self, seat: int) -> int:
        """Close the agent's box and start it in a new one; returns the moment at which its time begins."""

    def mute(self, seat: int) -> None:
        """Read nothing more of a seat."""

    def kill(self, seat: int) -> None:
        """End the agent now."""

    def fail(self, why: str) -> None:
        """Note that the host failed after the game was over."""


class LiveWire:
    """Two boxes, watched by one epoll."""

    def __init__(
        self,
        boxes: Sequence[Box],
        transcript: Transcript,
        new_box: Callable[[int], Box],
        use: Callable[[], Use] | None,
        cores: int,
        stderr_bytes: int,
        spin_ns: int = 0,
        least_bytes: int = 1,
        stalls: StallWatch | None = None,
    ) -> None:
        """`use` reads how the slot's `cores` were used, where that can be told apart from the judge.

        For `spin_ns` of every wait the judge asks again instead of sleeping: with a core of its own that costs nobody
        anything, and a core that sleeps takes longer to wake than an instant agent to answer. `stalls` tells of stalls
        of the host; None where an agent could reach it.
        """
        self._boxes = list(boxes)
        self._transcript = transcript
        self._new_box = new_box
        self._use = use
        self._cores = max(1, cores)
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
        self._loose_cpu: list[int | None] = [None, None]
        self._asked = -1
        self._still_cpu: int | None = None
        self._snapshot = _Look(0)
        self._stalls = stalls
        self._waits = (_Waits(), _Waits())
        self._waited_since = 0
        """Since when the seat that is asked is waited for; 0: it is not."""
        self._looked_at = time.monotonic_ns()
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
        self._look_at_cores(time.monotonic_ns())
        now = time.monotonic_ns()
        self._boxes[seat].start()
        self._transcript.add(now, seat, EntryKind.STARTED)
        self._asked, self._still_cpu = seat, None
        self._begin_wait(now)
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
        """Thaw the agent. CPU time that it used while it should have been frozen sets its clock back."""
        self._stands[seat] = None
        dodged = self._cpu_used_loose(seat)
        # The moment is taken before the thaw: on a shared core the agent may run before the call returns.
        now = time.monotonic_ns()
        if now - self._snapshot.ns > _SNAPSHOT_NS:
            self._look_at_cores(now)
            now = time.monotonic_ns()
        since = now - dodged
        self._boxes[seat].thaw()
        self._transcript.add(since, seat, EntryKind.THAWED)
        self._asked, self._still_cpu = seat, None
        self._begin_wait(now)
        return since

    def freeze(self, seat: int) -> None:
        """Stop the box."""
        self._boxes[seat].freeze()
        self._end_wait()
        self._stands[seat] = self._boxes[seat].is_frozen
        self._transcript.add(time.monotonic_ns(), seat, EntryKind.FROZEN)

    def await_still(self, seat: int, bound_ns: int) -> RanOn | None:
        """Check until the box is still: at first without a pause, which is enough for an honest one."""
        if self._stands[seat] is None and not self._replaced[seat]:
            return None
        if self._stands_within(seat, min(_AT_ONCE_NS, bound_ns), os.sched_yield):
            return None
        began, cpu = time.monotonic_ns(), self._cpu(seat)
        stands = self._stands_within(seat, bound_ns, lambda: time.sleep(_NAP_S))
        self._looked_at = now = time.monotonic_ns()  # nobody's clock ran meanwhile
        used = None if cpu is None else max(0, (self._cpu(seat) or 0) - cpu)
        if not stands and self._stands[seat] is not None:
            self._loose_cpu[seat] = cpu
        ran = RanOn(now - began, used)
        self._transcript.add(now, seat, EntryKind.RAN_ON, ran.encode())
        return ran

    def look(self) -> Sequence[Happening]:
        """What has happened already."""
        self._take(self._poll_for(0.0))
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
        now = time.monotonic_ns()
        happening = self._inbox.popleft() if self._inbox else Happening(now, -1, EntryKind.EXPIRED, b"")
        self._transcript.add(*happening)
        return happening

    def measure(self, seat: int) -> Measured:
        """Readings of the box, and what others did to it and used of the slot."""
        box = self._boxes[seat]
        shares = self._shares(seat)
        used = self._opponent_cpu() if seat == self._asked else None
        measured = Measured(box.readings(), held_by_others=box.is_held(), opponent_cpu_ns=used, **shares)
        self._transcript.add(time.monotonic_ns(), seat, EntryKind.EVIDENCE, measured.encode())
        return measured

    def respawn(self, seat: int) -> int:
        """A new box for the same agent."""
        self._transcript.add(time.monotonic_ns(), seat, EntryKind.RESPAWNED)
        self._end_wait()
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
        spun_until = time.monotonic_ns() + self._spin_ns
        while not self._inbox:
            now = time.monotonic_ns()
            if now < spun_until:
                ready = self._poll_for(0.0)
            else:
                if self._still_cpu is None:
                    self._still_cpu = self._cpu_of_the_other()
                self._transcript.spill()
                ready = self._poll_for(max(0.0, (until_ns - now) / 1e9))
            self._take(ready)
            if self._looked_at >= until_ns and not self._inbox:
                self._hand_out_unended()
                if not ready:
                    self._late_ns = max(self._late_ns, self._looked_at - max(now, until_ns))
                return

    def _poll_for(self, span_s: float) -> list[tuple[int, int]]:
        """Poll, and measure the longest time between two polls."""
        self._late_ns = max(self._late_ns, time.monotonic_ns() - self._looked_at)
        ready = self._epoll.poll(span_s)
        self._looked_at = time.monotonic_ns()
        return ready

    def _take(self, ready: Sequence[tuple[int, int]]) -> None:
        for fd, mask in ready:
            if mask & _WRITABLE:
                self._flush(fd)
            if mask & ~_WRITABLE:
                self._read(fd)

    def _read(self, fd: int) -> None:
        entry = self._sources.get(fd)
        if entry is None:
            return
        seat, source = entry
        chunks = source.read()
        now = time.monotonic_ns()
        if source.ended:
            self._unwatch_ended(seat)
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

    def _flush(self, fd: int) -> None:
        for seat in SEATS:
            box = self._boxes[seat]
            if box.stdin_fd != fd:
                continue
            outbox = self._outbox[seat]
            taken = box.write(bytes(outbox))
            if taken < 0:
                outbox.clear()
            del outbox[: max(0, taken)]
            if not outbox:
                self._unwatch_room(fd)

    def _watch(self, seat: int) -> None:
        for source in self._boxes[seat].sources:
            self._sources[source.fd] = (seat, source)
            self._epoll.register(source.fd, source.events)

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
        elif fd in self._sources:
            self._epoll.modify(fd, self._sources[fd][1].events | _WRITABLE)
        else:
            self._epoll.register(fd, _WRITABLE)

    def _unwatch_room(self, fd: int) -> None:
        if fd in self._sources:
            self._epoll.modify(fd, self._sources[fd][1].events)
        else:
            self._epoll.unregister(fd)

    def _forget(self, seat: int) -> None:
        self.mute(seat)
        if self._outbox[seat]:
            self._unwatch_room(self._boxes[seat].stdin_fd)
            self._outbox[seat].clear()
        self._stands[seat] = None
        self._loose_cpu[seat] = None

    # --- freezing and cores ------------------------------------------------------------------------------------------

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
        used = [box.readings().cpu_ns for box in (self._boxes[seat], *self._replaced[seat])]
        return None if None in used else sum(filter(None, used))

    def _cpu_of_the_other(self) -> int | None:
        """CPU time of the seat that should be frozen while the other is asked; None if unknown."""
        box = self._boxes[1 - self._asked]
        return None if self._asked < 0 or box.freezer == NO_FREEZER else box.cpu_ns()

    def _opponent_cpu(self) -> int | None:
        now = self._cpu_of_the_other()
        return None if now is None or self._still_cpu is None else max(0, now - self._still_cpu)

    def _cpu_used_loose(self, seat: int) -> int:
        """The CPU time of a seat since it was left running because it used none."""
        before = self._loose_cpu[seat]
        if before is None:
            return 0
        self._loose_cpu[seat] = None
        return max(0, (self._boxes[seat].cpu_ns() or before) - before)

    def _look_at_cores(self, now: int) -> None:
        self._snapshot = self._look_around(now, is_first=True)

    def _look_around(self, now: int, *, is_first: bool = False) -> _Look:
        if self._use is None and self._stalls is None:
            return _Look(now)
        busy, stolen = self._use() if self._use else (0, 0)
        cpu = self._of_both(lambda box: box.cpu_ns())
        look = _Look(
            now, busy - sum(used or 0 for used in cpu), stolen, cpu, self._of_both(lambda box: box.waited_ns())
        )
        if self._stalls is None:
            return look
        return look._replace(
            pressure_ns=self._of_both(lambda box: box.pressure_ns()),
            host_pressure_ns=self._stalls.pressure_ns(),
            stalled_ns=self._stalls.stalled_ns(most=is_first),
        )

    def _of_both(self, read: Callable[[Box], int | None]) -> tuple[int | None, int | None]:
        return read(self._boxes[0]), read(self._boxes[1])

    def _shares(self, seat: int) -> dict[str, float | None]:
        """The shares of `Measured`, of the time since the last reading and of all waits for the seat."""
        then, now = self._snapshot, self._look_around(time.monotonic_ns())
        span = now.ns - then.ns
        others = _share(now.others_ns - then.others_ns, span * self._cores) if self._use else None
        # Of what a hypervisor steals the guest says that the agent has it.
        stolen = (now.stolen_ns - then.stolen_ns) // self._cores
        waited = _share_of(then.waited_ns[seat], now.waited_ns[seat], span, stolen) if self._use else None
        if self._stalls is None:
            return {"others_share": others, "waited_share": waited}
        waits = self._waits[seat]
        stalled = _share_of(then.stalled_ns, now.stalled_ns, span)
        all_stalled = _share_of(then.stalled_ns, now.stalled_ns, waits.ns + span, waits.stalled_ns)
        return {
            "others_share": others,
            "waited_share": waited,
            "stalled_share": stalled,
            "slept_share": self._slept_share(seat, then, now, span),
            "game_stalled_share": all_stalled,
            "game_slept_share": self._slept_share(seat, _Look(0, cpu_ns=(0, 0)), now, waits.ns + span),
            "pressure_share": _share_of(then.pressure_ns[seat], now.pressure_ns[seat], span),
            "host_pressure_share": _share_of(then.host_pressure_ns, now.host_pressure_ns, span),
        }

    def _slept_share(self, seat: int, then: _Look, now: _Look, span: int) -> float | None:
        """The share of a time in which a seat neither ran nor wanted a core, or waited for memory or a disk: what
        frees memory for itself runs meanwhile."""
        ran = _share_of(then.cpu_ns[seat], now.cpu_ns[seat], span * self._cores)
        if ran is None:
            return None
        waited = _share_of(then.waited_ns[seat] or 0, now.waited_ns[seat], span) or 0.0
        pressed = _share_of(then.pressure_ns[seat] or 0, now.pressure_ns[seat], span) or 0.0
        return max(0.0, 1 - ran - waited, pressed)

    def _begin_wait(self, now: int) -> None:
        self._waited_since = now
        if self._stalls is not None:
            self._stalls.want(now)

    def _end_wait(self) -> None:
        """Note for how long the seat that is asked was waited for, and for how much of that the host stalled."""
        since, self._waited_since = self._waited_since, 0
        if self._stalls is None or not since:
            return
        self._stalls.want(0)
        waits, span = self._waits[self._asked], time.monotonic_ns() - since
        waits.ns += span
        if span >= STALL_NS:
            before, after = self._snapshot.stalled_ns, self._stalls.stalled_ns()
            waits.stalled_ns += max(0, min(span, (after or 0) - (before or 0)))


def _share_of(before: int | None, after: int | None, whole: int, more: int = 0) -> float | None:
    """The share that the growth of a counter, and as much `more`, has of the whole; None if it was not counted."""
    return None if before is None or after is None else _share(after - before + more, whole)


def _share(part: int, whole: int) -> float:
    return max(0.0, min(1.0, part / whole)) if whole > 0 else 0.0
