"""What measurements share: figures, the agents and the slot that they are taken with, and the peer."""

import re
import statistics
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from judge.agents.agents import Agent, stage_agent
from judge.referee.play import Slot
from judge.referee.transcript import Entry, Kind

RUNS = 5
GOMOKU = "gomocup-fastgame"


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table: `ratio` is value / limit, `peer` the peer's value in the same unit."""

    name: str
    value: float
    unit: str
    limit: float | None = None
    ratio: float | None = None
    peer: float | None = None


@dataclass(frozen=True, slots=True)
class Bench:
    """What every measurement needs."""

    slot: Slot
    staging: Path
    peers: dict[str, str]

    def agent(self, name: str) -> Agent:
        """A house agent, staged."""
        return stage_agent(name, self.staging)

    def peer_game_s(self) -> float | None:
        """A game of two instant agents under c-gomoku-cli, one at a time and no sandbox; None without the peer.

        Its start-up is subtracted by two lengths.
        """
        if "c-gomoku-cli" not in self.peers:
            return None
        few, many = 2, 22
        spans = [
            (self._peer_s(many) - self._peer_s(few)) / (many - few) for _ in range(RUNS // 2 + 1)
        ]
        return statistics.median(spans)

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
        subprocess.run(command, check=True, capture_output=True, cwd=self.staging)
        return time.perf_counter() - began


def clock_errors_ms(entries: list[Entry]) -> Iterator[float]:
    """Per move of house-stamp: the judge's span from thaw to read, less the agent's own from its stamps."""
    stamps: list[list[float]] = [[], []]
    for seat in (0, 1):
        said = b"".join(e.data for e in entries if e.seat == seat and e.kind is Kind.STDERR)
        for line in said.splitlines():
            heard, answered = map(int, line.split())
            stamps[seat].append((answered - heard) / 1e6)
    count, thawed = [0, 0], [0, 0]
    for entry in entries:
        if entry.kind is Kind.THAWED:
            thawed[entry.seat] = entry.ns
        elif entry.kind is Kind.READ and re.fullmatch(rb"\d+,\d+\r?\n", entry.data):
            seat = entry.seat
            yield (entry.ns - thawed[seat]) / 1e6 - stamps[seat][count[seat]]
            count[seat] += 1


def share_of(values: list[float], share: float) -> float:
    """The value below which that share of them lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
