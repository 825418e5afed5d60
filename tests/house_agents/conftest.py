"""Compiles the house agents and what is tested of them."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from judge.base.resources import IMAGES
from judge.host.house_agents import build_house_agents
from judge.sandbox.static_builds import compile_static
from tests.house_agents.talk import Square, Talk, name_of, squares, start

StartAgent = Callable[[str], Talk]
FindFouls = Callable[[list[Square]], list[Square]]


@pytest.fixture
def agent() -> Iterator[StartAgent]:
    """Starts house agents by name and ends them after the test."""
    folders = build_house_agents()
    with ExitStack() as running:

        def start_agent(name: str) -> Talk:
            talk = start(folders[name] / name)
            running.callback(talk.close)
            return talk

        yield start_agent


@pytest.fixture
def renju(agent: StartAgent) -> Talk:
    """A house-renju that has a board of 15x15 and plays renju."""
    talk = agent("house-renju")
    assert talk.ask("INFO rule 4", "INFO timeout_turn 1000", "START 15") == "OK"
    return talk


@pytest.fixture(scope="session")
def fouls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FindFouls]:
    """Asks the agents' own C which points renju forbids Black."""
    program = tmp_path_factory.mktemp("fouls") / "list-fouls"
    parts = [IMAGES / "house-five" / f"{name}.c" for name in ("board", "fouls", "shapes")]
    compile_static([Path(__file__).parent / "list_fouls.c", *parts], program)
    lister = Talk(subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE))

    def find(stones: list[Square]) -> list[Square]:
        lister.say("".join(name_of(square) for square in stones))
        return squares(lister.hear())

    yield find
    lister.close()
