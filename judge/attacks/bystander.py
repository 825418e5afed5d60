"""A host process that an attack must not harm: `python -m judge.attacks.bystander KIND DIRECTORY`.

KIND is `nap` (repeatedly sleeps for 0.2 ms) or `lock` (locks its file in DIRECTORY). It ends with its stdin and prints
its longest waits in milliseconds, without waits for a core.
"""

import fcntl
import os
import select
import sys
import time
from collections.abc import Callable
from pathlib import Path

NAP_NS = 200_000
LONGEST = 20


def _queued_ns() -> int:
    return int(Path("/proc/self/schedstat").read_text(encoding="ascii").split()[1])


def _nap(_directory: Path) -> Callable[[], int]:
    def nap() -> int:
        time.sleep(NAP_NS / 1e9)
        return NAP_NS

    return nap


def _lock(directory: Path) -> Callable[[], int]:
    file = os.open(directory / "bystander", os.O_RDWR | os.O_CREAT, 0o600)

    def lock() -> int:
        for operation in (fcntl.LOCK_EX, fcntl.LOCK_UN):
            fcntl.lockf(file, operation)
        return 0

    return lock


def measure(kind: str, directory: Path) -> list[float]:
    """Longest waits in milliseconds until stdin ends."""
    step = {"nap": _nap, "lock": _lock}[kind](directory)
    waits: list[int] = [0]
    while not select.select([0], (), (), 0)[0]:
        queued, began = _queued_ns(), time.monotonic_ns()
        wanted_ns = step()
        ended = time.monotonic_ns()
        wait = ended - began - wanted_ns - (_queued_ns() - queued)
        if wait > waits[-1] or len(waits) < LONGEST:
            waits = sorted((*waits, wait), reverse=True)[:LONGEST]
        if kind == "lock":
            time.sleep(NAP_NS / 1e9)
    return [round(wait / 1e6, 3) for wait in waits]


if __name__ == "__main__":
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdout.write(" ".join(map(str, measure(sys.argv[1], Path(sys.argv[2])))) + "\n")
