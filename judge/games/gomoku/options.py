"""Options of a game of five in a row: board, rule, and its opening: first stones, swaps, and offers of a fifth stone.

The table gives the step for each number of stones. Fifth stones are offered afterwards, at four stones.

    swap    stones  to act            answer                                      then
    none    -       -                 -                                           settled from the start
    first   0       seat 0            lays a stone                                1
            1       seat 1            a stone: stays white; swap: takes black     settled
    third   0 1 2   seat 0            lays a stone                                1 2 3
            3       seat 1            as above                                    settled
    swap2   0       seat 0            lays three stones at once                   3
            3       seat 1            as above, or adds two stones                settled, or 5
            5       seat 0            as above                                    settled

Sources: Gomoku AI protocol, SWAP2BOARD (swap2); AGI draft, SETRULE, with the opening rules of the renju federation
(first, third, fifths): docs/agi.md.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, NamedTuple, Self

from pydantic import Field, StrictBool, StrictInt, model_validator

from judge.base.parsing import FrozenModel, parse
from judge.games.gomoku.requests import (
    AnswerSwap,
    ChooseFifth,
    ColoursSettled,
    LayStones,
    OfferFifths,
    Placed,
    PlaceStone,
    Square,
    StonePlaced,
)
from judge.games.gomoku.rules import CONTINUOUS_BIT, Rule, rule_of_bits
from judge.games.types import Event, Request

SMALLEST, LARGEST = 5, 60
"""Room for five stones, and two-digit names."""

RENJU_REST = 25
"""Free squares at which Gomocup's managers draw renju."""

Side = Annotated[StrictInt, Field(ge=SMALLEST, le=LARGEST)]


class SwapRule(StrEnum):
    """Which seat may choose its colour, and when."""

    NONE = "none"
    FIRST = "first"
    """After the first stone (`FIRSTCHANGE` of AGI)."""
    THIRD = "third"
    """After three stones of one seat (`THIRDCHANGE` of AGI)."""
    SWAP2 = "swap2"
    """Gomocup's `SWAP2BOARD`: after three stones, or after two more."""


class Geometry(StrEnum):
    """Allowed squares before a swap."""

    RENJU = "renju"
    """First stone in the centre, second within 3x3, third within 5x5."""
    FREE = "free"


class Step(NamedTuple):
    """A step of the table."""

    seat: int
    lays: int = 0
    adds: int = 0


STEPS: Mapping[SwapRule, Mapping[int, Step]] = {
    SwapRule.NONE: {},
    SwapRule.FIRST: {0: Step(0, lays=1), 1: Step(1)},
    SwapRule.THIRD: {0: Step(0, lays=1), 1: Step(0, lays=1), 2: Step(0, lays=1), 3: Step(1)},
    SwapRule.SWAP2: {0: Step(0, lays=3), 3: Step(1, adds=2), 5: Step(0)},
}

FIFTH_AT = 4


class GomokuOptions(FrozenModel):
    """Options of a game. `opening` is in play order, black first."""

    width: Side
    height: Side
    rule: Rule = Rule.FREESTYLE
    """Name, or bitmask of INFO rule (0, 1, 4, 8, 9, each plus 2 for `continuous`)."""
    continuous: StrictBool = False
    """Play until the board is full; each row is a point and its stones become dead."""
    draw_at: Annotated[StrictInt, Field(ge=1)] | None = None
    """Number of stones for a draw; None: full board, in renju 25 stones fewer."""
    opening: tuple[tuple[StrictInt, StrictInt], ...] = ()
    swap: SwapRule = SwapRule.NONE
    fifths: Annotated[StrictInt, Field(ge=1)] = 1
    """Number of fifth stones that black must offer; white keeps one."""
    geometry: Geometry | None = None
    """Allowed squares before a swap; None: from the rule."""
    other_sizes: tuple[Side, ...] = ()
    """Alternative sizes of a square board, in order, if an agent refuses the policy's size."""

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Self:
        """Raises InputError naming the field."""
        return parse(cls, dict(options), "gomoku options")

    def resized(self, size: int) -> Self:
        """The opening is centred."""
        across, down = size // 2 - self.width // 2, size // 2 - self.height // 2
        opening = tuple((x + across, y + down) for x, y in self.opening)
        return self.model_validate(self.model_dump() | {"width": size, "height": size, "opening": opening})

    @property
    def drawn_at(self) -> int:
        squares = self.width * self.height
        if self.draw_at is not None:
            return min(squares, self.draw_at)
        return squares - RENJU_REST if self.rule is Rule.RENJU and squares > 2 * RENJU_REST else squares

    @property
    def lays_as_renju(self) -> bool:
        is_renju = self.rule is Rule.RENJU if self.geometry is None else self.geometry is Geometry.RENJU
        return is_renju and self.swap in (SwapRule.FIRST, SwapRule.THIRD)

    @model_validator(mode="before")
    @classmethod
    def _rule_by_number(cls, values: Any) -> Any:
        if isinstance(values, dict) and isinstance(values.get("rule"), int):
            rule, continuous = rule_of_bits(values["rule"])
            stated = values.get("continuous", continuous)
            if continuous and not stated:
                raise ValueError(f"rule: {CONTINUOUS_BIT} in it makes the game continuous; remove continuous = false")
            values = {**values, "rule": rule, "continuous": stated}
        return values

    @model_validator(mode="after")
    def _opening_fits_the_swap(self) -> Self:
        steps, laid = STEPS[self.swap], len(self.opening)
        if steps and laid not in steps:
            known = ", ".join(map(str, steps))
            raise ValueError(f"opening: {laid} stones, but a swap of kind {self.swap.value} begins at {known}")
        if self.fifths > 1 and laid > FIFTH_AT:
            raise ValueError(f"opening: {laid} stones, but fifths are offered at {FIFTH_AT}")
        # A stone has at most eight images.
        most = (self.width * self.height - FIFTH_AT) // 8
        if self.fifths > max(1, most):
            raise ValueError(f"fifths: this board has room for {most} that differ")
        return self


Turn = Callable[[int, int], Square]


def requests_of(swap: SwapRule, fifths: int) -> frozenset[type[Request]]:
    """Possible requests."""
    kinds: set[type[Request]] = {PlaceStone}
    for step in STEPS[swap].values():
        kinds.add(AnswerSwap if not step.lays else LayStones if step.lays > 1 else PlaceStone)
    return frozenset(kinds | {OfferFifths, ChooseFifth} if fifths > 1 else kinds)


def events_of(swap: SwapRule) -> frozenset[type[Event]]:
    """Possible events."""
    return frozenset({StonePlaced, ColoursSettled} if STEPS[swap] else {StonePlaced})


def symmetric_squares(square: Square, stones: Sequence[Placed], width: int, height: int) -> set[Square]:
    """Images under the symmetries that keep `stones` with their colours."""
    whole = set(stones)
    return {
        turn(*square)
        for turn in symmetries(width, height)
        if {(*turn(x, y), colour) for x, y, colour in stones} == whole
    }


def symmetries(width: int, height: int) -> Sequence[Turn]:
    """Of a board. Identity first."""
    right, bottom = width - 1, height - 1
    mirrors: list[Turn] = [
        lambda x, y: (x, y),
        lambda x, y: (right - x, y),
        lambda x, y: (x, bottom - y),
        lambda x, y: (right - x, bottom - y),
    ]
    diagonals: list[Turn] = [
        lambda x, y: (y, x),
        lambda x, y: (right - y, x),
        lambda x, y: (y, bottom - x),
        lambda x, y: (right - y, bottom - x),
    ]
    return mirrors + diagonals if width == height else mirrors
