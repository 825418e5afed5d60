"""Go by GTP."""

from collections.abc import Sequence
from typing import ClassVar

from judge.games.types import Decision, Event, Request
from judge.protocols.checks import END, GAMES, MEMORY, QUIET, START, TIME, Check
from judge.protocols.entry import ProtocolEntry
from judge_go.board import read_vertex, vertex
from judge_go.gtp import Gtp, GtpOptions, Placing
from judge_go.rules import Play, Played, PlayOrPass


class GtpGo(Gtp):
    """One engine's conversation."""

    speaks: ClassVar[frozenset[type[Request] | type[Event]]] = frozenset({PlayOrPass, Played})

    def set_up(self, game: dict[str, object]) -> Sequence[str]:
        """Size and komi. Handicap stones are sent by `play`, because GTP's own commands allow free choices."""
        self._size = int(str(game["size"]))
        return (f"boardsize {self._size}", "clear_board", f"komi {game['komi']}")

    def position(self, request: Request) -> tuple[Sequence[Placing], int]:
        """The stones of the first position, then the moves."""
        if not isinstance(request, PlayOrPass):
            raise TypeError(f"no request of Go: {request!r}")
        size = request.size
        return [(colour, vertex(point, size)) for colour, point in (*request.stones, *request.moves)], request.seat

    def decision(self, text: str) -> tuple[Decision, str]:
        """A point or a pass."""
        point = read_vertex(text, self._size)
        return Play(point), "pass" if point is None else text.upper()


FIX_ANSWER = "answer with = and the id of the command, and end each answer with an empty line; flush stdout"

ENTRY = ProtocolEntry(
    GtpOptions,
    GtpGo,
    games=("go",),
    checks=(
        START._replace(fix=FIX_ANSWER),
        Check("about", "reports its name", "answer the command name"),
        Check("begin", "genmove with both colours", "answer genmove with one point such as = D4"),
        Check("capture", "accepts captures and handicap stones", "remove groups without liberties from the board"),
        Check("ko", "does not retake a ko", "refuse moves that repeat a position of the game"),
        Check("pass", "passes or plays when the opponent has passed", "accept play black pass"),
        TIME._replace(fix="read time_settings and time_left; their unit is the second"),
        MEMORY,
        QUIET,
        END,
        *GAMES,
    ),
)
