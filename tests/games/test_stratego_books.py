"""What holds in every game of Stratego: options and names, and the books of random games."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.base.errors import InputError
from judge.games import new_game
from judge.games.stratego import RULES, Stratego
from judge.games.stratego.board import KINDS
from judge.games.stratego.types import BLUE, RED, Confirmed, Direction, Move, SetUpRow, Started, one_word
from judge.games.types import Chance, decided
from tests.examples import examples
from tests.games.stratego_positions import new, say, set_up, toss


def test_a_name_in_the_result_is_one_word() -> None:
    game = set_up(new(turn_limit=0))

    assert "Deep_Thought_2_1 RED DRAW_DEFAULT 1 148 148" == game.result(("Deep Thought\n2 1", "b"))
    assert ("_", "_", "x" * 127) == (one_word(""), one_word("\u00e9\u00e8"), one_word("x" * 300))


def test_the_game_is_found_by_its_name_and_made_from_plain_options() -> None:
    game = new_game("stratego", {"rules": "stratego-2012", "turn_limit": 1000})

    assert isinstance(game, Stratego)
    assert (1000, "win") == (game.options.turn_limit, game.options.attrition)
    assert {"width": 10, "height": 10} == game.describe()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rules": "stratego-2013"}, "rules: there is stratego-seed"),
        ({"bombs": True}, "unknown key 'bombs'; there are attrition, bomb_survives"),
        ({"turn_limit": -2}, "turn_limit: Input should be greater"),
        ({"tolerate_unreadable": True}, "tolerate_unreadable needs tolerate_illegal"),
        ({"tolerate_unreadable": True, "tolerate_illegal": True}, "tolerate_unreadable needs echo"),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Stratego.from_options(options)


def armies() -> st.SearchStrategy[tuple[str, ...]]:
    pieces = [kind.letter for kind in KINDS.values() for _ in range(kind.number)]
    whole = st.permutations(pieces).map("".join)
    return whole.map(lambda text: tuple(text[at : at + 10] for at in range(0, 40, 10)))


def letters(game: Stratego, seat: int) -> list[str]:
    return [letter for letter in game.seen_by(seat) if letter not in ".#+\n"]


def legal_moves(game: Stratego) -> list[Move]:
    """Found by looking at the board alone."""
    board = game.seen_by(game.seat).split("\n")
    moves = []
    for y, row in enumerate(board[:10]):
        for x, letter in enumerate(row):
            if letter not in "123456789s":
                continue
            for direction, (dx, dy) in STEPS.items():
                for steps in range(1, 10 if letter == "9" else 2):
                    ax, ay = x + dx * steps, y + dy * steps
                    if not (0 <= ax < 10 and 0 <= ay < 10) or board[ay][ax] not in ".#":
                        break
                    moves.append(Move(x, y, direction, steps))
                    if board[ay][ax] == "#":
                        break
    return moves


STEPS = {Direction.UP: (0, -1), Direction.DOWN: (0, 1), Direction.LEFT: (-1, 0), Direction.RIGHT: (1, 0)}


@settings(max_examples=examples(40), deadline=None)
@given(
    rules=st.sampled_from(tuple(RULES)),
    red_rows=armies(),
    blue_rows=armies(),
    choices=st.lists(st.integers(0, 10_000), min_size=1, max_size=150),
)
def test_a_random_game_keeps_its_books(
    rules: str, red_rows: tuple[str, ...], blue_rows: tuple[str, ...], choices: list[int]
) -> None:
    """Every move that looks legal is; both views, the worth and the enemies agree after each."""
    game = set_up(new(rules), red_rows, blue_rows)
    for choice in choices:
        if game.end is not None:
            break
        pending = game.pending()
        if isinstance(pending, Chance):
            toss(game, choice % pending.outcomes)
            continue
        moves = legal_moves(game)
        if not moves:
            break
        seat, turn = game.seat, game.turn
        move = moves[choice % len(moves)]
        events = game.apply(decided(move, f"{move.x} {move.y} {move.direction} {move.steps}"))
        assert "ILLEGAL" not in game.outcome
        assert all(isinstance(event, Confirmed) and event.only is None for event in events)
        if not game.outcome and not isinstance(game.pending(), Chance):
            assert (1 - seat, turn + seat) == (game.seat, game.turn)
        check_books(game)


def check_books(game: Stratego) -> None:
    for seat in (RED, BLUE):
        seat_letters = letters(game, seat)
        assert sum(KINDS[letter].value for letter in seat_letters) == game.values[seat]
        assert len(seat_letters) == game.seen_by(1 - seat).count("#")
        assert 8 == game.seen_by(seat).count("+")
        assert 110 == len(game.seen_by(seat))


@given(said=st.lists(st.text(max_size=30), max_size=6))
def test_agent_output_never_breaks_the_game(said: list[str]) -> None:
    game = set_up(new("stratego-2012", tolerate_illegal=True, tolerate_unreadable=True))
    say(game, *(text for text in said if text != "SURRENDER"))

    assert game.end is None


@given(rows=st.lists(st.text(max_size=12), min_size=8, max_size=8))
def test_no_set_up_breaks_the_game(rows: list[str]) -> None:
    game = new("stratego-seed")
    events = [event for row in rows for event in game.apply(decided(SetUpRow(row)))]

    assert (game.end is None) is (events == [Started(RED)])
