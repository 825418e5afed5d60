"""The tree of RFC 6962 against reference vectors and a naive tree; its files, as C2SP's tlog-tiles lays them out."""

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.base.errors import InputError
from judge.transparency.merkle import (
    EMPTY_ROOT,
    StoredTree,
    Tree,
    leaf_hash,
    node_hash,
    read_leaves,
    tile_files,
    tile_path,
    verify_inclusion,
)
from tests.examples import examples
from tests.transparency.standard_witness import is_continued

LEAVES = [
    bytes.fromhex(text)
    for text in (
        "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"
    )
]  # fmt: skip
"""The leaves of Certificate Transparency's own tests."""

ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
"""The roots of the first leaves of them, one to eight."""


def naive_root(leaves: list[bytes]) -> bytes:
    """As RFC 6962 defines it."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaf_hash(leaves[0])
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return node_hash(naive_root(leaves[:split]), naive_root(leaves[split:]))


def test_roots_and_proofs_are_those_of_certificate_transparency() -> None:
    tree = Tree(LEAVES)
    assert ROOTS == [tree.root(size).hex() for size in range(1, 9)]
    assert "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" == tree.root(0).hex()
    right = "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7"
    middle = "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e"
    upper = "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"
    other = "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"
    for proof, expected in (
        (tree.inclusion(0, 8), [right, middle, upper]),
        (tree.inclusion(2, 3), [ROOTS[1]]),
        (tree.consistency(1, 8), [right, middle, upper]),
        (tree.consistency(2, 5), [middle, other]),
    ):
        assert expected == [node.hex() for node in proof]


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.binary(max_size=5), max_size=70), st.data())
def test_every_proof_convinces_and_no_other_does(leaves: list[bytes], data: st.DataObject) -> None:
    tree = Tree(leaves)
    size = data.draw(st.integers(0, len(leaves)))
    old = data.draw(st.integers(0, size))
    assert naive_root(leaves[:size]) == tree.root(size)

    proof = tree.consistency(old, size)
    assert is_continued(old, size, tree.root(old), tree.root(size), proof)
    if old:  # every tree begins with the empty one
        assert not is_continued(old, size, tree.root(old), b"x" * 32, proof)
    assert not is_continued(old, size, b"x" * 32, tree.root(size), proof)
    assert not is_continued(old, size, tree.root(old), tree.root(size), [*proof, EMPTY_ROOT])
    if proof:
        assert not is_continued(old, size, tree.root(old), tree.root(size), proof[:-1])
    if not size:
        return
    index = data.draw(st.integers(0, size - 1))
    path = tree.inclusion(index, size)
    hashed = leaf_hash(leaves[index])
    assert verify_inclusion(hashed, index, size, path, tree.root(size))
    assert not verify_inclusion(leaf_hash(leaves[index] + b"x"), index, size, path, tree.root(size))
    assert not verify_inclusion(hashed, index, size, [*path, EMPTY_ROOT], tree.root(size))
    if path:
        assert not verify_inclusion(hashed, index, size, path[:-1], tree.root(size))
        assert not verify_inclusion(hashed, index, size, [b"x" * 32, *path[1:]], tree.root(size))


def test_another_history_has_no_proof() -> None:
    """All pairs of trees up to 20 leaves of which one leaf of the old part differs."""
    leaves = [bytes([number]) for number in range(20)]
    true = Tree(leaves)
    for old in range(1, 20):
        other = Tree([*leaves[: old - 1], b"other", *leaves[old:]])
        for new in range(old, 21):
            assert not is_continued(old, new, true.root(old), other.root(new), other.consistency(old, new))


@pytest.mark.parametrize(("index", "size"), [(0, 0), (-1, 4), (4, 4), (0, 9)])
def test_leaf_outside_the_tree_has_no_proof(index: int, size: int) -> None:
    with pytest.raises(ValueError, match="is not in a tree"):
        Tree(LEAVES).inclusion(index, size)
    assert not verify_inclusion(leaf_hash(b""), index, size, [], Tree(LEAVES).root())


def test_a_smaller_tree_does_not_begin_with_a_larger_one() -> None:
    with pytest.raises(ValueError, match="does not begin"):
        Tree(LEAVES).consistency(5, 4)
    assert not is_continued(5, 4, Tree(LEAVES).root(5), Tree(LEAVES).root(4), [])


@settings(max_examples=examples(25), deadline=None)
@given(st.data())
def test_a_tree_of_leaves_that_are_stored_elsewhere_has_the_same_proofs(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 1100))
    old, index = data.draw(st.integers(0, size)), data.draw(st.integers(0, size - 1))
    leaves = [str(number).encode() for number in range(size)]
    hashes = [leaf_hash(leaf) for leaf in leaves]
    plain, stored = Tree(leaves), StoredTree(lambda start, end: hashes[start:end])
    for leaf in leaves:
        stored.append(leaf)

    assert (size, plain.root(), plain.root(old)) == (stored.size, stored.root(), stored.root(old))
    assert plain.inclusion(index, size) == stored.inclusion(index, size)
    assert plain.consistency(old, size) == stored.consistency(old, size)


def files_of(leaves: list[bytes], since: int = 0) -> dict[str, bytes]:
    return dict(tile_files(Tree(leaves), lambda start, end: leaves[start:end], len(leaves), since))


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
