"""An agent's folders (Gomoku AI protocol) before and after a game.

A keeper of one game: `make` before the boxes, `load` before any agent runs, `collect` after the boxes are closed,
`close`.
"""

import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from judge.base.errors import HostError
from judge.base.owner import make_directory, remove_directory
from judge.sandbox.archive import EMPTY, Archive, Capacity, UnkeptError, parse_folder
from judge.sandbox.box import DIRECTORIES, FolderKind

PACKING = ("--create", "--file=-", "--format=gnu", "--sort=name", "--numeric-owner")
"""Options of tar. Holes are written as bytes, so that a small archive cannot make a large folder."""

FolderKey = tuple[int, FolderKind]


@dataclass(frozen=True, slots=True)
class Folder:
    """`name` is the kept directory of the file system: the agent's name, or `.` for the whole."""

    seat: int
    kind: FolderKind
    name: str
    size_bytes: int
    inodes: int
    start: Archive

    @property
    def place(self) -> FolderKey:
        return self.seat, self.kind

    @property
    def volume(self) -> str:
        return f"{self.seat}-{self.kind}"

    @property
    def room(self) -> Capacity:
        """Capacity without the inodes of the file system's root and of the named directory."""
        return Capacity(self.size_bytes, self.inodes - (1 if self.name == "." else 2))


@dataclass(frozen=True, slots=True)
class CollectedFolder:
    """`archive` is the new state; None: unchanged.

    `used_bytes` and `used_inodes` count the whole file system; None if unknown. `notes` list what was not stored and
    why.
    """

    archive: Archive | None
    used_bytes: int | None = None
    used_inodes: int | None = None
    notes: tuple[str, ...] = ()


class Keeper:
    """Keeps the folders of one game. This base class keeps none."""

    def __init__(self, folders: Sequence[Folder] = ()) -> None:
        self._folders = folders
        self.places: dict[FolderKey, str] = {}
        """Volumes or directories; set by `make`."""
        self.uids: dict[int, int] = {}
        """Owners by seat; agents in containers run as these users; set by `make`."""

    def make(self) -> None:
        """Create the empty folders. Raises `HostError`."""

    def load(self) -> None:
        """Possibly while boxes are prepared. Raises `HostError`."""

    def collect(self) -> Mapping[FolderKey, CollectedFolder]:
        """Never raises; unreadable folders are not stored."""
        return {folder.place: self._collected(folder) for folder in self._folders}

    def _collected(self, _folder: Folder) -> CollectedFolder:
        return CollectedFolder(None)

    def close(self) -> None:
        """Never raises."""


def collect_archive(packed: bytes | None, folder: Folder) -> CollectedFolder:
    """`packed` is None if packing failed."""
    if packed is None:
        return CollectedFolder(None, notes=("not kept: the folder could not be read",))
    try:
        archive, notes = parse_folder(packed, folder.room)
    except UnkeptError as error:
        return CollectedFolder(None, notes=(f"not kept: {error}",))
    return CollectedFolder(archive, notes=notes)


def collect_nothing(folder: Folder, *, replaced: bool) -> CollectedFolder:
    """Result for a removed or replaced folder."""
    notes = (f"not kept: {folder.name} is not a directory",) if replaced else ()
    return CollectedFolder(EMPTY, notes=notes)


def note_on_others(folder: Folder, others: int) -> tuple[str, ...]:
    """Note on files next to the kept folder."""
    if not others:
        return ()
    return (f"not kept: {others} files or directories outside ./{folder.name}; only that folder is kept",)


class LocalKeeper(Keeper):
    """Directories without a quota, for trusted agents."""

    def __init__(self, folders: Sequence[Folder]) -> None:
        super().__init__(folders)
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

    def close(self) -> None:
        if self._directory:
            remove_directory(self._directory)
            self._directory = None

    def _collected(self, folder: Folder) -> CollectedFolder:
        left = self._packed(folder)
        others = 0
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
