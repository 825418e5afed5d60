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
from judge.sandbox.folders import CollectedFolder

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

    assert ("pbrain-a", 8192, 2048, EMPTY) == (
        temporary.name, temporary.size_bytes, temporary.inodes, temporary.start,
    )  # fmt: skip
    assert (".", 20971520, 2048, BOOK) == (
        persistent.name, persistent.size_bytes, persistent.inodes, persistent.start,
    )  # fmt: skip
    assert [(0, TEMPORARY), (0, PERSISTENT)] == [f.place for f in (temporary, persistent)]


def test_the_state_that_a_game_starts_from_makes_it_another_game() -> None:
    ids = {
        spec().id,
        spec(persistent=EMPTY.digest).id,
        spec(persistent=BOOK.digest).id,
        spec(temporary=BOOK.digest).id,
    }

    assert 4 == len(ids)


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
        {"name": ".."},
        {"name": "a b"},
        {"name": "a/b"},
        {"name": ""},
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


@pytest.mark.parametrize(("box", "path"), [("docker", "/persistent"), ("process", "../persistent")])
def test_info_folder_is_equal_in_every_game_and_in_replays(box: BoxKind, path: str) -> None:
    referee = build_referee(spec(box=box))

    assert path == referee.sides[0].opening.limits.folder


def test_without_a_persistent_folder_info_folder_is_not_sent() -> None:
    referee = build_referee(spec("folders.persistent=false"))

    assert referee.sides[0].opening.limits.folder is None


def test_the_cap_of_memory_is_the_agent_s_own_and_all_that_it_can_write_to() -> None:
    both = load_policy("gomocup-freestyle").enforced()
    one = load_policy("gomocup-freestyle", ["folders.persistent=false"]).enforced()

    assert 367001600 + 2 * 20971520 + both.scratch_bytes + both.shm_bytes == both.cap_bytes
    assert 367001600 + 20971520 + one.scratch_bytes + one.shm_bytes == one.cap_bytes


def test_policy_keeps_declared_fields_only() -> None:
    assert (TEMPORARY, PERSISTENT) == load_policy("gomocup-freestyle").folders.kept
    assert () == load_policy("stratego-2012").folders.kept
    none = ["folders.temporary_bytes=0"]
    assert (PERSISTENT,) == load_policy("gomocup-freestyle", none).folders.kept
