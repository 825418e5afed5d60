"""Pauses of a process: what makes one, and what does not."""

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import pytest

from judge.base.errors import HostError
from judge.base.procfs import stat_fields
from judge.play import pulse as pulse_module
from judge.play.live_wire import LiveWire
from judge.play.pulse import PAUSE_NS, PERIOD_NS, Pause, Pulse, pulse
from judge.record.transcript import EntryKind, Transcript
from tests.patience import PATIENCE_S, until
from tests.play.test_wire_events import OpenBox

BEATS = """
import sys
from judge.play.pulse import pulse
with pulse() as beats:
    print("beats", flush=True)
    sys.stdin.readline()
    for pause in beats.pauses_since(0):
        print(*pause)
"""


BOXES = [OpenBox(), OpenBox()]


def missed_ns(pause: Pause) -> int:
    """What of a pause neither this process nor others on its core explain."""
    return pause.ended_ns - pause.began_ns - pause.worked_ns - pause.waited_ns


def test_a_process_that_is_stopped_has_a_pause() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", BEATS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stdin
        process.stdout.readline()
        os.kill(process.pid, signal.SIGSTOP)
        until(lambda: stat_fields(process.pid)[0] == "T")
        stopped = time.monotonic_ns()
        time.sleep((PERIOD_NS + 3 * PAUSE_NS) / 1e9)  # how long it is stopped is what the test is about
        span_ns = time.monotonic_ns() - stopped
        os.kill(process.pid, signal.SIGCONT)
        out, _ = process.communicate("\n", PATIENCE_S)

    pauses = [Pause(*map(int, line.split())) for line in out.splitlines()]
    (found,) = [pause for pause in pauses if pause.began_ns <= stopped <= pause.ended_ns]
    assert missed_ns(found) >= span_ns - found.waited_ns - found.worked_ns > PAUSE_NS


def compute() -> None:
    """Keep the interpreter, as one that reads much of an agent does."""
    until = time.monotonic_ns() + 2 * (PERIOD_NS + PAUSE_NS)
    while time.monotonic_ns() < until:
        sum(range(100_000))


def write_to_a_slow_reader() -> None:
    """Be held up in a system call on an object of an agent's, for longer than what would be a pause."""
    reader, writer = os.pipe()
    held_up_s = 2 * (PERIOD_NS + PAUSE_NS) / 1e9
    command = f"import os, time; time.sleep({held_up_s}); os.read({reader}, 1 << 20)"
    with subprocess.Popen([sys.executable, "-c", command], pass_fds=[reader]):
        os.write(writer, bytes(1 << 16))
        os.write(writer, b"x")
    os.close(reader)
    os.close(writer)


@pytest.mark.parametrize("work", [compute, write_to_a_slow_reader])
def test_work_for_an_agent_is_no_pause(work: Callable[[], None]) -> None:
    with pulse() as beats:
        began = time.monotonic_ns()
        work()

        assert [] == [pause for pause in beats.pauses_since(began) if missed_ns(pause) >= PAUSE_NS]


def test_games_of_a_process_share_a_pulse_and_the_last_one_ends_it() -> None:
    with pulse() as first:
        with pulse() as second:
            assert first is second
        assert first._thread.is_alive()
    assert not first._thread.is_alive()
    with pulse() as third:
        assert third is not first


def test_pulse_beats_on_while_the_kernel_has_no_memory_to_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = threading.Event()

    def refuse(*_: object) -> bytes:
        refused.set()
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    with monkeypatch.context() as patches, pulse() as beats:
        patches.setattr("judge.play.pulse.os.pread", refuse)
        assert refused.wait(PATIENCE_S)
        patches.undo()
        last = beats._last.ns
        until(lambda: beats._last.ns > last)


def test_forked_process_has_its_own_pulse() -> None:
    """The thread of its parent does not beat in it."""
    with pulse():
        child = os.fork()
        if child == 0:
            with pulse() as child_pulse:
                os._exit(0 if child_pulse._thread.is_alive() and isinstance(child_pulse, Pulse) else 1)
        assert 0 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_suspended_machine_is_noticed_although_its_clock_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test can suspend the machine: only the difference of the two clocks is not real here."""
    slept = [0]
    monkeypatch.setattr(pulse_module, "_suspended_ns", lambda: slept[0])
    with pulse() as beats:
        here, away = (
            LiveWire(BOXES, Transcript(), lambda _: BOXES[0], None, 1, 0, pulse=beats, is_elsewhere=is_away)
            for is_away in (False, True)
        )
        slept[0] = 12_000_000_000
        until(lambda: beats.suspended_ns)

        assert EntryKind.EXPIRED is here.await_event(time.monotonic_ns()).kind
        with pytest.raises(HostError, match=r"suspended for 12\.0 s"):
            away.await_event(time.monotonic_ns())
