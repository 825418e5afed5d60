"""What a game of five in a row starts from: board, rule, opening and swaps, each checked by name."""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, model_validator

from judge.base.parsing import parse
from judge.games.gomoku.opening import FIFTH_AT, STEPS, Geometry, SwapRule
from judge.games.gomoku.rules import CONTINUOUS_BIT, Rule, rule_of_bits

SMALLEST, LARGEST = 5, 60
"""Squares along a side: five must fit, and two digits must name them."""

Side = Annotated[StrictInt, Field(ge=SMALLEST, le=LARGEST)]


class GomokuOptions(BaseModel):
    """What a game starts from; `opening` holds x, y from 0 in play order, black first."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    width: Side
    height: Side
    rule: Rule = Rule.FREESTYLE
    """By name, or as the bitmask of INFO rule (0, 1, 4, 8, 9, each plus 2 for `continuous`)."""
    continuous: StrictBool = False
    """Play until the board is full; each row is a point, its stones are dead."""
    draw_at: Annotated[StrictInt, Field(ge=1)] | None = None
    """A draw at this many stones; None: on a full board, in renju 25 stones before it (200 on 15x15)."""
    opening: tuple[tuple[StrictInt, StrictInt], ...] = ()
    swap: SwapRule = SwapRule.NONE
    fifths: Annotated[StrictInt, Field(ge=1)] = 1
    """How many fifth stones black must offer, of which white keeps one."""
    geometry: Geometry | None = None
    """Where stones are laid before a swap; None: by the rule."""
    other_sizes: tuple[Side, ...] = ()
    """Sizes of a square board to go on with, in order, where an agent refuses the one of the policy."""

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Self:
        """The options in plain values; InputError names the field."""
        return parse(cls, dict(options), "gomoku options")

    def resized(self, size: int) -> Self:
        """The same game on a square board of `size`, the opening around its centre."""
        across, down = size // 2 - self.width // 2, size // 2 - self.height // 2
        opening = tuple((x + across, y + down) for x, y in self.opening)
        changes = {"width": size, "height": size, "opening": opening}
        return self.model_validate(self.model_dump() | changes)

    @property
    def drawn_at(self) -> int:
        """The number of stones at which the game is a draw."""
        squares = self.width * self.height
        if self.draw_at is not None:
            return min(squares, self.draw_at)
        has_rest = self.rule is Rule.RENJU and squares > 2 * RENJU_REST
        return squares - RENJU_REST if has_rest else squares

    @property
    def lays_as_renju(self) -> bool:
        """Whether the stones before a swap keep to the middle of the board."""
        if self.swap not in (SwapRule.FIRST, SwapRule.THIRD):
            return False
        return (self.geometry or Geometry.of(self.rule)) is Geometry.RENJU

    @model_validator(mode="before")
    @classmethod
    def _rule_by_number(cls, values: Any) -> Any:
        if isinstance(values, dict) and isinstance(values.get("rule"), int):
            rule, continuous = rule_of_bits(values["rule"])
            stated = values.get("continuous", continuous)
            if continuous and not stated:
                raise ValueError(f"rule: {CONTINUOUS_BIT} in it says that the game is continuous")
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
        # A stone has at most eight images, so that many offers can always be made.
        most = (self.width * self.height - FIFTH_AT) // 8
        if self.fifths > max(1, most):
            raise ValueError(f"fifths: this board has room for {most} that differ")
        return self


RENJU_REST = 25
"""Gomocup's managers call a game of renju drawn when this many squares are left."""
