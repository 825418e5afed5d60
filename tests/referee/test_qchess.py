"""Quantum Chess under the referee: whole games between scripted agents, and who is charged when one fails."""

from collections.abc import Sequence
from typing import Any

import pytest

from judge.games.types import Verdict
from judge.records.quantum_chess.log import read_log, write_log
from judge.records.quantum_chess.replay import qchess_log, replay_qchess_log
from judge.referee.policy import load_policy
from judge.referee.spec import GameSpec, SeatSpec
from judge.referee.transcript import EntryKind
from judge.referee.verify import verify
from judge.sandbox.box import ProcessReport
from judge.testing import Act, Agent, Do, Say, ScriptedGame, World, exits
from tests.referee.games import a_file


def player(*answers: str, ms: float = 1.0, **lines: Sequence[Act]) -> Agent:
    """An agent that says `answers` one after the other when it is asked; `QUIT=[...]` overrides what it does then."""
    left = iter(answers)

    def hear(line: str) -> Sequence[Act]:
        word = line.split()[0].rstrip("?") if line else ""
        if word in lines:
            return lines[word]
        if word in ("SELECTION", "MOVE"):
            said = next(left, None)
            return [] if said is None else [Say(f"{said}\n".encode(), ms)]
        return exits(0) if word == "QUIT" else []

    return hear


def spec(policy: str = "qchess-2013:classical", *overrides: str, **options: Any) -> GameSpec:
    chosen = load_policy(policy, overrides)
    game = chosen.game.model_copy(update={"options": chosen.game.options | options})
    seat = {"digest": "0" * 64, "command": ("./a",), "runtime": "native", "protocol": "qchess"}
    return GameSpec(
        seats=(SeatSpec(name="one", **seat), SeatSpec(name="two", **seat)),  # type: ignore[arg-type]
        policy=chosen.model_copy(update={"game": game}),
        seed=7,
    )


def play(white: Agent, black: Agent, game_spec: GameSpec | None = None) -> ScriptedGame:
    """A game, refereed and refereed again from its own transcript."""
    return ScriptedGame(World(white, black), game_spec or spec())


def result(played: ScriptedGame) -> str:
    return played.referee.game.result(("one", "two"))


KNIGHT = ("1 7", "0 5", "0 5", "1 3", "1 3", "3 4", "3 4", "2 2", "2 2", "3 0")
"""A knight of white's takes the king in five moves."""
PAWN = ("0 1", "0 2", "0 2", "0 3", "0 3", "0 4", "0 4", "0 5")
"""Meanwhile a pawn of black's goes its way."""


def test_a_whole_game_is_played_to_the_king() -> None:
    """Both are told everything in the same words, the one who did it first; QUIT carries the result; both exit."""
    played = play(player(*KNIGHT), player(*PAWN))
    white, black = (body.heard for body in played.world.bodies)

    assert (Verdict.WIN, 0) == (played.verdict, played.winner)
    assert [None, None] == played.faults
    assert ["white", "SELECTION?", "1 7 0 knight", "MOVE?", "1 7 -> 0 5"] == white[:5]
    assert ["0 1 0 pawn", "0 1 -> 0 2", "SELECTION?"] == white[5:8]
    assert ["black", "1 7 0 knight", "1 7 -> 0 5", "SELECTION?", "0 1 0 pawn", "MOVE?"] == black[:6]
    assert ["2 2 -> 3 0", "QUIT white"] == white[-2:] == black[-2:]
    assert [] == played.world.killed


def test_hidden_types_follow_from_the_seed_and_are_not_revealed() -> None:
    """The same seed, the same game; both hear of a type when it shows."""
    answers = ("0 6", "0 5", "3 7")
    heard = [
        [body.heard for body in play(player(*answers), player("3 0"), spec("qchess-2013")).world.bodies]
        for _ in range(2)
    ]

    assert heard[0] == heard[1]
    assert ["white", "SELECTION?"] == heard[0][0][:2]


def test_a_key_hides_other_types_than_another_and_its_record_verifies() -> None:
    """The first piece that is chosen shows a type: over ten keys not always the same."""
    shown = []
    for number in range(10):
        game_spec = spec("qchess-2013").model_copy(update={"seed": f"{number}" * 64})
        played = play(player("0 6", "0 5", "3 7"), player("3 0"), game_spec)
        shown.append(played.world.bodies[1].heard[1])
        assert [] == verify(a_file(played, game_spec)).problems

    assert 1 < len(set(shown))


def test_every_answer_has_its_own_limit() -> None:
    """3.9 s for the selection and 3.9 s for the move are fine; the whole line counts, not its first byte."""
    drip = [Say(b"0", 2000), Say(b" 6", 1999), Say(b"\n", 2)]
    played = play(player("4 6", "4 4", ms=3900), player("0 1", "0 2", ms=3900))
    dripping = play(player(SELECTION=drip), player())

    assert ["4 6", "4 4", "0 1", "0 2"] == [ply.said for ply in played.referee.plies]
    assert "white TIMEOUT" == result(played) == result(dripping)
    assert [Verdict.TURN_TIME, None] == dripping.faults
    assert "QUIT white TIMEOUT" == dripping.world.bodies[1].heard[-1]


def test_crash_is_charged_to_the_crashed_agent() -> None:
    """Black goes after its first turn: white's turn stands, and black is charged when it is asked."""
    black = player("0 1", MOVE=[Say(b"0 2\n"), *exits(1)])
    played = play(player("4 6", "4 4", "5 7", "2 4"), black)

    assert [None, Verdict.CRASH] == played.faults
    assert "black UNRESPONSIVE" == result(played)
    assert "QUIT black UNRESPONSIVE" == played.world.bodies[0].heard[-1]


def test_an_end_of_file_is_a_death_and_not_gibberish() -> None:
    played = play(player(SELECTION=exits(0)), player())

    assert (Verdict.CRASH, 1) == (played.verdict, played.winner)
    assert "white UNRESPONSIVE" == result(played)


@pytest.mark.parametrize(
    ("said", "verdict", "words"),
    [
        ("E5", Verdict.UNREADABLE, 'white GIBBERISH "E5"'),
        ("8 8", Verdict.ILLEGAL, "white BOUNDS 8,8"),
        ("4 4", Verdict.ILLEGAL, "white EMPTY"),
        ("3 0", Verdict.ILLEGAL, "white COLOUR black not white"),
    ],
)
def test_move_refused_by_the_rules_loses(said: str, verdict: Verdict, words: str) -> None:
    played = play(player(said), player())

    assert [verdict, None] == played.faults
    assert words == result(played)
    assert f"QUIT {words}" == played.world.bodies[0].heard[-1] == played.world.bodies[1].heard[-1]


def test_lenient_two_lines_at_once_are_two_answers() -> None:
    """The second question is asked all the same; its answer took no time."""
    played = play(player("4 6\n4 4", MOVE=[]), player("0 4"))

    assert [("4 6", 1_000_000), ("4 4", 0)] == [(ply.said, ply.charged_ns) for ply in played.referee.plies[:2]]
    assert "black EMPTY" == result(played)


def test_strict_two_lines_at_once_are_illegal() -> None:
    """UCC's text API: the answer counts, the line behind it was not asked for. QUIT stands alone."""
    played = play(player("4 6\n4 4"), player(), spec("qchess-seed:classical"))

    assert [Verdict.ILLEGAL, None] == played.faults
    assert 'white ILLEGAL unasked "4 4"' == result(played)
    assert "QUIT" == played.world.bodies[0].heard[-1] == played.world.bodies[1].heard[-1]
    assert ["4 6", "4 4"] == [ply.said for ply in played.referee.plies]


def test_passive_agents_are_drawn_by_the_limit() -> None:
    """Rooks that cannot move, touched for ever: no MOVE?, and after 100 turns the game is drawn."""
    white, black = player(*["0 7"] * 60), player(*["0 0"] * 60)
    played = play(white, black)

    assert (Verdict.DRAW, None) == (played.verdict, played.winner)
    assert "black DRAW" == result(played)
    assert 100 == len(played.referee.plies)
    assert "MOVE?" not in played.world.bodies[0].heard


def test_agent_ignoring_quit_is_killed_after_two_seconds() -> None:
    played = play(player("E5", QUIT=[]), player(QUIT=exits(0, ms=1900)))

    assert [0] == played.world.killed
    quit_at = next(entry.ns for entry in played.world.entries if entry.data.startswith(b"QUIT"))
    (killed,) = [entry for entry in played.world.entries if entry.kind is EntryKind.KILLED]
    assert 2_000_000_000 == killed.ns - quit_at


def test_lost_turn_is_announced_only_to_the_offender() -> None:
    played = play(player("0 6", "1 5", "E5"), player("0 1", "0 2"), spec(illegal="loses-turn", max_passes=2))
    white, black = (body.heard for body in played.world.bodies)

    assert ["MOVE?", "ILLEGAL move 1,5", "0 1 0 pawn"] == white[3:6]
    assert "ILLEGAL move 1,5" not in black
    assert 'GIBBERISH "E5"' in white


def test_game_continues_from_a_position() -> None:
    pieces = [
        {"colour": "white", "x": 3, "y": 4, "types": ["king", "king"], "current": "king"},
        {"colour": "black", "x": 3, "y": 3, "types": ["pawn", "?rook"], "current": "unknown"},
        {"colour": "black", "x": 0, "y": 0, "types": ["king", "king"], "current": "king"},
    ]
    played = play(player("3 4", "3 3"), player(), spec("qchess-2013", position=pieces))

    assert [
        "black",
        "BOARD",
        "white king ['king', 'king']at 3,4",
        "black unknown ['pawn', 'unknown']at 3,3",
        "black king ['king', 'king']at 0,0",
        "",
        "END BOARD",
        "3 4 0 king",
        "3 4 -> 3 3",
        "QUIT white DRAW",
    ] == played.world.bodies[1].heard


# --- the log of a record ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("white", "policy"),
    [
        (player(*KNIGHT), "qchess-2013:classical"),
        (player("3 7", "E5"), "qchess-2013"),
        (player("4 6\n4 4"), "qchess-seed:classical"),
        (player("4 6", MOVE=exits(1)), "qchess-2013:classical"),
        (player("4 6", MOVE=[]), "qchess-2013:classical"),
    ],
    ids=["king", "gibberish", "unasked", "crash", "time"],
)
def test_log_of_a_record_shows_both_conversations(white: Agent, policy: str) -> None:
    """Nature's answers come from the seed again; the log stands for itself when it is replayed."""
    game_spec = spec(policy)
    played = play(white, player(*PAWN), game_spec)
    log = qchess_log(a_file(played, game_spec))

    questions = ("SELECTION?", "MOVE?", "QUIT", "black")
    told = [line for line in played.world.bodies[1].heard if line.split()[0] not in questions]
    assert told == [said.text for said in log.events]
    assert log.result is not None
    assert result(played) == log.result.text
    assert ("one", "two") == log.names
    again = read_log(write_log(log))
    assert log.result.text == replay_qchess_log(again).game.result(log.names)


def test_a_void_game_has_a_log_without_a_result() -> None:
    """An outsider ended white's container: nobody is charged."""
    removed: list[Act] = [Say(b""), Do(EntryKind.REPORT, ProcessReport("removed").encode())]
    game_spec = spec()
    played = play(player("4 6", MOVE=removed), player(), game_spec)
    log = qchess_log(a_file(played, game_spec))

    assert Verdict.VOID is played.verdict
    assert ["4 6 0 pawn"] == [said.text for said in log.events]
    assert log.result is None


@pytest.mark.parametrize("policy", ["qchess-2013", "qchess-seed"])
def test_every_word_of_a_final_result_has_its_points(policy: str) -> None:
    """The contest's script knew a plain win only; a win is a result without a word."""
    words = "WIN DRAW ILLEGAL BOUNDS EMPTY COLOUR GIBBERISH TIMEOUT UNRESPONSIVE terminated"

    assert set(words.split()) == set(load_policy(policy).points)
