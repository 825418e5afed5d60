"""Kept folders of a game: their states before it, from a shelf, and after it.

New states have no effect until `judge.agents.kept_folders` selects those that the record names.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from judge.base.errors import InputError
from judge.record.spec import FolderRecord, GameSpec
from judge.sandbox.archive import Archive
from judge.sandbox.box import FolderKind, path_for
from judge.sandbox.folders import CollectedFolder, Folder, FolderKey, Keeper


class Shelf(Protocol):
    """Folder states of a game's agents, by seat and digest."""

    def get(self, seat: int, digest: str) -> Archive:
        """Raises InputError if it is missing or has another digest."""

    def put(self, seat: int, state: Archive) -> None:
        """Raises HostError."""


def folders_of(spec: GameSpec, shelf: Shelf | None) -> list[Folder]:
    """The kept folders with contents. Raises InputError if a state is missing or too large."""
    folders = []
    for seat, choice in enumerate(spec.seats):
        for kind, digest in (choice.folders.digests if choice.folders else {}).items():
            if shelf is None:
                raise InputError(f"{choice.name} has a {kind} folder, and no folder store is available")
            folders.append(kept_folder(spec, seat, kind, shelf.get(seat, digest)))
    return folders


def store_states(
    folders: Sequence[Folder], left: Mapping[FolderKey, CollectedFolder], shelf: Shelf
) -> dict[FolderKey, FolderRecord]:
    """Returns the entries of the record. Raises HostError."""
    records = {}
    for folder in folders:
        found = left[folder.place]
        state = found.archive or folder.start
        if state.digest != folder.start.digest:
            shelf.put(folder.seat, state)
        records[folder.place] = FolderRecord(
            digest=state.digest, used_bytes=found.used_bytes, used_inodes=found.used_inodes, notes=found.notes
        )
    return records


def kept_folder(spec: GameSpec, seat: int, kind: FolderKind, start: Archive) -> Folder:
    """A folder of a seat that begins with `start`. Raises InputError if the seat or the policy does not permit it."""
    who, limits, kept = spec.seats[seat].name, spec.policy.enforced(), spec.seats[seat].folders
    if kept is None:
        raise InputError(f"{who} has a {kind} folder, and the game keeps no folders")
    if kind is FolderKind.TEMPORARY:
        name, size, inodes = kept.name, limits.temporary_bytes, limits.temporary_inodes
    else:
        name, size, inodes = ".", limits.persistent_bytes, limits.persistent_inodes
    if not size:
        raise InputError(f"{who} has a {kind} folder, which policy {spec.policy.name} does not offer")
    folder = Folder(seat=seat, kind=kind, name=name, size_bytes=size, inodes=inodes, start=start)
    if not start.fits(folder.room):
        raise InputError(
            f"the {kind} folder of {who} takes {start.size_bytes} bytes and {start.inodes} files and "
            f"directories, more than policy {spec.policy.name} allows: raise folders.{kind}_bytes and "
            f"folders.{kind}_inodes, or start without the folder"
        )
    return folder


def folder_paths(spec: GameSpec, keeper: Keeper) -> Mapping[int, str]:
    """Paths of persistent folders by seat, if they differ from the usual ones.

    Not paths with a blank, because INFO separates words by blanks.
    """
    if spec.box == "docker":
        return {}
    paths = {seat: path for (seat, kind), path in keeper.places.items() if kind is FolderKind.PERSISTENT}
    return {seat: path_for(spec.seats[seat].runtime, path) for seat, path in paths.items() if not path.split()[1:]}
