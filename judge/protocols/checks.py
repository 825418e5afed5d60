"""Checks shared by protocols."""

from typing import NamedTuple

from judge.base.text import sentence


class Check(NamedTuple):
    """A line of the `judge check` report."""

    name: str
    tries: str
    fix: str


START = Check(
    "start",
    sentence("starts and is ready within the start-up time"),
    sentence("do long preparations later; answer the first line at once"),
)
ABOUT = Check(
    "about",
    sentence("reports its name"),
    sentence('answer ABOUT with one line: name="My brain", version="1.0", author="Me", country="XY"'),
)
OPTIONS = Check("options", sentence("accepts the engine options of its agent.toml"), "")
MEMORY = Check(
    "memory",
    sentence("stays below its memory limit"),
    sentence("use less memory: the limit includes libraries and files in /tmp"),
)
TIME = Check(
    "time",
    sentence("answers within its time limit"),
    sentence("read the limit that is sent before the first move, check the clock during the search, and stop in time"),
)
QUIET = Check(
    "quiet",
    sentence("prints nothing without a request"),
    sentence("write the answer and nothing after it; stop all threads that print before you answer"),
)
ENDING = Check(
    "line-ending",
    sentence("accepts lines that end with CR LF or LF"),
    sentence("strip CR and LF from every line that you read"),
)
END = Check(
    "end",
    sentence("exits at the end of the game"),
    sentence("exit at once on the last command and at the end of stdin, or the process is killed"),
)
GAMES = (
    Check(
        "game-first",
        sentence("plays a whole game as the first player"),
        sentence("play such a game and read its record: judge match YOUR-AGENT PARTNER"),
    ),
    Check(
        "game-second",
        sentence("plays a whole game as the second player"),
        sentence("play such a game and read its record: judge match PARTNER YOUR-AGENT"),
    ),
)
_READ_THE_POSITION = sentence(
    "its moves are legal, but may be for another position: check the square (order and origin of its coordinates) "
    "and the owner of every stone"
)
WIN = Check("win", sentence("wins when one move is enough, with either colour"), _READ_THE_POSITION)
BLOCK = Check("block", sentence("blocks a four, with either colour"), _READ_THE_POSITION)
RULE = Check(
    "rule",
    sentence("knows this rule's winning rows and forbidden moves"),
    sentence("implement the rule that is sent (INFO rule, SETRULE): winning rows and forbidden moves"),
)
OPENING = Check(
    "opening",
    sentence("plays the opening stage of this policy in both seats"),
    sentence("see the protocol's text for the allowed answers at each step of the opening"),
)

CHECKS = (START, TIME, MEMORY, END, *GAMES)

ASKED = (QUIET,)
"""Also, if the game sends requests."""
