"""The standings of a contest with very many games, and whether their time grows as the games do."""

import random
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

from sqlalchemy import create_engine, insert, update

from judge.contest.contest import Contest, open_store
from judge.contest.plan import Plan, Planned
from judge.contest_games import AttemptState, GameState, ScheduledGame
from judge.games.types import Verdict
from judge.record.policy import load_policy
from judge.record.spec import SeatSpec
from judge.store.tables import attempts, results
from judge.store.tables import games as games_table
from judge.store.types import EntryRow
from judge.tournament.formats.round_robin import RoundRobin
from judge.tournament.schedule import Tournament
from judge.tournament.snapshot import FailuresPlan, Snapshot, SnapshotEntry
from scripts.benchmarks.measuring import GOMOKU, RUNS, Bench, Figure

SIZES = (10_000, 30_000, 100_000)
AGENTS = 50
LIMIT_S = 1.0
"""What the standings of the largest may take."""


def large_tables(bench: Bench) -> Iterator[Figure]:
    """From the rows of a store to the table and everybody against everybody."""
    took: list[tuple[int, float]] = []
    for size in SIZES:
        with _played_out(bench, size) as (contest, games):
            seconds = statistics.median(_seconds(lambda: contest.view().table) for _ in range(RUNS))
        took.append((games, seconds))
        yield Figure(f"standings of {games} games", seconds, "s")
    (few, least), *_, (many, most) = took
    yield Figure(f"standings of {many} games", most, "s", LIMIT_S, most / LIMIT_S)
    growth = (most / many) / (least / few)
    yield Figure(f"a game's share of it, {many} against {few} games", growth, "times")


def _seconds(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


@contextmanager
def _played_out(bench: Bench, size: int) -> Iterator[tuple[Contest, int]]:
    """A round robin of about so many games, all with results; and how many there are."""
    folder = bench.staging / f"tables-{size}"
    folder.mkdir()
    policy = load_policy(GOMOKU)
    games = round(size / (AGENTS * (AGENTS - 1) / 2))
    plan = Plan(name="bench", policy=GOMOKU, format=RoundRobin(name="round-robin", games=games))
    planned = Planned(folder / "contest.toml", "", plan, policy)
    snapshot = Snapshot(
        judge="",
        name=plan.name,
        frozen_at="",
        plan_sha256="",
        policy=policy,
        format=plan.format,
        failures=FailuresPlan(),
        seed=0,
        openings=((),),
        shuffle=False,
        transform=False,
        entries=tuple(_entry(rank) for rank in range(1, AGENTS + 1)),
        images={},
    )
    with closing(open_store(planned)) as store:
        store.create(
            plan.name,
            snapshot.model_dump_json(),
            [EntryRow(entry.name, entry.rank, entry.model_dump_json()) for entry in snapshot.entries],
        )
        tournament = Tournament(snapshot)
        pairings = tournament.next((), ())
        scheduled = tournament.games(pairings)
        store.schedule(plan.name, scheduled, pairings)
        _fill(planned.store_url, scheduled)
        yield Contest(store, planned), len(scheduled)


def _entry(rank: int) -> SnapshotEntry:
    name = f"agent-{rank:02}"
    seat = SeatSpec(name=name, digest="0" * 64, command=("./agent",), runtime="native", protocol="gomocup")
    return SnapshotEntry(name=name, rank=rank, seat=seat, calls_itself=name)


def _fill(url: str, games: tuple[ScheduledGame, ...]) -> None:
    """End all games at once: a transaction each, as when they are played, would take minutes."""
    chance = random.Random(0)
    engine = create_engine(url)
    with engine.begin() as connection:
        for chunk in (games[start : start + 10_000] for start in range(0, len(games), 10_000)):
            connection.execute(insert(attempts), [_attempt(game) for game in chunk])
            connection.execute(insert(results), [_result(game, chance) for game in chunk])
        connection.execute(update(games_table).values(state=GameState.DONE, attempt=1))
    engine.dispose()


def _attempt(game: ScheduledGame) -> dict[str, Any]:
    return {
        "game": game.id,
        "number": 1,
        "state": AttemptState.ACCEPTED,
        "host": "",
        "why": "",
        "record": "0" * 64,
        "started_at": "",
        "ended_at": "",
    }


def _result(game: ScheduledGame, chance: random.Random) -> dict[str, Any]:
    winner = chance.choice((0, 0, 1, None))
    fails = winner is not None and chance.random() < 0.02
    verdict = Verdict.DRAW if winner is None else Verdict.TURN_TIME if fails else Verdict.WIN
    return {
        "game": game.id,
        "attempt": 1,
        "verdict": verdict,
        "winner": winner,
        "result": "",
        "reason": "",
        "record": "0" * 64,
        "seconds": 60.0,
        "finished_at": "",
        "fault_0": verdict if fails and winner == 1 else None,
        "fault_1": verdict if fails and winner == 0 else None,
        "replies_0": 30,
        "replies_1": 30,
        "charged_ms_0": chance.uniform(0, 60_000),
        "charged_ms_1": chance.uniform(0, 60_000),
    }
