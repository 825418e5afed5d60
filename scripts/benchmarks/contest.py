"""`./scripts/bench contest`: games a minute with the next one made ready and without, and what that does to clocks.

What is compared is measured by turns in one run, so that whatever else this host does meanwhile falls on both.
"""

import logging
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from judge.agents.agents import Agent
from judge.base.errors import HostError
from judge.base.logs import set_level
from judge.contest.attempts import EndedAttempt
from judge.contest.executor import LocalExecutor
from judge.contest.runner import ContestRunner, RunObserver
from judge.contest_games import AttemptState
from judge.record.policy import load_policy
from judge.record.spec import RecordFile
from judge.record.transcript import unseal
from judge.store.contests import Store
from judge.tournament.formats.round_robin import RoundRobin
from scripts.benchmarks.measuring import GOMOKU, RUNS, SHORT, Bench, Figure, clock_errors_ms, figure_of, share_of
from scripts.benchmarks.tables import large_tables
from tests.contest.real_agents import NO_FOLDERS, begin_with

GAMES = 12
"""Of a stretch that is timed; two more begin and end it."""

KEPT_GAMES = 48
"""Of a stretch with boxes that are kept; the first two games of each process begin with fresh ones."""

STAMPED_GAMES = 3

BUSY_GAMES = 10
THINKS_MS = 40
"""For how long an agent sleeps at most before it answers: 20 ms on average, and 100 moves take two seconds."""
TWO_SECONDS = ("game.options.width=10", "game.options.height=10")
BUSY_SHARE = 97.0
"""The share of its time, in percent, that a slot is to play: the rest is between two games."""


def contest(bench: Bench) -> Iterator[Figure]:
    """Everything that a contest adds to a game."""
    set_level(logging.WARNING)
    yield from rate(bench)
    yield from short_games(bench)
    yield from busy_slot(bench)
    yield from disturbance(bench)
    yield from large_tables(bench)


def rate(bench: Bench) -> Iterator[Figure]:
    """Whole games of agents that answer at once, in fresh containers, by the loop of a contest with its store."""
    agent = bench.agent("house-instant")
    ready, alone = [], []
    for _ in range(RUNS):
        ready.append(_games_a_minute(_played(bench, agent, GAMES + 2, ahead=1)))
        alone.append(_games_a_minute(_played(bench, agent, GAMES + 2, ahead=0)))
    peer_s = bench.peer_game_s()
    peer = None if peer_s is None else 60 / peer_s
    yield figure_of("contest, next game made ready", ready, "games/min", alone, peer=peer)
    yield figure_of("contest, one game after the other", alone, "games/min", peer=peer)


def short_games(bench: Bench) -> Iterator[Figure]:
    """The same with games of few moves, in boxes that are kept for their agents and in fresh ones."""
    agent = bench.agent("house-instant")
    kept, fresh = [], []
    for _ in range(RUNS):
        kept.append(_games_a_minute(_played(bench, agent, KEPT_GAMES + 2, 1, *SHORT, "box.reuse=agent")))
        fresh.append(_games_a_minute(_played(bench, agent, GAMES + 2, 1, *SHORT)))
    yield figure_of("contest of short games, boxes reused", kept, "games/min", fresh)


def _games_a_minute(games: list[tuple[float, RecordFile]]) -> float:
    """Without the first, before which processes start, and the last, beside which nothing is made ready."""
    times = [ended for ended, _ in games]
    return 60 * (len(times) - 2) / (times[-2] - times[0])


def busy_slot(bench: Bench) -> Iterator[Figure]:
    """For how much of a contest's time its slot plays, with games of two seconds in fresh boxes."""
    agent = bench.agent("house-stamp")
    thinks = (str(THINKS_MS),)
    ready = [_busy_percent(_played(bench, agent, BUSY_GAMES + 2, 1, *TWO_SECONDS, words=thinks)) for _ in range(2)]
    alone = [_busy_percent(_played(bench, agent, BUSY_GAMES // 2, 0, *TWO_SECONDS, words=thinks))]
    yield figure_of("slot busy with games of two seconds", ready, "% of the time", [BUSY_SHARE] * len(ready))
    yield figure_of("the same, one game after the other", alone, "% of the time", [BUSY_SHARE] * len(alone))


def _busy_percent(games: list[tuple[float, RecordFile]]) -> float:
    """Without the first and the last, as `_games_a_minute`."""
    played = sum(file.record.seconds for _, file in games[1:-1])
    return 100 * played / (games[-2][0] - games[0][0])


def disturbance(bench: Bench) -> Iterator[Figure]:
    """What making the next game ready does to the clocks of the one that plays; both without it are the limit."""
    agent = bench.agent("house-stamp")
    games = {
        ahead: [file for _ in range(RUNS) for _, file in _played(bench, agent, STAMPED_GAMES + 1, ahead)[:-1]]
        for ahead in (1, 0)
    }
    errors = {
        ahead: [error for file in files for error in clock_errors_ms(unseal(file.transcript))]
        for ahead, files in games.items()
    }
    for share in (0.5, 0.99, 0.999):
        value, limit = (share_of(errors[ahead], share) for ahead in (1, 0))
        name = f"charged minus true beside the next game, p{100 * share:g} of {len(errors[1])}"
        yield Figure(name, value, "ms", limit, value / limit)
    value, limit = (max(file.record.judge_late_ms for file in games[ahead]) for ahead in (1, 0))
    yield Figure("judge late beside the next game, worst", value, "ms", limit, value / limit)


def _played(
    bench: Bench, agent: Agent, games: int, ahead: int, *overrides: str, words: Sequence[str] = ()
) -> list[tuple[float, RecordFile]]:
    """Games of an agent against itself by the loop of a contest: when each ended (monotonic), and its record.

    `words` are added to the agent's command.
    """
    folder = Path(tempfile.mkdtemp(dir=bench.staging))
    store = Store(f"sqlite:///{folder / 'bench.db'}")
    executor = LocalExecutor([bench.slot], ahead, holds_cores=True)
    ended: list[tuple[float, str]] = []

    class Noting(RunObserver):
        def report(self, happened: EndedAttempt) -> None:
            if happened.outcome is None or happened.state is not AttemptState.ACCEPTED:
                raise HostError(f"a game of the measurement is void: {happened.why}")
            ended.append((time.monotonic(), happened.outcome.record))

    with closing(store), closing(executor):
        policy = load_policy(GOMOKU, (*overrides, *NO_FOLDERS, "attempts=1"))
        agents = dict.fromkeys(("one", "two"), agent)
        contest = begin_with(agents, policy, RoundRobin(games=games), store, folder, words=words)
        try:
            ContestRunner(contest, executor, Noting()).run()
        finally:
            executor.kill()
    return [(at, contest.record(record)) for at, record in ended]
