"""Workers that play nothing: each waits as long as a game takes, and returns the record of one that was played before.

All of them are workers of dask in this one process, which `scripts.benchmarks.cluster` starts.
"""

import asyncio
import logging
import random
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import dask
from distributed import Worker

from judge.base.garbage import exempt
from judge.base.logs import set_level
from judge.cluster.connection import NO_PAGES, settle
from judge.cluster.live_moves import GameClient
from judge.cluster.machine import Machine
from judge.cluster.messages import Answer, Order, Played
from judge.cluster.tasks import SLOT, AtMachine
from judge.record.spec import RecordFile
from scripts.benchmarks.large import as_of

SELDOM = {
    "distributed.admin.system-monitor.interval": "1h",  # it counts open files, which are those of all
    "distributed.admin.tick.interval": "1h",
    "distributed.admin.tick.cycle": "1h",
}
"""What each worker does by itself and no scheduler sees: a thousand of them together have one core here."""

READY = "ready"
TOGETHER = 50
"""So many begin at once."""


class StoredRecords(Machine):
    """Plays every game of the openings of which it has a record."""

    def __init__(self, records: Path, wait_s: float) -> None:
        files = [RecordFile.model_validate_json(path.read_bytes()) for path in records.glob("*.json")]
        self._records = {file.record.spec.opening: file for file in files}
        self._wait_s = wait_s

    def play(self, order: Order, client: GameClient) -> Answer:  # noqa: ARG002
        """Wait, at least as long as the stored game lasted, and return its record."""
        file = self._records[order.spec.opening]
        # A worker whose game lasted longer than it was away is given no more games.
        time.sleep(max(self._wait_s * random.uniform(0.5, 1.5), file.record.seconds))
        return Played(record=as_of(file, order.game, order.spec).to_json(), states={})


async def serve(scheduler: str, count: int, machine: Machine, folder: str) -> None:
    """Until somebody ends this process."""
    workers = [
        Worker(
            scheduler,
            name=f"w{number}",
            nthreads=1,
            resources={SLOT: 1},
            memory_limit=0,
            local_directory=folder,
            dashboard_address=NO_PAGES,
            plugins=(AtMachine(machine, is_own=False),),
        )
        for number in range(count)
    ]
    for begin in range(0, count, TOGETHER):
        await asyncio.gather(*workers[begin : begin + TOGETHER])
    for worker in workers:
        worker.periodic_callbacks["find-missing"].stop()
    with exempt():
        print(READY, flush=True)
        await asyncio.Event().wait()


def main() -> None:
    """SCHEDULER COUNT SECONDS RECORDS"""
    scheduler, count, wait_s, records = sys.argv[1:]
    settle()
    dask.config.set(SELDOM)
    set_level(logging.CRITICAL)  # nobody reads what they say on stdout
    with TemporaryDirectory() as folder:
        asyncio.run(serve(scheduler, int(count), StoredRecords(Path(records), float(wait_s)), folder))


if __name__ == "__main__":
    main()
