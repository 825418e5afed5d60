"""A `judge contest run` that runs, looked at from outside: its lines, its workers, and what is left of them."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import docker

from judge.base.owner import directories
from judge.base.procfs import children_of, started_ticks
from tests.cli.brains import write_brain
from tests.cli.conftest import TINY, owner_of
from tests.forked import ForkedProcess
from tests.patience import PATIENCE_S

JUDGE = (sys.executable, "-m", "judge.cli")

PLAN = """
name = "cup"
policy = "gomocup-fastgame"
change = {change}
[format]
name = "round-robin"
games = {games}
"""

PATIENT = (
    *(*TINY, "clock.turn_ms=60000", "clock.match_ms=0", "clock.starved_share=1"),
    *("folders.temporary=false", "folders.persistent=false"),
)

SLOW = "if len(taken) < 2: time.sleep({pause})"
"""A brain's trick: time enough to be met in its first move."""


def write_contest(folder: Path, agents: Sequence[str], games: int = 2, change: Sequence[str] = PATIENT) -> Path:
    """A folder with a contest.toml; agents are house agents or files in that folder, numbered where they are alike."""
    folder.mkdir(exist_ok=True)
    text = PLAN.format(games=games, change=json.dumps(list(change)))
    for number, agent in enumerate(agents, 1):
        text += f'[[agents]]\npath = "{agent}"\nname = "agent-{number}"\n'
    (folder / "contest.toml").write_text(text)
    return folder


def slow_contest(folder: Path, games: int = 2, pause: int = 1) -> Path:
    """Two brains that wait so many seconds before their first move."""
    folder.mkdir()
    write_brain(folder, "slow", SLOW.format(pause=pause))
    return write_contest(folder, ["slow.py", "slow.py"], games)


@contextmanager
def running(directory: Path, *arguments: str, is_new: bool = False) -> Iterator[subprocess.Popen[str]]:
    """`judge contest run ARGUMENTS...` with pipes for what it says, in a process group of its own as in a terminal.

    `is_new`: it is a new interpreter, with these words in /proc.
    """
    command = [*JUDGE, "contest", "run", *arguments, "--json"]
    pipe = subprocess.PIPE
    start = subprocess.Popen[str] if is_new else ForkedProcess[str]
    with start(command, cwd=directory, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def line(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout
    text = process.stdout.readline()
    assert text, f"it ended: {process.stderr.read() if process.stderr else ''}"
    found: dict[str, Any] = json.loads(text)
    return found


def workers(judge: int) -> list[int]:
    """The processes that a judge has for its games, and what forks them."""
    found = children_of(judge)
    for pid in found:  # grows in the loop
        found += children_of(pid)
    return found


def left(pids: Sequence[int]) -> list[str]:
    """What a judge and its workers have left: themselves, containers, volumes, and directories.

    The process that cleans up after Python's own locks ends a little later than they; it is waited for.
    """
    deadline = time.monotonic() + PATIENCE_S
    while any(started_ticks(pid) is not None for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    with closing(docker.from_env()) as client:
        containers = client.api.containers(all=True, filters={"label": "judge.owner"})
        volumes = client.api.volumes(filters={"label": "judge.owner"})["Volumes"] or []
    found = [f"process {pid}" for pid in pids if started_ticks(pid) is not None]
    found += [f"container {c['Id']}" for c in containers if owner_of(c["Labels"]).pid in pids]
    found += [f"volume {v['Name']}" for v in volumes if owner_of(v["Labels"]).pid in pids]
    return found + [str(path) for path, owner in directories() if owner and owner.pid in pids]
