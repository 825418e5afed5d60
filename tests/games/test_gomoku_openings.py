"""Swaps and offers: who is asked what, who plays which colour afterwards, and what is an illegal answer.

Stories are text:

swap="swap2"; rule="standard"           options of a board of 15x15
7,7 8,7 9,9; SWAP; 8,8                  answers: stones, a swap, a stone
? place 0 1                             what is asked: of which seat, to play which colour
= illegal 0: off the 15x15 board        the end
"""

import tomllib

import pytest

from judge.base.errors import InputError
from judge.games.gomoku import Gomoku
from judge.games.gomoku.options import symmetric_squares
from judge.games.gomoku.requests import (
    AnswerSwap,
    ChooseFifth,
    ColoursSettled,
    LayStones,
    OfferFifths,
    PlaceStone,
    Stone,
    StonePlaced,
    Stones,
    Swap,
)
from judge.games.types import AgentFault, Decision, Event, Reply, ReplyKind, decided
from tests.games.test_gomoku import board

REQUESTS = {"place": PlaceStone, "lay": LayStones, "swap": AnswerSwap, "offer": OfferFifths, "choose": ChooseFifth}


def decision(text: str) -> Decision:
    if text == "SWAP":
        return Swap()
    squares = [(int(x), int(y)) for x, y in (word.split(",") for word in text.split())]
    return Stone(*squares[0]) if len(squares) == 1 else Stones(tuple(squares))


def story(text: str) -> tuple[Gomoku, list[Event]]:
    """The game of a story, which must go as the story says, and the events of its last answer."""
    options, *lines = filter(None, map(str.strip, text.splitlines()))
    game = board(**tomllib.loads("\n".join(options.split("; "))))
    events: list[Event] = []
    for line in lines:
        if line.startswith("? "):
            kind, seat, colour = line[2:].split()
            asked = game.pending()
            assert (REQUESTS[kind], int(seat), int(colour)) == (type(asked), asked.seat, asked.colour), line
        elif line.startswith("= "):
            assert isinstance(game.end, AgentFault)
            assert line[2:] in f"{game.end.verdict} {game.end.seat}: {game.end.reason}", game.end
        else:
            for answer in line.split("; "):
                events = list(game.apply(decided(decision(answer))))
    return game, events


SWAP2 = 'swap="swap2"; rule="standard"'
LAID = f"{SWAP2}\n7,7 8,7 9,9"
THIRD = 'swap="third"; rule="renju"'
FOUR = "opening=[[7, 7], [7, 8], [8, 8], [3, 3]]"
OFFERING = f'rule="renju"; fifths=2; {FOUR}'
DIAGONAL = "opening=[[7, 7], [8, 8], [6, 6], [9, 9]]"
"""What is mirrored about it is the same fifth."""

STORIES = {
    "case 1: the first seat lays three stones": f"{SWAP2}\n? lay 0 0\n7,7 8,7 9,9\n? swap 1 1",
    "case 2, option 1: the second seat takes black": f"{LAID}\nSWAP\n? place 0 1",
    "case 2, option 2: the second seat stays white": f"{LAID}\n8,8\n? place 0 0",
    "case 2, option 3, and case 3: the first seat chooses": f"{LAID}\n8,8 8,6\n? swap 0 1\n6,8\n? place 1 0",
    "case 3, option 1: the first seat takes black": f"{LAID}\n8,8 8,6; SWAP\n? place 1 1",
    "three stones of a policy": f"{SWAP2}; opening=[[7, 7], [8, 7], [9, 9]]\n? swap 1 1",
    "two stones where three are asked for": f"{SWAP2}\n7,7 8,7\n= illegal 0: 2 stones where 3 are asked for",
    "four stones": f"{SWAP2}\n7,7 8,7 9,9 1,1\n= illegal 0: 4 stones where 3 are asked for",
    "a stone twice": f"{SWAP2}\n7,7 7,7 9,9\n= illegal 0: 7,7 (h8) is taken by stone 1",
    "a stone off the board": f"{SWAP2}\n7,7 15,7 9,9\n= illegal 0: 15,7 (p8) is off the 15x15 board",
    "a swap before the stones": f"{SWAP2}\nSWAP\n= illegal 0: a swap where the first stones are asked for",
    "three more": f"{LAID}\n1,1 2,2 3,3\n= illegal 1: 3 stones where one or two stones, or SWAP",
    "one of two is taken": f"{LAID}\n1,1 7,7\n= illegal 1: 7,7 (h8) is taken by stone 1",
    "the one is taken": f"{LAID}\n7,7\n= illegal 1: 7,7 (h8) is taken by stone 1",
    "two more to choose": f"{LAID}\n1,1 2,2; 3,3 4,4\n= illegal 0: 2 stones where a swap or one stone",
    "a second swap": f"{LAID}\nSWAP; SWAP\n= illegal 0: a swap where one stone is asked for",
    "two after a swap": f"{LAID}\nSWAP; 3,3 4,4\n= illegal 0: 2 stones where one stone",
    "FIRSTCHANGE: the other seat takes black": """
        swap="first"
        2,3
        ? swap 1 1
        SWAP
        ? place 0 1
        SWAP
        = illegal 0: a swap where one stone is asked for
    """,
    # A stone is the answer no, and the second stone at once.
    "FIRSTCHANGE: the other seat stays white": 'swap="first"\n2,3; 4,4\n? place 0 0',
    "THIRDCHANGE: one seat plays both colours, until the other chooses": f"""
        {THIRD}
        ? place 0 0
        7,7
        ? place 0 1
        7,8
        ? place 0 0
        8,8
        ? swap 1 1
        3,3
        ? place 0 0
    """,
    "the first stone of renju is the centre": f"{THIRD}\n7,8\n= illegal 0: 7,8 (h9) is outside the middle 1x1",
    "the second is near": f"{THIRD}\n7,7; 9,7\n= illegal 0: 9,7 (j8) is outside the middle 3x3",
    "the third is not far": f"{THIRD}\n7,7; 8,7; 7,10\n= illegal 0: 7,10 (h11) is outside the middle 5x5",
    "a policy may free the stones": f'{THIRD}; geometry="free"\n0,0; 14,14; 3,3\n? swap 1 1',
    "gomoku has no such rule": 'swap="third"\n0,0; 14,14; 3,3\n? swap 1 1',
    "no two are added where there is no swap2": """
        swap="third"
        0,0; 14,14; 3,3; 5,5 6,6
        = illegal 1: 2 stones where a swap or one stone is asked for
    """,
    "FIVETWINE: white keeps one of two": f"""
        {OFFERING}
        ? offer 0 0
        9,9 10,9
        ? choose 1 0
        10,9
        ? place 1 1
    """,
    "the same offer twice": f"{OFFERING}\n9,9 9,9\n= illegal 0: 9,9 (j10) is equal to the offer 9,9 (j10)",
    "an offer equal by symmetry": f"{DIAGONAL}; fifths=2\n10,7; 7,10\n= equal to the offer 10,7 (k8) by symmetry",
    "an offer that is taken": f"{OFFERING}\n9,9 7,7\n= illegal 0: 7,7 (h8) is taken by stone 1",
    "an offer too many": f"{OFFERING}\n9,9 10,9 11,9\n= illegal 0: 3 fifth stones, where 2 are still to be offered",
    "a swap for an offer": f"{OFFERING}\nSWAP\n= illegal 0: a swap where fifth stones are asked for",
    "a swap for a choice": f"{OFFERING}\n9,9 10,9; SWAP\n= illegal 1: a swap where one of the offered fifth stones",
    "white keeps another square": f"{OFFERING}\n9,9 10,9; 0,0\n= illegal 1: 0,0 (a1) is not one of the fifth stones",
    # RIF: the seat that took black offers, the seat that laid chooses.
    "fifths come after the swap and follow the colours": f"""
        {THIRD}; fifths=2
        7,7; 7,8; 8,8; SWAP
        ? place 0 1
        3,3
        ? offer 1 0
        9,9 10,9
        ? choose 0 0
    """,
}


@pytest.mark.parametrize("name", STORIES)
def test_story(name: str) -> None:
    story(STORIES[name])


@pytest.mark.parametrize(
    ("text", "events"),
    [
        (LAID, [(7, 7, 0, 0), (8, 7, 1, 0), (9, 9, 0, 0)]),
        (f"{LAID}; SWAP", [1]),
        (f"{LAID}; 8,8", [(8, 8, 1, 1), 0]),
        # White keeps one, and no other is laid.
        (f"{OFFERING}\n9,9 10,9; 10,9", [(10, 9, 0, 0)]),
    ],
)
def test_both_seats_hear_of_stones_and_colours(text: str, events: list[int | tuple[int, int, int, int]]) -> None:
    wanted = [ColoursSettled(None, each) if isinstance(each, int) else StonePlaced(None, *each) for each in events]

    assert wanted == story(text)[1]


@pytest.mark.parametrize(
    ("answers", "black", "opening"),
    [("SWAP", 1, 3), ("8,8", 0, 4), ("8,8 8,6; 6,8", 1, 6), ("8,8 8,6; SWAP", 0, 5)],
)
def test_stones_of_a_swap_are_the_opening(answers: str, black: int, opening: int) -> None:
    game, _ = story(f"{LAID}\n{answers}")

    assert (black, opening) == (game.black, game.pending().opening)


def test_an_opening_that_leaves_nothing_to_swap_is_refused() -> None:
    """Four stones: nobody could tell whose choice it is."""
    with pytest.raises(InputError, match="4 stones, but a swap of kind swap2 begins at 0, 3, 5"):
        story(f"{SWAP2}; {FOUR}")


def test_offers_and_their_images_are_no_longer_free() -> None:
    game, events = story(f"{DIAGONAL}; fifths=3\n10,7\n? offer 0 0")
    request = game.pending()
    assert isinstance(request, OfferFifths)
    assert ([], ((10, 7),)) == (events, request.offered)
    assert {(10, 7), (7, 10), (7, 7)}.isdisjoint(request.free)
    assert 225 - 4 - 2 == len(request.free)
    game.apply(decided(decision("10,9 11,9")))
    assert isinstance(game.pending(), ChooseFifth)


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
    swap2, offering = story(SWAP2)[0], story(OFFERING)[0]

    assert {LayStones, AnswerSwap, PlaceStone} == swap2.requests
    assert {PlaceStone, OfferFifths, ChooseFifth} == offering.requests
    assert {StonePlaced, ColoursSettled} == swap2.events


def test_agent_complaint_is_quoted_in_the_reason_of_its_fault() -> None:
    game, _ = story(LAID)
    game.apply(Reply(ReplyKind.DECIDED, "7,7", Stone(7, 7), "ERROR Color is not a valid value"))

    assert isinstance(game.end, AgentFault)
    assert game.end.reason.endswith("(black); before that it sent 'ERROR Color is not a valid value'")
