"""Quantum Chess as a spectator would check it: what a piece becomes, where it may go, who won and in which words."""

import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.base.errors import InputError
from judge.games import new_game
from judge.games.quantum_chess import ContradictionError, QuantumChess
from judge.games.quantum_chess.board import BLACK, COLOURS, POOL, UNKNOWN, WHITE, Piece, PieceType
from judge.games.quantum_chess.words import (
    Destination,
    Moved,
    OnSquare,
    Selected,
    Selection,
    TurnLost,
    announcement,
)
from judge.games.types import (
    NATURE,
    AgentFault,
    Chance,
    Drawn,
    Event,
    Reply,
    ReplyKind,
    RuleResult,
    Verdict,
    decided,
)
from tests.examples import examples

NAMES = ("one", "two")


def stands(colour: str, x: int, y: int, types: str, current: str = UNKNOWN) -> dict[str, Any]:
    """A piece of a position; `types` are two words, or one that stands for both and shows."""
    first, _, second = types.partition(" ")
    return {
        "colour": colour,
        "x": x,
        "y": y,
        "types": [first, second or first],
        "current": current if second else first,
    }


KINGS = (stands("white", 3, 7, "king"), stands("black", 7, 7, "king"))


def position(*pieces: dict[str, Any], **options: Any) -> QuantumChess:
    """A game that goes on with these pieces and a king on 3,7 (white) and on 7,7 (black)."""
    return QuantumChess.from_options({"position": [*pieces, *KINGS], **options})


def classical(**options: Any) -> QuantumChess:
    return QuantumChess.from_options({"variant": "classical", **options})


def quantum(seed: int = 0, **options: Any) -> QuantumChess:
    """A game whose hidden types are drawn."""
    game = QuantumChess.from_options(options)
    generator = random.Random(seed)
    while game.undrawn is not None:
        game.apply(decided(Drawn(generator.randrange(len(game.undrawn[1])))))
    return game


def answer(game: QuantumChess, x: int, y: int, draw: int | None = None) -> str:
    """Select or move to a square; `draw` is what nature says if it is asked. What is announced, if anything is."""
    events = game.apply(decided(OnSquare(x, y)))
    if game.end is None and game.pending().seat == NATURE:
        assert not events
        assert draw is not None
        events = game.apply(decided(Drawn(draw)))
    else:
        assert draw is None
    return said_once(events)


def said_once(events: Any) -> str:
    """What both seats are told by two events, the seat that did it first."""
    if not events:
        return ""
    first, second = events
    assert isinstance(first, Selected | Moved)
    assert (first.only, second.only) == (first.seat, 1 - first.seat)
    assert announcement(first) == announcement(second)
    return announcement(first)


def turn(game: QuantumChess, x: int, y: int, x2: int, y2: int, draw: int | None = None) -> str:
    """A whole turn; what is announced of the selection."""
    selected = answer(game, x, y, draw)
    assert f"{x} {y} -> {x2} {y2}" == answer(game, x2, y2)
    return selected


def at(game: QuantumChess, x: int, y: int) -> Piece:
    piece = game.board.at(x, y)
    assert piece is not None
    return piece


def lost_by(game: QuantumChess, verdict: Verdict, seat: int) -> str:
    """The result of a game that a seat lost by its answer."""
    assert isinstance(game.end, AgentFault)
    assert (verdict, seat) == (game.end.verdict, game.end.seat)
    return game.result(NAMES)


# --- the start -------------------------------------------------------------------------------------------------------


def test_the_first_hidden_type_is_drawn_for_a_black_rook_from_five_kinds() -> None:
    game = QuantumChess.from_options({})

    assert Chance(NATURE, 5) == game.pending()
    assert game.undrawn is not None
    piece, kinds = game.undrawn
    assert (BLACK, 0, 0, PieceType.ROOK) == (piece.colour, piece.x, piece.y, piece.types[0])
    assert tuple(POOL) == kinds


def test_a_kind_that_is_used_up_is_not_drawn_again() -> None:
    """Uniform over the kinds that are left, not over the pieces: the only queen is as likely as a pawn."""
    game = QuantumChess.from_options({})
    game.apply(decided(Drawn(4)))

    assert PieceType.QUEEN is at(game, 0, 0).types[1]
    assert Chance(NATURE, 4) == game.pending()


@settings(deadline=None, max_examples=examples(50))
@given(st.integers())
def test_hidden_types_are_a_permutation_of_the_pool(seed: int) -> None:
    game = quantum(seed)
    for colour in (WHITE, BLACK):
        hidden = Counter(
            piece.types[1]
            for piece in game.board.pieces
            if piece.colour == colour and piece.current is not PieceType.KING
        )
        assert POOL == dict(hidden)


def test_white_is_asked_first_and_all_but_the_kings_are_open() -> None:
    game = quantum()

    assert Selection(WHITE) == game.pending()
    assert {(3, 0), (3, 7)} == {(p.x, p.y) for p in game.board.pieces if p.current is not None}
    assert all(not piece.shown[1] for piece in game.board.pieces if piece.current is None)
    assert (PieceType.KING, PieceType.QUEEN) == (at(game, 3, 7).current, at(game, 4, 7).types[0])


def test_all_pieces_of_a_classical_game_are_known() -> None:
    game = classical()

    assert "0 6 0 pawn" == answer(game, 0, 6)
    assert Destination(WHITE, 0, 6) == game.pending()
    assert {"variant": "classical"} == game.describe()


# --- selection -------------------------------------------------------------------------------------------------------


def test_a_selected_piece_becomes_one_of_its_types_by_lot() -> None:
    for draw, kind in ((0, "rook"), (1, "knight")):
        game = position(stands("white", 1, 4, "rook ?knight"))
        assert f"1 4 {draw} {kind}" == answer(game, 1, 4, draw)
        assert Destination(WHITE, 1, 4) == game.pending()
        assert (draw == 1) is at(game, 1, 4).shown[1]


def test_a_piece_that_is_something_already_keeps_it() -> None:
    game = position(stands("white", 1, 5, "rook knight", "knight"))

    assert "1 5 1 knight" == answer(game, 1, 5)


def test_a_piece_that_cannot_move_ends_the_turn() -> None:
    game = quantum()
    x = next(x for x in (1, 6) if at(game, x, 7).types[1] is not PieceType.KNIGHT)

    assert answer(game, 0, 7, 0).endswith("rook")
    assert Selection(BLACK) == game.pending()
    assert PieceType.ROOK is not at(game, 0, 7).current, "0,7 is dark: open again"
    assert f"{x} 0 0 knight" == answer(game, x, 0, 0)
    assert Destination(BLACK, x, 0) == game.pending()


def test_a_king_has_no_index_until_it_is_selected() -> None:
    """The lot says 0 or 1 and changes nothing; on a dark square the index is 0 from then on."""
    game = quantum()

    assert "3 7 1 king" == answer(game, 3, 7, 1)
    assert "3 0 1 king" == answer(game, 3, 0, 1)
    assert "3 7 1 king" == answer(game, 3, 7), "3,7 is light: nothing changed"
    assert "3 0 0 king" == answer(game, 3, 0), "3,0 is dark"


def test_the_king_of_a_position_has_index_0() -> None:
    assert "3 7 0 king" == answer(position(), 3, 7)


# --- the end of a turn -----------------------------------------------------------------------------------------------


def test_on_a_dark_square_a_piece_is_open_again_and_on_a_light_one_it_stays() -> None:
    game = position(stands("white", 0, 2, "rook knight", "rook"))

    turn(game, 0, 2, 0, 4)
    assert (PieceType.ROOK, 0) == (at(game, 0, 4).current, at(game, 0, 4).index)
    turn(game, 7, 7, 7, 6)
    turn(game, 0, 4, 0, 5)
    assert at(game, 0, 5).is_open
    turn(game, 7, 6, 7, 7)
    assert "0 5 1 knight" == answer(game, 0, 5, 1)


def test_two_types_known_to_be_the_same_stay_on_dark() -> None:
    game = position(stands("white", 0, 2, "rook"))
    turn(game, 0, 2, 0, 1)

    assert (PieceType.ROOK, 0) == (at(game, 0, 1).current, at(game, 0, 1).index)


def test_two_types_that_are_the_same_but_not_both_known_open_again() -> None:
    game = position(stands("white", 0, 2, "rook ?rook", "rook"))
    turn(game, 0, 2, 0, 1)

    assert at(game, 0, 1).is_open


def test_the_index_of_two_known_types_that_are_the_same_becomes_0_on_dark() -> None:
    game = position(stands("white", 0, 1, "rook ?rook"))
    turn(game, 0, 1, 0, 3, draw=1)

    assert (PieceType.ROOK, 0) == (at(game, 0, 3).current, at(game, 0, 3).index)


# --- moves -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "targets"),
    [
        ("king", "33 43 53 34 54 35 45 55"),
        ("knight", "32 52 23 63 25 65 36 56"),
        ("rook", "40 41 42 43 45 46 47 04 14 24 34 54 64 74"),
        ("bishop", "00 11 22 33 55 66 77 53 62 71 35 26 17"),
    ],
)
def test_officers_move_as_in_chess(kind: str, targets: str) -> None:
    game = QuantumChess.from_options({"variant": "classical"})
    piece = Piece(WHITE, 4, 4, [PieceType(kind)] * 2, [True, True], PieceType(kind), 0)
    board = type(game.board)([piece])

    assert {(int(s[0]), int(s[1])) for s in targets.split()} == set(board.targets(piece))


def test_a_queen_is_rook_and_bishop() -> None:
    pieces = [
        Piece(WHITE, 4, 4, [kind] * 2, [True, True], kind, 0)
        for kind in (PieceType.QUEEN, PieceType.ROOK, PieceType.BISHOP)
    ]
    board_of = type(classical().board)
    queen, rook, bishop = ({*board_of([piece]).targets(piece)} for piece in pieces)

    assert queen == rook | bishop


def test_a_slide_ends_before_an_own_piece_and_on_an_enemy() -> None:
    game = position(stands("white", 0, 4, "rook"), stands("white", 2, 4, "pawn"), stands("black", 0, 2, "pawn"))

    assert {(1, 4), (0, 3), (0, 2), (0, 5), (0, 6), (0, 7)} == set(game.board.targets(at(game, 0, 4)))


def test_a_pawn_steps_forward_and_takes_aslant() -> None:
    game = position(stands("white", 2, 4, "pawn"), stands("black", 1, 3, "rook"), stands("white", 3, 3, "rook"))

    assert {(2, 3), (1, 3)} == set(game.board.targets(at(game, 2, 4)))


def test_anything_that_is_a_pawn_on_its_second_row_may_go_two() -> None:
    game = position(stands("white", 2, 6, "rook pawn", "pawn"))
    turn(game, 2, 6, 2, 4)

    assert PieceType.PAWN is at(game, 2, 4).current


@pytest.mark.parametrize(("y", "left"), [(5, 0), (4, 1)])
def test_a_double_step_needs_both_squares(y: int, left: int) -> None:
    game = position(stands("white", 2, 6, "pawn"), stands("black", 2, y, "rook"))

    assert left == len(game.board.targets(at(game, 2, 6)))


def test_a_promotion_changes_the_type_that_shows() -> None:
    game = position(stands("white", 0, 1, "pawn knight", "pawn"))
    turn(game, 0, 1, 0, 0)

    assert [PieceType.QUEEN, PieceType.KNIGHT] == at(game, 0, 0).types
    assert PieceType.QUEEN is at(game, 0, 0).current, "0,0 is light"


def test_a_promoted_piece_on_a_dark_square_may_come_up_as_its_other_type() -> None:
    game = position(stands("white", 1, 1, "pawn knight", "pawn"))
    turn(game, 1, 1, 1, 0)
    turn(game, 7, 7, 7, 6)

    assert "1 0 1 knight" == answer(game, 1, 0, 1)


def test_a_promotion_in_a_classical_game_changes_both_types() -> None:
    game = position(stands("black", 1, 6, "pawn"), turn="black", variant="classical")
    turn(game, 1, 6, 1, 7)

    assert [PieceType.QUEEN, PieceType.QUEEN] == at(game, 1, 7).types


def test_a_piece_that_comes_up_as_a_pawn_on_the_far_row_is_stuck_and_not_promoted() -> None:
    game = position(stands("white", 1, 0, "pawn ?pawn"))

    assert "1 0 0 pawn" == answer(game, 1, 0, 0)
    assert Selection(BLACK) == game.pending()


def test_there_is_no_castling() -> None:
    game = position(stands("white", 0, 7, "rook"))
    answer(game, 3, 7)
    answer(game, 1, 7)

    assert "white ILLEGAL move 1,7" == lost_by(game, Verdict.ILLEGAL, WHITE)


# --- ends by the rules -----------------------------------------------------------------------------------------------


def test_capturing_the_king_wins() -> None:
    game = position(stands("black", 3, 0, "rook"), turn="black")
    turn(game, 3, 0, 3, 7)

    assert RuleResult(Verdict.WIN, BLACK, "the white king was taken") == game.end
    assert "black" == game.result(NAMES)


def test_a_king_may_step_into_attack() -> None:
    game = position(stands("black", 2, 0, "rook"))
    turn(game, 3, 7, 2, 7)
    turn(game, 2, 0, 2, 7)

    assert "black" == game.result(NAMES)


def test_two_lone_kings_draw_in_the_name_of_the_mover() -> None:
    game = position(stands("black", 3, 6, "pawn"))
    turn(game, 3, 7, 3, 6)

    assert RuleResult(Verdict.DRAW, None, "one piece of each colour is left") == game.end
    assert "white DRAW" == game.result(NAMES)


def test_a_position_without_a_king_is_played_as_the_manager_of_2013_did() -> None:
    """Nobody can win by the king; one piece of each colour is a draw all the same."""
    pieces = [
        stands("white", 0, 7, "rook"),
        stands("black", 0, 0, "rook"),
        stands("black", 7, 0, "knight"),
    ]
    game = QuantumChess.from_options({"position": pieces})
    turn(game, 0, 7, 0, 0)

    assert "white DRAW" == game.result(NAMES)


def test_two_kings_are_not_judged_before_a_move() -> None:
    """The manager tests the end after a completed move only."""
    assert position().end is None


@pytest.mark.parametrize(("limit", "result"), [(1, "black DRAW"), (2, "white DRAW"), (3, ""), (0, "")])
def test_move_limit_exceeds_the_longest_ordinary_game(limit: int, result: str) -> None:
    game = position(stands("white", 0, 2, "rook"), max_moves=limit)
    for move in ((0, 2, 0, 4), (7, 7, 7, 6), (0, 4, 0, 2)):
        if game.end is None:
            turn(game, *move)

    assert result == game.result(NAMES)


def test_turns_in_a_row_without_a_move_are_a_draw() -> None:
    game = quantum(max_passes=3)
    answer(game, 3, 7, 0)
    answer(game, 3, 0, 0)
    assert game.end is None
    answer(game, 3, 7)

    assert "white DRAW" == game.result(NAMES)


def test_a_move_begins_the_count_of_passes_anew() -> None:
    game = classical(max_passes=2)
    answer(game, 3, 7, 0)
    turn(game, 0, 1, 0, 2)
    answer(game, 3, 7)

    assert game.end is None


def test_two_passive_agents_continue_without_limits() -> None:
    game = classical()
    for _ in range(1000):
        answer(game, *((0, 7) if game.pending().seat == WHITE else (0, 0)))

    assert game.end is None


# --- ends by an agent ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("square", "result"),
    [
        ((8, 8), "white BOUNDS 8,8"),
        ((-1, 3), "white BOUNDS -1,3"),
        ((10**50, 0), f"white BOUNDS {10**50},0"),
        ((4, 4), "white EMPTY"),
        ((3, 0), "white COLOUR black not white"),
    ],
)
def test_invalid_selection_loses(square: tuple[int, int], result: str) -> None:
    game = classical()
    answer(game, *square)

    assert result == lost_by(game, Verdict.ILLEGAL, WHITE)


@pytest.mark.parametrize("square", [(0, 3), (1, 5), (0, 6), (3, 7), (99, 0)])
def test_invalid_move_loses(square: tuple[int, int]) -> None:
    game = classical()
    answer(game, 0, 6)
    answer(game, *square)

    assert f"white ILLEGAL move {square[0]},{square[1]}" == lost_by(game, Verdict.ILLEGAL, WHITE)


@pytest.mark.parametrize(
    ("said", "quoted"),
    [
        ("hello", "hello"),
        ("", ""),
        (" \t E5 \r", "E5"),
        ('say "it"', 'say "it"'),
        ("\x1b[2Jcaf\xe9\x85", "\\x1b[2Jcaf\\xe9\\x85"),
        ("a\rSELECTION?", "a\\x0dSELECTION?"),
        ("debug \t7,7", "debug  7,7"),
    ],
)
def test_gibberish_is_quoted_and_cannot_be_more_than_that(said: str, quoted: str) -> None:
    """Blanks around it are left out, as the manager does. A tab becomes a blank, what is not printable an escape."""
    game = classical()
    game.apply(Reply(ReplyKind.UNREADABLE, said))

    assert f'white GIBBERISH "{quoted}"' == lost_by(game, Verdict.UNREADABLE, WHITE)


@pytest.mark.parametrize(
    ("kind", "verdict", "result"),
    [
        (ReplyKind.UNASKED, Verdict.ILLEGAL, 'white ILLEGAL unasked "hello"'),
        (ReplyKind.RESIGNED, Verdict.RESIGNED, "white terminated"),
        (ReplyKind.REFUSED, Verdict.REFUSED, "white UNRESPONSIVE"),
    ],
)
def test_answers_without_a_square_lose(kind: ReplyKind, verdict: Verdict, result: str) -> None:
    for illegal in ("loses-game", "loses-turn"):
        game = classical(illegal=illegal)
        game.apply(Reply(kind, "hello"))
        assert result == lost_by(game, verdict, WHITE)


@pytest.mark.parametrize(
    ("verdict", "word"),
    [
        (Verdict.START_TIME, "TIMEOUT"),
        (Verdict.TURN_TIME, "TIMEOUT"),
        (Verdict.MATCH_TIME, "TIMEOUT"),
        (Verdict.CRASH, "UNRESPONSIVE"),
        (Verdict.MEMORY, "UNRESPONSIVE"),
        (Verdict.OUTPUT, "UNRESPONSIVE"),
        (Verdict.RESIGNED, "terminated"),
    ],
)
def test_fault_is_charged_to_the_failing_seat_even_out_of_turn(verdict: Verdict, word: str) -> None:
    """The manager named whoever was to move: white, for black's death."""
    game = classical()
    assert WHITE == game.pending().seat
    game.forfeit(AgentFault(verdict, BLACK, "as judged"))

    assert f"black {word}" == game.result(NAMES)


def test_a_game_that_is_over_stays_over() -> None:
    game = classical()
    answer(game, 8, 8)
    game.forfeit(AgentFault(Verdict.CRASH, BLACK, "too late"))

    assert "white BOUNDS 8,8" == game.result(NAMES)
    with pytest.raises(RuntimeError):
        game.apply(decided(OnSquare(0, 6)))


def test_unfinished_game_has_no_result() -> None:
    assert "" == classical().result(NAMES)


# --- an answer that loses the turn -----------------------------------------------------------------------------------


def test_a_refused_answer_may_cost_the_turn_only() -> None:
    """The offender is told, alone; the piece that it had selected stays what it became."""
    game = position(stands("white", 0, 1, "rook knight"), illegal="loses-turn")
    answer(game, 0, 1, 1)

    assert (TurnLost(WHITE, "ILLEGAL move 0,2"),) == game.apply(decided(OnSquare(0, 2)))
    assert Selection(BLACK) == game.pending()
    assert (TurnLost(BLACK, "EMPTY"),) == game.apply(decided(OnSquare(0, 2)))
    assert "0 1 1 knight" == answer(game, 0, 1), "a dark square, and no new lot"


def test_lost_turns_are_turns_without_a_move() -> None:
    game = classical(illegal="loses-turn", max_passes=2)
    game.apply(Reply(ReplyKind.UNREADABLE, "hello"))
    game.apply(Reply(ReplyKind.UNREADABLE, "hello"))

    assert "black DRAW" == game.result(NAMES)


# --- positions -------------------------------------------------------------------------------------------------------


def test_position_is_sent_without_hidden_types_in_its_own_order() -> None:
    rook = stands("white", 1, 4, "rook ?knight")
    game = position(rook, stands("black", 0, 0, "?pawn ?bishop"), played=["3 7 0 king"])
    told = game.describe()

    types = [piece["types"] for piece in told["board"]]
    assert [
        ["rook", "unknown"],
        ["unknown", "unknown"],
        ["king", "king"],
        ["king", "king"],
    ] == types
    assert ["3 7 0 king"] == told["played"]
    assert Destination(WHITE, 3, 7) == game.pending()


def test_recorded_games_follow_the_rules() -> None:
    played = ["0 6 0 pawn", "0 6 -> 0 4", "7 7 0 king", "7 7 -> 7 6", "0 4 0 pawn"]
    game = position(stands("white", 0, 6, "pawn ?rook"), played=played)

    assert Destination(WHITE, 0, 4) == game.pending()


def test_black_may_be_to_move() -> None:
    assert Selection(BLACK) == position(turn="black").pending()


@pytest.mark.parametrize(
    ("played", "complaint"),
    [
        (["hello"], "'hello' is neither a selection nor a move"),
        (["3 7 -> 3 6"], "comes where a selection is due"),
        (["3 7 0 king", "3 7 0 king"], "comes where a move of the selected piece is due"),
        (["3 7 1 king"], "where the rules give '3 7 0 king'"),
        (["7 7 0 king"], "where the rules give 'white COLOUR black not white'"),
        (["0 6 1 pawn"], "where the rules give '0 6 1 rook'"),
        (["3 7 0 king", "3 7 -> 3 5"], "where the rules give 'white ILLEGAL move 3,5'"),
        (["3 7 0 king", "3 6 -> 3 5"], "where the rules give 'white ILLEGAL move 3,5'"),
    ],
)
def test_contradictions_to_the_rules_are_refused(played: list[str], complaint: str) -> None:
    with pytest.raises(ContradictionError, match=complaint):
        position(stands("white", 0, 6, "pawn ?rook"), played=played)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"rows": 8}, "unknown key 'rows'; there are illegal, max_moves"),
        ({"max_moves": -1}, "max_moves: "),
        ({"max_moves": "10"}, "max_moves: "),
        ({"variant": "fairy"}, "variant: "),
        ({"played": ["3 7 0 king"]}, "add the position"),
        ({"turn": "black"}, "add the position"),
        ({"position": [*KINGS, KINGS[0]]}, "on one square"),
        ({"position": [*KINGS, stands("white", 8, 0, "rook")]}, "position.2.x: "),
        ({"position": [*KINGS, stands("red", 0, 0, "rook")]}, "position.2.colour: "),
        ({"position": [*KINGS, stands("white", 0, 0, "rook unknown")]}, "the types are two of"),
        ({"position": [*KINGS, stands("white", 0, 0, "rook ?pawn", "pawn")]}, "not hidden"),
        ({"position": [*KINGS, stands("white", 0, 0, "rook ?pawn", "?pawn")]}, "not hidden"),
        ({"position": [*KINGS, stands("white", 0, 0, "king ?pawn")]}, "in both types"),
    ],
)
def test_options_that_fit_no_game_are_named(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match="^quantum-chess options: .*" + complaint):
        new_game("quantum-chess", options)


def test_the_decision_of_another_game_is_the_judges_mistake() -> None:
    with pytest.raises(TypeError):
        classical().apply(decided(Drawn(0)))
    with pytest.raises(TypeError):
        QuantumChess.from_options({}).apply(decided(Drawn(5)))


# --- whole games -----------------------------------------------------------------------------------------------------


class RandomPlayer:
    """Selects any own piece and moves it anywhere; keeps what was announced."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def answer(self, game: QuantumChess) -> Reply:
        match game.pending():
            case Chance(outcomes=outcomes):
                return decided(Drawn(self._random.randrange(outcomes)))
            case Selection(seat=seat):
                own = [piece for piece in game.board.pieces if piece.colour == seat]
                piece = self._random.choice(own)
                return decided(OnSquare(piece.x, piece.y))
            case Destination(x=x, y=y):
                return decided(OnSquare(*self._random.choice(game.board.targets(at(game, x, y)))))
            case request:
                raise AssertionError(request)


def check(game: QuantumChess, events: list[Event]) -> None:
    """What holds of every position between two answers."""
    pieces = game.board.pieces
    selected = game.pending() if game.end is None else None
    for piece in pieces:
        assert game.board.at(piece.x, piece.y) is piece
        assert piece.current is None or piece.current in piece.types
        assert piece.index is None or piece.types[piece.index] is piece.current
        is_selected = isinstance(selected, Destination) and (piece.x, piece.y) == (
            selected.x,
            selected.y,
        )
        if (piece.x + piece.y) % 2 and piece.current is not None and not is_selected:
            assert [True, True] == piece.shown
            assert piece.types[0] is piece.types[1]
    winner = game.end.winner if isinstance(game.end, RuleResult) else None
    kings = sorted(piece.colour for piece in pieces if piece.current is PieceType.KING)
    assert kings == ([WHITE, BLACK] if winner is None else [winner])
    said_once(events)


@settings(deadline=None, max_examples=examples(25))
@given(st.integers(), st.sampled_from(["quantum", "classical"]))
def test_random_games_keep_the_rules_and_can_be_followed(seed: int, variant: str) -> None:
    """Every position is possible, somebody or nobody wins, and the announcements alone lead to the same end."""
    options = {"variant": variant, "max_moves": 60, "max_passes": 40}
    game, player = QuantumChess.from_options(options), RandomPlayer(seed)
    drawn: list[Reply] = []
    told: list[str] = []
    while game.end is None:
        reply = player.answer(game)
        if game.undrawn is not None:
            drawn.append(reply)
        events = list(game.apply(reply))
        if game.undrawn is None:
            check(game, events)
        told += [said_once(events)] if events else []

    again = QuantumChess.from_options(options)
    for reply in drawn:
        again.apply(reply)
    for text in told:
        again.follow(text)
    assert game.end == again.end
    assert game.result(NAMES) == again.result(NAMES)
    assert game.result(NAMES) in {*COLOURS, *(f"{colour} DRAW" for colour in COLOURS)}
    assert game.board.placed() == again.board.placed()


def test_a_hidden_type_shows_after_a_promotion_in_a_classical_game() -> None:
    game = position(stands("black", 1, 6, "pawn ?rook", "pawn"), turn="black", variant="classical")
    turn(game, 1, 6, 1, 7)

    assert [True, True] == at(game, 1, 7).shown
