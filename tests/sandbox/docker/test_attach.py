"""The Engine's attach stream, byte by byte: frames, the mark behind the last byte, and what silence means."""

import select
import socket
import struct
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

import pytest

from judge.base.errors import HostError
from judge.sandbox.box import Channel
from judge.sandbox.docker.attach_box import AttachStream, EndMark
from judge.sandbox.docker.first_process import ControlStream, Frames
from judge.sandbox.evidence import ProcessReport

STDOUT, STDERR = 1, 2
LOST = (Channel.REPORT, b"lost 0")


def engine_frame(stream: int, payload: bytes) -> bytes:
    return struct.pack(">BxxxL", stream, len(payload)) + payload


def control(kind: bytes, payload: bytes) -> bytes:
    return engine_frame(STDERR, kind + struct.pack(">L", len(payload)) + payload)


@pytest.mark.parametrize("size", [1, 3, 8, 1000])
def test_frames_are_found_however_they_are_cut(size: int) -> None:
    data = engine_frame(1, b"one") + engine_frame(2, b"") + engine_frame(1, b"x" * 300)
    frames = Frames(8)
    found = [frame for at in range(0, len(data), size) for frame in frames.feed(data[at : at + size])]
    assert found == [(1, b"one"), (2, b""), (1, b"x" * 300)]
    with pytest.raises(HostError):
        list(Frames(8).feed(struct.pack(">BxxxL", 1, 1 << 31)))


@pytest.mark.parametrize("cut", range(EndMark.LENGTH + 1))
def test_the_mark_is_found_however_it_is_cut(cut: int) -> None:
    end = EndMark()
    data = b"5,5\n" + end.mark
    first, over = end.feed(data[: 4 + cut])
    rest, over_now = end.feed(data[4 + cut :]) if not over else (b"", True)
    assert first + rest == b"5,5\n"
    assert over_now


def test_line_and_part_of_a_mark_are_text() -> None:
    end = EndMark()
    other = bytes([end.mark[1] ^ 1 or 2])  # 0 could begin the mark again
    assert end.feed(b"5,5\n") == (b"5,5\n", False)
    assert end.feed(b"a\0") == (b"a", False)
    assert end.feed(other) == (b"\0" + other, False)
    assert EndMark().mark != EndMark().mark


@dataclass
class Wire:
    """An attach stream and the Engine's end of it."""

    stream: ControlStream
    engine: socket.socket


@pytest.fixture
def wire() -> Iterator[Wire]:
    with connected(AttachStream) as wire:
        yield wire


@contextmanager
def connected(kind: type[ControlStream]) -> Iterator[Wire]:
    ours, engine = socket.socketpair()
    ours.setblocking(False)
    engine.setblocking(False)
    with closing(kind(ours, ProcessReport.decode, lambda: [LOST])) as stream, engine:
        yield Wire(stream, engine)


def test_reports_come_over_stderr_and_stdout_belongs_to_no_one_with_pipes() -> None:
    with connected(ControlStream) as wire:
        wire.stream.start()
        assert wire.engine.recv(99) == b"P"
        wire.engine.send(engine_frame(STDOUT, b"R\0\0\0\x08exited 0") + control(b"e", b"x"))
        wire.engine.send(control(b"R", b"started 0"))
        assert wire.stream.read() == [(Channel.REPORT, b"started 0")]


def test_all_three_streams_come_over_one_socket_without_pipes(wire: Wire) -> None:
    wire.stream.start()
    word = wire.engine.recv(99)
    assert word[:1] == b"A"
    wire.engine.send(control(b"R", b"started 0") + engine_frame(STDOUT, b"OK\n"))
    wire.engine.send(control(b"e", b"oops") + control(b"e", b"") + control(b"R", b"exited 0"))
    wire.engine.send(engine_frame(STDOUT, b"bye" + word[1:]))
    assert wire.stream.read() == [
        (Channel.REPORT, b"started 0"),
        (Channel.OUT, b"OK\n"),
        (Channel.ERR, b"oops"),
        (Channel.ERR, b""),
        (Channel.REPORT, b"exited 0"),
        (Channel.OUT, b"bye"),
        (Channel.OUT, b""),
    ]


def test_agent_output_is_never_a_report(wire: Wire) -> None:
    wire.stream.start()
    assert not wire.stream.read()
    forged = control(b"R", b"exited 0")
    wire.engine.send(engine_frame(STDOUT, forged))
    assert wire.stream.read() == [(Channel.OUT, forged)]


def test_a_stream_that_breaks_off_ends_everything_once(wire: Wire) -> None:
    wire.stream.start()
    wire.engine.close()
    events = wire.stream.read()
    assert set(events) == {(Channel.OUT, b""), (Channel.ERR, b""), LOST}
    assert events[-1] == LOST
    assert wire.stream.ended
    assert not wire.stream.read()
    assert wire.stream.write(b"x") == -1


def test_room_to_write_is_polled_under_a_second_number_and_a_full_socket_takes_nothing_more(wire: Wire) -> None:
    assert isinstance(wire.stream, AttachStream)
    with closing(select.epoll()) as poll:
        poll.register(wire.stream.fd, select.EPOLLIN)
        poll.register(wire.stream.stdin_fd, select.EPOLLOUT)
        assert poll.poll(0) == [(wire.stream.stdin_fd, select.EPOLLOUT)]
    while wire.stream.write(b"x" * 65536):
        pass
    assert wire.stream.write(b"x" * 65536) == 0
