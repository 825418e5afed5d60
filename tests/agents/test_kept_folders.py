"""A store of folders: nothing in it counts before a record says so, and nothing that somebody changed is used."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.agents.kept_folders import FolderStore, GameShelf, owner_of
from judge.base.errors import HostError, InputError
from judge.record.spec import FolderRecord, KeptFolders, RecordFile
from judge.record.transcript import unseal
from judge.sandbox.archive import EMPTY, Archive, pack_folder
from judge.sandbox.box import FolderKind
from tests import forked
from tests.referee.games import brain, play, resealed, spec

ROOT = Path(__file__).parents[2]
TEMPORARY, PERSISTENT = FolderKind.TEMPORARY, FolderKind.PERSISTENT
OWNERS = ("white-1", "black-2")
STATES = pack_folder({b"of": b"seat 0"}), pack_folder({b"of": b"seat 1"})


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "folders")


def record_of(ends: dict[FolderKind, tuple[Archive, Archive]], attempt: int = 1) -> RecordFile:
    """A game whose folders began empty and ended so."""
    empty = {kind.value: EMPTY.digest for kind in ends}
    plain = spec()
    seats = tuple(seat.model_copy(update={"folders": KeptFolders(name=seat.name, **empty)}) for seat in plain.seats)
    file = play(brain(), brain(), plain.model_copy(update={"seats": seats})).file()
    left = tuple(
        seat.model_copy(update={"folders": {k: FolderRecord(digest=both[number].digest) for k, both in ends.items()}})
        for number, seat in enumerate(file.record.seats)
    )
    return resealed(file, unseal(file.transcript), seats=left, attempt=attempt)


def played(store: FolderStore, path: Path, kinds: tuple[FolderKind, ...] = (PERSISTENT,)) -> None:
    """A game that leaves both agents new states."""
    with store.lock_owners(OWNERS):
        for seat, state in enumerate(STATES):
            store.put(OWNERS[seat], state)
        store.commit(record_of(dict.fromkeys(kinds, STATES)), path, dict(enumerate(OWNERS)))


def heads(store: FolderStore, kind: FolderKind = PERSISTENT) -> list[str]:
    return [store.head(owner, kind) for owner in OWNERS]


def test_an_agent_begins_with_empty_folders_and_then_with_the_states_of_its_last_game(
    store: FolderStore, tmp_path: Path
) -> None:
    assert EMPTY.digest == store.head("anybody", PERSISTENT)
    assert EMPTY == store.get("anybody", EMPTY.digest)
    played(store, tmp_path / "record.json")

    assert [state.digest for state in STATES] == heads(store)
    assert list(STATES) == [store.get(o, s.digest) for o, s in zip(OWNERS, STATES, strict=True)]
    assert [EMPTY.digest] * 2 == heads(store, TEMPORARY)


def test_a_state_without_a_record_counts_for_nothing_and_goes(store: FolderStore) -> None:
    with store.lock_owners(OWNERS):
        store.put(OWNERS[0], STATES[0])
    with store.lock_owners(OWNERS):
        pass

    assert [EMPTY.digest] * 2 == heads(store)
    with pytest.raises(InputError, match="No such file"):
        store.get(OWNERS[0], STATES[0].digest)


def test_only_the_states_to_start_from_are_kept(store: FolderStore, tmp_path: Path) -> None:
    played(store, tmp_path / "record.json")
    again = record_of({PERSISTENT: (EMPTY, STATES[1])}, attempt=2)
    with store.lock_owners(OWNERS):
        store.commit(again, tmp_path / "again.json", dict(enumerate(OWNERS)))

    assert [f"{STATES[1].digest}.tar"] == [p.name for p in (tmp_path / "folders").rglob("*.tar")]


def test_temporary_folders_end_with_their_contest(store: FolderStore, tmp_path: Path) -> None:
    played(store, tmp_path / "record.json", (TEMPORARY, PERSISTENT))
    store.forget(OWNERS[0], TEMPORARY)

    assert [EMPTY.digest, STATES[1].digest] == heads(store, TEMPORARY)
    assert [state.digest for state in STATES] == heads(store)


def test_a_game_that_does_not_count_keeps_no_state(store: FolderStore) -> None:
    with store.lock_owners(OWNERS):
        for seat in (0, 1):
            GameShelf(store, OWNERS, frozenset({1})).put(seat, STATES[seat])

        with pytest.raises(InputError, match="No such file"):
            store.get(OWNERS[0], STATES[0].digest)
        assert STATES[1] == store.get(OWNERS[1], STATES[1].digest)


def test_other_files_or_another_name_are_another_agent() -> None:
    assert 3 == len({owner_of("a", "1" * 64), owner_of("a", "2" * 64), owner_of("b", "1" * 64)})


def test_two_judges_do_not_play_one_agent_at_a_time(store: FolderStore) -> None:
    with (
        store.lock_owners(OWNERS[:1]),
        pytest.raises(InputError, match="another judge plays this agent"),
        store.lock_owners(OWNERS),
    ):
        pytest.fail("played twice at once")
    with store.lock_owners(OWNERS):
        pass


def test_a_full_disk_is_the_host_s_fault(store: FolderStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with store.lock_owners(OWNERS):
        monkeypatch.setattr("judge.agents.kept_folders.write_durably", full)
        with pytest.raises(HostError, match="could not be stored: No space left on device"):
            store.put(OWNERS[0], STATES[0])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-1] + b"x"), "SHA-256 is not its name"),
        (lambda path: path.write_bytes(b""), "SHA-256 is not its name"),
        (lambda path: path.unlink(), "No such file"),
        (lambda path: (path.unlink(), path.mkdir()), "Is a directory"),
    ],
)
def test_a_spoiled_state_is_refused_with_a_sentence(
    store: FolderStore, tmp_path: Path, change: Callable[[Path], object], words: str
) -> None:
    played(store, tmp_path / "record.json")
    path = tmp_path / "folders" / OWNERS[0] / f"{STATES[0].digest}.tar"
    change(path)

    with pytest.raises(InputError) as caught:
        store.get(OWNERS[0], STATES[0].digest)

    assert words in str(caught.value)
    assert str(path) in str(caught.value)
    assert "remove" in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"other": "x"}', '{"persistent": 1}'])
def test_spoiled_heads_are_refused_with_a_sentence(store: FolderStore, tmp_path: Path, text: str) -> None:
    played(store, tmp_path / "record.json")
    (tmp_path / "folders" / OWNERS[0] / "heads.json").write_text(text)

    with pytest.raises(InputError, match=r"heads.json: not written by judge, or damaged"):
        store.head(OWNERS[0], PERSISTENT)


@pytest.mark.parametrize("digest", ["", "../../etc/passwd", "A" * 64, "0" * 63])
def test_invalid_digest_names_no_file(store: FolderStore, digest: str) -> None:
    with pytest.raises(InputError, match="is not the digest"):
        store.get(OWNERS[0], digest)


def run_killed(tmp_path: Path, kill_at: int) -> subprocess.CompletedProcess[str]:
    file = record_of({PERSISTENT: STATES, TEMPORARY: STATES})
    words = ["tests.submissions.killed", tmp_path / "folders", tmp_path / "record.json", kill_at]
    command = [sys.executable, "-m", *map(str, words), *OWNERS]
    return forked.run(command, cwd=ROOT, input=file.model_dump_json(), text=True)


@pytest.mark.slow
def test_a_killed_judge_leaves_the_record_and_the_folders_or_neither(tmp_path: Path) -> None:
    """kill -9 before each change of the disk in turn: after the next start both folders are as the record says."""
    (tmp_path / "whole").mkdir()
    whole = run_killed(tmp_path / "whole", 0)
    changes = int(whole.stdout.split()[0]) if whole.stdout else 0
    assert 0 < changes, whole.stderr

    seen = set()
    for kill_at in range(1, changes + 1):
        directory = tmp_path / str(kill_at)
        directory.mkdir()
        assert -9 == run_killed(directory, kill_at).returncode
        store = FolderStore(directory / "folders")
        with store.lock_owners(OWNERS):
            pass

        happened = (directory / "record.json").exists()
        ends = [state.digest if happened else EMPTY.digest for state in STATES]
        assert (ends, ends) == (heads(store), heads(store, TEMPORARY)), kill_at
        for owner, end in zip(OWNERS, ends, strict=True):
            store.get(owner, end)
        left = {path.name for path in (directory / "folders").rglob("*") if path.is_file()}
        assert not [name for name in left if "intent" in name or "partial" in name], kill_at
        seen.add(happened)
    assert {True, False} == seen


@pytest.mark.slow
def test_a_record_of_another_game_does_not_finish_a_commit(store: FolderStore, tmp_path: Path) -> None:
    """The record must name the attempt and the states; one that lies there from before does not."""
    for number in range(1, 20):
        directory = tmp_path / str(number)
        run_killed(directory, number)
        if 2 == len([*(directory / "folders").rglob("intent.json")]):
            break
    else:
        pytest.fail("no judge was killed before the record")
    other = record_of({PERSISTENT: (EMPTY, EMPTY), TEMPORARY: (EMPTY, EMPTY)})
    (directory / "record.json").write_text(other.model_dump_json())

    store = FolderStore(directory / "folders")
    with store.lock_owners(OWNERS):
        assert [EMPTY.digest] * 2 == heads(store)
