"""A `judge` command that runs, looked at from outside: which container its thinking agent is in."""

import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import docker
from docker.models.containers import Container

from judge.sandbox.docker.freezer import is_ordered_frozen
from judge.sandbox.machine.cgroup import find_cgroups
from tests.cli.conftest import owner_of
from tests.cli.contests import workers
from tests.forked import ForkedProcess


def begin(directory: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "judge.cli", *arguments]
    pipe = subprocess.PIPE
    return ForkedProcess(command, cwd=directory, stdout=pipe, stderr=pipe, text=True)


def thinking(client: docker.DockerClient, judge: subprocess.Popen[str], seat: int | None = 0) -> Container:
    """Wait for the box of a judge's seat whose agent, a program in Python, runs."""
    return box_of(client, judge, runs_python, seat)


def in_its_turn(client: docker.DockerClient, judge: subprocess.Popen[str]) -> Container:
    """The box of the second seat in its turn, which begins soon after a judge has told of the first move.

    Until then its agent is frozen, and the judge's thaw at the turn's begin undoes what others froze before.
    """
    assert judge.stdout
    while not judge.stdout.readline().startswith("   1. "):
        assert judge.poll() is None
    return box_of(client, judge, is_let_go, seat=1)


def box_of(
    client: docker.DockerClient,
    judge: subprocess.Popen[str],
    is_so: Callable[[Container], bool] = lambda _: True,
    seat: int | None = 0,
) -> Container:
    """Wait for a box of a judge's or its workers' of which something is so; at first it is made, and runs no agent."""
    label = "judge.owner" if seat is None else f"judge.seat={seat}"
    while judge.poll() is None:
        for container in client.containers.list(all=True, filters={"label": label}, ignore_removed=True):
            if owner_of(container.labels).pid in (judge.pid, *workers(judge.pid)) and is_so(container):
                return container
    raise AssertionError(f"the judge ended with code {judge.returncode} before that")


def is_let_go(container: Container) -> bool:
    """Whether nobody orders the kernel to freeze a container, which has begun."""
    pid = int(container.attrs["State"]["Pid"])
    return pid > 0 and not is_ordered_frozen(find_cgroups(pid, str(container.id)) or {})


def runs_python(container: Container) -> bool:
    """Whether the agent itself, not only PID 1, runs in a container; read from /proc, which every host has."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (process / "cmdline").read_bytes().split(b"\0")
            if words[0].endswith(b"python3") and str(container.id) in ((process / "cgroup").read_text()):
                return True
    return False
