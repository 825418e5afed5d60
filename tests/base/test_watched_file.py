"""A changed file is read once, and its newest value stays."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

from judge.base.watched_file import WatchedFile
from tests.patience import PATIENCE_S


def test_slow_reader_of_an_older_file_does_not_replace_the_newer_value(tmp_path: Path) -> None:
    path = tmp_path / "contest.toml"
    path.write_text("old")
    has_read, may_return = Event(), Event()

    def read(path: Path) -> str:
        text = path.read_text()
        if text == "old":
            has_read.set()
            assert may_return.wait(PATIENCE_S)
        return text

    watched = WatchedFile(path, read, "")
    with ThreadPoolExecutor(1) as threads:
        slow = threads.submit(watched.current_value)
        assert has_read.wait(PATIENCE_S)
        path.write_text("new one")
        assert "new one" == watched.current_value()
        may_return.set()
        slow.result()

    assert "new one" == watched.current_value()
