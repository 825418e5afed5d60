"""Options of a game of five in a row: board, rule, opening and swaps."""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import Field, StrictBool, StrictInt, model_validator

from judge.base.parsing import FrozenModel, parse
from judge.games.gomoku.opening import FIFTH_AT, STEPS, Geometry, SwapRule
from judge.games.gomoku.rules import CONTINUOUS_BIT, Rule, rule_of_bits

SMALLEST, LARGEST = 5, 60
"""Room for five stones, and two-digit names."""

Side = Annotated[StrictInt, Field(ge=SMALLEST, le=LARGEST)]


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
        changes = {"width": size, "height": size, "opening": opening}
        return self.model_validate(self.model_dump() | changes)

    @property
    def drawn_at(self) -> int:
        squares = self.width * self.height
        if self.draw_at is not None:
            return min(squares, self.draw_at)
        has_rest = self.rule is Rule.RENJU and squares > 2 * RENJU_REST
        return squares - RENJU_REST if has_rest else squares

    @property
    def lays_as_renju(self) -> bool:
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


RENJU_REST = 25
"""Free squares at which Gomocup's managers draw renju."""
