"""Records are files named by their digest."""

from pathlib import Path

import pytest

from judge.base.errors import HostError, InputError
from judge.store.files import Files


def test_stored_data_is_found_under_its_digest(tmp_path: Path) -> None:
    files = Files(tmp_path / "records")
    digest = files.put(b"hello")
    assert b"hello" == files.get(digest) == files.path(digest).read_bytes()
    assert digest == files.put(b"hello")
    assert [digest] == [path.name for path in (tmp_path / "records").rglob("*") if path.is_file()]


def test_a_file_that_was_changed_is_refused(tmp_path: Path) -> None:
    files = Files(tmp_path)
    digest = files.put(b"hello")
    files.path(digest).write_bytes(b"hullo")
    with pytest.raises(InputError, match="changed or damaged"):
        files.get(digest)


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"0{64}"):
        Files(tmp_path).get("0" * 64)


@pytest.mark.parametrize("digest", ["", "../../etc/passwd", "A" * 64, "0" * 63])
def test_only_digests_are_names(tmp_path: Path, digest: str) -> None:
    with pytest.raises(ValueError, match="not a SHA-256"):
        Files(tmp_path).path(digest)


def test_a_disk_that_cannot_be_written_is_the_hosts_failure(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(HostError, match="make room"):
        Files(tmp_path / "file").put(b"x")
