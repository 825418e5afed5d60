"""The process of the live view of `judge match`: draws a feed from a pipe.

A thread would hold the interpreter lock for milliseconds, which would be charged to an agent.
"""

import json
import os
import signal
import sys
import time
from dataclasses import replace
from types import FrameType
from typing import Generic, TypeVar

from rich.console import Console
from rich.live import Live

from judge.base.scheduling import set_scheduling
from judge.broadcast import pipe
from judge.catalog import game_entry
from judge.formats.views import BoardView
from judge.games.types import SEATS
from judge.protocols import PERSON
from judge.record.spec import GameSpec
from judge.record.transcript import unpack_entries
from judge.referee.side import Ply
from judge.referee.steps import MS, FollowedGame
from judge.sandbox.memory_monitor import MemoryMonitor
from judge.terminal.screen import MAX_STORED_MOVES, MoveShown, Screen, SeatShown
from judge.terminal.series_score import SeriesScore

INTERVAL_S = 0.1


class Follower(FollowedGame):
    """Follows one running game. `viewer` is the seat that sees it; None: everything is shown."""

    viewer: int | None = None

    def __init__(self, spec: GameSpec, judge_pid: int) -> None:
        super().__init__(spec)
        self.result = ""
        self._entry = game_entry(spec.policy.game.name)
        agents = [seat for seat in SEATS if spec.seats[seat].protocol != PERSON]
        self._memory = MemoryMonitor(spec.id, spec.box, judge_pid, agents)
        self._before: BoardView | None = None
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
        view, plies = self.view(), self.referee.plies
        first = max(0, len(plies) - MAX_STORED_MOVES)
        moves = [
            MoveShown(number, ply.seat, ply.said, ply.charged_ns / MS, ply.search)
            for number, ply in enumerate(plies[first:], self.spec.opening_moves + first + 1)
        ]
        status = self.result or (view.move_text(plies[-1].seat, plies[-1].said) if plies else "starting")
        return Screen(title, view, (self._seat(0), self._seat(1)), moves, status, series)

    def view(self) -> BoardView:
        """The position, with the squares that the last answer changed."""
        return self._entry.view(self.referee.game, self.viewer).since(self._before)

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
        """Note the position before it."""
        super().see_answer(ply)
        self._before = self._entry.view(self.referee.game, self.viewer)


FollowerT = TypeVar("FollowerT", bound=Follower)


class GameViews(Generic[FollowerT]):
    """Games of a feed in turn, each followed by a `follower`."""

    def __init__(self, follower: type[FollowerT], judge_pid: int | None = None) -> None:
        self._judge_pid = os.getppid() if judge_pid is None else judge_pid
        self._follows = follower
        self._series = SeriesScore(("", ""), 1)
        self._began = time.monotonic()
        self.follower: FollowerT | None = None

    def hear(self, kind: bytes, data: bytes) -> None:
        match kind:
            case pipe.SERIES:
                series = json.loads(data)
                self._series = SeriesScore((series["names"][0], series["names"][1]), series["games"])
            case pipe.BEGIN:
                self.follower = self._follows(GameSpec.model_validate_json(data), self._judge_pid)
            case pipe.TRANSCRIPT if self.follower is not None:
                self.follower.hear(data)
            case pipe.END if self.follower is not None:
                end = json.loads(data)
                self.follower.end(end["result"])
                if end["is_last_attempt"]:
                    results = (*self._series.results, end["points"])
                    self._series = replace(self._series, results=results, seconds=time.monotonic() - self._began)

    def screen(self) -> Screen | None:
        """The current screen; None before the first game."""
        if self.follower is None:
            return None
        spec, games = self.follower.spec, self._series.games
        number = f"game {spec.number + 1} of {games}" if games > 1 else "game"
        return self.follower.screen(f"{number}  {spec.policy.name}  {spec.id}", self._series if games > 1 else None)


def view(console: Console, source: int) -> None:
    """Show the feed until it ends; the last position stays on the terminal."""
    os.set_blocking(source, False)
    views, read = GameViews(Follower), bytearray()
    goes_on = True
    with Live(console=console, screen=True, auto_refresh=False, transient=False) as live:
        while goes_on:
            goes_on = take(source, read)
            for kind, data in pipe.frames(read):
                views.hear(kind, data)
            screen = views.screen()
            if screen is not None:
                live.update(screen, refresh=True)
            if goes_on:
                # Do not wait on the pipe: writes must not wake this process.
                time.sleep(INTERVAL_S)
    leave_last(console, views.screen())


def leave_last(console: Console, last: Screen | None) -> None:
    """Leave the last position on the terminal."""
    if last is not None:
        console.print(last, height=min(console.height - 2, len(last.view.rows) + 4))


def take(source: int, read: bytearray) -> bool:
    """Append available bytes to `read`; False at the end."""
    while True:
        try:
            data = os.read(source, 1 << 16)
        except BlockingIOError:
            return True
        if not data:
            return False
        read += data


def stop_gracefully(_signal: int, _frame: FrameType | None) -> None:
    """Exit through handlers that restore the terminal."""
    raise SystemExit(1)


def main() -> None:
    """Run the view: stdin is the feed, stdout the terminal."""
    # Ctrl-C is for the judge.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, stop_gracefully)
    # The judge has priority on their core.
    set_scheduling(os.getpid(), os.SCHED_IDLE)
    view(Console(file=sys.stdout), sys.stdin.fileno())


if __name__ == "__main__":
    main()
