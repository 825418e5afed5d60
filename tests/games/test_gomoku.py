"""Gomoku as a spectator would check it: who won, by which row, and who is to blame when nobody did."""

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.base.errors import InputError
from judge.games import GAMES, new_game
from judge.games.gomoku import Gomoku, OpeningError, Rule
from judge.games.gomoku.requests import PlaceStone, Square, Stone, StonePlaced, say_square, square_at, square_name
from judge.games.types import AgentFault, Decision, Event, Reply, ReplyKind, RuleResult, Verdict, decided

RULES = tuple(Rule)
DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))


def board(width: int = 15, height: int = 15, rule: str = "freestyle", **more: Any) -> Gomoku:
    return Gomoku.from_options({"width": width, "height": height, "rule": rule, **more})


def play(game: Gomoku, squares: Iterable[Square]) -> Gomoku:
    """Place stones in turn until the squares or the game end."""
    for x, y in squares:
        if game.end is not None:
            break
        game.apply(decided(Stone(x, y)))
    return game


def in_turn(black: Sequence[Square], white: Sequence[Square]) -> list[Square]:
    """The squares of both colours in play order; black has as many as white, or one more."""
    turns = [square for pair in zip(black, white, strict=False) for square in pair]
    return turns + list(black[len(white) :])


def row(x: int, y: int, dx: int, dy: int, length: int) -> list[Square]:
    return [(x + i * dx, y + i * dy) for i in range(length)]


def rows_on(width: int, height: int, length: int) -> Iterator[list[Square]]:
    """Every row of `length` squares that fits on the board."""
    for x, y, (dx, dy) in product(range(width), range(height), DIRECTIONS):
        squares = row(x, y, dx, dy, length)
        last_x, last_y = squares[-1]
        if last_x < width and 0 <= last_y < height:
            yield squares


def elsewhere(taken: Iterable[Square], width: int, height: int, count: int) -> list[Square]:
    """Squares for the other colour: never two of them side by side, so that it cannot win."""
    apart = ((x, y) for y in range(0, height, 2) for x in range(0, width, 2))
    return [square for square in apart if square not in set(taken)][:count]


def full_board_order(size: int) -> list[Square]:
    """All squares in an order in which nobody gets more than two in a row: pairs of columns, shifted each row."""
    cells = [(x, y) for y in range(size) for x in range(size)]
    black = [(x, y) for x, y in cells if (x + 2 * y) % 4 < 2]
    white = [(x, y) for x, y in cells if (x + 2 * y) % 4 >= 2]
    return in_turn(black, white[: len(black)]) + white[len(black) :]


@pytest.mark.parametrize("rule", [Rule.FREESTYLE, Rule.STANDARD, Rule.RENJU])
@pytest.mark.parametrize(("width", "height"), [(9, 9), (5, 8), (8, 5), (60, 5)])
def test_five_in_any_place_and_direction_win(width: int, height: int, rule: Rule) -> None:
    """Every five that fits on the board wins, corners and edges too, whichever stone comes last."""
    for number, five in enumerate(rows_on(width, height, 5)):
        last = number % 5
        black = five[:last] + five[last + 1 :] + [five[last]]
        game = play(board(width, height, rule), in_turn(black, elsewhere(five, width, height, 4)))
        names = f"{square_name(*five[0])} to {square_name(*five[-1])}"
        back = f"{square_name(*five[-1])} to {square_name(*five[0])}"
        assert isinstance(game.end, RuleResult)
        assert (game.end.verdict, game.end.winner) == (Verdict.WIN, 0)
        assert game.end.reason in (f"5 in a row, {names}", f"5 in a row, {back}")


SIX = [(2, 7), (3, 7), (4, 7), (5, 7), (7, 7), (6, 7)]
"""The last one joins it, so that no five stood before."""

ROWS: dict[str, tuple[str, Sequence[Square], RuleResult | None]] = {
    "around the edge": ("freestyle", [(12, 3), (13, 3), (14, 3), (0, 4), (1, 4)], None),
    "four and a broken five": ("freestyle", [(3, 3), (4, 3), (5, 3), (6, 3), (8, 3)], None),
    "six": ("freestyle", SIX, RuleResult(Verdict.WIN, 0, "6 in a row, c8 to h8")),
    "nine": (
        *("freestyle", [*row(2, 7, 1, 0, 4), *row(7, 7, 1, 0, 4), (6, 7)]),
        RuleResult(Verdict.WIN, 0, "9 in a row, c8 to k8"),
    ),
    "six under standard": ("standard", SIX, None),
    # The six does no harm.
    "five next to six": (
        *("standard", [*SIX[:5], *row(6, 8, 0, 1, 4), (6, 7)]),
        RuleResult(Verdict.WIN, 0, "5 in a row, g8 to g12"),
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_row(name: str) -> None:
    rule, black, end = ROWS[name]
    game = play(board(rule=rule), in_turn(black, elsewhere(black, 15, 15, len(black) - 1)))

    assert end == game.end
    assert end is not None or game.pending().seat == 1


def test_full_board_is_a_draw() -> None:
    """25 stones without a five on the smallest board: drawn, and only with the last of them."""
    turns = full_board_order(5)
    for rule in RULES:
        game = play(board(5, 5, rule), turns[:-1])
        assert game.end is None
        assert play(game, turns[-1:]).end == RuleResult(Verdict.DRAW, None, "the board is full")


@st.composite
def playouts(draw: st.DrawFn) -> tuple[int, int, list[Square]]:
    """A board and all its squares in some order.

    Black prefers even lines and white odd ones in half of the cases: long rows need that.
    """
    width, height = draw(st.integers(5, 10)), draw(st.integers(5, 10))
    chance = random.Random(draw(st.integers(0, 2**32)))
    squares = list(product(range(width), range(height)))
    chance.shuffle(squares)
    if draw(st.booleans()):
        squares.sort(key=lambda at: chance.random() < 0.1)
        squares = in_turn([s for s in squares if s[1] % 2 == 0], [s for s in squares if s[1] % 2])
    return width, height, squares


def all_rows(stones: Iterable[tuple[int, int, int]], colour: int) -> set[tuple[int, bool]]:
    """Length of each unbroken row of a colour, and whether the other colour stands at both of its ends."""
    squares = {(x, y) for x, y, stone in stones if stone == colour}
    other = {(x, y) for x, y, stone in stones if stone != colour}
    rows = set()
    for (x, y), (dx, dy) in product(squares, DIRECTIONS):
        if (x - dx, y - dy) not in squares:
            length = 1
            while (x + length * dx, y + length * dy) in squares:
                length += 1
            ends = {(x - dx, y - dy), (x + length * dx, y + length * dy)}
            rows.add((length, ends <= other))
    return rows


def wins(rule: Rule, length: int, blocked: bool) -> bool:
    """The rules of Gomoku AI protocol, INFO rule, in their plainest form; renju is tested with its fouls."""
    match rule:
        case Rule.FREESTYLE:
            return length >= 5
        case Rule.STANDARD:
            return length == 5
        case Rule.CARO:
            return length == 5 and not blocked
        case _:
            return length > 5 or (length == 5 and not blocked)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule is not Rule.RENJU])
@settings(deadline=None)
@given(playout=playouts())
def test_a_scan_of_the_whole_board_agrees(rule: Rule, playout: tuple[int, int, list[Square]]) -> None:
    """After every stone a naive look at every row of the board finds the same end, or none."""
    width, height, squares = playout
    game = board(width, height, rule)
    for at in squares:
        mover = game.pending().seat
        play(game, [at])
        # Rows that were there before won nothing then: only one that the new stone changed can win now.
        rows = all_rows(game.stones, mover) - all_rows(game.stones[:-1], mover)
        full = len(game.stones) == width * height
        if any(wins(rule, *row) for row in rows):
            assert isinstance(game.end, RuleResult)
            assert (game.end.verdict, game.end.winner) == (Verdict.WIN, mover)
            return
        assert (game.end is not None) == full


def test_stone_is_requested_and_announced() -> None:
    """Black is asked, places, both seats hear of it, and white is shown the stone."""
    game = board(15, 10)
    assert game.pending() == PlaceStone(0, [], 0, 15, 10, 0, set())
    assert game.apply(decided(Stone(7, 5), "7,5")) == (StonePlaced(None, 7, 5, 0, 0),)
    assert game.pending() == PlaceStone(1, [(7, 5, 0)], 0, 15, 10, 1, set())
    assert game.end is None


@pytest.mark.parametrize("stones", [0, 1, 2, 3])
def test_first_mover_after_an_opening_follows_from_its_length(stones: int) -> None:
    """Black after an even opening, white after an odd one; the request says what was opening."""
    game = board(opening=[(7, 7), (8, 8), (9, 7)][:stones])
    seat = stones % 2
    assert (game.pending().seat, game.pending().opening) == (seat, stones)
    assert game.apply(decided(Stone(0, 0))) == (StonePlaced(None, 0, 0, seat, seat),)
    assert (game.pending().opening, len(game.pending().stones)) == (stones, stones + 1)


def test_memory_of_a_game_is_declared() -> None:
    """A protocol is checked against these before play."""
    game = board(20, 15, "standard")
    kinds: set[type[Event]] = {StonePlaced}
    assert game.requests == {PlaceStone}
    assert game.events == kinds
    board_terms = {"width": 20, "height": 15, "rule": "standard", "continuous": False, "swap": "none"}
    assert game.describe() == board_terms | {"fifths": 1, "other_sizes": []}


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        (-1, 7, "-1,7 is off the 15x10 board"),
        (7, -1, "7,-1 is off the 15x10 board"),
        (15, 0, "15,0 (p1) is off the 15x10 board"),
        (0, 10, "0,10 (a11) is off the 15x10 board"),
        (15, -1, "15,-1 is off the 15x10 board"),
        # Python refuses to print five thousand digits.
        (10**5000, -(10**5000), "(huge),(huge) is off the 15x10 board"),
        (8, 7, "8,7 (i8) is taken by stone 2 (white)"),
    ],
    ids=["left", "above", "right", "below", "a corner", "huge", "taken"],
)
def test_stone_off_the_board_or_on_another_loses(x: int, y: int, reason: str) -> None:
    """It is not placed."""
    game = play(board(15, 10), [(7, 7), (8, 7), (9, 7)])
    assert game.apply(decided(Stone(x, y))) == ()
    assert game.end == AgentFault(Verdict.ILLEGAL, 1, reason)
    assert len(game.stones) == 3


@pytest.mark.parametrize(
    ("kind", "verdict", "reason"),
    [
        (ReplyKind.UNREADABLE, Verdict.UNREADABLE, "{} cannot be read as a square"),
        (ReplyKind.RESIGNED, Verdict.RESIGNED, "resigned, saying {}"),
        (ReplyKind.REFUSED, Verdict.REFUSED, "refused to play on, saying {}"),
    ],
)
def test_an_answer_without_a_stone_loses(kind: ReplyKind, verdict: Verdict, reason: str) -> None:
    """What was said is quoted so that it cannot pretend to be anything: escaped and cut."""
    said = "\x1b[2J7,7\r\nblack wins\u202e" + "x" * 1000
    game = play(board(), [(7, 7)])
    game.apply(Reply(kind, said))
    shown = reason.format(f"'\\x1b[2J7,7\\r\\nblack wins\\u202e{'x' * 40}'...")
    assert game.end == AgentFault(verdict, 1, shown)


def test_a_forfeit_ends_the_game_and_only_a_running_one() -> None:
    """The first end stands: an agent that crashes after its win has won."""
    late = AgentFault(Verdict.CRASH, 0, "exit code 1")
    game = board()
    assert game.forfeit(late) == ()
    assert game.end is late
    won = play(board(), in_turn(row(0, 0, 1, 0, 5), elsewhere(row(0, 0, 1, 0, 5), 15, 15, 4)))
    before = won.end
    won.forfeit(late)
    assert won.end is before is not None


def test_mistakes_of_the_judge_are_no_verdicts() -> None:
    """A reply after the end, or a decision of another game, raises instead of blaming an agent."""
    game = board()
    with pytest.raises(TypeError):
        game.apply(decided(Decision()))
    game.apply(Reply(ReplyKind.RESIGNED))
    with pytest.raises(RuntimeError):
        game.apply(decided(Stone(0, 0)))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "the key 'width' is missing"),
        ({"width": 15}, "the key 'height' is missing"),
        ({"width": 4, "height": 15}, "width: "),
        ({"width": 15, "height": 61}, "height: "),
        ({"width": "15", "height": 15}, "width: "),
        ({"width": True, "height": 15}, "width: "),
        ({"width": 15, "height": 15, "rule": "pente"}, "rule: "),
        ({"width": 15, "height": 15, "size": 15}, "unknown key 'size'"),
        ({"width": 15, "height": 15, "opening": [[1, 2], [3]]}, "the key 'opening.1.1' is missing"),
        ({"width": 15, "height": 15, "opening": [[1, 2.5]]}, "opening.0.1: "),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, Any], said: str) -> None:
    """The error names the field first, so that it can be found in a policy file."""
    with pytest.raises(InputError, match=f"^gomoku options: {said}"):
        Gomoku.from_options(options)


WON = in_turn(row(0, 0, 1, 0, 5), row(0, 2, 1, 0, 4))


@pytest.mark.parametrize(
    ("opening", "stone", "why"),
    [
        ([(7, 7), (15, 7)], 2, "15,7 (p8) is off the 15x15 board"),
        ([(7, 7), (8, 7), (7, 7)], 3, "7,7 (h8) is taken by stone 1 (black)"),
        (WON, 9, "4,0 (e1) ends the game (5 in a row, a1 to e1)"),
        ([*WON, (9, 9)], 9, "4,0 (e1) ends the game (5 in a row, a1 to e1)"),
    ],
)
def test_an_unplayable_opening_is_refused(opening: list[Square], stone: int, why: str) -> None:
    """The error names the stone; a game never starts that is already over."""
    with pytest.raises(OpeningError) as refused:
        board(opening=opening)
    assert refused.value.stone == stone
    assert str(refused.value).startswith(f"stone {stone} of the opening: {why}; ")


def test_a_game_is_found_by_its_name() -> None:
    """A misspelt name is answered with the nearest, any other with all there are."""
    assert isinstance(new_game("gomoku", {"width": 15, "height": 15}), Gomoku)
    with pytest.raises(InputError, match=r"no game is called 'gomuku'; did you mean 'gomoku'\?"):
        new_game("gomuku", {})
    with pytest.raises(
        InputError, match=r"no game is called '\\x1b'; there are chess, go, gomoku, quantum-chess, stratego"
    ):
        new_game("\x1b", {})
    assert "gomoku" in GAMES.names()


def test_squares_have_names() -> None:
    """Letters go on after z with two of them, and every name leads back to its square."""
    assert [square_name(x, 0) for x in (0, 7, 25, 26, 51, 52, 59)] == [*("a1", "h1", "z1", "aa1", "az1", "ba1", "bh1")]
    assert all(square_at(square_name(*at)) == at for at in product(range(60), repeat=2))
    assert say_square(7, 7) == "7,7 (h8)"
    for bad in ("", "8", "h", "H8", "h100", "aaa1", "h8 ", "h٣"):
        with pytest.raises(ValueError, match="is not the name of a square"):
            square_at(bad)
