"""Drawing of events as shapes without game knowledge, and as words for screen readers.

Shapes are lists, so a page's script needs no parser and inserts no markup:

    ["rect", x, y, width, height, radius, fill, stroke, stroke width]     ["disc", x, y, radius, fill, stroke, width]
    ["shape", [[x, y], ...], fill, stroke, stroke width]                  ["line", x1, y1, x2, y2, colour, width]
    ["text", x, y, text, size, colour, anchor]
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from judge.base.text import plain_text
from judge.broadcast.events import AnyEvent, MarkedSquare, MoveMade, PieceShown, Playing, SearchUpdate
from judge.broadcast.state import Live, LiveGame, evaluation_of, search_words, token_of
from judge.catalog import game_entry
from judge.formats.search_figures import SearchFigures
from judge.formats.views import Mark, Square, Token
from judge.record.policy import Policy
from judge.render.board import BoardPainter
from judge.render.shapes import Disc, Item, Rectangle, Shape, Stroke, Text
from judge.render.svg_player import write_still
from judge.site.plots import NAMES, Plot, empty_plot, evaluation_height, plots_of

HIDDEN_FACES = {"#": "hidden", "unknown": "unknown"}


class Painter:
    """Paints the boards of one contest."""

    def __init__(self, policy: Policy) -> None:
        entry = game_entry(policy.game.name)
        game = entry.new(policy.game.options)
        self.view = entry.view(game)
        self._painter = BoardPainter(self.view)
        self.film = write_still(self._painter, replace(self.view, tokens={}, marks={}), "", "g0")
        """A board without pieces, for the script."""

    def of(self, event: AnyEvent, live: Live) -> Mapping[str, Any]:
        """What a page draws of an event that `live` has. A beginning game: `names`, `titles`, `authors` and `stage`; a
        board or move: `pieces` as [x, y, shapes, words], and `marks` as shapes; a report: `words`; a move also its
        `height` in the curve of evaluations, if it has one. Nothing of other events.
        """
        match event:
            case Playing() if (game := live.games.get(event.game)) is not None:
                about = {"names": game.names, "titles": game.titles, "authors": game.authors}
                pieces = event.board.pieces if event.board else ()
                return {**about, "stage": live.stages.get(event.game, ""), **self._drawn(pieces, ())}
            case MoveMade():
                value = evaluation_of(event)
                height = {} if value is None else {"height": evaluation_height(value)}
                return {**self._drawn(event.pieces, event.marks), "words": search_words(event), **height}
            case SearchUpdate():
                return {"words": search_words(event)}
        return {}

    def _drawn(self, pieces: Iterable[PieceShown], marks: Iterable[MarkedSquare]) -> Mapping[str, Any]:
        paint = self._painter
        tokens = [(piece.x, piece.y, token_of(piece)) for piece in pieces]
        shapes = [item for mark in marks for item in paint.mark((mark.x, mark.y), Mark(mark.mark))]
        return {
            "pieces": [[x, y, _lists(paint.token((x, y), token)), self.words(token)] for x, y, token in tokens],
            "marks": _lists(shapes),
        }

    def svg(self, game: LiveGame) -> str:
        view = game.view() or self.view
        return write_still(self._painter, view, " - ".join(game.names), f"g{game.game}")

    def table(self, pieces: Mapping[Square, Token]) -> Sequence[tuple[str, Sequence[str]]]:
        """Rows: name and squares ("" if empty)."""
        columns = range(len(self.view.columns))
        words = {square: self.words(token) for square, token in pieces.items()}
        return [(row, [words.get((x, y), "") for x in columns]) for y, row in enumerate(self.view.rows)]

    def words(self, token: Token) -> str:
        """A piece in words: `black 12`, `white queen or unknown`."""
        faces = token.faces if token.shows is None else (token.faces[token.shows],)
        names = [HIDDEN_FACES.get(face.name, face.name) for face in faces]
        return " ".join(filter(None, [self.view.sides[token.side], " or ".join(names), str(token.number or "")]))


def _lists(items: Iterable[Item]) -> list[list[Any]]:
    return [_list(item) for item in items]


def _list(item: Item) -> list[Any]:
    match item:
        case Rectangle():
            where = [_round(each) for each in (item.x, item.y, item.width, item.height, item.radius)]
            return ["rect", *where, item.fill, item.stroke, item.stroke_width]
        case Disc():
            where = [_round(each) for each in (item.x, item.y, item.radius)]
            return ["disc", *where, item.fill, item.stroke, item.stroke_width]
        case Shape():
            points = [[_round(x), _round(y)] for x, y in item.points]
            return ["shape", points, item.fill, item.stroke, item.stroke_width]
        case Stroke():
            ends = [_round(each) for each in (*item.start, *item.end)]
            return ["line", *ends, item.colour, _round(item.width)]
        case Text():
            # Half the height of capitals and digits.
            baseline = _round(item.y + item.size * 0.355)
            words = plain_text(item.text)
            return ["text", _round(item.x), baseline, words, _round(item.size), item.colour, item.anchor]


def _round(value: float) -> float:
    return round(value, 1)


class _Step(NamedTuple):
    seat: int | None
    ms: float | None
    memory_bytes: int | None = None


def plots_of_game(game: LiveGame) -> Sequence[Plot]:
    """Drawn like a finished game's; empty without values."""
    steps = [_Step(None, None), *(_Step(move.seat, move.charged_ms, move.memory_bytes) for move in game.moves)]
    drawn = {plot.name: plot for plot in plots_of(steps, [SearchFigures(), *game.figures()])}
    return [drawn.get(name) or empty_plot(name) for name in NAMES]


def as_sent(game: LiveGame) -> Mapping[str, Any]:
    """Only the judge's numbers, no agent's text."""
    plots = [
        {"name": plot.name, "width": plot.width, "paths": plot.paths, "low": plot.low, "high": plot.high}
        for plot in plots_of_game(game)
        if any(plot.paths)
    ]
    return {"game": game.game, "attempt": game.attempt, "moves": len(game.moves), "plots": plots}


def plots_path(game: LiveGame) -> str:
    """Path of the plots, from the top of the site."""
    return f"plots/{game.stem}.json"
