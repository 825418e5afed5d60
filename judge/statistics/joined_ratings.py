"""Rates several contests on one scale, and each agent's history from contest to contest.

All games of all contests are rated at once, by programs (digests of files), so a program in two contests connects them.
A new version of an agent is another program.

**Anchors** have a given rating. Each pool is shifted so that its anchors have it on average; pools with anchors share
one scale. An anchor's own rating still follows from its games.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from judge.base.errors import InputError
from judge.contest_games import GameResult
from judge.statistics.rating_model import RatingModel
from judge.statistics.ratings import Rating, RatingList, rate


@dataclass(frozen=True, slots=True)
class RatedContest:
    """A contest with its counting results. `programs`: digests of files by agent name.

    `began` is an ISO 8601 time.
    """

    name: str
    began: str
    results: Sequence[GameResult]
    programs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Version:
    """An agent in one contest: file digest, rating from all contests, `games` in this contest."""

    contest: str
    began: str
    digest: str
    games: int
    rating: Rating


@dataclass(frozen=True, slots=True)
class JoinedRatings:
    """Ratings of programs under their last names; versions of each name, oldest first."""

    ratings: RatingList
    histories: Mapping[str, Sequence[Version]]


def join_contests(
    contests: Sequence[RatedContest], anchors: Mapping[str, float], model: RatingModel | None = None
) -> JoinedRatings:
    """Raises InputError if an anchor has not played or names several programs."""
    ordered = [
        (contest, _programs(contest)) for contest in sorted(contests, key=lambda contest: (contest.began, contest.name))
    ]
    played = [
        row._replace(
            first=first, second=second, winner=None if row.winner is None else (first, second)[row.winner != row.first]
        )
        for contest, programs in ordered
        for row in contest.results
        for first, second in [(programs[row.first], programs[row.second])]
    ]
    rated = rate(played, model)
    names = {program: name for _, programs in ordered for name, program in programs.items()}
    rated = _anchored(rated, _anchor_programs(names, anchors))
    by_program = {rating.agent: rating for rating in rated.ratings}
    histories: dict[str, list[Version]] = {}
    for contest, programs in ordered:
        games = Counter(agent for row in contest.results for agent in row.agents)
        for name, digest in contest.programs.items():
            rating = by_program.get(programs[name])
            if rating is not None and games[name]:
                version = Version(contest.name, contest.began, digest, games[name], replace(rating, agent=name))
                histories.setdefault(name, []).append(version)
    shown = tuple(replace(rating, agent=names[rating.agent]) for rating in rated.ratings)
    return JoinedRatings(replace(rated, ratings=shown), histories)


def _programs(contest: RatedContest) -> Mapping[str, str]:
    count = Counter(contest.programs.values())
    return {name: digest if count[digest] == 1 else f"{digest} {name}" for name, digest in contest.programs.items()}


def _anchor_programs(names: Mapping[str, str], anchors: Mapping[str, float]) -> Mapping[str, float]:
    found: dict[str, float] = {}
    for name, elo in anchors.items():
        programs = [program for program, called in names.items() if called == name]
        if len(programs) != 1:
            problem = "did not play" if not programs else f"has {len(programs)} versions, which differ in strength"
            raise InputError(f"anchor {name}: {problem}; choose an agent whose files never changed")
        found[programs[0]] = elo
    return found


def _anchored(rated: RatingList, anchors: Mapping[str, float]) -> RatingList:
    off: dict[int, list[float]] = {}
    for rating in rated.ratings:
        if rating.agent in anchors:
            off.setdefault(rating.pool, []).append(anchors[rating.agent] - rating.elo)
    joined = min(off, default=0)
    moved = []
    for rating in rated.ratings:
        if rating.pool in off:
            by = sum(off[rating.pool]) / len(off[rating.pool])
            low, high = (None if end is None else end + by for end in (rating.low, rating.high))
            moved.append(replace(rating, elo=rating.elo + by, low=low, high=high, pool=joined))
        else:
            moved.append(rating)
    return replace(rated, ratings=tuple(sorted(moved, key=lambda rating: (rating.pool, -rating.elo, rating.agent))))
