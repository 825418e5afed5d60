"""The log of a contest: each line of its journal is a leaf. Whoever has an old checkpoint finds what was rewritten."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from judge.publish.keys import load_key
from judge.store.types import JournalLine
from judge.transparency.checkpoint import Checkpoint, origin_of
from judge.transparency.merkle import Tree
from judge.transparency.tiles import CHECKPOINT, tile, tile_files

LOG = "log/"
"""Where the log's files are in an export and on a live site."""

KEY_FILE = "organiser.key"
"""The organiser's private key, beside the contest.toml."""


class ContestLog:
    """The log of a contest, with every leaf in memory: some 500 bytes each."""

    def __init__(self, contest: str, lines: Iterable[JournalLine] = ()) -> None:
        self.origin = origin_of(contest)
        self.leaves: list[bytes] = []
        self.tree = Tree()
        self.add(lines)

    @property
    def size(self) -> int:
        """The number of leaves; 0 for a contest that was begun by a judge without logs."""
        return self.tree.size

    def add(self, lines: Iterable[JournalLine]) -> None:
        """Add lines of the journal; those that it has are left out."""
        for line in lines:
            if line.number == self.size:
                self.leaves.append(line.leaf)
                self.tree.append(line.leaf)

    def checkpoint(self, size: int | None = None) -> Checkpoint:
        """Its size and root, or those that it had; not signed."""
        size = self.size if size is None else size
        return Checkpoint(self.origin, size, self.tree.root(size))

    def files(self, key: Ed25519PrivateKey, since: int = 0) -> Iterator[tuple[str, bytes]]:
        """The files of the log, the checkpoint last; of tiles only those that it did not have with `since` leaves."""
        if self.leaves:
            for path, data in tile_files(self.tree, self.leaves, since):
                yield LOG + path, data
            yield LOG + CHECKPOINT, self.checkpoint().signed(key).note

    def file(self, path: str, key: Ed25519PrivateKey) -> bytes | None:
        """The file of a path from the top of the site; None if there is none."""
        name = path.removeprefix(LOG)
        if not self.leaves or name == path:
            return None
        return self.checkpoint().signed(key).note if name == CHECKPOINT else tile(self.tree, self.leaves, name)


def organiser_key(folder: Path) -> Ed25519PrivateKey | None:
    """The key in the folder of a contest; None if there is none. Raises InputError if it cannot be used."""
    path = folder / KEY_FILE
    return load_key(path) if path.exists() else None
