"""The feed: nothing that its reader does, or fails to do, keeps its writer waiting."""

import os
import threading

import pytest

from judge.broadcast import pipe
from judge.broadcast.pipe import Feed, frames


def test_frames_come_out_as_they_went_in_however_they_are_cut() -> None:
    reader, writer = os.pipe()
    sent = [(b"S", b"{}"), (b"T", b"x" * 500), (b"T", b""), (b"E", b"end")]
    to = Feed(writer)
    for kind, data in sent:
        to.send(kind, data)
    to.close()

    read = bytearray()
    got: list[tuple[bytes, bytes]] = []
    while data := os.read(reader, 7):
        read += data
        got += frames(read)
    os.close(reader)

    assert sent == got
    assert b"" == read


def test_a_reader_that_does_not_read_is_not_waited_for() -> None:
    """Far more than a pipe holds is taken at once, and all of it arrives later."""
    reader, writer = os.pipe()
    to = Feed(writer)
    for number in range(100):
        to.send(b"T", bytes([number]) * 10_000)

    got: list[tuple[bytes, bytes]] = []
    thread = threading.Thread(target=_read_all, args=(reader, got))
    thread.start()
    to.close()
    thread.join()

    assert [bytes([number]) * 10_000 for number in range(100)] == [data for _, data in got]


def test_a_reader_that_is_gone_is_forgotten() -> None:
    reader, writer = os.pipe()
    to = Feed(writer)
    os.close(reader)

    to.send(b"T", b"x")
    to.send(b"T", b"y")
    to.close()

    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(writer)


def test_hopelessly_slow_reader_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipe, "MAX_BACKLOG_BYTES", 1 << 20)
    reader, writer = os.pipe()
    to = Feed(writer)
    for _ in range(30):
        to.send(b"T", b"x" * 100_000)

    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(writer)
    os.close(reader)


def _read_all(reader: int, got: list[tuple[bytes, bytes]]) -> None:
    read = bytearray()
    while data := os.read(reader, 1 << 16):
        read += data
        got += frames(read)
    os.close(reader)
