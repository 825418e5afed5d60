"""One game of five in a row.

Seat 0 begins as black; swaps change the seats' colours.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Self

from judge.base.errors import InputError
from judge.base.text import quote, sentence
from judge.games.gomoku.board import GomokuBoard
from judge.games.gomoku.options import FIFTH_AT, STEPS, GomokuOptions, events_of, requests_of, symmetric_squares
from judge.games.gomoku.renju import foul
from judge.games.gomoku.requests import (
    BLACK,
    WHITE,
    AnswerSwap,
    ChooseFifth,
    ColoursSettled,
    LayStones,
    OfferFifths,
    Placed,
    PlaceStone,
    Square,
    Stone,
    StonePlaced,
    Stones,
    StonesRequest,
    Swap,
    say_square,
)
from judge.games.gomoku.rules import Rule, winning_row
from judge.games.types import AgentFault, Decision, End, Event, Reply, ReplyKind, Request, RuleResult, Verdict


class OpeningError(InputError):
    """`stone` counts from 1."""

    def __init__(self, stone: int, what: str) -> None:
        super().__init__(f"stone {stone} of the opening: {what}")
        self.stone = stone


OPENING_ANSWERS = 16


class Gomoku:
    """Black moves after an even number of stones."""

    def __init__(self, options: GomokuOptions) -> None:
        """Raises OpeningError."""
        self.options = options
        self.rule = options.rule
        self.requests = requests_of(options.swap, options.fifths)
        self.events = events_of(options.swap)
        self._sizes = list(options.other_sizes)
        self._set_up(options)

    def _set_up(self, options: GomokuOptions) -> None:
        self._board = GomokuBoard(options.width, options.height)
        self._end: End | None = None
        self._points = [0, 0]
        self._steps = STEPS[options.swap]
        self.black = 0
        self._offers: list[Square] = []
        self._opening = 0
        self._drawn_at = options.drawn_at
        self._request: StonesRequest | None = None
        for x, y in options.opening:
            self._open(x, y)

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        """Raises InputError naming the field or stone."""
        return cls(GomokuOptions.of(options))

    def describe(self) -> dict[str, Any]:
        options = self.options
        return {
            "width": self.width,
            "height": self.height,
            "rule": options.rule.value,
            "continuous": options.continuous,
            "swap": options.swap.value,
            "fifths": options.fifths,
            "other_sizes": list(self._sizes),
        }

    @property
    def longest(self) -> int:
        return max([self.width * self.height, *(size * size for size in self._sizes)]) + OPENING_ANSWERS

    def renegotiate(self) -> bool:
        """To the next board size that holds the opening."""
        if len(self.stones) > len(self.options.opening):
            return False
        while self._sizes:
            try:
                self._set_up(self.options.resized(self._sizes.pop(0)))
            except (OpeningError, ValueError):
                continue
            return True
        return False

    @property
    def width(self) -> int:
        return self._board.width

    @property
    def height(self) -> int:
        return self._board.height

    @property
    def end(self) -> End | None:
        return self._end

    @property
    def stones(self) -> Sequence[Placed]:
        """In play order. Shared and read-only."""
        return self._board.stones

    @property
    def dead(self) -> Collection[Square]:
        """In a continuous game. Shared and read-only."""
        return self._board.dead

    @property
    def offers(self) -> Sequence[Square]:
        return self._offers if len(self.stones) == FIFTH_AT else ()

    def pending(self) -> StonesRequest:
        if self._request is None:
            self._request = self._next_request()
        return self._request

    def _next_request(self) -> StonesRequest:
        stones = self._board.stones
        colour = len(stones) & 1
        step = self._steps.get(len(stones))
        if step is not None:
            where = (step.seat, stones, len(stones), self.width, self.height, colour)
            if not step.lays:
                return AnswerSwap(*where, step.adds)
            return PlaceStone(*where) if step.lays == 1 else LayStones(*where, step.lays)
        where = (self._seat(colour), stones, self._opening, self.width, self.height, colour)
        if self.options.fifths == 1 or len(stones) != FIFTH_AT:
            return PlaceStone(*where, self._board.dead)
        if len(self._offers) < self.options.fifths:
            barred = set().union(*map(self._images, self._offers))
            free = [square for square in self._board.free() if square not in barred]
            return OfferFifths(*where, self.options.fifths, tuple(self._offers), free)
        return ChooseFifth(self._seat(WHITE), *where[1:], tuple(self._offers))

    def _seat(self, colour: int) -> int:
        return self.black ^ colour

    def _images(self, square: Square) -> set[Square]:
        return symmetric_squares(square, self._board.stones, self.width, self.height)

    def apply(self, reply: Reply) -> Sequence[Event]:
        if self._end is not None:
            raise RuntimeError("the game is over: nothing is pending")
        events = self._take(self.pending(), reply)
        self._request = None
        end = self.end
        if isinstance(end, AgentFault) and reply.spoken:
            reason = sentence(f"{end.reason}; it sent {quote(reply.spoken)}")
            self._end = end = AgentFault(end.verdict, end.seat, reason)
        if isinstance(end, AgentFault) and reply.complaint:
            reason = sentence(f"{end.reason}; before that it sent {quote(reply.complaint)}")
            self._end = AgentFault(end.verdict, end.seat, reason)
        return events

    def _take(self, request: StonesRequest, reply: Reply) -> Sequence[Event]:
        decision = reply.decision
        if reply.kind is not ReplyKind.DECIDED:
            return self.forfeit(_no_stone(request.seat, reply))
        if not isinstance(decision, Stone | Stones | Swap):
            raise TypeError(f"gomoku asked for stones, not for a {type(decision).__name__}")
        answer = _ANSWERS.get((type(request), type(decision)))
        if answer is None:
            what = sentence(f"{_say(decision)} where {_ASKED[type(request)]}")
            return self.forfeit(AgentFault(Verdict.ILLEGAL, request.seat, what))
        return answer(self, request, decision)

    def forfeit(self, fault: AgentFault) -> Sequence[Event]:
        if self._end is None:
            self._end = fault
        return ()

    def result(self, names: tuple[str, str]) -> str:  # noqa: ARG002 the protocol sends END only
        """Empty: gomoku managers have no result line."""
        return ""

    def _place_one(self, request: PlaceStone, stone: Stone) -> Sequence[Event]:
        objection = self._board.objection(stone.x, stone.y)
        if objection is None and len(self._board.stones) in self._steps:
            objection = self._objection_to_laying(stone)
        if objection is not None:
            return self._illegal(request, objection)
        self._play(stone.x, stone.y, request.colour)
        return (StonePlaced(None, stone.x, stone.y, request.colour, request.seat),)

    def _place_many(self, request: LayStones | AnswerSwap, stones: Stones) -> Sequence[Event]:
        asked = request.count if isinstance(request, LayStones) else request.adds
        if len(stones.squares) != asked:
            return self._illegal(request, sentence(f"{_say(stones)} where {_say_asked(request)}"))
        events: list[Event] = []
        for x, y in stones.squares:
            objection = self._board.objection(x, y)
            if objection is not None:
                return [*events, *self._illegal(request, objection)]
            colour = len(self._board.stones) & 1
            self._play(x, y, colour)
            events.append(StonePlaced(None, x, y, colour, request.seat))
        return events

    def _stay_white(self, request: AnswerSwap, stone: Stone) -> Sequence[Event]:
        objection = self._board.objection(stone.x, stone.y)
        if objection is not None:
            return self._illegal(request, objection)
        self._play(stone.x, stone.y, WHITE)
        return (StonePlaced(None, stone.x, stone.y, WHITE, request.seat), self._settle(1 - request.seat))

    def _take_black(self, request: AnswerSwap, _swap: Swap) -> Sequence[Event]:
        return (self._settle(request.seat),)

    def _settle(self, black: int) -> Event:
        self.black = black
        self._steps = {}
        self._opening = len(self._board.stones)
        return ColoursSettled(None, black)

    def _offer(self, request: OfferFifths, offer: Stone | Stones) -> Sequence[Event]:
        squares = offer.squares if isinstance(offer, Stones) else ((offer.x, offer.y),)
        missing = request.count - len(request.offered)
        if not 1 <= len(squares) <= missing:
            what = sentence(f"{len(squares)} fifth stones, where {missing} are still to be offered")
            return self._illegal(request, what)
        for x, y in squares:
            objection = self._board.objection(x, y) or self._objection_to_offer(x, y)
            if objection is not None:
                return self._illegal(request, objection)
            self._offers.append((x, y))
        return ()

    def _choose(self, request: ChooseFifth, stone: Stone) -> Sequence[Event]:
        if (stone.x, stone.y) not in self._offers:
            what = sentence(f"{say_square(stone.x, stone.y)} is not one of the fifth stones offered")
            return self._illegal(request, what)
        self._play(stone.x, stone.y, BLACK)
        return (StonePlaced(None, stone.x, stone.y, BLACK, self.black),)

    def _illegal(self, request: Request, what: str) -> Sequence[Event]:
        return self.forfeit(AgentFault(Verdict.ILLEGAL, request.seat, what))

    def _objection_to_laying(self, stone: Stone) -> str | None:
        reach = len(self._board.stones)
        distance = max(abs(stone.x - self.width // 2), abs(stone.y - self.height // 2))
        if distance <= reach or not self.options.lays_as_renju:
            return None
        side = 2 * reach + 1
        return sentence(f"{say_square(stone.x, stone.y)} is outside the middle {side}x{side} squares")

    def _objection_to_offer(self, x: int, y: int) -> str | None:
        image = self._images((x, y)).intersection(self._offers)
        if not image:
            return None
        return sentence(f"{say_square(x, y)} is equal to the offer {say_square(*image.pop())} by symmetry")

    def _open(self, x: int, y: int) -> None:
        number = len(self.stones) + 1
        objection = self._board.objection(x, y)
        if objection is not None:
            raise OpeningError(number, f"{objection}; give every stone its own free square")
        colour = (number - 1) & 1
        if self.options.continuous:
            self._play(x, y, colour)
        else:  # managers do not check these
            self._judge_stone(self._board.place(x, y, colour))
        if self._end is not None:
            what = f"{say_square(x, y)} ends the game ({self._end.reason})"
            raise OpeningError(number, f"{what}; an opening must leave it open")
        self._opening = number

    def _play(self, x: int, y: int, colour: int) -> None:
        board = self._board
        found = None
        if self.rule is Rule.RENJU and colour == BLACK:
            found = foul(board.cells, board.stride, board.index(x, y))
        at = board.place(x, y, colour)
        if found is None:
            self._judge_stone(at)
        elif self.options.continuous:
            self._points[WHITE] += 1
            board.mark_dead(at)
            self._judge_full()
        else:
            reason = sentence(f"{found.value} at {say_square(x, y)}")
            self._end = RuleResult(Verdict.FOUL, self._seat(WHITE), reason)

    def _judge_stone(self, at: int) -> None:
        board = self._board
        row = winning_row(board.cells, board.stride, at, self.rule)
        if row is not None:
            if not self.options.continuous:
                first, last = board.say(row.first), board.say(row.last)
                reason = sentence(f"{row.length} in a row, {first} to {last}")
                self._end = RuleResult(Verdict.WIN, self._seat(row.colour), reason)
                return
            self._points[row.colour] += 1
            for index in range(row.first, row.last + 1, row.step):
                board.mark_dead(index)
        self._judge_full()

    def _judge_full(self) -> None:
        if len(self._board.stones) < self._drawn_at:
            return
        black, white = self._points
        if black != white:
            winner = self._seat(BLACK if black > white else WHITE)
            self._end = RuleResult(Verdict.WIN, winner, sentence(f"rows: black {black}, white {white}"))
        elif self.options.continuous:
            self._end = RuleResult(Verdict.DRAW, None, sentence(f"rows: black {black}, white {white}"))
        elif self._board.is_full:
            self._end = RuleResult(Verdict.DRAW, None, sentence("the board is full"))
        else:
            self._end = RuleResult(Verdict.DRAW, None, sentence(f"{self._drawn_at} stones and no winner"))


_ANSWERS: Mapping[tuple[type[Request], type[Decision]], Callable[[Gomoku, Any, Any], Sequence[Event]]] = {
    (PlaceStone, Stone): Gomoku._place_one,
    (LayStones, Stones): Gomoku._place_many,
    (AnswerSwap, Stone): Gomoku._stay_white,
    (AnswerSwap, Swap): Gomoku._take_black,
    (AnswerSwap, Stones): Gomoku._place_many,
    (OfferFifths, Stone): Gomoku._offer,
    (OfferFifths, Stones): Gomoku._offer,
    (ChooseFifth, Stone): Gomoku._choose,
}

_ASKED: Mapping[type[Request], str] = {
    PlaceStone: sentence("one stone is asked for"),
    LayStones: sentence("the first stones are asked for"),
    AnswerSwap: sentence("a swap or one stone is asked for"),
    OfferFifths: sentence("fifth stones are asked for"),
    ChooseFifth: sentence("one of the offered fifth stones is asked for"),
}


def _say_asked(request: LayStones | AnswerSwap) -> str:
    if isinstance(request, LayStones):
        return sentence(f"{request.count} are asked for")
    if not request.adds:
        return _ASKED[AnswerSwap]
    several = "two" if request.adds == 2 else str(request.adds)
    return sentence(f"one or {several} stones, or SWAP, are allowed")


def _say(decision: Decision) -> str:
    match decision:
        case Swap():
            return sentence("a swap")
        case Stones(squares):
            return sentence(f"{len(squares)} stones")
        case _:
            return sentence("a stone")


def _no_stone(seat: int, reply: Reply) -> AgentFault:
    match reply.kind:
        case ReplyKind.RESIGNED:
            return AgentFault(Verdict.RESIGNED, seat, sentence(f"resigned, saying {quote(reply.said)}"))
        case ReplyKind.REFUSED:
            return AgentFault(Verdict.REFUSED, seat, sentence(f"refused to play on, saying {quote(reply.said)}"))
        case _:
            return AgentFault(Verdict.UNREADABLE, seat, sentence(f"{quote(reply.said)} cannot be read as a square"))
