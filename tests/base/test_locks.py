"""A lock is had by one open file, or by several that share it, and is free when they are closed."""

import os
from pathlib import Path

from judge.base.locks import lock, locked, try_lock


def test_a_file_is_locked_once_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.write_text("whose it is")
    with path.open() as one, path.open() as other:
        lock(one)
        assert (False, False) == (try_lock(other), try_lock(other, shared=True))
        one.close()
        assert try_lock(other)

    assert "whose it is" == path.read_text()


def test_directory_is_shared_only_where_declared(tmp_path: Path) -> None:
    files = [os.open(tmp_path, os.O_RDONLY) for _ in range(3)]
    assert [True, True, False] == [
        try_lock(file, shared=shared) for file, shared in zip(files, (True, True, False), strict=True)
    ]
    for file in files:
        os.close(file)


def test_a_lock_is_held_in_a_block(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locked(path), path.open() as other:
        assert not try_lock(other)
    with path.open() as other:
        assert try_lock(other)
