"""The feed: nothing that its reader does, or fails to do, keeps its writer waiting."""

import os
import threading

import pytest

from judge.broadcast import pipe
from judge.broadcast.pipe import Feed, frames


def read_all(reader: int, size: int, got: list[tuple[bytes, bytes]]) -> bytes:
    """The frames until the writer ends, read in pieces; what is left."""
    read = bytearray()
    while data := os.read(reader, size):
        read += data
        got += frames(read)
    os.close(reader)
    return bytes(read)


def test_frames_come_out_as_they_went_in_however_they_are_cut() -> None:
    reader, writer = os.pipe()
    sent = [(b"S", b"{}"), (b"T", b"x" * 500), (b"T", b""), (b"E", b"end")]
    to = Feed(writer)
    for kind, data in sent:
        to.send(kind, data)
    to.close()

    got: list[tuple[bytes, bytes]] = []
    assert b"" == read_all(reader, 7, got)
    assert sent == got


def test_a_reader_that_does_not_read_is_not_waited_for() -> None:
    """Far more than a pipe holds is taken at once, and all of it arrives later."""
    reader, writer = os.pipe()
    to = Feed(writer)
    for number in range(100):
        to.send(b"T", bytes([number]) * 10_000)

    got: list[tuple[bytes, bytes]] = []
    thread = threading.Thread(target=read_all, args=(reader, 1 << 16, got))
    thread.start()
    to.close()
    thread.join()

    assert [bytes([number]) * 10_000 for number in range(100)] == [data for _, data in got]


@pytest.mark.parametrize("is_gone", [True, False])
def test_reader_that_is_gone_or_hopelessly_slow_is_dropped(is_gone: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipe, "MAX_BACKLOG_BYTES", 1 << 20)
    reader, writer = os.pipe()
    to = Feed(writer)
    if is_gone:
        os.close(reader)
    for _ in range(2 if is_gone else 30):
        to.send(b"T", b"x" * (1 if is_gone else 100_000))

    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(writer)
    if not is_gone:
        os.close(reader)
