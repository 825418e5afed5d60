"""Whatever happens to workers, their scheduler and the store meanwhile: no game is lost, and none is counted twice.

`JUDGE_TEST_SEED` repeats the faults of another run.
"""

import gc
import os
import random
import signal
import struct
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from judge.contest.runner import StopReason
from judge.contest_games import AttemptState, ScheduledGame
from judge.record.spec import RecordFile
from tests.cluster.cables import Cable
from tests.cluster.conftest import WORKERS
from tests.cluster.machines import Cup, Machines, children, until
from tests.examples import EVIDENCE, RecordFigure, sized
from tests.faults.test_contest_killed import seeded
from tests.store.server import Server, running

FAULTS = sized(7, 100)
PATIENCE_S = 60 + 20 * FAULTS

MAX_FAULT_S = sized(4, 9)
"""The scheduler misses a worker after five."""

AT_ONCE = 2
"""So many faults last at the same time at most."""

CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t which, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int code = real(which, now);
    const char *path = getenv("TEST_CLOCK_STEP");
    int64_t step = 0;
    int file = which == CLOCK_REALTIME && path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0) {
        if (read(file, &step, sizeof step) == sizeof step) now->tv_sec += step;
        close(file);
    }
    return code;
}
"""
"""The clock of a host as its processes see it: a file says how far it was stepped."""


class Storm:
    """Faults by chance, each of which is over after a while."""

    def __init__(self, chance: random.Random, machines: Machines, cables: list[Cable], server: Server) -> None:
        self._chance = chance
        self._machines = machines
        self._cables = dict(zip(WORKERS, cables, strict=True))
        self._server = server
        self._ends: dict[str, tuple[float, Callable[[], None]]] = {}
        """When what has befallen somebody is over, and how."""
        self.happened: Counter[str] = Counter()
        self.files: dict[str, Path] = {}

    def go_on(self) -> None:
        """End what is over, and let something else happen, if not too much does already."""
        for victim, (at, end) in list(self._ends.items()):
            if time.monotonic() >= at:
                del self._ends[victim]
                end()
        if self.happened.total() == FAULTS or len(self._ends) >= AT_ONCE:
            return
        kinds = ["killed", "frozen", "cut off", "slow", "clock", "scheduler", "store"]
        if FAULTS >= len(kinds) > self.happened.total():
            kind = kinds[self.happened.total()]  # at least one of each
        else:
            kind = self._chance.choices(kinds, (6, 5, 5, 6, 6, 2, 1))[0]
        victim = kind if kind in ("scheduler", "store") else self._chance.choice(WORKERS)
        if victim not in self._ends:
            self._ends[victim] = self._happen(kind, victim)
            self.happened[kind] += 1

    def is_over(self) -> bool:
        return self.happened.total() == FAULTS and not self._ends

    def calm(self) -> None:
        while self._ends:
            self._ends.popitem()[1][1]()

    def _happen(self, kind: str, victim: str) -> tuple[float, Callable[[], None]]:
        now, chance = time.monotonic(), self._chance
        long = now + chance.uniform(0, MAX_FAULT_S)
        match kind:
            case "killed":
                worker = self._machines.workers[victim]
                worker.kill()
                worker.wait()
                return now + chance.uniform(0, 2), lambda: self.join(victim)
            case "frozen":
                frozen = self._freeze(victim)
                return long, lambda: self._signal(frozen, signal.SIGCONT)
            case "slow":
                frozen = self._freeze(victim)
                return now + 0.3, lambda: self._signal(frozen, signal.SIGCONT)
            case "cut off":
                self._cables[victim].pull()
                return long, self._cables[victim].plug
            case "clock":
                self.files[victim].write_bytes(struct.pack("q", chance.randint(-100_000, 100_000)))
                return now, lambda: None
            case "scheduler":
                assert self._machines.scheduler
                self._machines.scheduler.kill()
                self._machines.scheduler.wait()
                return now + chance.uniform(0, 3), self.start_scheduler
            case _:
                self._server.end("immediate")
                return now + (chance.choice((1, 5, 60)) if EVIDENCE else 1), self._server.start

    def _freeze(self, victim: str) -> list[int]:
        """The worker, and on every other occasion the processes that play for it, too."""
        worker = self._machines.workers[victim].pid
        found = [worker, *(children(worker) if self._chance.random() < 0.5 else ())]
        self._signal(found, signal.SIGSTOP)
        return found

    def _signal(self, processes: list[int], number: signal.Signals) -> None:
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process, number)

    def start_scheduler(self) -> None:
        self._machines.environment.pop("TEST_CLOCK_STEP", None)
        self._machines.start_scheduler()

    def join(self, name: str) -> None:
        self._machines.environment["TEST_CLOCK_STEP"] = str(self.files[name])
        self._machines.join(name, self._cables[name].inside)


@pytest.fixture
def server() -> Iterator[Server]:
    with running() as found:
        yield found


@pytest.fixture
def machines(joined: Machines, tmp_path: Path) -> Machines:
    library = tmp_path / "clock.so"
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-o", library, "-x", "c", "-", "-ldl"], input=CLOCK, text=True, check=True
    )
    joined.environment = {"LD_PRELOAD": str(library)}
    joined.start_scheduler()
    joined.wait_for_scheduler()
    return joined


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:.*<ssl.SSLSocket:pytest.PytestUnraisableExceptionWarning")
# dask leaves the socket of a handshake in which the scheduler was killed to Python.
def test_no_fault_loses_a_game_or_counts_one_twice(
    machines: Machines, cables: list[Cable], server: Server, tmp_path: Path, record_property: RecordFigure
) -> None:
    storm = Storm(seeded(), machines, cables, server)
    storm.files = {name: tmp_path / f"{name}.clock" for name in WORKERS}
    for name in WORKERS:
        storm.join(name)
    cup = Cup(tmp_path, store_url=server.url)
    cup.open_gate()

    def more() -> list[ScheduledGame]:
        scheduled = len(cup.store.games("cup"))
        return [] if storm.is_over() else cup.games(scheduled + 1, scheduled + len(WORKERS))

    with cup.store.lease("cup", "the storm's judge"), closing(cup.cluster(machines)) as cluster:
        until(lambda: bool(cluster.wait(0.1)) or cluster.free == len(WORKERS), "all workers")
        try:
            end = cup.play(cluster, storm.go_on, more, PATIENCE_S)
        finally:
            storm.calm()
        assert StopReason.FINISHED is end, cup.journal()[-2000:]

    results, scheduled = cup.store.results("cup"), len(cup.store.games("cup"))
    record_property("figure", f"faults: {dict(storm.happened)}; games: {scheduled}")
    assert FAULTS == storm.happened.total()
    assert sorted(result.number for result in results) == list(range(1, scheduled + 1))
    for result in results:
        record = RecordFile.model_validate_json(cup.files.get(result.record)).record
        assert (result.id, result.attempt) == (record.id, record.attempt)
    accepted = Counter(line.game for line in cup.store.journal("cup") if line.event == AttemptState.ACCEPTED)
    assert Counter({result.id: 1 for result in results}) == accepted
    assert {result.record for result in results} <= {digest for _, digest in cup.store.stored_files("cup")}
    cup.store.close()
    gc.collect()  # what dask has left is closed here, and not in another test
