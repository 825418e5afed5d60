"""The file of the log: whatever its writer leaves behind, the next one goes on with the next number."""

import fcntl
import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.broadcast.events import Disqualified, Opened
from judge.broadcast.log import EventLog, LogReader
from tests.examples import examples


def said(text: str, journal: int | None = None) -> Disqualified:
    return Disqualified(at="2024-01-01T00:00:00.000Z", reason=text, journal=journal)


def written(path: Path) -> list[str]:
    with closing(EventLog(path)) as log:
        events = list(log.events())
    return [event.reason for event in events if isinstance(event, Disqualified)]


def append(path: Path, *texts: str) -> None:
    with closing(EventLog(path)) as log:
        list(log.events())
        log.append([said(text) for text in texts])


def test_lines_are_numbered_from_one_and_on_after_each_opening(tmp_path: Path) -> None:
    path = tmp_path / "log"
    append(path, "a", "b")
    append(path, "c")

    assert [1, 2, 3] == [json.loads(line)["seq"] for line in path.read_bytes().splitlines()]
    assert ["a", "b", "c"] == written(path)


@given(cut=st.integers(1, 400))
@settings(max_examples=examples(100))
def test_unfinished_line_of_a_killed_writer_is_cut_off(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    path = tmp_path_factory.mktemp("log") / "log"
    append(path, "a", "b", "ž" * 20, "d")
    data = path.read_bytes()
    path.write_bytes(data[:-cut] if cut < len(data) else b"")
    kept = path.read_bytes().count(b"\n")

    append(path, "e")

    assert [*["a", "b", "ž" * 20, "d"][:kept], "e"] == written(path)


DAMAGE: dict[str, Callable[[list[bytes]], bytes]] = {
    "a repeated line": lambda lines: lines[0],
    "a missing line": lambda _: b"",
    "garbage": lambda _: b'{"seq": 99999999, "type":\n\xff\xfe garbage\n',
    "a number far ahead": lambda lines: lines[1].replace(b'"seq":2', b'"seq":99999999'),
    "half a line": lambda lines: lines[1][:20] + b"\n",
    "half a line that the next one joins": lambda lines: lines[1][:20],
    "a line of another version": lambda lines: lines[1].replace(b'"disqualified"', b'"promoted"'),
    "a line with another field": lambda lines: lines[1].replace(b'"at":', b'"when":'),
    "NUL bytes": lambda lines: bytes(len(lines[1]) - 1) + b"\n",
    "NUL bytes without a line end": lambda lines: bytes(len(lines[1])),
    "invalid UTF-8": lambda lines: lines[1].replace(b"b", b"\xff"),
    "a long line": lambda _: b'{"seq":2,' + b" " * (1 << 20) + b"\n",
}


@pytest.mark.parametrize("name", DAMAGE)
def test_writer_cuts_a_damaged_log_off_as_another_log_and_continues(name: str, tmp_path: Path) -> None:
    path = tmp_path / "log"
    opened = Opened(log="first", contest="cup", about="", game_name="renju", policy="p", turn_ms=1, match_ms=0, at="x")
    with closing(EventLog(path)) as log:
        log.append([opened, said("b"), said("c"), said("d")])
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + DAMAGE[name](lines) + b"".join(lines[2:]))
    reader = LogReader(path)
    assert reader.news()

    with closing(EventLog(path)) as log:
        found = list(log.events())
        assert [(1, "opened")] == [(event.seq, event.type) for event in found]
        assert 1 == log.seq
        log.append([said("again")])
        with pytest.raises(BlockingIOError):
            flock(path)
    assert ["again"] == written(path)
    with closing(EventLog(path)) as log:
        (first, _) = list(log.events())
    assert isinstance(first, Opened)
    assert "first" != first.log
    assert reader.is_replaced()
    reader.close()
    assert [path] == list(tmp_path.iterdir())


def flock(path: Path) -> None:
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_texts_cannot_forge_a_line(tmp_path: Path) -> None:
    path = tmp_path / "log"
    hostile = '\n{"seq":2,"journal":9}\u2028\\"'
    with closing(EventLog(path)) as log:
        log.append([said(hostile, journal=4)])

    assert [hostile] == written(path)
    assert 1 == len(path.read_bytes().splitlines())


def test_a_reader_sees_whole_lines_only(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with closing(LogReader(path)) as reader:
        assert reader.news() is None
        count = 522
        append(path, *map(str, range(count)))
        whole = path.read_bytes()
        path.write_bytes(whole[:-5])
        lines: list[bytes] = []
        while (news := reader.news(1000)) is not None:
            lines += [line.data for line in news]
        assert count - 1 == len(lines)
        with path.open("ab") as file:
            file.write(whole[-5:])
        lines += [line.data for line in reader.news() or ()]

        assert whole.splitlines() == lines
