#!/usr/bin/env -S python3 -I
"""The starter of Quantum Chess, with a seed and odd replies. It records its conversation with a manager."""

import os
import random
import sys
from pathlib import Path
from runpy import run_path
from typing import Any

ODD = ("", "E5", "9 9", "0", "3 3", " 4  6 ", "4 6 x", "-1 2", "0 0", "7 7", "a b")
starter: dict[str, Any] = run_path(os.environ["QCHESS_STARTER"])
lines = sys.stdin
first = lines.readline()
chance = random.Random(first + os.environ["QCHESS_SEED"])
oddity = float(os.environ["QCHESS_ODDITY"])
wire = Path(f"{first.strip()}_agent.wire").open("w", encoding="latin-1", buffering=1)  # noqa: SIM115 until the end
unread = [first]


def player(colour: str) -> Any:
    """The starter's player, with another game for each seed."""
    made = starter["Player"](colour)
    made.dice = chance
    return made


def read_line() -> str:
    line = unread.pop() if unread else lines.readline()
    wire.write(f"M> {line}")
    if not line or line.startswith("QUIT"):
        wire.write("#  agent exit status 0\n")
        sys.exit()
    return line.strip()


def say(square: tuple[int, int]) -> None:
    text = chance.choice(ODD) if chance.random() < oddity else " ".join(map(str, square))
    wire.write(f"A> {text}\n")
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


main = starter["main"]
main.__globals__.update(Player=player, read_line=read_line, say=say)
main()
