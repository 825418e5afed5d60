"""What the positions of a check say of themselves is held against the rules."""

import pytest

from judge.games import new_game
from judge.games.gomoku.positions import Position, positions, squares_of
from judge.games.gomoku.requests import RULE_BITS, PlaceStone, Square, Stone
from judge.games.types import RuleResult, Verdict, decided

CASES = [(rule, position) for rule in RULE_BITS for position in positions(rule, 15, 15)]


def end_of(rule: str, opening: tuple[Square, ...], *stones: Square) -> RuleResult | None:
    """How a game from this opening ends by these stones, if it does."""
    options = {"width": 15, "height": 15, "rule": rule, "opening": [list(s) for s in opening]}
    game = new_game("gomoku", options)
    for stone in stones:
        game.apply(decided(Stone(*stone)))
    end = game.end
    assert end is None or isinstance(end, RuleResult), end
    return end


def wins(rule: str, opening: tuple[Square, ...], *before: Square) -> set[Square]:
    """The squares that win at once after `before`."""
    taken = {*opening, *before}
    free = [(x, y) for x in range(15) for y in range(15) if (x, y) not in taken]
    ends = {square: end_of(rule, opening, *before, square) for square in free}
    return {square for square, end in ends.items() if end and end.verdict is Verdict.WIN}


@pytest.mark.parametrize(("rule", "position"), CASES)
def test_the_rules_agree_with_every_position(rule: str, position: Position) -> None:
    opening = squares_of(position.stones, 15, 15)
    answers = set(squares_of(position.answers, 15, 15))

    mine = wins(rule, opening)
    threats = wins(rule, opening, (14, 14))

    if not answers:
        assert mine == set() == threats, "nothing is forced"
    elif "decides first" in position.what:
        assert mine == set(), "no five wins here"
    elif position.check == "block":
        assert (mine, threats) == (set(), answers)
    else:
        assert mine == answers


@pytest.mark.parametrize(("stones", "tempting"), [("h8h9i7i9h10i6i11i12", "g9"), ("six", "g8")])
def test_renju_forbids_tempting_black_moves(stones: str, tempting: str) -> None:
    asked = {position.what: position.stones for position in positions("renju", 15, 15)}
    opening = asked["black may not make six: another five wins"] if stones == "six" else stones
    assert opening in asked.values()

    end = end_of("renju", squares_of(opening, 15, 15), *squares_of(tempting, 15, 15))

    assert end is not None
    assert end.verdict is Verdict.FOUL


@pytest.mark.parametrize("side", [15, 16, 19, 20])
def test_on_other_boards_the_middle_stays_the_middle(side: int) -> None:
    for position in positions("standard", side, side):
        opening = squares_of(position.stones, side, side)
        game = new_game("gomoku", {"width": side, "height": side, "rule": "standard", "opening": opening})
        assert isinstance(game.pending(), PlaceStone)

    assert squares_of("h8", side, side) == ((side // 2, side // 2),)


def test_only_questions_that_fit_a_small_board_are_asked() -> None:
    whole, small = list(positions("renju", 15, 15)), list(positions("renju", 9, 9))

    assert 0 < len(small) < len(whole)
