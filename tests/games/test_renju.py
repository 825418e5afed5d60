"""Renju's fouls as the rule book, other managers and a slow reading of the definitions see them."""

import random
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.games.gomoku import renju
from judge.games.gomoku.renju import Foul, foul
from judge.games.gomoku.requests import Square, square_at, square_name
from tests.games.renju_reference import DIRECTIONS, VECTORS, Position, textbook_foul


def cells_of(position: Position) -> tuple[bytearray, int]:
    """The board as the game keeps it, and its stride."""
    stride = position.width + 2
    cells = bytearray(b"\3" * stride * (position.height + 2))
    for y in range(position.height):
        for x in range(position.width):
            taken = 1 if (x, y) in position.black else 2 if (x, y) in position.white else 0
            cells[(y + 1) * stride + x + 1] = taken
    return cells, stride


def foul_on(position: Position, square: Square) -> Foul | None:
    cells, stride = cells_of(position)
    before = bytes(cells)
    verdict = foul(cells, stride, (square[1] + 1) * stride + square[0] + 1)
    assert before == cells
    return verdict


def free_squares(position: Position) -> list[Square]:
    squares = ((x, y) for y in range(position.height) for x in range(position.width))
    return [square for square in squares if position.is_free(square)]


def named(names: str) -> frozenset[Square]:
    return frozenset(square_at(name) for name in names.split())


def foul_at(square: str, black: str, white: str = "", size: int = 15) -> Foul | None:
    """The foul of black's next stone among stones given by name."""
    return foul_on(Position(size, size, named(black), named(white)), square_at(square))


def along(picture: str, direction: Square) -> tuple[Position, Square]:
    """A line of a 19x19 board with `*` in its middle: black `X`, white `O`, free `_`; and where the `*` is."""
    middle = picture.index("*")
    (dx, dy), stones = direction, {"X": set[Square](), "O": set[Square]()}
    for place, letter in enumerate(picture):
        if letter in stones:
            stones[letter].add((9 + (place - middle) * dx, 9 + (place - middle) * dy))
    return Position(19, 19, frozenset(stones["X"]), frozenset(stones["O"])), (9, 9)


def on_a_line(picture: str) -> Foul | None:
    """The verdict on `*`, which must be the same in all directions and read from either end."""
    (verdict,) = {foul_on(*along(text, direction)) for text in (picture, picture[::-1]) for direction in DIRECTIONS}
    return verdict


def with_another_three(picture: str) -> Foul | None:
    """The verdict on `*` where another line through it holds a three: a double three if the picture is one too."""
    verdicts = set()
    for direction, other in ((DIRECTIONS[i], DIRECTIONS[i - 1]) for i in range(4)):
        for text in (picture, picture[::-1]):
            line, square = along(text, direction)
            cross, _ = along("*XX", other)
            verdicts.add(foul_on(Position(19, 19, line.black | cross.black, line.white), square))
    (verdict,) = verdicts
    return verdict


@pytest.mark.parametrize("vector", VECTORS, ids=[v["moves"][:12] for v in VECTORS])
def test_the_forbidden_squares_are_those_that_other_judges_found(vector: dict[str, Any]) -> None:
    moves = re.findall("[a-z][0-9]+", vector["moves"])
    position = Position(15, 15, named(" ".join(moves[::2])), named(" ".join(moves[1::2])))

    found = {s for s in free_squares(position) if foul_on(position, s) is not None}

    assert set(vector["forbidden"]) == {square_name(*square) for square in found}


FIVE, OVERLINE = "d8 e8 f8 g8", "c8 d8 e8 f8 g8"
FOURS, THREES = "h9 h10 h11 i9 j10 k11", "h9 h10 i9 j10"
TWO_THREES = "f8 g8 h7 h5"
"""With h8: a plain three on the row, and one on the column that only h6 makes a straight four."""

FOULS = {
    # Managers disagreed: nine black stones, five along the row and six up the column.
    "a five that is an overline, too": ("h8", f"{FIVE} h6 h7 h9 h10 h11", "", None),
    "an overline": ("h8", "e8 f8 g8 h6 h7 h9 h10 h11", "", Foul.OVERLINE),
    "what a new brain is tried with": ("g9", "h8 i7 h10 i11", "h9 i9 i6 i12", Foul.DOUBLE_THREE),
    "five beats fours": ("h8", f"{FIVE} {FOURS}", "", None),
    "five beats threes": ("h8", f"{FIVE} {THREES}", "", None),
    "the double four is named first": ("h8", f"{OVERLINE} {FOURS}", "", Foul.DOUBLE_FOUR),
    "the double four before threes": ("h8", f"{FOURS} g9 f10", "", Foul.DOUBLE_FOUR),
    "the overline is named last": ("h8", f"{OVERLINE} {THREES}", "", Foul.DOUBLE_THREE),
    "fours alone": ("h8", FOURS, "", Foul.DOUBLE_FOUR),
    "threes alone": ("h8", THREES, "", Foul.DOUBLE_THREE),
    "a four and a three": ("h8", "e8 f8 g8 h9 h10", "", None),
    # The edge blocks like a white stone.
    "a three at the edge": ("c8", "b8 a8 c7 c6", "", None),
    "a three near the edge": ("d8", "b8 c8 d7 d6", "", Foul.DOUBLE_THREE),
    "a three between the edge and white": ("d8", "b8 c8 d7 d6", "f8", None),
    # Black stones at the right edge and the left of the next row stand side by side in the cells.
    "a row around the edge": ("n8", "o8 a9 b9 c9 d9", "", None),
    "a three around the edge": ("o8", "m8 n8 a9 b9 o7 o6", "", None),
    # A three whose only key square black may not use does not count; one that is free again counts again.
    "two real threes": ("h8", TWO_THREES, "", Foul.DOUBLE_THREE),
    "the key is a double four": ("h8", f"{TWO_THREES} e6 f6 g6", "", None),
    "the key is an overline": ("h8", f"{TWO_THREES} e6 f6 g6 i6 j6", "", None),
    "the key is a five": ("h8", f"{TWO_THREES} d6 e6 f6 g6", "", None),
    "the key is a double three": ("h8", f"{TWO_THREES} i6 j6 g5 f4", "", None),
    "no four on row 6": ("h8", f"{TWO_THREES} e6 f6 g6", "d6 i6", Foul.DOUBLE_THREE),
    "the key makes one three only": ("h8", f"{TWO_THREES} i6 j6 g5 f4", "g6 l6", Foul.DOUBLE_THREE),
    # The column's three has two keys, h9 and h5; a foul on one of them leaves the other.
    "one of two keys is left": ("h8", "f8 g8 h7 h6 e9 f9 g9", "", Foul.DOUBLE_THREE),
    "the other key is left": ("h8", "f8 g8 h7 h6 e5 f5 g5", "", Foul.DOUBLE_THREE),
    "no key is left": ("h8", "f8 g8 h7 h6 e9 f9 g9 e5 f5 g5", "", None),
}


@pytest.mark.parametrize("name", FOULS)
def test_foul(name: str) -> None:
    square, black, white, expected = FOULS[name]

    assert expected is foul_at(square, black, white)


def test_edge_of_a_small_board_blocks() -> None:
    assert foul_at("h8", black="f8 g8 h7 h6", size=8) is None


LINES: dict[Foul | None, tuple[str, ...]] = {
    None: (
        *("*XXXX", "X*XXX", "XX*XX", "OXX*XXO", "XX*XX_X", "X_XX*XX_X"),  # an exact five
        *("XXXX_*_XXX", "XX_*X_XXX", "XX_X*X_X"),  # two fours, one of which would be six
        *("XXXX_*_XXXX", "XXX_*X_XXX", "XX_X*X_XX"),  # both would
        *("XXXO*_XXX", "XXO*X_XX", "XOX*X_X"),  # one gap is white's
        *("*XX_X_XXX", "*X_XX_XX", "*_XXX_X"),  # the stone is in one of them only
    ),
    Foul.OVERLINE: ("*XXXXX", "X*XXXX", "XX*XXX", "XXXX*XXXX", "OXX*XXXO"),
    Foul.DOUBLE_FOUR: ("XXX_*_XXX", "XX_*X_XX", "X_*XX_X", "X_X*X_X", "OXXX_*_XXXO", "OXX_*X_XXO", "OX_X*X_XO"),
}


@pytest.mark.parametrize(("picture", "verdict"), [(each, verdict) for verdict in LINES for each in LINES[verdict]])
def test_fives_and_fours_of_a_line(picture: str, verdict: Foul | None) -> None:
    assert on_a_line(picture) is verdict


@pytest.mark.parametrize("picture", ["XX*X", "_XX*X_", "OXX*X_", "XX_*X", "X_X*X", "XXX_*"])
def test_one_four_is_allowed_and_two_lines_of_it_are_not(picture: str) -> None:
    """A straight four, which has two ways to five, is one four all the same."""
    for other in DIRECTIONS[1:]:
        line, square = along(picture, DIRECTIONS[0])
        cross, _ = along(picture, other)
        both = Position(19, 19, line.black | cross.black, line.white | cross.white)

        assert foul_on(line, square) is None
        assert foul_on(both, square) is Foul.DOUBLE_FOUR


@pytest.mark.parametrize("picture", ["OXX*XO", "X_XX*X_X", "OX*XX_X", "XXX_*X", "XX_*XX"])
def test_four_that_can_only_become_six_is_no_four(picture: str) -> None:
    """Across a real four it makes no double four."""
    line, square = along(picture, DIRECTIONS[0])
    cross, _ = along("*XXX", DIRECTIONS[1])

    assert foul_on(Position(19, 19, line.black | cross.black, line.white), square) is None


@pytest.mark.parametrize(
    "picture",
    ["XX*", "X*X", "X_X*", "X_*X", "XX_*", "O_XX*__", "O__XX*__O", "O_X_X*_O", "O_XX_*_O"],
)
def test_every_three_makes_a_double_three_with_another(picture: str) -> None:
    assert on_a_line(picture) is None
    assert with_another_three(picture) is Foul.DOUBLE_THREE


@pytest.mark.parametrize(
    "picture",
    [
        "OXX*", "OX_X*", "OX_*X", "OXX_*",  # no straight four: an end is white's
        "O_XX*_O", "XOX*",  # no room
        "X_XX*_O", "X__XX*__X", "X_X_X*", "X_X_*",  # what black adds to it would lead to six
        "X__X*", "X*", "*",  # two stones and less
    ],
)  # fmt: skip
def test_false_three_makes_no_double_three(picture: str) -> None:
    assert with_another_three(picture) is None


def staircase(steps: int, size: int) -> Position:
    """A double three that hangs on a double three two squares on, which hangs on another, `steps` times.

    At every landing one three leads on to the next, by one key, and a plain three crosses it.
    """
    black, x, y = set[Square](), 3, 6
    for step in range(steps):
        across = step % 2 == 0
        dx, dy = (1, 0) if across else (0, 1)
        black |= {(x + dx, y + dy), (x + 3 * dx, y + 3 * dy)}
        black |= {(x + k, y - k) for k in ((-2, -1) if across else (1, 2))}
        x, y = x + 2 * dx, y + 2 * dy
    return Position(size, size, frozenset(black), frozenset())


def test_question_extends_as_far_as_the_stones() -> None:
    """Each stair takes back the verdict of the one before."""
    verdicts = [foul_on(staircase(steps, 60), (3, 6)) for steps in range(1, 40)]
    slow_verdicts = [textbook_foul(staircase(steps, 60), (3, 6)) for steps in range(1, 8)]

    assert slow_verdicts == verdicts[:7]
    assert [Foul.DOUBLE_THREE, None] * 19 + [Foul.DOUBLE_THREE] == verdicts


DEEP = """
O . X . . . . O X . X . . . .
X O X X . X . . X O . . X . .
O X O X X . X X . X O O . X .
O . . X . X . . O O O O . . .
X O . X X . O X . . . O . . O
. X . X . . . . X . . . . . X
. X X O . . . . . . X X . . .
. X X O . . X * . . . X X . .
. . . . X X X X X X X . X X O
. X . X . X X . . X . X . . O
. X . X . . O O . . . X . X .
X X . . . O X X . . . . . X .
. X . . X . . X . . O . . . .
. . X X O . . . O X . X . X O
. . . . X . . O . X O X . O .
"""
"""The verdict on `*` follows from 113 squares."""


def test_verdict_that_follows_from_many_squares() -> None:
    rows = [row.split() for row in DEEP.strip().splitlines()]
    stones = {
        letter: frozenset((x, y) for y, row in enumerate(rows) for x, cell in enumerate(row) if cell == letter)
        for letter in "XO*"
    }
    (middle,) = stones["*"]

    assert Foul.DOUBLE_THREE is foul_on(Position(15, 15, stones["X"], stones["O"]), middle)


@pytest.mark.parametrize(
    ("bound", "value", "steps"), [("MAX_DEPTH", 10, range(12, 30)), ("MAX_EXAMINED_SQUARES", 5, range(10, 20))]
)
def test_question_beyond_a_bound_ends(monkeypatch: pytest.MonkeyPatch, bound: str, value: int, steps: range) -> None:
    monkeypatch.setattr(renju, bound, value)

    assert 1 == len({foul_on(staircase(each, 60), (3, 6)) for each in steps})


@st.composite
def positions(draw: st.DrawFn) -> Position:
    """Boards of any shape with stones of both colours, black's in the majority so that fouls are about."""
    width, height = draw(st.integers(5, 12)), draw(st.integers(5, 12))
    kinds = st.sampled_from("_____XXXO")
    size = width * height
    letters = draw(st.lists(kinds, min_size=size, max_size=size))
    black, white = (
        frozenset((i % width, i // width) for i, letter in enumerate(letters) if letter == colour) for colour in "XO"
    )
    return Position(width, height, black, white)


@given(positions())
def test_the_definitions_and_the_shapes_agree(position: Position) -> None:
    for square in free_squares(position)[::4]:
        assert textbook_foul(position, square) == foul_on(position, square)


def crowd(chance: random.Random) -> Position:
    """Stones around h8 of a 15x15 board, some on its lines and some anywhere near."""
    stones: dict[Square, str] = {}
    for dx, dy in DIRECTIONS:
        for k in (-4, -3, -2, -1, 1, 2, 3, 4):
            stones[7 + k * dx, 7 + k * dy] = chance.choice("___XXO")
    for _ in range(chance.randrange(30)):
        square = (chance.randrange(2, 13), chance.randrange(2, 13))
        stones[square] = chance.choice("XXXO_")
    stones[7, 7] = "_"
    black, white = (frozenset(square for square, letter in stones.items() if letter == colour) for colour in "XO")
    return Position(15, 15, black, white)


@pytest.mark.slow
def test_definitions_and_shapes_agree_on_crowded_squares() -> None:
    """Four thousand positions made for fouls; every foul and a good many near misses are among them."""
    chance = random.Random(1996)
    seen = dict.fromkeys([None, *Foul], 0)
    for _ in range(4000):
        position = crowd(chance)
        expected = textbook_foul(position, (7, 7))
        assert expected == foul_on(position, (7, 7)), position
        seen[expected] += 1

    assert min(seen.values()) > 20


def test_a_square_that_is_taken_cannot_be_asked_about() -> None:
    with pytest.raises(ValueError, match="not free"):
        foul_at("h8", black="h8")
