"""The standings of a contest, and the certainty of places, as JSON values."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from judge.contest_view.view import ContestView

if TYPE_CHECKING:
    from judge.tournament.certain_places import StageCertainty


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


def certainty_document(stages: "Sequence[StageCertainty]") -> dict[str, Any]:
    """The certainty as JSON values: that of the first stage, and all in `stages` if there are several."""
    documents = [_document(stage) for stage in stages]
    if len(documents) == 1:
        return documents[0]
    return {**documents[0], "stages": documents}


def _document(stage: "StageCertainty") -> dict[str, Any]:
    found, above = stage.certainty, stage.above
    figures = ("first", "second", "gap", "half_width", "half_width_phi", "phi", "deviance", "deviance_p")
    places = ("place", "low", "high", "low_phi", "high_phi")
    return {
        **({"stage": stage.stage} if stage.stage else {}),
        **{name: getattr(found, name) for name in figures},
        "neighbours": len(found.ranks) - 1,
        "neighbours_not_separated": found.strength.neighbours_not_separated,
        "groups": found.strength.groups,
        "candidates": [
            {"agent": rank.agent, "chance": rank.chance}
            for rank in found.ranks
            if rank.agent in found.strength.candidates
        ],
        "repetition": asdict(found.repetition),
        "reversed_games": found.reversed_games,
        "new_first": found.new_first,
        "reversals": [asdict(each) for each in found.reversals],
        "reversed_game_numbers": [game.number for game in stage.reversed_games if game.number],
        "further_games": None
        if found.further_games is None
        else dict(zip(("50", "80"), found.further_games, strict=True)),
        "further_share": found.further_share,
        "ranks": [asdict(rank) | {place: getattr(rank, place) + above for place in places} for rank in found.ranks],
        "known": [asdict(lead) for lead in found.known],
        "rings": [asdict(pair) for pair in found.unusual],
        "sentences": list(stage.sentences()),
    }
