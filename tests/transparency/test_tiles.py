"""The files of a log, as C2SP's tlog-tiles lays them out."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.base.errors import InputError
from judge.transparency.merkle import Tree, leaf_hash
from judge.transparency.tiles import read_leaves, tile_files, tile_path
from tests.examples import examples


def files_of(leaves: list[bytes], since: int = 0) -> dict[str, bytes]:
    return dict(tile_files(Tree(leaves), lambda start, end: leaves[start:end], since))


def log(count: int) -> list[bytes]:
    return [str(number).encode() * (number % 5) for number in range(count)]


def test_paths_are_those_of_the_standard() -> None:
    assert "tile/0/x001/x234/067" == tile_path("0", 1234067, 256)
    assert "tile/entries/000.p/12" == tile_path("entries", 0, 12)


def test_a_log_of_70_000_leaves_has_three_levels() -> None:
    """70,000 leaves are 273 full tiles and one of 112; these are one full tile and one of 17; and that is one hash."""
    leaves = log(70_000)
    files = files_of(leaves)

    assert {"tile/0/000", "tile/0/272", "tile/0/273.p/112", "tile/1/000", "tile/1/001.p/17", "tile/2/000.p/1"} < {
        *files
    }
    assert 2 * 274 + 2 + 1 == len(files)
    assert b"".join(leaf_hash(leaf) for leaf in leaves[:256]) == files["tile/0/000"]
    assert Tree(leaves[:65536]).root() == files["tile/2/000.p/1"]
    assert leaves == read_leaves(files.__getitem__, 70_000)


@settings(max_examples=examples(25), deadline=None)
@given(st.integers(0, 1200), st.integers(0, 1200))
def test_a_log_that_grows_adds_the_files_that_are_new(one: int, other: int) -> None:
    old, new = sorted((one, other))
    leaves = log(new)
    before, added, whole = files_of(leaves[:old]), files_of(leaves, old), files_of(leaves)

    assert whole == {path: data for path, data in {**before, **added}.items() if path in whole}
    assert leaves[old:] == read_leaves(whole.__getitem__, new, old)


@pytest.mark.parametrize("data", [b"", b"\x00", b"\x00\x05abc", b"\x00\x01a\x00\x01b", b"\x00\x01a\x00"])
def test_a_tile_with_other_contents_is_refused(data: bytes) -> None:
    with pytest.raises(InputError, match="not a tile of 1 leaves"):
        read_leaves(lambda _: data, 1)
