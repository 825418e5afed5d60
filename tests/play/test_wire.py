"""The live wire on real processes: what is read, written, bounded and replaced."""

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest

from judge.play.live_wire import LiveWire
from judge.record.transcript import Entry, EntryKind, Transcript
from judge.referee.requests import RanOn
from judge.sandbox.box import Box, BoxPolicy, Limits, Tenant
from judge.sandbox.evidence import Evidence
from judge.sandbox.host_activity.stall_probe import STALL_NS
from judge.sandbox.host_activity.stalls import StallWatch
from judge.sandbox.open_box import open_box

Wires = Callable[..., LiveWire]

SOON_NS = 60_000_000_000
"""Far away: what is awaited comes, or the test fails."""

ECHO = "import sys\nfor line in sys.stdin: sys.stdout.write(line); sys.stdout.flush()"


RUNS_ON = f"""
import os
if os.fork() == 0:
    page_table, sink = os.open("/proc/self/pagemap", os.O_RDONLY), bytearray(4 << 20)
    while True:
        os.preadv(page_table, [sink] * 511, 0)
{ECHO}
"""
"""A child of it is in a call that nothing interrupts, nearly all the time: each lasts for most of a second."""


class ScriptedStalls:
    """In place of a `StallWatch`: the host stalls while `on`."""

    def __init__(self) -> None:
        self.on = False
        self._ns = 0
        self._told = time.monotonic_ns()
        self.wanted: list[bool] = []

    def want(self, since: int, game: object = None) -> None:
        self.wanted.append(since > 0)

    def pressure_ns(self) -> int | None:
        return None

    def stalled_ns(self, *, most: bool = False) -> int | None:
        now = time.monotonic_ns()
        self._ns += now - self._told if self.on else 0
        self._told = now
        return self._ns


@pytest.fixture
def wires() -> Iterator[Wires]:
    """`wires(program, program)`: a wire between two Python programs in process boxes."""
    open_wires = []

    def make(
        *programs: str,
        stderr_bytes: int = 1000,
        transcript: Transcript | None = None,
        least_bytes: int = 1,
        stalls: StallWatch | None = None,
    ) -> LiveWire:
        def box(seat: int) -> Box:
            tenant = Tenant(
                name="t",
                program=Path(sys.executable).parent,
                command=(sys.executable, "-u", "-c", programs[seat]),
                runtime="python",
                seat=seat,
                game_id="test",
            )
            return open_box("process", tenant, Limits(), BoxPolicy())

        boxes = [box(0), box(1)]
        for each in boxes:
            each.prepare()
        wire = LiveWire(boxes, transcript or Transcript(), box, None, 1, stderr_bytes, 0, least_bytes, stalls)
        open_wires.append(wire)
        return wire

    yield make
    for wire in open_wires:
        wire.close()


def until(wire: LiveWire, wanted: Callable[[Entry], bool]) -> list[Entry]:
    """All that happens up to the one that is wanted."""
    seen: list[Entry] = []
    while not (seen and wanted(seen[-1])):
        entry = wire.await_event(time.monotonic_ns() + SOON_NS)
        assert entry.kind is not EntryKind.EXPIRED
        seen.append(entry)
    return seen


def said(seen: list[Entry]) -> bytes:
    """All of stdout, in however many reads."""
    return b"".join(h.data for h in seen if h.kind is EntryKind.READ)


def ends_a_line(entry: Entry) -> bool:
    return entry.kind is EntryKind.READ and entry.data.endswith(b"\n")


def test_stderr_is_kept_to_its_bound_and_read_beyond_it(wires: Wires) -> None:
    noisy = "import sys\nsys.stderr.write('e' * 500000)\nprint('done')"
    wire = wires(noisy, ECHO, stderr_bytes=700)
    wire.start(0)

    seen = until(wire, ends_a_line)

    assert b"done\n" == said(seen)
    assert 700 == sum(len(h.data) for h in seen if h.kind is EntryKind.STDERR)


FLOODS_STDERR = """
import os, time
until, piece, count = time.monotonic() + 1, b"e" * 65536, 0
while time.monotonic() < until:
    count += os.write(2, piece)
print(count)
"""


def test_a_flood_of_stderr_is_read_at_a_bounded_rate(wires: Wires) -> None:
    """Unbounded, an agent prints gigabytes in a second, which keep the judge's core busy."""
    wire = wires(FLOODS_STDERR, ECHO, stderr_bytes=700)
    wire.start(0)

    assert int(said(until(wire, ends_a_line))) < 300 << 20


def test_a_respawned_agent_starts_afresh_and_nothing_of_the_old_one_is_heard(wires: Wires) -> None:
    once = "import sys\nprint('born')\nprint(sys.stdin.readline())\nprint('stale')\nsys.stdin.read()"
    wire = wires(once, ECHO)
    wire.start(0)
    wire.write_input(0, b"one\n")
    until(wire, lambda h: b"one" in h.data)

    wire.restart(0)
    wire.write_input(0, b"two\n")
    seen = until(wire, lambda h: b"two" in h.data)

    heard = said(seen)
    assert heard.startswith(b"born\n")
    assert b"stale" not in heard[: heard.index(b"two")]


def test_stalls_count_in_the_turn_and_in_all_turns_of_the_seat(wires: Wires) -> None:
    stalls = ScriptedStalls()
    wire = wires(ECHO, ECHO, stalls=cast(StallWatch, stalls))

    def turn(seat: int, *, stalled: bool) -> Evidence:
        stalls.stalled_ns()
        stalls.on = stalled
        since = wire.thaw(seat)
        wire.write_input(seat, b"hello\n")
        until(wire, ends_a_line)
        while wire.await_event(since + 4 * STALL_NS).kind is not EntryKind.EXPIRED:
            pass
        measured = wire.measure(seat)
        wire.freeze(seat)
        stalls.on = False
        return measured

    for seat in (0, 1):
        wire.start(seat)
        wire.freeze(seat)
    stalled, other, calm = turn(0, stalled=True), turn(1, stalled=False), turn(0, stalled=False)

    assert (stalled.stalled_share or 0) > 0.5
    assert (0.0, 0.0) == (other.stalled_share, calm.stalled_share)
    assert (stalled.game_stalled_share or 0) > (calm.game_stalled_share or 0) > 0.2
    assert other.game_stalled_share == 0
    assert stalled == Evidence.decode(stalled.encode())
    assert [True, False] * 5 == stalls.wanted


def test_a_seat_that_is_muted_is_not_read_and_the_other_is(wires: Wires) -> None:
    flood = "while True: print('x' * 1000)"
    wire = wires(flood, ECHO)
    for seat in (0, 1):
        wire.start(seat)
    until(wire, lambda entry: (entry.seat, entry.kind) == (0, EntryKind.READ))

    wire.mute(0)
    wire.write_input(1, b"hello\n")
    seen = until(wire, lambda entry: (entry.seat, entry.kind) == (1, EntryKind.READ))

    assert {1} == {entry.seat for entry in seen}


def test_seat_running_on_is_waited_for_no_longer_than_the_bound_and_then_until_frozen(wires: Wires) -> None:
    transcript = Transcript()
    wire = wires(RUNS_ON, ECHO, transcript=transcript)
    wire.start(0)
    wire.write_input(0, b"hello\n")
    until(wire, ends_a_line)
    used = wire.boxes[0].meter.cpu_ns() or 0
    while (wire.boxes[0].meter.cpu_ns() or 0) <= used:
        time.sleep(0.01)
    wire.freeze(0)  # in the middle of a call

    first, second = wire.await_stopped(0, 1), wire.await_stopped(0, SOON_NS)

    assert first is not None
    assert second is not None
    assert second.cpu_ns is not None
    assert wire.boxes[0].is_frozen()
    assert wire.await_stopped(0, SOON_NS) is None
    entries = [entry for entry in transcript if entry.kind is EntryKind.RAN_ON]
    assert [(0, first), (0, second)] == [(entry.seat, RanOn.decode(entry.data)) for entry in entries]


def test_time_in_which_the_judge_reads_nothing_is_known(wires: Wires) -> None:
    wire = wires(ECHO, ECHO)
    wire.read_pending()
    began = time.monotonic_ns()
    sum(range(1_000_000))
    busy_ns = time.monotonic_ns() - began
    wire.read_pending()

    assert wire.late_ns >= busy_ns


SLOW_LINE = b"MESSAGE written letter by letter, as a brain without a buffer does it\n"
LETTERS = f"""
import os, time
os.read(0, 1)
for letter in {SLOW_LINE!r}:
    os.write(1, bytes([letter]))
    time.sleep(0.0001)
"""


def test_a_line_that_comes_letter_by_letter_is_one_read(wires: Wires) -> None:
    """An agent without a buffer needs no more of a transcript, or of the bytes of a game."""
    wire = wires(LETTERS, ECHO)
    wire.start(0)
    until(wire, lambda each: each.kind is EntryKind.REPORT)  # it would divide the read
    wire.write_input(0, b"x")

    assert [SLOW_LINE] == [each.data for each in until(wire, ends_a_line) if each.kind is EntryKind.READ]


def test_partial_line_is_available_at_the_deadline_and_before_an_end(wires: Wires) -> None:
    wire = wires("import sys\nprint('7,', end='', flush=True)\nsys.stdin.read(1)", ECHO)
    wire.start(0)
    while (begun := wire.await_event(time.monotonic_ns() + 1_000_000)).kind is not EntryKind.READ:
        pass  # at a deadline, sooner or later
    wire.write_input(0, b"x")
    ended = until(wire, lambda h: h.kind is EntryKind.READ)

    assert (0, EntryKind.READ, b"7,") == begun[1:4]
    assert b"" == ended[-1].data


def test_a_line_without_an_end_is_news_before_it_is_long(wires: Wires) -> None:
    wire = wires("import os, time\nwhile True: os.write(1, b'x' * 100)", ECHO)
    wire.start(0)

    seen = until(wire, lambda h: h.kind is EntryKind.READ)

    assert set(b"x") == set(seen[-1].data)
    wire.mute(0)


def test_pieces_of_stderr_are_bounded_as_their_bytes_are(wires: Wires) -> None:
    drip = """
import os, time
for _ in range(100):
    os.write(2, b"e")
    time.sleep(0.001)
print("done", flush=True)
"""
    wire = wires(drip, ECHO, stderr_bytes=640, least_bytes=64)
    wire.start(0)

    seen = until(wire, ends_a_line)

    # The end of stderr is one more, without data, and may be seen before the line.
    assert 10 >= sum(each.kind is EntryKind.STDERR and bool(each.data) for each in seen)
