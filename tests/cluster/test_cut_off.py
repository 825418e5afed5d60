"""Workers in network namespaces of their own, over TLS: a pulled cable costs the time of a game and nothing else."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from judge.cluster.join_file import invite
from judge.cluster.keys import make_keys
from judge.cluster.security import parse_address
from tests.cluster.machines import Cup, Machines

PREFIX = "judge-t"
WORKERS = ("n1", "n2", "n3")


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


@dataclass(frozen=True)
class Cable:
    """A network namespace, and the pair of interfaces that leads there."""

    number: int

    @property
    def name(self) -> str:
        return f"{PREFIX}{os.getpid()}-{self.number}"

    @property
    def near(self) -> str:
        return f"jt{os.getpid() % 100000}n{self.number}"

    @property
    def here(self) -> str:
        """This host as the namespace sees it."""
        return self._address(1)

    def _address(self, host: int) -> str:
        """One of four addresses that hardly any other test run has, nor one that was killed has left."""
        return f"10.213.{os.getpid() % 250}.{4 * self.number + host}"

    def lay(self) -> None:
        far = f"{self.near}f"
        ip("netns", "add", self.name)
        ip("link", "add", self.near, "type", "veth", "peer", "name", far)
        ip("link", "set", far, "netns", self.name)
        ip("addr", "add", f"{self.here}/30", "dev", self.near)
        ip("link", "set", self.near, "up")
        ip("-n", self.name, "addr", "add", f"{self._address(2)}/30", "dev", far)
        ip("-n", self.name, "link", "set", far, "up")
        ip("-n", self.name, "link", "set", "lo", "up")

    def pull(self) -> None:
        ip("link", "set", self.near, "down")

    def plug(self) -> None:
        ip("link", "set", self.near, "up")

    def remove(self) -> None:
        subprocess.run(["ip", "link", "del", self.near], check=False)
        subprocess.run(["ip", "netns", "del", self.name], check=False)


@pytest.fixture
def cables() -> Iterator[list[Cable]]:
    if os.geteuid() != 0 or not shutil.which("ip") or not shutil.which("nsenter"):
        pytest.skip("only root can lay cables, with ip and nsenter")
    laid = [Cable(number) for number in range(1, 1 + len(WORKERS))]
    try:
        for cable in laid:
            cable.lay()
        yield laid
    finally:
        for cable in laid:
            cable.remove()


@pytest.fixture
def machines(cables: list[Cable], tmp_path: Path) -> Iterator[Machines]:
    (keys,) = make_keys(tmp_path / "keys", ["everybody"], 1)
    found = Machines(tmp_path, host="0.0.0.0", scheme="tls", keys=keys)  # noqa: S104 - of all cables
    try:
        found.start_scheduler()
        for name, cable in zip(WORKERS, cables, strict=True):
            inside = ("nsenter", f"--net=/run/netns/{cable.name}")
            (file,) = invite(tmp_path / "keys", [name], parse_address(f"tls://{cable.here}:{found.port}"), 1)
            found.join(name, file, inside)
        found.wait_for_scheduler()
        yield found
    finally:
        found.stop()


def test_the_game_of_a_worker_that_is_cut_off_is_played_elsewhere(
    cables: list[Cable], machines: Machines, tmp_path: Path
) -> None:
    cup = Cup(tmp_path)
    cup.store.schedule("cup", cup.games(1, 3))
    machines.host = "127.0.0.1"
    cluster = cup.cluster(machines)
    try:
        cup.play_while_lost(cluster, "n2", cables[1].pull, cables[1].plug)
    finally:
        cup.open_gate()
        cluster.close()
        cup.store.close()

    cup.assert_played_once_without("n2")
