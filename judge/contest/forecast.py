"""Before anything is played: how many games a contest has, how long they can take, and what is missing for them."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from judge.contest.formats import all_rounds
from judge.contest.pairings import Entry, Pairing
from judge.contest.plan import Planned
from judge.contest.points import points_table
from judge.contest.results import Played
from judge.errors import HostError, InputError
from judge.referee.policy import Policy
from judge.referee.seating import check
from judge.referee.spec import MatchSpec
from judge.sandbox import demands
from judge.sandbox.images import keeper_image, runtime_image
from judge.submissions.agents import Agent, stage_agent


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a contest will be. `longest_s` is the time of all games if every agent used all of its clock, on one slot;
    None where the policy has no clock for a whole game. `is_exact`: the format has as many games whatever happens."""

    agents: Sequence[str]
    rounds: int
    games: int
    is_exact: bool
    longest_s: float | None
    missing: Sequence[str]

    def hours(self, slots: int) -> float | None:
        """The longest that it can take on so many slots."""
        return None if self.longest_s is None else self.longest_s / slots / 3600


def forecast(planned: Planned) -> Forecast:
    """Look at everything that a contest needs, and change nothing; what is missing is said and not raised."""
    with tempfile.TemporaryDirectory(prefix="judge-plan-") as staging:
        missing: list[str] = []
        agents = _agents(planned, Path(staging), missing)
        for needed in _needed(planned, agents):
            missing += _why_not(needed)
    names = [each.name or each.path for each in planned.plan.agents]
    rounds = _rounds(planned, len(names))
    games = sum(
        planned.plan.format.games for pairs in rounds for pair in pairs if pair.second is not None
    )
    per_game = longest_game_s(planned.policy)
    return Forecast(
        agents=names,
        rounds=len(rounds),
        games=games,
        is_exact=planned.plan.format.in_advance,
        longest_s=None if per_game is None else games * per_game,
        missing=missing,
    )


def longest_game_s(policy: Policy) -> float | None:
    """A game in which both agents use all of their clocks, in seconds; None where nothing bounds it."""
    clock = policy.clock
    if not clock.match_ms:
        return None
    return 2 * (clock.match_ms + clock.tolerance_ms + clock.close_ms) / 1000


def _agents(planned: Planned, staging: Path, missing: list[str]) -> list[Agent]:
    if (why := planned.lacks_agents()) is not None:
        missing.append(why)
    found = []
    for each in planned.plan.agents:
        try:
            found.append(stage_agent(planned.locate(each), staging))
        except InputError as error:
            missing.append(str(error))
    return found


def _needed(planned: Planned, agents: Sequence[Agent]) -> Iterator[Callable[[], object]]:
    """What must succeed before the first game."""
    policy = planned.policy
    yield lambda: points_table(policy)
    yield planned.openings
    yield lambda: demands.meet(policy.box)
    if policy.folders.kept:
        yield keeper_image
    for runtime in sorted({agent.manifest.runtime for agent in agents}):
        yield partial(runtime_image, policy.runtimes.get(runtime, runtime))
    for agent in agents:
        yield partial(_can_sit, agent, policy)


def _can_sit(agent: Agent, policy: Policy) -> None:
    seat = agent.seat(policy)
    check(MatchSpec(seats=(seat, seat), policy=policy))


def _why_not(needed: Callable[[], object]) -> list[str]:
    try:
        needed()
    except (InputError, HostError) as error:
        return [str(error)]
    return []


def _rounds(planned: Planned, count: int) -> Sequence[Sequence[Pairing]]:
    """The rounds of a contest in which the better seed wins everything."""
    entries = [Entry(f"{number:04}", number) for number in range(1, count + 1)]
    chosen = planned.plan.format
    if planned.lacks_agents() is not None:
        return []
    if chosen.in_advance:
        return all_rounds(chosen, entries, planned.plan.seed)
    rounds, played = [], list[Played]()
    while pairings := chosen.next_round(entries, played, planned.plan.seed):
        rounds.append(pairings)
        played += [Played(pairing, (), _points(pairing)) for pairing in pairings]
    return rounds


def _points(pairing: Pairing) -> tuple[float, float]:
    return (1, 0) if pairing.second is None or pairing.first < pairing.second else (0, 1)
