"""How much memory the agents of a running game use, read by the live view and not by the judge.

The containers of a judge are found by their labels and read in their cgroups. Without containers the processes that the
judge started are read in /proc; the older one is seat 0's. Unknown values are None.
"""

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

from judge.base.errors import HostError
from judge.games.types import SEATS
from judge.sandbox.box import BoxKind
from judge.sandbox.docker.engine import Engine
from judge.sandbox.machine import cgroup
from judge.sandbox.machine.owner import MARK, Owner
from judge.sandbox.machine.procfs import children_of, environment_of, memory_bytes, stat_fields

SEAT = "judge.seat"
"""The label of an agent's container."""

INTERVAL_S = 0.5
ENGINE_TIMEOUT_S = 5.0

Memory = tuple[int | None, int | None]
"""The peak so far, and the cap, in bytes."""

NOTHING: tuple[Memory, Memory] = ((None, None), (None, None))


class MemoryMonitor:
    """Reads the memory of a game's two agents in a thread, because an Engine may answer slowly."""

    def __init__(self, match_id: str, kind: BoxKind, judge_pid: int, seats: Sequence[int] = SEATS) -> None:
        """`seats` are those of agents."""
        self.memory = NOTHING
        """The last reading of each seat."""
        is_process = kind == "process"
        read = _processes(judge_pid, seats) if is_process else _containers(match_id, judge_pid)
        self._over = threading.Event()
        threading.Thread(target=self._watch, args=(read,), daemon=True).start()

    def close(self) -> None:
        """Stop reading."""
        self._over.set()

    def _watch(self, read: Callable[[], tuple[Memory, Memory]]) -> None:
        while not self._over.wait(INTERVAL_S):
            with suppress(OSError, ValueError, HostError):
                self.memory = read()


def _containers(match_id: str, judge_pid: int) -> Callable[[], tuple[Memory, Memory]]:
    meters: dict[int, cgroup.CgroupMeter] = {}

    def read() -> tuple[Memory, Memory]:
        if len(meters) < len(SEATS):
            meters.update(_meters(match_id, judge_pid))
        return _of(meters, 0), _of(meters, 1)

    return read


def _of(meters: dict[int, cgroup.CgroupMeter], seat: int) -> Memory:
    if seat not in meters:
        return None, None
    readings = meters[seat].readings()
    return readings.memory_peak_bytes, readings.memory_cap_bytes


def _meters(match_id: str, judge_pid: int) -> dict[int, cgroup.CgroupMeter]:
    engine = Engine(ENGINE_TIMEOUT_S)
    found = {}
    try:
        for container in engine.labelled(f"judge.match={match_id}"):
            labels, name = container["Labels"], container["Id"]
            if Owner.decode(labels["judge.owner"]).pid != judge_pid or SEAT not in labels:
                # Another judge's, or the keeper of the folders, which sits at no seat.
                continue
            groups = cgroup.find_cgroups(int(engine.state(name)["Pid"]), name)
            if groups:
                found[int(labels[SEAT])] = cgroup.CgroupMeter(groups)
    finally:
        engine.close()
    return found


def _processes(judge_pid: int, seats: Sequence[int]) -> Callable[[], tuple[Memory, Memory]]:
    def read() -> tuple[Memory, Memory]:
        peaks = dict(zip(seats, map(memory_bytes, _agents(judge_pid)), strict=False))
        return (peaks.get(0), None), (peaks.get(1), None)

    return read


def _agents(judge_pid: int) -> Sequence[int]:
    """The children of the judge that are agents, the oldest first."""
    mark = f"{MARK}=".encode()
    agents = [pid for pid in children_of(judge_pid) if mark in environment_of(pid)]
    return sorted(agents, key=lambda pid: int(stat_fields(pid)[19]))
