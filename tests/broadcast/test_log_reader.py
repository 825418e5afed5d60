"""Readers of the log skip what is damaged, and continue."""

import resource
import tracemalloc
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from judge.base.errors import HostError
from judge.broadcast.events import Disqualified, write_event
from judge.broadcast.log import EventLog, LogReader


def good(*numbers: int) -> bytes:
    event = Disqualified(at="2024-01-01T00:00:00.000Z", reason="a reason")
    return b"".join(write_event(event, number) + b"\n" for number in numbers)


DAMAGE = {
    "NUL bytes before the next line": b"\0" * 4096,
    "a line of NUL bytes": b"\0" * 512 + b"\n",
    "half a line": b'{"numb\n',
    "a half line that the next one joins": b'{"numb',
    "invalid UTF-8": b'{"number": "\xff\xfe"}\n',
    "another kind of value": b"[1]\n",
    "an empty line": b"\n",
    "a long line": b"x" * 5000 + b"\n",
    "deep nesting": b"[" * 4000 + b"\n",
    "a carriage return": b'{"number": 1\r}{\n',
}


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def read_all(reader: LogReader, most_bytes: int) -> Sequence[int]:
    found = []
    while (news := reader.news(most_bytes)) is not None:
        found += [line.event.seq for line in news]
    return found


@pytest.mark.parametrize("piece", [7, 4096, 1 << 20])
@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_line_alone_is_skipped(name: str, piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge.broadcast.log.MAX_LINE_BYTES", 4500)
    path = tmp_path / "log"
    path.write_bytes(good(1, 2) + DAMAGE[name] + good(3, 4, 5))
    with closing(LogReader(path)) as reader:
        joins = name == "a half line that the next one joins"
        assert ([1, 2, 4, 5] if joins else [1, 2, 3, 4, 5]) == read_all(reader, piece)
        is_kept = name == "NUL bytes before the next line"
        assert (None if is_kept else len(good(1, 2))) == reader.damaged_at
        append(path, good(6))
        assert [6] == read_all(reader, piece)


def test_line_without_an_end_needs_bounded_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge.broadcast.log.MAX_LINE_BYTES", 1000)
    path = tmp_path / "log"
    path.write_bytes(good(1) + b"x" * 100_000)
    with closing(LogReader(path)) as reader:
        assert [1] == read_all(reader, 512)
        append(path, b"x" * (4 << 20))
        tracemalloc.start()
        assert [] == read_all(reader, 512)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
        tracemalloc.stop()
        append(path, b"\n" + good(2))
        assert [2] == read_all(reader, 512)
        assert len(good(1)) == reader.damaged_at


@pytest.mark.parametrize("piece", [7, 100, 1 << 20])
@pytest.mark.parametrize("torn_bytes", [1, 30, 90, 5000])
def test_events_after_a_torn_line_are_read(
    torn_bytes: int, piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next writer removes it, and the next line may be longer or shorter."""
    monkeypatch.setattr("judge.broadcast.log.MAX_LINE_BYTES", 4500)
    path = tmp_path / "log"
    torn = write_event(Disqualified(at="2024-01-01T00:00:00.000Z", reason="x" * 6000), 3)[:torn_bytes]
    path.write_bytes(good(1, 2) + torn)
    with closing(LogReader(path)) as reader:
        assert [1, 2] == read_all(reader, piece)
        assert not reader.is_replaced()
        with closing(EventLog(path)) as log:
            assert 2 == len(list(log.events()))
            for number in (3, 4):
                log.append([Disqualified(at="2024-01-01T00:00:00.000Z", reason="y" * number)])
                assert [number] == read_all(reader, piece)
        assert not reader.is_replaced()
        assert reader.damaged_at is None


@pytest.mark.parametrize("rest_bytes", [1, 130, 200])
def test_complete_lines_that_fit_on_a_full_disk_are_not_removed(rest_bytes: int, tmp_path: Path) -> None:
    """A reader may have read them."""
    path = tmp_path / "log"
    first, other = (Disqualified(at="2024-01-01T00:00:00.000Z", reason=reason) for reason in ("a reason", "b"))
    with closing(EventLog(path)) as log, closing(LogReader(path)) as reader:
        log.append([first])
        line_bytes = path.stat().st_size
        complete = 1 + rest_bytes // line_bytes
        with file_limit(line_bytes + rest_bytes), pytest.raises(HostError, match="disk is full"):
            log.append([first] * 3)
        assert complete == log.seq
        assert line_bytes * complete == path.stat().st_size
        assert list(range(1, complete + 1)) == read_all(reader, 1 << 20)
        log.append([other])
        assert [complete + 1] == read_all(reader, 1 << 20)
        assert reader.damaged_at is None


@contextmanager
def file_limit(size: int) -> Iterator[None]:
    """A write beyond `size` bytes of a file ends there, as on a full disk."""
    former = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, former[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, former)


def test_line_of_many_pieces_is_read(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with closing(EventLog(path)) as log, closing(LogReader(path)) as reader:
        log.append([Disqualified(at="", reason="x" * size) for size in (1, 100_000, 1, 300_000)])
        assert [1, 2, 3, 4] == read_all(reader, 4096)


def test_file_that_was_replaced_or_cut_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(good(1, 2, 3))
    with closing(LogReader(path)) as reader:
        assert [1, 2, 3] == read_all(reader, 100)
        assert not reader.is_replaced()
        path.write_bytes(good(1))
        assert reader.is_replaced()
        reader.restart()
        assert [1] == read_all(reader, 100)
        (tmp_path / "other").write_bytes(good(1, 2))
        (tmp_path / "other").replace(path)
        assert reader.is_replaced()
