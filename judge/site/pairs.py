"""Pages of two agents that met: their score, and their games."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from judge.contest_games import PublishedGame
from judge.contest_view.values import Participant
from judge.contest_view.view import ContestView
from judge.games.types import FAILURES

MAX_AGENTS = 50
"""With more agents there are no crosstable and no pages of pairs."""

MAX_GAMES = 350


def pair_file(contest: ContestView, agent: str, other: str) -> str:
    """Path of the page of two agents; empty without a page."""
    if len(contest.participants) > MAX_AGENTS or frozenset({agent, other}) not in contest.meetings:
        return ""
    first, second = sorted((contest.by_name[agent], contest.by_name[other]), key=lambda each: each.number)
    return f"pairs/{first.stem}-{second.stem}.html"


def pair_pages(contest: ContestView) -> Iterator[tuple[str, Callable[[], Mapping[str, Any]]]]:
    """Path of each page and a function that returns its values."""
    for pair, games in contest.meetings.items():
        agents = sorted((contest.by_name[name] for name in pair), key=lambda each: each.number)
        if path := pair_file(contest, agents[0].name, agents[1].name):
            yield path, partial(_pair, contest, agents, games)


def _pair(contest: ContestView, agents: Sequence[Participant], games: Sequence[PublishedGame]) -> Mapping[str, Any]:
    results = [game.result for game in games if game.result is not None]
    names = [agent.name for agent in agents]
    return {
        "agents": agents,
        "excluded": contest.exclusion(games[0]),
        "games": games[:MAX_GAMES],
        "left_out": max(0, len(games) - MAX_GAMES),
        "played": len(results),
        "drawn": sum(result.is_draw for result in results),
        "won": [sum(result.winner == name for result in results) for name in names],
        "failed": [
            sum(result.verdict in FAILURES and result.winner not in (name, None) for result in results)
            for name in names
        ],
        "by_first": sum(result.winner == result.first for result in results),
    }
