"""Compiles the house agents."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from judge.host.house_agents import build_house_agents
from tests.house_agents.talk import Talk, start

StartAgent = Callable[[str], Talk]


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
