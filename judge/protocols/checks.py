"""Checks shared by protocols."""

from typing import NamedTuple


class Check(NamedTuple):
    """A line of the `judge check` report."""

    name: str
    tries: str
    fix: str


START = Check(
    "start",
    "starts and is ready within the start-up time",
    "do long preparations later; answer the first line at once",
)
ABOUT = Check(
    "about", "reports its name", 'answer ABOUT with one line: name="My brain", version="1.0", author="Me", country="XY"'
)
MEMORY = Check(
    "memory",
    "stays below its memory limit",
    "use less memory: the limit includes libraries and files in /tmp",
)
TIME = Check(
    "time",
    "answers within its time limit",
    "read the limit that is sent before the first move, check the clock during the search, and stop in time",
)
QUIET = Check(
    "quiet",
    "prints nothing without a request",
    "write the answer and nothing after it; stop all threads that print before you answer",
)
ENDING = Check(
    "line-ending",
    "accepts lines that end with CR LF or LF",
    "strip CR and LF from every line that you read",
)
END = Check(
    "end",
    "exits at the end of the game",
    "exit at once on the last command and at the end of stdin, or the process is killed",
)
GAMES = (
    Check(
        "game-first",
        "plays a whole game as the first seat",
        "play such a game and read its record: judge match YOUR-AGENT PARTNER",
    ),
    Check(
        "game-second",
        "plays a whole game as the second seat",
        "play such a game and read its record: judge match PARTNER YOUR-AGENT",
    ),
)
_READ_THE_POSITION = (
    "its moves are legal, but may be for another position: check the square (x first, both from 0) "
    "and the owner of every stone"
)
WIN = Check("win", "wins where one stone wins, with either colour", _READ_THE_POSITION)
BLOCK = Check("block", "blocks a four, with either colour", _READ_THE_POSITION)
RULE = Check(
    "rule",
    "knows this rule's winning rows and forbidden moves",
    "implement the rule that is sent (INFO rule, SETRULE): winning rows and forbidden moves",
)
OPENING = Check(
    "opening",
    "plays the opening stage of this policy in both seats",
    "see the protocol's text for the allowed answers at each step of the opening",
)

CHECKS = (START, TIME, MEMORY, END, *GAMES)

ASKED = (QUIET,)
"""Also, if the game sends requests."""
