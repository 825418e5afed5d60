"""Whole contests without games: entries that have no programs, a real store, and results by a rule."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from judge.contest.contest import Contest
from judge.contest.plan import Plan, Planned
from judge.contest.runner import Scheduler
from judge.contest_games import GameState, Outcome, ScheduledGame, SeatOutcome
from judge.record.policy import load_policy
from judge.record.spec import SeatSpec
from judge.store.contests import Store
from judge.store.types import EntryRow
from judge.tournament.formats import AnyFormat
from judge.tournament.snapshot import FailuresPlan, Snapshot, SnapshotEntry, commitment_to

POLICY = load_policy("gomocup-standard")

CHANCE = "5c" * 32
"""The secret of these cups, where they have one."""

COMMITTED: Mapping[str, Any] = {"seed": None, "commitment": commitment_to(CHANCE)}
"""What of a document says so."""

Rule = Callable[[ScheduledGame], Outcome]
"""How a game ends."""


def won_by(seat: int | None, fault: str | None = None) -> Outcome:
    """A game that a seat won, by the other's `fault` if there is one; None: a draw."""
    word = fault or ("draw" if seat is None else "win")
    seats = tuple(SeatOutcome(fault if seat is not None and number != seat else None, 10, 100.0) for number in range(2))
    return Outcome(word, seat, "", "", "0" * 64, 1.0, (seats[0], seats[1]))


def better_seed(game: ScheduledGame) -> Outcome:
    """The field as everybody expects it: agents are named by their seeds."""
    return won_by(int(int(game.first) > int(game.second)))


def by_chance(seed: int) -> Rule:
    """Won, drawn or lost as the game's own id decides: the same game always ends the same."""

    def rule(game: ScheduledGame) -> Outcome:
        return won_by((0, 1, None)[(int(game.id, 16) + seed) % 3])

    return rule


def snapshot(chosen: AnyFormat, count: int, **changes: Any) -> Snapshot:
    """A contest of agents 1, 2, 3... by their seeds."""
    entries = tuple(
        SnapshotEntry(name=str(seed), rank=seed, seat=_seat(str(seed)), calls_itself=str(seed))
        for seed in range(1, count + 1)
    )
    plain: dict[str, Any] = {
        "judge": "0",
        "name": "cup",
        "frozen_at": "",
        "plan_sha256": "",
        "policy": POLICY,
        "format": chosen,
        "failures": FailuresPlan(),
        "seed": 1,
        "openings": ((),),
        "shuffle": False,
        "transform": False,
        "entries": entries,
        "images": {},
    }
    return Snapshot(**plain | changes)


def _seat(name: str) -> SeatSpec:
    return SeatSpec(name=name, digest=name * 64, command=("./a",), runtime="native", protocol="gomocup")


def enter(store: Store, document: Snapshot, folder: Path = Path("nowhere"), secret: str | None = CHANCE) -> Contest:
    """Begin a contest in a store; `secret` is what it has committed to, if it has."""
    entered = [EntryRow(entry.name, entry.rank, "{}") for entry in document.entries]
    secret = None if document.commitment is None else secret
    store.create(document.name, document.model_dump_json(), entered, secret)
    contest = reopen(store, document, folder)
    Scheduler(contest).schedule_next()
    return contest


def reopen(store: Store, document: Snapshot, folder: Path = Path("nowhere")) -> Contest:
    """The same contest, by somebody who knows nothing of it but what the store says."""
    plan = Plan(name=document.name, policy="any", format=document.format)
    return Contest(store, Planned(folder / "contest.toml", "", plan, document.policy))


@contextmanager
def cup(chosen: AnyFormat, count: int, **changes: Any) -> Iterator[Contest]:
    """A contest that has begun, in a store of its own."""
    with closing(Store("sqlite:///:memory:")) as store:
        yield enter(store, snapshot(chosen, count, **changes))


def play(contest: Contest, rule: Rule, games: int = sys.maxsize) -> list[ScheduledGame]:
    """Play so many games one after another, or all; which they were."""
    played: list[ScheduledGame] = []
    scheduler = Scheduler(contest)
    while len(played) < games:
        assert len(played) < 2000, "the contest does not end"
        issued = contest.store.issue(contest.name, "here")
        if issued is not None:
            contest.store.accept(issued.id, issued.attempt, rule(issued))
            played.append(as_scheduled(issued))
        elif not scheduler.schedule_next():
            break
    return played


def scheduled(contest: Contest) -> list[ScheduledGame]:
    return [as_scheduled(game) for game in contest.store.games(contest.name)]


def as_scheduled(game: ScheduledGame) -> ScheduledGame:
    """A game as it was before it was played."""
    return replace(game, state=GameState.PENDING, attempt=0, why="")


def places(contest: Contest) -> dict[str, tuple[int, float]]:
    return {line.agent: (line.place, line.points) for line in contest.view().table.lines}
