"""A contest on read-only media, or of another user, can be read: its store makes no file and needs no lock."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from judge.base.errors import InputError
from judge.journal.events import ImagesChanged
from judge.store.contests import Store
from judge.store.types import EntryRow

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")


def url(folder: Path) -> str:
    return f"sqlite:///{folder / 'contest.db'}"


@pytest.fixture
def mounts() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def mounted(folder: Path, mounts: ExitStack) -> Path:
    """The folder once more, mounted read-only."""
    place = folder.with_name(f"{folder.name}-mounted")
    place.mkdir()
    subprocess.run(["mount", "--bind", folder, place], check=True)
    # SQLite has one lock file for all connections of this process, also by the other path.
    mounts.callback(lambda: subprocess.run(["umount", "--lazy", place], check=True))
    subprocess.run(["mount", "-o", "remount,ro,bind", place], check=True)
    return place


@pytest.fixture(params=["closed", "being written", "copied while it was written"])
def place(request: pytest.FixtureRequest, tmp_path: Path, mounts: ExitStack) -> Path:
    """The read-only folder of a contest with one entry. Where it is written, its lines are in the `-wal` only."""
    folder = tmp_path / "cup"
    folder.mkdir()
    store = Store(url(folder))
    mounts.callback(store.close)
    store.create("cup", "{}", [EntryRow("one", 1, "{}")])
    if request.param == "closed":
        store.close()
    elif request.param.startswith("copied"):
        copied = tmp_path / "copied"
        copied.mkdir()
        for end in ("", "-wal"):
            shutil.copy(folder / f"contest.db{end}", copied)
        folder = copied
    return mounted(folder, mounts)


def test_a_store_that_cannot_be_written_is_read(place: Path) -> None:
    before = sorted(path.name for path in place.iterdir())

    with closing(Store(url(place))) as store:
        assert ["one"] == [entry.name for entry in store.entries("cup")]
        with store.moment() as moment:
            assert ["one"] == [entry.name for entry in moment.entries("cup")]
        with pytest.raises(OperationalError, match="readonly database"):
            store.remark("cup", ImagesChanged("y"))

    assert before == sorted(path.name for path in place.iterdir())


def test_appended_data_is_seen(tmp_path: Path, mounts: ExitStack) -> None:
    folder = tmp_path / "cup"
    folder.mkdir()
    with closing(Store(url(folder))) as writer:
        writer.create("cup", "{}", [EntryRow("one", 1, "{}")])
    with closing(Store(url(mounted(folder, mounts)))) as reader:
        for text in ("first", "second"):
            with closing(Store(url(folder))) as writer:
                writer.remark("cup", ImagesChanged(text))
                assert text == reader.journal("cup")[-1].text
            assert text == reader.journal("cup")[-1].text


def test_the_store_of_another_user_is_read_and_gets_no_file(tmp_path: Path) -> None:
    """A file of a reader next to it would keep its owner out."""
    folder = tmp_path / "cup"
    folder.mkdir()
    with closing(Store(url(folder))) as store:
        store.create("cup", "{}", [EntryRow("one", 1, "{}")])
    (folder / "contest.db").chmod(0o644)
    for path in (folder, *folder.parents):
        if path != Path("/tmp"):
            path.chmod(path.stat().st_mode | 0o055)
    before = sorted(folder.iterdir())

    child = os.fork()
    if not child:
        os.setuid(65534)
        code = 1
        try:
            with closing(Store(url(folder))) as store:
                code = 0 if ["one"] == [entry.name for entry in store.entries("cup")] else 2
        finally:
            os._exit(code)

    assert 0 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert before == sorted(folder.iterdir())


def test_store_of_an_earlier_version_names_the_version_that_opens_it(tmp_path: Path, mounts: ExitStack) -> None:
    folder = tmp_path / "cup"
    folder.mkdir()
    (folder / "contest.db").touch()

    with pytest.raises(InputError, match="open it once with this judge where it can be written"):
        Store(url(mounted(folder, mounts)))
