"""What it costs to show a contest: how late a page is, what viewers cost, and what the log costs the games' clocks.

Late: from the moment when a judge has read a move to the changed page in a real browser, with all games of a contest
running (`scripts.benchmarks.live_stage`). Viewers are plain connections that read server-sent events.
"""

import asyncio
import json
import os
import resource
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from judge.base.errors import HostError
from judge.base.worker_processes import Worker
from judge.broadcast.log import LOG_FILE
from judge.broadcast.pipe import Announced, Sender
from judge.broadcast.running import RunningGame
from judge.play.game import play
from judge.play.venue import Venue
from judge.record.policy import load_policy
from judge.record.spec import GameSpec
from judge.record.transcript import unseal
from judge.testing import scripted_seats
from scripts.benchmarks.live_stage import Stage, scripted_entries, staged, until
from scripts.benchmarks.measuring import GOMOKU, RUNS, Bench, Figure, clock_errors_ms, share_of
from scripts.browser import Browser, find_browser

GAMES = 64
MOVES_PER_S = 50
VIEWERS = 1000
SPAN_S = 15
"""For how long viewers are watched."""

FOLLOWED_GAMES, FOLLOWED_DETOURS, FOLLOWED_ENTRIES = 40, 20, 5
"""Games, moves of each agent before its row, and entries that arrive together."""

STAMPS = """
window.stamps = [];
document.addEventListener("judge-event", ({detail}) => {
  if (detail.type === "move") window.stamps.push([detail.game, detail.ply, performance.timeOrigin + performance.now()]);
});
"""


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
    yield from followed_games()


def _late(bench: Bench) -> Iterator[Figure]:
    program = find_browser()
    if program is None:
        raise HostError("there is no browser here; scripts/test installs one")
    with staged(_folder(bench, "late"), GAMES, 100) as stage:
        profile = _folder(bench, "profile")
        profile.mkdir()
        browser = Browser(program, profile)
        try:
            browser.run_first(STAMPS)
            browser.visit(f"{stage.url}/live.html")
            browser.wait_for(f"document.querySelectorAll('article.running').length == {GAMES}")
            stage.tell(MOVES_PER_S, threading.Event())
            browser.wait_for(f"stamps.length >= {sum(len(game.part_of) for game in stage.games)}")
            stamps = browser.ask("stamps")
        finally:
            browser.close()
        late = list(_delays(stage, stamps))
    name = f"page, read to changed, {GAMES} games, {MOVES_PER_S} moves/s"
    yield Figure(f"{name}, p50 of {len(late)}", share_of(late, 0.5), "ms", 30.0, share_of(late, 0.5) / 30)
    yield Figure(f"{name}, p99", share_of(late, 0.99), "ms", 150.0, share_of(late, 0.99) / 150)


def _delays(stage: Stage, stamps: Sequence[tuple[int, int, float]]) -> Iterator[float]:
    """How late each move was on the page."""
    games = {game.game.number: game for game in stage.games}
    for number, ply, at in stamps:
        yield at - stage.read_at[number, games[number].part_of[ply]]


def _viewers(bench: Bench) -> Iterator[Figure]:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with staged(_folder(bench, "viewers"), GAMES, 2 * VIEWERS) as stage:
        ends = threading.Event()
        teller = threading.Thread(target=stage.tell, args=(MOVES_PER_S, ends))
        watching = Worker[int]()
        try:
            watching.start(watch, stage.url, VIEWERS, SPAN_S)
            until(lambda: stage.viewers() >= VIEWERS, "not all viewers are connected")
            before, began, seq = _cpu_s(stage.service), time.monotonic(), _last(stage)
            teller.start()
            events = watching.result()
            used = _cpu_s(stage.service) - before
            span, moved = time.monotonic() - began, _last(stage) - seq
        finally:
            ends.set()
            if teller.is_alive():
                teller.join()
            watching.kill()
    name = f"{VIEWERS} viewers, {MOVES_PER_S} moves/s ({moved / span:.0f} events/s)"
    yield Figure(f"{name}, of a core", 100 * used / span, "%", 20.0, 5 * used / span)
    yield Figure("events that they read", events / VIEWERS, "per viewer")


def watch(url: str, count: int, span_s: float) -> int:
    """In a process: so many viewers for some seconds after the first move; how many events they read in all."""
    return asyncio.run(_watch(url, count, span_s))


async def _watch(url: str, count: int, span_s: float) -> int:
    host, port = url.removeprefix("http://").split(":")
    events, begins = 0, asyncio.Event()

    class Reading(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            if not isinstance(transport, asyncio.Transport):
                raise TypeError("not a connection")
            transport.write(f"GET /events HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())

        def data_received(self, data: bytes) -> None:
            nonlocal events
            events += data.count(b"\ndata: {")
            if b'"type":"move"' in data:
                begins.set()

    loop = asyncio.get_running_loop()
    open_ = [(await loop.create_connection(Reading, host, int(port)))[0] for _ in range(count)]
    await begins.wait()
    events = 0
    await asyncio.sleep(span_s)
    for transport in open_:
        transport.abort()
    return events


def _clocks(bench: Bench) -> Iterator[Figure]:
    """The error of the clocks of games that are told and of games that are not, by turns."""
    logged_errors: list[float] = []
    unlogged_errors: list[float] = []
    with staged(_folder(bench, "clocks"), GAMES, 100, serves=False) as stage:
        for number in range(2 * RUNS):
            for errors in (logged_errors, unlogged_errors) if number % 2 else (unlogged_errors, logged_errors):
                errors += _game_errors_ms(bench, stage if errors is logged_errors else None, number)
    for share in (0.5, 0.99):
        with_log, without = (1000 * share_of(errors, share) for errors in (logged_errors, unlogged_errors))
        name = f"clock error, p{100 * share:.0f} of {len(logged_errors)}"
        yield Figure(f"{name}, with the log", with_log, "us")
        yield Figure(f"{name}, without", without, "us")
        yield Figure(f"{name}, difference", with_log - without, "us", 20.0, (with_log - without) / 20)


def _game_errors_ms(bench: Bench, stage: Stage | None, number: int) -> list[float]:
    agent = bench.agent("house-stamp")
    seat = agent.seat(load_policy(GOMOKU, ()))
    seats = (seat.model_copy(update={"name": "a"}), seat.model_copy(update={"name": "b"}))
    spec = GameSpec(seats=seats, policy=load_policy(GOMOKU, ()), number=number)
    follow = None
    if stage is not None:
        game = stage.games[number % GAMES].game
        announced = Announced(id=game.id, game=game.number, attempt=game.attempt, spec=spec)
        follow = Sender(stage.address, announced).follow
    file = play(spec, {agent.digest: agent.program}, venue=Venue(bench.slot, follow=follow))
    return list(clock_errors_ms(unseal(file.transcript)))


def followed_games() -> Iterator[Figure]:
    """Running games that one process follows: the time of a move, and what each further game adds."""
    spec = GameSpec(seats=scripted_seats("gomocup"), policy=load_policy(GOMOKU, ()))
    entries = scripted_entries(spec, detours=FOLLOWED_DETOURS)
    memory, threads = _rss_bytes(), threading.active_count()
    games = [RunningGame(spec, number, 1) for number in range(FOLLOWED_GAMES)]
    began = time.process_time()
    for at in range(0, len(entries), FOLLOWED_ENTRIES):
        for game in games:
            game.add(entries[at : at + FOLLOWED_ENTRIES], 0.0)
    used, moves = time.process_time() - began, sum(game.plies for game in games)
    name = f"{FOLLOWED_GAMES} games followed in one process"
    yield Figure(f"{name}, CPU of a move", 1e6 * used / moves, "us")
    yield Figure(f"{name}, memory of a game", (_rss_bytes() - memory) / FOLLOWED_GAMES / 1024, "KiB")
    yield Figure(f"{name}, threads", threading.active_count() - threads, "")


def _rss_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _folder(bench: Bench, name: str) -> Path:
    return bench.staging / f"live-{name}"


def _last(stage: Stage) -> int:
    lines = (stage.folder / LOG_FILE).read_bytes().splitlines()
    return int(json.loads(lines[-1])["seq"])


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
