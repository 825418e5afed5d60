"""The UCI conversation, line by line, and whole games of scripted engines with hostile behaviour."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judge_chess.engine import EngineOptions
from judge_chess.rules import ChooseMove
from judge_chess.uci import Uci

from judge.agents.agents import Agent as StagedAgent
from judge.agents.manifest import AgentManifest
from judge.base.errors import InputError
from judge.games.types import Verdict
from judge.protocols import new_protocol
from judge.protocols.time_control import UNLIMITED_MS, TimeControl
from judge.protocols.types import Ask, Bytes, Clock, Close, Open, Search, SeatLimits
from judge.record.policy import Policy
from judge.record.spec import GameSpec
from judge.testing import Act, Agent, Conversation, Say, ScriptedGame, World, scripted_seats

BLITZ = Clock(60_000, 60_000)
MEMORY = 256 << 20


def conversation(options: dict[str, Any] | None = None, variant: str = "chess") -> Conversation:
    talk = Conversation(Uci(EngineOptions(**(options or {}))), "\n")
    talk.feed(Open(0, {"variant": variant}, ("one", "two"), SeatLimits(TimeControl.of_game(60_000, 60_000), MEMORY)))
    return talk


def opened(**options: Any) -> Conversation:
    talk = conversation(options)
    talk.goes("""
        > uci
        < uciok
        > ucinewgame
        > isready
        < readyok
        = ready
    """)
    return talk


def test_greeting_sets_the_options_that_the_engine_has() -> None:
    talk = conversation({"hash_mb": 32, "options": {"move overhead": 50, "Clear Hash": ""}})
    talk.goes("""
        > uci
        < A Chess Engine 1.0 by its author
        < id name Engine 1.0
        < id author A. Person
        < option name Hash type spin default 16 min 1 max 1024
        < option name Move Overhead type spin default 10 min 0 max 5000
        < option name Clear Hash type button
        < option name UCI_Variant type combo default chess var chess var atomic
        < uciok
        > setoption name Hash value 32
        > setoption name Move Overhead value 50
        > setoption name Clear Hash
        > ucinewgame
        > isready
        < readyok
        = ready name="Engine 1.0", author="A. Person"
    """)


def test_options_of_the_agent_replace_defaults_but_not_the_policys() -> None:
    talk = conversation(
        {"options": {"Contempt": 0}, "agent_options": {"hash": 64, "contempt": 9, "Move Overhead": 5, "UseNNUE": False}}
    )
    talk.goes("""
        > uci
        < option name Hash type spin default 16 min 1 max 1024
        < option name Threads type spin default 1 min 1 max 8
        < option name Contempt type spin default 0 min -100 max 100
        < option name Move Overhead type spin default 10 min 0 max 5000
        < option name UseNNUE type check default true
        < uciok
        > setoption name Hash value 64
        > setoption name Threads value 1
        > setoption name Contempt value 0
        > setoption name Move Overhead value 5
        > setoption name UseNNUE value false
        > ucinewgame
        > isready
    """)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"Threads": 3}, "options.Threads: 3 is above the policy's limits.threads of 2; lower it"),
        ({"Hash": 65}, "options.Hash: 65 is above the policy's memory limit of 64; lower it"),
        ({"hash": "64"}, "options.hash: '64' is no whole number; write such as hash = 1"),
        (
            {"Hash": 1, "hash": 2},
            "options.hash: the option is there twice, as names differ in case only; remove one",
        ),
    ],
)
def test_agents_options_are_bounded_by_the_policy(options: dict[str, int | str | bool], said: str) -> None:
    policy = Policy.model_validate(
        {"name": "test", "game": {"name": "chess"}, "limits": {"memory_bytes": 64 << 20, "threads": 2}}
    )

    def agent(chosen: dict[str, int | str | bool]) -> StagedAgent:
        return StagedAgent(AgentManifest(name="one", command=("x",), options=chosen), Path(), "0" * 64)

    with pytest.raises(InputError) as refused:
        agent(options).seat(policy)
    assert f"one: agent.toml: {said}" == str(refused.value)
    allowed = {"Threads": 2, "Hash": 64}
    assert {"agent_options": allowed} == agent(allowed).seat(policy).protocol_options


def test_request_has_the_whole_position_and_the_time() -> None:
    talk = opened()
    talk.feed(Ask(ChooseMove(0), BLITZ))
    talk.goes("""
        > position startpos
        > go wtime 59970 btime 59970 winc 0 binc 0
        < info depth 12 seldepth 20 score cp 31 nodes 9000 nps 90000 time 100 pv e2e4 e7e5
        = search depth=12, seldepth=20, nodes=9000, nps=90000, time=100, score=+0.31, pv=e2e4 e7e5
        < bestmove e2e4 ponder e7e5
        = search ponder=e7e5
        = e2e4
    """)
    talk.feed(Ask(ChooseMove(0, moves=("e2e4", "e7e5"), played=2), BLITZ))
    talk.goes("""
        > position startpos moves e2e4 e7e5
        > go wtime 59970 btime 59970 winc 0 binc 0
        < bestmove g1f3
        = g1f3
    """)


def test_lines_may_end_with_cr_lf_and_have_tabs() -> None:
    talk = conversation()
    talk.goes("""
        > uci
        < id name Engine\\r
        < option name Hash  type spin  default 1 min 1 max 64\\r
        <  uciok \\r
        > setoption name Hash value 16
        > ucinewgame
        > isready
        < \\r
        < readyok\\r
        = ready name="Engine"
    """)
    talk.feed(Ask(ChooseMove(0), BLITZ))
    talk.goes("> position startpos\n> go wtime 59970 btime 59970 winc 0 binc 0")
    talk.goes("< info\\tdepth 3\\tscore cp -5\\r\n= search depth=3, score=-0.05\n< bestmove e2e4\\r\n= e2e4")


def test_another_game_begins_with_ucinewgame() -> None:
    talk = opened()
    talk.feed(Ask(ChooseMove(0, moves=("e2e4", "e7e5"), played=2), BLITZ))
    talk.goes("""
        > position startpos moves e2e4 e7e5
        > go wtime 59970 btime 59970 winc 0 binc 0
        < bestmove g1f3
        = g1f3
    """)
    fen = "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1"
    talk.feed(Ask(ChooseMove(0, fen, start=fen), Clock(1000, UNLIMITED_MS)))
    talk.goes(f"""
        > ucinewgame
        > isready
        = await sync
        < readyok
        > position fen {fen}
        > go movetime 950
        < bestmove d1d8
        = d1d8
    """)


@pytest.mark.parametrize(
    ("clock", "go"),
    [
        (Clock(60_000, 500), "go wtime 470 btime 470 winc 0 binc 0"),
        (Clock(60_000, -20), "go wtime 1 btime 1 winc 0 binc 0"),
        (Clock(1000, 60_000, increment_ms=50), "go wtime 3970 btime 3970 winc 0 binc 0"),
        (Clock(0, UNLIMITED_MS), "go movetime 1"),
        (
            Clock(UNLIMITED_MS, 60_600, main_ms=60_000, increment_ms=600),
            "go wtime 59970 btime 59970 winc 600 binc 600",
        ),
        (
            Clock(UNLIMITED_MS, 62_000, main_ms=60_000, delay_ms=2000),
            "go wtime 59970 btime 59970 winc 2000 binc 2000",
        ),
        (
            Clock(UNLIMITED_MS, 9000, main_ms=9000, moves_to_go=7),
            "go wtime 8970 btime 8970 winc 0 binc 0 movestogo 7",
        ),
        (
            Clock(UNLIMITED_MS, 90_000, main_ms=0, periods_left=3, period_ms=30_000),
            "go wtime 29970 btime 29970 winc 0 binc 0 movestogo 1",
        ),
        (
            Clock(UNLIMITED_MS, 20_000, main_ms=0, moves_to_go=4, period_ms=20_000),
            "go wtime 19970 btime 19970 winc 0 binc 0 movestogo 4",
        ),
    ],
)
def test_times_that_are_sent(clock: Clock, go: str) -> None:
    talk = opened()
    talk.feed(Ask(ChooseMove(0), clock))
    talk.goes(f"> position startpos\n> {go}")


@pytest.mark.parametrize(("is_white", "times"), [(True, "wtime 970 btime 4970"), (False, "wtime 4970 btime 970")])
def test_times_are_sent_by_colour(is_white: bool, times: str) -> None:
    talk = opened()
    clock, other = Clock(UNLIMITED_MS, 1000, main_ms=1000), Clock(UNLIMITED_MS, 5000, main_ms=5000)
    talk.feed(Ask(ChooseMove(0, is_white=is_white), clock, other))
    talk.goes(f"> position startpos\n> go {times} winc 0 binc 0")


def test_score_of_a_mate_and_of_the_first_line_only() -> None:
    talk = opened()
    talk.feed(Ask(ChooseMove(0), BLITZ))
    talk.goes("""
        > position startpos
        > go wtime 59970 btime 59970 winc 0 binc 0
        < info depth 3 multipv 1 score mate -2 upperbound pv e2e4
        = search depth=3, score=-M2, pv=e2e4
        < info depth 9 multipv 2 score cp 900 pv d2d4
        < info currmove e2e4 currmovenumber 1
        < info string NNUE evaluation
        = note NNUE evaluation
        < info score cp -40
        = search score=-0.40
    """)


def test_stop_is_sent_before_the_deadline_and_at_the_end() -> None:
    talk = opened(stop_before_ms=100)
    talk.feed(Ask(ChooseMove(0), BLITZ))
    talk.goes("""
        > position startpos
        > go wtime 59970 btime 59970 winc 0 binc 0
        = await turn
        = wake 100
    """)
    talk.alarm()
    talk.goes("> stop")
    talk.feed(Close("1-0"))
    talk.goes("> stop\n> quit\n< bestmove e2e4")


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("bestmove (none)", "= (none)"),
        ("bestmove 0000", "= 0000"),
        ("bestmove E7E8Q", "= e7e8q"),
        ("bestmove e4", "= unreadable bestmove e4"),
        ("bestmove", "= unreadable bestmove"),
        ("bestmove e2e4x", "= unreadable bestmove e2e4x"),
        ("bestmove e2-e4", "= unreadable bestmove e2-e4"),
        ("bestmove NULL", "= unreadable bestmove NULL"),
        ("bestmove resign", "= unreadable bestmove resign"),
        ("bestmove e2e4 and other words", "= e2e4"),
        ("bestmove e2e4 ponder", "= e2e4"),
        ("bestmove e2e4 ponder (none)", "= e2e4"),
        ("  bestmove\\te2e4\\r", "= e2e4"),
        ("bestmove e7e8k", "= e7e8k"),
        ("BESTMOVE e2e4\\nbestmove d2d4", "= note discarded: 'BESTMOVE e2e4'\n= d2d4"),
    ],
)
def test_answers(line: str, answer: str) -> None:
    talk = opened()
    talk.feed(Ask(ChooseMove(0), BLITZ))
    talk.goes(f"> position startpos\n> go wtime 59970 btime 59970 winc 0 binc 0\n< {line}\n{answer}")


@pytest.mark.parametrize(
    ("options", "variant", "lines", "said"),
    [
        (
            {"options": {"Contempt": 5}},
            "chess",
            "< option name Hash type spin default 1 min 1 max 64",
            "the engine has no option Contempt; its options: Hash",
        ),
        ({}, "chess960", "", "the engine has no option UCI_Chess960; its options: none"),
        (
            {"hash_mb": 128},
            "chess",
            "< option name Hash type spin default 1 min 1 max 64",
            "Hash = 128 is above the engine's maximum of 64",
        ),
        (
            {"hash_mb": 512},
            "chess",
            "< option name Hash type spin default 1 min 1 max 4096",
            "Hash = 512 MiB is above the memory limit of 256 MiB",
        ),
        (
            {"agent_options": {"Hash": 0}},
            "chess",
            "< option name Hash type spin default 1 min 1 max 64",
            "Hash = 0 is below the engine's minimum of 1",
        ),
        (
            {"agent_options": {"Hash": "much"}},
            "chess",
            "< option name Hash type spin default 1 min 1 max 64",
            "Hash = much is no whole number",
        ),
        (
            {"agent_options": {"UseNNUE": 3}},
            "chess",
            "< option name UseNNUE type check default true",
            "UseNNUE = 3 is neither true nor false",
        ),
        (
            {"agent_options": {"Hsah": 32}},
            "chess",
            "< option name Hash type spin default 1 min 1 max 64",
            "the engine has no option Hsah; its options: Hash",
        ),
    ],
)
def test_engine_that_cannot_play_refuses_with_the_reason(
    options: dict[str, Any], variant: str, lines: str, said: str
) -> None:
    conversation(options, variant).goes(f"> uci\n{lines}\n< uciok\n= refused {said}")


def test_wrong_protocol_option_is_named() -> None:
    with pytest.raises(InputError) as refused:
        new_protocol("uci", {"hash": 16})
    assert str(refused.value).startswith("protocol uci: unknown key 'hash'")


@settings(deadline=None)
@given(st.lists(st.binary(max_size=300), max_size=20))
def test_any_bytes_are_read(pieces: list[bytes]) -> None:
    for asks in (False, True):
        protocol = Uci(EngineOptions())
        protocol.feed(Open(0, {}, ("one", "two"), SeatLimits(TimeControl.of_game(1, 1), 0)))
        protocol.feed(Bytes(b"uciok\nreadyok\n", BLITZ))
        if asks:
            protocol.feed(Ask(ChooseMove(0), BLITZ))
        for piece in pieces:
            protocol.feed(Bytes(piece, BLITZ))


def test_flood_of_search_data_is_one_effect_per_read() -> None:
    protocol = Uci(EngineOptions())
    protocol.feed(Open(0, {}, ("one", "two"), SeatLimits(TimeControl.of_game(1, 1), 0)))
    protocol.feed(Bytes(b"uciok\nreadyok\n", BLITZ))
    protocol.feed(Ask(ChooseMove(0), BLITZ))
    effects = protocol.feed(Bytes(b"info depth 1 score cp 5 pv e2e4\ninfo string x\n" * 1000, BLITZ))

    assert sum(isinstance(effect, Search) for effect in effects) == 1
    assert len(effects) == 101


# --- whole games -----------------------------------------------------------------------------------------------------


def engine(*, ok: bytes = b"uciok\n", answer: bytes | None = None) -> Agent:
    """An engine that plays the first legal move, or always writes `answer`."""
    board = chess.Board()

    def hear(line: str) -> Sequence[Act]:
        nonlocal board
        words = line.split()
        match words[:1]:
            case ["uci"]:
                return [Say(b"id name scripted\n" + ok)] if ok else []
            case ["isready"]:
                return [Say(b"readyok\n")]
            case ["position"]:
                first, _, moves = line.partition(" moves ")
                board = chess.Board() if words[1] == "startpos" else chess.Board(first.removeprefix("position fen "))
                for move in moves.split():
                    board.push_uci(move)
                return []
            case ["go"]:
                move = min(board.legal_moves, key=lambda each: each.uci()).uci()
                said = f"info depth 1 score cp 10\nbestmove {move}\n".encode() if answer is None else answer
                return [Say(said)]
        return []

    return hear


def spec(**changes: Any) -> GameSpec:
    policy = Policy.model_validate(
        {
            "name": "test",
            "game": {"name": "chess", "options": {"max_moves": 40}},
            "clock": {"turn_ms": 5000, "match_ms": 5000, "tolerance_ms": 0, "start_ms": 3000},
            "bytes": {"game_bytes": 960_000},
        }
    )
    return GameSpec(seats=scripted_seats("uci"), policy=policy, **changes)


def test_game_of_two_scripted_engines_is_replayed() -> None:
    game = ScriptedGame(World(engine(), engine()), spec())

    assert Verdict.DRAW is game.verdict
    assert game.end.reason == "threefold repetition"
    assert game.referee.plies[0].search == {"depth": "1", "score": "+0.10"}


def test_game_begins_from_a_position_with_black_to_move() -> None:
    fen = "3r2k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1"
    game = ScriptedGame(World(engine(), engine(answer=b"bestmove d8d1\n")), spec(opening=fen))

    assert (game.verdict, game.winner, game.end.reason) == (Verdict.WIN, 1, "checkmate")
    assert [ply.seat for ply in game.referee.plies] == [1]


@pytest.mark.parametrize(
    ("bad", "verdict", "reason"),
    [
        ({"ok": b""}, Verdict.START_TIME, "was not ready in time: 3000 ms of 3000 ms allowed, tolerance included"),
        (
            {"answer": b"info depth 1 nodes 1\n" * 4000},
            Verdict.OUTPUT,
            "printed what counts as 512384 bytes, more than the bound of a turn",
        ),
        (
            {"answer": b"info depth 1 nodes 1\n" * 10},
            Verdict.MATCH_TIME,
            "used up the time of the match: 4998 ms of 4998 ms allowed, tolerance included",
        ),
        (
            {"answer": b"bestmove (none)\n"},
            Verdict.ILLEGAL,
            "answered (none) instead of one of 20 legal moves",
        ),
        ({"answer": b"bestmove 0000\n"}, Verdict.ILLEGAL, "answered 0000 instead of one of 20 legal moves"),
        ({"answer": b"bestmove e7e8k\n"}, Verdict.ILLEGAL, f"'e7e8k' is illegal in {chess.STARTING_FEN}"),
        ({"answer": b"bestmove e2e5\n"}, Verdict.ILLEGAL, f"'e2e5' is illegal in {chess.STARTING_FEN}"),
        (
            {"answer": b"bestmove Nf3\n"},
            Verdict.UNREADABLE,
            "'bestmove Nf3' is not a move; write such as bestmove e7e8q or move e7e8q",
        ),
    ],
)
def test_hostile_engine_loses_with_the_reason(bad: dict[str, Any], verdict: Verdict, reason: str) -> None:
    game = ScriptedGame(World(engine(**bad), engine()), spec())

    assert (verdict, 1) == (game.verdict, game.winner)
    assert reason == game.end.reason
