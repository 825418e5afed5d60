"""Renju, caro and the continuous game: what wins, what loses, when it is drawn, by name and by number."""

import pytest

from judge.base.errors import InputError
from judge.games.gomoku import Gomoku, GomokuOptions, Rule
from judge.games.gomoku.requests import PlaceStone, Stone
from judge.games.types import RuleResult, Verdict, decided
from tests.games.test_gomoku import board, elsewhere, in_turn, play, row


def squares(text: str) -> list[tuple[int, int]]:
    """`h8i9` as squares from 0."""
    from judge.games.gomoku.positions import parse_opening

    return list(parse_opening(text, 15, 15, Rule.STANDARD))


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


@pytest.mark.parametrize("bits", [5, 7, 12, 16, -1])
def test_a_number_that_is_no_rule_is_refused_with_those_that_are(bits: int) -> None:
    """Renju with exactly five for both, say, is played by nobody."""
    with pytest.raises(InputError, match=f"{bits} is no rule; there is 0 freestyle"):
        GomokuOptions.of({"width": 15, "height": 15, "rule": bits})


def test_a_number_and_a_word_must_not_contradict_each_other() -> None:
    """`rule = 2` says that the game is continuous."""
    with pytest.raises(InputError, match="continuous"):
        GomokuOptions.of({"width": 15, "height": 15, "rule": 2, "continuous": False})


# --- renju ---------------------------------------------------------------------------------------


def test_a_double_three_of_black_loses() -> None:
    """The move stands on the board and in the record, and white has won."""
    black = [(7, 7), (8, 7), (6, 9), (6, 8)]
    turns = in_turn([*black, (6, 7)], [(0, 0), (2, 0), (4, 0), (6, 0)])
    game = play(board(rule="renju"), turns)
    assert game.end == RuleResult(Verdict.FOUL, 1, "double three at 6,7 (g8)")
    assert (6, 7, 0) == game.stones[-1]


def test_white_may_play_squares_forbidden_to_black() -> None:
    """The same stones of white are a fine double three."""
    white = [(7, 7), (8, 7), (6, 9), (6, 8)]
    turns = in_turn([(0, 0), (2, 0), (4, 0), (6, 0), (8, 0)], [*white, (6, 7)])
    assert play(board(rule="renju"), turns).end is None


def test_an_overline_of_black_loses_and_one_of_white_wins() -> None:
    """Six in a row: a foul for black, five or more for white."""
    six = [(3, 3), (4, 3), (5, 3), (7, 3), (8, 3), (6, 3)]
    apart = elsewhere(six, 15, 15, 6)
    game = play(board(rule="renju"), in_turn(six, apart[:5]))
    assert game.end == RuleResult(Verdict.FOUL, 1, "overline at 6,3 (g4)")
    game = play(board(rule="renju"), in_turn([(0, 14), (2, 14), (4, 14), (6, 14), (8, 14), (10, 14)], six))
    assert game.end == RuleResult(Verdict.WIN, 1, "6 in a row, d4 to i4")


def test_a_five_beats_every_foul() -> None:
    """Black d8 e8 f8 g8 and h6 h7 h9 h10 h11, then h8: five across, six down, and it wins."""
    black = squares("d8e8f8g8h6h7h9h10h11h8")
    white = squares("a1c1e1g1i1k1m1o1a3")
    game = play(board(rule="renju"), in_turn(black, white))
    assert game.end == RuleResult(Verdict.WIN, 0, "5 in a row, d8 to h8")


def test_foul_of_an_opening_counts_in_a_continuous_game() -> None:
    """Gomoku AI protocol, BOARD field 3: a stone that renju forbids. White has the point."""
    black = [(7, 7), (8, 7), (6, 9), (6, 8), (6, 7)]
    game = board(rule="renju", continuous=True, opening=in_turn(black, [(0, 0), (2, 0), (4, 0), (6, 0)]))
    assert {(6, 7)} == set(game.dead)


def test_an_opening_is_not_judged_for_fouls() -> None:
    """Organisers choose openings; no manager of the field looks for fouls in them."""
    black = [(7, 7), (8, 7), (6, 9), (6, 8), (6, 7)]
    opening = in_turn(black, [(0, 0), (2, 0), (4, 0), (6, 0)])
    assert board(rule="renju", opening=opening).end is None


def full_board_order(size: int) -> list[tuple[int, int]]:
    """All squares in an order in which nobody gets more than two in a row: pairs of columns, shifted each row."""
    cells = [(x, y) for y in range(size) for x in range(size)]
    black = [(x, y) for x, y in cells if (x + 2 * y) % 4 < 2]
    white = [(x, y) for x, y in cells if (x + 2 * y) % 4 >= 2]
    return in_turn(black, white[: len(black)]) + white[len(black) :]


@pytest.mark.parametrize(("rule", "stones"), [("renju", 200), ("freestyle", 225), ("standard", 225)])
def test_renju_is_drawn_at_200_stones_and_the_rest_on_a_full_board(rule: str, stones: int) -> None:
    """Gomocup's managers end renju 25 stones before the board is full."""
    game = play(board(rule=rule, continuous=False), full_board_order(15))
    reason = "the board is full" if stones == 225 else "200 stones and no winner"
    assert game.end == RuleResult(Verdict.DRAW, None, reason)
    assert stones == len(game.stones)


def test_a_policy_may_draw_earlier() -> None:
    """`draw_at` counts the stones of the opening too."""
    game = play(board(draw_at=4, opening=[(0, 0), (2, 0)]), [(4, 0), (6, 0)])
    assert game.end == RuleResult(Verdict.DRAW, None, "4 stones and no winner")


def test_a_five_with_the_last_stone_wins_before_the_draw() -> None:
    """The draw is looked for after the row."""
    turns = in_turn(row(0, 0, 1, 0, 5), [(0, 2), (2, 2), (4, 2), (6, 2)])
    game = play(board(draw_at=9), turns)
    assert game.end == RuleResult(Verdict.WIN, 0, "5 in a row, a1 to e1")


# --- caro ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["caro", "caro-overline"])
@pytest.mark.parametrize(
    ("ends", "won"),
    [([], True), ([(2, 7)], True), ([(8, 7)], True), ([(2, 7), (8, 7)], False)],
)
def test_a_five_blocked_at_both_ends_does_not_win_caro(rule: str, ends: list[tuple[int, int]], won: bool) -> None:
    """Neither end, one end, both ends taken by the opponent."""
    white = [*ends, (0, 0), (2, 0), (4, 0), (6, 0)][:4]
    game = play(board(rule=rule), in_turn(row(3, 7, 1, 0, 5), white))
    assert won == (game.end is not None)


@pytest.mark.parametrize("rule", ["caro", "caro-overline"])
def test_the_edge_of_the_board_is_no_block(rule: str) -> None:
    """A five from the edge with an opponent at its other end wins."""
    game = play(board(rule=rule), in_turn(row(0, 7, 1, 0, 5), [(5, 7), (0, 0), (2, 0), (4, 0)]))
    assert game.end == RuleResult(Verdict.WIN, 0, "5 in a row, a8 to e8")


@pytest.mark.parametrize(("rule", "won"), [("caro", False), ("caro-overline", True)])
def test_six_in_a_row_win_one_kind_of_caro_only(rule: str, won: bool) -> None:
    """Rule 9 is exactly five, rule 8 is five or more; a blocked six wins under 8."""
    six = [(3, 7), (4, 7), (5, 7), (7, 7), (8, 7), (6, 7)]
    game = play(board(rule=rule), in_turn(six, [(2, 7), (9, 7), (0, 0), (2, 0), (4, 0)]))
    assert won == (game.end is not None)


# --- a continuous game ---------------------------------------------------------------------------


def test_continuous_game_continues_after_a_row_with_its_stones_dead() -> None:
    """The five is told as dead stones, and a sixth beside it makes no row again."""
    five = row(3, 7, 1, 0, 5)
    game = play(board(continuous=True), in_turn(five, [(0, 0), (2, 0), (4, 0), (6, 0)]))
    request = game.pending()
    assert isinstance(request, PlaceStone)
    assert set(five) == set(request.dead)
    play(game, [(8, 0), (8, 7)])
    assert game.end is None


def test_a_continuous_game_is_won_by_the_most_rows() -> None:
    """Black made one row, white none, and then the board was full."""
    five = row(0, 0, 1, 0, 5)
    rest = [(x, y) for y in range(1, 5) for x in range(5)]
    black = [(x, y) for x, y in rest if (x + 2 * y) % 4 < 2]
    white = [(x, y) for x, y in rest if (x + 2 * y) % 4 >= 2]
    apart = [(0, 1), (3, 1), (0, 3), (2, 4)]
    game = play(board(5, 5, continuous=True), in_turn(five, [s for s in apart if s in rest][:4]))
    left = [s for s in black + white if s not in {(x, y) for x, y, _ in game.stones}]
    play(game, left)
    assert isinstance(game.end, RuleResult)
    assert 25 == len(game.stones)
    assert game.end.reason.startswith("rows: black")


def test_a_continuous_game_with_equal_points_names_them() -> None:
    turns = [(0, 0), (0, 4), (2, 0), (2, 4), (4, 0), (4, 4)]
    others = [(x, y) for y in range(5) for x in range(5) if (x, y) not in turns]
    apart = sorted(others, key=lambda square: (square[0] + 2 * square[1]) % 5)
    game = play(board(5, 5, continuous=True), [*turns, *apart])

    assert RuleResult(Verdict.DRAW, None, "rows: black 0, white 0") == game.end


def test_a_foul_of_a_continuous_game_is_a_point_for_white() -> None:
    """The forbidden stone is dead and play goes on (Gomoku AI protocol, BOARD: field 3)."""
    black = [(7, 7), (8, 7), (6, 9), (6, 8)]
    turns = in_turn([*black, (6, 7)], [(0, 0), (2, 0), (4, 0), (6, 0)])
    game = play(board(rule="renju", continuous=True), turns)
    request = game.pending()
    assert isinstance(request, PlaceStone)
    assert (game.end, {(6, 7)}) == (None, set(request.dead))


# --- the size of the board -----------------------------------------------------------------------


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
    assert isinstance(game, Gomoku)
