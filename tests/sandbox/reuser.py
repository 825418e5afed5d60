"""A judge process that keeps a box for its agent, and stops at one step of that, where a test can kill it.

python -m tests.sandbox.reuser PROGRAM STEP
"""

import os
import select
import sys
from pathlib import Path
from typing import Any, NoReturn

from judge.sandbox import BoxPolicy, Limits, Tenant, open_box
from judge.sandbox.docker.kept import KEPT, KeptContainers
from judge.sandbox.docker.renewal import Renewal

GAMES = 10

OWNERS: dict[str, Any] = {
    "_clean": Renewal,
    "_renew": Renewal,
    "_give_memory_back": Renewal,
    "prove": Renewal,
    "put": KeptContainers,
}


def wait_for_the_end(*_words: object) -> NoReturn:
    """Say `ready`, and wait to be killed."""
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(1)


def play(program: Path, stop_at: str) -> int:
    """A game of an agent that ends by itself; the number of this process, unless it stops at a step.

    On a busy host a box may not be proved clean in time, and is thrown away: then there is another game.
    """
    for _ in range(GAMES):
        _play_once(program, stop_at)
        if KEPT._waiting:
            return os.getpid()
    raise AssertionError(f"none of {GAMES} boxes was kept")


def _play_once(program: Path, stop_at: str) -> None:
    tenant = Tenant("puppet", program, ("puppet",), "native", 0, "reuser", digest="one")
    box = open_box("docker", tenant, Limits(), BoxPolicy(reuse="agent"))
    box.prepare()
    box.enter()
    box.start()
    box.write(b"leave 0\n")
    reports = 0
    while reports < 2:
        select.select([source.fd for source in box.sources], [], [])
        reports += sum(channel == "report" for source in box.sources for channel, _ in source.read())
    box.leave()
    if stop_at in OWNERS:
        setattr(OWNERS[stop_at], stop_at, wait_for_the_end)
    box.close()


if __name__ == "__main__":
    process = play(Path(sys.argv[1]), sys.argv[2])
    if sys.argv[2] == "waiting":
        wait_for_the_end()
    sys.stdout.write(f"{process}\n")
