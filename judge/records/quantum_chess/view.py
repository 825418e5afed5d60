"""The picture of a game of Quantum Chess."""

from judge.games.quantum_chess import QuantumChess
from judge.games.quantum_chess.board import SIZE, UNKNOWN, Piece
from judge.records.views import BoardView, Face, Surface, Token


def chess_view(game: QuantumChess, seat: int | None = None) -> BoardView:
    """Pieces with both their types, until they are known to be the same; what is hidden, is so from both seats."""
    names = tuple(map(str, range(SIZE)))
    shows_all = seat is None
    tokens = {(piece.x, piece.y): _piece(piece, shows_all) for piece in game.board.pieces}
    return BoardView(Surface.CHEQUERED, names, names, tokens, ("white", "black"))


def _piece(piece: Piece, shows_all: bool) -> Token:
    faces = tuple(
        Face(kind.value if shown or shows_all else UNKNOWN, not shown)
        for kind, shown in zip(piece.types, piece.shown, strict=True)
    )
    if len(set(faces)) == 1 and not faces[0].is_hidden:
        return Token(piece.colour, faces=faces[:1], shows=0)
    shows = None if piece.current is None else piece.index
    return Token(piece.colour, faces=faces, shows=shows)
