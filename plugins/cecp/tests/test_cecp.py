"""The CECP conversation, line by line, and whole games of scripted engines with hostile behaviour."""

from collections.abc import Sequence
from typing import Any

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judge_cecp.cecp import Cecp
from judge_chess.engine import EngineOptions
from judge_chess.rules import ChooseMove, Moved

from judge.base.errors import InputError
from judge.games.types import Verdict
from judge.protocols import new_protocol
from judge.protocols.time_control import UNLIMITED_MS, TimeControl
from judge.protocols.types import Ask, Bytes, Clock, Close, Open, Search, SeatLimits, Tell, Wait
from judge.record.policy import ClockPolicy, Policy
from judge.record.spec import GameSpec
from judge.referee.clock import SeatClock
from judge.testing import Act, Agent, Conversation, Say, ScriptedGame, World, scripted_seats

BLITZ = Clock(UNLIMITED_MS, 60_600, main_ms=60_000, increment_ms=600)
FEATURES = 'ping=1 setboard=1 usermove=1 san=0 myname="Engine 1.0" done=1'
ACCEPTED = ["ping", "setboard", "usermove", "san", "myname", "done"]
MEMORY = 256 << 20
FEN = "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1"


def conversation(options: dict[str, Any] | None = None, variant: str = "chess", **limits: Any) -> Conversation:
    talk = Conversation(Cecp(EngineOptions(**(options or {}))), "\n")
    talk.feed(
        Open(0, {"variant": variant}, ("one", "two"), SeatLimits(TimeControl.of_game(60_000, 60_000), MEMORY, **limits))
    )
    return talk


def opened(features: str = FEATURES, **options: Any) -> Conversation:
    """An engine that is ready; these features include ping."""
    talk = conversation(options)
    names = [word.partition("=")[0] for word in features.replace("Engine 1.0", "").split() if "=" in word]
    accepted = "\n".join(f"> accepted {name}" for name in names)
    talk.goes(f"""
        > xboard
        > protover 2
        < feature {features}
        {accepted}
        > new
        > easy
        > post
        > force
        > ping 1
        < pong 1
        = ready name="Engine 1.0"
    """)
    return talk


def thinking(**options: Any) -> Conversation:
    talk = opened(**options)
    talk.feed(Ask(ChooseMove(0), BLITZ))
    talk.goes("> level 0 0:59 0.6\n> time 5997\n> otim 5997\n> go")
    return talk


def test_features_are_answered_and_options_set_before_the_game() -> None:
    talk = conversation({"hash_mb": 32, "threads": 2, "options": {"resign": True, "Clear Hash": "", "Contempt": 5}})
    talk.goes("""
        > xboard
        > protover 2
        < Engine 1.0 by its author
        < feature done=0
        > accepted done
        < feature memory=1 smp=1 san=1 colors=0
        > accepted memory
        > accepted smp
        > rejected san
        > accepted colors
        < feature option="Resign -check 0" option="Clear Hash -button" option="Contempt -spin 0 -10 10"
        > accepted option
        > accepted option
        > accepted option
        < feature done=1
        > accepted done
        > memory 32
        > cores 2
        > option Resign=1
        > option Clear Hash
        > option Contempt=5
        > new
        > easy
        > post
        > force
        = ready
    """)


@pytest.mark.parametrize(
    ("options", "variant", "features", "said"),
    [
        ({"options": {"Contempt": 5}}, "chess", "memory=1", "the engine has no option Contempt; its options: Hash"),
        ({"hash_mb": 512}, "chess", "memory=1", "Hash = 512 MiB is above the memory limit of 256 MiB"),
        ({"agent_options": {"Hash": 0}}, "chess", "memory=1", "Hash = 0 is below the engine's minimum of 1"),
        ({"agent_options": {"Threads": 2}}, "chess", "", "the engine has no option Threads; its options: none"),
        (
            {"options": {"Depth": 30}},
            "chess",
            'option="Depth -slider 3 1 20"',
            "Depth = 30 is above the engine's maximum of 20",
        ),
        (
            {"options": {"Resign": 2}},
            "chess",
            'option="Resign -check 0"',
            "Resign = 2 is neither true nor false",
        ),
        (
            {},
            "chess960",
            'variants="normal,atomic"',
            "the engine has no variant fischerandom; its variants: 'normal,atomic'",
        ),
        ({}, "chess960", "", "the engine has no variant fischerandom; its variants: 'normal'"),
    ],
)
def test_engine_that_cannot_play_refuses_with_the_reason(
    options: dict[str, Any], variant: str, features: str, said: str
) -> None:
    conversation(options, variant).goes(f"> xboard\n> protover 2\n< feature {features} done=1\n= refused {said}")


def test_first_request_is_go_and_the_next_ones_are_moves() -> None:
    talk = thinking()
    talk.goes("""
        < 9 +31 12 9000 e2e4 e7e5
        = search depth=9, score=+0.31, time=120, nodes=9000, pv=e2e4 e7e5
        < move e2e4
        = e2e4
        < tellics whisper e2e4
        = note 'tellics whisper e2e4'
    """)
    later = Clock(UNLIMITED_MS, 58_000, main_ms=58_000, increment_ms=600)
    talk.feed(Ask(ChooseMove(0, moves=("e2e4", "e7e5"), played=2), later, BLITZ))
    talk.goes("> time 5797\n> otim 5997\n> usermove e7e5\n= await turn\n< move Nf3\n= g1f3")
    # After MAX_SENT_MOVES the position may be later than the opponent's move.
    talk.feed(Tell(Moved(None, 1, "d7d5", "d5")))
    fen = "rnbqkbnr/ppp2ppp/8/3pp3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 0 3"
    talk.feed(Ask(ChooseMove(0, fen, played=4), later))
    talk.goes("> time 5797\n> otim 5797\n> usermove d7d5\n< move exd5\n= e4d5")


def test_opening_and_another_position_are_set_up_in_force_mode() -> None:
    talk = opened()
    talk.feed(Ask(ChooseMove(1, moves=("e2e4",), played=1, is_white=False), BLITZ))
    talk.goes("""
        > usermove e2e4
        > ping 2
        = await sync
        < pong 1
        < pong 2
        > level 0 0:59 0.6
        > time 5997
        > otim 5997
        > go
        = await turn
        < move c7c5
        = c7c5
    """)
    talk.feed(Ask(ChooseMove(0, FEN, ("d1d7", "g8f8"), start=FEN, played=2), Clock(20_000, UNLIMITED_MS)))
    talk.goes(f"""
        > new
        > easy
        > post
        > force
        > setboard {FEN}
        > usermove d1d7
        > usermove g8f8
        > ping 3
        < pong 3
        > st 19
        > time 1957
        > otim 1957
        > go
        < move Rd7-d8
        = d7d8
    """)


def test_engine_without_ping_time_and_usermove_gets_the_commands_at_once() -> None:
    talk = conversation()
    talk.goes("""
        > xboard
        > protover 2
        < feature setboard=1 time=0 done=1
        > accepted setboard
        > accepted time
        > accepted done
        > new
        > easy
        > post
        > force
        = ready
    """)
    talk.feed(Ask(ChooseMove(1, moves=("e2e4",), played=1, is_white=False), BLITZ))
    talk.goes("> e2e4\n> level 0 0:59 0.6\n> go\n= await turn\n< move e7e5\n= e7e5")


def test_engine_without_setboard_refuses_a_position_but_not_moves() -> None:
    talk = opened(FEATURES.replace("setboard=1", "setboard=0"))
    talk.feed(Ask(ChooseMove(0, FEN, start=FEN), BLITZ))
    talk.goes("= refused positions need feature setboard=1")
    talk = opened(FEATURES.replace("setboard=1", "setboard=0"))
    talk.feed(Ask(ChooseMove(0, moves=("e2e4", "e7e5"), played=2), BLITZ))
    talk.goes("> usermove e2e4\n> usermove e7e5\n> ping 2")


def test_pondering_is_switched_on_and_its_output_ignored() -> None:
    talk = conversation(ponder=True)
    talk.goes("> xboard\n> protover 2\n< feature done=1\n> accepted done\n> new\n> hard\n> post\n> force\n= ready")
    talk.goes("< 12 30 100 90000 e7e5\n= note '12 30 100 90000 e7e5'")


def test_chess960_castles_as_in_san() -> None:
    talk = conversation(variant="chess960")
    talk.goes("""
        > xboard
        > protover 2
        < feature variants="normal,fischerandom" setboard=1 done=1
        > accepted variants
        > accepted setboard
        > accepted done
        > new
        > variant fischerandom
        > easy
        > post
        > force
        = ready
    """)
    fen = "1k6/8/8/8/8/8/8/RK5R w AH - 0 1"
    request = ChooseMove(0, fen, ("b1h1", "b8b7"), start=fen, played=2, is_chess960=True)
    talk.feed(Ask(request, BLITZ))
    talk.goes(f"> setboard {fen}\n> O-O\n> b8b7\n> level 0 0:59 0.6\n> time 5997\n> otim 5997\n> go")
    talk.goes("< move Rfe1\n= f1e1")
    talk.feed(Ask(ChooseMove(1, fen, start=fen, is_chess960=True), BLITZ))
    talk.goes(f"""
        > new
        > variant fischerandom
        > easy
        > post
        > force
        > setboard {fen}
        > level 0 0:59 0.6
        > time 5997
        > otim 5997
        > go
        < move O-O-O
        = b1a1
    """)


@pytest.mark.parametrize(
    ("clock", "lines"),
    [
        (Clock(UNLIMITED_MS, 500, main_ms=500), "level 0 0:01 0|time 47|otim 47"),
        (Clock(UNLIMITED_MS, -20, main_ms=-20), "level 0 0:01 0|time 1|otim 1"),
        (Clock(UNLIMITED_MS, 2020, main_ms=2000, increment_ms=20), "level 0 0:01 0.02|time 197|otim 197"),
        (Clock(UNLIMITED_MS, 300_000, main_ms=300_030, moves_to_go=40), "level 40 5:00 0|time 30000|otim 30000"),
        (
            Clock(UNLIMITED_MS, 90_000, main_ms=0, periods_left=3, period_ms=30_030),
            "level 1 0:30 0|time 3000|otim 3000",
        ),
        (Clock(1000, UNLIMITED_MS), "level 0 0:03 0|time 389|otim 389"),
        (Clock(1000, 60_000, main_ms=60_000), "level 0 0:03 0|time 397|otim 397"),
        (Clock(10_000, UNLIMITED_MS), "st 9|time 977|otim 977"),
        (Clock(0, UNLIMITED_MS), "level 0 0:01 0|time 1|otim 1"),
    ],
)
def test_times_that_are_sent(clock: Clock, lines: str) -> None:
    talk = opened()
    talk.feed(Ask(ChooseMove(0), clock))
    talk.goes("\n".join(f"> {line}" for line in [*lines.split("|"), "go"]))


@pytest.mark.parametrize(
    ("control", "levels"),
    [
        ("600|2/300", ("level 0 10:00 0", "level 2 5:00 0", "")),
        ("1/600:300", ("level 1 10:00 0", "level 0 5:00 0")),
        ("1/600:2/300", ("level 1 10:00 0", "level 2 5:00 0")),
        ("1/600:1/300:20", ("level 1 10:00 0", "", "level 0 0:20 0")),
        ("1/600", ("level 1 10:00 0", "", "")),
    ],
)
def test_level_is_sent_again_when_a_period_of_other_moves_begins(control: str, levels: Sequence[str]) -> None:
    """An engine repeats the level itself. Each answer uses all of the main time."""
    talk, clock = opened(overhead_ms=0), SeatClock(ClockPolicy(control=control))
    moves = ("e2e4", "e7e5", "g1f3", "a7a6", "b1c3")
    for at, level in enumerate(levels):
        shown = clock.shown()
        talk.feed(Ask(ChooseMove(0, moves=moves[: 2 * at], played=2 * at), shown))
        sent = f"usermove {moves[2 * at - 1]}" if at else "go"
        left = (shown.main_ms or shown.period_ms) // 10
        lines = [level, f"time {left}", f"otim {left}", sent]
        talk.goes("\n".join(f"> {line}" for line in lines if line) + f"\n< move {moves[2 * at]}\n= {moves[2 * at]}")
        clock.charge(Wait.TURN, (shown.main_ms or 0) * 1_000_000)
        clock.answered()


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("move e2e4", "= e2e4"),
        ("  move   E2E4 \\r", "= e2e4"),
        ("move e2-e4", "= e2e4"),
        ("move e4", "= e2e4"),
        ("move Nf3", "= g1f3"),
        ("move e7e8Q", "= e7e8q"),
        ("move Nf6", "= Nf6"),
        ("move 0000", "= 0000"),
        ("move @@@@", "= 0000"),
        ("move", "= unreadable move"),
        ("move xyz", "= unreadable move xyz"),
        ("move e2e4 extra", "= unreadable move e2e4 extra"),
        ("resign", "= resigned resign"),
        ("0-1 {White resigns}", "= resigned 0-1 {White resigns}"),
        ("1-0 {White mates}", "= unreadable 1-0 {White mates}"),
        ("1/2-1/2 {Draw by repetition}", "= 1/2-1/2 {Draw by repetition}"),
        ("Illegal move: e7e5", "= refused Illegal move: e7e5"),
        ("Illegal move (no piece): e7e5", "= refused Illegal move (no piece): e7e5"),
        ("tellusererror Illegal position", "= refused tellusererror Illegal position"),
        ("offer draw\\nmove e2e4", "= note 'offer draw'\n= e2e4"),
        ("Error (unknown command): post\\nmove e2e4", "= e2e4"),
        ("# debug\\n\\nmove e2e4", "= note '# debug'\n= e2e4"),
        ("usermove e2e4\\nmoved\\nmove e2e4", "= e2e4"),
    ],
)
def test_answers(line: str, answer: str) -> None:
    thinking().goes(f"< {line}\n{answer}")


def test_illegal_move_of_the_opening_is_a_refusal() -> None:
    talk = opened()
    talk.feed(Ask(ChooseMove(0, moves=("e2e4", "e7e5"), played=2), BLITZ))
    talk.goes("> usermove e2e4\n> usermove e7e5\n> ping 2\n< Illegal move: e7e5\n= refused Illegal move: e7e5")


def test_resignation_in_the_opponents_turn_answers_the_next_request() -> None:
    talk = thinking()
    talk.goes("< move e2e4\n= e2e4\n< resign")
    talk.feed(Ask(ChooseMove(0, moves=("e2e4", "e7e5"), played=2), BLITZ))
    talk.goes("= resigned resign")


def test_resignation_does_not_count_in_another_position() -> None:
    talk = thinking()
    talk.goes("< move e2e4\n= e2e4\n< resign")
    talk.feed(Ask(ChooseMove(0, FEN, start=FEN), BLITZ))
    talk.goes(f"> new\n> easy\n> post\n> force\n> setboard {FEN}\n> ping 2")


@pytest.mark.parametrize(
    ("line", "figures"),
    [
        ("1 +528 0 2 Ra1", "depth=1, score=+5.28, time=0, nodes=2, pv=Ra1"),
        (" 3  -29999     0      192  Rd1-d8 ", "depth=3, score=-299.99, time=0, nodes=192, pv=Rd1-d8"),
        ("12+ 100003 150 99999\\t20 1000 0\\tQh5 Kf8", "depth=12, score=+M3, time=1500, nodes=99999, pv=Qh5 Kf8"),
        ("9& -100002 1 1 1. h4 \\xff", "depth=9, score=-M2, time=10, nodes=1, pv=1. h4"),
    ],
)
def test_thinking_output_is_search_data(line: str, figures: str) -> None:
    thinking().goes(f"< {line}\n= search {figures}")


def test_engine_moves_now_before_the_deadline_and_leaves_at_the_end() -> None:
    talk = thinking(stop_before_ms=100)
    talk.alarm()
    talk.goes("> ?\n= await turn")
    talk.feed(Close("1-0"))
    talk.goes("> result 1-0 {}\n> quit\n< move e2e4")


def test_wrong_protocol_option_is_named() -> None:
    with pytest.raises(InputError) as refused:
        new_protocol("cecp", {"hash": 16})
    assert str(refused.value).startswith("protocol cecp: unknown key 'hash'")


PIECES = st.one_of(
    st.binary(max_size=300),
    st.sampled_from([b"feature done=1\n", b"move e2e4\n", b"pong 1\n", b"1 2 3 4 e4\n", b'feature option="a -spin"\n']),
)


@settings(deadline=None)
@given(st.lists(PIECES, max_size=20), st.integers(0, 2))
def test_any_bytes_are_read(pieces: list[bytes], stage: int) -> None:
    protocol = Cecp(EngineOptions())
    protocol.feed(Open(0, {}, ("one", "two"), SeatLimits(TimeControl.of_game(1, 1), 0)))
    if stage:
        protocol.feed(Bytes(b"feature ping=1 done=1\npong 1\n", BLITZ))
        protocol.feed(Ask(ChooseMove(0, moves=("e2e4",) * (stage - 1)), BLITZ))
    for piece in pieces:
        protocol.feed(Bytes(piece, BLITZ))


def test_flood_of_search_data_is_one_effect_per_read() -> None:
    protocol = Cecp(EngineOptions())
    protocol.feed(Open(0, {}, ("one", "two"), SeatLimits(TimeControl.of_game(1, 1), 0)))
    protocol.feed(Bytes(b"feature done=1\n", BLITZ))
    protocol.feed(Ask(ChooseMove(0), BLITZ))
    effects = protocol.feed(Bytes(b"1 5 0 1 e2e4\ntelluser x\n" * 1000, BLITZ))

    assert sum(isinstance(effect, Search) for effect in effects) == 1
    assert len(effects) == 101


# --- whole games -----------------------------------------------------------------------------------------------------


def engine(features: str = "ping=1 setboard=1 usermove=1 done=1", answers: Sequence[str] = ()) -> Agent:
    """An engine that plays `answers`, then the first legal move."""
    board = chess.Board()
    left = list(answers)
    is_playing = False

    def move() -> Sequence[Act]:
        if left:
            return [Say(f"{left.pop(0)}\n".encode())]
        chosen = min(board.legal_moves, key=lambda each: each.uci())
        board.push(chosen)
        return [Say(f"1 10 0 1 {chosen.uci()}\nmove {chosen.uci()}\n".encode())]

    def hear(line: str) -> Sequence[Act]:
        nonlocal board, is_playing
        match line.split(None, 1):
            case ["protover", _]:
                return [Say(f"feature {features}\n".encode())] if features else []
            case ["ping", number]:
                return [Say(f"pong {number}\n".encode())]
            case ["new" | "force"]:
                is_playing = False
                board = chess.Board() if line == "new" else board
            case ["setboard", fen]:
                board = chess.Board(fen)
            case ["usermove", uci]:
                board.push_uci(uci)
                return move() if is_playing else []
            case ["go"]:
                is_playing = True
                return move()
        return []

    return hear


def spec(protocol: str = "cecp", control: str = "5", **changes: Any) -> GameSpec:
    policy = Policy.model_validate(
        {
            "name": "test",
            "game": {"name": "chess", "options": {"max_moves": 40, **changes.pop("options", {})}},
            "clock": {"control": control, "tolerance_ms": 0, "start_ms": 3000},
            "bytes": {"game_bytes": 1 << 20},
        }
    )
    return GameSpec(seats=scripted_seats(protocol), policy=policy, **changes)


@pytest.mark.parametrize("control", ["5", "5+0.1", "40/5", "5|3x1", "5|10/5", "@1"])
def test_game_of_two_scripted_engines_is_replayed(control: str) -> None:
    game = ScriptedGame(World(engine(), engine()), spec(control=control))

    assert Verdict.DRAW is game.verdict
    assert game.end.reason == "threefold repetition"
    assert game.referee.plies[0].search == {"depth": "1", "score": "+0.10", "time": "0", "nodes": "1", "pv": "a2a3"}


def test_game_begins_from_a_position_with_black_to_move() -> None:
    fen = "3r2k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1"
    game = ScriptedGame(World(engine(), engine(answers=["move d8d1"])), spec(opening=fen))

    assert (game.verdict, game.winner, game.end.reason) == (Verdict.WIN, 1, "checkmate")


FOUR = "startpos moves g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8"
CLAIM = "1/2-1/2 {Draw by repetition}"


def test_claimed_draw_ends_the_game_where_the_rules_give_it() -> None:
    fide = {"threefold": False, "fifty_moves": False}
    game = ScriptedGame(World(engine(answers=[CLAIM]), engine()), spec(opening=FOUR, options=fide))
    assert (game.verdict, game.end.reason) == (Verdict.DRAW, "claimed: threefold repetition")

    late = "4k3/8/8/8/8/8/8/R3K3 w - - 100 90"
    game = ScriptedGame(World(engine(answers=[CLAIM]), engine()), spec(opening=late, options=fide))
    assert (game.verdict, game.end.reason) == (Verdict.DRAW, "claimed: 50 moves without capture or pawn move")


@pytest.mark.parametrize(
    ("bad", "verdict", "reason"),
    [
        (
            {"features": ""},
            Verdict.START_TIME,
            "was not ready in time: 3000 ms of 3000 ms allowed, tolerance included",
        ),
        (
            {"features": "done=0"},
            Verdict.START_TIME,
            "was not ready in time: 3000 ms of 3000 ms allowed, tolerance included",
        ),
        ({"answers": ["move e2e5"]}, Verdict.ILLEGAL, f"'e2e5' is illegal in {chess.STARTING_FEN}"),
        ({"answers": ["move Nf6"]}, Verdict.ILLEGAL, f"'Nf6' is illegal in {chess.STARTING_FEN}"),
        ({"answers": ["move 0000"]}, Verdict.ILLEGAL, "answered 0000 instead of one of 20 legal moves"),
        (
            {"answers": ["move castles"]},
            Verdict.UNREADABLE,
            "'move castles' is not a move; write such as bestmove e7e8q or move e7e8q",
        ),
        (
            {"answers": ["1-0 {I win}"]},
            Verdict.UNREADABLE,
            "'1-0 {I win}' is not a move; write such as bestmove e7e8q or move e7e8q",
        ),
        (
            {"answers": [CLAIM]},
            Verdict.ILLEGAL,
            f"'{CLAIM}': no draw: neither a third repetition nor 50 moves without capture or pawn move",
        ),
        ({"answers": ["resign"]}, Verdict.RESIGNED, "resigned"),
        (
            {"answers": ["Illegal move: a2a3"]},
            Verdict.REFUSED,
            "refused to play: 'Illegal move: a2a3'",
        ),
        (
            {"answers": ["1 5 0 1 e2e4\n" * 6000]},
            Verdict.OUTPUT,
            "printed what counts as 768384 bytes, more than the bound of a turn",
        ),
        ({"answers": ["Hint: e2e4"]}, Verdict.MATCH_TIME, "used up the time of the match"),
    ],
)
def test_hostile_engine_loses_with_the_reason(bad: dict[str, Any], verdict: Verdict, reason: str) -> None:
    game = ScriptedGame(World(engine(**bad), engine()), spec())

    assert (verdict, 1) == (game.verdict, game.winner)
    assert game.end.reason.startswith(reason)
