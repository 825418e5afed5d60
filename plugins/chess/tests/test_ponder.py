"""Engines that ponder: the conversation line by line, and whole games of scripted engines."""

from collections.abc import Sequence
from typing import Any

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judge_chess.engine import EngineOptions
from judge_chess.rules import ChooseMove
from judge_chess.uci import Uci
from test_uci import BLITZ, spec

from judge.games.types import Verdict
from judge.protocols.time_control import TimeControl
from judge.protocols.types import Ask, Bytes, Close, Effect, Note, Open, Ponder, SeatLimits, Write
from judge.record.spec import GameSpec
from judge.record.transcript import EntryKind
from judge.testing import Act, Agent, Conversation, Say, ScriptedGame, World

LIMITS = SeatLimits(TimeControl.of_game(60_000, 60_000), 0, ponder=True)
PONDER_OPTION = "< option name Ponder type check default false\n"
TIMES = "wtime 59970 btime 59970 winc 0 binc 0"


def opened(
    announced: str = PONDER_OPTION, sent: str = "> setoption name Ponder value true\n", **options: Any
) -> Conversation:
    talk = Conversation(Uci(EngineOptions(**options)), "\n")
    talk.feed(Open(0, {"variant": "chess"}, ("one", "two"), LIMITS))
    talk.goes(f"> uci\n{announced}< uciok\n{sent}> ucinewgame\n> isready\n< readyok\n= ready")
    return talk


def pondering() -> Conversation:
    """An engine that has played e2e4 and expects e7e5."""
    talk = opened()
    talk.feed(Ask(ChooseMove(0), BLITZ))
    talk.goes(f"> position startpos\n> go {TIMES}\n< bestmove e2e4 ponder e7e5\n= e2e4")
    talk.feed(Ponder(BLITZ, BLITZ))
    talk.goes(f"> position startpos moves e2e4 e7e5\n> go ponder {TIMES}")
    return talk


def asked(*moves: str) -> Ask:
    return Ask(ChooseMove(0, moves=moves, played=len(moves)), BLITZ)


def test_expected_move_is_a_ponderhit_with_the_search_data_so_far() -> None:
    talk = pondering()
    talk.goes("< info depth 9 score cp 20 pv g1f3")
    talk.feed(asked("e2e4", "e7e5"))
    talk.goes("""
        = search depth=9, score=+0.20, pv=g1f3
        > ponderhit
        = await turn
        < info depth 12 score cp 31
        < bestmove g1f3 ponder b8c6
        = g1f3
    """)
    talk.feed(Ponder(BLITZ, BLITZ))
    talk.goes(f"> position startpos moves g1f3 b8c6\n> go ponder {TIMES}".replace("moves ", "moves e2e4 e7e5 "))


def test_other_move_stops_the_search_and_discards_its_answer() -> None:
    talk = pondering()
    talk.feed(asked("e2e4", "c7c5"))
    talk.goes(f"""
        > stop
        = await turn
        < info depth 20 score cp 500
        < bestmove g1f3 ponder b8c6
        > position startpos moves e2e4 c7c5
        > go {TIMES}
        = await turn
        < bestmove d2d4
        = d2d4
    """)
    talk.feed(Ponder(BLITZ, BLITZ))
    talk.goes("")


def test_answer_before_ponderhit_is_discarded() -> None:
    talk = pondering()
    talk.goes("< bestmove g1f3 ponder b8c6\n= note discarded: bestmove before ponderhit or stop")
    talk.feed(asked("e2e4", "e7e5"))
    talk.goes(f"> position startpos moves e2e4 e7e5\n> go {TIMES}\n< bestmove b1c3\n= b1c3")


def test_another_game_begins_after_the_search_is_stopped() -> None:
    talk = pondering()
    talk.feed(Ask(ChooseMove(0, fen=(fen := "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1"), start=fen), BLITZ))
    talk.goes(f"> stop\n< bestmove a2a3\n> ucinewgame\n> isready\n< readyok\n> position fen {fen}\n> go {TIMES}")


def test_end_of_the_game_stops_the_search() -> None:
    talk = pondering()
    talk.feed(Close("1-0"))
    talk.goes("> stop\n> quit\n< bestmove g1f3")


@pytest.mark.parametrize(
    ("announced", "sent", "options"),
    [
        ("", "", {}),
        (PONDER_OPTION, "> setoption name Ponder value false\n", {"options": {"Ponder": False}}),
        (PONDER_OPTION, "> setoption name Ponder value false\n", {"agent_options": {"ponder": False}}),
    ],
    ids=["unknown option", "policy", "agent"],
)
def test_engine_without_the_option_gets_no_ponder_commands(announced: str, sent: str, options: dict[str, Any]) -> None:
    talk = opened(announced, sent, **options)
    talk.feed(Ask(ChooseMove(0), BLITZ))
    talk.goes(f"> position startpos\n> go {TIMES}\n< bestmove e2e4 ponder e7e5\n= e2e4")
    talk.feed(Ponder(BLITZ, BLITZ))
    talk.goes("")


def test_without_permission_the_option_is_not_set() -> None:
    talk = Conversation(Uci(EngineOptions()), "\n")
    talk.feed(Open(0, {"variant": "chess"}, ("one", "two"), SeatLimits(TimeControl.of_game(60_000, 60_000), 0)))
    talk.goes(f"> uci\n{PONDER_OPTION}< uciok\n> ucinewgame\n> isready")


PIECES = st.one_of(
    st.binary(max_size=200),
    st.sampled_from([b"bestmove e2e4 ponder e7e5\n", b"bestmove (none)\n", b"info depth 3 pv e7e5\n", b"readyok\n"]),
)


@settings(deadline=None)
@given(st.lists(PIECES, max_size=6), st.booleans(), st.lists(PIECES, max_size=4))
def test_any_bytes_are_read_while_pondering(pieces: list[bytes], hits: bool, later: list[bytes]) -> None:
    """Out of its turn, the engine causes writes and notes only."""
    protocol = Uci(EngineOptions())
    protocol.feed(Open(0, {"variant": "chess"}, ("one", "two"), LIMITS))
    protocol.feed(Bytes(b"option name Ponder type check\nuciok\n", BLITZ))
    protocol.feed(Bytes(b"readyok\n", BLITZ))
    protocol.feed(Ask(ChooseMove(0), BLITZ))
    protocol.feed(Bytes(b"bestmove e2e4 ponder e7e5\n", BLITZ))
    effects: list[Effect] = [*protocol.feed(Ponder(BLITZ, BLITZ))]
    for piece in pieces:
        effects += protocol.feed(Bytes(piece, BLITZ))
    effects += protocol.feed(Ponder(BLITZ, BLITZ))
    assert all(isinstance(effect, Write | Note) for effect in effects)
    protocol.feed(asked("e2e4", "e7e5" if hits else "c7c5"))
    for piece in later:
        protocol.feed(Bytes(piece, BLITZ))


# --- whole games -----------------------------------------------------------------------------------------------------


def ponderer(*, expects: bool = True, stops: bool = True, is_early: bool = False, talks: bool = False) -> Agent:
    """An engine that plays the first legal move, and expects the first or the last one of its opponent.

    `stops`: it answers `stop`. `is_early`: it answers `go ponder` at once. `talks`: it prints lines while it ponders.
    """
    board = chess.Board()

    def first(position: chess.Board) -> str:
        return min(position.legal_moves, key=lambda each: each.uci()).uci()

    def answer() -> Act:
        move = first(board)
        after = board.copy()
        after.push_uci(move)
        replies = sorted(each.uci() for each in after.legal_moves)
        expected = f" ponder {replies[0 if expects else -1]}" if replies else ""
        return Say(f"bestmove {move}{expected}\n".encode())

    def hear(line: str) -> Sequence[Act]:
        nonlocal board
        match line.split():
            case ["uci"]:
                return [Say(b"option name Ponder type check default false\nuciok\n")]
            case ["isready"]:
                return [Say(b"readyok\n")]
            case ["position", "startpos", *moves]:
                board = chess.Board()
                for move in moves[1:]:
                    board.push_uci(move)
                return []
            case ["go", "ponder", *_]:
                lines = [Say(b"info depth 1\n" * 5, 0)] if talks else []
                return [*lines, *([answer()] if is_early else [])]
            case ["go", *_] | ["ponderhit"]:
                return [answer()]
            case ["stop"]:
                return [answer()] if stops and not is_early else []
        return []

    return hear


def pondering_spec() -> GameSpec:
    chosen = spec()
    clock = chosen.policy.clock.model_copy(update={"ponder": True})
    return chosen.model_copy(update={"policy": chosen.policy.model_copy(update={"clock": clock})})


def lines_to(world: World, seat: int) -> list[str]:
    data = b"".join(entry.data for entry in world.entries if (entry.kind, entry.seat) == (EntryKind.WROTE, seat))
    return data.decode().splitlines()


def moves_of(game: ScriptedGame) -> list[str]:
    return [ply.said for ply in game.referee.plies]


FROZEN = ScriptedGame(World(ponderer(), ponderer()), spec())
"""The same engines without pondering."""


@pytest.mark.parametrize("talks", [False, True])
@pytest.mark.parametrize(("expects", "word"), [(True, "ponderhit"), (False, "stop")], ids=["hits", "misses"])
def test_game_has_the_same_moves_with_and_without_pondering(expects: bool, word: str, talks: bool) -> None:
    """`ScriptedGame` also replays it."""
    world = World(*(ponderer(expects=expects, talks=talks) for _ in range(2)), ponders=True)
    game = ScriptedGame(world, pondering_spec())

    assert (FROZEN.verdict, moves_of(FROZEN)) == (game.verdict, moves_of(game))
    for seat in (0, 1):
        lines = lines_to(world, seat)
        assert sum(line.startswith("go ponder") for line in lines) > 2
        assert lines.count(word) > 2
        assert lines.count("ponderhit" if word == "stop" else "stop") <= 1  # before the end


def test_engine_that_answers_go_ponder_at_once_plays_on() -> None:
    game = ScriptedGame(World(ponderer(is_early=True), ponderer(), ponders=True), pondering_spec())

    assert moves_of(FROZEN) == moves_of(game)


def test_engine_that_does_not_answer_stop_loses_its_own_time() -> None:
    game = ScriptedGame(World(ponderer(expects=False, stops=False), ponderer(), ponders=True), pondering_spec())

    assert (Verdict.MATCH_TIME, 1) == (game.verdict, game.winner)
    assert game.referee.sides[1].clock.charged_ns < 10_000_000
