"""`./scripts/bench ladder-page`: what the first page of a large ladder needs after a start of the service: the contest,
and the ratings after each game, computed and stored.
"""

import random
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from sqlalchemy import insert

from judge.base.errors import HostError
from judge.contest.contest import Contest, open_store
from judge.contest.file_names import PLAN_FILE
from judge.contest.plan import Planned, load_plan
from judge.contest_games import GameState, Pairing
from judge.contest_view.ladder import RATINGS_FILE, LadderRatings
from judge.journal.codec import encode
from judge.journal.events import Accepted, Scheduled, Started
from judge.record.spec import SeatSpec
from judge.statistics.scales import expected_score
from judge.store.contests import Store
from judge.store.tables import attempts, games, journal, pairings, results
from judge.store.types import EntryRow
from judge.tournament.schedule import Tournament
from judge.tournament.snapshot import Snapshot, SnapshotEntry, SnapshotImage
from scripts.benchmarks.measuring import Bench, Figure

AGENTS, GAMES = 1000, 2000
ROWS = 5000
"""Games of one transaction."""

PLAN = """\
name = "large"
policy = "gomocup-freestyle"
seed = 1

[format]
name = "ladder"
total_games = 1000000

[[agents]]
path = "house-instant"
"""


def ladder_page(bench: Bench) -> Iterator[Figure]:
    """The ratings of a ladder with 1,000 agents and 2,000 games."""
    return measure(bench.staging / "ladder-page", AGENTS, GAMES)


def measure(folder: Path, agents: int, count: int) -> Iterator[Figure]:
    """The same for any numbers. Times are processor times, because other processes do not affect them much."""
    planned = build(folder, agents, count)
    with closing(open_store(planned)) as store:
        began = time.process_time()
        contest = Contest(store, planned).read()
        yield Figure("ladder, loading", (time.process_time() - began) / count * 1000, "ms/game")
    found = []
    for name in ("computed", "stored"):
        began = time.process_time()
        found.append(replace(contest, ladder_ratings=LadderRatings(folder / RATINGS_FILE)).ladder)
        yield Figure(f"ladder, {name} ratings", (time.process_time() - began) / count * 1000, "ms/game")
    if found[0] != found[1]:
        raise HostError("the stored ratings differ from the computed ones")


def build(folder: Path, agents: int, count: int) -> Planned:
    """A ladder with results by chance and without records."""
    folder.mkdir(parents=True)
    (folder / PLAN_FILE).write_text(PLAN)
    planned = load_plan(folder)
    snapshot = _snapshot(planned, agents)
    chance = random.Random(1)
    strength = [chance.gauss(0, 400) for _ in range(agents)]
    order = sorted(range(agents), key=lambda at: strength[at])
    with closing(open_store(planned)) as store:
        entered = [EntryRow(each.name, each.rank, each.model_dump_json()) for each in snapshot.entries]
        store.create(planned.name, snapshot.model_dump_json(), entered)
        (template,) = Tournament(snapshot).games([Pairing("agent-0000", "agent-0001", 1, 1)])
        rows: dict[Any, list[dict[str, Any]]] = {}
        for number in range(1, count + 1):
            near = chance.randrange(agents - 1)
            pair = [order[near], order[min(agents - 1, near + chance.randint(1, 100))]]
            chance.shuffle(pair)
            winner = int(chance.random() > expected_score(strength[pair[0]] - strength[pair[1]]))
            names = [f"agent-{at:04d}" for at in pair]
            game = sha256(str(number).encode()).hexdigest()[:32]
            at = datetime(2027, 1, 1, tzinfo=UTC) + timedelta(seconds=number)
            scheduled = {**asdict(template), "id": game, "number": number, "table": number, "first": names[0]}
            scheduled |= {"second": names[1], "state": GameState.DONE, "attempt": 1}
            for table, row in _rows(planned.name, scheduled, winner, at):
                rows.setdefault(table, []).append(row)
            if number % ROWS == 0 or number == count:
                _insert(store, rows)
                rows = {}
    return planned


def _rows(contest: str, game: dict[str, Any], winner: int, moment: datetime) -> Iterator[tuple[Any, dict[str, Any]]]:
    at, digest = moment.isoformat(timespec="milliseconds"), sha256(game["id"].encode()).hexdigest()
    pairing = Pairing(game["first"], game["second"], 1, game["number"])
    yield pairings, {"contest": contest, **asdict(pairing)}
    yield games, {"contest": contest, **game}
    played = {"state": "accepted", "host": "here", "why": "", "record": digest, "started_at": at, "ended_at": at}
    yield attempts, {"game": game["id"], "number": 1, **played}
    outcome = {"game": game["id"], "attempt": 1, "verdict": "win", "winner": winner, "result": "", "reason": "five"}
    numbers = {"replies_0": 20, "replies_1": 20, "charged_ms_0": 900.0, "charged_ms_1": 900.0, "seconds": 2.0}
    yield results, {**outcome, "record": digest, "finished_at": at, **numbers}
    events = (
        Scheduled(1),
        Started(game["id"], 1, game["first"], game["second"]),
        Accepted(game["id"], 1, "five", winner=(game["first"], game["second"])[winner]),
    )
    for leaf, event in enumerate(events, 1 + len(events) * (game["number"] - 1)):
        name, data, of_game, attempt = encode(event)
        line = {"event": name, "data": data, "game": of_game, "attempt": attempt}
        yield journal, {"contest": contest, "at": at, "number": leaf, "digest": digest, **line}


def _insert(store: Store, rows: dict[Any, list[dict[str, Any]]]) -> None:
    with store._writing() as connection:
        for table in (pairings, games, attempts, results, journal):
            connection.execute(insert(table), rows[table])


def _snapshot(planned: Planned, agents: int) -> Snapshot:
    plan = planned.plan
    entries = []
    for number in range(agents):
        name = f"agent-{number:04d}"
        seat = SeatSpec(name=name, digest="1" * 64, command=("./a",), runtime="native", protocol="gomocup")
        entries.append(SnapshotEntry(name=name, rank=number + 1, seat=seat, calls_itself=name))
    return Snapshot(
        judge="0",
        name=plan.name,
        frozen_at="2027-01-01T00:00:00+00:00",
        plan_sha256="0" * 64,
        policy=planned.policy,
        format=plan.format,
        failures=plan.failures,
        seed=plan.seed,
        freeze=None,
        openings=((),),
        shuffle=False,
        transform=False,
        entries=tuple(entries),
        images={"native": SnapshotImage(id="sha256:" + "1" * 64, content="2" * 64)},
    )
