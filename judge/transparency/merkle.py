"""The Merkle tree of RFC 6962, section 2.1, with SHA-256.

An inclusion proof shows that a leaf is in the tree, a consistency proof that a tree begins with an earlier one.
Verified as in RFC 9162, sections 2.1.3.2 and 2.1.4.2. Its files have the layout of C2SP tlog-tiles:

    checkpoint                the signed size and root
    tile/0/000                the hashes of the first 256 leaves; tile/1/000 those of 256 full tiles, and so on
    tile/0/001.p/12           the last tile, while it has 12 hashes
    tile/entries/000          the first 256 leaves, each preceded by its length in two bytes

A full tile never changes.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from judge.base.errors import InputError

EMPTY_ROOT = hashlib.sha256(b"").digest()


def leaf_hash(data: bytes) -> bytes:
    """Hash of a leaf."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Hash of two subtrees."""
    return hashlib.sha256(b"\x01" + left + right).digest()


class Tree:
    """A growing tree; `levels[k]` are the hashes of complete subtrees of 2^k leaves."""

    def __init__(self, leaves: Iterable[bytes] = ()) -> None:
        self.levels: list[list[bytes]] = [[]]
        for leaf in leaves:
            self.append(leaf)

    @property
    def size(self) -> int:
        return len(self.levels[0])

    def append(self, data: bytes) -> None:
        self.append_hash(leaf_hash(data))

    def node(self, level: int, index: int) -> bytes:
        """Root of the complete subtree `index` of 2^level leaves."""
        return self.levels[level][index]

    def append_hash(self, hashed: bytes) -> None:
        level = 0
        self.levels[0].append(hashed)
        while len(self.levels[level]) % 2 == 0:
            hashed = node_hash(*self.levels[level][-2:])
            level += 1
            if level == len(self.levels):
                self.levels.append([])
            self.levels[level].append(hashed)

    def root(self, size: int | None = None) -> bytes:
        """Root of the first `size` leaves, or of all. Raises ValueError."""
        size = self.size if size is None else size
        if not 0 <= size <= self.size:
            raise ValueError(f"a tree of {self.size} leaves has no root of {size}")
        return self._root_of(0, size) if size else EMPTY_ROOT

    def inclusion(self, index: int, size: int) -> list[bytes]:
        """Prove that leaf `index` is among `size` leaves. Raises ValueError."""
        if not 0 <= index < size <= self.size:
            raise ValueError(f"leaf {index} is not in a tree of {size} leaves")
        proof: list[bytes] = []
        start, end = 0, size
        while end - start > 1:
            middle = start + _split(end - start)
            if index < middle:
                proof.append(self._root_of(middle, end))
                end = middle
            else:
                proof.append(self._root_of(start, middle))
                start = middle
        return proof[::-1]

    def consistency(self, old: int, new: int) -> list[bytes]:
        """Prove that `new` leaves begin with the `old` ones. Raises ValueError."""
        if not 0 <= old <= new <= self.size:
            raise ValueError(f"a tree of {new} leaves does not begin with one of {old}")
        if old in (0, new):
            return []
        proof: list[bytes] = []
        start, end = 0, new
        while end != old:
            middle = start + _split(end - start)
            if old <= middle:
                proof.append(self._root_of(middle, end))
                end = middle
            else:
                proof.append(self._root_of(start, middle))
                start = middle
        # The recipient knows the old root.
        return [*([self._root_of(start, end)] if start else []), *proof[::-1]]

    def _root_of(self, start: int, end: int) -> bytes:
        """`start` must be a multiple of the largest complete subtree in the range."""
        count = end - start
        if count & (count - 1) == 0:
            level = count.bit_length() - 1
            return self.node(level, start >> level)
        middle = start + _split(count)
        return node_hash(self._root_of(start, middle), self._root_of(middle, end))


HEIGHT = 8
"""Levels below 2^8 leaves are read when needed; others are in memory."""


class StoredTree(Tree):
    """A tree with leaves stored elsewhere; one hash per 256 leaves is in memory.

    `read(start, end)` returns leaf hashes, which never change.
    """

    def __init__(self, read: Callable[[int, int], Sequence[bytes]]) -> None:
        super().__init__()
        self._last = Tree()
        """Leaves after the last full tile."""
        self._tile = lru_cache(maxsize=8)(lambda tile: _tree_of(read(tile << HEIGHT, (tile + 1) << HEIGHT)))

    @property
    def size(self) -> int:
        return (len(self.levels[0]) << HEIGHT) + self._last.size

    def append_hash(self, hashed: bytes) -> None:
        self._last.append_hash(hashed)
        if self._last.size == 1 << HEIGHT:
            super().append_hash(self._last.root())
            self._last = Tree()

    def node(self, level: int, index: int) -> bytes:
        """Root of a complete subtree; inside a full tile its leaves are read."""
        if level >= HEIGHT:
            return super().node(level - HEIGHT, index)
        tile = index >> HEIGHT - level
        full = len(self.levels[0])
        return (self._last if tile == full else self._tile(tile)).node(level, index - (tile << HEIGHT - level))


def _tree_of(hashes: Sequence[bytes]) -> Tree:
    tree = Tree()
    for hashed in hashes:
        tree.append_hash(hashed)
    return tree


def verify_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Whether `proof` shows that `leaf` is at `index` in the tree of this size and root."""
    if not 0 <= index < size:
        return False
    at, last, hashed = index, size - 1, leaf
    for node in proof:
        if last == 0:
            return False
        if at & 1 or at == last:
            hashed = node_hash(node, hashed)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            hashed = node_hash(hashed, node)
        at, last = at >> 1, last >> 1
    return last == 0 and hashed == root


def _split(count: int) -> int:
    return 1 << (count - 1).bit_length() - 1


# --- tiles -----------------------------------------------------------------------------------------------------------


CHECKPOINT = "checkpoint"

WIDTH = 1 << HEIGHT

MAX_LEAF_BYTES = 0xFFFF

MAX_TILE_BYTES = WIDTH * (MAX_LEAF_BYTES + 2)

Leaves = Callable[[int, int], Sequence[bytes] | None]
"""Returns existing leaves [start, end); None if one is withheld."""

_PATH = re.compile(r"tile/(entries|[0-9])/((?:x[0-9]{3}/)*[0-9]{3})(?:\.p/([1-9][0-9]{0,2}))?")


def tile_files(tree: Tree, leaves: Leaves, size: int, since: int = 0) -> Iterator[tuple[str, bytes]]:
    """Paths and contents of the tiles of `size` leaves that were not complete at `since` leaves.

    A tile of withheld leaves is left out; their hashes are there.
    """
    for number, width in _tiles(size, since):
        if (bundled := leaves(number * WIDTH, number * WIDTH + width)) is not None:
            yield tile_path("entries", number, width), _bundled(bundled)
    for level in range(0, size.bit_length(), HEIGHT):
        for number, width in _tiles(size >> level, since >> level):
            yield tile_path(str(level // HEIGHT), number, width), _hashes(tree, level, number, width)


def _hashes(tree: Tree, level: int, number: int, width: int) -> bytes:
    start = number * WIDTH
    return b"".join(tree.node(level, index) for index in range(start, start + width))


def _tiles(count: int, since: int) -> Iterator[tuple[int, int]]:
    if count > since:
        for start in range(since // WIDTH * WIDTH, count, WIDTH):
            yield start // WIDTH, min(WIDTH, count - start)


def tile_path(level: str, number: int, width: int) -> str:
    """Path of a tile."""
    parts = [f"{number % 1000:03d}"]
    while number := number // 1000:
        parts.insert(0, f"x{number % 1000:03d}")
    return f"tile/{level}/{'/'.join(parts)}{'' if width == WIDTH else f'.p/{width}'}"


def read_leaves(read: Callable[[str], bytes], size: int, since: int = 0) -> list[bytes]:
    """The leaves [since, size), not compared with a root. `read` returns the tile at a path.

    Raises InputError for an invalid tile.
    """
    leaves: list[bytes] = []
    for number, width in _tiles(size, since):
        path = tile_path("entries", number, width)
        found = _bundle(read(path))
        if found is None or len(found) != width:
            raise InputError(f"{path}: not a tile of {width} leaves")
        leaves += found
    return leaves[since % WIDTH :] if size > since else []


def _bundled(leaves: Sequence[bytes]) -> bytes:
    return b"".join(len(leaf).to_bytes(2, "big") + leaf for leaf in leaves)


def _bundle(data: bytes) -> list[bytes] | None:
    leaves, at = [], 0
    while at < len(data):
        end = at + 2 + int.from_bytes(data[at : at + 2], "big")
        if at + 2 > len(data) or end > len(data):
            return None
        leaves.append(data[at + 2 : end])
        at = end
    return leaves


def tile(tree: Tree, leaves: Leaves, size: int, path: str) -> bytes | None:
    """The tile of `size` leaves at a path, including former partial tiles, or None."""
    found = _PATH.fullmatch(path)
    if found is None:
        return None
    number, width = int(found[2].replace("x", "").replace("/", "")), int(found[3] or WIDTH)
    level = 0 if found[1] == "entries" else int(found[1]) * HEIGHT
    if width > WIDTH or number * WIDTH + width > size >> level:
        return None
    if found[1] == "entries":
        bundled = leaves(number * WIDTH, number * WIDTH + width)
        return None if bundled is None else _bundled(bundled)
    return _hashes(tree, level, number, width)
