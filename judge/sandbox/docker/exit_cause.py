"""Why a container is gone without a report of PID 1: an agent that can cause this must not gain by it.

Only the kernel, short of memory, and a process outside can kill PID 1. The first is caused by the agent: one that is
smaller than PID 1 and uses memory that no process owns takes PID 1 along. The second is not.
"""

import time
from contextlib import suppress
from datetime import datetime

from judge.base.errors import HostError
from judge.sandbox.docker.engine import Engine

SIGKILLED = 137
"""The Engine's exit code of a PID 1 that was killed."""

SETTLED_S = 0.5
"""After which time from its end the Engine has written down who killed a container."""

PATIENCE_S = 10.0
"""How long the Engine may take to report lack of memory, on a busy host too, if no kill of the container is known."""


def died_of_memory(engine: Engine, container: str) -> bool:
    """Whether the kernel killed a container's PID 1 for memory; False if it cannot be known any more."""
    deadline = time.monotonic() + PATIENCE_S
    with suppress(HostError):
        engine.wait(container)
        while not (state := engine.state(container)).get("OOMKilled"):
            settled = datetime.fromisoformat(state["FinishedAt"]).timestamp() + SETTLED_S
            if state["ExitCode"] != SIGKILLED or engine.count_events(container, "kill", settled):
                return False  # it ended by itself, or somebody killed it
            if time.monotonic() > deadline:
                return False
        return True
    return False
