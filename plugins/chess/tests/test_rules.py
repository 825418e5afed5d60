"""The rules: ends, draws, options and hostile answers. Sources: FIDE Laws of Chess, 5 and 9."""

import random
from typing import Any

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judge_chess.rules import MAX_SENT_MOVES, Chess, ChooseMove, ClaimDraw, Move

from judge.base.errors import InputError
from judge.games.types import AgentFault, Chance, Drawn, Reply, ReplyKind, RuleResult, Verdict, decided


def game_of(position: str = "", **options: Any) -> Chess:
    return Chess.from_options({"position": position, **options})


def play(game: Chess, moves: str, scores: list[int] | None = None) -> Chess:
    for number, move in enumerate(moves.split()):
        game.apply(decided(Move(move, scores[number] if scores else None), move))
    return game


def asked(game: Chess) -> ChooseMove:
    request = game.pending()
    assert isinstance(request, ChooseMove)
    return request


@pytest.mark.parametrize(
    ("position", "moves", "verdict", "winner", "reason"),
    [
        ("", "f2f3 e7e5 g2g4 d8h4", Verdict.WIN, 1, "checkmate"),
        ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", "d1d8", Verdict.WIN, 0, "checkmate"),
        ("k7/8/1K6/8/8/8/8/2Q5 w - - 0 1", "c1c7", Verdict.DRAW, None, "stalemate"),
        ("4k3/8/8/8/8/8/4q3/4K3 w - - 0 1", "e1e2", Verdict.DRAW, None, "insufficient material"),
        ("4k3/8/8/8/8/8/8/R3K3 w - - 99 80", "a1a2", Verdict.DRAW, None, "50 moves without capture or pawn move"),
        ("", "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8", Verdict.DRAW, None, "threefold repetition"),
    ],
)
def test_ends_of_games(position: str, moves: str, verdict: Verdict, winner: int | None, reason: str) -> None:
    assert RuleResult(verdict, winner, reason) == play(game_of(position), moves).end


def test_seventy_five_moves_and_five_repetitions_end_the_game_without_options() -> None:
    off = {"threefold": False, "fifty_moves": False}
    there_and_back = "g1f3 g8f6 f3g1 f6g8 "
    fivefold = play(game_of(**off), there_and_back * 4)
    late = play(game_of("4k3/8/8/8/8/8/8/R3K3 w - - 149 80", **off), "a1a2")

    assert play(game_of(**off), there_and_back * 3).end is None
    assert RuleResult(Verdict.DRAW, None, "fivefold repetition") == fivefold.end
    assert RuleResult(Verdict.DRAW, None, "75 moves without capture or pawn move") == late.end
    assert play(game_of("4k3/8/8/8/8/8/8/R3K3 w - - 99 80", **off), "a1a2").end is None


def test_claimed_draws_are_given_where_they_are_not_automatic() -> None:
    off = {"threefold": False, "fifty_moves": False}
    threefold = play(game_of(**off), "g1f3 g8f6 f3g1 f6g8 " * 2)
    fifty = game_of("4k3/8/8/8/8/8/8/R3K3 w - - 100 80", **off)

    for game, reason in ((threefold, "threefold repetition"), (fifty, "50 moves without capture or pawn move")):
        assert game.end is None
        game.apply(decided(ClaimDraw()))
        assert RuleResult(Verdict.DRAW, None, f"claimed: {reason}") == game.end
        assert game.result(("", "")) == "1/2-1/2"


def test_repetition_counts_the_moves_of_the_opening() -> None:
    game = game_of("startpos moves g1f3 g8f6 f3g1 f6g8 g1f3 g8f6")

    assert play(game, "f3g1 f6g8").end.reason == "threefold repetition"  # type: ignore[union-attr]


def test_game_is_drawn_at_its_maximum_length() -> None:
    game = play(game_of("startpos moves e2e4", max_moves=1), "e7e5 d2d4")

    assert game.longest == 3
    assert RuleResult(Verdict.DRAW, None, "1 moves of each side") == game.end


@pytest.mark.parametrize(
    ("reply", "verdict", "reason"),
    [
        (decided(Move("e2e5")), Verdict.ILLEGAL, f"'e2e5' is illegal in {chess.STARTING_FEN}"),
        (decided(Move("(none)")), Verdict.ILLEGAL, "answered (none) instead of one of 20 legal moves"),
        (decided(Move("0000")), Verdict.ILLEGAL, "answered 0000 instead of one of 20 legal moves"),
        (
            Reply(ReplyKind.UNREADABLE, "bestmove e4"),
            Verdict.UNREADABLE,
            "'bestmove e4' is not a move; write such as bestmove e7e8q or move e7e8q",
        ),
        (
            decided(ClaimDraw(), "1/2-1/2"),
            Verdict.ILLEGAL,
            "'1/2-1/2': no draw: neither a third repetition nor 50 moves without capture or pawn move",
        ),
        (Reply(ReplyKind.RESIGNED), Verdict.RESIGNED, "resigned"),
        (Reply(ReplyKind.REFUSED, "no"), Verdict.REFUSED, "refused to play: 'no'"),
    ],
)
def test_bad_answers_lose(reply: Reply, verdict: Verdict, reason: str) -> None:
    game = game_of()
    game.apply(reply)

    assert AgentFault(verdict, 0, reason) == game.end
    assert game.result(("a", "b")) == "0-1"


@settings(deadline=None)
@given(st.text(max_size=12))
def test_any_text_is_a_move_or_a_fault(text: str) -> None:
    game = game_of()
    game.apply(decided(Move(text)))

    assert (game.end is None) == (text in {move.uci() for move in chess.Board().legal_moves})


def test_chess960_draws_its_start_and_castles_as_king_takes_rook() -> None:
    game = game_of(variant="chess960")
    assert Chance(-1, 960) == game.pending()
    game.apply(decided(Drawn(518)))

    assert asked(game).fen == chess.STARTING_FEN
    play(game, "g1f3 g8f6 g2g3 g7g6 f1g2 f8g7 e1g1")
    assert asked(game).moves[-1] == "e1h1"


@pytest.mark.parametrize("said", ["e1g1", "e1h1"])
@pytest.mark.parametrize("variant", ["chess", "chess960"])
def test_castling_may_have_either_notation(variant: str, said: str) -> None:
    game = play(game_of("4k3/8/8/8/8/8/8/4K2R w K - 0 1", variant=variant), f"{said} e8e7")

    assert game.board.piece_at(chess.F1) == chess.Piece.from_symbol("R")
    assert asked(game).moves[0] == ("e1g1" if variant == "chess" else "e1h1")


def test_king_next_to_its_castling_square_moves_or_castles() -> None:
    fen = "4k3/8/8/8/8/8/8/5K1R w H - 0 1"

    moved = play(game_of(fen, variant="chess960"), "f1g1").board
    assert moved.piece_at(chess.H1) == chess.Piece.from_symbol("R")
    castled = play(game_of(fen, variant="chess960"), "f1h1").board
    assert castled.piece_at(chess.F1) == chess.Piece.from_symbol("R")


def test_rook_move_over_the_kings_later_squares_is_not_sent_as_castling() -> None:
    moves = "e1h1 d8c8 g2f1 c8d8 f1e1"
    game = play(game_of("3k4/8/8/8/8/8/6K1/4R3 w - - 0 1"), moves)

    assert tuple(moves.split()) == asked(game).moves


@pytest.mark.parametrize("variant", ["chess", "chess960"])
def test_requests_of_random_games_lead_to_the_same_position(variant: str) -> None:
    chance = random.Random(7)
    for _ in range(15):
        game = game_of(variant=variant, threefold=False, fifty_moves=False)
        if variant == "chess960":
            game.apply(decided(Drawn(chance.randrange(960))))
        while game.end is None and len(game.board.move_stack) < 2 * MAX_SENT_MOVES:
            request = asked(game)
            assert game.board.fen() == request.board().fen()
            game.apply(decided(Move(game.board.uci(chance.choice(list(game.board.legal_moves))))))


@settings(deadline=None, max_examples=50)
@given(st.randoms(use_true_random=False), st.booleans(), st.booleans(), st.sampled_from([0, 80, 99]))
def test_random_games_end_as_in_python_chess(chance: random.Random, threefold: bool, fifty: bool, clock: int) -> None:
    fen = f"4k3/8/8/8/8/8/8/RR2K3 w - - {clock} 60"
    game = Chess.from_options({"position": fen, "threefold": threefold, "fifty_moves": fifty})
    board = chess.Board(fen)
    while game.end is None:
        before = [move.from_square for move in board.move_stack[-2:-1]]
        back = [move for move in board.legal_moves if move.to_square in before]
        move = chance.choice(back if back and chance.random() < 0.5 else list(board.legal_moves))
        game.apply(decided(Move(move.uci()), move.uci()))
        board.push(move)
        outcome = board.outcome()
        is_claimed = (fifty and board.halfmove_clock >= 100) or (threefold and board.is_repetition(3))
        assert (game.end is not None) == (outcome is not None or is_claimed)
    assert game.result(("", "")) == ("1/2-1/2" if outcome is None else outcome.result())


def test_long_games_are_sent_from_a_later_position() -> None:
    game = game_of(threefold=False, fifty_moves=False)
    for _ in range(3):
        play(game, "g1f3 g8f6 f3g1 f6g8")
    play(game, "e2e4 e7e5")
    while game.end is None and len(game.board.move_stack) < 2 * MAX_SENT_MOVES:
        moves = sorted(move.uci() for move in game.board.legal_moves)
        play(game, moves[len(game.board.move_stack) * 7 % len(moves)])
    request = asked(game)

    assert request.played == 2 * MAX_SENT_MOVES
    assert len(request.moves) <= MAX_SENT_MOVES
    assert game.board.fen() == request.board().fen()


def test_both_engines_scores_end_a_won_and_a_drawn_game() -> None:
    win = {"win_by_score": {"moves": 2, "score_cp": 900}}
    draw = {"draw_by_score": {"after": 1, "moves": 2, "score_cp": 10}}
    moves = "e2e4 e7e5 d2d4 d7d5"

    assert play(game_of(**win), moves, [950, -950, 950, -850]).end is None
    won = play(game_of(**win), moves, [950, -950, 950, -950]).end
    assert RuleResult(Verdict.WIN, 0, "adjudicated: 2 moves with scores of at least 9.00") == won
    lost = play(game_of(**win), moves, [-950, 950, -950, 950]).end
    assert lost.winner == 1  # type: ignore[union-attr]
    drawn = play(game_of(**draw), moves, [5, -5, 0, 10]).end
    assert RuleResult(Verdict.DRAW, None, "adjudicated: 2 moves with scores of at most 0.10") == drawn


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"variant": "chess961"}, "chess options: variant: "),
        ({"hash": 1}, "chess options: unknown key 'hash'"),
        ({"position": "8/8/8/8/8/8/8/8 w - - 0 1"}, "position: 8/8/8/8/8/8/8/8 w - - 0 1 is illegal: no white king"),
        (
            {"position": "R3k3/R7/8/8/8/8/8/4K3 b - - 0 1"},
            "position: the game is over: checkmate; choose an earlier position",
        ),
        (
            {"position": "4k3/8/8/8/8/8/8/4K2R w - - 99999999999999999999 1"},
            "position: the game is over: 75 moves without capture or pawn move; choose an earlier position",
        ),
        (
            {"position": "4k3/8/8/8/8/8/8/4K3 w - - 0 1"},
            "position: the game is over: insufficient material; choose an earlier position",
        ),
    ],
)
def test_wrong_options_are_named(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        Chess.from_options(options)
    assert str(refused.value).startswith(said)
