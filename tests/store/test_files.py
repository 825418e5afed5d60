"""Records and uploads are files named by their digest: whole, or not there at all."""

import hashlib
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from judge.base.errors import HostError, InputError
from judge.sandbox.machine.cores import waits
from judge.store.files import Files, Incoming, sweep
from tests.patience import until


def test_stored_data_is_found_under_its_digest_unless_it_was_changed_or_is_missing(tmp_path: Path) -> None:
    files = Files(tmp_path / "records")
    digest = files.put(b"hello")
    assert b"hello" == files.get(digest) == files.path(digest).read_bytes()
    assert digest == files.put(b"hello")
    assert [digest] == [path.name for path in (tmp_path / "records").rglob("*") if path.is_file()]
    files.path(digest).write_bytes(b"hullo")
    with pytest.raises(InputError, match="changed or damaged"):
        files.get(digest)
    with pytest.raises(InputError, match=r"0{64}"):
        files.get("0" * 64)


@pytest.mark.parametrize("digest", ["", "../../etc/passwd", "A" * 64, "0" * 63])
def test_only_digests_are_names(tmp_path: Path, digest: str) -> None:
    with pytest.raises(ValueError, match="not a SHA-256"):
        Files(tmp_path).path(digest)


def test_a_disk_that_cannot_be_written_is_the_hosts_failure(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(HostError, match="make room"):
        Files(tmp_path / "file").put(b"x")
    with pytest.raises(HostError, match="make room"):
        Incoming(tmp_path / "file")


def test_simultaneous_writers_of_equal_data_do_not_share_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one stops before its file has the final name, until the second one waits or has ended."""
    files, fsync, digests = Files(tmp_path), os.fsync, list[str]()
    second = threading.Thread(target=lambda: digests.append(files.put(b"hello")))

    def fsync_and_start_second(file: int) -> None:
        fsync(file)
        if second.ident is None:
            second.start()
            until(lambda: waits(os.getpid()) or not second.is_alive())

    monkeypatch.setattr(os, "fsync", fsync_and_start_second)
    digests.append(files.put(b"hello"))
    second.join()

    assert 2 * [hashlib.sha256(b"hello").hexdigest()] == digests
    assert b"hello" == files.get(digests[0])
    assert digests[:1] == [path.name for path in tmp_path.rglob("*") if path.is_file()]


def partials(folder: Path) -> list[Path]:
    return list((folder / "incoming").iterdir())


def test_kept_upload_is_found_under_its_digest_and_another_leaves_nothing(tmp_path: Path) -> None:
    with Incoming(tmp_path) as incoming:
        incoming.write(b"hello")
    assert ["incoming"] == [path.name for path in tmp_path.iterdir()]
    assert [] == partials(tmp_path)
    with Incoming(tmp_path) as incoming:
        incoming.write(b"hel")
        incoming.write(b"lo")
        digest = incoming.keep()
    assert hashlib.sha256(b"hello").hexdigest() == digest
    assert 0o600 == Files(tmp_path).path(digest).stat().st_mode & 0o777
    assert (b"hello", 5) == (Files(tmp_path).get(digest), incoming.size)
    assert [] == partials(tmp_path)


def test_files_of_a_killed_process_are_swept_except_those_being_written(tmp_path: Path) -> None:
    script = (
        "import os, sys, pathlib; from judge.store.files import Incoming; "
        "i = Incoming(pathlib.Path(sys.argv[1])); i.write(b'x' * 100000); os.kill(os.getpid(), 9)"
    )
    killed = subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    assert -9 == killed.returncode
    (left,) = partials(tmp_path)
    assert 0 == sweep(tmp_path)
    with Incoming(tmp_path) as incoming:
        for path in partials(tmp_path):
            os.utime(path, (0, 0))
        assert 1 == sweep(tmp_path)
        assert not left.exists()
        incoming.keep()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has it")
def test_full_disk_is_reported_when_a_file_is_stored(tmp_path: Path) -> None:
    incoming = Incoming(tmp_path)
    with incoming, Path("/dev/full").open("wb") as full:
        os.dup2(full.fileno(), incoming._file.fileno())
        incoming.write(b"hello")
        with pytest.raises(HostError, match="No space left"):
            incoming.keep()
    assert [] == partials(tmp_path)
