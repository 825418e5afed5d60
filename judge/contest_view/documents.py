"""Standings, games and agents of a contest, and the certainty of places, as JSON values.

The classes describe the values, for readers and schemas.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Literal

from judge.contest_games import PublishedGame
from judge.contest_view.export import AttemptRow, GameRow, attempt_rows, game_row
from judge.contest_view.values import Participant
from judge.contest_view.view import ContestView
from judge.statistics.sprt import SprtState
from judge.tournament.standings import TableLine

if TYPE_CHECKING:
    from judge.tournament.certain_places import StageCertainty


@dataclass(frozen=True, slots=True)
class StandingsLine(TableLine):
    """`low` and `high`: range of its place, if it is known."""

    stage: str
    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True)
class LadderLine:
    """An agent of a ladder."""

    elo: float
    reach: float
    """Of its 95 % interval."""
    trend: float
    games: int
    open: Sequence[int]
    """Numbers of its games without a result."""
    last_game_at: str | None


@dataclass(frozen=True, slots=True)
class Standings:
    """Best first; `ranking` are the criteria of `values`. `copies`: number of games that are copies of others."""

    contest: str
    ranking: Sequence[str]
    lines: Sequence[StandingsLine]
    copies: int
    ladder: Mapping[str, LadderLine] | None = None
    """Only of a ladder."""
    sprt: SprtState | None = None
    """Only of a sequential test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedGame(GameRow):
    """As in games.csv."""

    attempts: Annotated[int, "attempts so far"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GameDetails(ListedGame):
    """With its attempts that do not count."""

    uncounted: Sequence[AttemptRow]


@dataclass(frozen=True, slots=True)
class Games:
    """A part of the schedule. `next`: the number after which the next part begins; null at the end."""

    contest: str
    games: Sequence[ListedGame]
    next: int | None


@dataclass(frozen=True, slots=True)
class EnteredAgent:
    """An agent; `author` is as on the pages, and `files` the SHA-256 of its files."""

    number: int
    name: str
    title: str
    author: str
    description: str
    protocol: str
    runtime: str
    files: str
    clock: str
    """Its own time control; empty: the contest's."""
    state: Literal["plays", "disqualified", "withdrawn"]
    why: str


@dataclass(frozen=True, slots=True)
class Agents:
    """In order of entry."""

    contest: str
    agents: Sequence[EnteredAgent]


def standings_document(view: ContestView) -> dict[str, Any]:
    """As `Standings`: lines with stages and ranges of places, ratings of a ladder, and the sequential test."""
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


def games_document(view: ContestView, after: int, limit: int) -> dict[str, Any]:
    """As `Games`: at most `limit` games with numbers above `after`."""
    found = games_after(view, after)
    rows = [listed_game(view, game) for game in islice(found, limit)]
    return {"contest": view.name, "games": rows, "next": None if next(found, None) is None else rows[-1]["number"]}


def games_after(view: ContestView, number: int) -> Iterator[PublishedGame]:
    """Games with larger numbers, in order."""
    return islice(view.games, bisect_right(view.games, number, key=lambda game: game.number), None)


def game_document(view: ContestView, game: PublishedGame) -> dict[str, Any]:
    """As `GameDetails`."""
    return {**listed_game(view, game), "uncounted": [*attempt_rows(game)]}


def agents_document(view: ContestView) -> dict[str, Any]:
    """As `Agents`."""
    return {"contest": view.name, "agents": [*map(partial(_entered_agent, view), view.participants)]}


def _entered_agent(view: ContestView, agent: Participant) -> dict[str, Any]:
    seat, disqualified = agent.entry.seat, view.disqualified.get(agent.name, "")
    return {
        "number": agent.number,
        "name": agent.name,
        "title": agent.title,
        "author": seat.author,
        "description": agent.entry.description,
        "protocol": seat.protocol,
        "runtime": seat.runtime,
        "files": seat.digest,
        "clock": view.snapshot.clocks.get(agent.name, ""),
        "state": "disqualified" if disqualified else "withdrawn" if agent.withdrawn else "plays",
        "why": disqualified or agent.withdrawn,
    }


def listed_game(view: ContestView, game: PublishedGame) -> dict[str, Any]:
    """As `ListedGame`."""
    return {**game_row(view, game), "attempts": game.attempt}


def certainty_document(stages: "Sequence[StageCertainty]") -> dict[str, Any]:
    """The certainty of at least one stage as JSON values: the first, and all in `stages` if there are several."""
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
