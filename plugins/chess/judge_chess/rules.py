"""Chess and Chess960 as a game of judge, with the rules of python-chess.

Sources: FIDE Laws of Chess, 9.2 to 9.6 (draws) and Guideline II (Chess960).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import chess
from pydantic import Field, StrictBool, StrictInt

from judge.base.errors import InputError
from judge.base.parsing import FrozenModel, parse
from judge.base.text import quote
from judge.games.types import (
    NATURE,
    AgentFault,
    Chance,
    Decision,
    Drawn,
    End,
    Event,
    Reply,
    ReplyKind,
    Request,
    RuleResult,
    Verdict,
)
from judge_chess.positions import START, STARTS, Start, read_start, uci_moves

COLOURS = ("white", "black")
MAX_MOVES = 1_000_000
MAX_SCORE_CP = 100_000
MAX_SENT_MOVES = 150
"""More moves are sent as a later position, without losing positions that can still repeat."""


@dataclass(slots=True)
class ChooseMove(Request):
    """`seat` must move. Its position is `fen` and the `moves` since then, in UCI notation."""

    fen: str = START
    moves: tuple[str, ...] = ()
    is_white: bool = True
    start: str = START
    """The game's first position."""
    played: int = 0
    """Number of moves since `start`, which may be before `fen`."""
    is_chess960: bool = False

    def root(self) -> chess.Board:
        """Return the position of `fen`."""
        return chess.Board(self.fen, chess960=self.is_chess960)

    def board(self) -> chess.Board:
        """Return the position."""
        board = self.root()
        for move in self.moves:
            board.push_uci(move)
        return board


@dataclass(slots=True)
class Move(Decision):
    """A move in UCI notation, not yet checked. `score_cp` is the mover's evaluation in centipawns, if known."""

    uci: str
    score_cp: int | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Move) and self.uci == other.uci

    def __hash__(self) -> int:
        return hash(self.uci)


@dataclass(slots=True)
class ClaimDraw(Decision):
    """A claim of a third repetition or 50 moves (FIDE 9.2 and 9.3). A wrong one loses."""


@dataclass(slots=True)
class Moved(Event):
    """`seat` moved: in UCI notation and in standard algebraic notation."""

    seat: int
    uci: str
    san: str


class DrawAdjudication(FrozenModel):
    """Ends a game as a draw by the scores of both agents."""

    after: StrictInt = Field(default=34, ge=1, le=MAX_MOVES)
    """First move number at which it applies."""
    moves: StrictInt = Field(default=8, ge=1, le=MAX_MOVES)
    """Consecutive moves of each side with a score of at most `score_cp`."""
    score_cp: StrictInt = Field(default=10, ge=0, le=MAX_SCORE_CP)


class WinAdjudication(FrozenModel):
    """Ends a game as a win by the scores of both agents."""

    moves: StrictInt = Field(default=4, ge=1, le=MAX_MOVES)
    """Consecutive moves of each side that agree."""
    score_cp: StrictInt = Field(default=900, ge=1, le=MAX_SCORE_CP)


class ChessOptions(FrozenModel):
    """Options of a game."""

    variant: Literal["chess", "chess960"] = "chess"
    position: str = ""
    """An opening; empty: the usual position, in Chess960 a random one. See `judge_chess.positions`."""
    threefold: StrictBool = True
    """Whether the third repetition is a draw. The fifth always is (FIDE 9.6.1)."""
    fifty_moves: StrictBool = True
    """Whether 50 moves without capture or pawn move are a draw. 75 always are (FIDE 9.6.2)."""
    max_moves: StrictInt = Field(default=0, ge=0, le=MAX_MOVES)
    """The game is a draw after this number of moves of each side; 0: no limit."""
    draw_by_score: DrawAdjudication | None = None
    win_by_score: WinAdjudication | None = None


class Chess:
    """One game. Seat 0 is white."""

    requests: ClassVar[frozenset[type[Request]]] = frozenset({Chance, ChooseMove})
    events: ClassVar[frozenset[type[Event]]] = frozenset({Moved})

    def __init__(self, options: ChessOptions) -> None:
        """Raises InputError for a position that is invalid or ends the game."""
        self.options = options
        self.is_chess960 = options.variant == "chess960"
        self._end: End | None = None
        self._scores: list[int | None] = []
        self._is_drawn = self.is_chess960 and not options.position
        self.opening_moves = 0
        self.board = chess.Board()
        if not self._is_drawn:
            self._begin(read_start(options.position, chess960=self.is_chess960))
            self.check_opening(self.board)

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        """Return the game of `ChessOptions`. Raises InputError naming the field."""
        return cls(parse(ChessOptions, dict(options), "chess options"))

    def check_opening(self, board: chess.Board) -> None:
        """Raises InputError for a position that ends the game, which then has this position."""
        self.board, self.opening_moves = board, len(board.move_stack)
        if (end := self._natural_end()) is not None:
            raise InputError(f"position: the game is over: {end.reason}; choose an earlier position")

    def _begin(self, start: Start) -> None:
        self._is_drawn = False
        self.board = start.board()
        self.opening_moves = len(self.board.move_stack)
        self.start = self.board.root().fen()
        self._moves = list(uci_moves(self.board))

    # --- interface for the referee -----------------------------------------------------------------------------------

    @property
    def longest(self) -> int | None:
        """Return the number of moves, and the choice of a start position."""
        return 2 * self.options.max_moves + 1 if self.options.max_moves else None

    @property
    def end(self) -> End | None:
        """Return the end; None during the game."""
        return self._end

    def describe(self) -> dict[str, Any]:
        """Return the variant."""
        return {"variant": self.options.variant}

    @property
    def draws_start(self) -> bool:
        """Whether chance chooses the start position."""
        return self._is_drawn

    def renegotiate(self) -> bool:
        """Return False: there are no other terms."""
        return False

    def pending(self) -> Request:
        """Return the choice of a start position, or a request for a move."""
        if self._is_drawn:
            return Chance(NATURE, STARTS)
        board = self.board
        stack = board.move_stack
        fen, since = self.start, 0
        if len(stack) > MAX_SENT_MOVES:
            since = len(stack) - min(board.halfmove_clock, MAX_SENT_MOVES)
            earlier = board.copy(stack=len(stack) - since)
            for _ in range(len(stack) - since):
                earlier.pop()
            fen = earlier.fen()
        moves = tuple(self._moves[since:])
        return ChooseMove(
            int(not board.turn), fen, moves, board.turn, self.start, len(stack), is_chess960=self.is_chess960
        )

    def apply(self, reply: Reply) -> Sequence[Event]:
        """Apply the answer to `pending()`. Raises as `Game.apply`."""
        if self._end is not None:
            raise RuntimeError("the game is over: nothing is pending")
        seat = int(not self.board.turn)
        match reply.decision:
            case Drawn(outcome=outcome) if self._is_drawn and 0 <= outcome < STARTS:
                self._begin(Start(chess.Board.from_chess960_pos(outcome).fen(), chess960=True))
                return ()
            case Move() as move if not self._is_drawn and reply.kind is ReplyKind.DECIDED:
                return self._move(seat, move)
            case ClaimDraw() if not self._is_drawn:
                self._end = self._claimed() or AgentFault(
                    Verdict.ILLEGAL, seat, f"{quote(reply.said, 60)}: {_NO_CLAIM}"
                )
                return ()
            case None if not self._is_drawn:
                self._end = AgentFault(*_fault(reply, seat))
                return ()
            case decision:
                raise TypeError(f"{decision!r} is no answer to {self.pending()!r}")

    def forfeit(self, fault: AgentFault) -> Sequence[Event]:
        """End the game."""
        self._end = self._end or fault
        return ()

    def result(self, names: tuple[str, str]) -> str:  # noqa: ARG002 PGN results name colours
        """Return 1-0, 0-1 or 1/2-1/2."""
        match self._end:
            case RuleResult(winner=None):
                return "1/2-1/2"
            case RuleResult(winner=int(winner)):
                return ("1-0", "0-1")[winner]
            case AgentFault(seat=seat):
                return ("0-1", "1-0")[seat]
            case _:
                return "*"

    # --- moves -------------------------------------------------------------------------------------------------------

    def _move(self, seat: int, decision: Move) -> Sequence[Event]:
        board = self.board
        if decision.uci in ("(none)", "0000"):
            legal = board.legal_moves.count()
            why = f"answered {decision.uci} instead of one of {legal} legal moves"
            self._end = AgentFault(Verdict.ILLEGAL, seat, why)
            return ()
        try:
            move = board.parse_uci(decision.uci)
        except ValueError:
            why = f"{quote(decision.uci, 20)} is illegal in {board.fen()}"
            self._end = AgentFault(Verdict.ILLEGAL, seat, why)
            return ()
        uci, san = board.uci(move), board.san(move)
        board.push(move)
        self._moves.append(uci)
        self._scores.append(decision.score_cp)
        self._end = self._natural_end() or self._adjudicated()
        return (Moved(None, seat, uci, san),)

    def _natural_end(self) -> RuleResult | None:
        board = self.board
        if not any(board.legal_moves):
            if board.is_check():
                return RuleResult(Verdict.WIN, int(board.turn), "checkmate")
            return _draw("stalemate")
        if board.is_insufficient_material():
            return _draw("insufficient material")
        if board.is_seventyfive_moves():
            return _draw("75 moves without capture or pawn move")
        if board.is_fivefold_repetition():
            return _draw("fivefold repetition")
        if self.options.fifty_moves and board.halfmove_clock >= 100:
            return _draw(_FIFTY_MOVES)
        if self.options.threefold and board.is_repetition(3):
            return _draw(_THREEFOLD)
        most = self.options.max_moves
        if most and len(board.move_stack) - self.opening_moves >= 2 * most:
            return _draw(f"{most} moves of each side")
        return None

    def _claimed(self) -> RuleResult | None:
        if self.board.halfmove_clock >= 100:
            return _draw(f"claimed: {_FIFTY_MOVES}")
        return _draw(f"claimed: {_THREEFOLD}") if self.board.is_repetition(3) else None

    def _adjudicated(self) -> RuleResult | None:
        draw, win = self.options.draw_by_score, self.options.win_by_score
        if draw is not None and self.board.fullmove_number > draw.after:
            last = self._last_scores(draw.moves)
            if last and all(abs(score) <= draw.score_cp for score in last):
                return _draw(f"adjudicated: {draw.moves} moves with scores of at most {draw.score_cp / 100:.2f}")
        if win is not None and (last := self._last_scores(win.moves)):
            # Scores are from the mover's side; the last one is from the side that has just moved.
            signed = [score if number % 2 else -score for number, score in enumerate(last)]
            mover = int(self.board.turn)
            for winner, sign in ((mover, 1), (1 - mover, -1)):
                if all(sign * score >= win.score_cp for score in signed):
                    what = f"adjudicated: {win.moves} moves with scores of at least {win.score_cp / 100:.2f}"
                    return RuleResult(Verdict.WIN, winner, what)
        return None

    def _last_scores(self, moves: int) -> list[int]:
        last = [score for score in self._scores[-2 * moves :] if score is not None]
        return last if len(last) == 2 * moves else []


_THREEFOLD = "threefold repetition"
_FIFTY_MOVES = "50 moves without capture or pawn move"
_NO_CLAIM = "no draw: neither a third repetition nor 50 moves without capture or pawn move"


def _draw(reason: str) -> RuleResult:
    return RuleResult(Verdict.DRAW, None, reason)


def _fault(reply: Reply, seat: int) -> tuple[Verdict, int, str]:
    said = quote(reply.said, 40)
    match reply.kind:
        case ReplyKind.RESIGNED:
            return Verdict.RESIGNED, seat, "resigned"
        case ReplyKind.REFUSED:
            return Verdict.REFUSED, seat, f"refused to play: {said}"
        case _:
            return (
                Verdict.UNREADABLE,
                seat,
                f"{said} is not a move; write such as bestmove e7e8q or move e7e8q",
            )
