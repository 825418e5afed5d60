"""Every state of every descriptor that a game polls ends in progress or in unwatching: the judge never spins."""

import fcntl
import os
import select
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

import pytest

from judge.play.live_wire import LiveWire
from judge.record.transcript import EntryKind, Transcript
from judge.sandbox.box import Channel, EventSource
from judge.sandbox.docker.attach_box import AttachStream
from judge.sandbox.docker.first_process import FirstProcess
from judge.sandbox.evidence import ProcessReport
from judge.sandbox.machine.pipes import PipeSource, write_some
from judge.sandbox.process.person_box import PersonBox
from tests.patience import PATIENCE_S


class OpenBox(PersonBox):
    """A box of descriptors of the test's own."""

    def __init__(self, sources: Sequence[EventSource] = (), stdin: int = -1) -> None:
        self._own = sources
        self.stdin = stdin

    @property
    def sources(self) -> Sequence[EventSource]:
        return self._own

    @property
    def stdin_fd(self) -> int:
        return self.stdin

    def write(self, data: bytes) -> int:
        return write_some(self.stdin, data)


class StillBox(OpenBox):
    """One that is stopped between its turns."""

    freezer = "signals"


@contextmanager
def wired(box: OpenBox) -> Iterator[LiveWire]:
    wire = LiveWire([box, OpenBox()], Transcript(), lambda _: box, None, 1, 1000)
    try:
        yield wire
    finally:
        wire.close()


def settle(wire: LiveWire) -> Sequence[bytes]:
    """Look until nothing is ready any more, but not for ever; what was read."""
    read: list[bytes] = []
    for _ in range(100):
        wire._has_looked = False
        read += [seen.data for seen in wire.read_pending() if seen.kind is EntryKind.READ]
        if not wire._epoll.poll(0):
            return read
    raise AssertionError("something is ready again and again")


def small_pipe() -> tuple[int, int]:
    reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    return reader, writer


def socket_pair() -> tuple[int, int]:
    ours, theirs = socket.socketpair()
    for end in (ours, theirs):
        end.setblocking(False)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    return theirs.detach(), ours.detach()


def drain(fd: int) -> int:
    count = 0
    with suppress(BlockingIOError):
        while data := os.read(fd, 1 << 16):
            count += len(data)
    return count


MORE = b"x" * (1 << 20)
"""More than a pipe of one page or a small socket takes."""


@pytest.mark.parametrize("make", [small_pipe, socket_pair])
@pytest.mark.parametrize("is_read", [False, True], ids=["full", "drained"])
@pytest.mark.parametrize("is_open", [True, False], ids=["reader", "no reader"])
@pytest.mark.parametrize("is_known", [True, False], ids=["stdin", "no stdin"])
def test_stdin_that_took_not_all(
    make: Callable[[], tuple[int, int]], is_read: bool, is_open: bool, is_known: bool
) -> None:
    """Full or not, with its reader or without (EPOLLERR, EPOLLHUP), and after the box has given it up."""
    reader, writer = make()
    box = OpenBox(stdin=writer)
    with wired(box) as wire:
        wire.write_input(0, MORE)
        taken = drain(reader) if is_read else 0
        if not is_open:
            os.close(reader)
        if not is_known:
            box.stdin = -1

        settle(wire)

        if is_open:
            while is_known and taken < len(MORE):
                taken += drain(reader)
                settle(wire)
            os.close(reader)
            settle(wire)
        assert [] == wire._epoll.poll(0)
        wire.write_input(0, b"to nobody")
        assert [] == settle(wire)
    os.close(writer)


@pytest.mark.parametrize("channel", [Channel.OUT, Channel.ERR])
@pytest.mark.parametrize("data", [b"", b"line\n", b"begun", b"x" * 100_000])
@pytest.mark.parametrize("is_open", [True, False], ids=["writer", "no writer"])
def test_stdout_and_stderr(channel: Channel, data: bytes, is_open: bool) -> None:
    """EPOLLIN, EPOLLHUP, and both."""
    reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 1 << 20)
    with wired(OpenBox([source := PipeSource(reader, channel)])) as wire:
        if data:
            os.write(writer, data)
        if not is_open:
            os.close(writer)

        read = settle(wire)

        assert (channel is Channel.OUT) is (b"".join(read) == data != b"" or (not data and channel is Channel.OUT))
        assert source.ended is not is_open
        if is_open:
            os.close(writer)
            settle(wire)
            assert source.ended
    os.close(reader)


@pytest.mark.parametrize("ends", ["shutdown", "close", "reset"])
def test_the_engine_s_stream(ends: str) -> None:
    """EPOLLIN, EPOLLHUP, EPOLLRDHUP and EPOLLERR of a socket, with something left to write."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    stream = AttachStream(ours, lambda frame: ProcessReport.decode(frame), lambda: ())
    box = OpenBox([stream], stream.stdin_fd)
    with wired(box) as wire:
        wire.write_input(0, MORE)
        if ends == "shutdown":
            theirs.shutdown(socket.SHUT_RDWR)
        elif ends == "close":
            theirs.setblocking(False)
            drain(theirs.fileno())
            theirs.close()
        else:
            theirs.close()

        settle(wire)

        assert stream.ended
    stream.close()
    theirs.close()


def test_the_end_of_a_process() -> None:
    """EPOLLIN of a handle, which stays."""
    pid = os.posix_spawn(sys.executable, [sys.executable, "-c", ""], os.environ)
    first = FirstProcess(pid, lambda: ())
    with wired(OpenBox([first])) as wire:
        first.await_end(PATIENCE_S)

        settle(wire)

        assert first.ended
    os.waitpid(pid, 0)
    first.close()


class Mute:
    """A source that never has anything to read."""

    ended = False

    def __init__(self, fd: int, events: int) -> None:
        self.fd, self.events = fd, events

    def read(self) -> Sequence[tuple[Channel, bytes]]:
        return ()


@pytest.mark.parametrize("events", [select.EPOLLIN, select.EPOLLOUT, select.EPOLLIN | select.EPOLLRDHUP])
@pytest.mark.parametrize("end", ["pipe", "socket"])
def test_broken_source_without_output(events: int, end: str) -> None:
    reader, writer = small_pipe() if end == "pipe" else socket_pair()
    write_some(writer, MORE)
    os.close(reader)
    with wired(OpenBox([Mute(writer, events)])) as wire:
        settle(wire)
    os.close(writer)


def test_output_of_a_frozen_seat_is_read_completely_at_once() -> None:
    """However many reads it takes: none of it is left for the time of the seat that is asked next."""
    reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    size = fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 1 << 20)
    said = b"DEBUG x\n" * (size // 8)
    with wired(StillBox([PipeSource(reader, Channel.OUT)])) as wire:
        assert len(said) == os.write(writer, said)

        seen = [happening for happenings in iter(wire.read_pending, ()) for happening in happenings]

        assert said == b"".join(happening.data for happening in seen)
    os.close(reader)
    os.close(writer)


def test_of_a_seat_that_is_never_stopped_one_read_is_enough() -> None:
    """It may write as fast as the judge reads."""
    reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    with wired(OpenBox([PipeSource(reader, Channel.OUT)])) as wire:
        os.write(writer, b"DEBUG x\n")
        assert [b"DEBUG x\n"] == [happening.data for happening in wire.read_pending()]
        os.write(writer, b"DEBUG y\n")
        assert [] == list(wire.read_pending())
        wire.start(1)
        assert [b"DEBUG y\n"] == [happening.data for happening in wire.read_pending()]
    os.close(reader)
    os.close(writer)
