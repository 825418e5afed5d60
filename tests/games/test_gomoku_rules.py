"""Renju, caro and the continuous game: what wins, what loses, when it is drawn, by name and by number."""

from typing import Any

import pytest

from judge.base.errors import InputError
from judge.games.gomoku import GomokuOptions, Rule
from judge.games.gomoku.requests import Square, Stone, square_at
from judge.games.types import RuleResult, Verdict, decided
from tests.games.test_gomoku import board, full_board_order, in_turn, play, row


def squares(names: str) -> list[Square]:
    return [square_at(name) for name in names.split()]


@pytest.mark.parametrize(
    ("bits", "rule", "continuous"),
    [
        (0, Rule.FREESTYLE, False),
        (1, Rule.STANDARD, False),
        (2, Rule.FREESTYLE, True),
        (3, Rule.STANDARD, True),
        (4, Rule.RENJU, False),
        (6, Rule.RENJU, True),
        (8, Rule.CARO_OVERLINE, False),
        (9, Rule.CARO, False),
        (11, Rule.CARO, True),
    ],
)
def test_a_rule_may_be_given_as_the_number_of_info_rule(bits: int, rule: Rule, continuous: bool) -> None:
    """Gomoku AI protocol, INFO rule: a sum of 1, 2, 4 and 8."""
    options = GomokuOptions.of({"width": 15, "height": 15, "rule": bits})
    assert (rule, continuous) == (options.rule, options.continuous)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        *(({"rule": bits}, f"{bits} is no rule; there is 0 freestyle") for bits in (5, 7, 12, 16, -1)),
        # 2 says that the game is continuous.
        ({"rule": 2, "continuous": False}, "continuous"),
    ],
)
def test_invalid_or_contradicted_number_of_a_rule_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        GomokuOptions.of({"width": 15, "height": 15, **options})


THREES = "h8 i8 g10 g9 g8"
"""The last one makes a double three."""
SIX = "d4 e4 f4 h4 i4 g4"
APART = "a15 c15 e15 g15 i15 k15"

ROW = "d8 e8 f8 g8 h8"
EDGE_ROW = "a8 b8 c8 d8 e8"
FIVE = RuleResult(Verdict.WIN, 0, "5 in a row, d8 to h8")
EDGE_FIVE = RuleResult(Verdict.WIN, 0, "5 in a row, a8 to e8")

ENDS: dict[str, tuple[str, str, str, RuleResult | None]] = {
    # The move stands on the board and in the record.
    "a double three of black": (
        *("renju", THREES, "a1 c1 e1 g1"),
        RuleResult(Verdict.FOUL, 1, "double three at 6,7 (g8)"),
    ),
    "a double three of white": ("renju", "a1 c1 e1 g1 i1", THREES, None),
    "an overline of black": ("renju", SIX, "a15 c15 e15 g15 i15", RuleResult(Verdict.FOUL, 1, "overline at 6,3 (g4)")),
    "an overline of white": ("renju", APART, SIX, RuleResult(Verdict.WIN, 1, "6 in a row, d4 to i4")),
    # Five across, six down.
    "a five beats every foul": ("renju", "d8 e8 f8 g8 h6 h7 h9 h10 h11 h8", "a1 c1 e1 g1 i1 k1 m1 o1 a3", FIVE),
    "caro, free ends": ("caro", ROW, "a1 c1 e1 g1", FIVE),
    "caro, one end": ("caro", ROW, "c8 c1 e1 g1", FIVE),
    "caro, other end": ("caro", ROW, "i8 c1 e1 g1", FIVE),
    "caro, both ends": ("caro", ROW, "c8 i8 e1 g1", None),
    # The edge is no block.
    "caro, edge": ("caro", EDGE_ROW, "f8 a1 c1 e1", EDGE_FIVE),
    "caro, six": ("caro", "d8 e8 f8 h8 i8 g8", "a1 c1 e1 g1 i1", None),
    "caro, both ends, overlines": ("caro-overline", ROW, "c8 i8 e1 g1", None),
    "caro, edge, overlines": ("caro-overline", EDGE_ROW, "f8 a1 c1 e1", EDGE_FIVE),
    "caro, a blocked six, overlines": (
        *("caro-overline", "d8 e8 f8 h8 i8 g8", "c8 j8 a1 c1 e1"),
        RuleResult(Verdict.WIN, 0, "6 in a row, d8 to i8"),
    ),
}


@pytest.mark.parametrize("name", ENDS)
def test_end(name: str) -> None:
    rule, black, white, end = ENDS[name]
    game = play(board(rule=rule), in_turn(squares(black), squares(white)))

    assert end == game.end
    assert len(black.split()) + len(white.split()) == len(game.stones)


@pytest.mark.parametrize("continuous", [False, True])
def test_foul_of_an_opening_counts_in_a_continuous_game_only(continuous: bool) -> None:
    """Gomoku AI protocol, BOARD field 3: a stone that renju forbids. Else no manager looks for fouls in openings."""
    game = board(rule="renju", continuous=continuous, opening=in_turn(squares(THREES), squares("a1 c1 e1 g1")))

    assert (None, {(6, 7)} if continuous else set()) == (game.end, set(game.dead))


@pytest.mark.parametrize(("rule", "stones"), [("renju", 200), ("freestyle", 225), ("standard", 225)])
def test_renju_is_drawn_at_200_stones_and_the_rest_on_a_full_board(rule: str, stones: int) -> None:
    """Gomocup's managers end renju 25 stones before the board is full."""
    game = play(board(rule=rule, continuous=False), full_board_order(15))
    reason = "the board is full" if stones == 225 else "200 stones and no winner"
    assert game.end == RuleResult(Verdict.DRAW, None, reason)
    assert stones == len(game.stones)


@pytest.mark.parametrize(
    ("options", "stones", "end"),
    [
        # The stones of the opening count.
        (
            {"draw_at": 4, "opening": [(0, 0), (2, 0)]},
            "e1 g1",
            RuleResult(Verdict.DRAW, None, "4 stones and no winner"),
        ),
        # The draw is looked for after the row.
        ({"draw_at": 9}, "a1 a3 b1 c3 c1 e3 d1 g3 e1", RuleResult(Verdict.WIN, 0, "5 in a row, a1 to e1")),
    ],
)
def test_a_policy_may_draw_earlier(options: dict[str, Any], stones: str, end: RuleResult) -> None:
    assert end == play(board(**options), squares(stones)).end


@pytest.mark.parametrize(
    ("rule", "black", "dead"),
    [
        # A sixth beside the five makes no row again.
        ("freestyle", "d8 e8 f8 g8 h8 i1 i8", "d8 e8 f8 g8 h8"),
        # A foul is a point for white.
        ("renju", THREES, "g8"),
    ],
)
def test_continuous_game_goes_on_with_dead_stones(rule: str, black: str, dead: str) -> None:
    turns = in_turn(squares(black), squares("a1 c1 e1 g1 a15 c15")[: len(black.split()) - 1])
    game = play(board(rule=rule, continuous=True), turns)
    request = game.pending()

    assert (None, {*squares(dead)}) == (game.end, {*getattr(request, "dead", ())})


def test_a_continuous_game_is_won_by_the_most_rows() -> None:
    """Black made one row, white none, and then the board was full."""
    begun = in_turn(row(0, 0, 1, 0, 5), [(0, 1), (3, 1), (0, 3), (2, 4)])
    left = [square for square in full_board_order(5) if square not in begun]

    assert RuleResult(Verdict.WIN, 0, "rows: black 1, white 0") == play(board(5, 5, continuous=True), begun + left).end


def test_a_continuous_game_with_equal_points_names_them() -> None:
    game = play(board(5, 5, continuous=True), full_board_order(5))

    assert RuleResult(Verdict.DRAW, None, "rows: black 0, white 0") == game.end


def test_another_size_keeps_the_opening_around_the_centre() -> None:
    """A brain that plays 15x15 only: the stones keep their distance from the middle."""
    game = board(20, 20, opening=[(10, 10), (11, 11)], other_sizes=[15, 5])
    assert game.renegotiate()
    assert (15, 15) == (game.width, game.height)
    assert [(7, 7, 0), (8, 8, 1)] == game.stones
    assert game.renegotiate()
    assert (5, 5) == (game.width, game.height)
    assert not game.renegotiate()


def test_a_size_that_does_not_hold_the_opening_is_passed_over() -> None:
    """A stone far from the centre is not on a small board."""
    game = board(20, 20, opening=[(1, 1)], other_sizes=[15, 19])
    assert game.renegotiate()
    assert (19, 19) == (game.width, game.height)


def test_a_game_that_was_begun_keeps_its_size() -> None:
    """Nobody's stones are moved about."""
    game = board(20, 20, other_sizes=[15])
    game.apply(decided(Stone(3, 3)))
    assert not game.renegotiate()
