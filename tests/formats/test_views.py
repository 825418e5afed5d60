"""Views: what stands where in each game, what is hidden, and what is pointed out.

tests/corpus has the views of all its records: numbers of stones, captions, marks, seats after a swap, and faces.
"""

from judge.catalog import game_entry
from judge.formats.views import BoardView, Face, Token, changed_squares
from judge.games import new_game
from judge.games.gomoku import Gomoku
from judge.games.gomoku.requests import Stone
from judge.games.quantum_chess import QuantumChess
from judge.games.quantum_chess.words import Selection
from judge.games.stratego import Stratego
from judge.games.types import Drawn, Game, decided
from tests.games.stratego_positions import blue, new, red, set_up

NAMES = {Gomoku: "gomoku", Stratego: "stratego", QuantumChess: "quantum-chess"}


def view_of(game: Game, seat: int | None = None) -> BoardView:
    return game_entry(NAMES[type(game)]).view(game, seat)


def gomoku(*stones: tuple[int, int], **options: object) -> Game:
    game = new_game("gomoku", {"width": 15, "height": 15, **options})
    for x, y in stones:
        game.apply(decided(Stone(x, y)))
    return game


def test_a_large_board_names_its_columns_with_two_letters() -> None:
    assert "aa" == view_of(gomoku(width=30)).columns[26]


def test_views_of_a_growing_game_find_the_same_changes_as_a_comparison() -> None:
    """Also after a row has died, and while another game is viewed."""
    game, other = gomoku(continuous=True), gomoku()
    before = view_of(game)
    for x in range(9):
        for decision in (Stone(x, 0), Stone(x, 2 if x % 2 else 4)):
            game.apply(decided(decision))
            if x == 3:
                other.apply(decided(decision))
                view_of(other)
            view = view_of(game).since(before)

            assert changed_squares(before.tokens, view.tokens) == view.changed
            before = view
    assert any(token.is_dead for token in before.tokens.values())


def test_stones_that_count_no_more_are_dead() -> None:
    row = ((0, 0), (0, 5), (1, 0), (2, 5), (2, 0), (4, 5), (3, 0), (6, 5), (4, 0))
    view = view_of(gomoku(*row, continuous=True))

    assert [True, False] == [view.tokens[4, 0].is_dead, view.tokens[0, 5].is_dead]


def test_both_armies_are_seen_and_each_piece_is_hidden_from_the_other() -> None:
    game = set_up(new(), red(x0y3="9"), blue(x0y6="s"))
    view = view_of(game)

    assert Token(0, faces=(Face("9", is_hidden=True),), shows=0) == view.tokens[0, 3]
    assert Token(1, faces=(Face("s", is_hidden=True),), shows=0) == view.tokens[0, 6]
    assert 8 == len(view.blocked)
    assert ("RED", "BLUE") == view.sides
    for seat in (0, 1):
        seat_view = view_of(game, seat)
        enemies = {token for token in seat_view.tokens.values() if token.side != seat}
        assert {Token(1 - seat, faces=(Face("#", is_hidden=True),), shows=0)} == enemies
        assert seat_view.tokens.keys() == view.tokens.keys()


def test_the_view_of_a_seat_has_no_hidden_type_of_either_side() -> None:
    game = new_game("quantum-chess", {})
    while not isinstance(game.pending(), Selection):
        game.apply(decided(Drawn(0)))

    for seat in (0, 1):
        faces = [face for token in view_of(game, seat).tokens.values() for face in token.faces]
        assert 30 == len([face for face in faces if face.is_hidden])
        assert {"unknown"} == {face.name for face in faces if face.is_hidden}
