"""The folders of an agent (Gomoku AI protocol): their contents when it starts, and what is stored after the game.

A keeper holds the kept folders of one game: `make` before the boxes, `load` before any agent runs, `collect` when the
boxes are closed, `close` at the end. `docker`: sized volumes in a container of our own
(`judge.sandbox.docker.folder_volumes`); `process`: directories without a quota.
"""

import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from judge.base.errors import HostError
from judge.sandbox.archive import EMPTY, Archive, Capacity, UnkeptError, parse_folder
from judge.sandbox.box import FolderKind
from judge.sandbox.machine.owner import make_directory, remove_directory

DIRECTORIES = {FolderKind.TEMPORARY: "home", FolderKind.PERSISTENT: "persistent"}
"""The names of an agent's directories in a box without a container; they are siblings."""

PACKING = ("--create", "--file=-", "--format=gnu", "--sort=name", "--numeric-owner")
"""The words with which tar packs a folder; holes come out as bytes, so that no small archive makes a large folder."""

FolderKey = tuple[int, FolderKind]
"""A seat and which of its folders."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that is kept: its owner, its quota, and its state at the start of the game.

    `name` is the directory of the file system that is kept: the agent's name, or `.` for all of it.
    """

    seat: int
    kind: FolderKind
    name: str
    size_bytes: int
    inodes: int
    start: Archive

    @property
    def place(self) -> FolderKey:
        """The seat and the kind, which identify it in a game."""
        return self.seat, self.kind

    @property
    def room(self) -> Capacity:
        """What it holds: the file system's root is an inode too, and so is the named directory."""
        return Capacity(self.size_bytes, self.inodes - (1 if self.name == "." else 2))


@dataclass(frozen=True, slots=True)
class CollectedFolder:
    """A folder after the game: its new state, or None if the state before stays; and how full it was.

    `used_bytes` and `used_inodes` are the file system's own numbers, everything in it included; None if they are not
    known. `notes` say what is not kept and why.
    """

    archive: Archive | None
    used_bytes: int | None = None
    used_inodes: int | None = None
    notes: tuple[str, ...] = ()


class Keeper:
    """Holds the folders of one game. This class is of a game in which no folder is kept."""

    def __init__(self) -> None:
        self.places: dict[FolderKey, str] = {}
        """The place of each folder, for the boxes: a volume's name or a directory; from `make` on."""
        self.uids: dict[int, int] = {}
        """The users that own the folders, by seat: agents in containers run as these; from `make` on."""

    def make(self) -> None:
        """Make the empty folders; raises `HostError`."""

    def load(self) -> None:
        """Fill them with what they start with; raises `HostError`. Boxes may be prepared meanwhile."""

    def collect(self) -> Mapping[FolderKey, CollectedFolder]:
        """Their states after the boxes are closed. Never raises: a folder that cannot be read is not kept."""
        return {}

    def close(self) -> None:
        """Remove every trace; never raises."""


def collect_archive(packed: bytes | None, folder: Folder) -> CollectedFolder:
    """What is kept of a folder that was packed into a tar file; `packed` is None if that failed."""
    if packed is None:
        return CollectedFolder(None, notes=("not kept: the folder could not be read",))
    try:
        archive, notes = parse_folder(packed, folder.room)
    except UnkeptError as error:
        return CollectedFolder(None, notes=(f"not kept: {error}",))
    return CollectedFolder(archive, notes=notes)


def collect_nothing(folder: Folder, *, replaced: bool) -> CollectedFolder:
    """What is kept of a folder that is not there any more, or has become something else."""
    notes = (f"not kept: {folder.name} is not a directory",) if replaced else ()
    return CollectedFolder(EMPTY, notes=notes)


def note_on_others(folder: Folder, others: int) -> tuple[str, ...]:
    """The note on files in the working directory beside the folder that is kept."""
    if not others:
        return ()
    return (f"not kept: {others} files or directories beside ./{folder.name}, which alone is kept",)


class LocalKeeper(Keeper):
    """Folders without a quota, for agents that are trusted: directories of this host."""

    def __init__(self, folders: Sequence[Folder]) -> None:
        super().__init__()
        self._folders = folders
        self._directory: Path | None = None

    def make(self) -> None:
        try:
            self._directory = make_directory()
            for seat in {folder.seat for folder in self._folders}:
                for name in DIRECTORIES.values():
                    (self._directory / str(seat) / name).mkdir(mode=0o700, parents=True)
        except OSError as error:
            raise HostError(f"No folders for the agents: {error}: see to TMPDIR") from error
        for folder in self._folders:
            path = self._directory / str(folder.seat) / DIRECTORIES[folder.kind]
            self.places[folder.place] = str(path)

    def load(self) -> None:
        for folder in self._folders:
            if folder.start.inodes:
                at = self._at(folder)
                at.mkdir(exist_ok=True)
                words = ["tar", "--extract", "--file=-", "-C", str(at)]
                if subprocess.run(words, input=folder.start.data, check=False).returncode:
                    raise HostError(f"The folder {at} could not be filled: see to TMPDIR")

    def collect(self) -> Mapping[FolderKey, CollectedFolder]:
        """Pack what is there; only what a folder with a quota could hold is kept."""
        return {folder.place: self._collected(folder) for folder in self._folders}

    def close(self) -> None:
        if self._directory:
            remove_directory(self._directory)
            self._directory = None

    def _collected(self, folder: Folder) -> CollectedFolder:
        left = self._packed(folder)
        others = 0  # files next to the folder
        if folder.name != ".":
            with suppress(OSError):
                others = sum(path.name != folder.name for path in Path(self.places[folder.place]).iterdir())
        return replace(left, notes=(*left.notes, *note_on_others(folder, others)))

    def _packed(self, folder: Folder) -> CollectedFolder:
        at = self._at(folder)
        if at.is_symlink() or not at.is_dir():
            return collect_nothing(folder, replaced=at.is_symlink() or at.exists())
        words = ["tar", *PACKING, "-C", str(at), "."]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as packing:
            packed = packing.stdout.read(folder.room.stream_bytes + 1) if packing.stdout else b""
            packing.kill()
        return collect_archive(packed, folder)

    def _at(self, folder: Folder) -> Path:
        return Path(self.places[folder.place]) / folder.name
