"""A club's cup in three commands: it is set up, received, played, exported and verified, whatever interrupts it."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from judge.contest.contest import open_store
from judge.contest.plan import load_plan
from judge.contest.run_lock import player_of
from judge.journal.events import Accepted
from judge.journal.state import JournalLine
from tests.cli.brains import packed_agent
from tests.cli.conftest import Judge, Ran
from tests.contest.test_full_disk import fill, mounted
from tests.examples import evidence, of_evidence, sized
from tests.faults.test_contest_killed import seeded
from tests.forked import ForkedProcess
from tests.site.browser import Browser
from tests.store.server import database, running
from tests.web.intake.conftest import players_of
from tests.web.live.watching import TLS, free_port, until

pytestmark = [pytest.mark.docker, pytest.mark.long]

AUTHORS = "Ada L.\nBob\n"

QUICK = ("--turn-ms", "200", "--match-ms", "10000", "--games", "2", "--zone", "UTC")

TWO_MORE = ("--agent", "house-stamp", "--agent", "house-strong")

KILLS = sized(2, 50)

LAST_KILL_OF_CHECKS = 5
"""After nine kills of one check the organiser decides."""


class Service:
    """`judge serve` of a contest on a port of its own, which is killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.log = folder.parent / "service.log"
        self.process: ForkedProcess[str] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self, *options: str) -> None:
        words = [sys.executable, "-m", "judge.cli", "serve", str(self.folder), "--listen", f"127.0.0.1:{self.port}"]
        with self.log.open("a") as log:
            self.process = ForkedProcess([*words, *options], stdin=subprocess.DEVNULL, stderr=log, text=True)
        until(self.answers, "the service does not answer")

    def answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.log.read_text()
        try:
            return httpx.get(f"{self.url}/health/ready", verify=TLS).status_code == 200
        except httpx.TransportError:
            return False

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@contextmanager
def club(judge: Judge, tmp_path: Path, *options: str) -> Iterator[Service]:
    """A contest that was set up by the first command. In the end the process that plays it is ended."""
    (tmp_path / "authors.txt").write_text(AUTHORS)
    service = Service(tmp_path / "weekend")
    closes = datetime.now(UTC) + timedelta(hours=1)
    judge(
        *("contest", "init", "weekend", "--game", "gomoku", "--closes", closes.isoformat(" ", "seconds")[:19], *QUICK),
        *("--authors", "authors.txt", "--url", service.url, "--agent", "house-instant", *options),
        code=0,
    )
    try:
        yield service
    finally:
        service.kill()
        if (player := player_of(service.folder)) is not None:
            os.kill(int(player), signal.SIGKILL)


def accepted(service: Service) -> list[JournalLine]:
    with closing(open_store(load_plan(service.folder))) as store:
        return store.last_lines("weekend", None, Accepted)


def links(folder: Path) -> dict[str, str]:
    return dict(re.findall(r"(.+): (http\S+)", (folder / "links.txt").read_text()))


def authorization(service: Service, author: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {links(service.folder)[author].partition('#')[2]}"}


def submit(service: Service, author: str, agent: bytes) -> httpx.Response:
    url = f"{service.url}/submissions?filename=a.tar.gz&name={author.partition(' ')[0].lower()}"
    return httpx.post(url, content=agent, headers=authorization(service, author), verify=TLS)


def exports(folder: Path) -> list[Path]:
    return sorted((folder / "exports").glob("*/public/manifest.json"))


def close_now(service: Service) -> None:
    """Let submissions close and the contest start now, as an organiser does in the file."""
    path = service.folder / "contest.toml"
    path.write_text(re.sub(r"(?m)^(closes|starts) = .*$", rf"\1 = {datetime.now(UTC).isoformat()}", path.read_text()))


def check_export(judge: Judge, service: Service, games: int) -> Ran:
    """Wait for the export, and verify it."""
    until(lambda: bool(exports(service.folder)), "there is no export")
    verified = judge("contest", "verify", "weekend", code=0)
    assert f"ok: weekend, {games} games replayed" in verified.out
    return verified


def test_three_commands_make_a_verified_cup_of_agents_that_came_by_a_browser(
    judge: Judge, tmp_path: Path, browser: Browser
) -> None:
    with club(judge, tmp_path) as service:
        service.start()
        assert service.process is not None
        browser.visit(links(service.folder)["Ada L."])
        browser.wait_for("document.getElementById('upload')?.hidden === false")
        browser.choose("file", packed_agent(tmp_path))
        browser.ask("document.querySelector('#upload button').click()")
        browser.wait_for("document.getElementById('state')?.textContent === 'passed'")
        browser.leave()
        sockets = subprocess.run(["ss", "-xpH"], capture_output=True, text=True, check=True).stdout.splitlines()
        of_engine = [line for line in sockets if "docker.sock" in line and f"pid={service.process.pid}," in line]
        (player,) = players_of(service.process.pid)
        close_now(service)
        verified = check_export(judge, service, 2)

        assert [] == of_engine
        assert player != service.process.pid
        assert f"publish weekend/exports/{exports(service.folder)[0].parts[-3]}/public" in verified.out
        assert "WARNING" not in verified.err


@pytest.mark.parametrize("store", ["sqlite", *of_evidence("postgresql")])
def test_cup_survives_kills_in_each_phase(judge: Judge, tmp_path: Path, store: str) -> None:
    chance = seeded()
    with database(store) as url, club(judge, tmp_path, "--store", url) as service:
        plan = service.folder / "contest.toml"
        plan.write_text(f"{plan.read_text()}\n[intake]\ntries = 1\nagain_s = 0\n")
        service.start()
        agent = packed_agent(tmp_path).read_bytes()
        for author in AUTHORS.splitlines():
            sent = submit(service, author, agent)
            assert 201 == sent.status_code, sent.text
            service.kill()
            service.start()
        close_now(service)
        for number in range(KILLS):
            if number == LAST_KILL_OF_CHECKS:
                until(lambda: bool(accepted(service)), "no game is played")
            ends = time.monotonic() + chance.uniform(0, 4)
            while not exports(service.folder) and time.monotonic() < ends:
                time.sleep(0.05)  # until a random moment, at which the service is killed
            if number % 3 == 1 and (player := player_of(service.folder)) is not None:
                os.kill(int(player), signal.SIGKILL)
            service.kill()
            service.start()
        check_export(judge, service, 6)
        late = submit(service, "Bob", agent)

        assert 1 == len(exports(service.folder))
        assert 6 == len(accepted(service))
        assert (409, True) == (late.status_code, "submissions closed at" in late.text)
        with closing(open_store(load_plan(service.folder))) as opened:
            events = [line.event for line in opened.leaves("weekend", 0, 1000)]
        assert 1 == events.count("closed") == events.count("begins") == events.count("created")
        assert events.index("closed") < events.index("begins") < events.index("created")


@evidence
def test_service_without_a_player_receives_and_another_process_plays(judge: Judge, tmp_path: Path) -> None:
    with club(judge, tmp_path) as service:
        service.start("--no-play")
        assert service.process is not None
        assert [] == players_of(service.process.pid)
        sent = submit(service, "Bob", packed_agent(tmp_path).read_bytes()).json()
        close_now(service)
        words = [sys.executable, "-m", "judge.cli", "serve", str(service.folder), "--only-play"]
        with service.log.open("a") as log:
            player = ForkedProcess[str](words, stdin=subprocess.DEVNULL, stderr=log, text=True)
        try:
            check_export(judge, service, 2)
            url = f"{service.url}/submissions/{sent['id']}"
            shown = httpx.get(url, headers=authorization(service, "Bob"), verify=TLS).json()
        finally:
            player.terminate()
            assert 143 == player.wait()

        assert "passed" == shown["state"]


@evidence
def test_cup_continues_after_a_full_disk(judge: Judge, tmp_path: Path) -> None:
    with (
        mounted(tmp_path / "weekend", 32 << 20),
        club(judge, tmp_path, *TWO_MORE) as service,
    ):
        service.start()
        close_now(service)
        until(lambda: bool(accepted(service)), "no game is played")
        fill(service.folder)
        run_log = service.folder / "run.log"
        until(lambda: any("No space left" in path.read_text() for path in (service.log, run_log)), "nothing needs room")
        (service.folder / "filler").unlink()
        check_export(judge, service, 6)


@evidence
def test_cup_continues_after_a_restart_of_its_database(judge: Judge, tmp_path: Path) -> None:
    with (
        running() as server,
        club(judge, tmp_path, *TWO_MORE, "--store", server.url) as service,
    ):
        service.start()
        close_now(service)
        until(lambda: bool(accepted(service)), "no game is played")
        server.end("immediate")
        until(lambda: httpx.get(f"{service.url}/health", verify=TLS).status_code == 503, "health does not report it")
        server.start()
        check_export(judge, service, 6)
        until(service.answers, "the service is not ready again")
