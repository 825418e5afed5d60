"""Makes a set of balanced openings of five in a row: policies/openings/RULE-SIZE.txt.

    scripts/openings.py freestyle 20 --seed 1 > policies/openings/freestyle-20.txt

Random openings of 3 to 6 stones are played out by house-renju with itself, at several times a move. An opening is kept
if each side won 2 to 4 of 6 games (a draw is half), so that neither side has a clear advantage between equal programs.
No opening is a rotation or reflection of another one. Times vary with the machine, so a repetition gives other sets.
"""

import argparse
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Self

from judge.base.resources import BUILD_DIRECTORY
from judge.games.gomoku.game import Gomoku
from judge.games.gomoku.options import symmetries
from judge.games.gomoku.requests import Square, Stone
from judge.games.types import Verdict, decided

INFO_RULE = {"freestyle": 0, "standard": 1, "renju": 4, "caro": 9}
TURNS_MS = (55, 70, 85, 60, 75, 90)
"""Time limits of the games; other times give other games."""

WINDOW = 7
"""Side of the square in which the stones of an opening are."""

MAX_PLIES = 160
"""A longer game is a draw."""


class Brain:
    """A house agent in a process of its own."""

    def __init__(self, rule: str, size: int) -> None:
        self._start = [f"INFO rule {INFO_RULE[rule]}", f"START {size}", "INFO max_memory 0", "INFO timeout_match 0"]
        self._process = subprocess.Popen(
            [BUILD_DIRECTORY / "house-renju" / "house-renju"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Self:
        for line in self._start:
            self._send(line)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()

    def _send(self, line: str) -> None:
        if self._process.stdin is None:
            raise RuntimeError("the process has no stdin")
        self._process.stdin.write(f"{line}\r\n")
        self._process.stdin.flush()

    def move(self, stones: Sequence[Square], turn_ms: int) -> Square:
        """Its move after `stones`, in play order."""
        seat = len(stones) % 2
        self._send(f"INFO timeout_turn {turn_ms}")
        self._send("BOARD")
        for number, (x, y) in enumerate(stones):
            self._send(f"{x},{y},{1 if number % 2 == seat else 2}")
        self._send("DONE")
        if self._process.stdout is None:
            raise RuntimeError("the process has no stdout")
        for line in self._process.stdout:
            x, comma, y = line.strip().partition(",")
            if comma and x.isdecimal() and y.isdecimal():
                return int(x), int(y)
        raise RuntimeError("house-renju has ended")


def score_of(brain: Brain, opening: Sequence[Square], rule: str, size: int, turn_ms: int) -> float:
    """1 if the first side wins, 0.5 for a draw."""
    game = Gomoku.from_options({"width": size, "height": size, "rule": rule, "opening": opening})
    stones = list(opening)
    while game.end is None and len(stones) < MAX_PLIES:
        x, y = brain.move(stones, turn_ms)
        game.apply(decided(Stone(x, y)))
        stones.append((x, y))
    if game.end is None or game.end.verdict is Verdict.DRAW:
        return 0.5
    winner = getattr(game.end, "winner", None)
    return 0.5 if winner is None else 1.0 - winner


def is_balanced(brain: Brain, opening: Sequence[Square], rule: str, size: int) -> float | None:
    """The first side's score if the opening is balanced."""
    score = 0.0
    for number, turn_ms in enumerate(TURNS_MS, 1):
        score += score_of(brain, opening, rule, size, turn_ms)
        if score > 4 or number - score > 4:
            return None
    return score


def candidates(chance: random.Random, size: int) -> Iterator[tuple[Square, ...]]:
    """Random openings, without rotations and reflections of earlier ones."""
    seen: set[tuple[Square, ...]] = set()
    turns = symmetries(size, size)
    while True:
        left, top = (chance.randrange(size - WINDOW + 1) for _ in range(2))
        squares = [(left + x, top + y) for x in range(WINDOW) for y in range(WINDOW)]
        opening = tuple(chance.sample(squares, chance.randint(3, 6)))
        images = {_sorted([turn(x, y) for x, y in opening]) for turn in turns}
        if seen.isdisjoint(images):
            seen |= images
            yield opening


def _sorted(stones: Sequence[Square]) -> tuple[Square, ...]:
    """The stones of each side in a fixed order."""
    return (*sorted(stones[::2]), (-1, -1), *sorted(stones[1::2]))


def main() -> None:
    """Print the set."""
    parser = argparse.ArgumentParser()
    parser.add_argument("rule", choices=sorted(INFO_RULE))
    parser.add_argument("size", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    chosen = parser.parse_args()
    print(f"# Balanced openings for {chosen.rule} on {chosen.size}x{chosen.size}, by scripts/openings.py.")
    print("# After each opening: the first side's points in 6 games of house-renju with itself.")
    found = tried = 0
    with Brain(chosen.rule, chosen.size) as brain:
        for opening in candidates(random.Random(chosen.seed), chosen.size):
            tried += 1
            if (score := is_balanced(brain, opening, chosen.rule, chosen.size)) is None:
                continue
            found += 1
            squares = "".join(f"{chr(ord('a') + x)}{y + 1}" for x, y in opening)
            print(f"{squares:<20} # {score:g}", flush=True)
            print(f"{found} of {tried}", file=sys.stderr)
            if found == chosen.count:
                return


if __name__ == "__main__":
    main()
