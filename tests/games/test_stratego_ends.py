"""How a game of Stratego ends: by NO_MOVE, attrition, the turn limit, a fault; and who is named."""

import pytest

from judge.games.gomoku.requests import Stone
from judge.games.stratego.types import BLUE, RED
from judge.games.types import AgentFault, Reply, ReplyKind, Verdict, decided
from tests.games.stratego_positions import FULL_BLUE, FULL_RED, blue, line, new, red, say, set_up, story, texts, verdict

STORIES = {
    # tests/conformance/test_stratego.py has recordings of 2011 and 2012 with further ends.
    "NO_MOVE is no word in 2012": """
        stratego-2012
        NO_MOVE ->
        = unreadable RED; Unintelligable response
    """,
    "a side that can move must not pass": """
        stratego-seed
        NO_MOVE -> NO_MOVE ILLEGAL
        = illegal RED; red RED ILLEGAL 1 148 148
    """,
    # UCC's manual, NO_MOVE: the named side is the one on whose turn it ended; it may be the loser.
    "two passes in a row end the game by piece value, RED has more": """
        stratego-seed
        RED 1@0,0 B@1,0 B@0,1; BLUE 2@0,9 B@1,9 B@0,8
        NO_MOVE -> NO_MOVE; NO_MOVE -> NO_MOVE
        = win RED; blue BLUE DEFEAT 1 10 9
    """,
    "two passes in a row, BLUE has more": """
        stratego-seed
        RED 3@0,0 B@1,0 B@0,1; BLUE 2@0,9 B@1,9 B@0,8
        NO_MOVE -> NO_MOVE; NO_MOVE -> NO_MOVE
        = win BLUE; blue BLUE VICTORY 1 8 9
    """,
    "two passes in a row, both have as much": """
        stratego-seed
        RED 6@0,0 B@1,0 B@0,1; BLUE 6@0,9 B@1,9 B@0,8
        NO_MOVE -> NO_MOVE; NO_MOVE -> NO_MOVE
        = draw; blue BLUE DRAW 1 5 5
    """,
    # NO_MOVE is legitimate though a movable piece is left: bombs are around it.
    "a move between two passes continues the game": """
        stratego-seed
        RED 9@0,0 B@1,0 B@0,1; BLUE 9@0,6
        NO_MOVE -> NO_MOVE; 0 6 UP; NO_MOVE -> NO_MOVE; 0 5 DOWN
        = goes on
    """,
    "BLUE may be the first of the two that pass": """
        stratego-seed
        RED 7@0,3; BLUE B@0,6 1@0,9 B@1,9 B@0,8
        0 3 DOWN; NO_MOVE -> NO_MOVE; 0 4 DOWN; NO_MOVE -> NO_MOVE; 0 5 DOWN -> 0 5 DOWN DIES 7 B
        NO_MOVE -> NO_MOVE; NO_MOVE -> NO_MOVE
        = red RED DEFEAT 4 0 10
    """,
    "a tolerated illegitimate pass costs the turn and does not count": """
        stratego-seed tolerate_illegal=true
        RED 9@0,3; BLUE 1@0,9 B@1,9 B@0,8
        NO_MOVE -> NO_MOVE ILLEGAL; NO_MOVE -> NO_MOVE; NO_MOVE -> NO_MOVE ILLEGAL; NO_MOVE -> NO_MOVE
        = goes on
    """,
    "taking the last movable piece wins in 2012": """
        stratego-2012 partial_setup=true
        RED 3@0,3; BLUE 6@0,6
        0 3 DOWN; 0 6 UP; 0 4 DOWN ->
        = win RED; red RED VICTORY 2 8 0; Destroyed all mobile enemy pieces
    """,
    "two last pieces that die together are a draw on the mover's turn": """
        stratego-2012 partial_setup=true
        RED 6@0,3; BLUE 6@0,6
        0 3 DOWN; 0 6 UP; 0 4 DOWN ->
        = draw; red RED DRAW 2 0 0
    """,
    "the turn limit goes before the loss of BLUE's last piece by its own attack": """
        stratego-2012 partial_setup=true turn_limit=3
        RED 3@0,3 7@5,3; BLUE 6@0,6
        0 3 DOWN; 0 6 UP; 5 3 DOWN; 0 5 UP -> 0 5 UP DIES 6 3
        = blue BLUE DRAW_DEFAULT 3 12 0
    """,
    "BLUE loses its last piece by its own attack": """
        stratego-2012 partial_setup=true turn_limit=4
        RED 3@0,3 7@5,3; BLUE 6@0,6
        0 3 DOWN; 0 6 UP; 5 3 DOWN; 0 5 UP -> 0 5 UP DIES 6 3
        = red RED VICTORY 3 12 0
    """,
    "only the end of a turn shows in 2011 that neither side can win": """
        stratego-2011
        RED 6@0,3; BLUE B@0,6
        0 3 DOWN; NO_MOVE; 0 4 DOWN; NO_MOVE; 0 5 DOWN -> 0 5 DOWN BOTHDIE 6 B
        = goes on
        NO_MOVE
        = draw; blue BLUE DRAW 4 0 0; Game declared a draw because neither player has mobile pieces
    """,
    # Who has no piece to move says so; the flag is still to be taken.
    "the seed knows no attrition": """
        stratego-seed partial_setup=true
        RED 3@0,3; BLUE 6@0,6
        0 3 DOWN; 0 6 UP; 0 4 DOWN -> 0 4 DOWN KILLS 3 6; NO_MOVE -> NO_MOVE; 0 5 DOWN
        = goes on
    """,
    # It shows what the set-ups are worth (UCC's manual, EXIT/OUTPUT).
    "a limit of no turns plays nothing and names RED": """
        stratego-seed turn_limit=0
        = draw; red RED DRAW_DEFAULT 1 148 148; Game declared a draw after 1 turns
    """,
    "a limit of one turn does the same": """
        stratego-seed turn_limit=1
        = draw; red RED DRAW_DEFAULT 1 148 148; Game declared a draw after 1 turns
    """,
    "one turn less than the limit is played": """
        stratego-seed turn_limit=3
        0 3 DOWN; 0 6 UP; 0 4 UP; 0 5 DOWN
        = draw; blue BLUE DRAW_DEFAULT 3 148 148
    """,
    "a combat in the last half-move spoiled the limit in 2011": """
        stratego-2011 turn_limit=4
        RED B@0,3 7@5,3; BLUE 3@0,6 7@5,6
        5 3 DOWN; 0 6 UP; 5 4 UP; 0 5 UP; 5 3 DOWN; 0 4 UP -> 0 4 UP BOTHDIE 3 B
        = draw; blue BLUE INTERNAL_ERROR 4 4 4; Status returned BOTH_DIE, unsure why game halted...
    """,
    "a combat in the last half-move, DIES": """
        stratego-2011 turn_limit=4
        RED 2@0,3 7@5,3; BLUE 3@0,6 7@5,6
        5 3 DOWN; 0 6 UP; 5 4 UP; 0 5 UP; 5 3 DOWN; 0 4 UP -> 0 4 UP DIES 3 2
        = Status returned DIES, unsure why game halted...
    """,
    "a combat in the half-move before the limit": """
        stratego-2011 turn_limit=5
        RED 9@0,3 7@5,3; BLUE 3@0,6 7@5,6
        5 3 DOWN; 0 6 UP; 5 4 UP; 0 5 UP; 5 3 DOWN; 0 4 UP -> 0 4 UP KILLS 3 9
        = goes on
    """,
    "an illegal move may cost the turn only, and the board stays as it was": """
        stratego-seed tolerate_illegal=true
        0 5 DOWN -> 0 5 DOWN ILLEGAL; 0 6 UP; 1 3 DOWN 2 -> 1 3 DOWN 2 ILLEGAL; 0 5 DOWN
        = goes on
    """,
    "the seed tells nothing of an unreadable move": """
        stratego-seed tolerate_illegal=true
        0 3 SOUTH ->
        = unreadable RED
    """,
    "surrender in the seed": """
        stratego-seed
        0 3 DOWN; SURRENDER ->
        = resigned BLUE; blue BLUE SURRENDER 1 148 148; This player has surrendered!
    """,
}


@pytest.mark.parametrize("name", STORIES)
def test_story(name: str) -> None:
    story(STORIES[name])


@pytest.mark.parametrize("limit", [None, -1])
def test_there_may_be_no_limit(limit: int | None) -> None:
    game = set_up(new("stratego-2012", turn_limit=limit))
    for _ in range(6000):
        say(game, "0 3 DOWN", "0 6 UP", "0 4 UP", "0 5 DOWN")

    assert (game.end, game.turn) == (None, 12001)


def test_founding_text_confirms_the_understood_move_and_managers_the_reply() -> None:
    said = "  +0\t3 DOWN 1 KILLS 1 1"
    assert ["0 3 DOWN OK"] == say(set_up(new("stratego-seed")), said)
    assert [f"{said} OK"] == say(set_up(new("stratego-2012")), said)
    assert ["0 3 DOWN 1 OK"] == say(set_up(new("stratego-2011")), "0 3 DOWN 1\r")


@pytest.mark.parametrize("odd", ["\r\r", "\rQUIT", "\0", "\v", "\f", "\x1b", "\x7f", "\x85", "\xa0", "\xff"])
@pytest.mark.parametrize(("rules", "confirmations"), [("stratego-2011", ["0 3 DOWN 1 {}"]), ("stratego-2012", [])])
def test_a_move_with_other_characters_behind_it_is_unreadable(rules: str, confirmations: list[str], odd: str) -> None:
    game = set_up(new(rules, tolerate_illegal=True))

    shown = "?" + odd.removesuffix("\r")[1:]
    assert [line.format(shown) for line in confirmations] == say(game, f"0 3 DOWN 1 {odd}")
    assert (Verdict.UNREADABLE, RED) == verdict(game)


@pytest.mark.parametrize(
    ("said", "confirmation"),
    [
        *(("\rQUIT\r", "?QUIT"), ("QUIT", "?QUIT"), (" QUIT 1", " ?QUIT 1")),
        *(("START\0", "?START?"), ("a\tb\xe9", "a\tb?"), ("", ""), ("0 3 DOWN 1 \0", "0 3 DOWN 1 ?")),
        *(("0 3 DOWN 1 \0 OK", "?0 3 DOWN 1 ? OK"), (" 0 3 DOWN\0 KILLS 9 9", " 0 3 DOWN? KILLS 9 9")),
        *(("\t0 3 DOWN \0 KILLS 9 9", "\t?0 3 DOWN ? KILLS 9 9"), ("SURRENDER OK", "?SURRENDER OK")),
        ("0 3 DOWN" + " " * 1020 + "OK", "?0 3 DOWN" + " " * 1020 + "OK"),
    ],
)
def test_a_tolerated_reply_is_no_other_line_for_its_opponent(said: str, confirmation: str) -> None:
    game = set_up(new("stratego-2012", tolerate_illegal=True, tolerate_unreadable=True))

    assert [confirmation] == say(game, said)
    assert game.end is None


@pytest.mark.parametrize(
    ("rules", "said", "result"),
    [
        # tests/conformance/test_stratego.py has BLUE's failure in its turn in 2011 and 2012.
        ("stratego-seed", ["0 3 DOWN"], "blue BLUE ILLEGAL 1 148 148"),
        # In RED's turn: the seed names the side to move, which wins by DEFAULT.
        ("stratego-seed", [], "red RED DEFAULT 1 148 148"),
        ("stratego-2011", [], "blue BLUE ILLEGAL 1 148 148"),
        ("stratego-2012", [], "blue BLUE ILLEGAL 1 148 148"),
    ],
)
def test_seat_that_fails_loses(rules: str, said: list[str], result: str) -> None:
    game = set_up(new(rules))
    say(game, *said)
    fault = AgentFault(Verdict.TURN_TIME, BLUE, "late")

    assert texts(game.forfeit(fault)) == [""] * (rules == "stratego-2011")
    assert fault == game.end
    assert result == line(game)


def test_an_agent_of_another_protocol_may_refuse() -> None:
    game = set_up(new())
    game.apply(Reply(ReplyKind.REFUSED, "no"))

    assert (Verdict.REFUSED, RED) == verdict(game)


def test_a_game_that_is_over_stays_as_it_ended() -> None:
    game = set_up(new("stratego-2012"))
    say(game, "SURRENDER")
    before = line(game)

    assert () == game.forfeit(AgentFault(Verdict.CRASH, BLUE, "dead"))
    assert before == line(game)
    with pytest.raises(RuntimeError):
        game.apply(Reply(ReplyKind.RESIGNED))


def test_a_decision_of_another_game_is_the_judges_mistake() -> None:
    fighting = set_up(new(), red(x0y3="9"), blue(x0y6="9"))
    say(fighting, "0 3 DOWN 3")
    for game in (new(), set_up(new()), fighting):
        with pytest.raises(TypeError):
            game.apply(decided(Stone(7, 7)))


def test_longest_is_at_most_a_turn_more_than_a_game_to_its_limit() -> None:
    game = set_up(new("stratego-2012", turn_limit=3))
    answers = len(FULL_RED) + len(FULL_BLUE)
    for said in ("0 3 DOWN", "0 6 UP", "0 4 UP", "0 5 DOWN") * 2:
        if game.end is None:
            say(game, said)
            answers += 1

    assert (Verdict.DRAW, None) == verdict(game)
    assert answers <= (game.longest or 0) <= answers + 2
