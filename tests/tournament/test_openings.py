"""Opening files as people write them, with their mistakes, and what the judge answers."""

import gzip
import os
import re
import sys
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.base.errors import InputError
from judge.catalog import game_entry
from judge.catalog.entry import Openings
from judge.contest import opening_files
from judge.contest.opening_files import read_openings
from judge.games.gomoku import Rule
from judge.games.gomoku.options import symmetries
from judge.games.gomoku.positions import parse_opening
from judge.games.gomoku.requests import Square, square_name
from judge.tournament.schedule import opening_of_pair

zstd: Any = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")


def stones(width: int, height: int) -> Openings:
    openings = game_entry("gomoku").openings({"width": width, "height": height})
    assert openings is not None
    return openings


@pytest.mark.parametrize(
    ("text", "size", "opening"),
    [
        ("-1,0, 2,3", (15, 15), ((6, 7), (9, 10))),
        ("-1,0, 2,3", (20, 20), ((9, 10), (12, 13))),
        ("0,0", (5, 5), ((2, 2),)),
        ("0,0", (20, 15), ((10, 7),)),
        ("-7,-7,+7,7", (15, 15), ((0, 0), (14, 14))),
        ("  -1 , 0,2,\t3 ,", (15, 15), ((6, 7), (9, 10))),
        ("h8i9j7", (15, 15), ((7, 7), (8, 8), (9, 6))),
        ("a1o15", (15, 15), ((0, 0), (14, 14))),
        ("H8 i9  J07", (15, 15), ((7, 7), (8, 8), (9, 6))),
        ("z26aa27bh60", (60, 60), ((25, 25), (26, 26), (59, 59))),
        ("", (15, 15), ()),
    ],
)
def test_both_notations_are_read(text: str, size: tuple[int, int], opening: tuple[Square, ...]) -> None:
    """Offsets count from floor(size / 2), squares from a1; blanks and a last comma are forgiven."""
    assert parse_opening(text, *size) == opening


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0,0, 0,-8", "'0,-8': stone 2 of the opening: 7,-1 is off the 15x15 board"),
        ("0,0, 8,0", "'8,0': stone 2 of the opening: 15,7 (p8) is off the 15x15 board"),
        ("h8p1", "'p1': stone 2 of the opening: 15,0 (p1) is off the 15x15 board"),
        ("h8h0", "'h0': stone 2 of the opening: 7,-1 is off the 15x15 board"),
        ("h8 i9 H8", "'H8': stone 3 of the opening: 7,7 (h8) is taken by stone 1 (black)"),
        ("1,1, 2,2, 1,1", "'1,1': stone 3 of the opening: 8,8 (i9) is taken by stone 1 (black)"),
        ("a1a3b1b3c1c3d1d3e1", "'e1': stone 9 of the opening: 4,0 (e1) ends the game"),
        ("h8i", "'i' does not start with a square; write letter and row"),
        ("h8-i9", "'-i9' does not start with a square; write letter and row"),
        ("h123", "'3' does not start with a square"),
        ("h8\u0661", "'\\u0661' does not start with a square"),
        ("1,2,3", "'3' is a dx without its dy"),
        ("1,2;3,4", "'2;3' is no offset; write dx,dy from the middle"),
        ("1,,2", "'' is no offset"),
        ("1,2000", "'2000' is no offset"),
        ("1," + "9" * 100, f"'{'9' * 20}'... is no offset"),
        ("\x1b]", "'\\x1b]' is no offset"),
    ],
)
def test_a_mistake_is_named_with_its_token(text: str, said: str) -> None:
    """The error says which token, what is wrong, and how to write it."""
    with pytest.raises(InputError) as refused:
        parse_opening(text, 15, 15)
    assert str(refused.value).startswith(said)


ROWS = {5: "a1a3b1c3c1e3d1g3e1", 6: "a1a3b1b3c1c3d1d3f1f3e1"}


@pytest.mark.parametrize(("stones", "options"), [(5, {"continuous": True}), (6, {"rule": Rule.STANDARD})])
def test_a_row_that_wins_by_default_may_be_open_by_an_option(stones: int, options: dict[str, Any]) -> None:
    """Gomoku AI protocol, BOARD: a stone can be part of a winning line when both brains are told the opening."""
    with pytest.raises(InputError, match=rf"{stones} in a row, a1 to [ef]1"):
        parse_opening(ROWS[stones], 15, 15)
    assert 2 * stones - 1 == len(parse_opening(ROWS[stones], 15, 15, **options))
    with pytest.raises(InputError, match="taken by stone 1"):
        parse_opening(f"{ROWS[stones]}a1", 15, 15, **options)


H8, I9 = (7, 7), (8, 8)


@pytest.mark.parametrize(
    ("data", "openings"),
    [
        ("\ufeff# cup\r\n\r\nh8i9 # solid\r\n  0,0, 1,0\r\nh8".encode(), [(H8, I9), (H8, (8, 7)), (H8,)]),
        ("h8i9 # für alle".encode("latin-1"), [(H8, I9)]),
        (zstd.compress(b"h8\n") + zstd.compress(b"i9\n"), [(H8,), (I9,)]),
        (gzip.compress(b"h8\ni9\n"), [(H8,), (I9,)]),
    ],
    ids=["comments and line ends", "a comment in Latin-1", "frames of zstd", "gzip"],
)
def test_a_file_has_one_opening_a_line(data: bytes, openings: list[object], tmp_path: Path) -> None:
    (tmp_path / "openings").write_bytes(data)
    assert openings == read_openings(tmp_path / "openings", stones(15, 15))
    # The rest of the file is not read if only some are wanted.
    with (tmp_path / "more").open("wb") as file:
        file.write(b"h8\ni9\n" + b"no opening\n" * 1000)
    assert [(H8,), (I9,)] == read_openings(tmp_path / "more", stones(15, 15), 2)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"h8i9\n# again\n0,0, 1,1\n", ", line 3: the same opening as in line 1; remove one"),
        (b"# cup\n\nh8i9\nh8i9h8\n", ", line 4: 'h8': stone 3 of the opening: "),
        (b"", " contains no openings; write one per line, such as"),
        (b"\n\n", " contains no openings; write one per line, such as"),
        (b"# nothing yet\n", " contains no openings; write one per line, such as"),
        (b"\x28\xb5\x2f\xfd....", " is a damaged zstd file: "),
        (zstd.compress(b"h8\n" * 99)[:-3], " is a damaged zstd file: "),
        (gzip.compress(b"h8\n" * 99)[:-9], " is a damaged gzip file: "),
        (b"h8\ni9\x81\n", ", line 2: byte 0x81 is invalid in cp1252; save the file as UTF-8"),
        (b"h8\n#" + b"x" * 70_000, ", line 2: longer than 65536 characters; shorten it"),
    ],
)
def test_a_mistake_in_a_file_is_named_with_its_line(data: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "openings.txt"
    path.write_bytes(data)
    with pytest.raises(InputError) as refused:
        read_openings(path, stones(15, 15))
    assert str(refused.value).startswith(f"{path}{said}")


def test_what_is_no_file_of_this_board_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "openings.txt"
    with pytest.raises(InputError, match=r"openings\.txt cannot be read: No such file"):
        read_openings(path, stones(15, 15))
    os.mkfifo(path)
    with pytest.raises(InputError, match=r"openings\.txt cannot be read: a special file"):
        read_openings(path, stones(15, 15))
    with pytest.raises(InputError, match=r"^gomoku options: width"):
        read_openings(path, stones(4, 15))


THREE = [((7, 7),), ((7, 7), (8, 8)), ((3, 4), (5, 6))]


@pytest.mark.parametrize("seed", [None, 0, 1, 2])
def test_every_opening_is_played_before_any_is_played_again(seed: int | None) -> None:
    """Balanced, in the order of the file or in one that the seed decides."""
    turns = symmetries(15, 15)[:1]
    played = [opening_of_pair(THREE, pair, seed, turns) for pair in range(9)]
    for number in range(3):
        assert set(THREE) == set(played[3 * number : 3 * number + 3])
    assert played == [opening_of_pair(THREE, pair, seed, turns) for pair in range(9)]
    if seed is None:
        assert THREE * 3 == played
        orders = {tuple(opening_of_pair(THREE, p, seed, turns) for p in range(3)) for seed in range(8)}
        assert len(orders) > 1


def test_openings_come_again_turned_and_mirrored() -> None:
    """Eight passes, eight positions; the first is the file's, and the ninth is the first again."""
    turns = symmetries(15, 15)
    opening = ((7, 8), (3, 12))
    played = [opening_of_pair([opening], pair, None, turns) for pair in range(9)]
    assert opening == played[0] == played[8]
    assert 8 == len(set(played))
    assert {(7, 8), (7, 6), (8, 7), (6, 7)} == {turned[0] for turned in played}
    assert [(1, 2), (18, 2), (1, 12), (18, 12)] == [turn(1, 2) for turn in symmetries(20, 15)]
    assert "8/8 w" == opening_of_pair(["8/8 w"], 1, None, [lambda x, y: (y, x)])  # positions are not turned


def test_error_of_a_split_names_the_file_once(tmp_path: Path) -> None:
    def split(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
        yield from enumerate(lines, 1)
        raise InputError("line 2: no end; write one")

    path = tmp_path / "openings.txt"
    path.write_text("h8\n")
    with pytest.raises(InputError) as refused:
        read_openings(path, Openings(str, "1", split=split))
    assert f"{path}, line 2: no end; write one" == str(refused.value)


POSITIONS = "# endings\n4k3/8/8/8/8/8/4P3/4K3 w\n\n4k3/8/8/8/8/8/4P3/4K3 b  # black moves\n"


@pytest.mark.parametrize("compress", [bytes, gzip.compress, zstd.compress])
def test_file_of_positions_is_read_from_text_gzip_and_zstd(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "openings"
    path.write_bytes(compress(POSITIONS.encode()))
    openings, board = game_entry("quantum-chess").openings({}), "4k3/8/8/8/8/8/4P3/4K3"
    assert openings is not None
    assert [f"{board} w", f"{board} b"] == read_openings(path, openings)


ZEROS = bytes(200 << 20)


@pytest.mark.slow
@pytest.mark.parametrize("compress", [gzip.compress, zstd.compress])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"h8\n" + b"#" * 9999 + ZEROS, ", line 2: longer than 65536 "),
        ("h8\n".encode("utf-16") + ZEROS, " has more than 67108864 bytes; save it as UTF-8 "),
    ],
)
def test_bomb_ends_at_its_limit(tmp_path: Path, compress: Callable[[bytes], bytes], content: bytes, said: str) -> None:
    path = tmp_path / "openings"
    path.write_bytes(compress(content))
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=re.escape(f"{path}{said}")):
            read_openings(path, stones(15, 15))
        assert tracemalloc.get_traced_memory()[1] < len(content)
    finally:
        tracemalloc.stop()


def test_zstd_without_the_library_names_the_fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "openings.zst"
    path.write_bytes(zstd.compress(b"h8\n"))
    for name in ("backports.zstd", "compression.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(InputError, match=r"zstd: pip install 'contest-judge\[zstd\]', or compress it with gzip$"):
        read_openings(path, stones(15, 15))


@settings(deadline=None)
@given(st.data(), st.integers(5, 60), st.integers(5, 60))
def test_written_data_round_trips(data: st.DataObject, width: int, height: int) -> None:
    """Any opening of up to eight stones (no five among them), as `h8i9j7`."""
    square = st.tuples(st.integers(0, width - 1), st.integers(0, height - 1))
    opening = tuple(data.draw(st.lists(square, max_size=8, unique=True)))
    assert parse_opening("".join(square_name(x, y) for x, y in opening), width, height) == opening


@pytest.mark.parametrize("line", [b"\n", b"# a comment\n"])
def test_lines_without_openings_are_bounded(line: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of a megabyte may have a billion of them."""
    monkeypatch.setattr(opening_files, "MAX_LINES", 1000)
    path = tmp_path / "openings.txt.gz"
    path.write_bytes(gzip.compress(line * 1000 + b"h8i9\n"))
    with pytest.raises(InputError, match=r"openings\.txt\.gz, line 1001: more than 1000 lines"):
        read_openings(path, stones(15, 15))
    monkeypatch.setattr(opening_files, "MAX_LINES", 1001)
    monkeypatch.setattr(opening_files, "MAX_CHARACTERS", 20)
    with pytest.raises(InputError, match="or 20 characters; split the file"):
        read_openings(path, stones(15, 15))
