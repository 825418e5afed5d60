"""The picture of a game of Stratego."""

from functools import lru_cache

from judge.games.stratego import Stratego
from judge.games.stratego.types import COLOURS, SIZE
from judge.games.types import SEATS
from judge.records.views import BoardView, Face, Square, Surface, Token

_EMPTY, _LAKE, _ENEMY = ".", "+", "#"


def stratego_view(game: Stratego, seat: int | None = None) -> BoardView:
    """Both armies by their letters; each is hidden from the other side, which sees `#`."""
    tokens: dict[Square, Token] = {}
    lakes = set()
    for looks in SEATS if seat is None else (seat,):
        for y, row in enumerate(game.seen_by(looks).splitlines()):
            for x, letter in enumerate(row):
                if letter == _LAKE:
                    lakes.add((x, y))
                elif letter == _ENEMY and seat is not None:
                    tokens[x, y] = _soldier(1 - looks, letter)
                elif letter not in (_EMPTY, _ENEMY):
                    tokens[x, y] = _soldier(looks, letter)
    last = game.half_moves[-1] if game.half_moves else None
    names = tuple(map(str, range(SIZE)))
    return BoardView(
        Surface.SQUARES,
        names,
        names,
        tokens,
        (COLOURS[0], COLOURS[1]),
        blocked=frozenset(lakes),
        caption=f"turn {last.turn}, {COLOURS[last.seat]}: {last.text}" if last else "",
    )


@lru_cache(maxsize=256)
def _soldier(seat: int, letter: str) -> Token:
    return Token(seat, faces=(Face(letter, is_hidden=True),), shows=0)
