"""Replays a transcript: the referee's requests are answered by its entries, which may arrive one by one."""

import re
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from judge.base.errors import HostError, InputError
from judge.base.text import printable
from judge.games.types import NATURE, SEATS, End
from judge.record.transcript import Entry, EntryKind, decode_memory, decode_number
from judge.referee.blame import Void
from judge.referee.referee import Referee
from judge.referee.requests import MemoryUse, RanOn, Request, StoppedCpu, UnansweredError, drive
from judge.referee.side import SeatStateError
from judge.sandbox.evidence import Evidence, ProcessReport


@contextmanager
def replaying(replay: "Replay | None" = None) -> Iterator[None]:
    """Any error that a forged transcript causes in the block becomes an InputError."""
    try:
        yield
    except (LookupError, TypeError, ValueError, RuntimeError, ArithmeticError, SeatStateError, struct.error) as error:
        where = "" if replay is None else f"entry {replay.position} "
        raise InputError(
            f"{_NOT_OURS}: {where}causes an error of the replay ({type(error).__name__}: {printable(str(error), 150)})"
        ) from error
    except HostError as error:
        raise InputError(f"the host failed before the game was over, which is a void: {error}") from error


_NOT_OURS = "not a transcript written by judge"
_ENDS = "the record departs from the rules: it ends before the game is over"

_EVENTS = {
    **dict.fromkeys((EntryKind.READ, EntryKind.STDERR, EntryKind.REPORT, EntryKind.OOM, EntryKind.KERNEL), SEATS),
    **dict.fromkeys((EntryKind.EXPIRED, EntryKind.PAUSED, EntryKind.OVERSLEPT), (NATURE, *SEATS)),
}
"""Kinds of events, with the seats that they may have."""
_OF_ANSWER = frozenset({EntryKind.READ, EntryKind.FROZEN, EntryKind.STOPPED_CPU})
_DECODE: dict[EntryKind, Callable[[bytes], object]] = {
    EntryKind.REPORT: ProcessReport.decode,
    EntryKind.FROZEN: decode_memory,
    EntryKind.PAUSED: decode_number,
    EntryKind.OVERSLEPT: decode_number,
    EntryKind.RAN_ON: RanOn.decode,
    EntryKind.STOPPED_CPU: StoppedCpu.decode,
    EntryKind.EVIDENCE: Evidence.decode,
    EntryKind.MEMORY: MemoryUse.decode,
    EntryKind.KERNEL: decode_number,
}


def _check_entry(number: int, entry: Entry) -> None:
    _, seat, kind, data, _ = entry
    if kind in _EVENTS and seat not in _EVENTS[kind]:
        raise InputError(f"{_NOT_OURS}: entry {number} is {kind.name} of seat {seat}, which does not exist")
    if kind in _DECODE:
        try:
            _DECODE[kind](data)
        except (ValueError, TypeError, LookupError, RuntimeError, ArithmeticError):
            shown = printable(repr(data), 100)
            raise InputError(f"{_NOT_OURS}: entry {number} is {kind.name} with invalid data: {shown}") from None


_FOLDER = re.compile(rb"^INFO folder [^\r\n]*", re.MULTILINE)


class Replay:
    """A referee on the entries of a transcript. Raises InputError if it departs from them."""

    def __init__(self, referee: Referee, entries: Sequence[Entry] = (), *, breaks_off: bool = False) -> None:
        """`feed` adds further entries. If the transcript `breaks_off`, the last answer still reaches the rules."""
        self.referee = referee
        self.end: End | Void | None = None
        self.runs_since_ns: list[int | None] = [None, None]
        """By seat: when its box was thawed, in transcript time; None while frozen."""
        self._requests = referee.requests()
        self._unanswered: Request | None = None
        self._breaks_off = breaks_off
        self._entries: list[Entry] = []
        self._next = 0
        self._is_whole = self._has_failed = False
        self._scanned = 0
        """Entries before this number have been read ahead."""
        self._append(entries)

    @property
    def position(self) -> int:
        return max(0, self._next - 1)

    @property
    def is_finished(self) -> bool:
        return self._next == len(self._entries)

    @property
    def ends_with_answer(self) -> bool:
        """Whether nothing follows the last answer, except the stop of its seat."""
        return self.is_finished and self._next > 0 and self._entries[-1].kind in _OF_ANSWER

    @property
    def unused(self) -> Sequence[Entry]:
        return self._entries[self._next :]

    @property
    def now_ns(self) -> int:
        return self._entries[self._next - 1].ns if self._next else 0

    def feed(self, entries: Sequence[Entry]) -> None:
        """Continue the game with these entries, at most to the first that no judge writes. Raises InputError there."""
        try:
            self._append(entries)
        except InputError:
            self._proceed()
            self._has_failed = True
            raise
        self._proceed()

    def finish(self) -> End | Void:
        """Continue to the end of the game; no other entries will follow."""
        self._is_whole = True
        self._proceed()
        if self.end is None:
            raise TypeError("the replay has not ended")
        return self.end

    def _append(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            _check_entry(len(self._entries), entry)
            self._entries.append(entry)

    def _proceed(self) -> None:
        if self.end is not None:
            return
        if self._has_failed:
            raise TypeError("the replay has raised an error before")
        try:
            self.end = drive(self._requests, self, self._unanswered)
        except UnansweredError as error:
            self._unanswered = error.request
        except BaseException:
            self._has_failed = True
            raise

    # --- answers to the referee's requests ----------------------------------------------------------------------------

    def start(self, seat: int) -> int:
        self.runs_since_ns[seat] = since_ns = self._expect(seat, EntryKind.STARTED).ns
        return since_ns

    def write_input(self, seat: int, data: bytes) -> None:
        """A folder's path depends on the box, and is not compared."""
        if self._breaks_off and self.is_finished:
            return
        entry = self._expect(seat, EntryKind.WROTE)
        if entry.data != data and _FOLDER.sub(b"", entry.data) != _FOLDER.sub(b"", data):
            raise self._departs(f"the judge would write {data!r:.100}, the record has {entry.data!r:.100}")

    def thaw(self, seat: int) -> int:
        self.runs_since_ns[seat] = since_ns = self._expect(seat, EntryKind.THAWED).ns
        return since_ns

    def freeze(self, seat: int) -> int | None:
        if self._breaks_off and self.is_finished:
            return None
        used = decode_memory(self._expect(seat, EntryKind.FROZEN).data)
        self.runs_since_ns[seat] = None
        return used

    def await_stopped(self, seat: int, bound_ns: int) -> RanOn | None:  # noqa: ARG002 the record knows how long it was
        return RanOn.decode(self._take().data) if self._is_next(seat, EntryKind.RAN_ON) else None

    def read_stopped_cpu(self, seat: int, asked: int) -> int:
        if not self._is_next(seat, EntryKind.STOPPED_CPU):
            return 0
        used = StoppedCpu.decode(self._entries[self._next].data)
        if used.asked != asked:
            return 0
        self._take()
        return used.ns

    def read_pending(self) -> Sequence[Entry]:
        end = self._scanned = max(self._next, self._scanned)
        while (entry := self._peek(end)) is not None and entry.kind in _EVENTS:
            end = self._scanned = end + 1
        if entry is None or entry.kind is not EntryKind.LOOKED:
            return ()
        seen = self._entries[self._next : end]
        self._next = end + 1
        if not seen:
            raise self._departs("it has LOOKED, and no event before it")
        return seen

    def await_event(self, until_ns: int) -> Entry:  # noqa: ARG002 the record knows when it was
        entry = self._take()
        if entry.kind not in _EVENTS:
            raise self._departs(f"the judge would wait, the record has {entry.kind.name}")
        return entry

    def measure(self, seat: int) -> Evidence:
        return Evidence.decode(self._expect(seat, EntryKind.EVIDENCE).data)

    def read_memory(self, seat: int, limit_bytes: int) -> MemoryUse | None:
        if not self._is_next(seat, EntryKind.MEMORY):
            return None
        use = MemoryUse.decode(self._take().data)
        if use.own_bytes <= limit_bytes:
            raise self._departs(f"the judge notes memory above {limit_bytes} bytes, the record has {use.own_bytes}")
        return use

    def restart(self, seat: int) -> int:
        self._peek(self._next + 1)  # it takes two entries, or none
        self._expect(seat, EntryKind.RESPAWNED)
        return self.start(seat)

    def mute(self, seat: int) -> None: ...

    def kill(self, seat: int) -> None:
        self._expect(seat, EntryKind.KILLED)

    def note_failure(self, why: str) -> None: ...

    def _peek(self, number: int) -> Entry | None:
        """None after the last. Raises UnansweredError if it has not arrived."""
        if number < len(self._entries):
            return self._entries[number]
        if not self._is_whole:
            raise UnansweredError
        return None

    def _is_next(self, seat: int, kind: EntryKind) -> bool:
        entry = self._peek(self._next)
        return entry is not None and entry.kind is kind and entry.seat == seat

    def _take(self) -> Entry:
        entry = self._peek(self._next)
        if entry is None:
            raise InputError(_ENDS)
        self._next += 1
        if entry.kind is EntryKind.FAILED:
            raise HostError(entry.data.decode(errors="replace"))
        return entry

    def _expect(self, seat: int, kind: EntryKind) -> Entry:
        entry = self._take()
        if entry.kind is not kind or entry.seat != seat:
            raise self._departs(
                f"the judge would do {kind.name} of seat {seat}, the record has {entry.kind.name} of seat {entry.seat}"
            )
        return entry

    def _departs(self, how: str) -> InputError:
        return InputError(f"the record departs from the rules at entry {self._next - 1}: {how}")


def rejoined(entries: Sequence[Entry]) -> list[Entry]:
    """Join chunks that were split at the borders of private lines.

    Their parts share a time, which no other read of the seat has, and alternate between private and public.
    """
    if not any(entry.private and entry.kind is EntryKind.READ for entry in entries):
        return list(entries)
    chunks: list[list[Entry]] = []
    for entry in entries:
        last = chunks[-1][-1] if chunks else None
        if (
            last is not None
            and entry.kind is last.kind is EntryKind.READ
            and (entry.ns, entry.seat) == (last.ns, last.seat)
            and entry.private is not last.private
            and entry.data
            and last.data
        ):
            chunks[-1].append(entry)
        else:
            chunks.append([entry])
    return [
        parts[0] if len(parts) == 1 else parts[-1]._replace(data=b"".join(part.data for part in parts))
        for parts in chunks
    ]
