"""Swaps and offers: who is asked what, who plays which colour afterwards, and what is an illegal answer."""

from typing import Any

import pytest

from judge.base.errors import InputError
from judge.games.gomoku import Gomoku
from judge.games.gomoku.opening import symmetric_squares
from judge.games.gomoku.requests import (
    AnswerSwap,
    ChooseFifth,
    ColoursSettled,
    LayStones,
    OfferFifths,
    PlaceStone,
    Square,
    Stone,
    StonePlaced,
    Stones,
    Swap,
)
from judge.games.types import AgentFault, Decision, Event, Reply, ReplyKind, Verdict, decided
from tests.games.test_gomoku import board


def answer(game: Gomoku, *decisions: Decision) -> list[Event]:
    """Answer what is pending, one after the other; the events of the last."""
    events: list[Event] = []
    for decision in decisions:
        events = list(game.apply(decided(decision)))
    return events


def asked(game: Gomoku) -> tuple[type, int, int]:
    """What is asked, of which seat, to play which colour."""
    request = game.pending()
    return type(request), request.seat, request.colour


def stones(*squares: Square) -> Stones:
    return Stones(squares)


def assert_illegal(game: Gomoku, seat: int, what: str) -> None:
    assert isinstance(game.end, AgentFault)
    assert (Verdict.ILLEGAL, seat) == (game.end.verdict, game.end.seat)
    assert what in game.end.reason


# --- swap2: the examples of Gomoku AI protocol -------------------------------------------------------------

THREE = ((7, 7), (8, 7), (9, 9))


def swap2(**more: Any) -> Gomoku:
    return board(rule="standard", swap="swap2", **more)


def laid() -> Gomoku:
    """A game in which seat 0 has set three stones."""
    game = swap2()
    answer(game, stones(*THREE))
    return game


def test_case_1_the_first_seat_lays_three_stones() -> None:
    """Black, white, black; both seats hear of each stone."""
    game = swap2()
    assert (LayStones, 0, 0) == asked(game)
    events = answer(game, stones(*THREE))
    assert [
        StonePlaced(None, 7, 7, 0, 0),
        StonePlaced(None, 8, 7, 1, 0),
        StonePlaced(None, 9, 9, 0, 0),
    ] == events
    assert (AnswerSwap, 1, 1) == asked(game)


def test_case_2_option_1_the_second_seat_takes_black() -> None:
    """It swaps: it is black, and the first seat goes on as white."""
    game = laid()
    assert [ColoursSettled(None, 1)] == answer(game, Swap())
    assert 1 == game.black
    assert (PlaceStone, 0, 1) == asked(game)
    assert 3 == game.pending().opening


def test_case_2_option_2_the_second_seat_stays_white() -> None:
    """It places the fourth stone, and the first seat goes on as black."""
    game = laid()
    assert [StonePlaced(None, 8, 8, 1, 1), ColoursSettled(None, 0)] == answer(game, Stone(8, 8))
    assert (PlaceStone, 0, 0) == asked(game)
    assert 4 == game.pending().opening


def test_case_2_option_3_and_case_3_the_first_seat_chooses() -> None:
    """Two more stones, and the choice is the first seat's: by a stone it is white."""
    game = laid()
    answer(game, stones((8, 8), (8, 6)))
    assert (AnswerSwap, 0, 1) == asked(game)
    answer(game, Stone(6, 8))
    assert 1 == game.black
    assert (PlaceStone, 1, 0) == asked(game)
    assert 6 == game.pending().opening


def test_case_3_option_1_the_first_seat_takes_black() -> None:
    """It swaps: the second seat places the sixth stone as white."""
    game = laid()
    answer(game, stones((8, 8), (8, 6)), Swap())
    assert 0 == game.black
    assert (PlaceStone, 1, 1) == asked(game)


@pytest.mark.parametrize(
    ("before", "decision", "seat", "what"),
    [
        ([], stones((7, 7), (8, 7)), 0, "2 stones where 3 are asked for"),
        ([], stones((7, 7), (8, 7), (9, 9), (1, 1)), 0, "4 stones where 3 are asked for"),
        ([], stones((7, 7), (7, 7), (9, 9)), 0, "taken by stone 1"),
        ([], stones((7, 7), (15, 7), (9, 9)), 0, "off the 15x15 board"),
        ([], Swap(), 0, "a swap where the first stones are asked for"),
        (
            [stones(*THREE)],
            stones((1, 1), (2, 2), (3, 3)),
            1,
            "3 stones where one or two stones, or SWAP",
        ),
        ([stones(*THREE)], stones((1, 1), (7, 7)), 1, "taken by stone 1"),
        ([stones(*THREE)], Stone(7, 7), 1, "taken by stone 1"),
        (
            [stones(*THREE), stones((1, 1), (2, 2))],
            stones((3, 3), (4, 4)),
            0,
            "2 stones where a swap or one stone",
        ),
        ([stones(*THREE), Swap()], Swap(), 0, "a swap where one stone is asked for"),
        ([stones(*THREE), Swap()], stones((3, 3), (4, 4)), 0, "2 stones where one stone"),
    ],
)
def test_wrong_counts_and_illegal_stones_lose(before: list[Decision], decision: Decision, seat: int, what: str) -> None:
    """Judged, and nothing crashes: each is the fault of the seat that was asked."""
    game = swap2()
    answer(game, *before, decision)
    assert_illegal(game, seat, what)


def test_three_stones_of_a_policy_are_the_opening_of_a_swap() -> None:
    """A drawn opening, and the second seat chooses."""
    assert (AnswerSwap, 1, 1) == asked(swap2(opening=THREE))


def test_an_opening_that_leaves_nothing_to_swap_is_refused() -> None:
    """Four stones: nobody could tell whose choice it is."""
    with pytest.raises(InputError, match="4 stones, but a swap of kind swap2 begins at 0, 3, 5"):
        swap2(opening=[*THREE, (1, 1)])


# --- one stone, three stones ---------------------------------------------------------------------


def test_after_the_first_stone_the_other_seat_may_take_black() -> None:
    """FIRSTCHANGE: the seat that laid it goes on as white, and may not swap back."""
    game = board(swap="first")
    answer(game, Stone(2, 3))
    assert (AnswerSwap, 1, 1) == asked(game)
    answer(game, Swap())
    assert (PlaceStone, 0, 1) == asked(game)
    answer(game, Swap())
    assert_illegal(game, 0, "a swap where one stone is asked for")


def test_after_the_first_stone_the_other_seat_may_stay_white() -> None:
    """A stone is the answer no, and the second stone at once."""
    game = board(swap="first")
    answer(game, Stone(2, 3), Stone(4, 4))
    assert (PlaceStone, 0, 0) == asked(game)
    assert 0 == game.black


def test_one_seat_lays_three_stones_one_by_one() -> None:
    """THIRDCHANGE: it plays both colours, until the other seat chooses."""
    game = board(rule="renju", swap="third")
    for x, y, colour in ((7, 7, 0), (7, 8, 1), (8, 8, 0)):
        assert (PlaceStone, 0, colour) == asked(game)
        answer(game, Stone(x, y))
    assert (AnswerSwap, 1, 1) == asked(game)
    answer(game, Stone(3, 3))
    assert (PlaceStone, 0, 0) == asked(game)


@pytest.mark.parametrize(
    ("squares", "what"),
    [
        ([(7, 8)], "outside the middle 1x1"),
        ([(7, 7), (9, 7)], "outside the middle 3x3"),
        ([(7, 7), (8, 7), (7, 10)], "outside the middle 5x5"),
    ],
)
def test_renju_lays_its_stones_in_the_middle(squares: list[Square], what: str) -> None:
    """The centre, then within 3x3 squares around it, then within 5x5."""
    game = board(rule="renju", swap="third")
    answer(game, *(Stone(x, y) for x, y in squares))
    assert_illegal(game, 0, what)


def test_a_policy_may_free_the_stones_before_a_swap() -> None:
    """And gomoku has no such rule to begin with."""
    for game in (board(rule="renju", swap="third", geometry="free"), board(swap="third")):
        answer(game, Stone(0, 0), Stone(14, 14), Stone(3, 3))
        assert (AnswerSwap, 1, 1) == asked(game)


def test_the_rules_do_not_let_two_be_added_where_there_is_no_swap2() -> None:
    """Third: a swap, or one stone."""
    game = board(swap="third")
    answer(game, Stone(0, 0), Stone(14, 14), Stone(3, 3), stones((5, 5), (6, 6)))
    assert_illegal(game, 1, "2 stones where a swap or one stone is asked for")


# --- fifth stones --------------------------------------------------------------------------------

FOUR = [(7, 7), (7, 8), (8, 8), (3, 3)]


def offering(fifths: int = 2) -> Gomoku:
    """A game with four stones, in which black must offer."""
    return board(rule="renju", fifths=fifths, opening=FOUR)


def test_black_offers_two_at_once_and_white_keeps_one() -> None:
    """FIVETWINE: the one that is kept is black's fifth stone, and white is to move."""
    game = offering()
    assert (OfferFifths, 0, 0) == asked(game)
    assert [] == answer(game, stones((9, 9), (10, 9)))
    assert (ChooseFifth, 1, 0) == asked(game)
    assert [StonePlaced(None, 10, 9, 0, 0)] == answer(game, Stone(10, 9))
    assert (PlaceStone, 1, 1) == asked(game)
    assert 5 == len(game.stones)


def test_black_offers_one_by_one() -> None:
    """What was offered, and what equals it, is no longer free."""
    game = offering(3)
    answer(game, Stone(9, 9))
    request = game.pending()
    assert isinstance(request, OfferFifths)
    assert ((9, 9),) == request.offered
    assert (9, 9) not in request.free
    assert (7, 7) not in request.free
    assert 225 - 4 - 1 == len(request.free)
    answer(game, stones((10, 9), (11, 9)))
    assert (ChooseFifth, 1, 0) == asked(game)


@pytest.mark.parametrize(
    ("offers", "what"),
    [
        (stones((9, 9), (9, 9)), "equal to the offer 9,9 (j10)"),
        (stones((9, 9), (7, 7)), "taken by stone 1"),
        (stones((9, 9), (10, 9), (11, 9)), "3 fifth stones, where 2 are still to be offered"),
        (Swap(), "a swap where fifth stones are asked for"),
    ],
)
def test_a_wrong_offer_loses(offers: Decision, what: str) -> None:
    """An offer is empty, on the board, and unlike the others."""
    game = offering()
    answer(game, offers)
    assert_illegal(game, 0, what)


def test_an_offer_that_is_equal_by_symmetry_loses() -> None:
    """The four stones lie on a diagonal: what is mirrored about it is the same fifth."""
    game = board(fifths=2, opening=[(7, 7), (8, 8), (6, 6), (9, 9)])
    answer(game, Stone(10, 7))
    request = game.pending()
    assert isinstance(request, OfferFifths)
    assert (7, 10) not in request.free
    answer(game, Stone(7, 10))
    assert_illegal(game, 0, "equal to the offer 10,7 (k8) by symmetry")


def test_white_must_keep_one_of_the_offers() -> None:
    """Anything else is illegal, a free square too."""
    game = offering()
    answer(game, stones((9, 9), (10, 9)), Stone(0, 0))
    assert_illegal(game, 1, "not one of the fifth stones offered")


def test_fifths_come_after_the_swap_and_follow_the_colours() -> None:
    """RIF: the seat that took black offers, the seat that laid chooses."""
    game = board(rule="renju", swap="third", fifths=2)
    answer(game, Stone(7, 7), Stone(7, 8), Stone(8, 8), Swap())
    assert (PlaceStone, 0, 1) == asked(game)
    answer(game, Stone(3, 3))
    assert (OfferFifths, 1, 0) == asked(game)
    answer(game, stones((9, 9), (10, 9)))
    assert (ChooseFifth, 0, 0) == asked(game)


def test_squares_are_equal_by_the_symmetries_of_the_stones_alone() -> None:
    """One stone in the centre has all eight; one beside it leaves a mirror; colours count."""
    assert 8 == len(symmetric_squares((8, 10), [(7, 7, 0)], 15, 15))
    assert {(8, 10), (8, 4)} == symmetric_squares((8, 10), [(7, 7, 0), (8, 7, 1)], 15, 15)
    assert {(8, 10)} == symmetric_squares((8, 10), [(6, 7, 0), (8, 7, 1), (7, 8, 0)], 15, 15)
    assert {(8, 10), (6, 10)} == symmetric_squares((8, 10), [(6, 7, 0), (8, 7, 0), (7, 9, 1)], 15, 15)


def test_more_fifths_than_a_board_has_room_for_are_refused() -> None:
    """Every stone has up to eight images."""
    with pytest.raises(InputError, match="room for 2"):
        board(5, 5, fifths=3)


def test_game_announces_its_next_questions() -> None:
    """A protocol is checked against it before play."""
    assert {LayStones, AnswerSwap, PlaceStone} == swap2().requests
    assert {PlaceStone, OfferFifths, ChooseFifth} == offering().requests
    assert {StonePlaced, ColoursSettled} == swap2().events


def test_agent_complaint_is_quoted_in_the_reason_of_its_fault() -> None:
    game = swap2()
    answer(game, stones(*THREE))
    game.apply(Reply(ReplyKind.DECIDED, "7,7", Stone(7, 7), "ERROR Color is not a valid value"))
    assert_illegal(game, 1, "taken by stone 1 (black); before that it sent 'ERROR Color is not a valid value'")
