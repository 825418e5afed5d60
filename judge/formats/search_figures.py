"""Evaluation, depth and nodes from agents' unverified search reports, and the decisive moves that they show.

Reports are keywords of the protocol or free text, such as `depth 12-20 ev 34 n 345K n/ms 870`.
Agents use different units, so only the sign of an evaluation is compared between agents.
"""

import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

MAX_LINE_CHARACTERS = 500

MAX_FIGURE = 1e18

_FIGURE = re.compile(
    r"(?<![\w/])(?P<key>depth|evaluation|eval|ev|score|nodes?|nps|n/ms|n|speed)[ :=]{1,3}(?:cp )?"
    r"(?P<value>[+-]?(?:#-?|m)?\d{1,20}(?:,\d{3})*(?:\.\d+)?[kmgb]?)(?![\w.])",
    re.ASCII | re.IGNORECASE,  # else a long s is an s
)
_KEYS = {
    **dict.fromkeys(("evaluation", "eval", "ev", "score"), "evaluation"),
    "depth": "depth",
    **dict.fromkeys(("nodes", "node", "n"), "nodes"),
    **dict.fromkeys(("nps", "speed"), "per_second"),
    "n/ms": "per_ms",
}
_FACTORS = {"k": 1e3, "m": 1e6, "g": 1e9, "b": 1e9}


@dataclass(slots=True)  # frozen takes three times as long
class SearchFigures:
    """Figures of one answer; None: not reported.

    `evaluation` has the agent's sign and unit; infinite: a forced win or loss. Of two depths the smaller counts.
    """

    evaluation: float | None = None
    depth: float | None = None
    nodes: float | None = None

    @property
    def searched_evaluation(self) -> float | None:
        """`evaluation` unless the depth is 0: without a search its sign can be wrong."""
        return None if self.depth == 0 else self.evaluation


def search_figures(search: Mapping[str, str], messages: Collection[str], ms: float | None) -> SearchFigures:
    """`ms` converts a speed into nodes."""
    if not search and not messages:
        return SearchFigures()
    said: dict[str, float] = {}
    for line in (*messages, *(f"{key} {value}" for key, value in search.items())):
        for found in _FIGURE.finditer(line[:MAX_LINE_CHARACTERS]):
            said[_KEYS[found["key"].lower()]] = _number(found["value"].lower())
    nodes = said.get("nodes")
    if nodes is None and ms is not None:
        speed = said.get("per_second", said.get("per_ms", math.nan) * 1000)
        nodes = None if math.isnan(speed) else speed * ms / 1000
    return SearchFigures(said.get("evaluation"), _finite(said.get("depth")), _finite(nodes))


def _number(text: str) -> float:
    sign = -1.0 if "-" in text else 1.0
    digits = text.lstrip("+-#").replace(",", "")
    if "#" in text or digits.startswith("m"):
        return sign * math.inf
    factor = _FACTORS.get(digits[-1], 1.0)
    return sign * min(float(digits.rstrip("kmgb")) * factor, MAX_FIGURE)


def _finite(value: float | None) -> float | None:
    return None if value is None or not 0 <= value <= MAX_FIGURE else value


@dataclass(frozen=True, slots=True)
class EvaluatedGame:
    """`swing`: size of the largest change of the lead that both agents saw, at move `turned_at`; up to 2, or 0.

    `decided_at`: the move from which on both saw the winner ahead, if any. Moves count from 1.
    """

    swing: float = 0.0
    turned_at: int = 0
    decided_at: int | None = None


def evaluate_game(moves: Iterable[tuple[int, float | None]], winner: int | None) -> EvaluatedGame | None:
    """`moves`: seat and evaluation of each move. None unless both agents reported evaluations."""
    evaluations = list(moves)
    if {seat for seat, value in evaluations if value is not None} != {0, 1}:
        return None
    # The scale of an agent is its largest finite evaluation.
    scales = [0.0, 0.0]
    for seat, value in evaluations:
        if value is not None and math.isfinite(value):
            scales[seat] = max(scales[seat], abs(value))
    views: list[float | None] = [None, None]
    lowest, highest, swing, turned_at, decided_at = 0.0, 0.0, 0.0, 0, None
    for number, (seat, value) in enumerate(evaluations, 1):
        if value is not None:
            share = max(-1.0, min(1.0, value / (scales[seat] or 1.0)))
            views[seat] = share if seat == 0 else -share
        first, second = views
        if first is None or second is None:
            continue
        joint = 0.0 if first * second <= 0 else min(first, second, key=abs)
        turn = max(joint - lowest if joint > 0 > lowest else 0.0, highest - joint if joint < 0 < highest else 0.0)
        if turn > swing:
            swing, turned_at = turn, number
        lowest, highest = min(lowest, joint), max(highest, joint)
        if winner is not None:
            is_ahead = joint > 0 if winner == 0 else joint < 0
            decided_at = (number if decided_at is None else decided_at) if is_ahead else None
    return EvaluatedGame(swing, turned_at, decided_at)
