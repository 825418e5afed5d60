"""What it costs to show a contest: how late a page is, what viewers cost, and what the log costs the games' clocks.

Late: from the moment when a judge has read a move to the changed page in a real browser. The transcripts of 64 games
that were played before are told again, as their workers would, to a real recorder; the service, the stream and the
browser are real. Viewers are plain connections that read server-sent events.
"""

import asyncio
import json
import os
import random
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from judge.broadcast.log import LOG_FILE
from judge.broadcast.sender import Announced, Sender
from judge.contest.recorder_process import record
from judge.errors import HostError
from judge.matches import Match
from judge.referee.play import Venue, play
from judge.referee.policy import load_policy
from judge.referee.spec import MatchSpec, RecordFile
from judge.referee.transcript import unseal
from judge.worker_processes import Worker
from scripts.benchmarks.measuring import GOMOKU, RUNS, Bench, Figure, clock_errors_ms, share_of
from tests.broadcast.logs import play_next, shares
from tests.publish.browser import Browser, find_browser
from tests.publish.cups import Cup, player

GAMES = 64
MOVES_PER_S = 50
VIEWERS = 1000
SPAN_S = 15
"""For how long viewers are watched."""

PATIENCE_S = 120

STAMPS = """
window.stamps = [];
document.addEventListener("judge-event", ({detail}) => {
  if (detail.type === "move") window.stamps.push([detail.game, detail.ply, performance.timeOrigin + performance.now()]);
});
"""


@dataclass(slots=True)
class Stage:
    """A contest whose games are all told at once: by whom, piece by piece, and when each move was read."""

    cup: Cup
    address: Path
    url: str
    service: int
    """The process of the service."""
    games: Sequence[tuple[Match, RecordFile]]
    read_at: dict[tuple[int, int], float] = field(default_factory=dict)

    def tell(self, ends: threading.Event) -> None:
        """Tell the moves of all games at `MOVES_PER_S`, until all are told or it shall end."""
        chance = random.Random(1)
        waiting = []
        for match, file in self.games:
            announced = Announced(match=match.id, game=match.number, attempt=match.attempt, spec=file.record.spec)
            parts = shares(file, 3 * len(file.record.plies))
            waiting.append((Sender(self.address, announced), match.number, parts))
        due = time.monotonic()
        while waiting and not ends.is_set():
            sender, number, parts = chance.choice(waiting)
            self.read_at[number, len(parts)] = time.time() * 1000
            sender.follow(parts.pop(0))
            if not parts:
                waiting = [each for each in waiting if each[2]]
            due += 1 / (3 * MOVES_PER_S)
            time.sleep(max(0.0, due - time.monotonic()))


@contextmanager
def staged(folder: Path, *, serves: bool = True) -> Iterator[Stage]:
    """A contest of `GAMES` games that have begun, its recorder and its service."""
    cast = {"left": player("left", 0.05), "right": player("right", 0.05)}
    with ExitStack() as stack:
        form = f'name = "round-robin"\ngames = {GAMES}'
        more = f"[broadcast]\nconnections_per_address = {2 * VIEWERS}\nrequests_per_minute = {100 * VIEWERS}"
        cup = stack.enter_context(Cup(folder / "cup", cast, form=form, more=more))
        games = [play_next(cup) for _ in range(GAMES)]
        recorder: Worker[None] = Worker()
        stack.callback(recorder.kill)
        recorder.start(record, cup.planned, folder / "address")
        _until((cup.folder / LOG_FILE).exists, "the recorder does not write")
        if not serves:
            yield Stage(cup, folder / "address", "", 0, games)
            return
        command = [
            sys.executable,
            "-m",
            "judge.cli",
            "serve",
            str(cup.folder),
            "--read-only",
            "--listen",
            "127.0.0.1:0",
        ]
        service = stack.enter_context(subprocess.Popen(command, stderr=subprocess.PIPE, text=True))
        stack.callback(service.kill)
        if service.stderr is None:
            raise HostError("Popen made no pipe")
        url = service.stderr.readline().rsplit(" ", 1)[-1].strip()
        yield Stage(cup, folder / "address", url, service.pid, games)


def live(bench: Bench) -> Iterator[Figure]:
    """The page, the viewers, the clocks; a browser and viewers are not on the judge's core."""
    judge = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    try:
        yield from _late(bench)
        yield from _viewers(bench)
    finally:
        os.sched_setaffinity(0, judge)
    yield from _clocks(bench)


def _late(bench: Bench) -> Iterator[Figure]:
    program = find_browser()
    if program is None:
        raise HostError("there is no browser here; scripts/test installs one")
    with staged(_folder(bench, "late")) as stage:
        browser = Browser(program, _folder(bench, "profile"))
        try:
            browser.run_first(STAMPS)
            browser.visit(f"{stage.url}/live.html")
            browser.wait_for(f"document.querySelectorAll('article.running').length == {GAMES}")
            stage.tell(threading.Event())
            browser.ask("new Promise((done) => setTimeout(done, 1000))")
            stamps = browser.ask("stamps")
        finally:
            browser.close()
        late = list(_delays(stage, stamps))
    name = f"page, read to changed, {GAMES} games, {MOVES_PER_S} moves/s"
    yield Figure(f"{name}, p50 of {len(late)}", share_of(late, 0.5), "ms", 30.0, share_of(late, 0.5) / 30)
    yield Figure(f"{name}, p99", share_of(late, 0.99), "ms", 150.0, share_of(late, 0.99) / 150)


def _delays(stage: Stage, stamps: Sequence[tuple[int, int, float]]) -> Iterator[float]:
    """How late each move was on the page; its part of the transcript is the first that brings it."""
    parts = {match.number: _parts_by_ply(file) for match, file in stage.games}
    for game, ply, at in stamps:
        sent = stage.read_at.get((game, parts[game].get(ply, -1)))
        if sent is not None:
            yield at - sent


def _parts_by_ply(file: RecordFile) -> Mapping[int, int]:
    """For each answer how many parts were left, with its own, when the part that brings it was sent."""
    from judge.broadcast.events import MoveMade
    from judge.broadcast.running import RunningGame
    from judge.referee.transcript import unpack_entries

    running = RunningGame(file.record.spec, 1, 1)
    found = {}
    parts = shares(file, 3 * len(file.record.plies))
    for number, part in enumerate(parts):
        for event in running.hear(list(unpack_entries(part)), 0.0):
            if isinstance(event, MoveMade):
                found[event.ply] = len(parts) - number
    running.close()
    return found


def _viewers(bench: Bench) -> Iterator[Figure]:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with staged(_folder(bench, "viewers")) as stage:
        ends = threading.Event()
        teller = threading.Thread(target=stage.tell, args=(ends,))
        watching = Worker[tuple[int, float]]()
        try:
            watching.start(watch, stage.url, VIEWERS, SPAN_S)
            time.sleep(8)  # all are connected
            teller.start()
            before, began, seq = _cpu_s(stage.service), time.monotonic(), _last(stage)
            time.sleep(SPAN_S)
            used = _cpu_s(stage.service) - before
            span, moved = time.monotonic() - began, _last(stage) - seq
            events, _ = watching.result()
        finally:
            ends.set()
            if teller.is_alive():
                teller.join()
            watching.kill()
    yield Figure(
        f"{VIEWERS} viewers, {moved / span:.0f} events/s, of a core", 100 * used / span, "%", 20.0, 5 * used / span
    )
    yield Figure("events that they read", events / VIEWERS, "per viewer")


def watch(url: str, count: int, span_s: float) -> tuple[int, float]:
    """In a process: so many viewers for some seconds; how many events they read in all."""
    return asyncio.run(_watch(url, count, span_s))


async def _watch(url: str, count: int, span_s: float) -> tuple[int, float]:
    host, port = url.removeprefix("http://").split(":")
    events = 0

    class Reading(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            if not isinstance(transport, asyncio.Transport):
                raise TypeError("not a connection")
            transport.write(f"GET /events HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())

        def data_received(self, data: bytes) -> None:
            nonlocal events
            events += data.count(b"\ndata: {")

    loop = asyncio.get_running_loop()
    open_ = [(await loop.create_connection(Reading, host, int(port)))[0] for _ in range(count)]
    await asyncio.sleep(span_s + 8)
    for transport in open_:
        transport.abort()
    return events, span_s


def _clocks(bench: Bench) -> Iterator[Figure]:
    """The error of the clocks of games that are told and of games that are not, by turns."""
    told: list[float] = []
    untold: list[float] = []
    with staged(_folder(bench, "clocks"), serves=False) as stage:
        for number in range(2 * RUNS):
            for errors in (told, untold) if number % 2 else (untold, told):
                errors += _game_errors_ms(bench, stage if errors is told else None, number)
    for share in (0.5, 0.99):
        with_log, without = (1000 * share_of(errors, share) for errors in (told, untold))
        name = f"clock error, p{100 * share:.0f} of {len(told)}"
        yield Figure(f"{name}, with the log", with_log, "us")
        yield Figure(f"{name}, without", without, "us")
        yield Figure(f"{name}, difference", with_log - without, "us", 20.0, (with_log - without) / 20)


def _game_errors_ms(bench: Bench, stage: Stage | None, number: int) -> list[float]:
    agent = bench.agent("house-stamp")
    seat = agent.seat(load_policy(GOMOKU, ()))
    seats = (seat.model_copy(update={"name": "a"}), seat.model_copy(update={"name": "b"}))
    spec = MatchSpec(seats=seats, policy=load_policy(GOMOKU, ()), number=number)
    follow = None
    if stage is not None:
        match = stage.games[number % GAMES][0]
        announced = Announced(match=match.id, game=match.number, attempt=match.attempt, spec=spec)
        follow = Sender(stage.address, announced).follow
    file = play(spec, {agent.digest: agent.program}, venue=Venue(bench.slot, follow=follow))
    return list(clock_errors_ms(unseal(file.transcript)))


def _folder(bench: Bench, name: str) -> Path:
    folder = bench.staging / f"live-{name}"
    folder.mkdir()
    return folder


def _last(stage: Stage) -> int:
    lines = (stage.cup.folder / LOG_FILE).read_bytes().splitlines()
    return int(json.loads(lines[-1])["seq"])


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _until(met: Callable[[], bool], why: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not met():
        if time.monotonic() > deadline:
            raise HostError(why)
        time.sleep(0.01)
