"""The log of a contest: each line of its journal is a leaf. Whoever has an old checkpoint finds what was rewritten."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Lock

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from judge.publish.keys import load_key
from judge.store.queries import Reader
from judge.store.submission_types import State
from judge.store.types import JournalLine
from judge.transparency.checkpoint import Checkpoint, origin_of
from judge.transparency.merkle import Tree
from judge.transparency.receipt import Receipt
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


class SignedLog:
    """The log of a contest that goes on, or that was only announced, signed if the organiser's key is in its folder.

    Threads may share it.
    """

    def __init__(self, store_url: str, contest: str, folder: Path) -> None:
        """Raises InputError if the key in the contest's folder cannot be used, and as `Reader`."""
        self.key = organiser_key(folder)
        """None: nothing is signed, so there are no files and no receipts."""
        self._contest = contest
        self._store = Reader(store_url)
        self._log = ContestLog(contest)
        self._received: dict[str, JournalLine] = {}
        self._lock = Lock()

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def file(self, path: str) -> bytes | None:
        """The file of a path from the top of the site as it is now; None if there is none."""
        if self.key is None:
            return None
        with self._lock:
            self._catch_up()
            return self._log.file(path, self.key)

    def new_files(self, since: int) -> tuple[int, list[tuple[str, bytes]]]:
        """The size of the log, and the files that it did not have with `since` leaves, the checkpoint last."""
        if self.key is None:
            return 0, []
        with self._lock:
            self._catch_up()
            return self._log.size, list(self._log.files(self.key, since)) if self._log.size > since else []

    def receipt(self, submission: int) -> Receipt | None:
        """The receipt for an upload; None if it is not in the log, or nothing is signed."""
        if self.key is None:
            return None
        with self._lock:
            self._catch_up()
            line = self._received.get(f"submission {submission}")
            if line is None or line.number is None:
                return None
            checkpoint = self._log.checkpoint().signed(self.key)
            return Receipt.of(self._log.tree, line.number, line.leaf, line.text, checkpoint)

    def _catch_up(self) -> None:
        new = self._store.leaves_since(self._contest, self._log.size)
        self._log.add(new)
        self._received |= {line.text: line for line in new if line.event == State.RECEIVED}


def organiser_key(folder: Path) -> Ed25519PrivateKey | None:
    """The key in the folder of a contest; None if there is none. Raises InputError if it cannot be used."""
    path = folder / KEY_FILE
    return load_key(path) if path.exists() else None
