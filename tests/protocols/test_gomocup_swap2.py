"""SWAP2BOARD, TAKEBACK, continuous boards and further INFO of the Gomocup protocol, told as conversations."""

from collections.abc import Collection

import pytest
from pydantic import ValidationError

from judge.games.gomoku.requests import AnswerSwap, LayStones, Placed, PlaceStone, Square
from judge.protocols.gomocup import Gomocup
from judge.protocols.gomocup_words import GomocupOptions
from judge.protocols.types import Ask, Clock, Open, ToldLimits
from judge.testing import Conversation

CLOCK = Clock(5000, 90000)
THREE: tuple[Placed, ...] = ((7, 7, 0), (8, 7, 1), (9, 9, 0))
FIVE: tuple[Placed, ...] = (*THREE, (8, 8, 1), (8, 6, 0))


def ready(*, answers_info: bool = False) -> Conversation:
    """A brain on a board of 15, rule standard, that has answered ABOUT, and each INFO too if it does that."""
    game = {"width": 15, "height": 15, "rule": "standard", "swap": "swap2"}
    conversation = Conversation(Gomocup(GomocupOptions()))
    conversation.feed(Open(0, game, ("one", "two"), ToldLimits(5000, 120000, 367001600)))
    conversation.goes(
        """
        > START 15
        < OK
        > INFO timeout_turn 5000
        > INFO timeout_match 120000
        > INFO max_memory 367001600
        > INFO game_type 1
        > INFO rule 1
        > ABOUT
        """
    )
    if answers_info:
        conversation.goes("< UNKNOWN\\nUNKNOWN\\nUNKNOWN\\nUNKNOWN\\nUNKNOWN")
    conversation.goes('< name="swapper"\n= ready name="swapper"')
    return conversation


def lay(conversation: Conversation) -> None:
    conversation.feed(Ask(LayStones(0, (), 0, 15, 15, 0, 3), CLOCK))


def choose(conversation: Conversation, stones: tuple[Placed, ...], adds: int = 2) -> None:
    conversation.feed(Ask(AnswerSwap(1, stones, len(stones), 15, 15, 1, adds), CLOCK))


def place(
    conversation: Conversation,
    *stones: Placed,
    opening: int,
    colour: int,
    dead: Collection[Square] = (),
) -> None:
    request = PlaceStone(0, stones, opening, 15, 15, colour, dead)
    conversation.feed(Ask(request, CLOCK))


# --- the examples of Gomoku AI protocol --------------------------------------------------------------------


def test_case_1_asks_for_the_first_three_stones() -> None:
    conversation = ready()
    lay(conversation)
    conversation.goes(
        """
        > INFO time_left 90000
        > SWAP2BOARD
        > DONE
        = await turn
        < 7,7 8,7 9,9
        = 7,7 8,7 9,9
        """
    )


@pytest.mark.parametrize("said", ["SWAP", "8,8", "8,8 8,6"])
def test_case_2_shows_three_stones_and_asks_for_a_choice(said: str) -> None:
    conversation = ready()
    choose(conversation, THREE)
    conversation.goes(
        f"""
        > INFO time_left 90000
        > SWAP2BOARD
        > 7,7
        > 8,7
        > 9,9
        > DONE
        = await turn
        < {said}
        = {said}
        """
    )


@pytest.mark.parametrize("said", ["SWAP", "6,8"])
def test_case_3_shows_five_stones_and_asks_for_a_choice(said: str) -> None:
    conversation = ready()
    choose(conversation, FIVE, adds=0)
    conversation.goes(
        f"""
        > INFO time_left 90000
        > SWAP2BOARD
        > 7,7
        > 8,7
        > 9,9
        > 8,8
        > 8,6
        > DONE
        = await turn
        < {said}
        = {said}
        """
    )


def test_the_stones_of_the_stage_are_then_an_opening() -> None:
    """Case 3, option 2: the other brain, which is black, hears BOARD and no RESTART."""
    conversation = ready()
    choose(conversation, THREE)
    conversation.goes(
        """
        > INFO time_left 90000
        > SWAP2BOARD
        > 7,7
        > 8,7
        > 9,9
        > DONE
        < 8,8 8,6
        = 8,8 8,6
        """
    )
    place(conversation, *FIVE, (6, 8, 1), opening=6, colour=0)
    conversation.goes(
        """
        > INFO time_left 90000
        > BOARD
        > 7,7,1
        > 8,7,2
        > 9,9,1
        > 8,8,2
        > 8,6,1
        > 6,8,2
        > DONE
        < 1,1
        = 1,1
        """
    )


def test_placer_of_the_stones_is_white_after_a_swap() -> None:
    """Case 2, option 1: black's stones are the opponent's."""
    conversation = ready()
    lay(conversation)
    conversation.goes("> INFO time_left 90000\n> SWAP2BOARD\n> DONE\n< 7,7 8,7 9,9\n= 7,7 8,7 9,9")
    place(conversation, *THREE, opening=3, colour=1)
    conversation.goes(
        """
        > INFO time_left 90000
        > BOARD
        > 7,7,2
        > 8,7,1
        > 9,9,2
        > DONE
        < 1,1
        = 1,1
        """
    )


# --- brains that do other things -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ("swap", "= SWAP"),
        (" 8 , 8  8,6 ", "= 8,8 8,6"),
        ("8,8 8,6 8,5", "= 8,8 8,6 8,5"),
        ("-1,99", "= -1,99"),
        ("8,8,8,6", "= unreadable 8,8,8,6"),
        ("8,8 x", "= unreadable 8,8 x"),
        ("MESSAGE hm\\n8,8", "= note hm\n= 8,8"),
        ("SWAPPING", ""),
        ("OK", ""),
        ("8,8\\", ""),
    ],
)
def test_an_answer_is_read_and_its_sense_left_to_the_rules(said: str, outcome: str) -> None:
    """A wrong count or a square off the board is illegal, and that is for the game to say."""
    conversation = ready()
    choose(conversation, THREE)
    conversation.goes("> INFO time_left 90000\n> SWAP2BOARD\n> 7,7\n> 8,7\n> 9,9\n> DONE")
    conversation.goes(f"< {said}\n{outcome}")


THREE_ROWS = "> 7,7\n> 8,7\n> 9,9"


def swapping(*, answers_info: bool = False) -> Conversation:
    """A brain that is asked what to do with three stones."""
    conversation = ready(answers_info=answers_info)
    choose(conversation, THREE)
    conversation.goes(f"> INFO time_left 90000\n> SWAP2BOARD\n{THREE_ROWS}\n> DONE\n= await turn")
    return conversation


BOARD = """
> INFO time_left 90000
> BOARD
> 7,7,2
> 8,7,1
> 9,9,2
> DONE
= await turn
"""
"""How a brain without SWAP2BOARD is asked for the fourth stone."""


@pytest.mark.parametrize("late", ["", "< UNKNOWN\n", "< UNKNOWN\n" * 4])
def test_a_brain_without_swap2board_is_asked_for_a_stone_at_once(late: str) -> None:
    """Gomoku AI protocol, UNKNOWN: a mandatory command in place of the optional one, whose every line may be
    unknown."""
    swapping().goes(f"< UNKNOWN command\n{BOARD}\n{late}\n< 8,8\n= 8,8")


def test_of_a_brain_that_answers_info_lines_the_second_unknown_is_about_swap2board() -> None:
    """It said so to INFO before: the first is its answer to time_left."""
    conversation = swapping(answers_info=True)
    conversation.goes("< UNKNOWN INFO\n= wake after 1000")
    conversation.goes(f"< UNKNOWN SWAP2BOARD\n{BOARD}\n< UNKNOWN\\nUNKNOWN\\nUNKNOWN\\nUNKNOWN\n< 8,8\n= 8,8")


def test_where_nothing_follows_the_first_it_was_about_swap2board() -> None:
    """An answer that comes all the same is parted by RESTART from that to BOARD."""
    conversation = swapping(answers_info=True)
    conversation.goes("< UNKNOWN\n= wake after 1000")
    conversation.alarm()
    conversation.goes(f"> RESTART\n= await start\n< SWAP\n< OK\n{BOARD}\n< 8,8\n= 8,8")


def test_a_brain_that_answers_info_lines_may_answer_swap2board() -> None:
    swapping(answers_info=True).goes("< UNKNOWN INFO\n= wake after 1000\n< SWAP\n= SWAP")


@pytest.mark.parametrize("late", ["7,7 8,7 9,9", "UNKNOWN DONE", "ERROR row\\nERROR row\\n8,8 8,6"])
def test_an_answer_that_follows_an_error_is_not_the_answer_to_board(late: str) -> None:
    """Who says ERROR knows the command, and may answer it still: RESTART parts that from what is asked next."""
    conversation = swapping()
    conversation.goes("< ERROR Color is not a valid value, input\n> RESTART\n= await start")
    conversation.goes(f"< {late}\n< OK\n{BOARD}\n< 8,8\n= 8,8")


def test_error_is_shown_with_the_following_answer() -> None:
    """It is often the reason why the answer is wrong."""
    conversation = swapping()
    conversation.goes(
        f"""
        < ERROR Color is not a valid value
        > RESTART
        < OK
        {BOARD}
        < 7,7
        = 7,7
        = complaint ERROR Color is not a valid value
        """
    )


def test_a_late_unknown_is_no_refusal_of_restart() -> None:
    """It laid by BEGIN and BOARD, so its game is open; each line of the second SWAP2BOARD is unknown to it too."""
    conversation = laid_three()
    choose(conversation, FIVE, adds=0)
    conversation.goes(
        f"""
        > INFO time_left 90000
        > SWAP2BOARD
        {THREE_ROWS}
        > 8,8
        > 8,6
        > DONE
        < UNKNOWN
        > RESTART
        < UNKNOWN\\nUNKNOWN\\nUNKNOWN\\nUNKNOWN\\nUNKNOWN\\nUNKNOWN
        < OK
        > INFO time_left 90000
        > BOARD
        > 7,7,2
        > 8,7,1
        > 9,9,2
        > 8,8,1
        > 8,6,2
        > DONE
        < 6,8
        = 6,8
        """
    )


@pytest.mark.parametrize("strays", [0, 6])
def test_refused_restart_differs_from_late_unknowns(strays: int) -> None:
    """By their number, or, where fewer came than lines were unknown, by nothing that follows."""
    conversation = laid_three()
    choose(conversation, FIVE, adds=0)
    conversation.goes(f"> INFO time_left 90000\n> SWAP2BOARD\n{THREE_ROWS}\n> 8,8\n> 8,6\n> DONE\n< UNKNOWN\n> RESTART")
    for _ in range(strays):
        conversation.goes("< UNKNOWN")
    if strays:
        conversation.goes("< UNKNOWN RESTART\n> END\n= respawn\n> START 15\n= await start")
    else:
        conversation.goes("< UNKNOWN RESTART\n= wake after 1000")
        conversation.alarm()
        conversation.goes("> END\n= respawn\n> START 15\n= await start")


def laid_three() -> Conversation:
    """A brain without SWAP2BOARD that has laid three stones by mandatory commands."""
    conversation = ready()
    lay(conversation)
    conversation.goes(
        """
        > INFO time_left 90000
        > SWAP2BOARD
        > DONE
        < UNKNOWN
        > INFO time_left 90000
        > BEGIN
        < 7,7
        > RESTART
        < OK
        > INFO time_left 90000
        > BOARD
        > 7,7,2
        > DONE
        < 8,7
        > RESTART
        < OK
        > INFO time_left 90000
        > BOARD
        > 7,7,1
        > 8,7,2
        > DONE
        < 9,9
        = 7,7 8,7 9,9
        """
    )
    return conversation


def test_swapped_placer_of_single_stones_gets_restart_and_board() -> None:
    """Its own stones are now 2 and the others 1: TAKEBACK and TURN would leave it two of the wrong owner."""
    conversation = laid_three()
    place(conversation, *THREE, opening=3, colour=1)
    conversation.goes(
        """
        > RESTART
        < OK
        > INFO time_left 90000
        > BOARD
        > 7,7,2
        > 8,7,1
        > 9,9,2
        > DONE
        < 1,1
        = 1,1
        """
    )


def test_unswapped_placer_of_single_stones_gets_a_turn() -> None:
    """They are on its board, each with its owner."""
    conversation = laid_three()
    place(conversation, *THREE, (8, 8, 1), opening=4, colour=0)
    conversation.goes("> INFO time_left 90000\n> TURN 8,8\n< 1,1\n= 1,1")


def test_brain_that_kept_its_colour_after_one_stone_continues_with_turn() -> None:
    """It has the position on its board."""
    conversation = ready()
    choose(conversation, THREE)
    conversation.goes("> INFO time_left 90000\n> SWAP2BOARD\n> 7,7\n> 8,7\n> 9,9\n> DONE")
    conversation.goes(
        """
        < UNKNOWN
        > INFO time_left 90000
        > BOARD
        > 7,7,2
        > 8,7,1
        > 9,9,2
        > DONE
        < 8,8
        = 8,8
        """
    )
    place(conversation, *THREE, (8, 8, 1), (1, 1, 0), opening=4, colour=1)
    conversation.goes("> INFO time_left 90000\n> TURN 1,1\n< 2,2\n= 2,2")


# --- the rest of the protocol --------------------------------------------------------------------


def test_stones_that_are_taken_back_are_taken_back_one_by_one() -> None:
    """Undo of two stones: the opponent's last stone is then placed again, as a turn."""
    conversation = ready()
    place(conversation, opening=0, colour=0)
    conversation.goes("> INFO time_left 90000\n> BEGIN\n< 7,7\n= 7,7")
    place(conversation, (7, 7, 0), (8, 8, 1), opening=0, colour=0)
    conversation.goes("> INFO time_left 90000\n> TURN 8,8\n< 9,9\n= 9,9")
    place(conversation, (7, 7, 0), (6, 6, 1), opening=0, colour=0)
    conversation.goes(
        """
        > TAKEBACK 9,9
        < OK
        > TAKEBACK 8,8
        < OK
        > INFO time_left 90000
        > TURN 6,6
        < 1,1
        = 1,1
        """
    )


def test_other_game_from_an_equal_position_is_not_an_undo() -> None:
    """Gomoku AI protocol, RESTART: used after the game is finished. Nothing was taken back in a position that is all
    opening."""
    conversation = ready()
    place(conversation, (7, 7, 0), (8, 8, 1), opening=2, colour=0)
    conversation.goes("> INFO time_left 90000\n> BOARD\n> 7,7,1\n> 8,8,2\n> DONE\n< 9,9\n= 9,9")
    place(conversation, (7, 7, 0), (6, 6, 1), opening=2, colour=0)
    conversation.goes(
        """
        > RESTART
        < OK
        > INFO time_left 90000
        > BOARD
        > 7,7,1
        > 6,6,2
        > DONE
        < 9,9
        = 9,9
        """
    )


def test_a_brain_without_takeback_gets_the_board() -> None:
    """Any answer but OK: RESTART, and the whole position."""
    conversation = ready()
    place(conversation, opening=0, colour=0)
    conversation.goes("> INFO time_left 90000\n> BEGIN\n< 7,7\n= 7,7")
    place(conversation, (7, 7, 0), (8, 8, 1), opening=0, colour=0)
    conversation.goes("> INFO time_left 90000\n> TURN 8,8\n< 9,9\n= 9,9")
    place(conversation, (7, 7, 0), (6, 6, 1), opening=0, colour=0)
    conversation.goes(
        """
        > TAKEBACK 9,9
        < UNKNOWN
        > RESTART
        < OK
        > INFO time_left 90000
        > BOARD
        > 7,7,1
        > 6,6,2
        > DONE
        < 1,1
        = 1,1
        """
    )


def test_a_stone_that_counts_no_more_is_field_3() -> None:
    """Gomoku AI protocol, BOARD: only if continuous game is enabled."""
    conversation = ready()
    place(conversation, (7, 7, 0), (8, 8, 1), (9, 9, 0), opening=3, colour=1, dead={(7, 7)})
    conversation.goes("> INFO time_left 90000\n> BOARD\n> 7,7,3\n> 8,8,1\n> 9,9,2\n> DONE\n< 1,1\n= 1,1")


@pytest.mark.parametrize(
    ("game", "bits"),
    [
        ({"rule": "freestyle"}, 0),
        ({"rule": "standard"}, 1),
        ({"rule": "renju"}, 4),
        ({"rule": "caro-overline"}, 8),
        ({"rule": "caro"}, 9),
        ({"rule": "freestyle", "continuous": True}, 2),
        ({"rule": "renju", "continuous": True}, 6),
    ],
)
def test_rule_is_sent_as_a_sum(game: dict[str, object], bits: int) -> None:
    """Gomoku AI protocol, INFO rule: 1 exactly five, 2 continuous, 4 renju, 8 caro."""
    options = GomocupOptions(game_type=3, info={"max_depth": 12, "evaluate": "7,7"})
    conversation = Conversation(Gomocup(options))
    board = {"width": 15, "height": 15, **game}
    conversation.feed(Open(0, board, ("one", "two"), ToldLimits(5000, 120000, 367001600)))
    conversation.goes(
        f"""
        > START 15
        < OK
        > INFO timeout_turn 5000
        > INFO timeout_match 120000
        > INFO max_memory 367001600
        > INFO game_type 3
        > INFO rule {bits}
        > INFO max_depth 12
        > INFO evaluate 7,7
        > ABOUT
        """
    )


@pytest.mark.parametrize("info", [{"a\nEND": 1}, {"a": "x\r\nEND"}, {"": 1}, {"a": " "}])
def test_a_key_of_a_policy_cannot_be_a_command(info: dict[str, object]) -> None:
    """What is passed through is one line of printable ASCII."""
    with pytest.raises(ValidationError):
        GomocupOptions.model_validate({"info": info})
