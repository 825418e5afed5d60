"""Network namespaces that stand for hosts, each with a cable that can be pulled."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

PREFIX = "judge-t"


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

    def slow_down(self, bits_per_s: int) -> None:
        """Limit the rate of what leaves the namespace."""
        limit = ("tbf", "rate", f"{bits_per_s}bit", "burst", "32kb", "latency", "400ms")
        subprocess.run(["tc", "-n", self.name, "qdisc", "add", "dev", f"{self.near}f", "root", *limit], check=True)

    @property
    def inside(self) -> tuple[str, ...]:
        """The words before a command that is to run there."""
        return ("nsenter", f"--net=/run/netns/{self.name}")

    def remove(self) -> None:
        subprocess.run(["ip", "link", "del", self.near], check=False)
        subprocess.run(["ip", "netns", "del", self.name], check=False)


@contextmanager
def laid(count: int) -> Iterator[list[Cable]]:
    if os.geteuid() != 0 or not all(map(shutil.which, ("ip", "tc", "nsenter"))):
        pytest.skip("only root can lay cables, with ip, tc and nsenter")
    found = [Cable(number) for number in range(1, 1 + count)]
    try:
        for cable in found:
            cable.lay()
        yield found
    finally:
        for cable in found:
            cable.remove()
