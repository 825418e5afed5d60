"""How a game of Stratego ends: by NO_MOVE, attrition, the turn limit, a fault; and who is named."""

from typing import Any

import pytest

from judge.games.gomoku.requests import Stone
from judge.games.stratego import RULES, Stratego
from judge.games.stratego.types import BLUE, RED, SetUpRow, Started
from judge.games.types import (
    AgentFault,
    Reply,
    ReplyKind,
    Verdict,
    decided,
)
from tests.games.stratego_positions import (
    FULL_BLUE,
    FULL_RED,
    blue,
    line,
    new,
    red,
    say,
    set_up,
    texts,
    verdict,
)

ALL_RULES = tuple(RULES)


# --- NO_MOVE ---------------------------------------------------------------------------------------------------------


def test_in_2012_no_move_is_no_word() -> None:
    game = set_up(new("stratego-2012"))

    assert [] == say(game, "NO_MOVE")
    assert (Verdict.UNREADABLE, RED) == verdict(game)
    assert ("Unintelligable response", "NO_MOVE") == (game.reason, game.half_moves[-1].text)


def test_in_2011_no_move_was_always_legal_and_ended_nothing() -> None:
    game = set_up(new("stratego-2011"))

    assert ["NO_MOVE OK"] * 4 == say(game, *["NO_MOVE"] * 4)
    assert (game.end, game.turn) == (None, 3)


def test_side_that_can_move_must_not_pass() -> None:
    game = set_up(new())

    assert ["NO_MOVE ILLEGAL"] == say(game, "NO_MOVE")
    assert (Verdict.ILLEGAL, RED) == verdict(game)
    assert "red RED ILLEGAL 1 148 148" == line(game)


def test_a_movable_piece_that_is_shut_in_has_no_move() -> None:
    """Bombs around a scout: NO_MOVE is legitimate though a movable piece is left."""
    game = set_up(new(), red(x0y0="9", x1y0="B", x0y1="B"), blue(x0y6="9"))

    assert ["NO_MOVE"] == say(game, "NO_MOVE")
    assert game.end is None


def stuck(red_left: str, blue_left: str) -> Stratego:
    """Each side has one movable piece, shut in by bombs: nobody can move."""
    return set_up(
        new(),
        red(x0y0=red_left, x1y0="B", x0y1="B"),
        blue(x0y9=blue_left, x1y9="B", x0y8="B"),
    )


@pytest.mark.parametrize(
    ("red_left", "blue_left", "end", "result"),
    [
        ("1", "2", (Verdict.WIN, RED), "blue BLUE DEFEAT 1 10 9"),
        ("3", "2", (Verdict.WIN, BLUE), "blue BLUE VICTORY 1 8 9"),
        ("6", "6", (Verdict.DRAW, None), "blue BLUE DRAW 1 5 5"),
    ],
)
def test_two_no_moves_in_a_row_end_the_game_by_piece_value(
    red_left: str, blue_left: str, end: tuple[Verdict, int | None], result: str
) -> None:
    """The named side is the one on whose turn it ended; it may be the loser. UCC's manual, NO_MOVE."""
    game = stuck(red_left, blue_left)

    assert ["NO_MOVE", "NO_MOVE"] == say(game, "NO_MOVE", "NO_MOVE")
    assert end == verdict(game)
    assert result == line(game)


def test_move_between_two_passes_continues_the_game() -> None:
    game = set_up(new(), red(x0y0="9", x1y0="B", x0y1="B"), blue(x0y6="9"))

    say(game, "NO_MOVE", "0 6 UP", "NO_MOVE", "0 5 DOWN")
    assert game.end is None


def test_blue_may_be_the_first_of_the_two() -> None:
    """RED's last piece dies on a bomb; BLUE's is shut in. The game ends on RED's turn, who is worth less."""
    game = set_up(new(), red(x0y3="7"), blue(x0y6="B", x0y9="1", x1y9="B", x0y8="B"))
    say(game, "0 3 DOWN", "NO_MOVE", "0 4 DOWN", "NO_MOVE")

    assert ["0 5 DOWN DIES 7 B", "NO_MOVE", "NO_MOVE"] == say(game, "0 5 DOWN", "NO_MOVE", "NO_MOVE")
    assert "red RED DEFEAT 4 0 10" == line(game)


def test_a_tolerated_illegitimate_no_move_costs_the_turn_and_does_not_count() -> None:
    game = set_up(new(tolerate_illegal=True), red(x0y3="9"), blue(x0y9="1", x1y9="B", x0y8="B"))

    assert ["NO_MOVE ILLEGAL", "NO_MOVE", "NO_MOVE ILLEGAL", "NO_MOVE"] == say(game, *["NO_MOVE"] * 4)
    assert game.end is None


# --- attrition -------------------------------------------------------------------------------------------------------


def last_stand(rules: str, attacker: str, defender: str, **options: Any) -> Stratego:
    """Each side has one movable piece, and they stand before each other; RED is to move."""
    game = new(rules, partial_setup=True, **options)
    set_up(game, red(x0y3=attacker), blue(x0y6=defender))
    say(game, "0 3 DOWN", "0 6 UP")
    return game


def test_taking_the_last_movable_piece_wins_in_2012() -> None:
    game = last_stand("stratego-2012", "3", "6")

    assert [] == say(game, "0 4 DOWN")
    assert (Verdict.WIN, RED) == verdict(game)
    assert "red RED VICTORY 2 8 0" == line(game)
    assert "Destroyed all mobile enemy pieces" == game.reason


def test_side_without_movable_pieces_is_notified_and_the_other_wins_on_its_turn() -> None:
    game = last_stand("stratego-2012", "6", "3")

    assert ["0 4 DOWN DIES 6 3"] == say(game, "0 4 DOWN")
    assert (Verdict.WIN, BLUE) == verdict(game)
    assert "blue BLUE VICTORY 2 0 8" == line(game)


def test_two_last_pieces_that_die_together_are_a_draw_on_the_movers_turn() -> None:
    game = last_stand("stratego-2012", "6", "6")

    assert [] == say(game, "0 4 DOWN")
    assert (Verdict.DRAW, None) == verdict(game)
    assert "red RED DRAW 2 0 0" == line(game)


def test_the_turn_limit_goes_before_a_loss_of_the_last_piece_by_blues_own_attack() -> None:
    def suicide_of_blue(turn_limit: int) -> Stratego:
        game = new("stratego-2012", partial_setup=True, turn_limit=turn_limit)
        set_up(game, red(x0y3="3", x5y3="7"), blue(x0y6="6"))
        say(game, "0 3 DOWN", "0 6 UP", "5 3 DOWN", "0 5 UP")
        return game

    assert "blue BLUE DRAW_DEFAULT 3 12 0" == line(suicide_of_blue(3))
    assert "red RED VICTORY 3 12 0" == line(suicide_of_blue(4))


def test_in_2011_only_the_turn_end_shows_that_neither_side_can_win() -> None:
    game = set_up(new("stratego-2011"), red(x0y3="6"), blue(x0y6="B"))
    say(game, "0 3 DOWN", "NO_MOVE", "0 4 DOWN", "NO_MOVE")
    assert ["0 5 DOWN BOTHDIE 6 B"] == say(game, "0 5 DOWN")
    assert game.end is None

    assert ["NO_MOVE OK"] == say(game, "NO_MOVE")
    assert "blue BLUE DRAW 4 0 0" == line(game)
    assert (Verdict.DRAW, None) == verdict(game)
    assert "Game declared a draw because neither player has mobile pieces" == game.reason


def test_the_seed_knows_no_attrition() -> None:
    """Who has no piece to move says so; the flag is still to be taken."""
    game = last_stand("stratego-seed", "3", "6")

    assert ["0 4 DOWN KILLS 3 6", "NO_MOVE", "0 5 DOWN OK"] == say(game, "0 4 DOWN", "NO_MOVE", "0 5 DOWN")
    assert game.end is None


# --- the turn limit --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ALL_RULES)
@pytest.mark.parametrize("limit", [0, 1])
def test_a_limit_of_no_turns_plays_nothing_and_names_red(rules: str, limit: int) -> None:
    """It shows what the set-ups are worth (UCC's manual, EXIT/OUTPUT); RED has heard START."""
    game = new(rules, turn_limit=limit)
    for row in (*FULL_RED, *FULL_BLUE):
        events = game.apply(decided(SetUpRow(row)))

    assert (Started(RED),) == events
    assert "red RED DRAW_DEFAULT 1 148 148" == line(game)
    assert "Game declared a draw after 1 turns" == game.reason


@pytest.mark.parametrize("rules", ALL_RULES)
def test_one_turn_less_than_the_limit_is_played(rules: str) -> None:
    game = set_up(new(rules, turn_limit=3))
    moves = ["0 3 DOWN", "0 6 UP", "0 4 UP", "0 5 DOWN"]

    assert [f"{move} OK" for move in moves] == say(game, *moves)
    assert "blue BLUE DRAW_DEFAULT 3 148 148" == line(game)
    assert (Verdict.DRAW, None) == verdict(game)


@pytest.mark.parametrize("limit", [None, -1])
def test_there_may_be_no_limit(limit: int | None) -> None:
    game = set_up(new("stratego-2012", turn_limit=limit))
    for _ in range(6000):
        say(game, "0 3 DOWN", "0 6 UP", "0 4 UP", "0 5 DOWN")

    assert (game.end, game.turn) == (None, 12001)


@pytest.mark.parametrize(
    ("defender", "told", "name"),
    [("9", "KILLS 3 9", "KILLS"), ("2", "DIES 3 2", "DIES"), ("B", "BOTHDIE 3 B", "BOTH_DIE")],
)
def test_in_2011_a_combat_in_the_last_half_move_spoiled_the_limit(defender: str, told: str, name: str) -> None:
    def play(limit: int) -> Stratego:
        game = set_up(
            new("stratego-2011", turn_limit=limit),
            red(x0y3=defender, x5y3="7"),
            blue(x0y6="3", x5y6="7"),
        )
        say(game, "5 3 DOWN", "0 6 UP", "5 4 UP", "0 5 UP", "5 3 DOWN")
        assert [f"0 4 UP {told}"] == say(game, "0 4 UP")
        return game

    game = play(4)
    assert line(game).startswith("blue BLUE INTERNAL_ERROR 4 ")
    assert (Verdict.DRAW, None) == verdict(game)
    assert f"Status returned {name}, unsure why game halted..." == game.reason
    assert play(5).end is None


# --- tolerance, echo, surrender --------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ALL_RULES)
def test_an_illegal_move_may_cost_the_turn_only(rules: str) -> None:
    """-i: the board stays as it was."""
    game = set_up(new(rules, tolerate_illegal=True))

    assert ["0 5 DOWN ILLEGAL", "0 6 UP OK", "1 3 DOWN 2 ILLEGAL"] == say(game, "0 5 DOWN", "0 6 UP", "1 3 DOWN 2")
    assert (game.end, game.seat) == (None, BLUE)


def test_tolerated_unreadable_move_is_passed_on_unchanged() -> None:
    game = set_up(new("stratego-2012", tolerate_illegal=True, tolerate_unreadable=True))

    assert ["0 3 SOUTH", "NO_MOVE", ""] == say(game, "0 3 SOUTH", "NO_MOVE", "")
    assert game.end is None


@pytest.mark.parametrize(("rules", "told"), [("stratego-seed", []), ("stratego-2011", ["0 3 SOUTH"])])
def test_unreadable_move_ends_the_game_even_if_illegal_moves_are_tolerated(rules: str, told: list[str]) -> None:
    game = set_up(new(rules, tolerate_illegal=True))

    assert told == say(game, "0 3 SOUTH")
    assert (Verdict.UNREADABLE, RED) == verdict(game)
    assert "Unintelligable response" == game.reason


def test_founding_text_confirms_the_understood_move_and_managers_the_reply() -> None:
    said = "  +0\t3 DOWN 1 KILLS 1 1"
    assert ["0 3 DOWN OK"] == say(set_up(new("stratego-seed")), said)
    assert [f"{said} OK"] == say(set_up(new("stratego-2012")), said)


@pytest.mark.parametrize("rules", ["stratego-2011", "stratego-2012"])
def test_a_final_carriage_return_is_not_repeated(rules: str) -> None:
    assert ["0 3 DOWN 1 OK"] == say(set_up(new(rules)), "0 3 DOWN 1\r")


@pytest.mark.parametrize("odd", ["\r\r", "\rQUIT", "\0", "\v", "\f", "\x1b", "\x7f", "\x85", "\xa0", "\xff"])
@pytest.mark.parametrize(("rules", "told"), [("stratego-2011", ["0 3 DOWN 1 {}"]), ("stratego-2012", [])])
def test_a_move_with_other_characters_behind_it_is_unreadable(rules: str, told: list[str], odd: str) -> None:
    game = set_up(new(rules, tolerate_illegal=True))

    shown = odd.removesuffix("\r")
    shown = "?" + shown[1:]
    assert [line.format(shown) for line in told] == say(game, f"0 3 DOWN 1 {odd}")
    assert (Verdict.UNREADABLE, RED) == verdict(game)


@pytest.mark.parametrize(
    ("said", "told"),
    [("\rQUIT\r", "?QUIT"), ("QUIT", "?QUIT"), (" QUIT 1", " ?QUIT 1"), ("START\0", "?START?"), ("a\tb\xe9", "a\tb?")],
)
def test_a_tolerated_reply_is_no_other_line_for_its_opponent(said: str, told: str) -> None:
    game = set_up(new("stratego-2012", tolerate_illegal=True, tolerate_unreadable=True))

    assert [told] == say(game, said)
    assert game.end is None


@pytest.mark.parametrize(
    ("rules", "told"),
    [("stratego-seed", []), ("stratego-2011", ["SURRENDER OK"]), ("stratego-2012", [])],
)
def test_a_side_may_surrender(rules: str, told: list[str]) -> None:
    game = set_up(new(rules))
    say(game, "0 3 DOWN")

    assert told == say(game, "SURRENDER")
    assert (Verdict.RESIGNED, BLUE) == verdict(game)
    assert "blue BLUE SURRENDER 1 148 148" == line(game)
    assert ("SURRENDER OK", "This player has surrendered!") == (
        game.half_moves[-1].text,
        game.reason,
    )


def test_an_agent_of_another_protocol_may_refuse() -> None:
    game = set_up(new())
    game.apply(Reply(ReplyKind.REFUSED, "no"))

    assert (Verdict.REFUSED, RED) == verdict(game)


# --- faults from outside ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rules", "told"), [("stratego-seed", []), ("stratego-2011", [""]), ("stratego-2012", [])])
def test_seat_failing_in_play_loses(rules: str, told: list[str]) -> None:
    """In 2011 both were told an empty line first."""
    game = set_up(new(rules))
    say(game, "0 3 DOWN")
    fault = AgentFault(Verdict.TURN_TIME, BLUE, "late")

    assert told == texts(game.forfeit(fault))
    assert fault == game.end
    assert "blue BLUE ILLEGAL 1 148 148" == line(game)
    assert "" == game.half_moves[-1].text


@pytest.mark.parametrize(
    ("rules", "result"),
    [
        ("stratego-seed", "red RED DEFAULT 1 148 148"),
        ("stratego-2011", "blue BLUE ILLEGAL 1 148 148"),
        ("stratego-2012", "blue BLUE ILLEGAL 1 148 148"),
    ],
)
def test_seat_failing_in_the_opponents_turn_loses(rules: str, result: str) -> None:
    """The seed names the side to move, which wins by DEFAULT."""
    game = set_up(new(rules))
    game.forfeit(AgentFault(Verdict.MEMORY, BLUE, "grew"))

    assert result == line(game)
    assert (Verdict.MEMORY, BLUE) == verdict(game)


def test_a_game_that_is_over_stays_as_it_ended() -> None:
    game = set_up(new("stratego-2012"))
    say(game, "SURRENDER")
    before = line(game)

    assert () == game.forfeit(AgentFault(Verdict.CRASH, BLUE, "dead"))
    assert before == line(game)
    with pytest.raises(RuntimeError):
        game.apply(Reply(ReplyKind.RESIGNED))


def test_a_decision_of_another_game_is_the_judges_mistake() -> None:
    game = new()
    with pytest.raises(TypeError):
        game.apply(decided(Stone(7, 7)))
    set_up(game)
    with pytest.raises(TypeError):
        game.apply(decided(Stone(7, 7)))
    game = set_up(new(), red(x0y3="9"), blue(x0y6="9"))
    say(game, "0 3 DOWN 3")
    with pytest.raises(TypeError):
        game.apply(decided(Stone(7, 7)))
