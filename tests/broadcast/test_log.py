"""The file of the log: whatever its writer leaves behind, the next one goes on with the next number."""

from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.base.errors import InputError
from judge.broadcast.events import Disqualified, read_event
from judge.broadcast.log import EventLog, LogReader, head_of
from tests.examples import examples


def said(text: str, journal: int | None = None) -> Disqualified:
    return Disqualified(at="2024-01-01T00:00:00.000Z", reason=text, journal=journal)


def written(path: Path) -> list[str]:
    with closing(EventLog(path)) as log:
        events = [read_event(line) for _, line in log.lines()]
    return [event.reason for event in events if isinstance(event, Disqualified)]


def append(path: Path, *texts: str) -> None:
    with closing(EventLog(path)) as log:
        list(log.lines())
        log.append([said(text) for text in texts])


def test_lines_are_numbered_from_one_and_on_after_each_opening(tmp_path: Path) -> None:
    path = tmp_path / "log"
    append(path, "a", "b")
    append(path, "c")

    assert [1, 2, 3] == [head_of(line).seq for line in path.read_bytes().splitlines()]
    assert ["a", "b", "c"] == written(path)


@given(cut=st.integers(1, 400))
@settings(max_examples=examples(100))
def test_a_line_that_was_not_finished_is_cut_off_wherever_its_writer_was_killed(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    path = tmp_path_factory.mktemp("log") / "log"
    append(path, "a", "b", "ž" * 20, "d")
    data = path.read_bytes()
    path.write_bytes(data[:-cut] if cut < len(data) else b"")
    kept = path.read_bytes().count(b"\n")

    append(path, "e")

    assert [*["a", "b", "ž" * 20, "d"][:kept], "e"] == written(path)


def test_a_file_that_is_no_log_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "log"
    append(path, "a", "b")
    lines = path.read_bytes().splitlines(keepends=True)

    for wrong in (lines[0] + lines[0], lines[1], b"hello\n"):
        path.write_bytes(wrong)
        with pytest.raises(InputError):
            written(path)


def test_texts_cannot_forge_a_line_or_its_head(tmp_path: Path) -> None:
    path = tmp_path / "log"
    hostile = '\n{"seq":2,"journal":9}\u2028\\"'
    with closing(EventLog(path)) as log:
        log.append([said(hostile, journal=4)])

    assert [hostile] == written(path)
    head = head_of(path.read_bytes())
    assert (1, 4, "disqualified") == (head.seq, head.journal, head.type)


def test_a_reader_sees_whole_lines_only_and_finds_any_of_them_again(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with closing(LogReader(path)) as reader:
        assert [] == reader.news()
        count = 522
        append(path, *map(str, range(count)))
        whole = path.read_bytes()
        path.write_bytes(whole[:-5])
        lines = []
        while news := reader.news(most_bytes=1000):
            lines += news
        assert count - 1 == len(lines) == reader.seq
        with path.open("ab") as file:
            file.write(whole[-5:])
        lines += reader.news()

        assert whole.splitlines() == lines
        assert not reader.is_replaced()
        path.unlink()
        append(path, "another")
        assert reader.is_replaced()
