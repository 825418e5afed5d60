#!/usr/bin/env -S python3 -IS
"""A random player of Stratego that records its conversation with a manager. Tests copy it as `red` and `blue`.

The manager kills its child at the end, before QUIT arrives. So the child only waits, and its own child plays.
"""

import os
import random
import signal
import sys
from contextlib import suppress
from pathlib import Path

PIECES = "1" + "2" + "33" + "444" + "5555" + "6666" + "7777" + "88888" + "99999999" + "s" + "BBBBBB" + "F"
WAYS = {"UP": (0, -1), "DOWN": (0, 1), "LEFT": (-1, 0), "RIGHT": (1, 0)}
ODD = (
    "",
    "NO_MOVE",
    "SURRENDER",
    "0 0",
    "4 4 UP",
    "0 0 SIDEWAYS",
    "a b UP",
    "0 3 DOWN 0",
    "9 9 down",
    " 0  3 DOWN 1 x",
)


def main() -> None:
    """Play until the manager closes the conversation."""
    if child := os.fork():
        os.waitpid(child, 0)
        return
    waiting = os.getppid()
    name = Path(sys.argv[0]).name
    chance = random.Random(f"{name} {os.environ['STRATEGO_SEED']}")
    oddity = float(os.environ["STRATEGO_ODDITY"])
    with Path(f"{name.upper()}_{name}.wire").open("wb") as wire:

        def say(line: str) -> None:
            wire.write(f"A> {line}\n".encode())
            wire.flush()
            with suppress(BrokenPipeError):
                os.write(1, f"{line}\n".encode())

        rows: list[str] = []
        for line in sys.stdin.buffer:
            wire.write(b"M> " + line if line.endswith(b"\n") else b"M> " + line + b"<EOF-no-newline>\n")
            text = line.decode("latin-1").rstrip("\n")
            if text.startswith(("RED ", "BLUE ")):
                for row in setup(chance):
                    say(row)
            rows = [*rows, text] if len(text) == 10 and " " not in text else []
            if len(rows) == 10:
                say(chance.choice(ODD) if chance.random() < oddity else move(rows, chance))
                rows = []
    os.kill(waiting, signal.SIGKILL)


def setup(chance: random.Random) -> list[str]:
    """Four rows."""
    pieces = "".join(chance.sample(PIECES, len(PIECES)))
    return [pieces[at : at + 10] for at in range(0, 40, 10)]


def move(rows: list[str], chance: random.Random) -> str:
    """A legal move, an attack if there is one in two of three cases; NO_MOVE without a move."""
    found, attacks = [], []
    for y, row in enumerate(rows):
        for x, piece in enumerate(row):
            if piece not in "123456789s":
                continue
            for way, (dx, dy) in WAYS.items():
                for steps in range(1, 10 if piece == "9" else 2):
                    column, line = x + dx * steps, y + dy * steps
                    if not (0 <= column < 10 and 0 <= line < 10) or rows[line][column] not in ".#*":
                        break
                    words = f"{x} {y} {way}" + (f" {steps}" if steps > 1 else "")
                    if rows[line][column] != ".":
                        attacks.append(words)
                        break
                    found.append(words)
    if attacks and (not found or chance.random() < 2 / 3):
        return chance.choice(attacks)
    return chance.choice(found) if found else "NO_MOVE"


main()
