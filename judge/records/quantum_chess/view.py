"""Board views and steps of Quantum Chess games."""

from judge.games.quantum_chess import QuantumChess
from judge.games.quantum_chess.board import SIZE, UNKNOWN, Piece
from judge.games.types import NATURE
from judge.records.quantum_chess.log import QchessLog
from judge.records.quantum_chess.replay import replay_qchess_log
from judge.records.steps import LogSteps, Stepped
from judge.records.views import BoardView, Face, Surface, Token


def chess_view(game: QuantumChess, seat: int | None = None) -> BoardView:
    """Both types of undecided pieces. Hidden types are hidden from both seats."""
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


def qchess_steps(log: QchessLog) -> Stepped:
    """Raises InputError if the log contradicts the rules."""
    replayed = replay_qchess_log(log)
    game = QuantumChess(replayed.game.options)
    steps = LogSteps(chess_view)
    for answered in replayed.answers:
        if answered.seat == NATURE:
            game.apply(answered.reply)
            steps.see_effect(game)
            continue
        steps.begin(game)
        game.apply(answered.reply)
        steps.add(game, answered.seat, answered.reply.said)
    steps.begin(game)
    result = replayed.game.result(log.names) or "unfinished"
    return Stepped("quantum-chess", log.names, steps.steps, result)
