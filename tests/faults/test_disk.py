"""A full disk is the host's failure: one sentence, exit 1, and nothing half done on it."""

import re
from pathlib import Path

import pytest

from judge.base.durable_files import write_durably
from judge.base.errors import HostError
from judge.record import transcript as transcripts
from judge.record.transcript import EntryKind, Transcript
from judge.store.files import Files
from tests.cli.brains import write_brain
from tests.cli.conftest import SHORT, Judge

GOMOKU = ("--policy", "gomocup-fastgame", *SHORT, "--box", "process", "--json")


def fill(disk: Path, left: int = 0) -> Path:
    """Take all room of a disk but `left` bytes; returns the file that takes it."""
    file = disk / "other-peoples-data"
    with file.open("wb", buffering=0) as stream:
        try:
            while True:
                stream.write(b"x" * 1024)
        except OSError:
            stream.truncate(stream.tell() - left)
    return file


def names_in(disk: Path) -> list[str]:
    return sorted(path.name for path in disk.iterdir())


def test_record_that_does_not_fit_is_reported_and_leaves_nothing(judge: Judge, tiny_disk: Path) -> None:
    ran = judge("match", "house-instant", "house-instant", *GOMOKU, "--out", str(tiny_disk), code=1)

    assert re.search(r"the record could not be written: No space left on device$", ran.err.strip())
    assert [] == names_in(tiny_disk)


def test_folder_that_does_not_fit_is_reported_and_its_game_leaves_nothing(
    judge: Judge, tiny_disk: Path, tmp_path: Path
) -> None:
    """A result counts only with the folders that its agents left."""
    learns = write_brain(tmp_path, "learns", at_end='os.mkdir("learns"); open("learns/book", "w").write("x" * 100_000)')
    words = ("match", learns, "house-instant", *GOMOKU, "--folders", str(tiny_disk / "kept"), "--out", "records")

    ran = judge(*words, code=1)

    assert re.search(r"kept/.*: the folders could not be stored: No space left on device", ran.err)
    assert "" == ran.out
    assert [] == list((tmp_path / "records").iterdir())
    assert [] == [path.name for path in tiny_disk.rglob("*") if path.suffix in (".tar", ".json", ".partial")]


def test_lack_of_room_for_a_game_is_reported(judge: Judge, tiny_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The agents are copied to TMPDIR before they play."""
    fill(tiny_disk, left=8192)
    monkeypatch.setenv("TMPDIR", str(tiny_disk))

    ran = judge("match", "house-instant", "house-instant", *GOMOKU, code=1)

    assert "No space left on device: make room there, or set TMPDIR" in ran.err
    assert "Traceback" not in ran.err
    assert ["other-peoples-data"] == names_in(tiny_disk)


def test_a_store_records_nothing_that_it_cannot_keep(tiny_disk: Path) -> None:
    files = Files(tiny_disk / "files")
    kept = files.put(b"small")
    taken = fill(tiny_disk, left=4096)

    with pytest.raises(HostError, match="No space left on device; nothing was recorded"):
        files.put(b"x" * 20_000)

    left = [path for path in (tiny_disk / "files").rglob("*") if path.is_file()]
    assert [files.path(kept)] == left
    taken.unlink()
    assert b"x" * 20_000 == files.get(files.put(b"x" * 20_000))


def test_old_state_stays_when_the_new_one_does_not_fit(tiny_disk: Path) -> None:
    path = tiny_disk / "heads.json"
    write_durably(path, b"old")
    fill(tiny_disk, left=4096)

    with pytest.raises(OSError, match="No space left"):
        write_durably(path, b"n" * 20_000)

    assert b"old" == path.read_bytes()
    assert ["heads.json", "other-peoples-data"] == names_in(tiny_disk)


def test_a_transcript_that_does_not_fit_on_disk_is_whole_all_the_same(
    tiny_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The game is void then, and its record has what was read until that."""
    monkeypatch.setattr("tempfile.tempdir", str(tiny_disk))
    monkeypatch.setattr(transcripts, "SPILL_BYTES", 10_000)
    transcript = Transcript()
    for _ in range(2):
        transcript.add(1, 0, EntryKind.READ, b"a" * 12_000)
        transcript.spill()
    transcript.add(2, 1, EntryKind.READ, b"b" * 12_000)

    with pytest.raises(HostError, match="make room in"):
        transcript.spill()

    said = b"".join(entry.data for entry in transcript)
    transcript.close()
    assert b"a" * 24_000 + b"b" * 12_000 == said
