"""Decisive moves of a game, from the evaluations that both agents reported.

Agents use different units, so only the sign of an evaluation is compared between agents.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass


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
    told = list(moves)
    if {seat for seat, value in told if value is not None} != {0, 1}:
        return None
    # The scale of an agent is its largest finite evaluation.
    scales = [0.0, 0.0]
    for seat, value in told:
        if value is not None and math.isfinite(value):
            scales[seat] = max(scales[seat], abs(value))
    views: list[float | None] = [None, None]
    lowest, highest, swing, turned_at, decided_at = 0.0, 0.0, 0.0, 0, None
    for number, (seat, value) in enumerate(told, 1):
        if value is not None:
            share = max(-1.0, min(1.0, value / (scales[seat] or 1.0)))
            views[seat] = share if seat == 0 else -share
        first, second = views
        if first is None or second is None:
            continue
        joint = _joint(first, second)
        turn = max(joint - lowest if joint > 0 > lowest else 0.0, highest - joint if joint < 0 < highest else 0.0)
        if turn > swing:
            swing, turned_at = turn, number
        lowest, highest = min(lowest, joint), max(highest, joint)
        if winner is not None:
            is_ahead = joint > 0 if winner == 0 else joint < 0
            decided_at = (number if decided_at is None else decided_at) if is_ahead else None
    return EvaluatedGame(swing, turned_at, decided_at)


def _joint(first: float, second: float) -> float:
    if first * second <= 0:
        return 0.0
    return min(first, second, key=abs)
