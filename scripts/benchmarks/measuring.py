"""What measurements share: figures, the agents and the slot that they are taken with, and the peer."""

import os
import re
import statistics
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from judge.agents.agents import Agent, stage_agent
from judge.base.errors import HostError
from judge.play.venue import Slot
from judge.record.transcript import Entry, EntryKind

RUNS = 5
GOMOKU = "gomocup-fastgame"

SHORT = ("game.options.width=5", "game.options.height=5")
"""A board that is full after 25 moves."""

PEER_GAMES = (2, 402)
"""Two numbers of games that the peer plays."""

_PEER_SCORE = re.compile(r"^Score of .* vs .*: (\d+) - (\d+) - (\d+) +\[[^]]*\] +(\d+)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table: `ratio` is value / limit, `peer` the peer's value in the same unit.

    `runs` is what each run measured: the ratio to the limit of that run where there is a limit, else the value. It is
    empty where a figure was not measured several times.
    """

    name: str
    value: float
    unit: str
    limit: float | None = None
    ratio: float | None = None
    peer: float | None = None
    runs: tuple[float, ...] = ()


def figure_of(
    name: str, values: Sequence[float], unit: str, limits: Sequence[float] = (), *, peer: float | None = None
) -> Figure:
    """The figure of several runs: medians. `limits` are those of the same runs, measured by turns with the values."""
    value = statistics.median(values)
    if not limits:
        return Figure(name, value, unit, peer=peer, runs=tuple(values))
    limit = statistics.median(limits)
    runs = tuple(each / least for each, least in zip(values, limits, strict=True))
    return Figure(name, value, unit, limit, value / limit, peer, runs)


@dataclass(frozen=True, slots=True)
class Bench:
    """What every measurement needs."""

    slot: Slot
    staging: Path
    peers: dict[str, str]
    sizes: Sequence[int] = (1000, 10_000)
    """Of contests with very many games, the smallest first."""

    def agent(self, name: str) -> Agent:
        """A house agent, staged."""
        return stage_agent(name, self.staging)

    def peer_game_s(self) -> float | None:
        """A game of two instant agents under c-gomoku-cli, one at a time and no sandbox; None without the peer.

        Its start-up is subtracted by two lengths, of which the second is long: it looks for its end every 100 ms.
        Raises HostError where it did not play all games: then its time is that of nothing.
        """
        if "c-gomoku-cli" not in self.peers:
            return None
        few, many = PEER_GAMES
        span = statistics.median((self._peer_s(many) - self._peer_s(few)) / (many - few) for _ in range(RUNS // 2 + 1))
        if span <= 0:
            raise HostError(f"c-gomoku-cli took no longer for {many} games than for {few}")
        return span

    def _peer_s(self, games: int) -> float:
        program = str(self.agent("house-instant").program / "house-instant")
        command = [
            self.peers["c-gomoku-cli"],
            "-each",
            "tc=0/1000",
            "-rule",
            "0",
            "-boardsize",
            "20",
        ]
        command += ["-engine", "name=a", f"cmd={program}", "-engine", "name=b", f"cmd={program}"]
        command += ["-games", str(games)]
        began = time.perf_counter()
        done = subprocess.run(command, check=False, capture_output=True, text=True, errors="replace", cwd=self.staging)
        took = time.perf_counter() - began
        if done.returncode != 0:
            last = (done.stderr.splitlines() or [""])[-1]
            raise HostError(f"c-gomoku-cli ended with code {done.returncode}: {last}")
        played = peer_games(done.stdout)
        if played != games:
            raise HostError(f"c-gomoku-cli was asked for {games} games and says that it played {played}")
        return took


def peer_games(output: str) -> int:
    """How many games c-gomoku-cli says that it played, by its last line of the score; 0 where it has none."""
    scores = _PEER_SCORE.findall(output)
    if not scores:
        return 0
    *each, total = map(int, scores[-1])
    if sum(each) != total:
        raise HostError(f"c-gomoku-cli counts {total} games, and {sum(each)} results of them")
    return total


@contextmanager
def everywhere(slot: Slot) -> Iterator[None]:
    """Use the slot's cores too."""
    mine = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {*mine, *slot.cores})
    try:
        yield
    finally:
        os.sched_setaffinity(0, mine)


def clock_errors_ms(entries: list[Entry]) -> Iterator[float]:
    """Per move of house-stamp: the judge's span from thaw to read, less the agent's own from its stamps."""
    stamps: list[list[float]] = [[], []]
    for seat in (0, 1):
        said = b"".join(e.data for e in entries if e.seat == seat and e.kind is EntryKind.STDERR)
        for line in said.splitlines():
            heard, answered = map(int, line.split())
            stamps[seat].append((answered - heard) / 1e6)
    count, thawed = [0, 0], [0, 0]
    for entry in entries:
        if entry.kind is EntryKind.THAWED:
            thawed[entry.seat] = entry.ns
        elif entry.kind is EntryKind.READ and re.fullmatch(rb"\d+,\d+\r?\n", entry.data):
            seat = entry.seat
            yield (entry.ns - thawed[seat]) / 1e6 - stamps[seat][count[seat]]
            count[seat] += 1


def share_of(values: list[float], share: float) -> float:
    """The value below which that share of them lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
