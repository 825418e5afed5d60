"""Go as a game of judge: area scoring of the whole board and positional superko.

Source: the Tromp-Taylor rules, except that suicide is illegal, as in the Chinese rules. Two passes end the game. All
stones on the board count as alive, so agents must capture dead stones before they pass.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from pydantic import Field, StrictInt, field_validator

from judge.base.errors import InputError
from judge.base.parsing import FrozenModel, parse
from judge.base.text import number, quote
from judge.games.types import AgentFault, Decision, End, Event, Reply, ReplyKind, Request, RuleResult, Verdict
from judge_go.board import BLACK, COLOURS, WHITE, Board, Point, handicap_points, vertex
from judge_go.positions import Placed, Position, read_position

SIZES = (9, 13, 19)
MAX_KOMI = 361
MAX_MOVES = 1_000_000


@dataclass(slots=True)
class PlayOrPass(Request):
    """`seat` must play a stone of its colour, or pass, after `moves` from the position `stones`."""

    size: int
    stones: tuple[Placed, ...] = ()
    moves: tuple[tuple[int, Point | None], ...] = ()
    """Colour and point; None: a pass."""


@dataclass(slots=True)
class Play(Decision):
    """A point, not yet checked; None: a pass."""

    point: Point | None


@dataclass(slots=True)
class Played(Event):
    """`seat` played at the point called `name`, or passed."""

    seat: int
    name: str


class GoOptions(FrozenModel):
    """Options of a game."""

    size: StrictInt = 19
    komi: float = Field(default=7.5, strict=True, allow_inf_nan=False, ge=-MAX_KOMI, le=MAX_KOMI)
    """Added to white's area. A whole number allows draws."""
    handicap: StrictInt = Field(default=0, ge=0, le=MAX_KOMI)
    """Black stones on the fixed points of GTP 2; then white begins. White gets no points for them."""
    position: str = ""
    """An opening; empty: the empty board with the handicap. See `judge_go.positions`."""
    max_moves: StrictInt = Field(default=0, ge=0, le=MAX_MOVES)
    """The board is scored after this number of moves of both sides; 0: no limit."""

    @field_validator("size")
    @classmethod
    def _known_size(cls, value: int) -> int:
        if value not in SIZES:
            raise ValueError(f"{value} is no size; write {', '.join(map(str, SIZES[:-1]))} or {SIZES[-1]}")
        return value

    @field_validator("komi")
    @classmethod
    def _half_points(cls, value: float) -> float:
        if value * 2 != int(value * 2):
            raise ValueError(f"{value:g} is no komi; write a whole number or a half, such as 6.5")
        return value


class Go:
    """One game. Seat 0 is black."""

    requests: ClassVar[frozenset[type[Request]]] = frozenset({PlayOrPass})
    events: ClassVar[frozenset[type[Event]]] = frozenset({Played})

    def __init__(self, options: GoOptions) -> None:
        """Raises InputError for a position that cannot be played."""
        self.options = options
        self.size = options.size
        position = read_position(options.position, options.size)
        if options.handicap:
            if position.stones:
                raise InputError("handicap: the position has its own stones; write handicap = 0 or leave them out")
            stones = tuple((BLACK, point) for point in handicap_points(options.handicap, options.size))
            moves = tuple((1 - colour, point) for colour, point in position.moves)
            position = Position(stones, 1 - position.to_move, moves)
        self.stones = position.stones
        self.moves: list[tuple[int, Point | None]] = []
        self.board = Board(self.size)
        for colour, stone in position.stones:
            self.board.play(stone, colour)
        self._to_move = position.to_move
        self._positions = {self.board.position}
        self._end: End | None = None
        for index, (colour, point) in enumerate(position.moves, 1):
            self._to_move = colour
            if why := self.objection(point):
                raise InputError(f"position: move {index}, {vertex(point, self.size)}: {why}")
            self._play(point)
        if self._passes() == 2:
            raise InputError("position: two passes end the game; leave out the last one")
        self.opening_moves = len(self.moves)

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        """Return the game of `GoOptions`. Raises InputError naming the field."""
        return cls(parse(GoOptions, dict(options), "go options"))

    # --- interface for the referee -----------------------------------------------------------------------------------

    @property
    def longest(self) -> int | None:
        """Return the maximum number of moves."""
        return self.options.max_moves or None

    @property
    def end(self) -> End | None:
        """Return the end; None during the game."""
        return self._end

    def describe(self) -> dict[str, Any]:
        """Return the size and the komi."""
        return {"size": self.size, "komi": self.options.komi}

    def renegotiate(self) -> bool:
        """Return False: there are no other terms."""
        return False

    def pending(self) -> PlayOrPass:
        """Return a request for a move."""
        return PlayOrPass(self._to_move, self.size, self.stones, tuple(self.moves))

    def apply(self, reply: Reply) -> Sequence[Event]:
        """Apply the answer to `pending()`. Raises as `Game.apply`."""
        if self._end is not None:
            raise RuntimeError("the game is over: nothing is pending")
        seat = self._to_move
        match reply.decision:
            case Play(point=point) if reply.kind is ReplyKind.DECIDED:
                if why := self.objection(point):
                    said = vertex(point, self.size) if point and self.board.is_on_board(point) else reply.said
                    self._end = AgentFault(Verdict.ILLEGAL, seat, f"{quote(said, 20)}: {why}")
                    return ()
                self._play(point)
                self._end = self._scored()
                return (Played(None, seat, vertex(point, self.size)),)
            case None:
                self._end = AgentFault(*_fault(reply, seat))
                return ()
            case decision:
                raise TypeError(f"{decision!r} is no answer to {self.pending()!r}")

    def forfeit(self, fault: AgentFault) -> Sequence[Event]:
        """End the game."""
        self._end = self._end or fault
        return ()

    def result(self, names: tuple[str, str]) -> str:  # noqa: ARG002 results name colours
        """Return the result as in SGF: B+3.5, W+R, 0."""
        match self._end:
            case RuleResult(winner=None):
                return "0"
            case RuleResult(winner=int(winner)):
                black, white = self.score()
                return f"{'BW'[winner]}+{abs(black - white):g}"
            case AgentFault(seat=seat, verdict=verdict):
                return f"{'WB'[seat]}+{_SUFFIXES.get(verdict, 'F')}"
            case _:
                return "?"

    # --- moves -------------------------------------------------------------------------------------------------------

    def objection(self, point: Point | None) -> str:
        """Return why the active player may not play here; "" if it may."""
        if point is None:
            return ""
        if not self.board.is_on_board(point):
            return f"not on the {self.size}x{self.size} board"
        if not self.board.is_empty(point):
            return "there is a stone"
        after = self.board.copy()
        if after.play(point, self._to_move) < 0:
            return "suicide: the stone would have no liberty"
        if after.position in self._positions:
            return "superko: the position would repeat an earlier one"
        return ""

    def score(self) -> tuple[float, float]:
        """Return the points of black, and of white with komi."""
        black, white = self.board.area()
        return black, white + self.options.komi

    def _play(self, point: Point | None) -> None:
        if point is not None:
            self.board.play(point, self._to_move)
            self._positions.add(self.board.position)
        self.moves.append((self._to_move, point))
        self._to_move = 1 - self._to_move

    def _passes(self) -> int:
        passes = 0
        while passes < min(2, len(self.moves)) and self.moves[-1 - passes][1] is None:
            passes += 1
        return passes

    def _scored(self) -> RuleResult | None:
        if self._passes() == 2:
            why = "two passes"
        elif self.options.max_moves and len(self.moves) - self.opening_moves >= self.options.max_moves:
            why = f"{self.options.max_moves} moves"
        else:
            return None
        black, white = self.board.area()
        komi = self.options.komi
        reason = f"{why}: black {black}, white {white} with komi {number(komi)}"
        if black == white + komi:
            return RuleResult(Verdict.DRAW, None, reason)
        return RuleResult(Verdict.WIN, BLACK if black > white + komi else WHITE, reason)


_SUFFIXES = {
    Verdict.RESIGNED: "R",
    Verdict.START_TIME: "T",
    Verdict.TURN_TIME: "T",
    Verdict.MATCH_TIME: "T",
}


def _fault(reply: Reply, seat: int) -> tuple[Verdict, int, str]:
    said = quote(reply.said, 80)
    match reply.kind:
        case ReplyKind.RESIGNED:
            return Verdict.RESIGNED, seat, "resigned"
        case ReplyKind.REFUSED:
            return Verdict.REFUSED, seat, f"refused to play: {said}"
        case _:
            return Verdict.UNREADABLE, seat, f"{said} is no move; {COLOURS[seat]} answers such as = D4 or = pass"
