"""Judges that are born to be killed: each line that comes in is one life of a judge that plays a contest.

Run as a program, it has imported everything when the first line comes; a life is a fork of it, so that many of them
take no longer than what they play. What it says: `born PID`, `ended` for each game, and how the life ended. It says so
where no judge logs: a judge that is killed in the middle of a line of its log would hide the line that comes after.
"""

import atexit
import os
import signal
import sys
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.base.errors import InputError

if TYPE_CHECKING:
    from judge.store.contests import Store

_voice = 1
"""The descriptor of what it says."""

POINTS = {
    "file is copied": ("shutil", "copyfile", "after"),
    "agent is kept": ("judge.agents.store", "AgentStore.put", "after"),
    "contest is created": ("judge.store.contests", "Store.create", "after"),
    "round is to be scheduled": ("judge.store.contests", "Store.schedule", "before"),
    "round is scheduled": ("judge.store.contests", "Store.schedule", "after"),
    "game is issued": ("judge.store.contests", "Store.issue", "after"),
    "game is begun": ("judge.contest.executor", "LocalExecutor.start", "after"),
    "game has ended": ("judge.contest.runner", "ContestRunner._store_files", "before"),
    "record is half written": ("judge.store.files", "write_durably", "half"),
    "record is written": ("judge.contest.runner", "ContestRunner._store_files", "after"),
    "result is fixed": ("judge.store.contests", "Store.accept", "after"),
    "agent is entered": ("judge.store.contests", "Store.enter", "after"),
    "agent is to enter": ("judge.contest.orders.contest_orders", "share_files", "after"),
}
"""Where a life can end by itself: a function, and whether before or after it has done its work."""


def arm(point: str, call: int = 1) -> None:
    """Let this process be killed at a point, at its so-manieth call."""
    module, name, when = POINTS[point]
    owner: Any = sys.modules[module]
    for part in name.split(".")[:-1]:
        owner = getattr(owner, part)
    name = name.rpartition(".")[2]
    real, left = getattr(owner, name), call

    @wraps(real)
    def deadly(*arguments: Any, **named: Any) -> Any:
        nonlocal left
        left -= 1
        if left == 0 and when == "half":
            path, data = arguments
            path.with_name(path.name + ".partial").write_bytes(data[: len(data) // 2])
        if left == 0 and when != "after":
            os.kill(os.getpid(), signal.SIGKILL)
        done = real(*arguments, **named)
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    setattr(owner, name, deadly)


def live(folder: Path) -> str:
    """Begin the contest of a folder, or go on with it, as `judge contest run` does, but in boxes that are processes."""
    from judge.contest.contest import open_store
    from judge.contest.executor import LocalExecutor
    from judge.contest.plan import load_plan
    from judge.contest.runner import ContestRunner, RunObserver
    from judge.play.venue import Slot
    from judge.sandbox.docker.reaper import reap
    from tests.contest.racers import begin_in_processes

    class Saying(RunObserver):
        def report(self, ended: object) -> None:
            say("ended")

    planned = load_plan(folder)
    reap(containers=False)
    with closing(open_store(planned)) as store, leased(store, planned.name):
        contest = begin_in_processes(store, planned)
        executor = LocalExecutor([Slot(), Slot()])
        try:
            stop = ContestRunner(contest, executor, Saying()).run()
        finally:
            executor.kill()
            executor.close()
            reap(containers=False)
    return stop


@contextmanager
def leased(store: "Store", name: str) -> Iterator[None]:
    """Hold the contest's lease, as soon as the server has noticed that the last judge is dead."""
    while True:
        with suppress(InputError), ExitStack() as stack:
            stack.enter_context(store.lease(name, "a life"))
            lease = stack.pop_all()
            break
        time.sleep(0.02)
    with lease:
        yield


def say(text: str) -> None:
    """One line, in one piece: judges that are killed write here too."""
    os.write(_voice, f"{text}\n".encode())


def _live_in_a_fork(folder: Path, points: Iterable[str]) -> None:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            say(f"born {os.getpid()}")
            for point in points:
                name, _, call = point.partition("#")
                arm(name, int(call or 1))
            say(live(folder))
            code = 0
        except BaseException:  # noqa: BLE001 nothing of it may come back into the process that forks
            traceback.print_exc()
        finally:
            atexit._run_exitfuncs()  # as at the end of a command
            os._exit(code)
    _, status = os.waitpid(child, 0)
    say(f"dead {os.waitstatus_to_exitcode(status)}")


def main() -> None:
    """A line is the folder and the points, with tabs between them; stdout is ours alone, and no worker's."""
    global _voice
    _voice = os.dup(1)
    os.dup2(2, 1)
    for module in ("psycopg", "tests.contest.racers", *(module for module, _, _ in POINTS.values())):
        import_module(module)
    for line in sys.stdin:
        folder, *points = line.rstrip("\n").split("\t")
        _live_in_a_fork(Path(folder), points)


if __name__ == "__main__":
    main()
