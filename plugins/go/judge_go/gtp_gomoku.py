"""Five in a row by GTP, for engines that play it with the commands of Go: `boardsize`, `play` and `genmove`."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from judge.games.gomoku.requests import PlaceStone, Stone, StonePlaced
from judge.games.types import Decision, Event, Request
from judge.protocols.checks import BLOCK, END, GAMES, MEMORY, QUIET, RULE, START, TIME, WIN, Check
from judge.protocols.entry import ProtocolEntry
from judge_go.board import MAX_SIZE, read_vertex, vertex
from judge_go.gtp import Gtp, GtpOptions, Placing
from judge_go.gtp_go import FIX_ANSWER


class GtpGomoku(Gtp):
    """One engine's conversation. The judge's row 0 is the top row of the engine's board."""

    speaks: ClassVar[frozenset[type[Request] | type[Event]]] = frozenset({PlaceStone, StonePlaced})

    def set_up(self, game: dict[str, object]) -> Sequence[str]:
        """The size."""
        self._size = int(str(game["width"]))
        return (f"boardsize {self._size}", "clear_board")

    def position(self, request: Request) -> tuple[Sequence[Placing], int]:
        """All stones in play order."""
        if not isinstance(request, PlaceStone):
            raise TypeError(f"GTP has no words for {request!r}")
        return [(colour, vertex((x, y), self._size)) for x, y, colour in request.stones], request.colour

    def decision(self, text: str) -> tuple[Decision, str]:
        """A point; a pass is unreadable."""
        point = read_vertex(text, self._size)
        if point is None:
            raise ValueError("a pass")
        x, y = point
        return Stone(x, y), f"{x},{y}"


def objection(game: Mapping[str, Any]) -> str | None:
    """Return why GTP cannot express this game, or None."""
    width, height = game["width"], game["height"]
    if width != height or width > MAX_SIZE:
        return f"has square boards of at most {MAX_SIZE}x{MAX_SIZE}, not {width}x{height}"
    if game.get("continuous", False):
        return "cannot play on after a five (continuous)"
    return None


ENTRY = ProtocolEntry(
    GtpOptions,
    GtpGomoku,
    objection=objection,
    games=("gomoku",),
    checks=(
        START._replace(fix=FIX_ANSWER),
        Check("about", "reports its name", "answer the command name"),
        Check("begin", "genmove on an empty board", "answer genmove with one point such as = H8"),
        Check("turn", "play and genmove", "add the stone of play, then answer genmove"),
        Check("board", "play of many stones", "clear the board on clear_board, and add each stone of play"),
        WIN,
        BLOCK,
        RULE,
        TIME._replace(fix="read time_settings and time_left; their unit is the second"),
        MEMORY,
        QUIET,
        END,
        *GAMES,
    ),
)
