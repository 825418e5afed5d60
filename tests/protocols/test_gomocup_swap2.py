"""SWAP2BOARD, TAKEBACK, continuous boards and further INFO of the Gomocup protocol, as conversations (talk.py)."""

import pytest
from pydantic import ValidationError

from judge.protocols.gomocup_words import GomocupOptions
from tests.protocols.test_gomocup import plays as play_script

SCRIPTS = {
    "started": """
        > START 15
        < OK
        > INFO timeout_turn 5000 | INFO timeout_match 120000 | INFO max_memory 367001600 | INFO game_type 1
        > INFO rule 1 | ABOUT
    """,
    "named": '< name="swapper"\n= ready name="swapper"',
    "ready": "@ started\n@ named",
    "answers info": "@ started\n< UNKNOWN\\nUNKNOWN\\nUNKNOWN\\nUNKNOWN\\nUNKNOWN\n@ named",
    "laying": "@ ready\n? lay\n> INFO time_left 90000 | SWAP2BOARD | DONE\n= await turn",
    "three stones": """
        ? swap 7,7 8,7 9,9 colour=1 adds=2 => INFO time_left 90000 | SWAP2BOARD | 7,7 | 8,7 | 9,9 | DONE
        = await turn
    """,
    "swapping": "@ ready\n@ three stones",
    "swapping, answers info": "@ answers info\n@ three stones",
    "five stones": """
        ? swap 7,7 8,7 9,9 8,8 8,6 colour=1 => INFO time_left 90000 | SWAP2BOARD | 7,7 | 8,7 | 9,9 | 8,8 | 8,6 | DONE
        = await turn
    """,
    # How a brain without SWAP2BOARD is asked for the fourth stone.
    "board": "> INFO time_left 90000 | BOARD | 7,7,2 | 8,7,1 | 9,9,2 | DONE\n= await turn",
    # INFO or ABOUT takes longer than the judge waits for it.
    "late": "@ started\n! alarm\n= ready",
    "late laying": "@ late\n? lay\n> INFO time_left 90000 | SWAP2BOARD | DONE\n= await turn",
    # A brain without SWAP2BOARD has laid three stones by mandatory commands.
    "laid": """
        @ laying
        < UNKNOWN
        > RESTART
        < OK
        > INFO time_left 90000 | BEGIN
        < 7,7
        > RESTART
        < OK
        > INFO time_left 90000 | BOARD | 7,7,2 | DONE
        < 8,7
        > RESTART
        < OK
        > INFO time_left 90000 | BOARD | 7,7,1 | 8,7,2 | DONE
        < 9,9 => 7,7 8,7 9,9
    """,
    "two turns": """
        @ ready
        ? place colour=0 => INFO time_left 90000 | BEGIN
        < 7,7 => 7,7
        ? place 7,7 8,8 => INFO time_left 90000 | TURN 8,8
        < 9,9 => 9,9
    """,
}

TALKS = {
    "case 1: three stones": "@ laying\n< 7,7 8,7 9,9\n= 7,7 8,7 9,9",
    "case 2: SWAP": "@ swapping\n< SWAP\n= SWAP",
    "case 2: a stone": "@ swapping\n< 8,8\n= 8,8",
    "case 3: SWAP": "@ ready\n@ five stones\n< SWAP\n= SWAP",
    "case 3: a stone": "@ ready\n@ five stones\n< 6,8\n= 6,8",
    "the stones of the stage are then an opening, without RESTART": """
        @ swapping
        < 8,8 8,6 => 8,8 8,6
        ? place 7,7 8,7 9,9 8,8 8,6 6,8 opening=6
        > INFO time_left 90000 | BOARD | 7,7,1 | 8,7,2 | 9,9,1 | 8,8,2 | 8,6,1 | 6,8,2 | DONE
        < 1,1 => 1,1
    """,
    "placer of the stones is white after a swap": """
        @ laying
        < 7,7 8,7 9,9 => 7,7 8,7 9,9
        ? place 7,7 8,7 9,9 opening=3
        @ board
        < 1,1 => 1,1
    """,
    "UNKNOWN once": "@ swapping\n< UNKNOWN command\n> RESTART\n< OK\n@ board\n< 8,8\n= 8,8",
    "UNKNOWN to each line": """
        @ swapping
        < UNKNOWN
        > RESTART
        < UNKNOWN\\nUNKNOWN\\nUNKNOWN
        < UNKNOWN
        < OK
        @ board
        < 8,8 => 8,8
    """,
    # The first UNKNOWN was about INFO time_left.
    "stones that follow UNKNOWN are not the answer to BEGIN": """
        @ laying
        < UNKNOWN INFO
        > RESTART
        < 7,7 8,7 9,9
        < OK
        > INFO time_left 90000 | BEGIN
        < 7,7
        > RESTART
        < OK
        > INFO time_left 90000 | BOARD | 7,7,2 | DONE
    """,
    "a stone that follows UNKNOWN is not the answer to BOARD": """
        @ swapping
        < UNKNOWN INFO
        > RESTART
        < 8,8\\nOK
        @ board
        < 8,6 => 8,6
        ? place 7,7 8,7 9,9 8,6 1,1 opening=4 => INFO time_left 90000 | TURN 1,1
        < 2,2 => 2,2
    """,
    "one UNKNOWN to SWAP2BOARD and one to RESTART: a new process": """
        @ laying
        < UNKNOWN
        > RESTART
        < UNKNOWN => wake after 1000
        ! alarm => END
        = respawn
        > START 15
        = await start
    """,
    "a late answer to INFO is no answer to SWAP2BOARD": """
        @ late laying
        < UNKNOWN game_type => wake after 1000
        < name="swapper"
        ! alarm
        < 7,7 8,7 9,9 => 7,7 8,7 9,9
    """,
    "late answers to INFO show that the next UNKNOWN is about time_left": """
        @ late laying
        < UNKNOWN game_type\\nname="swapper"
        < UNKNOWN time_left => wake after 1000
        < 7,7 8,7 9,9 => 7,7 8,7 9,9
    """,
    "UNKNOWN without an answer to ABOUT is about SWAP2BOARD if nothing follows": """
        @ late laying
        < UNKNOWN => wake after 1000
        ! alarm => RESTART
        = await start
        < OK
        > INFO time_left 90000 | BEGIN
        < 7,7
        > RESTART
    """,
    "only the first late answer to ABOUT counts": """
        @ late laying
        < name="a"
        < UNKNOWN
        > RESTART
        < name="a"\\nUNKNOWN => wake after 1000
        < name="a"
        ! alarm => END
        = respawn
        > START 15
        = await start
    """,
    "the first UNKNOWN of a brain that answers INFO is about time_left": """
        @ swapping, answers info
        < UNKNOWN INFO => wake after 1000
        < UNKNOWN SWAP2BOARD
        > RESTART
        < UNKNOWN\\nUNKNOWN\\nUNKNOWN\\nUNKNOWN
        < OK
        @ board
        < 8,8 => 8,8
    """,
    # An answer that comes all the same is parted by RESTART from that to BOARD.
    "the first UNKNOWN was about SWAP2BOARD if nothing follows": """
        @ swapping, answers info
        < UNKNOWN => wake after 1000
        ! alarm => RESTART
        = await start
        < SWAP
        < OK
        @ board
        < 8,8 => 8,8
    """,
    "a brain that answers INFO may answer SWAP2BOARD": """
        @ swapping, answers info
        < UNKNOWN INFO => wake after 1000
        < SWAP => SWAP
    """,
    "an ERROR is shown with the answer that follows": """
        @ swapping
        < ERROR Color is not a valid value
        > RESTART
        < OK
        @ board
        < 7,7 => 7,7
        = complaint ERROR Color is not a valid value
    """,
    "a late UNKNOWN is no refusal of RESTART": """
        @ laid
        @ five stones
        < UNKNOWN
        > RESTART
        < UNKNOWN\\nUNKNOWN\\nUNKNOWN\\nUNKNOWN\\nUNKNOWN\\nUNKNOWN
        < OK
        > INFO time_left 90000 | BOARD | 7,7,2 | 8,7,1 | 9,9,2 | 8,8,1 | 8,6,2 | DONE
        < 6,8 => 6,8
    """,
    "one UNKNOWN more than there were lines refuses RESTART": """
        @ laid
        @ five stones
        < UNKNOWN
        > RESTART
        < UNKNOWN\\nUNKNOWN\\nUNKNOWN\\nUNKNOWN\\nUNKNOWN\\nUNKNOWN
        < UNKNOWN RESTART
        > END
        = respawn
        > START 15
        = await start
    """,
    "an UNKNOWN that nothing follows refuses RESTART": """
        @ laid
        @ five stones
        < UNKNOWN
        > RESTART
        < UNKNOWN RESTART => wake after 1000
        ! alarm => END
        = respawn
        > START 15
        = await start
    """,
    # TAKEBACK and TURN would leave it two stones of the wrong owner.
    "swapped placer of single stones gets RESTART and BOARD": """
        @ laid
        ? place 7,7 8,7 9,9 opening=3 => RESTART
        < OK
        @ board
        < 1,1 => 1,1
    """,
    "unswapped placer of single stones gets a TURN": """
        @ laid
        ? place 7,7 8,7 9,9 8,8 opening=4 => INFO time_left 90000 | TURN 8,8
        < 1,1 => 1,1
    """,
    "a brain that stays white has the position and gets a TURN": """
        @ swapping
        < UNKNOWN
        > RESTART
        < OK
        @ board
        < 8,8 => 8,8
        ? place 7,7 8,7 9,9 8,8 1,1 opening=4 => INFO time_left 90000 | TURN 1,1
        < 2,2 => 2,2
    """,
    "stones are taken back one by one, and the opponent's new one is a TURN": """
        @ two turns
        ? place 7,7 6,6 => TAKEBACK 9,9
        < OK
        > TAKEBACK 8,8
        < OK
        > INFO time_left 90000 | TURN 6,6
        < 1,1 => 1,1
    """,
    "a brain without TAKEBACK gets RESTART and BOARD": """
        @ two turns
        ? place 7,7 6,6 => TAKEBACK 9,9
        < UNKNOWN
        > RESTART
        < OK
        > INFO time_left 90000 | BOARD | 7,7,1 | 6,6,2 | DONE
        < 1,1 => 1,1
    """,
    # RESTART is used after the game is finished; nothing was taken back in a position that is all opening.
    "another game from an equal position is no undo": """
        @ ready
        ? place 7,7 8,8 opening=2 => INFO time_left 90000 | BOARD | 7,7,1 | 8,8,2 | DONE
        < 9,9 => 9,9
        ? place 7,7 6,6 opening=2 => RESTART
        < OK
        > INFO time_left 90000 | BOARD | 7,7,1 | 6,6,2 | DONE
        < 9,9 => 9,9
    """,
    "a stone that counts no more is field 3": """
        @ ready
        ? place 7,7 8,8 9,9 opening=3 dead=7,7 => INFO time_left 90000 | BOARD | 7,7,3 | 8,8,1 | 9,9,2 | DONE
        < 1,1 => 1,1
    """,
}


def plays(script: str) -> None:
    play_script(script, {"width": 15, "height": 15, "rule": "standard", "swap": "swap2"}, SCRIPTS)


@pytest.mark.parametrize("name", TALKS)
def test_conversation(name: str) -> None:
    plays(TALKS[name])


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
def test_answer_to_swap2board_is_read_and_its_sense_left_to_the_rules(said: str, outcome: str) -> None:
    plays(f"@ swapping\n< {said}\n{outcome}")


@pytest.mark.parametrize("late", ["7,7 8,7 9,9", "UNKNOWN DONE", "ERROR row\\nERROR row\\n8,8 8,6"])
def test_answer_that_follows_an_error_is_not_the_answer_to_board(late: str) -> None:
    """Who says ERROR knows the command, and may answer it still: RESTART parts that from what is asked next."""
    error = "< ERROR Color is not a valid value, input\n> RESTART\n= await start"
    plays(f"@ swapping\n{error}\n< {late}\n< OK\n@ board\n< 8,8\n= 8,8")


@pytest.mark.parametrize(
    ("game", "bits"),
    [
        ('rule = "freestyle"', 0),
        ('rule = "standard"', 1),
        ('rule = "renju"', 4),
        ('rule = "caro-overline"', 8),
        ('rule = "caro"', 9),
        ('rule = "freestyle", continuous = true', 2),
        ('rule = "renju", continuous = true', 6),
    ],
)
def test_rule_is_sent_as_a_sum(game: str, bits: int) -> None:
    """Gomoku AI protocol, INFO rule: 1 exactly five, 2 continuous, 4 renju, 8 caro. The policy's own keys follow."""
    plays(f"""
        * game = {{{game}}}
        * options = {{game_type = 3, info = {{max_depth = 12, evaluate = "7,7"}}}}
        > START 15
        < OK
        > INFO timeout_turn 5000 | INFO timeout_match 120000 | INFO max_memory 367001600 | INFO game_type 3
        > INFO rule {bits} | INFO max_depth 12 | INFO evaluate 7,7 | ABOUT
    """)


@pytest.mark.parametrize("info", [{"a\nEND": 1}, {"a": "x\r\nEND"}, {"": 1}, {"a": " "}])
def test_key_of_a_policy_cannot_be_a_command(info: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        GomocupOptions.model_validate({"info": info})
