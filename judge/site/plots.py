"""Plots over a game by move number, with a curve for each seat.

A plot is one unit per move wide and `HEIGHT` high; the page stretches it. Screen readers get one picture named with its
range.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Protocol

from markupsafe import Markup

from judge.base.text import count_text, duration, mib, number
from judge.formats.search_figures import SearchFigures
from judge.games.types import SEATS

HEIGHT = 100

EDGE = 4

NAMES = ("evaluation", "depth", "nodes", "time", "memory")


class PlottedStep(Protocol):
    """A step, as `judge.formats.steps.ReplayStep`."""

    @property
    def seat(self) -> int | None:
        """The seat; None before the first answer."""

    @property
    def ms(self) -> float | None:
        """Charged milliseconds."""

    @property
    def memory_bytes(self) -> int | None:
        """Bytes of its box after the answer."""


Values = Sequence[tuple[int, int, float]]
"""Move number, seat, and value."""


@dataclass(frozen=True, slots=True)
class Plot:
    """A path for each seat. `middle` is the height of the line for 0; None is the bottom."""

    name: str
    width: int
    paths: tuple[Markup, Markup]
    low: str
    high: str
    middle: float | None = None


def plots_of(steps: Sequence[PlottedStep], figures: Sequence[SearchFigures]) -> Sequence[Plot]:
    """A game's plots that have values; `figures` are by step."""
    width = max(len(steps), 2)
    kinds: list[tuple[Sequence[float | None], Callable[[Values, int], Plot]]] = [
        ([figure.evaluation for figure in figures], _evaluations),
        ([figure.depth for figure in figures], partial(_curve, "depth", count_text)),
        ([figure.nodes for figure in figures], partial(_curve, "nodes", count_text, scale=math.log1p)),
        ([step.ms for step in steps], _times),
        ([step.memory_bytes for step in steps], partial(_curve, "memory", lambda count: mib(int(count)))),
    ]
    return [draw(values, width) for found, draw in kinds if (values := _values(steps, found))]


def empty_plot(name: str) -> Plot:
    """A plot to be filled during a game."""
    return Plot(name, 2, (svg_path(""), svg_path("")), "", "", HEIGHT / 2 if name in ("evaluation", "time") else None)


def _values(steps: Sequence[PlottedStep], values: Sequence[float | None]) -> Values:
    return [
        (at, step.seat, value)
        for at, (step, value) in enumerate(zip(steps, values, strict=True))
        if step.seat is not None and value is not None
    ]


def _curve(
    name: str,
    say: Callable[[float], str],
    values: Values,
    width: int,
    scale: Callable[[float], float] = lambda value: value,
) -> Plot:
    most = max(value for *_, value in values)
    unit = (HEIGHT - EDGE) / (scale(most) or 1)
    paths = _paths([(at, seat, HEIGHT - scale(value) * unit) for at, seat, value in values])
    return Plot(name, width, paths, say(0), say(most))


def _evaluations(values: Values, width: int) -> Plot:
    """Large values are compressed; forced wins are at the edge."""
    known = [value for *_, value in values if math.isfinite(value)]
    unit = (HEIGHT / 2 - EDGE) / max((abs(_drawn(value)) for value in known), default=1.0)

    def y(value: float) -> float:
        half = math.copysign(HEIGHT / 2, value) if math.isinf(value) else _drawn(value) * unit
        return HEIGHT / 2 - half

    paths = _paths([(at, seat, y(value)) for at, seat, value in values])
    low, high = min(known, default=0.0), max(known, default=0.0)
    return Plot("evaluation", width, paths, number(low, 2), number(high, 2), HEIGHT / 2)


def _drawn(value: float) -> float:
    return math.asinh(value / 200) or 1e-9


LARGE_EVALUATION = 10_000
"""Larger evaluations are drawn at the edge where the largest of the game is not known yet."""


def evaluation_height(value: float) -> int:
    """Height of an evaluation in the curve of a running game."""
    share = _drawn(max(-LARGE_EVALUATION, min(LARGE_EVALUATION, value))) / _drawn(LARGE_EVALUATION)
    return round(HEIGHT / 2 - share * (HEIGHT / 2 - EDGE))


def _times(values: Values, width: int) -> Plot:
    most = max(1.0, *(value for *_, value in values))
    unit = (HEIGHT / 2 - EDGE) / most
    bars: tuple[list[str], list[str]] = ([], [])
    for at, seat, value in values:
        bars[seat].append(f"M{at} {HEIGHT // 2}v{(1 if seat else -1) * max(1.0, value * unit):.0f}")
    up, down = (svg_path("".join(seat)) for seat in bars)
    return Plot("time", width, (up, down), duration(0), duration(most), HEIGHT / 2)


def evaluation_paths(values: Iterable[tuple[int, int, float]]) -> tuple[Markup, Markup]:
    """Curves of a running game: move number, seat and evaluation."""
    return _paths([(at, seat, evaluation_height(value)) for at, seat, value in values])


def _paths(points: Sequence[tuple[int, int, float]]) -> tuple[Markup, Markup]:
    first, second = ([(at, round(y)) for at, seat, y in points if seat == which] for which in SEATS)
    return _curve_path(first), _curve_path(second)


def _curve_path(points: Sequence[tuple[int, int]]) -> Markup:
    if not points:
        return svg_path("")
    (x, y), *_ = points
    steps = " ".join(f"{x2 - x1} {y2 - y1}" for (x1, y1), (x2, y2) in pairwise(points))
    return svg_path(f"M{x} {y}l{steps or '0 0'}".replace(" -", "-"))


def svg_path(text: str) -> Markup:
    """A path of letters and numbers. Pages would cut other text."""
    return Markup(text)  # noqa: S704 letters and numbers
