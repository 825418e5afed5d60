"""Stalls of the host: what is one, what is not, and the process that is timed."""

import errno
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, closing
from pathlib import Path
from threading import Thread
from typing import Any
from unittest.mock import Mock

import pytest

from judge.base.procfs import stat_fields
from judge.sandbox.box import Nearby
from judge.sandbox.host_activity import stalls
from judge.sandbox.host_activity.stall_probe import (
    SECTOR_NS,
    STALL_NS,
    TRANSFER_NS,
    Doing,
    Probe,
    SharedPage,
    _when_possible,
    spent_ns,
    stolen_ns,
)
from judge.sandbox.host_activity.stalls import StallWatch, watch_stalls
from tests.patience import until


@pytest.mark.parametrize(
    ("span_ns", "waited_ns", "spent_ns", "stall_ns"),
    [
        (STALL_NS - 1, 0, 0, 0),
        (STALL_NS, 0, 0, STALL_NS),
        (9 * STALL_NS, 2 * STALL_NS, 3 * STALL_NS, 4 * STALL_NS),
        (9 * STALL_NS, 8 * STALL_NS + 1, 0, 0),
        (9 * STALL_NS, 0, 20 * STALL_NS, 0),
    ],
    ids=["short", "least", "less the waiting", "only waiting", "a busy disk"],
)
def test_stall_excludes_waits_for_cores_and_disk_work(
    span_ns: int, waited_ns: int, spent_ns: int, stall_ns: int
) -> None:
    doing = Doing(stalled_ns=7, began_ns=1000, waited_ns=300, disk=1, spent_ns=500)

    assert 7 + stall_ns == doing.total_ns(1000 + span_ns, 300 + waited_ns, 500 + spent_ns)
    assert 7 == Doing(7).total_ns(1 << 50, 0, 0), "nothing has begun"
    assert 7 == Doing(7, began_ns=1 << 50).total_ns(1000, 0, 0), "it begins later"


def test_work_of_a_disk_and_steal_time_are_read() -> None:
    line = "12 1 800 30 5 2 40 9 0 31 39 0 0 0 0"
    assert 17 * TRANSFER_NS + 840 * SECTOR_NS == spent_ns(line.split())

    tick = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    stat = "cpu  0 0 0 0 0 0 0 99 0 0\ncpu0 0 0 0 0 0 0 0 3 0 0\ncpu1 0 0 0 0 0 0 0 5 0 0\nintr 1\n"
    assert [0, 3 * tick, 8 * tick] == [stolen_ns(stat, cores) for cores in ({7}, {0}, {0, 1})]


def test_shared_page_contains_the_last_events() -> None:
    fd = os.memfd_create("page")
    os.ftruncate(fd, SharedPage.SIZE)
    with closing(SharedPage(fd)) as page, closing(SharedPage(fd)) as other:
        os.close(fd)
        assert (Doing(0), 0) == (other.doing(), other.wanted_since())
        page.want(5)
        page.tell(Doing(1, 2, 3, 4, 1 << 63))

        assert (Doing(1, 2, 3, 4, 1 << 63), 5) == (other.doing(), other.wanted_since())


def test_a_probe_that_was_ended_is_stalled_from_then_on(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(bytes(8192))
    with closing(StallWatch([Nearby((file, tmp_path / "none")), Nearby((file,))])) as watch:
        watch.want(time.monotonic_ns())
        before, pid = watch.stalled_ns(), watch.pid

        os.kill(pid, signal.SIGKILL)

        until(lambda: watch.stalled_ns() > before + STALL_NS)
        since, first = time.monotonic_ns(), watch.stalled_ns(most=True)
        until(lambda: watch.stalled_ns() > first + STALL_NS)
        assert watch.stalled_ns() - first <= time.monotonic_ns() - since
    assert not Path(f"/proc/{pid}").exists()


def test_start_that_fails_leaves_no_process_and_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The probe runs already when the kernel's files on it turn out to be hidden."""
    started: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def start(*args: Any, **kwargs: Any) -> subprocess.Popen[bytes]:
        started.append(popen(*args, **kwargs))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    monkeypatch.setattr(stalls, "PROC", tmp_path)
    before = sorted(Path("/proc/self/fd").iterdir())

    with pytest.raises(FileNotFoundError, match="schedstat"):
        StallWatch([Nearby((tmp_path,))])

    (probe,) = started
    assert (-signal.SIGKILL, before) == (probe.returncode, sorted(Path("/proc/self/fd").iterdir()))


def test_probe_outlives_a_file_that_is_gone(tmp_path: Path) -> None:
    with closing(StallWatch([])) as watch:
        watch._send_list([str(tmp_path / "gone")])
        until(watch._has_taken_lists)
        watch.want(time.monotonic_ns())
        assert watch.is_running


def test_probe_without_memory_for_its_readings_continues_and_is_stalled(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a cgroup that is full: the kernel refuses to answer, where a page fault waits."""
    read, refused_until = os.pread, 0

    def refuse(file: int, size: int, offset: int) -> bytes:
        if time.monotonic_ns() < refused_until:
            raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))
        return read(file, size, offset)

    fd = os.memfd_create("page")
    os.ftruncate(fd, SharedPage.SIZE)
    theirs, pipe = os.pipe()
    with closing(SharedPage(fd)) as page:
        os.close(fd)
        monkeypatch.setattr(os, "pread", refuse)
        probe = Thread(target=Probe(page).run, args=(theirs,))
        probe.start()
        page.want(time.monotonic_ns())
        refused_until = time.monotonic_ns() + 3 * STALL_NS
        until(lambda: page.doing().stalled_ns >= STALL_NS)

        os.close(pipe)
        probe.join()
    os.close(theirs)


def test_other_errors_of_a_reading_are_raised() -> None:
    assert 7 == _when_possible(Mock(side_effect=[MemoryError(), OSError(errno.ENOMEM, ""), 7]))
    with pytest.raises(ProcessLookupError):
        _when_possible(Mock(side_effect=ProcessLookupError(errno.ESRCH, "")))


@pytest.fixture
def places(tmp_path: Path) -> list[list[Nearby]]:
    for name in ("one", "two"):
        (tmp_path / name).write_bytes(bytes(8192))
    return [[Nearby((tmp_path / name,))] for name in ("one", "two")]


def test_a_probe_goes_from_game_to_game(tmp_path: Path, places: list[list[Nearby]]) -> None:
    with watch_stalls(places[0]) as watch:
        first = watch.pid
    with watch_stalls(places[1]) as watch, watch_stalls([Nearby((), tmp_path)]) as elsewhere:
        assert first == watch.pid != elsewhere.pid
        os.kill(first, signal.SIGKILL)
        until(lambda: not watch.is_running)
        with watch_stalls(places[0]) as anew:
            assert anew.pid not in (first, elsewhere.pid)
            assert anew.is_running
        assert not watch.is_running


def test_games_at_the_same_time_have_one_probe_until_the_last_one_ends(places: list[list[Nearby]]) -> None:
    """It reads beside one of them, and beside another one when that has ended."""
    with ExitStack() as first:
        watch = first.enter_context(watch_stalls(places[0]))
        with watch_stalls(places[1]) as beside:
            assert watch is beside
            watch.want(5, "one")
            watch.want(6, "two")
            first.close()
            watch.want(0, "one")
            assert beside.is_running
            assert 5 == beside._page.wanted_since()

            beside.want(0, "two")
            assert 0 == beside._page.wanted_since()


def test_stopped_probe_is_not_stalled() -> None:
    with closing(StallWatch([])) as watch:
        os.kill(watch.pid, signal.SIGSTOP)
        until(lambda: stat_fields(watch.pid)[0] == "T")
        before, began = watch.stalled_ns(), time.monotonic_ns()
        until(lambda: time.monotonic_ns() > began + 2 * STALL_NS)

        assert before == watch.stalled_ns()


JUDGE = "from judge.sandbox.host_activity.stalls import StallWatch\nprint(StallWatch([]).pid, flush=True)\ninput()"


def test_a_probe_ends_with_its_judge() -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", JUDGE], stdin=pipe, stdout=pipe, text=True) as judge:
        assert judge.stdout
        pid = int(judge.stdout.readline())
        assert Path(f"/proc/{pid}").exists()

        judge.kill()

        until(lambda: not Path(f"/proc/{pid}").exists() or stat_fields(pid)[0] == "Z")
