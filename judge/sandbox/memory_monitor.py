"""Memory usage of the agents of a running game, for its live view.

Containers have labels. Process agents are the judge's children; the older one has seat 0.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from functools import partial

from judge.base.errors import HostError
from judge.base.owner import MARK, Owner
from judge.base.procfs import children_of, environment_of, stat_fields
from judge.sandbox.box import BoxKind, Meter
from judge.sandbox.docker.engine import Engine
from judge.sandbox.machine import cgroup
from judge.sandbox.process.process_box import ProcessMeter

SEAT = "judge.seat"

INTERVAL_S = 0.5
ENGINE_TIMEOUT_S = 5.0

Memory = tuple[int | None, int | None]
"""Peak and limit, in bytes."""

NOTHING: tuple[Memory, Memory] = ((None, None), (None, None))


class MemoryMonitor:
    """Reads in a thread, because an Engine may answer slowly."""

    def __init__(self, game_id: str, kind: BoxKind, judge_pid: int, seats: Sequence[int]) -> None:
        self.memory = NOTHING
        is_process = kind == "process"
        find = partial(_processes, judge_pid, seats) if is_process else partial(_containers, game_id, judge_pid)
        self._over = threading.Event()
        # A container lasts for the whole game; a process may be replaced.
        most = 0 if is_process else len(seats)
        threading.Thread(target=self._watch, args=(find, most), daemon=True).start()

    def close(self) -> None:
        self._over.set()

    def _watch(self, find: Callable[[], Mapping[int, Meter]], most: int) -> None:
        meters: Mapping[int, Meter] = {}
        try:
            while not self._over.wait(INTERVAL_S):
                with suppress(OSError, ValueError, HostError):
                    if not most or len(meters) < most:
                        _close(meters)
                        meters = find()
                    self.memory = _of(meters, 0), _of(meters, 1)
        finally:
            _close(meters)


def _close(meters: Mapping[int, Meter]) -> None:
    for meter in meters.values():
        meter.close()


def _of(meters: Mapping[int, Meter], seat: int) -> Memory:
    if seat not in meters:
        return None, None
    readings = meters[seat].readings()
    return readings.memory_peak_bytes, readings.memory_cap_bytes


def _containers(game_id: str, judge_pid: int) -> Mapping[int, Meter]:
    found: dict[int, Meter] = {}
    with closing(Engine(ENGINE_TIMEOUT_S)) as engine, ExitStack() as opened:
        for container in engine.labelled(f"judge.game={game_id}"):
            labels, name = container["Labels"], container["Id"]
            if Owner.decode(labels["judge.owner"]).pid != judge_pid or SEAT not in labels:
                # Another judge's, or the folder keeper.
                continue
            groups = cgroup.find_cgroups(int(engine.state(name)["Pid"]), name)
            if groups:
                found[int(labels[SEAT])] = opened.enter_context(closing(cgroup.CgroupMeter(groups)))
        opened.pop_all()
    return found


def _processes(judge_pid: int, seats: Sequence[int]) -> Mapping[int, Meter]:
    mark = f"{MARK}=".encode()
    agents = [pid for pid in children_of(judge_pid) if mark in environment_of(pid)]
    agents.sort(key=lambda pid: int(stat_fields(pid)[19]))
    return dict(zip(seats, map(ProcessMeter, agents), strict=False))
