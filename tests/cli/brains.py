"""Small brains for whole games: correct but for one thing, which they do when they must move (or start)."""

import tarfile
from pathlib import Path
from textwrap import indent

from judge.host.house_agents import build_house_agents

_BRAIN = """#!/usr/bin/env python3
import os, signal, subprocess, sys, time

def say(text):
    sys.stdout.write(text + "\\r\\n")
    sys.stdout.flush()

def trick():
{trick}

def other(word, rest):
{other}

{at_once}
taken, side, board = set(), 20, False

def put(pair):
    taken.add(tuple(map(int, pair.split(",")[:2])))

def move():
    trick()
    free = next((x, y) for y in range(side) for x in range(side) if (x, y) not in taken)
    taken.add(free)
    say("%d,%d" % free)

for line in sys.stdin:
    line = line.strip()
    word, _, rest = line.partition(" ")
    if board and word == "DONE":
        board = False
        move()
    elif board:
        put(word)
    elif word == "START":
        side = int(rest)
        say({start!r})
    elif word == "BOARD":
        board = True
    elif word == "TURN":
        put(rest)
        move()
    elif word == "BEGIN":
        move()
    elif word == "ABOUT":
        say({about})
    elif word == "END":
        break
    else:
        other(word, rest)

{at_end}
"""


def brain_text(
    trick: str = "pass",
    at_once: str = "",
    start: str = "OK",
    other: str = "pass",
    at_end: str = "",
    about: str = """'name="brain", version="1"'""",
) -> str:
    """The program of a brain.

    `trick` runs before each move, `at_once` before anything, `other` for a `word` that a brain does not know, with the
    `rest` of its line, and `at_end` after the last line. `about` is an expression.
    """
    trick, other = (indent(code.strip("\n"), "    ") for code in (trick, other))
    return _BRAIN.format(trick=trick, other=other, at_once=at_once, start=start, at_end=at_end, about=about)


def write_brain(directory: Path, name: str, *code: str, **more: str) -> str:
    """Write an executable brain with this code (see `brain_text`); returns its path."""
    path = directory / f"{name}.py"
    path.write_text(brain_text(*code, **more))
    path.chmod(0o755)
    return str(path)


def packed_agent(folder: Path) -> Path:
    """A house agent in Python as an archive that an author would send."""
    path = folder / "mine.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(build_house_agents()["house-python"], ".")
    return path
