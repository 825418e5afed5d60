"""Quantum Chess as a spectator would check it: what a piece becomes, where it may go, who won and in which words.

Stories are text:

white rook,?knight@1,4; max_moves=3     pieces of a position with a king on 3,7 (white) and on 7,7 (black), and options
1,4/0 -> 1 4 0 rook                     an answer, what nature says if it is asked, and what is announced
0,2 0,4; 7,7 7,6                        whole turns: selections and moves
= white DRAW; illegal white             the result; verdict and whose
= 0,4 rook 0; 0,5 open                  what a piece shows, and the index of that
= select black; move 3,7                what is asked; or `goes on`
"""

import random
import tomllib
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
    read_position,
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
    shown = current if second else first
    return {"colour": colour, "x": x, "y": y, "types": [first, second or first], "current": shown}


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


def at(game: QuantumChess, x: int, y: int) -> Piece:
    piece = game.board.at(x, y)
    assert piece is not None
    return piece


def story(text: str, game: QuantumChess | None = None) -> QuantumChess:
    """The game of a story, which must go as the story says; of a `game`, the first line is its title."""
    first, *lines = filter(None, map(str.strip, text.splitlines()))
    game = game or _begun(first.split("; "))
    for line in lines:
        if line.startswith("= "):
            for said in line[2:].split("; "):
                _check(game, said)
            continue
        for step in line.split("; "):
            answers, arrow, wanted = (part.strip() for part in step.partition("->"))
            announcements = [answer(game, *map(int, each.replace("/", ",").split(","))) for each in answers.split()]
            if len(announcements) == 2:
                squares = [each.split("/")[0].replace(",", " ") for each in answers.split()]
                assert " -> ".join(squares) == announcements[1]
            assert not arrow or announcements[0] == wanted, step
    return game


def _begun(words: list[str]) -> QuantumChess:
    options: dict[str, Any] = {}
    pieces = []
    for word in words:
        if "@" in word:
            colour, _, rest = word.partition(" ")
            types, _, where = rest.partition("@")
            x, y, *current = where.replace(":", ",").split(",")
            pieces.append(stands(colour, int(x), int(y), types.replace(",", " "), *current))
        elif "=" in word:
            options |= tomllib.loads(word)
    return position(*pieces, **options) if pieces or "kings" in words else QuantumChess.from_options(options)


def _check(game: QuantumChess, said: str) -> None:
    match said.split():
        case ["goes", "on"]:
            assert game.end is None
        case ["select", colour]:
            assert Selection(COLOURS.index(colour)) == game.pending()
        case ["move", square]:
            request = game.pending()
            assert isinstance(request, Destination)
            assert square == f"{request.x},{request.y}"
        case [square, *shown] if "," in square:
            piece = at(game, *map(int, square.split(",")))
            assert shown == (["open"] if piece.is_open else [str(piece.current), str(piece.index)])
        case [verdict, colour] if verdict in [*map(str, Verdict)]:
            assert isinstance(game.end, AgentFault)
            assert (verdict, colour) == (game.end.verdict, COLOURS[game.end.seat])
        case _:
            assert said == game.result(NAMES)


def test_the_first_hidden_type_is_drawn_for_a_black_rook_from_five_kinds() -> None:
    """Uniform over the kinds that are left, not over the pieces: the only queen is as likely as a pawn."""
    game = QuantumChess.from_options({})

    assert Chance(NATURE, 5) == game.pending()
    assert game.undrawn is not None
    piece, kinds = game.undrawn
    assert (BLACK, 0, 0, PieceType.ROOK) == (piece.colour, piece.x, piece.y, piece.types[0])
    assert tuple(POOL) == kinds
    game.apply(decided(Drawn(4)))
    assert PieceType.QUEEN is at(game, 0, 0).types[1]
    assert Chance(NATURE, 4) == game.pending()


@settings(deadline=None, max_examples=examples(50))
@given(st.integers())
def test_hidden_types_are_a_permutation_of_the_pool_and_only_kings_show(seed: int) -> None:
    game = quantum(seed)
    for colour in (WHITE, BLACK):
        pieces = [piece for piece in game.board.pieces if piece.colour == colour]
        assert POOL == dict(Counter(p.types[1] for p in pieces if p.current is not PieceType.KING))
    assert {(3, 0), (3, 7)} == {(p.x, p.y) for p in game.board.pieces if p.current is not None}
    assert all(not piece.shown[1] for piece in game.board.pieces if piece.current is None)
    assert Selection(WHITE) == game.pending()
    assert (PieceType.KING, PieceType.QUEEN) == (at(game, 3, 7).current, at(game, 4, 7).types[0])


def test_a_king_has_no_index_until_it_is_selected() -> None:
    """The lot says 0 or 1 and changes nothing; on a dark square (3,0, not 3,7) the index is 0 from then on."""
    story(
        """quantum
        3,7/1 -> 3 7 1 king; 3,0/1 -> 3 0 1 king
        3,7 -> 3 7 1 king; 3,0 -> 3 0 0 king
        """,
        quantum(),
    )


def test_classical_game_describes_itself() -> None:
    assert {"variant": "classical"} == classical().describe()
    assert "" == classical().result(NAMES)


STORIES = {
    # tests/conformance/test_qchess.py has castling, promotion and the double step among its recordings.
    "all pieces of a classical game are known": 'variant="classical"\n0,6 -> 0 6 0 pawn\n= move 0,6',
    "a piece becomes its first type by lot": "white rook,?knight@1,4\n1,4/0 -> 1 4 0 rook\n= move 1,4",
    "a piece becomes its second type by lot": "white rook,?knight@1,4\n1,4/1 -> 1 4 1 knight\n= move 1,4",
    "a piece that is something already keeps it": "white rook,knight@1,5:knight\n1,5 -> 1 5 1 knight",
    "the king of a position has index 0": "kings\n3,7 -> 3 7 0 king",
    "on a light square a piece stays, and on a dark one it is open again": """
        white rook,knight@0,2:rook
        0,2 0,4
        = 0,4 rook 0
        7,7 7,6; 0,4 0,5
        = 0,5 open
        7,6 7,7; 0,5/1 -> 0 5 1 knight
    """,
    "two types known to be the same stay on dark": "white rook@0,2\n0,2 0,1\n= 0,1 rook 0",
    "two same types, not both known, open again": "white rook,?rook@0,2:rook\n0,2 0,1\n= 0,1 open",
    "the index of two known same types becomes 0 on dark": "white rook,?rook@0,1\n0,1/1 0,3\n= 0,3 rook 0",
    # The manager tests the end after a completed move only.
    "two kings are not judged before a move": "kings\n= goes on",
    "a limit of one move": "white rook@0,2; max_moves=1\n0,2 0,4; 7,7 7,6\n= black DRAW",
    "a limit of two moves": "white rook@0,2; max_moves=2\n0,2 0,4; 7,7 7,6; 0,4 0,2\n= white DRAW",
    "a limit of three moves": "white rook@0,2; max_moves=3\n0,2 0,4; 7,7 7,6; 0,4 0,2\n= goes on",
    "no limit of moves": "white rook@0,2; max_moves=0\n0,2 0,4; 7,7 7,6; 0,4 0,2\n= goes on",
    "a move begins the count of passes anew": """
        variant="classical"; max_passes=2
        3,7/0; 0,1 0,2; 3,7
        = goes on
    """,
    "a recorded game follows the rules": """
        white pawn,?rook@0,6; played=["0 6 0 pawn", "0 6 -> 0 4", "7 7 0 king", "7 7 -> 7 6", "0 4 0 pawn"]
        = move 0,4
    """,
    "black may be to move": 'kings; turn="black"\n= select black',
}


@pytest.mark.parametrize("name", STORIES)
def test_story(name: str) -> None:
    story(STORIES[name])


@pytest.mark.parametrize(
    ("kind", "targets"),
    [
        ("king", "33 43 53 34 54 35 45 55"),
        ("knight", "32 52 23 63 25 65 36 56"),
        ("rook", "40 41 42 43 45 46 47 04 14 24 34 54 64 74"),
        ("bishop", "00 11 22 33 55 66 77 53 62 71 35 26 17"),
        ("queen", "40 41 42 43 45 46 47 04 14 24 34 54 64 74 00 11 22 33 55 66 77 53 62 71 35 26 17"),
    ],
)
def test_officers_move_as_in_chess(kind: str, targets: str) -> None:
    piece = Piece(WHITE, 4, 4, [PieceType(kind)] * 2, [True, True], PieceType(kind), 0)
    board = type(classical().board)([piece])

    assert {(int(s[0]), int(s[1])) for s in targets.split()} == set(board.targets(piece))


@pytest.mark.parametrize(
    ("pieces", "square", "targets"),
    [
        ("white rook@0,4; white pawn@2,4; black pawn@0,2", (0, 4), {(1, 4), (0, 3), (0, 2), (0, 5), (0, 6), (0, 7)}),
        ("white pawn@2,4; black rook@1,3; white rook@3,3", (2, 4), {(2, 3), (1, 3)}),
        ("white pawn@2,6; black rook@2,4", (2, 6), {(2, 5)}),
    ],
    ids=["a slide", "a pawn", "a double step before a piece"],
)
def test_pieces_are_in_the_way_or_taken(pieces: str, square: tuple[int, int], targets: set[tuple[int, int]]) -> None:
    game = story(pieces)

    assert targets == set(game.board.targets(at(game, *square)))


@pytest.mark.parametrize("types", ["pawn", "pawn,?rook"])
def test_a_promotion_in_a_classical_game_changes_both_types_and_shows_them(types: str) -> None:
    current = ":pawn" if "," in types else ""
    game = story(f'black {types}@1,6{current}; turn="black"; variant="classical"\n1,6 1,7')

    assert [PieceType.QUEEN, PieceType.QUEEN] == at(game, 1, 7).types
    assert [True, True] == at(game, 1, 7).shown


def test_capturing_the_king_wins() -> None:
    game = story('black rook@3,0; turn="black"\n3,0 3,7\n= black')

    assert RuleResult(Verdict.WIN, BLACK, "the white king was taken") == game.end


def test_a_position_without_a_king_is_played_as_the_manager_of_2013_did() -> None:
    """Nobody can win by the king; one piece of each colour is a draw all the same."""
    pieces = [stands("white", 0, 7, "rook"), stands("black", 0, 0, "rook"), stands("black", 7, 0, "knight")]
    game = story("no kings\n0,7 0,0\n= white DRAW", QuantumChess.from_options({"position": pieces}))

    assert RuleResult(Verdict.DRAW, None, "one piece of each colour is left") == game.end


def test_turns_in_a_row_without_a_move_are_a_draw() -> None:
    story("quantum\n3,7/0; 3,0/0\n= goes on\n3,7\n= white DRAW", quantum(max_passes=3))


def test_two_passive_agents_continue_without_limits() -> None:
    game = classical()
    for _ in range(1000):
        answer(game, *((0, 7) if game.pending().seat == WHITE else (0, 0)))

    assert game.end is None


@pytest.mark.parametrize(
    ("answers", "result"),
    [
        ("8,8", "white BOUNDS 8,8"),
        ("-1,3", "white BOUNDS -1,3"),
        (f"{10**50},0", f"white BOUNDS {10**50},0"),
        ("4,4", "white EMPTY"),
        ("3,0", "white COLOUR black not white"),
        *((f"0,6; {square}", f"white ILLEGAL move {square}") for square in ("0,3", "1,5", "0,6", "3,7", "99,0")),
    ],
)
def test_invalid_selection_or_move_loses(answers: str, result: str) -> None:
    story(f"classical\n{answers}\n= illegal white; {result}", classical())


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

    story(f'classical\n= unreadable white; white GIBBERISH "{quoted}"', game)


@pytest.mark.parametrize(
    ("kind", "ends"),
    [
        (ReplyKind.UNASKED, 'illegal white; white ILLEGAL unasked "hello"'),
        (ReplyKind.RESIGNED, "resigned white; white terminated"),
        (ReplyKind.REFUSED, "refused white; white UNRESPONSIVE"),
    ],
)
@pytest.mark.parametrize("illegal", ["loses-game", "loses-turn"])
def test_answers_without_a_square_lose(kind: ReplyKind, ends: str, illegal: str) -> None:
    game = classical(illegal=illegal)
    game.apply(Reply(kind, "hello"))

    story(f"classical\n= {ends}", game)


@pytest.mark.parametrize(
    ("verdict", "word"),
    [
        *((verdict, "TIMEOUT") for verdict in (Verdict.START_TIME, Verdict.TURN_TIME, Verdict.MATCH_TIME)),
        *((verdict, "UNRESPONSIVE") for verdict in (Verdict.CRASH, Verdict.MEMORY, Verdict.OUTPUT)),
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
    game = story("classical\n8,8", classical())
    game.forfeit(AgentFault(Verdict.CRASH, BLACK, "too late"))

    assert "white BOUNDS 8,8" == game.result(NAMES)
    with pytest.raises(RuntimeError):
        game.apply(decided(OnSquare(0, 6)))


def test_a_refused_answer_may_cost_the_turn_only() -> None:
    """The offender is told, alone; the piece that it had selected stays what it became."""
    game = story('white rook,knight@0,1; illegal="loses-turn"\n0,1/1')

    assert (TurnLost(WHITE, "ILLEGAL move 0,2"),) == game.apply(decided(OnSquare(0, 2)))
    assert Selection(BLACK) == game.pending()
    assert (TurnLost(BLACK, "EMPTY"),) == game.apply(decided(OnSquare(0, 2)))
    assert "0 1 1 knight" == answer(game, 0, 1), "a dark square, and no new lot"


def test_longest_bounds_the_answers_and_needs_both_limits() -> None:
    """A selection and a move in each turn, the last move being the one too many, and passes before each."""
    assert 2 * (3 + 1) * (2 + 1) == classical(max_moves=3, max_passes=2).longest
    assert [None, None] == [classical(max_moves=3).longest, classical(max_passes=2).longest]


def test_nothing_follows_the_end() -> None:
    game = classical(illegal="loses-turn", max_passes=1)
    game.apply(Reply(ReplyKind.UNREADABLE, "hello"))
    with pytest.raises(ContradictionError, match="comes where no turn is played"):
        game.follow("3 7 0 king")


def test_lost_turns_are_turns_without_a_move() -> None:
    game = classical(illegal="loses-turn", max_passes=2)
    game.apply(Reply(ReplyKind.UNREADABLE, "hello"))
    game.apply(Reply(ReplyKind.UNREADABLE, "hello"))

    assert "black DRAW" == game.result(NAMES)


def game_from(text: str) -> QuantumChess:
    return QuantumChess.from_options({"position": text})


def test_letters_digits_and_brackets_become_pieces() -> None:
    pieces, turn = read_position("3k4/8/2(R?p)5/8/8/8/8/3K4 b")
    placed = [(piece.colour, piece.x, piece.y, piece.types, piece.current) for piece in pieces]

    assert "black" == turn
    assert [
        ("black", 3, 0, ("king", "king"), "king"),
        ("white", 2, 2, ("rook", "?pawn"), "unknown"),
        ("white", 3, 7, ("king", "king"), "king"),
    ] == placed


def test_game_begins_from_the_position_with_its_colour() -> None:
    game = game_from("3k4/8/8/8/8/8/3P4/3K4 b")

    assert 1 == game.pending().seat
    assert 3 == len(game.describe()["board"])


def test_position_is_sent_without_hidden_types_in_its_own_order() -> None:
    rook = stands("white", 1, 4, "rook ?knight")
    game = position(rook, stands("black", 0, 0, "?pawn ?bishop"), played=["3 7 0 king"])
    description = game.describe()

    assert [["rook", "unknown"], ["unknown", "unknown"], ["king", "king"], ["king", "king"]] == [
        piece["types"] for piece in description["board"]
    ]
    assert ["3 7 0 king"] == description["played"]
    assert Destination(WHITE, 3, 7) == game.pending()


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
        ({"position": "8/8/8 w"}, "3 rows in '8/8/8'; write 8 rows, such as 4k3/8/8/8/8/8/4P3/4K3 w"),
        ({"position": "4k3/8/8/8/8/8/4P3/4K3"}, "'' is no colour to move; write w or b after the rows"),
        ({"position": "4k3/8/8/8/8/8/4P3/4K2 w"}, "row 8 has 7 squares; it needs 8"),
        ({"position": "4k3/8/8/8/8/8/4P3/4K3k w"}, "row 8 has 9 squares; it needs 8"),
        ({"position": "4z3/8/8/8/8/8/8/4K3 w"}, "row 1: 'z3' does not start with a piece or a number from 1 to 8"),
        ({"position": "8/8/8/8/8/8/8/8 w"}, "the position has no pieces"),
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


class RandomPlayer:
    """Selects any own piece and moves it anywhere; keeps what was announced."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def answer(self, game: QuantumChess) -> Reply:
        match game.pending():
            case Chance(outcomes=outcomes):
                return decided(Drawn(self._random.randrange(outcomes)))
            case Selection(seat=seat):
                pieces = [piece for piece in game.board.pieces if piece.colour == seat]
                piece = self._random.choice(pieces)
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
        is_selected = isinstance(selected, Destination) and (piece.x, piece.y) == (selected.x, selected.y)
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
    announcements: list[str] = []
    while game.end is None:
        reply = player.answer(game)
        if game.undrawn is not None:
            drawn.append(reply)
        events = list(game.apply(reply))
        if game.undrawn is None:
            check(game, events)
        announcements += [said_once(events)] if events else []

    again = QuantumChess.from_options(options)
    for reply in drawn:
        again.apply(reply)
    for text in announcements:
        again.follow(text)
    assert game.end == again.end
    assert game.result(NAMES) == again.result(NAMES)
    assert game.result(NAMES) in {*COLOURS, *(f"{colour} DRAW" for colour in COLOURS)}
    assert game.board.placed() == again.board.placed()
