"""Runs the real `judge` command, as a person would."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docker
import pytest

from judge.base.owner import Fate, Owner
from judge.host.house_agents import build_house_agents
from tests import forked


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        assert self.out, f"exit code {self.code}: {self.err}"
        return json.loads(self.out)

    @property
    def games(self) -> list[dict[str, Any]]:
        games: list[dict[str, Any]] = self.document["games"]
        return games


Judge = Callable[..., Ran]

SMALL = ("game.options.width=10", "game.options.height=10")
"""For house agents that play until the board is full."""

TINY = ("game.options.width=6", "game.options.height=6")
"""For games whose length does not matter."""

SHORT_CLOCK = ("clock.turn_ms=4000", "clock.tolerance_ms=200")

SHORT = [word for change in SHORT_CLOCK for word in ("--set", change)]

QUICK = [*SHORT, *(word for change in TINY for word in ("--set", change))]
"""Options for games of gomoku that are soon over."""


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    """Run `judge ARGUMENTS...` to its end in a temporary directory; `code` is the expected exit code, if given."""

    def run(*arguments: str, code: int | None = None) -> Ran:
        done = forked.run([sys.executable, "-m", "judge.cli", *arguments], cwd=tmp_path, text=True)
        assert code in (None, done.returncode), done.stdout + done.stderr
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture(scope="session", autouse=True)
def house() -> None:
    build_house_agents()


@pytest.fixture
def client() -> Iterator[docker.DockerClient]:
    with closing(docker.from_env()) as found:
        yield found


def orphans() -> Mapping[str, int]:
    """The ids of containers, in whatever state, whose judge is gone, and the number that its process had."""
    with closing(docker.from_env()) as client:
        ours = client.api.containers(all=True, filters={"label": "judge.owner"})
    owners = {c["Id"]: owner_of(c["Labels"]) for c in ours}
    return {each: owner.pid for each, owner in owners.items() if owner.fate() is Fate.GONE}


def owner_of(labels: dict[str, str]) -> Owner:
    return Owner.decode(labels["judge.owner"])


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """No container is left behind by a judge that the test ran; tests beside it may kill theirs at this moment."""
    before = len(forked.begun)
    yield
    assert [] == [each for each, pid in orphans().items() if pid in forked.begun[before:]]
