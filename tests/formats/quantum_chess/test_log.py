"""Logs of Quantum Chess: what the manager of 2013 would write, what it wrote, and what cannot be."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.base.errors import InputError
from judge.formats.quantum_chess.log import QchessLog, qchess_options, read_log, replay_qchess_log, write_log
from judge.games.quantum_chess import QuantumChess
from judge.games.quantum_chess.words import OnSquare
from judge.games.types import NATURE, AgentFault, Drawn, Event, Reply, ReplyKind, Verdict, decided
from tests.conformance.qchess_driver import log_of_events, replay_with, replies_of
from tests.examples import examples
from tests.games.test_quantum_chess import RandomPlayer

START = datetime(2013, 3, 1, 20, 0, 0, 5, UTC)

POSITION = """\
# Log starts 2013-03-01 20:00:00.000005
# white : ./w --fast
# black : b
# Initial board
white unknown ['pawn', '?knight'] at 0,1
white king ['king', 'king'] at 3,7
black king ['king', 'king'] at 7,7
# Start game
2013-03-01 20:00:01.000005 : 0 1 0 pawn
2013-03-01 20:00:02.000005 : 0 1 -> 0 0
2013-03-01 20:00:03.000005 : 7 7 0 king
2013-03-01 20:00:04.000005 : 7 7 -> 7 6
2013-03-01 20:00:05 : white TIMEOUT
# EOF
"""


def text(*edits: tuple[str, str]) -> bytes:
    """The log of POSITION with changes."""
    edited = POSITION
    for old, new in edits:
        assert old in edited
        edited = edited.replace(old, new)
    return edited.encode("latin-1")


def random_log(seed: int, **options: object) -> QchessLog:
    """The log of a game between two agents that play anything."""
    game, player = QuantumChess.from_options(options), RandomPlayer(seed)
    drawn: list[Reply] = []
    timed_events: list[tuple[datetime, Sequence[Event]]] = [(START, ())]
    while game.end is None:
        reply = player.answer(game)
        if game.pending().seat == NATURE:
            drawn.append(reply)
        timed_events.append((START + timedelta(milliseconds=len(timed_events)), game.apply(reply)))
    left = iter(drawn)
    return log_of_events(game, ("one", "two words"), lambda request: next(left), timed_events)


def test_small_differences_are_forgiven() -> None:
    """CR LF, blank lines, other comments, no end, and the missing blank of BOARD."""
    data = text(("'] at", "']at"), ("# Start game\n", "# Start game\n\n# a comment\n"), ("# EOF\n", ""))
    log = read_log(data.replace(b"\n", b"\r\n"))

    plain = read_log(text())
    assert not log.is_closed
    assert (plain.board, plain.events) == (log.board, log.events)
    assert [9, 10, 11, 12] == [said.line for said in plain.events]
    assert plain.result is not None
    assert 13 == plain.result.line


def test_of_short_logs_in_a_row_the_last_counts() -> None:
    """As --log=@ writes them to a terminal."""
    first = text(("Log starts", "Short log updated"), ("# EOF\n", "")).decode().split("2013-03-01 20:00:01")[0]
    log = read_log((first + text(("Log starts", "Short log updated")).decode()).encode())

    assert log.is_short
    assert 3 == len(log.board)


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        ([(POSITION, "")], ", line 1: not a Quantum Chess log; the first line is `# Log starts` and a date"),
        ([(POSITION, "hello\n")], ", line 1: 'hello' is neither a piece nor an announcement"),
        ([("Log starts 2013-03", "Log starts 2013-13")], ", line 1: 2013-13-01 20:00:00.000005 is no"),
        ([("'?knight'", "'?queer'")], ", line 5: \"white unknown ['pawn', '?queer'] at 0,1\": the types are two of"),
        ([("at 0,1", "at 0,8")], ", line 5: "),
        ([("white unknown", "green unknown")], ", line 5: "),
        ([("0 1 -> 0 0", "0 1 -> 0 9")], ", line 10: '0 1 -> 0 9' is neither a selection, a move nor"),
        ([("# EOF", "2013-03-01 20:00:06 : 0 0 0 queen")], ", line 14: '0 0 0 queen' comes after"),
        ([("0 1 0 pawn", "0 1 1 pawn")], ", line 9: '0 1 1 pawn' where the rules give '0 1 1 knight'"),
        ([("white TIMEOUT", "white")], ", line 13: 'white': by the rules the game continues"),
        ([("white TIMEOUT", "black EMPTY")], ", line 13: 'black EMPTY': by the rules the game continues"),
        ([("white TIMEOUT", "white boredom")], ", line 13: 'white boredom': by the rules the game continues"),
        (
            [("white TIMEOUT", "white BOUNDS 3,3")],
            ", line 13: 'white BOUNDS 3,3': by the rules the result is white EMPTY",
        ),
        (
            [("white king ['king', 'king'] at 3,7\n", "")],
            ", line 10: '7 7 0 king': the game is over by the rules: white DRAW",
        ),
        ([("at 3,7", "at 7,7")], ": quantum-chess options: "),
        (
            [
                *(("at 3,7", "at 7,5"), ("white TIMEOUT", "7 5 0 king")),
                ("# EOF", "2013-03-01 20:00:06 : 7 5 -> 7 6\n2013-03-01 20:00:07 : 0 0 0 queen"),
            ],
            ", line 15: '0 0 0 queen': the game is over by the rules: white",
        ),
    ],
)
def test_log_that_cannot_be_is_refused_with_its_line(edits: Sequence[tuple[str, str]], said: str) -> None:
    with pytest.raises(InputError) as error:
        replay_qchess_log(read_log(text(*edits), "game.log"), "game.log")

    assert str(error.value).startswith(f"game.log{said}")


@settings(deadline=None)
@given(st.binary())
def test_rubbish_is_a_log_or_an_input_error(data: bytes) -> None:
    for rubbish in (data, text() + data, text(("# EOF\n", "")) + data):
        with suppress(InputError):
            read_log(rubbish)


def test_a_log_gives_the_answers_of_both_seats_and_of_nature_and_no_more() -> None:
    replayed = replay_qchess_log(read_log(text()))

    decisions = [[reply.decision for reply in replies_of(replayed, seat)] for seat in (0, 1)]
    assert [[OnSquare(0, 1), OnSquare(0, 0)], [OnSquare(7, 7), OnSquare(7, 6)]] == decisions
    assert [decided(Drawn(0))] == replies_of(replayed, NATURE)
    assert isinstance(fault := replayed.game.end, AgentFault)
    assert (Verdict.TURN_TIME, 0) == (fault.verdict, fault.seat)
    assert "white TIMEOUT" == replayed.game.result(("", ""))


@pytest.mark.parametrize(
    ("result", "answer"),
    [
        ('white GIBBERISH "E5"', Reply(ReplyKind.UNREADABLE, "E5")),
        ('white GIBBERISH ""', Reply(ReplyKind.UNREADABLE, "")),
        ('white ILLEGAL unasked "ok"', Reply(ReplyKind.UNASKED, "ok")),
        ("white terminated", Reply(ReplyKind.RESIGNED)),
        ("white BOUNDS 9,9", decided(OnSquare(9, 9), "9 9")),
        ("white EMPTY", decided(OnSquare(0, 1), "0 1")),
        ("white COLOUR black not white", decided(OnSquare(7, 6), "7 6")),
    ],
)
def test_the_answer_that_lost_is_known_by_the_result(result: str, answer: Reply) -> None:
    """Where the result does not name the square, any square of which it would be said stands for it."""
    replayed = replay_qchess_log(read_log(text(("white TIMEOUT", result))))

    assert answer == replies_of(replayed, 0)[-1]
    assert result == replayed.game.result(("", ""))


def test_log_that_breaks_off_is_an_unfinished_game() -> None:
    log = read_log(text(("2013-03-01 20:00:05 : white TIMEOUT\n# EOF\n", "")))

    assert replay_qchess_log(log).game.end is None


GAME = write_log(random_log(3, max_moves=20)).split(b"\n")


@settings(deadline=None)
@given(st.integers(36, len(GAME) - 3), st.sampled_from(GAME[4:-2]))
def test_a_log_with_a_wrong_line_is_a_game_or_an_input_error(place: int, line: bytes) -> None:
    with suppress(InputError):
        replay_qchess_log(read_log(b"\n".join([*GAME[:place], line, *GAME[place + 1 :]])))


def test_the_game_of_a_log_is_known_by_its_board() -> None:
    assert {"variant": "quantum"} == qchess_options(random_log(1, max_moves=3))
    assert {"variant": "classical"} == qchess_options(random_log(1, variant="classical", max_moves=3))
    assert {"position", "turn"} == set(qchess_options(read_log(text())))


def test_the_side_to_move_of_a_position_is_that_of_its_first_announcement() -> None:
    lines = [line for line in POSITION.splitlines() if "0 1 " not in line]

    assert "black" == qchess_options(read_log("\n".join(lines).encode()))["turn"]


@settings(deadline=None, max_examples=examples(25))
@given(st.integers(), st.sampled_from(["quantum", "classical"]))
def test_written_record_round_trips_to_the_same_end(seed: int, variant: str) -> None:
    options = {"variant": variant, "max_moves": 40, "max_passes": 30}
    log = random_log(seed, **options)
    written = write_log(log)

    assert log == read_log(written)
    assert written == write_log(read_log(written))
    assert log.result is not None
    for known in (options, {"variant": variant}):
        replayed = replay_with(log, known)
        assert log.result.text == replayed.game.result(("", ""))
