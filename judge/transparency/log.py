"""A contest's transparency log: each journal line is a leaf. An old checkpoint reveals rewriting."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from threading import Lock

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from judge.base.durable_files import read_bounded
from judge.journal.events import Announced, Revealed, StandingsFrozen, SubmissionChanged, SubmissionState
from judge.journal.state import JournalLine
from judge.store.queries import Reader
from judge.transparency.checkpoint import MAX_CHECKPOINT_BYTES, Checkpoint, origin_of
from judge.transparency.keys import KEY_FILE, load_key
from judge.transparency.merkle import CHECKPOINT, Leaves, StoredTree, leaf_hash, tile, tile_files
from judge.transparency.receipt import Receipt

LOG = "log/"

WITNESS_FOLDER = "witnesses"
"""In a contest's folder: the last checkpoint that each witness signed, named by key id."""

WITNESSED = f"{LOG}witness/"

Lines = Callable[[int, int], Sequence[JournalLine]]
"""Returns the journal lines of existing leaves [start, end)."""

_READ_AT_ONCE = 4096

_IDENTITY = re.compile(r"[0-9a-f]{8}")


class ContestLog:
    """One hash per 256 leaves is in memory."""

    def __init__(self, contest: str, read: Lines) -> None:
        self.origin = origin_of(contest)
        self._read = read
        self.tree = StoredTree(lambda start, end: [leaf_hash(leaf) for leaf in self.leaves(start, end)])
        self.received: dict[int, int] = {}
        self._labels: dict[int, int] = {}
        """The round with which a leaf becomes public, by number, of leaves that are or were withheld."""
        self._withheld_from: int | None = None
        self.catch_up()

    @classmethod
    def of(cls, contest: str, lines: Sequence[JournalLine]) -> "ContestLog":
        """The log of a journal in memory; empty for contests without logs."""
        numbered = [line for line in lines if line.number is not None]
        return cls(contest, lambda start, end: numbered[start:end])

    @classmethod
    def stored(cls, contest: str, store: Reader) -> "ContestLog":
        """The log of an announced contest, read from its store."""
        return cls(contest, partial(store.leaves, contest))

    @property
    def size(self) -> int:
        """Leaves; 0 for contests without logs."""
        return self.tree.size

    def leaves(self, start: int, end: int) -> list[bytes]:
        return [line.leaf for line in self._read(start, end)]

    def line(self, number: int) -> JournalLine:
        return self._read(number, number + 1)[0]

    def catch_up(self) -> None:
        while lines := self._read(self.size, self.size + _READ_AT_ONCE):
            for line in lines:
                match line.change:
                    case SubmissionChanged(SubmissionState.RECEIVED, number):
                        self.received[number] = self.size
                    case StandingsFrozen(first):
                        self._withheld_from = first
                    case Revealed() as revealed:
                        self._withheld_from = revealed.withheld_from
                if line.withheld is not None:
                    self._labels[self.size] = line.withheld
                self.tree.append(line.leaf)

    def is_withheld(self, number: int) -> bool:
        first = self._withheld_from
        return first is not None and self._labels.get(number, 0) >= first

    @property
    def public_size(self) -> int:
        """The size at which checkpoints are public: that after the last public leaf."""
        size = self.size
        while size and self.is_withheld(size - 1):
            size -= 1
        return size

    def public_leaves(self, start: int, end: int) -> list[bytes] | None:
        """None if one of them is withheld."""
        return None if any(map(self.is_withheld, range(start, end))) else self.leaves(start, end)

    def checkpoint(self, size: int | None = None) -> Checkpoint:
        """Unsigned checkpoint of the first `size` leaves, or of all."""
        size = self.size if size is None else size
        return Checkpoint(self.origin, size, self.tree.root(size))

    def files(self, key: Ed25519PrivateKey) -> Iterator[tuple[str, bytes]]:
        """All files of the log, also of withheld leaves, the checkpoint last."""
        return self._files(key, self.leaves, self.size)

    def public_files(self, key: Ed25519PrivateKey, since: int = 0) -> Iterator[tuple[str, bytes]]:
        """Public files of the log, the checkpoint last, without tiles complete at `since` leaves."""
        return self._files(key, self.public_leaves, self.public_size, since)

    def _files(self, key: Ed25519PrivateKey, leaves: Leaves, size: int, since: int = 0) -> Iterator[tuple[str, bytes]]:
        if size:
            for path, data in tile_files(self.tree, leaves, size, since):
                yield LOG + path, data
            yield LOG + CHECKPOINT, self.checkpoint(size).signed(key).note

    def public_file(self, path: str, key: Ed25519PrivateKey) -> bytes | None:
        """The public file at a path from the top of the site, or None."""
        name, size = path.removeprefix(LOG), self.public_size
        if not size or name == path:
            return None
        if name == CHECKPOINT:
            return self.checkpoint(size).signed(key).note
        return tile(self.tree, self.public_leaves, size, name)


class SignedLog:
    """The signed log of a running or announced contest. Thread-safe."""

    def __init__(self, store_url: str, contest: str, folder: Path) -> None:
        """Raises InputError for an invalid organiser's key, and as `Reader`."""
        self.key = organiser_key(folder)
        """Without it there are no files and receipts."""
        self._store = Reader(store_url)
        self._log: ContestLog | None = None
        """Loaded on first use: a long log is slow."""
        self._contest = contest
        self._folder = folder
        self._lock = Lock()

    def close(self) -> None:
        self._store.close()

    def file(self, path: str) -> bytes | None:
        """The current file at a path."""
        if self.key is None:
            return None
        if path.startswith(WITNESSED):
            return witnessed_files(self._folder).get(path)
        with self._lock:
            return self._as_it_is().public_file(path, self.key)

    def commitment(self) -> str | None:
        """Return the announced commitment to the contest's secret; None without one."""
        with self._lock:
            log = self._as_it_is()
            first = log.line(0) if log.size else None
        return first.digest if first is not None and isinstance(first.change, Announced) else None

    def new_files(self, since: int) -> tuple[int, list[tuple[str, bytes]]]:
        """The number of leaves before the first withheld one, and files new since `since` leaves."""
        if self.key is None:
            return 0, []
        with self._lock:
            log = self._as_it_is()
            size = log.public_size
            files = list(log.public_files(self.key, since)) if size > since else []
            complete = next(filter(log.is_withheld, range(size)), size)
            return complete, [*files, *witnessed_files(self._folder).items()]

    def receipt(self, submission: int) -> Receipt | None:
        """Receipt for an upload; None if it is not in the log or there is no key."""
        if self.key is None:
            return None
        with self._lock:
            log = self._as_it_is()
            number, size = log.received.get(submission), log.public_size
            if number is None:
                return None
            line = log.line(number)
            return Receipt.of(log.tree, number, line.leaf, log.checkpoint(size).signed(self.key))

    def _as_it_is(self) -> ContestLog:
        if self._log is None:
            self._log = ContestLog.stored(self._contest, self._store)
        else:
            self._log.catch_up()
        return self._log


def witnessed_files(folder: Path) -> dict[str, bytes]:
    """Witnesses' checkpoints of a contest's folder, by path on the site."""
    place = folder / WITNESS_FOLDER
    return {
        WITNESSED + path.name: read_bounded(path, MAX_CHECKPOINT_BYTES)
        for path in (sorted(place.iterdir()) if place.is_dir() else ())
        if _IDENTITY.fullmatch(path.name)
    }


def organiser_key(folder: Path) -> Ed25519PrivateKey | None:
    """The key in a contest's folder. Raises InputError if it is invalid."""
    path = folder / KEY_FILE
    return load_key(path) if path.exists() else None
