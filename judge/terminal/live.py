"""The live view of `judge match`: a separate process that draws a feed from a pipe.

A thread would hold the interpreter lock for milliseconds, which would be charged to an agent.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from types import FrameType
from typing import IO

from rich.console import Console
from rich.live import Live

from judge.base.scheduling import set_scheduling
from judge.broadcast import pipe
from judge.records.outcome import game_scores, record_outcome
from judge.referee.spec import GameRecord, GameSpec
from judge.terminal.live_games import Follower, GameViews
from judge.terminal.screen import Screen

INTERVAL_S = 0.1

LAST_WAIT_S = 10.0


class LiveView:
    """The judge's side: starts the view and sends the feed."""

    def __init__(
        self,
        names: tuple[str, str],
        games: int,
        module: str = __name__,
        given: Sequence[int] = (),
        stdout: IO[str] | None = None,
    ) -> None:
        command = [sys.executable, "-m", module, *map(str, given)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=stdout, pass_fds=given)
        if self._process.stdin is None:
            raise RuntimeError("Popen made no pipe")
        self._feed = pipe.Feed(os.dup(self._process.stdin.fileno()))
        self._process.stdin.close()
        self._send(pipe.SERIES, {"names": names, "games": games})
        self._first = names[0]

    def begin(self, spec: GameSpec) -> None:
        self._feed.send(pipe.BEGIN, spec.model_dump_json().encode())

    def follow(self, packed: bytes) -> None:
        self._feed.send(pipe.TRANSCRIPT, packed)

    def end(self, record: GameRecord, is_last_attempt: bool) -> None:
        points = points_of(record, self._first)
        said = {"result": record_outcome(record), "points": points}
        self._send(pipe.END, {**said, "is_last_attempt": is_last_attempt})

    def close(self) -> None:
        """Let the view finish, and wait until it has restored the terminal."""
        set_scheduling(self._process.pid, os.SCHED_OTHER)
        self._feed.close()
        try:
            self._process.wait(LAST_WAIT_S)
        except subprocess.TimeoutExpired:
            self._process.terminate()
            self._process.wait()

    def has_failed(self) -> bool:
        """Wait for the view's end; whether it failed."""
        try:
            return self._process.wait(LAST_WAIT_S) != 0
        except subprocess.TimeoutExpired:
            return True

    def _send(self, kind: bytes, said: dict[str, object]) -> None:
        self._feed.send(kind, json.dumps(said).encode())


def points_of(record: GameRecord, name: str) -> float | None:
    """1, 0.5 or 0 for the agent `name`; None for a void, or if both are at fault."""
    scores = game_scores(record.verdict, record.winner)
    return scores[record.seats[0].name != name] if any(scores) else None


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
