"""A contest whose games were played by scripts and are told again, move by move, as their workers would tell them.

The contest, its store, the recorder of its events and the service are real; only the agents are scripts.
"""

import os
import platform
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path

from judge.base.errors import HostError
from judge.base.worker_processes import Worker
from judge.broadcast.events import MoveMade
from judge.broadcast.log import LOG_FILE
from judge.broadcast.pipe import Announced, Sender
from judge.broadcast.running import RunningGame
from judge.contest.begin import begin
from judge.contest.contest import open_store
from judge.contest.event_log.recorder import record
from judge.contest.plan import Planned, load_plan
from judge.contest_games import ScheduledGame
from judge.record.spec import GameSpec
from judge.record.transcript import Entry, Transcript, unpack_entries
from judge.referee.requests import drive
from judge.referee.setup import build_referee
from judge.testing import Act, Agent, Say, World
from scripts.benchmarks.measuring import GOMOKU

PATIENCE_S = 120

PLAN = """
name = "stage"
policy = "{policy}"
[format]
name = "round-robin"
games = {games}
[broadcast]
viewers = {viewers}
connections_per_address = {viewers}
requests_per_minute = 1000000
[[agents]]
path = "house-instant"
name = "left"
[[agents]]
path = "house-instant"
name = "right"
"""


@dataclass(frozen=True, slots=True)
class ToldGame:
    """A game piece by piece, and for each answer the number of the piece that brings it."""

    game: ScheduledGame
    spec: GameSpec
    parts: Sequence[bytes]
    part_of: Mapping[int, int]


@dataclass(slots=True)
class Stage:
    """A contest of games that have begun, and when each piece of a game was read by its judge (ms of Unix time)."""

    folder: Path
    address: Path
    games: Sequence[ToldGame]
    url: str = ""
    service: int = 0
    """The process of the service."""
    read_at: dict[tuple[int, int], float] = field(default_factory=dict)

    def tell(self, moves_per_s: float, ends: threading.Event) -> None:
        """Tell the games, all at once, at so many moves a second, until all are told or it shall end."""
        chance = random.Random(1)
        senders = {game.game.number: Sender(self.address, self._announced(game)) for game in self.games}
        waiting = [(game, iter(enumerate(game.parts))) for game in self.games]
        per_part_s = sum(len(game.part_of) for game in self.games) / sum(len(game.parts) for game in self.games)
        due = time.monotonic()
        while waiting and not ends.is_set():
            game, parts = waiting_game = chance.choice(waiting)
            number, part = next(parts, (0, b""))
            if not part:
                waiting.remove(waiting_game)
                continue
            self.read_at[game.game.number, number] = time.time() * 1000
            senders[game.game.number].follow(part)
            due += per_part_s / moves_per_s
            ends.wait(max(0.0, due - time.monotonic()))

    def viewers(self) -> int:
        """How many watch, as the page says."""
        with closing(HTTPConnection(self.url.removeprefix("http://"), timeout=PATIENCE_S)) as connection:
            connection.request("GET", "/live.html")
            return int(connection.getresponse().read().partition(b'id="viewers">')[2].partition(b"<")[0])

    @staticmethod
    def _announced(game: ToldGame) -> Announced:
        return Announced(id=game.game.id, game=game.game.number, attempt=game.game.attempt, spec=game.spec)


@contextmanager
def staged(folder: Path, games: int, viewers: int, *, serves: bool = True) -> Iterator[Stage]:
    """A contest of so many games that have begun, its recorder, and its service for so many viewers."""
    folder.mkdir()
    (folder / "contest.toml").write_text(PLAN.format(policy=GOMOKU, games=games, viewers=viewers))
    planned = load_plan(folder)
    with ExitStack() as stack:
        stage_games = _begun(planned, games)
        recorder: Worker[None] = Worker()
        stack.callback(recorder.kill)
        stage = Stage(planned.folder, folder / "address", stage_games)
        recorder.start(record, planned, stage.address)
        until((planned.folder / LOG_FILE).exists, "the recorder does not write")
        if serves:
            words = [sys.executable, "-m", "judge.cli", "serve", str(folder), "--read-only", "--listen", "127.0.0.1:0"]
            service = stack.enter_context(subprocess.Popen(words, stderr=subprocess.PIPE, text=True))
            stack.callback(service.kill)
            if service.stderr is None:
                raise HostError("Popen made no pipe")
            stage.url, stage.service = service.stderr.readline().rsplit(" ", 1)[-1].strip(), service.pid
        yield stage


def _begun(planned: Planned, games: int) -> Sequence[ToldGame]:
    with closing(open_store(planned)) as store:
        contest = begin(store, planned, {"name": platform.node(), "processors": os.cpu_count()})
        stage_games = []
        for number in range(games):
            game = store.issue(planned.name, "bench")
            if game is None:
                raise HostError("the contest of the measurement has too few games")
            stage_games.append(_played(game, contest.job(game).spec(), detours=3 + number % 6))
        return stage_games


def _played(game: ScheduledGame, spec: GameSpec, detours: int) -> ToldGame:
    """A game between scripts, cut into three pieces a move."""
    entries = scripted_entries(spec, detours)
    parts: list[bytes] = []
    transcript = Transcript(parts.append)
    pieces = 3 * 2 * (detours + 5)
    for number, entry in enumerate(entries, 1):
        transcript.add(entry.ns, entry.seat, entry.kind, entry.data)
        if number * pieces // len(entries) > (number - 1) * pieces // len(entries):
            transcript.tell()
    running, part_of = RunningGame(spec, game.number, game.attempt), {}
    for number, part in enumerate(parts):
        for event in running.add(list(unpack_entries(part)), 0.0):
            if isinstance(event, MoveMade):
                part_of[event.ply] = number
    return ToldGame(game, spec, parts, part_of)


def scripted_entries(spec: GameSpec, detours: int) -> Sequence[Entry]:
    """The transcript of a game between scripts."""
    world = World(_script(2, detours), _script(4, detours))
    drive(build_referee(spec).requests(), world)
    return world.entries


def _script(row: int, detours: int) -> Agent:
    """An agent that makes its row after so many stones elsewhere, and speaks of a search."""
    squares = iter([*((3 * at % 20, row + 8) for at in range(detours)), *((at, row) for at in range(5))])

    def hear(line: str) -> Sequence[Act]:
        if line.startswith("START"):
            return [Say(b"OK\r\n")]
        if line.startswith(("BEGIN", "TURN")):
            x, y = next(squares)
            return [Say(b"MESSAGE depth 7 ev 12 n 345K\r\n"), Say(f"{x},{y}\r\n".encode(), 10)]
        return []

    return hear


def until(met: Callable[[], bool], why: str) -> None:
    """Wait for a condition. Raises HostError with a sentence if it is never met."""
    deadline = time.monotonic() + PATIENCE_S
    while not met():
        if time.monotonic() > deadline:
            raise HostError(why)
        time.sleep(0.05)
