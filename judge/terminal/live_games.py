"""Games of the live view: takes a feed, returns screens, with the memory usage of the agents.

The growing transcript is replayed (`judge.referee.replay`). Containers have labels. Process agents are the judge's
children; the older one has seat 0.
"""

import json
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Generic, TypeVar

from judge.base.errors import HostError
from judge.base.owner import MARK, Owner
from judge.base.procfs import children_of, environment_of, stat_fields
from judge.broadcast import pipe
from judge.catalog import game_entry
from judge.games.types import SEATS
from judge.protocols import PERSON
from judge.records.views import BoardView
from judge.referee.follow import FollowedGame
from judge.referee.side import Ply
from judge.referee.spec import GameSpec
from judge.referee.transcript import unpack_entries
from judge.sandbox.box import BoxKind, Meter
from judge.sandbox.docker.engine import Engine
from judge.sandbox.machine import cgroup
from judge.sandbox.process.process_box import ProcessMeter
from judge.terminal.screen import MoveShown, Screen, SeatShown, SeriesScore

SEAT = "judge.seat"

INTERVAL_S = 0.5
ENGINE_TIMEOUT_S = 5.0

Memory = tuple[int | None, int | None]
"""Peak and limit, in bytes."""

NOTHING: tuple[Memory, Memory] = ((None, None), (None, None))


class MemoryMonitor:
    """Reads in a thread, because an Engine may answer slowly."""

    def __init__(self, game_id: str, kind: BoxKind, judge_pid: int, seats: Sequence[int] = SEATS) -> None:
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
        while not self._over.wait(INTERVAL_S):
            with suppress(OSError, ValueError, HostError):
                if not most or len(meters) < most:
                    for meter in meters.values():
                        meter.close()
                    meters = find()
                self.memory = _of(meters, 0), _of(meters, 1)


def _of(meters: Mapping[int, Meter], seat: int) -> Memory:
    if seat not in meters:
        return None, None
    readings = meters[seat].readings()
    return readings.memory_peak_bytes, readings.memory_cap_bytes


def _containers(game_id: str, judge_pid: int) -> Mapping[int, Meter]:
    engine = Engine(ENGINE_TIMEOUT_S)
    found: dict[int, Meter] = {}
    try:
        for container in engine.labelled(f"judge.game={game_id}"):
            labels, name = container["Labels"], container["Id"]
            if Owner.decode(labels["judge.owner"]).pid != judge_pid or SEAT not in labels:
                # Another judge's, or the folder keeper.
                continue
            groups = cgroup.find_cgroups(int(engine.state(name)["Pid"]), name)
            if groups:
                found[int(labels[SEAT])] = cgroup.CgroupMeter(groups)
    finally:
        engine.close()
    return found


def _processes(judge_pid: int, seats: Sequence[int]) -> Mapping[int, Meter]:
    mark = f"{MARK}=".encode()
    agents = [pid for pid in children_of(judge_pid) if mark in environment_of(pid)]
    agents.sort(key=lambda pid: int(stat_fields(pid)[19]))
    return dict(zip(seats, map(ProcessMeter, agents), strict=False))


MS = 1_000_000

MAX_STORED_MOVES = 200


class Follower(FollowedGame):
    """Follows one running game."""

    def __init__(self, spec: GameSpec, judge_pid: int) -> None:
        super().__init__(spec)
        self.result = ""
        self._entry = game_entry(spec.policy.game.name)
        agents = [seat for seat in SEATS if spec.seats[seat].protocol != PERSON]
        self._memory = MemoryMonitor(spec.id, spec.box, judge_pid, agents)
        self._moves: list[MoveShown] = []
        self._before: BoardView | None = None
        self._count = spec.opening_moves
        self._origin_ns: int | None = None

    def hear(self, packed: bytes) -> None:
        entries = list(unpack_entries(packed))
        arrived = time.monotonic_ns()
        if entries:
            began = arrived - entries[-1].ns
            # Data arrives shortly after it was written: the earliest estimate is the best.
            self._origin_ns = began if self._origin_ns is None else min(self._origin_ns, began)
        self.follow(entries)

    def end(self, result: str) -> None:
        self._memory.close()
        self.result = result

    def screen(self, title: str, series: SeriesScore | None) -> Screen:
        view = self._entry.view(self.referee.game).since(self._before)
        seats = (self._seat(0), self._seat(1))
        if self.result:
            status = self.result
        elif not self._moves:
            status = "starting"
        else:
            last = self._moves[-1]
            status = view.caption or f"{view.sides[view.seats.index(last.seat)]}: {last.said}"
        return Screen(title, view, seats, tuple(self._moves[-MAX_STORED_MOVES:]), status, series)

    def _seat(self, seat: int) -> SeatShown:
        seen, side = self.seats[seat], self.referee.sides[seat]
        control, memory = side.clock.control, self._memory.memory[seat]
        since_ns, running = self.replay.runs_since_ns[seat], 0
        if seen.is_asked and since_ns is not None and self._origin_ns is not None and not self.result:
            running = max(0, time.monotonic_ns() - self._origin_ns - since_ns)
        left = side.clock.left_ns()
        turn = running if seen.is_asked else seen.ply.charged_ns if seen.ply else None
        return SeatShown(
            self.spec.seats[seat].name,
            is_asked=seen.is_asked and not self.result,
            turn_ms=None if turn is None else turn / MS,
            turn_limit_ms=control.turn_ms or None,
            left_ms=None if left is None else (left - running) / MS,
            match_ms=control.total_ms,
            control=side.clock.words(),
            memory_bytes=memory[0],
            memory_cap_bytes=memory[1],
            said=seen.ply.said if seen.ply else "",
            search=seen.search,
            messages=tuple(seen.messages),
        )

    def see_answer(self, ply: Ply) -> None:
        """Note the move, and the position before it."""
        super().see_answer(ply)
        self._before = self._entry.view(self.referee.game)
        self._count += 1
        self._moves.append(MoveShown(self._count, ply.seat, ply.said, ply.charged_ns / MS, ply.search))


FollowerT = TypeVar("FollowerT", bound=Follower)


class GameViews(Generic[FollowerT]):
    """Games of a feed in turn, each followed by a `follower`."""

    def __init__(self, follower: type[FollowerT], judge_pid: int | None = None) -> None:
        self._judge_pid = os.getppid() if judge_pid is None else judge_pid
        self._follows = follower
        self._series: SeriesScore | None = None
        self._began = time.monotonic()
        self._number = 0
        self.follower: FollowerT | None = None

    def hear(self, kind: bytes, data: bytes) -> None:
        match kind:
            case pipe.SERIES:
                series = json.loads(data)
                names = (series["names"][0], series["names"][1])
                self._series = SeriesScore(names, series["games"])
            case pipe.BEGIN:
                spec = GameSpec.model_validate_json(data)
                self._number = spec.number + 1
                self.follower = self._follows(spec, self._judge_pid)
            case pipe.TRANSCRIPT if self.follower is not None:
                self.follower.hear(data)
            case pipe.END if self.follower is not None:
                self._end(self.follower, json.loads(data))

    def screen(self) -> Screen | None:
        """The current screen; None before the first game."""
        if self.follower is None:
            return None
        spec = self.follower.spec
        games = self._series.games if self._series else 1
        number = f"game {self._number} of {games}" if games > 1 else "game"
        title = f"{number}  {spec.policy.name}  {spec.id}"
        return self.follower.screen(title, self._series if games > 1 else None)

    def _end(self, follower: Follower, said: dict[str, Any]) -> None:
        follower.end(said["result"])
        if self._series is not None and said["is_last_attempt"]:
            self._series = SeriesScore(
                self._series.names,
                self._series.games,
                (*self._series.results, said["points"]),
                time.monotonic() - self._began,
            )
