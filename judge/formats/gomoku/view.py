"""Board views of five-in-a-row games."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice

from judge.formats.views import BoardView, Mark, Surface, Token
from judge.games.gomoku import Gomoku
from judge.games.gomoku.requests import COLOURS, Placed, Square, square_name
from judge.games.types import SEATS, RuleResult, Verdict


def stones_view(game: Gomoku) -> BoardView:
    """Numbered stones; winning row and offered fifth stones are marked."""
    marks = {**dict.fromkeys(game.offers, Mark.OFFER), **_winning_row(game)}
    return draw_stones(game.width, game.height, game.stones, game.dead, (game.black, 1 - game.black), marks)


def draw_stones(
    width: int,
    height: int,
    stones: Sequence[Placed],
    dead: Collection[Square] = (),
    seats: tuple[int, int] = SEATS,
    marks: Mapping[Square, Mark] | None = None,
) -> BoardView:
    """Stones in play order, without rules: `dead` ones, `marks`, and the seats of black and white."""
    tokens = {(x, y): _stone(colour, number) for number, (x, y, colour) in enumerate(stones, 1)}
    for square in dead:
        tokens[square] = replace(tokens[square], is_dead=True)
    return BoardView(
        Surface.LINES,
        *_labels(width, height),
        tokens,
        (COLOURS[0], COLOURS[1]),
        seats,
        marks=marks or {},
        caption=f"{len(stones)}. {square_name(*stones[-1][:2])}" if stones else "",
    )


def draw_moves(width: int, height: int, stones: Sequence[Placed]) -> Iterator[BoardView]:
    """The empty board, then the position after each stone; the squares differ. All views share the stones."""
    whole = draw_stones(width, height, stones)
    yield replace(whole, tokens={}, caption="")
    for number, (x, y, _) in enumerate(stones, 1):
        caption = f"{number}. {square_name(x, y)}"
        tokens = _FirstStones(whole.tokens, number)
        yield replace(whole, tokens=tokens, marks={(x, y): Mark.LAST}, caption=caption, changed=((x, y),))


class _FirstStones(Mapping[Square, Token]):
    """The first `count` of stones in play order."""

    def __init__(self, stones: Mapping[Square, Token], count: int) -> None:
        self._stones, self._count = stones, count

    def __getitem__(self, square: Square) -> Token:
        token = self._stones[square]
        if token.number > self._count:
            raise KeyError(square)
        return token

    def __iter__(self) -> Iterator[Square]:
        return islice(self._stones, self._count)

    def __len__(self) -> int:
        return self._count


_stone = lru_cache(maxsize=4096)(Token)


@lru_cache(maxsize=64)
def _labels(width: int, height: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(square_name(x, 0)[:-1] for x in range(width)), tuple(str(y + 1) for y in range(height))


def _winning_row(game: Gomoku) -> Mapping[Square, Mark]:
    if not isinstance(game.end, RuleResult) or game.end.verdict is not Verdict.WIN:
        return {}
    x, y, colour = game.stones[-1]
    squares = {(sx, sy) for sx, sy, c in game.stones if c == colour}
    rows = [_run(squares, (x, y), dx, dy) for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1))]
    longest = max(rows, key=lambda row: len(row))
    return dict.fromkeys(longest, Mark.ROW) if len(longest) >= 5 else {}


def _run(squares: set[Square], start: Square, dx: int, dy: int) -> list[Square]:
    run = [start]
    for sign in (1, -1):
        x, y = start[0] + sign * dx, start[1] + sign * dy
        while (x, y) in squares:
            run.append((x, y))
            x, y = x + sign * dx, y + sign * dy
    return run
