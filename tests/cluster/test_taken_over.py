"""A contest outlives its host: another one takes it over from PostgreSQL alone, and a host that comes back stops."""

import json
import os
import platform
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from judge.base.errors import InputError
from judge.contest_games import AttemptState, GameState
from judge.host.build_images import build_images
from judge.sandbox.machine.cores import LOCKS_VARIABLE
from judge.store.contests import Store
from judge.transparency.keys import KEY_FILE, make_key
from judge.transparency.log import SignedLog
from judge.transparency.tiles import CHECKPOINT
from tests.cli.conftest import SMALL, Judge
from tests.cli.contests import write_contest
from tests.cluster.cables import Cable
from tests.cluster.conftest import WORKERS
from tests.cluster.machines import Machines, until
from tests.examples import evidence
from tests.store.server import Server, running

GAMES = 9


@pytest.fixture
def server() -> Iterator[Server]:
    with running("0.0.0.0", 15432 + os.getpid() % 10000) as found:  # noqa: S104 - of all cables
        yield found


@dataclass
class Host:
    """A host with the contest's file and the organiser's key, and nothing else of the contest."""

    cable: Cable
    folder: Path
    cluster: Sequence[str] = ()
    """What to add to the command for slots elsewhere; empty: it plays on its own."""
    process: subprocess.Popen[bytes] | None = None

    def prepare(self, server: Server, key: Path) -> None:
        self.folder.mkdir()
        agents, change = ["house-instant", "house-python"], [*SMALL, "clock.starved_share=1"]
        path = write_contest(self.folder / "cup", agents, GAMES, change) / "contest.toml"
        store = f"postgresql+psycopg://judge@{self.cable.here}:{server.port}/postgres"
        path.write_text(f"store = {json.dumps(store)}\n{path.read_text()}")
        shutil.copy(key, self.folder / "cup" / KEY_FILE)
        locks = self.folder / "locks"
        locks.mkdir()
        for core in range(os.sysconf("SC_NPROCESSORS_CONF")):
            (locks / f"cpu{core}").touch()

    def run(self) -> None:
        """`judge contest run cup`."""
        command = [*self.cable.inside, sys.executable, "-m", "judge.cli", "contest", "run", "cup", *self.cluster]
        environment = os.environ | {LOCKS_VARIABLE: str(self.folder / "locks")}
        with (self.folder / "said").open("wb") as said:
            self.process = subprocess.Popen(command, cwd=self.folder, stdout=said, stderr=said, env=environment)

    def said(self) -> str:
        return (self.folder / "said").read_text()

    def end(self) -> int:
        """Wait for its end; the exit code."""
        process = self.process
        assert process
        until(lambda: process.poll() is not None, lambda: f"the end of {self.folder.name}: {self.said()}")
        return process.returncode


@pytest.fixture
def hosts(cables: list[Cable], joined: Machines, server: Server, tmp_path: Path) -> Iterator[list[Host]]:
    """Two hosts: the first one has slots of its own, those of the second one are behind the third cable."""
    build_images(["native", "python", "keeper"])
    make_key(tmp_path / KEY_FILE)
    joined.start_scheduler()
    joined.join(WORKERS[2], cables[2].inside)
    joined.wait_for_scheduler()
    cluster = ("--cluster", f"tls://{cables[1].here}:{joined.port}", "--tls", str(joined.keys))
    found = [Host(cables[0], tmp_path / "one"), Host(cables[1], tmp_path / "two", cluster)]
    for host in found:
        host.prepare(server, tmp_path / KEY_FILE)
    yield found
    for host in found:
        if host.process and host.process.poll() is None:
            host.process.send_signal(signal.SIGCONT)
            host.process.kill()
            host.process.wait()


def is_free(store: Store) -> bool:
    try:
        with store.lease("cup", "a test"):
            return True
    except InputError:
        return False


@evidence  # tests/store/test_lease.py has the lease without hosts
@pytest.mark.long
@pytest.mark.docker
def test_another_host_takes_a_contest_over_and_the_first_one_stops_itself(
    hosts: list[Host], server: Server, judge: Judge, tmp_path: Path
) -> None:
    one, two = hosts
    with closing(Store(server.url)) as store:

        def played() -> int:
            return store.counts("cup")[GameState.DONE] if "cup" in store.contest_names() else 0

        # The first host dies, in the middle of a game.
        one.run()
        until(lambda: played() >= 2, lambda: f"games of the first host: {one.said()}")
        assert one.process
        one.process.send_signal(signal.SIGSTOP)  # there is something left to play, however long the other one takes
        two.run()
        assert 2 == two.end()
        assert "runs cup: only one judge can" in two.said()
        checkpoint = tmp_path / CHECKPOINT
        with closing(SignedLog(server.url, "cup", one.folder / "cup")) as signed:
            checkpoint.write_bytes(signed.file(f"log/{CHECKPOINT}") or b"")
        one.cable.kill_all()
        one.end()
        before = played()
        until(lambda: is_free(store), "the lease is free")

        # The second one goes on, on another machine's slots, with nothing but its file and the store, and is cut off.
        two.run()
        until(lambda: played() > before, lambda: f"games of the second host: {two.said()}")
        two.cable.pull()
        until(lambda: is_free(store), "the lease of who was cut off is free")
        told = len(store.journal("cup"))

        # The first one is back. While it has the contest, the second one is there again, and stops.
        one.run()
        until(lambda: len(store.journal("cup")) > told, lambda: f"the first host goes on: {one.said()}")
        one.process.send_signal(signal.SIGSTOP)
        two.cable.plug()
        assert 1 == two.end()
        assert "has taken over cup: this judge ends" in two.said()
        one.process.send_signal(signal.SIGCONT)
        assert 0 == one.end(), one.said()
        assert "cup is over" in one.said()

        counted = {host for host, state, _ in store.attempts_by_host("cup") if state is AttemptState.ACCEPTED}
        assert {platform.node(), WORKERS[2]} == counted

        # Each game has one result, by an attempt that was the current one.
        results = store.results("cup")
        attempts = [line for line in store.journal("cup") if line.event in set(AttemptState)]
        assert GAMES == len(results) == len({result.id for result in results})
        assert Counter({result.id: 1 for result in results}) == Counter(
            line.game for line in attempts if line.event == AttemptState.ACCEPTED
        )

    exported = judge("contest", "export", "public", "one/cup", "--language", "en")
    assert 0 == exported.code, exported.err
    verified = judge("contest", "verify", "public", "--since", str(checkpoint))
    assert 0 == verified.code, verified.out + verified.err
