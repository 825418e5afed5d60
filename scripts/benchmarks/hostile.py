"""What honest clients of `judge serve` get while hostile ones take as much as they can.

Hostile and honest clients are in separate networks behind a proxy. Two contests are served with the default limits.
"""

import asyncio
import itertools
import os
import re
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from judge.base.descriptors import raise_descriptor_limit
from judge.base.errors import HostError
from judge.base.procfs import children_of, memory_bytes, stat_fields
from judge.base.worker_processes import Worker
from judge.broadcast.events import GameStarted, Unscored
from judge.broadcast.log import LOG_FILE, EventLog
from judge.contest.attempts import outcome_and_record
from judge.contest.contest import Contest, open_store
from judge.contest.plan import load_plan
from judge.contest.runner import Scheduler
from judge.record.spec import GameSpec, Placement, RecordFile
from judge.record.transcript import seal
from judge.referee.requests import drive
from judge.referee.setup import build_referee
from judge.referee.verify import record_of
from judge.store.tokens import Tokens
from judge.testing import Act, Agent, Say, World
from scripts.benchmarks.live_stage import until
from scripts.benchmarks.measuring import GOMOKU, Bench, Figure, share_of
from tests.attacks.defences import weak_command
from tests.attacks.serving import begin_contest

HOSTILE, HONEST = 60, 20

SPAN_S = 180.0
"""Of each kind; HOSTILE_S in the environment replaces it."""

PAUSE_S = 0.5
"""Of an honest client between two pages."""

CONNECTIONS = 4
"""Of a hostile client that reads its answers; one that keeps them open has `HELD`."""

HELD = 48

TIMEOUT_S = 30.0

GAMES, LARGE_BYTES = 12, 4 << 20
"""Games of a contest; bytes of text in the last one, each of six characters in its record."""

MAX_ANSWER_S, MAX_MEMORY_MIB = 2.0, 600.0

PLAN = f"""
name = "{{name}}"
policy = "{GOMOKU}"
seed = 1
[format]
name = "round-robin"
games = {GAMES}
"""

PAGES = (
    "/",
    "/one/index.html",
    "/one/live.html",
    "/one/games.html",
    "/one/health",
    "/two/feed",
    "/one/games/00001.html",
)
"""Of an honest client."""

RECORD = f"/one/records/{GAMES:05d}.json"

OLD_EVENTS = 100_000
"""In the log of a contest."""


def hostile(bench: Bench) -> Iterator[Figure]:
    """The slowest answer to an honest client, and the memory of the service, for each kind of hostile clients."""
    raise_descriptor_limit()
    span_s = float(os.environ.get("HOSTILE_S", SPAN_S))
    affinity = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    try:
        for name, client in KINDS.items():
            with serving(bench.staging / f"hostile-{name}") as service:
                before_s = cpu_s(service.pid)
                times, failed, memory = asyncio.run(service.measure(client, span_s))
                used = (cpu_s(service.pid) - before_s) / span_s
            words = f"{HOSTILE} hostile clients, {name}"
            yield Figure(f"{words}: p99 of {len(times)} answers", share_of(times, 0.99), "s")
            slowest = max(times)
            yield Figure(f"{words}: slowest answer", slowest, "s", MAX_ANSWER_S, slowest / MAX_ANSWER_S)
            yield Figure(f"{words}: answers refused or missing", len(failed), "")
            yield Figure(f"{words}: processor time of the service", 100 * used, "%")
            mib = memory / 2**20
            yield Figure(f"{words}: peak memory", mib, "MiB", MAX_MEMORY_MIB, mib / MAX_MEMORY_MIB)
    finally:
        os.sched_setaffinity(0, affinity)


def cpu_s(pid: int) -> float:
    """The processor time of a process so far. It has low priority: on a busy host answers wait for it."""
    fields = stat_fields(pid)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Service:
    """A service that runs."""

    def __init__(self, port: int, pid: int, tokens: Sequence[str]) -> None:
        self.port = port
        self.pid = pid
        self.tokens = tokens
        """Of authors."""

    async def measure(
        self, client: "Client", span_s: float, hostile: int = HOSTILE, honest: int = HONEST
    ) -> tuple[list[float], list[str], int]:
        """The seconds of each answer to honest clients, the failures, and the service's peak memory."""
        times: list[float] = []
        failures: list[str] = []
        attackers: Worker[None] = Worker()
        attackers.start(attack, client, self, hostile)
        end = time.monotonic() + span_s
        readers = [asyncio.create_task(self._read(number, end, times, failures)) for number in range(honest)]
        most = 0
        while time.monotonic() < end:
            processes = [self.pid, *children_of(self.pid)]
            with suppress(OSError, HostError):
                most = max(most, sum(memory_bytes(pid, "VmRSS") for pid in processes))
            await asyncio.sleep(0.5)
        await asyncio.gather(*readers)
        attackers.kill()
        return times, failures, most

    async def _read(self, number: int, end: float, times: list[float], failures: list[str]) -> None:
        for path in itertools.cycle(PAGES):
            if time.monotonic() >= end:
                return
            began = time.monotonic()
            try:
                async with asyncio.timeout(TIMEOUT_S):
                    status = await self.get(path, f"198.51.{number}.7")
            except (OSError, TimeoutError) as error:
                status, path = 0, f"{path} {type(error).__name__}"
            times.append(time.monotonic() - began)
            if status != 200 and not (path == "/" and status == 307):
                failures.append(f"{path} {status}")
            await asyncio.sleep(PAUSE_S)

    async def get(self, path: str, address: str, more: str = "") -> int:
        """The status of a page that is read to its end; 0 without an answer."""
        async with self.asked(path, address, more + "Connection: close\r\n") as (reader, _):
            head = await reader.read(64)
            while await reader.read(1 << 16):
                pass
        found = re.match(rb"HTTP/1\.1 (\d+)", head)
        return int(found[1]) if found else 0

    @asynccontextmanager
    async def asked(
        self, path: str, address: str, more: str = "", method: str = "GET", body: bytes = b""
    ) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        """A request that was sent."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 16)
        try:
            head = f"{method} {path} HTTP/1.1\r\nHost: here\r\nX-Forwarded-For: {address}\r\n{more}\r\n"
            writer.write(head.encode() + body)
            yield reader, writer
        finally:
            writer.transport.abort()


Client = Callable[[Service, int, int], Awaitable[None]]
"""One request of connection Y of hostile client X."""


def attack(client: "Client", service: Service, count: int) -> None:
    """All hostile clients, in a process of their own."""

    async def run() -> None:
        await asyncio.gather(*(_repeat(client, service, number) for number in range(count)))

    raise_descriptor_limit()
    asyncio.run(run())


async def _repeat(client: "Client", service: Service, number: int) -> None:
    async def go_on(connection: int) -> None:
        while True:
            with suppress(OSError, TimeoutError):
                await client(service, number, connection)
            await asyncio.sleep(0.001)

    count = HELD if client in (hold_stream, hold_body, hold_answer) else CONNECTIONS
    await asyncio.gather(*map(go_on, range(count)))


# --- kinds of clients -------------------------------------------------------------------------------------------------


async def hold_stream(service: Service, client: int, connection: int) -> None:
    """A stream of the front page or of a contest, from each /64 of a /56."""
    path = ("/events", "/one/events", "/two/events?since=0")[connection % 3]
    async with service.asked(path, f"2001:db8:{client:x}:{connection % 256:x}::1") as (reader, _):
        while await reader.read(4096):
            pass


async def ask_pages(service: Service, client: int, connection: int) -> None:
    """Public pages, without a pause."""
    for path in PAGES:
        await service.get(path, f"10.{client}.0.{connection % 2}")


async def ask_record(service: Service, client: int, connection: int) -> None:
    """A large record; every second connection goes away at once."""
    address = f"10.{client}.0.{connection}"
    if connection % 2:
        async with service.asked(RECORD, address) as (reader, _):
            await reader.read(10)
    else:
        await service.get(RECORD, address)


async def ask_games(service: Service, client: int, connection: int) -> None:
    """Pages of all games in all languages, and their records."""
    for number, language in itertools.product(range(1, GAMES + 1), ("", "cs/", "zh/")):
        await service.get(f"/one/{language}games/{number:05d}.html", f"10.{client}.0.{connection}")
        await service.get(f"/two/records/{number:05d}.json", f"10.{client}.0.{connection}")


async def search(service: Service, client: int, connection: int) -> None:
    """Events of a missing game, from the beginning of the log."""
    await service.get(f"/one/feed?game={1000 + connection}", f"10.{client}.0.{connection}")


async def hold_body(service: Service, client: int, connection: int) -> None:
    """A form that is never complete."""
    head = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 8000\r\n"
    path, address = ("/one/author/session", "/feed")[connection % 2], f"10.{client}.{connection % 4}.1"
    async with service.asked(path, address, head, "POST", b"t") as (reader, _):
        while await reader.read(4096):
            pass


async def hold_answer(service: Service, client: int, connection: int) -> None:
    """A large answer that is not read."""
    path = (RECORD, f"/one/games/{GAMES:05d}.html", "/one/games.html")[connection % 3]
    async with service.asked(path, f"10.{client}.{connection % 4}.1") as (reader, _):
        await reader.read(10)
        await asyncio.sleep(TIMEOUT_S)


async def ask_own(service: Service, client: int, connection: int) -> None:
    """The pages of an author."""
    cookie = f"Cookie: judge-author={service.tokens[client]}\r\n"
    for path in ("/one/author/index.html", "/one/author/notices.html", "/one/author/games/00001.html"):
        await service.get(path, f"10.{client}.0.{connection}", cookie)


async def do_nothing(_service: Service, _client: int, _connection: int) -> None:
    """To compare."""
    await asyncio.sleep(TIMEOUT_S)


KINDS: Mapping[str, Client] = {
    "idle": do_nothing,
    "streams": hold_stream,
    "pages": ask_pages,
    "large record": ask_record,
    "games": ask_games,
    "searches": search,
    "slow bodies": hold_body,
    "slow readers": hold_answer,
    "authors": ask_own,
}


# --- the service ------------------------------------------------------------------------------------------------------


@contextmanager
def serving(folder: Path, large_bytes: int = LARGE_BYTES, old_events: int = OLD_EVENTS) -> Iterator[Service]:
    """Two contests whose games are played."""
    folders = [folder / name for name in ("one", "two")]
    for each in folders:
        _play(each, large_bytes, old_events)
    with closing(Tokens(load_plan(folders[0]).store_url, "one")) as tokens:
        authors = [tokens.make(f"author-{number}", "bench") for number in range(HOSTILE)]
    log = folder / "service.log"
    words = weak_command(["processing of uploads"], "serve", *map(str, folders), "--listen", "127.0.0.1:0")
    with log.open("w") as stderr, ExitStack() as stack:
        process = subprocess.Popen([*words, "--proxy", "127.0.0.1"], stdout=subprocess.DEVNULL, stderr=stderr)
        stack.callback(process.wait)
        stack.callback(process.terminate)
        until(lambda: " on http://" in log.read_text(), f"the service does not start: {log}")
        found = re.search(r" on http://127\.0\.0\.1:(\d+)", log.read_text())
        if found is None:
            raise HostError(f"the service does not listen: {log}")
        service = Service(int(found[1]), process.pid, authors)
        until(lambda: asyncio.run(service.get("/one/index.html", "192.0.2.1")) == 200, "there are no pages")
        yield service


def _play(folder: Path, large_bytes: int, old_events: int) -> None:
    folder.mkdir(parents=True)
    (folder / "contest.toml").write_text(PLAN.format(name=folder.name))
    planned = load_plan(folder)
    begin_contest(planned)
    with closing(open_store(planned)) as store:
        contest = Contest(store, planned)
        Scheduler(contest).schedule_next()
        contest._programs.update({digest * 64: folder for digest in "12"})  # agents are scripts
        for number in range(1, GAMES + 1):
            game = store.issue(planned.name, "bench")
            if game is None:
                raise HostError("the contest of the measurement has too few games")
            text_bytes = large_bytes // 10 if number == GAMES else 40
            world = World(_script(2, text_bytes), _script(4, text_bytes))
            outcome, data = outcome_and_record(_record(contest.job(game).spec(), world))
            contest.files.put(data)
            store.accept(game.id, game.attempt, outcome)
    with closing(EventLog(folder / LOG_FILE)) as log:
        at, number = "2000-01-01T00:00:00+00:00", GAMES + 1
        started = GameStarted(at=at, game=number, attempt=1, first="one", second="two")
        log.append([*[started] * old_events, Unscored(at=at, game=number, attempt=1, state="abandoned", reason="")])


def _record(spec: GameSpec, world: World) -> RecordFile:
    referee = build_referee(spec)
    end = drive(referee.requests(), world)
    sealed = seal(world.entries)
    made = record_of(
        spec,
        end,
        referee,
        attempt=1,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        placement=Placement(box=("world", "world"), judge_cores=(), slot_cores=()),
        transcript=sealed,
    )
    return RecordFile(record=made, transcript=sealed)


def _script(row: int, text_bytes: int) -> Agent:
    """An agent that makes its row, and prints bytes that a record writes with six characters."""
    squares = iter([(x, row) for x in range(5)])
    text = b"MESSAGE " + b"\xff" * 400 + b"\n"

    def hear(line: str) -> Sequence[Act]:
        if line.startswith("START"):
            return [Say(b"OK\r\n")]
        if line.startswith(("BEGIN", "TURN")):
            x, y = next(squares)
            return [Say(text * (text_bytes // len(text))), Say(f"{x},{y}\r\n".encode(), 10)]
        return []

    return hear
