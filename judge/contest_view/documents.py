"""The standings of a contest as JSON values."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from judge.contest_view.view import ContestView


def standings_document(view: ContestView) -> dict[str, Any]:
    """Lines with stages and ranges of places, ratings of a ladder, and the sequential test."""
    ranges = {agent: ends for stage in view.certainty for agent, ends in stage.ranges.items()}
    lines = []
    for line in view.table.lines:
        low, high = ranges.get(line.agent, (None, None))
        lines.append(asdict(line) | {"stage": view.stages.get(line.agent, ""), "low": low, "high": high})
    document = {"contest": view.name, "ranking": view.table.ranking, "lines": lines, "copies": len(view.copies)}
    if not view.has_rounds:
        document["ladder"] = ladder_document(view)
    return document if view.test is None else document | {"sprt": asdict(view.test)}


def ladder_document(view: ContestView) -> Mapping[str, Mapping[str, Any]]:
    """Ratings by agent, games, and the moment of the last one."""
    return {
        agent: {
            "elo": found.elo,
            "reach": found.reach,
            "trend": found.trend,
            "games": len(found.history),
            "open": [game.number for game in found.open_games],
            "last_game_at": found.history[-1].at if found.history else None,
        }
        for agent, found in view.ladder.items()
    }
