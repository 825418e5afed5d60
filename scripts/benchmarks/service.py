"""What a service does beside games: how long authors wait for it, and what uploads and pages cost the games' clocks.

The service is the one that an organiser starts, with all its limits but those on how often somebody may ask. What it
costs the clocks is measured by turns: a game with its clients, and one for which they pause.
"""

import io
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from judge.base.errors import HostError
from judge.base.resources import IMAGES
from judge.cli.submit import open_intake
from judge.contest.begin import begin
from judge.contest.contest import open_store
from judge.contest.plan import load_plan
from judge.notices.sender import new_secret
from judge.play.game import play
from judge.play.venue import Venue
from judge.record.policy import load_policy
from judge.record.spec import GameSpec
from judge.record.transcript import unseal
from judge.sandbox.machine.cores import LOCKS_VARIABLE as LOCKS
from judge.sandbox.machine.cores import CoreLocks
from judge.store.tokens import Tokens
from judge.store.types import ProcessingResult, Upload
from judge.submissions.service import IntakeDirectory
from judge.terminal.output import note
from scripts.benchmarks.live_stage import until
from scripts.benchmarks.measuring import RUNS, Bench, Figure, clock_errors_ms, figure_of, share_of

POLICY = "gomocup-freestyle"
CHANGES: tuple[str, ...] = ()
"""Of the policy, for the games whose clocks are measured."""

CLIENTS = 20
"""Each sends an archive and reads pages while a game is played."""

PAUSE_S = 0.5
"""Of a client after each request."""

PRACTISED = 2
"""Uploads whose practice games are waited for: of an agent that thinks to the clock."""

ALONE, BURST = 10, 20
"""Notices one after the other, and of one author at once."""

REFUSALS = 500
"""Requests with each kind of wrong token, by turns."""

IT_PLAYS_S, PRACTICE_S, NOTICE_S = 10.0, 60.0, 5.0
"""What an author may wait: from an upload to the passed check, from there for the practice games, and for a notice."""

POLL_INTERVAL_S = 0.02

PLAN = """
name = "service"
policy = "{policy}"
[format]
name = "round-robin"
games = 4
[broadcast]
requests_per_minute = 1000000
connections_per_address = 1000
[intake]
uploads_per_hour = 0
waiting_per_author = 0
waiting = 0
requests_per_minute = 1000000
address_requests_per_minute = 1000000
strangers_per_minute = 1000000
connections_per_address = 1000
practice_games = {practice}
[intake.notices]
permit = ["127.0.0.0/8"]
plain = true
[[agents]]
path = "house-instant"
name = "left"
[[agents]]
path = "house-instant"
name = "right"
"""

PAGES = ("/live.html", "/index.html", "/feed", "/submissions", "/author/index.html", "/style.css")


def service(bench: Bench) -> Iterator[Figure]:
    """What authors wait for, then what they cost; clients are not kept to the judge's core."""
    judge = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    try:
        yield from _authors(bench)
        yield from clocks(bench, judge)
    finally:
        os.sched_setaffinity(0, judge)


# --- the service -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Served:
    """A service that runs, and the contest's folder."""

    directory: IntakeDirectory
    address: str
    group: int
    """Its processes."""

    def token(self, author: str) -> str:
        """A new token for an author."""
        with closing(Tokens(self.directory.store_url, self.directory.contest)) as tokens:
            return tokens.make(author, "bench")

    def ask(self, method: str, path: str, token: str = "", body: bytes = b"") -> bytes:
        """The body of an answer. Raises HostError where the service does not do as it is asked."""
        with closing(HTTPConnection(self.address, timeout=60)) as connection:
            headers = {"authorization": f"Bearer {token}", "cookie": f"judge-author={token}"} if token else {}
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            said = answer.read()
            if answer.status >= 400:
                raise HostError(f"{method} {path}: {answer.status} {said[:300]!r}")
            return said

    def asked(self, path: str, token: str) -> Any:
        """A document of the API."""
        return json.loads(self.ask("GET", path, token))


@contextmanager
def _served(folder: Path, locks: Path, *, practice: int = 0) -> Iterator[Served]:
    folder.mkdir()
    (folder / "contest.toml").write_text(PLAN.format(policy=POLICY, practice=practice))
    directory = open_intake(folder)
    planned = load_plan(folder)
    with closing(open_store(planned)) as store:
        begin(store, planned, {"name": "bench", "processors": os.cpu_count()})
    log = folder / "service.log"
    words = [sys.executable, "-m", "judge.cli", "serve", str(folder), "--listen", "127.0.0.1:0"]
    environment = {**os.environ, LOCKS: str(locks)}
    with (
        log.open("w") as stderr,
        subprocess.Popen(words, stderr=stderr, env=environment, start_new_session=True) as process,
    ):
        try:
            until(lambda: " on http://" in log.read_text(), f"the service does not start: {log}")
            line = next(line for line in log.read_text().splitlines() if " on http://" in line)
            yield Served(directory, line.rpartition("/")[2], process.pid)
        finally:
            process.terminate()


def _locks(folder: Path) -> Path:
    """Locks of cores that only this measurement knows: this process has those of the host all the time."""
    folder.mkdir()
    for core in range(os.cpu_count() or 1):
        (folder / f"cpu{core}").touch()
    return folder


# --- what authors wait for -------------------------------------------------------------------------------------------


def _authors(bench: Bench) -> Iterator[Figure]:
    """In a slot in which nothing else is played."""
    locks = _locks(bench.staging / "locks")
    native = _packed(bench.agent("house-strong").program)
    uploads = {"a native program": native, "sources in C": _packed(IMAGES / "starter-gomocup-c")}
    passed: dict[str, list[float]] = {kind: [] for kind in uploads}
    with _served(bench.staging / "authors", locks) as served:
        for number in range(RUNS + 1):
            for kind, archive in uploads.items():
                seconds = _passed_s(served, f"author-{number}", archive)
                if number:  # the first one builds the images that this host lacks
                    passed[kind].append(seconds)
        yield from _notices(served)
        yield from _refusals(served)
    for kind, values in passed.items():
        yield figure_of(f"from the upload to the passed check, {kind}", values, "s", [IT_PLAYS_S] * len(values))
    with _served(bench.staging / "practice", locks, practice=3) as served:
        practised = [_practised_s(served, f"author-{number}", native) for number in range(PRACTISED)]
    worst = max(practised)
    yield Figure("from there to three practice games, the longest", worst, "s", PRACTICE_S, worst / PRACTICE_S)


def _packed(folder: Path) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        archive.add(folder, ".")
    return buffer.getvalue()


def _passed_s(served: Served, author: str, archive: bytes) -> float:
    """In how many seconds an upload, the first of its author, passed."""
    token = served.token(author)
    began = time.monotonic()
    number = json.loads(served.ask("POST", f"/submissions?filename=a.tar.gz&name={author}", token, archive))["id"]
    while (state := served.asked(f"/submissions/{number}", token)["state"]) in ("received", "processing"):
        time.sleep(POLL_INTERVAL_S)
    if state != "passed":
        raise HostError(f"the upload of the measurement was {state}")
    return time.monotonic() - began


def _practised_s(served: Served, author: str, archive: bytes) -> float:
    """In how many seconds after it passed an upload has played its practice games."""
    _passed_s(served, author, archive)
    began = time.monotonic()
    token = served.token(author)
    number = served.asked("/submissions", token)["submissions"][0]["id"]
    while not all(game["verdict"] for game in served.asked(f"/submissions/{number}/practice", token)["games"]):
        time.sleep(POLL_INTERVAL_S)
    return time.monotonic() - began


@dataclass(slots=True)
class _Receiver:
    """A webhook on this machine, and when each call has come, with what it told."""

    calls: list[tuple[float, str]] = field(default_factory=list)
    url: str = ""

    @contextmanager
    def listening(self) -> Iterator["_Receiver"]:
        calls = self.calls

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                at = time.time()
                body = self.rfile.read(int(self.headers["content-length"]))
                calls.append((at, json.loads(body)["type"]))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            self.url = f"http://127.0.0.1:{server.server_port}/"
            try:
                yield self
            finally:
                server.shutdown()
                thread.join()


def _notices(served: Served) -> Iterator[Figure]:
    """From the row of the store that says that a submission is refused to the webhook of its author."""
    chance = random.Random(1)
    with _Receiver().listening() as receiver, closing(served.directory.notices()) as notices:
        notices.set_webhook("told", receiver.url, new_secret())
        until(lambda: len(receiver.calls) == 1, "the webhook is not called")
        alone = []
        for number in range(ALONE):
            time.sleep(chance.random())  # the moment of the event is any moment of the service
            at = _refused(served.directory)
            until(lambda count=number + 2: len(receiver.calls) == count, "a notice does not come")  # type: ignore[misc]
            alone.append(receiver.calls[-1][0] - at)
        rows = [_refused(served.directory) for _ in range(BURST)]
        until(lambda: len(receiver.calls) == 1 + ALONE + BURST, "notices do not come")
        burst = [called_at - at for (called_at, _), at in zip(receiver.calls[-BURST:], rows, strict=True)]
    yield Figure(f"from an event to its webhook, p50 of {ALONE}", share_of(alone, 0.5), "s")
    worst = max(alone)
    yield Figure("the same, the longest", worst, "s", NOTICE_S, worst / NOTICE_S)
    worst = max(burst)
    yield Figure(f"the last of {BURST} webhooks of one author at once", worst, "s", NOTICE_S, worst / NOTICE_S)


def _refused(directory: IntakeDirectory) -> float:
    """Refuse a submission; when that was in the store, in seconds of Unix time."""
    with closing(directory.register()) as register:
        taken = register.receive(Upload("told", "", "a.zip", "a" * 64, 1), worker="bench")
        register.finish(taken.id, taken.attempt, ProcessingResult("it loses on time", "", None, None, None, None))
    return time.time()


def _refusals(served: Served) -> Iterator[Figure]:
    """What the time of a refusal could tell: whether a token was ever made, and whether another's page is there."""
    other, revoked = served.token("other"), served.token("revoked")
    with closing(Tokens(served.directory.store_url, served.directory.contest)) as tokens:
        tokens.revoke("revoked", "bench")
    theirs, none = "/author/submissions/1.html", "/author/submissions/999999.html"
    ways = {
        "unknown": ("judge-" + "A" * 43, theirs),
        "revoked": (revoked, theirs),
        "theirs": (other, theirs),
        "none": (other, none),
    }
    took_us: dict[str, list[float]] = {way: [] for way in ways}
    with closing(HTTPConnection(served.address, timeout=60)) as connection:
        for _ in range(REFUSALS):
            for way, (token, path) in ways.items():
                began = time.monotonic()
                connection.request("GET", path, headers={"cookie": f"judge-author={token}"})
                answer = connection.getresponse()
                answer.read()
                took_us[way].append((time.monotonic() - began) * 1e6)
                if answer.status != HTTPStatus.UNAUTHORIZED:
                    raise HostError(f"{path} with a wrong token: {answer.status}")
    p50 = {way: share_of(times, 0.5) for way, times in took_us.items()}
    yield Figure(
        f"refusal of a token that was revoked, p50 of {REFUSALS}, against one that was never made",
        p50["revoked"],
        "us",
        p50["unknown"],
        p50["revoked"] / p50["unknown"],
    )
    yield Figure(
        "refusal of a page of another author, p50, against of a page that is not there",
        p50["theirs"],
        "us",
        p50["none"],
        p50["theirs"] / p50["none"],
    )


# --- what they cost --------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Crowd:
    """Clients that upload and read pages while they are let; else their service stands still."""

    served: Served
    goes: threading.Event = field(default_factory=threading.Event)
    ends: threading.Event = field(default_factory=threading.Event)
    answers_s: list[float] = field(default_factory=list)
    uploads: int = 0
    failed: list[str] = field(default_factory=list)

    def act(self, number: int, archive: bytes) -> None:
        """One client, until it shall end: a submission each time that it is let go, and then pages."""
        name = f"client-{number}"
        token = self.served.token(name)
        while self.goes.wait() and not self.ends.is_set():
            self.uploads += 1
            self._ask("POST", f"/submissions?filename=a.tar.gz&name={name}", token, archive)
            for page in itertools.cycle(PAGES):
                self.ends.wait(PAUSE_S)
                if self.ends.is_set() or not self.goes.is_set():
                    break
                self._ask("GET", page, token)

    @contextmanager
    def turn(self, *, is_on: bool) -> Iterator[None]:
        """With the clients, or with nothing of the service."""
        if not is_on:
            os.killpg(self.served.group, signal.SIGSTOP)
        else:
            self.goes.set()
        try:
            yield
        finally:
            self.goes.clear()
            os.killpg(self.served.group, signal.SIGCONT)

    def _ask(self, method: str, path: str, token: str, body: bytes = b"") -> None:
        began = time.monotonic()
        try:
            self.served.ask(method, path, token, body)
        except (OSError, HTTPException, HostError) as error:
            self.failed.append(str(error))
        self.answers_s.append(time.monotonic() - began)

    @contextmanager
    def acting(self, count: int, archive: bytes) -> Iterator[None]:
        """So many clients, which wait to be let go."""
        threads = [threading.Thread(target=self.act, args=(number, archive)) for number in range(count)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self.ends.set()
            self.goes.set()
            for thread in threads:
                thread.join()


def clocks(bench: Bench, judge: Collection[int]) -> Iterator[Figure]:
    """The clocks of games with the clients and without them, by turns.

    As in a contest, what was uploaded is examined in the slot between two games, and unpacked and built while they are
    played. Without the clients, the service stands still.
    """
    locks = _locks(bench.staging / "slots")
    busy: list[tuple[float, float]] = []
    calm: list[tuple[float, float]] = []
    with ExitStack() as stack:
        served = stack.enter_context(_served(bench.staging / "clocks", locks))
        crowd = _Crowd(served)
        stack.enter_context(crowd.acting(CLIENTS, _packed(IMAGES / "starter-gomocup-c")))
        slot = _slot_of(bench, locks)
        for number in range(2 * RUNS):
            for moves in (busy, calm) if number % 2 else (calm, busy):
                with slot, crowd.turn(is_on=moves is busy):
                    moves += _moves_of_game(bench, judge, number)
    if crowd.failed:
        raise HostError(f"a client was not served: {crowd.failed[0]}")
    about = f"{CLIENTS} clients ({len(crowd.answers_s)} requests, {crowd.uploads} uploads)"
    for at, what in enumerate(("clock error", "charged time of a move")):
        for share in (0.5, 0.99):
            beside, alone = (1000 * share_of([move[at] for move in moves], share) for moves in (busy, calm))
            name = f"{what}, p{100 * share:.0f} of {len(busy)}"
            yield Figure(f"{name}, beside {about}", beside, "us", alone, beside / alone)
    yield Figure("answers to them, p99", share_of(crowd.answers_s, 0.99), "s")


def _slot_of(bench: Bench, locks: Path) -> CoreLocks:
    """The lock of the slot as the service knows it."""
    before = os.environ.get(LOCKS)
    os.environ[LOCKS] = str(locks)
    try:
        return CoreLocks(bench.slot.cores, note)
    finally:
        os.environ.pop(LOCKS)
        if before is not None:
            os.environ[LOCKS] = before


def _moves_of_game(bench: Bench, judge: Collection[int], number: int) -> Iterator[tuple[float, float]]:
    """Each move of a game: the error of its clock, and what was charged, in ms."""
    agent, policy = bench.agent("house-stamp"), load_policy(POLICY, CHANGES)
    seat = agent.seat(policy)
    seats = (seat.model_copy(update={"name": "a"}), seat.model_copy(update={"name": "b"}))
    spec = GameSpec(seats=seats, policy=policy, number=number)
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, judge)
    try:
        file = play(spec, {agent.digest: agent.program}, venue=Venue(bench.slot))
    finally:
        os.sched_setaffinity(0, before)
    if file.record.verdict == "void":
        raise HostError(f"a game of the measurement is void: {file.record.reason}")
    errors = clock_errors_ms(unseal(file.transcript))
    return zip(errors, (ply.ms for ply in file.record.plies), strict=True)
