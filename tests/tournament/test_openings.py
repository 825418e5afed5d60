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
from judge.games.gomoku.positions import parse_opening, symmetries
from judge.games.gomoku.requests import Square, square_name
from judge.tournament.openings import schedule

zstd: Any = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")


def write_pos(stones: Iterable[Square]) -> str:
    """`h8i9j7` for squares x, y from 0 in play order; `parse_opening` reads it back."""
    return "".join(square_name(x, y) for x, y in stones)


def stones(width: int, height: int) -> Openings:
    openings = game_entry("gomoku").openings({"width": width, "height": height})
    assert openings is not None
    return openings


def file_of(directory: Path, text: str) -> Path:
    path = directory / "openings.txt"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "size", "opening"),
    [
        ("-1,0, 2,3", 15, ((6, 7), (9, 10))),
        ("-1,0, 2,3", 20, ((9, 10), (12, 13))),
        ("0,0", 5, ((2, 2),)),
        ("-7,-7,+7,7", 15, ((0, 0), (14, 14))),
        ("  -1 , 0,2,\t3 ,", 15, ((6, 7), (9, 10))),
        ("h8i9j7", 15, ((7, 7), (8, 8), (9, 6))),
        ("a1o15", 15, ((0, 0), (14, 14))),
        ("H8 i9  J07", 15, ((7, 7), (8, 8), (9, 6))),
        ("z26aa27bh60", 60, ((25, 25), (26, 26), (59, 59))),
        ("", 15, ()),
    ],
)
def test_both_notations_are_read(text: str, size: int, opening: tuple[Square, ...]) -> None:
    """Offsets count from floor(size / 2), squares from a1; blanks and a last comma are forgiven."""
    assert parse_opening(text, size, size) == opening


def test_the_middle_of_a_rectangle_is_the_middle_of_either_side() -> None:
    """On a 20x15 board the offset 0,0 is 10,7."""
    assert parse_opening("0,0", 20, 15) == ((10, 7),)


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


def test_win_depends_on_the_rule() -> None:
    """Six in a row end a freestyle game and leave a standard one open."""
    six = "a1a3b1b3c1c3d1d3f1f3e1"
    with pytest.raises(InputError, match=r"6 in a row, a1 to f1"):
        parse_opening(six, 15, 15)
    assert len(parse_opening(six, 15, 15, Rule.STANDARD)) == 11


def test_a_row_leaves_a_continuous_game_open() -> None:
    """Gomoku AI protocol, BOARD: so a stone can be part of a winning line when both brains are told the opening."""
    row = "a1a3b1c3c1e3d1g3e1"
    with pytest.raises(InputError, match=r"5 in a row, a1 to e1"):
        parse_opening(row, 15, 15)
    assert 9 == len(parse_opening(row, 15, 15, continuous=True))
    with pytest.raises(InputError, match="taken by stone 1"):
        parse_opening(row + "a1", 15, 15, continuous=True)


def test_a_file_holds_one_opening_a_line(tmp_path: Path) -> None:
    """Blank lines, comments, Windows line ends and a byte order mark do not count."""
    path = file_of(tmp_path, "\ufeff# cup\r\n\r\nh8i9 # solid\r\n  0,0, 1,0\r\nh8")
    openings = [((7, 7), (8, 8)), ((7, 7), (8, 7)), ((7, 7),)]
    assert openings == read_openings(path, stones(15, 15))


def test_duplicate_opening_is_refused(tmp_path: Path) -> None:
    """In whichever notation: both lines are named."""
    path = file_of(tmp_path, "h8i9\n# again\n0,0, 1,1\n")
    with pytest.raises(InputError, match="line 3: the same opening as in line 1; remove one"):
        read_openings(path, stones(15, 15))


# --- the order of play ---------------------------------------------------------------------------

THREE = [((7, 7),), ((7, 7), (8, 8)), ((3, 4), (5, 6))]


@pytest.mark.parametrize("seed", [None, 0, 1, 2])
def test_every_opening_is_played_before_any_is_played_again(seed: int | None) -> None:
    """Balanced, in the order of the file or in one that the seed decides."""
    turns = symmetries(15, 15)[:1]
    played = [schedule(THREE, pair, seed, turns) for pair in range(9)]
    for number in range(3):
        assert set(THREE) == set(played[3 * number : 3 * number + 3])
    assert played == [schedule(THREE, pair, seed, turns) for pair in range(9)]
    if seed is None:
        assert THREE * 3 == played


def test_seeds_order_differently() -> None:
    """Some of eight seeds must: there are six orders of three."""
    turns = symmetries(15, 15)[:1]
    orders = {tuple(schedule(THREE, p, seed, turns) for p in range(3)) for seed in range(8)}
    assert len(orders) > 1


def test_openings_come_again_turned_and_mirrored() -> None:
    """Eight passes, eight positions; the first is the file's, and the ninth is the first again."""
    turns = symmetries(15, 15)
    opening = ((7, 8), (3, 12))
    played = [schedule([opening], pair, None, turns) for pair in range(9)]
    assert opening == played[0] == played[8]
    assert 8 == len(set(played))
    assert {(7, 8), (7, 6), (8, 7), (6, 7)} == {turned[0] for turned in played}


def test_a_board_that_is_not_square_has_four_symmetries() -> None:
    """None of them leaves the board."""
    turns = symmetries(20, 15)
    assert [(1, 2), (18, 2), (1, 12), (18, 12)] == [turn(1, 2) for turn in turns]


# --- what is wrong with a file -------------------------------------------------------------------


def test_a_comment_in_another_encoding_is_still_a_comment(tmp_path: Path) -> None:
    """One Latin-1 letter in a comment does not cost the whole file."""
    path = tmp_path / "openings.txt"
    path.write_bytes("h8i9 # für alle".encode("latin-1"))
    assert read_openings(path, stones(15, 15)) == [((7, 7), (8, 8))]


def test_a_bad_line_is_named_with_its_file_and_number(tmp_path: Path) -> None:
    """Comments and blank lines count as lines: the number is the one an editor shows."""
    path = file_of(tmp_path, "# cup\n\nh8i9\nh8i9h8\n")
    with pytest.raises(InputError) as refused:
        read_openings(path, stones(15, 15))
    assert str(refused.value).startswith(f"{path}, line 4: 'h8': stone 3 of the opening: ")


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing yet\n"])
def test_an_empty_file_is_refused(tmp_path: Path, text: str) -> None:
    """A contest without openings is said by leaving the file away, not by an empty one."""
    path = file_of(tmp_path, text)
    with pytest.raises(InputError) as refused:
        read_openings(path, stones(15, 15))
    assert str(refused.value).startswith(f"{path} contains no openings; write one per line, such as")


def test_error_of_a_split_names_the_file_once(tmp_path: Path) -> None:
    def split(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
        yield from enumerate(lines, 1)
        raise InputError("line 2: no end; write one")

    path = file_of(tmp_path, "h8\n")
    with pytest.raises(InputError) as refused:
        read_openings(path, Openings(str, "1", split=split))
    assert f"{path}, line 2: no end; write one" == str(refused.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """The operator reads which file and why."""
    with pytest.raises(InputError, match=r"nowhere\.txt cannot be read: No such file"):
        read_openings(tmp_path / "nowhere.txt", stones(15, 15))


def test_a_wrong_board_is_not_blamed_on_the_file(tmp_path: Path) -> None:
    """A board of four squares is refused before line 1 is looked at."""
    with pytest.raises(InputError, match=r"^gomoku options: width"):
        read_openings(file_of(tmp_path, "h8"), stones(4, 15))


POSITIONS = "# endings\n4k3/8/8/8/8/8/4P3/4K3 w\n\n4k3/8/8/8/8/8/4P3/4K3 b  # black moves\n"


def quantum_chess() -> Openings:
    openings = game_entry("quantum-chess").openings({})
    assert openings is not None
    return openings


@pytest.mark.parametrize("compress", [bytes, gzip.compress, zstd.compress])
def test_a_file_of_positions_is_read_from_text_gzip_and_zstd(
    tmp_path: Path, compress: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "openings"
    path.write_bytes(compress(POSITIONS.encode()))
    board = "4k3/8/8/8/8/8/4P3/4K3"
    assert [f"{board} w", f"{board} b"] == read_openings(path, quantum_chess())


def test_zstd_file_of_several_frames_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "openings.zst"
    path.write_bytes(zstd.compress(b"h8\n") + zstd.compress(b"i9\n"))
    assert [((7, 7),), ((8, 8),)] == read_openings(path, stones(15, 15))


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
def test_bomb_is_refused_at_its_limit(
    tmp_path: Path, compress: Callable[[bytes], bytes], content: bytes, said: str
) -> None:
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


def test_positions_are_not_turned() -> None:
    assert "8/8 w" == schedule(["8/8 w"], 1, None, [lambda x, y: (y, x)])


def test_wanted_openings_are_read_without_the_rest_of_the_file(tmp_path: Path) -> None:
    path = file_of(tmp_path, "h8\ni9\n" + "no opening\n" * 100_000)
    assert [((7, 7),), ((8, 8),)] == read_openings(path, stones(15, 15), 2)


def test_hundred_thousand_positions_are_read(tmp_path: Path) -> None:
    numbers = "\n".join(map(str, range(100_000)))
    path = tmp_path / "openings.txt.gz"
    path.write_bytes(gzip.compress(numbers.encode()))
    assert 100_000 == len(read_openings(path, Openings(str, "1")))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x28\xb5\x2f\xfd....", " is a damaged zstd file: "),
        (zstd.compress(b"h8\n" * 99)[:-3], " is a damaged zstd file: "),
        (gzip.compress(b"h8\n" * 99)[:-9], " is a damaged gzip file: "),
        (b"h8\ni9\x81\n", ", line 2: byte 0x81 is invalid in cp1252; save the file as UTF-8"),
        (b"h8\n#" + b"x" * 70_000, ", line 2: longer than 65536 characters; shorten it"),
    ],
)
def test_a_file_that_cannot_be_decoded_is_refused(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "openings.txt"
    path.write_bytes(data)
    with pytest.raises(InputError) as refused:
        read_openings(path, stones(15, 15))
    assert str(refused.value).startswith(f"{path}{said}")


@settings(deadline=None)
@given(st.data(), st.integers(5, 60), st.integers(5, 60))
def test_written_data_round_trips(data: st.DataObject, width: int, height: int) -> None:
    """Any opening of up to eight stones (no five among them) survives `write_pos`."""
    square = st.tuples(st.integers(0, width - 1), st.integers(0, height - 1))
    opening = tuple(data.draw(st.lists(square, max_size=8, unique=True)))
    assert parse_opening(write_pos(opening), width, height) == opening


def test_the_openings_of_a_real_cup_are_read() -> None:
    """Six openings of Gomocup for 20x20, from 3 to 41 stones."""
    data = os.environ.get("JUDGE_DATA", "")
    path = Path(data, "gomoku", "openings_20.txt")
    if not data or not path.is_file():
        pytest.skip("set JUDGE_DATA to the directory that holds gomoku/openings_20.txt")
    openings = read_openings(path, stones(20, 20))
    assert [len(opening) for opening in openings] == [3, 7, 3, 3, 3, 41]
    assert ((3, 2), (4, 1), (7, 1)) == openings[0]


@pytest.mark.parametrize("line", [b"\n", b"# a comment\n"])
def test_compressed_lines_without_openings_are_bounded(
    line: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_named_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "openings.txt")
    with pytest.raises(InputError, match=r"openings\.txt cannot be read: a special file"):
        read_openings(tmp_path / "openings.txt", stones(15, 15))
