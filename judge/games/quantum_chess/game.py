"""A piece has two types and becomes one of them at random when selected; capture the king to win.

A turn is a selection and, if possible, a move. There is no check, castling or en passant; a pawn on the far row becomes
a queen. Rules and result words: the UCC manager of 2013 (UCC's text API for selection and move). Added by this judge:
limits of moves and of turns without a move, and faults charged to the failing seat.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, StrictInt, model_validator

from judge.base.errors import InputError
from judge.base.parsing import FrozenModel, parse
from judge.base.text import quote, repeated, sentence
from judge.games.quantum_chess.board import (
    BLACK,
    COLOURS,
    HIDDEN,
    POOL,
    SIZE,
    UNKNOWN,
    WHITE,
    ChessBoard,
    Piece,
    PieceType,
    PlacedPiece,
    classical_pieces,
    piece_from,
    quantum_pieces,
)
from judge.games.quantum_chess.words import (
    MOVED,
    SELECTED,
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
    End,
    Event,
    Reply,
    ReplyKind,
    Request,
    RuleResult,
    Verdict,
    decided,
)


class Variant(StrEnum):
    """Start position."""

    QUANTUM = "quantum"
    CLASSICAL = "classical"


class QuantumChessOptions(FrozenModel):
    """Start position and draw limits."""

    variant: Variant = Variant.QUANTUM
    max_moves: Annotated[StrictInt, Field(ge=0)] = 0
    """The game is a draw after more than this number of moves of both colours; 0: no limit."""
    max_passes: Annotated[StrictInt, Field(ge=0)] = 0
    """The game is a draw after this number of consecutive turns without a move; 0: no limit."""
    illegal: Literal["loses-game", "loses-turn"] = "loses-game"
    """Penalty of an unreadable or illegal answer (the manager's --retry-illegal: the turn)."""
    position: tuple[PlacedPiece, ...] = ()
    """Pieces to start from, in protocol order, or a text for `read_position`; empty: the usual start. Any pieces are
    allowed. Without a king neither side can win; one piece each is a draw.
    """
    turn: Literal["white", "black"] = "white"
    played: tuple[str, ...] = ()
    """Announcements since `position`, as in a log: `3 6 1 pawn`, `3 6 -> 3 5`."""

    @model_validator(mode="before")
    @classmethod
    def _position_as_text(cls, values: Any) -> Any:
        if isinstance(values, dict) and isinstance(values.get("position"), str):
            pieces, turn = read_position(values["position"])
            return {**values, "position": pieces, "turn": turn}
        return values

    @model_validator(mode="after")
    def _is_possible(self) -> Self:
        if not self.position:
            if self.played or self.turn != "white":
                raise ValueError("turn and played need a position; add the position")
            return self
        if len({(piece.x, piece.y) for piece in self.position}) < len(self.position):
            raise ValueError("two pieces of the position are on one square")
        return self


class ContradictionError(InputError):
    """A log contradicts the rules."""


_FAULT_WORDS = {
    **dict.fromkeys((Verdict.START_TIME, Verdict.TURN_TIME, Verdict.MATCH_TIME), "TIMEOUT"),
    Verdict.RESIGNED: "terminated",
}
_GONE = "UNRESPONSIVE"
"""The manager's word for a dead process, here for all other faults."""


class QuantumChess:
    """Seat 0 is white and moves first."""

    requests: ClassVar[frozenset[type[Request]]] = frozenset({Chance, Selection, Destination})
    events: ClassVar[frozenset[type[Event]]] = frozenset({Selected, Moved, TurnLost})

    def __init__(self, options: QuantumChessOptions) -> None:
        """Raises ContradictionError."""
        self.options = options
        self._turn = COLOURS.index(options.turn)
        self._moves = 0
        self._passes = 0
        self._touched: Piece | None = None
        self._is_collapsing = False
        self._end: End | None = None
        self._words = ""
        self._pools = (dict(POOL), dict(POOL))
        self._undrawn: list[Piece] = []
        self.board = ChessBoard(self._first_pieces())
        for text in options.played:
            self.follow(text)
            if self._end is not None:
                raise ContradictionError(f"played: {text!r} ends the game; leave it and what follows out")

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        """Raises InputError naming the field."""
        return cls(parse(QuantumChessOptions, dict(options), "quantum-chess options"))

    @property
    def longest(self) -> int | None:
        moves, passes = self.options.max_moves, self.options.max_passes
        return 2 * (moves + 1) * (passes + 1) if moves and passes else None

    def describe(self) -> dict[str, Any]:
        """`variant`; for a given position also its pieces as `board` (hidden types as `unknown`) and announcements as
        `played`.
        """
        description: dict[str, Any] = {"variant": self.options.variant.value}
        if self.options.position:
            description["board"] = [
                piece.model_dump() | {"types": [UNKNOWN if kind.startswith(HIDDEN) else kind for kind in piece.types]}
                for piece in self.options.position
            ]
            description["played"] = list(self.options.played)
        return description

    @property
    def end(self) -> End | None:
        return self._end

    @property
    def undrawn(self) -> tuple[Piece, tuple[PieceType, ...]] | None:
        if not self._undrawn:
            return None
        piece = self._undrawn[0]
        pool = self._pools[piece.colour]
        return piece, tuple(kind for kind in pool if pool[kind])

    def renegotiate(self) -> bool:
        return False

    def pending(self) -> Request:
        if self.undrawn is not None:
            return Chance(NATURE, len(self.undrawn[1]))
        if self._touched is None:
            return Selection(self._turn)
        if self._is_collapsing:
            return Chance(NATURE, 2)
        return Destination(self._turn, self._touched.x, self._touched.y)

    def apply(self, reply: Reply) -> Sequence[Event]:
        if self._end is not None:
            raise RuntimeError("the game is over: nothing is pending")
        match self.pending(), reply.decision:
            case Chance(outcomes=outcomes), Drawn(outcome=outcome) if 0 <= outcome < outcomes:
                return self._draw(outcome)
            case ((Selection() | Destination()), _) if reply.kind is not ReplyKind.DECIDED:
                return self._no_square(reply)
            case Selection(), OnSquare(x=x, y=y):
                return self._select(x, y)
            case Destination(), OnSquare(x=x, y=y):
                return self._move(x, y)
            case request, decision:
                raise TypeError(f"{decision!r} is no answer to {request!r}")

    def forfeit(self, fault: AgentFault) -> Sequence[Event]:
        if self._end is None:
            self._finish(fault, f"{COLOURS[fault.seat]} {_FAULT_WORDS.get(fault.verdict, _GONE)}")
        return ()

    def result(self, names: tuple[str, str]) -> str:  # noqa: ARG002 the field's line names colours
        """`white`, `black`, `white DRAW` (white moved last) or a colour and its fault."""
        return self._words

    def end_by_limit(self) -> None:
        """Draw the game after its last turn, as `max_moves` or `max_passes` does; nothing within a turn."""
        if self._touched is None and (self._moves or self._passes):
            self._turn = 1 - self._turn
            self._draw_by_limit()

    def follow(self, text: str) -> list[Reply]:
        """Returns the answers. Raises ContradictionError."""
        heard = SELECTED.fullmatch(text) or MOVED.fullmatch(text)
        if heard is None:
            raise ContradictionError(f"{quote(text)} is neither a selection nor a move")
        is_move = heard.re is MOVED
        if self._end is not None or self.undrawn is not None:
            raise ContradictionError(f"{text!r} comes where no turn is played")
        if is_move is (self._touched is None):
            wanted = "a move of the selected piece" if self._touched else "a selection"
            raise ContradictionError(f"{text!r} comes where {wanted} is due")
        x, y = (heard[3], heard[4]) if is_move else (heard[1], heard[2])
        replies = [decided(OnSquare(int(x), int(y)), f"{x} {y}")]
        events = self.apply(replies[0])
        if self._is_collapsing:
            replies.append(decided(Drawn(int(heard[3]))))
            events = self.apply(replies[1])
        announcements = [announcement(event) for event in events if isinstance(event, Selected | Moved)]
        if text not in announcements:
            raise ContradictionError(f"{text!r} where the rules give {(announcements or [self._words])[0]!r}")
        return replies

    def _first_pieces(self) -> list[Piece]:
        if self.options.position:
            return [piece_from(placed) for placed in self.options.position]
        if self.options.variant is Variant.CLASSICAL:
            return classical_pieces()
        pieces = quantum_pieces()
        self._undrawn = [piece for piece in pieces if len(piece.types) == 1]
        return pieces

    def _draw(self, outcome: int) -> Sequence[Event]:
        if self.undrawn is not None:
            piece, kinds = self.undrawn
            self._pools[piece.colour][kinds[outcome]] -= 1
            piece.types.append(kinds[outcome])
            piece.shown.append(False)
            self._undrawn.pop(0)
            return ()
        if self._touched is None:
            raise RuntimeError("there is no piece to collapse")
        self._is_collapsing = False
        self._touched.collapse(outcome)
        return self._announce(self._touched)

    def _select(self, x: int, y: int) -> Sequence[Event]:
        piece = self.board.at(x, y)
        if not (0 <= x < SIZE and 0 <= y < SIZE):
            return self._refuse(Verdict.ILLEGAL, f"BOUNDS {x},{y}")
        if piece is None:
            return self._refuse(Verdict.ILLEGAL, "EMPTY")
        if piece.colour != self._turn:
            colour, other = COLOURS[self._turn], COLOURS[piece.colour]
            return self._refuse(Verdict.ILLEGAL, f"COLOUR {other} not {colour}")
        self._touched = piece
        if piece.is_open:
            self._is_collapsing = True
            return ()
        return self._announce(piece)

    def _announce(self, piece: Piece) -> Sequence[Event]:
        if piece.current is None or piece.index is None:
            raise RuntimeError("a piece that is still open was announced")
        seat, kind, index = self._turn, piece.current.value, piece.index
        events = [Selected(only, seat, piece.x, piece.y, index, kind) for only in (seat, 1 - seat)]
        if not self.board.targets(piece):
            piece.release()
            self._pass()
        return events

    def _move(self, x: int, y: int) -> Sequence[Event]:
        piece = self._touched
        if piece is None:
            raise RuntimeError("there is no piece to move")
        if (x, y) not in self.board.targets(piece):
            return self._refuse(Verdict.ILLEGAL, f"ILLEGAL move {x},{y}")
        seat, from_x, from_y = self._turn, piece.x, piece.y
        taken = self.board.move(piece, x, y, self.options.variant is Variant.CLASSICAL)
        self._moves += 1
        self._passes = 0
        self._judge_move(taken)
        self._hand_over()
        return [Moved(only, seat, from_x, from_y, x, y) for only in (seat, 1 - seat)]

    def _judge_move(self, taken: Piece | None) -> None:
        if taken is not None and taken.current is PieceType.KING:
            loser = COLOURS[taken.colour]
            end = RuleResult(Verdict.WIN, 1 - taken.colour, sentence(f"the {loser} king was taken"))
            self._finish(end, COLOURS[1 - taken.colour])
        elif self.board.count(WHITE) == self.board.count(BLACK) == 1:
            self._draw_game(sentence("one piece of each colour is left"))
        elif 0 < self.options.max_moves < self._moves:
            self._draw_by_limit()

    def _pass(self) -> None:
        self._passes += 1
        if 0 < self.options.max_passes <= self._passes:
            self._draw_by_limit()
        self._hand_over()

    def _hand_over(self) -> None:
        self._touched = None
        self._turn = 1 - self._turn

    def _no_square(self, reply: Reply) -> Sequence[Event]:
        said = repeated(reply.said.strip(" \t\r\n")).replace("\t", " ")
        match reply.kind:
            case ReplyKind.UNREADABLE:
                return self._refuse(Verdict.UNREADABLE, f'GIBBERISH "{said}"')
            case ReplyKind.UNASKED:
                # UCC's text API, Game start: an unrequested response is illegal.
                return self._lose(Verdict.ILLEGAL, f'ILLEGAL unasked "{said}"')
            case ReplyKind.RESIGNED:
                return self._lose(Verdict.RESIGNED, _FAULT_WORDS[Verdict.RESIGNED])
            case _:
                return self._lose(Verdict.REFUSED, _GONE)

    def _refuse(self, verdict: Verdict, words: str) -> Sequence[Event]:
        """A selected piece keeps its new type."""
        if self.options.illegal == "loses-game":
            return self._lose(verdict, words)
        seat = self._turn
        self._pass()
        return (TurnLost(seat, words),)

    def _lose(self, verdict: Verdict, words: str) -> Sequence[Event]:
        self._finish(AgentFault(verdict, self._turn, words), f"{COLOURS[self._turn]} {words}")
        return ()

    def _draw_by_limit(self) -> None:
        if self._passes:
            self._draw_game(sentence(f"{self._passes} turns in a row passed without a move"))
        else:
            self._draw_game(sentence(f"{self._moves} moves were made"))

    def _draw_game(self, reason: str) -> None:
        self._finish(RuleResult(Verdict.DRAW, None, reason), f"{COLOURS[self._turn]} DRAW")

    def _finish(self, end: End, words: str) -> None:
        self._end = end
        self._words = words
