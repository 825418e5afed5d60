"""The checks of an agent that many protocols share: a name, what is tried, and how to fix it."""

from typing import NamedTuple


class Check(NamedTuple):
    """One line of the report of `judge check`; `fix` is the advice where nothing better is known."""

    name: str
    tries: str
    fix: str


START = Check(
    "start",
    "starts and is ready within the start-up time",
    "do long preparations later, and answer the first line at once",
)
ABOUT = Check(
    "about", "says its name", 'answer ABOUT with one line: name="My brain", version="1.0", author="Me", country="XY"'
)
MEMORY = Check(
    "memory",
    "stays below its memory limit",
    "use less: the cap holds for everything the process has, its libraries and files in /tmp included",
)
TIME = Check(
    "time",
    "answers within the time limit that it was given",
    "read the limit that you are told before the first move, look at the clock while you think, and stop in time",
)
QUIET = Check(
    "quiet",
    "says nothing while nobody asks it",
    "write the answer and nothing behind it; stop all threads that write before you answer",
)
ENDING = Check(
    "line-ending",
    "understands lines ended by CR LF and by LF alone",
    "strip both from the end of every line that you read",
)
END = Check(
    "end",
    "exits at the end of the game",
    "exit at once on the last command and at the end of stdin; who does not is killed",
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
    "it plays legally, but perhaps not the position that it was given: see that every stone lands on its "
    "square (x first, both from 0) and with its owner"
)
WIN = Check("win", "wins where one stone wins, with either colour", _READ_THE_POSITION)
BLOCK = Check("block", "blocks a four, with either colour", _READ_THE_POSITION)
RULE = Check(
    "rule",
    "knows what wins and what is forbidden under this rule",
    "read the rule that you are told (INFO rule, SETRULE): what wins under it, and what is forbidden",
)
OPENING = Check(
    "opening",
    "plays the opening stage of this policy in both seats",
    "the protocol's text says what may be answered at each step of the opening",
)

CHECKS = (START, TIME, MEMORY, END, *GAMES)
"""What is tried of every agent, in the order of a report."""

ASKED = (QUIET,)
"""What is tried besides where the game has questions."""
