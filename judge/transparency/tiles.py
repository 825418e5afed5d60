"""A log as static files, in the layout of C2SP tlog-tiles:

    checkpoint                the signed size and root
    tile/0/000                the hashes of the first 256 leaves; tile/1/000 those of 256 full tiles, and so on
    tile/0/001.p/12           the last tile, while it has 12 hashes
    tile/entries/000          the first 256 leaves, each preceded by its length in two bytes

A full tile never changes.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from judge.base.errors import InputError
from judge.transparency.merkle import HEIGHT, Tree

CHECKPOINT = "checkpoint"

WIDTH = 1 << HEIGHT

Leaves = Callable[[int, int], Sequence[bytes] | None]
"""Returns existing leaves [start, end); None if one is withheld."""

MAX_LEAF_BYTES = 0xFFFF

MAX_TILE_BYTES = WIDTH * (MAX_LEAF_BYTES + 2)


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


_PATH = re.compile(r"tile/(entries|[0-9])/((?:x[0-9]{3}/)*[0-9]{3})(?:\.p/([1-9][0-9]{0,2}))?")


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
