"""An author's agents in a ladder: ratings, opponents, best and worst results, and challenges."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from judge.contest_games import GameResult
from judge.contest_view.ladder import TREND_GAMES
from judge.contest_view.values import Participant
from judge.contest_view.view import ContestView
from judge.site.charts import last_game, signed
from judge.store.practice_games import PracticeGame
from judge.store.types import ENTERS, Submission
from judge.tournament.snapshot import newest_versions
from judge.web.authors.games import practice_line

MAX_OPPONENTS = 100
MAX_PICKS = 3
MAX_CHALLENGES = 20


def ladder_values(
    contest: ContestView,
    submissions: Sequence[Submission],
    challenges: Sequence[PracticeGame],
    per_day: int,
) -> Mapping[str, Any] | None:
    """None for other formats, and without an agent that takes part."""
    passed = {each.id for each in submissions if each.state in ENTERS}
    ids = {each.id for each in submissions}
    newest = {entry.name for entry in newest_versions(contest.snapshot.entries).values()}
    own = [
        each
        for each in contest.participants
        if each.entry.submission in ids and each.name in contest.ladder and each.name in newest
    ]
    if not own:
        return None
    active = {each.name for each in contest.participants if not each.out and not each.withdrawn}
    may_challenge = bool(per_day) and not contest.is_over
    return {
        "agents": [
            _agent(contest, each, active, may_challenge and not each.out and each.entry.submission in passed)
            for each in own
        ],
        "signed": signed,
        "trend_games": TREND_GAMES,
        "per_day": per_day if may_challenge else 0,
        "challenges": [*map(practice_line, challenges)],
    }


def _agent(contest: ContestView, agent: Participant, active: Collection[str], may_challenge: bool) -> Mapping[str, Any]:
    found = contest.ladder[agent.name]
    results = [result for result in contest.counted if agent.name in result.agents]
    met: dict[str, list[GameResult]] = {}
    for result in results:
        met.setdefault(_other(result, agent.name), []).append(result)
    known = [each for each in contest.participants if each.name in met or (each.name in active and each != agent)]
    known.sort(key=lambda each: (-len(met.get(each.name, ())), -contest.ladder[each.name].elo))
    opponents = []
    for each in known[:MAX_OPPONENTS]:
        games = met.get(each.name, [])
        won, drawn = sum(game.winner == agent.name for game in games), sum(game.is_draw for game in games)
        opponents.append(
            {
                "agent": each,
                "elo": contest.ladder[each.name].elo,
                "games": len(games),
                "score": won + drawn / 2,
                "done": (won, drawn, len(games) - won - drawn),
                "may_challenge": may_challenge and each.name in active and each != agent,
            }
        )
    return {
        "participant": agent,
        "found": found,
        "last": last_game(found) if found.history else "",
        "is_over": contest.is_over,
        "place": "" if agent.out else str(contest.lines[agent.name].place),
        "places": contest.place_ranges.get(agent.name, ""),
        "opponents": opponents,
        "more": len(known) - len(opponents),
        "best": _picks(contest, agent, [each for each in results if each.winner == agent.name], sign=-1),
        "worst": _picks(contest, agent, [each for each in results if each.winner not in (agent.name, None)], sign=1),
        "submission": agent.entry.submission,
    }


def _picks(
    contest: ContestView, agent: Participant, results: Sequence[GameResult], sign: int
) -> Sequence[tuple[GameResult, Participant, float]]:
    """Results against the highest-rated opponents (`sign` -1) or the lowest, each once."""
    rated = sorted(results, key=lambda each: (sign * contest.ladder[_other(each, agent.name)].elo, -each.number))
    chosen: dict[str, GameResult] = {}
    for each in rated:
        chosen.setdefault(_other(each, agent.name), each)
    return [
        (result, contest.by_name[name], contest.ladder[name].elo) for name, result in list(chosen.items())[:MAX_PICKS]
    ]


def _other(result: GameResult, agent: str) -> str:
    return result.second if result.first == agent else result.first
