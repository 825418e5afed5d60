"""Folders in a spec and in a record: which are kept, from what they start, and what is said of them."""

from dataclasses import dataclass, field

import pytest
from pydantic import ValidationError

from judge.base.errors import InputError
from judge.play.folders import folders_of, store_states
from judge.record.policy import load_policy
from judge.record.spec import FolderRecord, GameSpec, KeptFolders, SeatSpec
from judge.referee.setup import build_referee
from judge.sandbox.archive import EMPTY, Archive, pack_folder
from judge.sandbox.box import BoxKind, FolderKind
from judge.sandbox.folders import CollectedFolder, Folder

TEMPORARY, PERSISTENT = FolderKind.TEMPORARY, FolderKind.PERSISTENT
BOOK = pack_folder({b"book": b"x"})


@dataclass
class Shelf:
    """States in memory."""

    states: dict[tuple[int, str], Archive] = field(default_factory=dict)

    def get(self, seat: int, digest: str) -> Archive:
        return EMPTY if digest == EMPTY.digest else self.states[seat, digest]

    def put(self, seat: int, state: Archive) -> None:
        self.states[seat, state.digest] = state


def spec(*overrides: str, box: BoxKind = "docker", **folders: str) -> GameSpec:
    """A game whose first seat has folders."""
    values = {"digest": "0" * 64, "command": ("b",), "runtime": "native", "protocol": "gomocup"}
    kept = KeptFolders(name="pbrain-a", **folders) if folders else None
    return GameSpec(
        policy=load_policy("gomocup-freestyle", overrides),
        seats=(
            SeatSpec(name="a-1", folders=kept, **values),  # type: ignore[arg-type]
            SeatSpec(name="b", **values),  # type: ignore[arg-type]
        ),
        box=box,
    )


def test_a_spec_names_the_states_and_the_policy_their_room() -> None:
    shelf = Shelf({(0, BOOK.digest): BOOK})
    chosen = spec("folders.temporary_bytes=8192", temporary=EMPTY.digest, persistent=BOOK.digest)

    temporary, persistent = folders_of(chosen, shelf)

    assert Folder(0, TEMPORARY, "pbrain-a", 8192, 2048, EMPTY) == temporary
    assert Folder(0, PERSISTENT, ".", 20971520, 2048, BOOK) == persistent


def test_the_state_that_a_game_starts_from_makes_it_another_game() -> None:
    others = (spec(persistent=EMPTY.digest), spec(persistent=BOOK.digest), spec(temporary=BOOK.digest))

    assert 4 == len({spec().id, *(other.id for other in others)})


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (("folders.persistent=false",), "which policy gomocup-freestyle does not offer"),
        (("folders.persistent_bytes=4096", "folders.persistent_inodes=16"), "takes 8192 bytes"),
    ],
)
def test_a_folder_without_room_is_refused(overrides: tuple[str, ...], words: str) -> None:
    state = pack_folder({b"book": b"x" * 5000})

    with pytest.raises(InputError, match=words):
        folders_of(spec(*overrides, persistent=state.digest), Shelf({(0, state.digest): state}))


def test_folders_without_a_place_to_take_them_from_are_refused() -> None:
    with pytest.raises(InputError, match="no folder store is available"):
        folders_of(spec(persistent=EMPTY.digest), None)


@pytest.mark.parametrize(
    "folders",
    [
        *({"name": name} for name in ("..", "a b", "a/b", "")),
        {"name": "a", "persistent": "../x"},
        {"name": "a", "temporary": "0"},
    ],
)
def test_a_spec_cannot_lead_out_of_a_folder(folders: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        KeptFolders(**folders)


def test_a_record_names_the_state_that_is_kept_and_the_one_before_where_none_could_be() -> None:
    shelf = Shelf({(0, BOOK.digest): BOOK})
    folders = folders_of(spec(temporary=EMPTY.digest, persistent=BOOK.digest), shelf)
    new = pack_folder({b"other": b""})
    left = {
        (0, TEMPORARY): CollectedFolder(new, 4096, 3),
        (0, PERSISTENT): CollectedFolder(None, None, None, ("not kept: why",)),
    }

    records = store_states(folders, left, shelf)

    assert {
        (0, TEMPORARY): FolderRecord(digest=new.digest, used_bytes=4096, used_inodes=3),
        (0, PERSISTENT): FolderRecord(digest=BOOK.digest, notes=("not kept: why",)),
    } == records
    assert {(0, BOOK.digest): BOOK, (0, new.digest): new} == shelf.states


@pytest.mark.parametrize(
    ("game_spec", "path"),
    [(spec(), "/persistent"), (spec(box="process"), "../persistent"), (spec("folders.persistent=false"), None)],
    ids=["container", "process", "no persistent folder"],
)
def test_info_folder_is_equal_in_every_game_and_in_replays(game_spec: GameSpec, path: str | None) -> None:
    assert path == build_referee(game_spec).sides[0].opening.limits.folder


def test_the_cap_of_memory_is_the_agent_s_own_and_all_that_it_can_write_to() -> None:
    for overrides, folders in (([], 2), (["folders.persistent=false"], 1)):
        limits = load_policy("gomocup-freestyle", overrides).enforced()
        assert 367001600 + folders * 20971520 + limits.scratch_bytes + limits.shm_bytes == limits.cap_bytes


def test_policy_keeps_declared_fields_only() -> None:
    assert (TEMPORARY, PERSISTENT) == load_policy("gomocup-freestyle").folders.kept
    assert () == load_policy("stratego-2012").folders.kept
    none = ["folders.temporary_bytes=0"]
    assert (PERSISTENT,) == load_policy("gomocup-freestyle", none).folders.kept
