"""The log of a contest: each line of its journal is a leaf. Whoever has an old checkpoint finds what was rewritten."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from threading import Lock

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from judge.base.durable_files import read_bounded
from judge.store.queries import Reader
from judge.store.submission_types import State
from judge.store.types import JournalLine
from judge.transparency.checkpoint import LARGEST_CHECKPOINT, Checkpoint, origin_of
from judge.transparency.keys import load_key
from judge.transparency.merkle import StoredTree, leaf_hash
from judge.transparency.receipt import Receipt
from judge.transparency.tiles import CHECKPOINT, tile, tile_files

LOG = "log/"
"""Where the log's files are in an export and on a live site."""

KEY_FILE = "organiser.key"
"""The organiser's private key, beside the contest.toml."""

WITNESS_FOLDER = "witnesses"
"""In the folder of a contest: the last checkpoint that each witness signed, under the id of its key."""

WITNESSED = f"{LOG}witness/"
"""Where these are in an export and on a live site."""

Lines = Callable[[int, int], Sequence[JournalLine]]
"""The lines of a journal whose leaves have the numbers from one to another, without it; fewer where the log ends."""

_READ_AT_ONCE = 4096
"""Lines."""

_IDENTITY = re.compile(r"[0-9a-f]{8}")


class ContestLog:
    """The log of a contest. Its leaves stay where they are stored: one hash in memory for 256 of them."""

    def __init__(self, contest: str, read: Lines) -> None:
        self.origin = origin_of(contest)
        self._read = read
        self.tree = StoredTree(lambda start, end: [leaf_hash(leaf) for leaf in self.leaves(start, end)])
        self.received: dict[str, int] = {}
        """The leaves of uploads, by the text of their lines."""
        self.catch_up()

    @classmethod
    def of(cls, contest: str, lines: Sequence[JournalLine]) -> "ContestLog":
        """The log of a journal that is in memory; of one that was begun by a judge without logs it is empty."""
        numbered = [line for line in lines if line.number is not None]
        return cls(contest, lambda start, end: numbered[start:end])

    @property
    def size(self) -> int:
        """The number of leaves; 0 for a contest that was begun by a judge without logs."""
        return self.tree.size

    def leaves(self, start: int, end: int) -> list[bytes]:
        """The leaves from a number up to another, without it."""
        return [line.leaf for line in self._read(start, end)]

    def line(self, number: int) -> JournalLine:
        """The line of a leaf that the log has."""
        return self._read(number, number + 1)[0]

    def catch_up(self) -> None:
        """Add the lines that came since."""
        while lines := self._read(self.size, self.size + _READ_AT_ONCE):
            for line in lines:
                if line.event == State.RECEIVED:
                    self.received[line.text] = self.size
                self.tree.append(line.leaf)

    def checkpoint(self, size: int | None = None) -> Checkpoint:
        """Its size and root, or those that it had; not signed."""
        size = self.size if size is None else size
        return Checkpoint(self.origin, size, self.tree.root(size))

    def files(self, key: Ed25519PrivateKey, since: int = 0) -> Iterator[tuple[str, bytes]]:
        """The files of the log, the checkpoint last; of tiles only those that it did not have with `since` leaves."""
        if self.size:
            for path, data in tile_files(self.tree, self.leaves, since):
                yield LOG + path, data
            yield LOG + CHECKPOINT, self.checkpoint().signed(key).note

    def file(self, path: str, key: Ed25519PrivateKey) -> bytes | None:
        """The file of a path from the top of the site; None if there is none."""
        name = path.removeprefix(LOG)
        if not self.size or name == path:
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
        self._store = Reader(store_url)
        self._log: ContestLog | None = None
        """None until it is asked for: reading a long one takes a while."""
        self._contest = contest
        self._folder = folder
        self._lock = Lock()

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def file(self, path: str) -> bytes | None:
        """The file of a path from the top of the site as it is now; None if there is none."""
        if self.key is None:
            return None
        if path.startswith(WITNESSED):
            return witnessed_files(self._folder).get(path)
        with self._lock:
            return self._as_it_is().file(path, self.key)

    def new_files(self, since: int) -> tuple[int, list[tuple[str, bytes]]]:
        """The size of the log, and the files that it did not have with `since` leaves, the checkpoint last but for what
        witnesses signed."""
        if self.key is None:
            return 0, []
        with self._lock:
            log = self._as_it_is()
            files = list(log.files(self.key, since)) if log.size > since else []
            return log.size, [*files, *witnessed_files(self._folder).items()]

    def receipt(self, submission: int) -> Receipt | None:
        """The receipt for an upload; None if it is not in the log, or nothing is signed."""
        if self.key is None:
            return None
        with self._lock:
            log = self._as_it_is()
            number = log.received.get(f"submission {submission}")
            if number is None:
                return None
            line = log.line(number)
            return Receipt.of(log.tree, number, line.leaf, line.text, log.checkpoint().signed(self.key))

    def _as_it_is(self) -> ContestLog:
        if self._log is None:
            self._log = ContestLog(self._contest, partial(self._store.leaves, self._contest))
        else:
            self._log.catch_up()
        return self._log


def witnessed_files(folder: Path) -> dict[str, bytes]:
    """What the witnesses of the contest in a folder have signed, by the path from the top of the site."""
    place = folder / WITNESS_FOLDER
    return {
        WITNESSED + path.name: read_bounded(path, LARGEST_CHECKPOINT)
        for path in (sorted(place.iterdir()) if place.is_dir() else ())
        if _IDENTITY.fullmatch(path.name)
    }


def organiser_key(folder: Path) -> Ed25519PrivateKey | None:
    """The key in the folder of a contest; None if there is none. Raises InputError if it cannot be used."""
    path = folder / KEY_FILE
    return load_key(path) if path.exists() else None
