"""Talks to a compiled house agent over its pipes, as its interface does."""

import os
import re
import select
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

SILENCE_S = 60
"""Seconds without a byte after which a test gives up; an agent that lives is never so slow."""

Square = tuple[int, int]
"""x from the left and y, from 0."""


@dataclass
class Talk:
    """A running agent. Ends with `close`."""

    process: "subprocess.Popen[bytes]"
    unread: bytes = b""
    heard: list[str] = field(default_factory=list)
    """Every line so far."""

    def say(self, *lines: str, end: str = "\n") -> None:
        """Write lines."""
        assert self.process.stdin is not None
        self.process.stdin.write("".join(line + end for line in lines).encode())
        self.process.stdin.flush()

    def hear(self) -> str:
        """The next line without its end; EOFError where the agent has closed its pipe."""
        assert self.process.stdout is not None
        while b"\n" not in self.unread:
            ready, _, _ = select.select([self.process.stdout], [], [], SILENCE_S)
            assert ready, f"silent after {self.heard[-5:]}"
            chunk = os.read(self.process.stdout.fileno(), 1 << 16)
            if not chunk:
                raise EOFError
            self.unread += chunk
        line, self.unread = self.unread.split(b"\n", 1)
        self.heard.append(line.decode().rstrip("\r"))
        return self.heard[-1]

    def hear_until(self, word: str) -> str:
        """The next line that begins with `word`."""
        while not (line := self.hear()).startswith(word):
            pass
        return line

    def answer(self) -> str:
        """The next line of Gomocup that is more than a message."""
        while (line := self.hear()).startswith("MESSAGE"):
            pass
        return line

    def ask(self, *lines: str) -> str:
        """Write lines of Gomocup and wait for the answer."""
        self.say(*lines, end="\r\n")
        return self.answer()

    def peak_memory_bytes(self) -> int:
        """The most memory that the process ever had at once."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) * 1024

    def close(self) -> None:
        """End the process, whatever it does."""
        self.process.kill()
        self.process.communicate()


def best(talk: Talk, *lines: str) -> str:
    """Say lines of AGI; what follows the next BESTMOVE."""
    talk.say(*lines)
    return talk.hear_until("BESTMOVE ").split()[1]


def start(program: Path) -> Talk:
    """Start an agent."""
    return Talk(subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE))


def squares(text: str) -> list[Square]:
    """`h8i9` as squares: letters are x, numbers count y from 1."""
    return [(ord(x) - ord("a"), int(y) - 1) for x, y in re.findall(r"([a-o])(\d+)", text)]


def name_of(square: Square) -> str:
    """A square as `h8`."""
    return f"{chr(ord('a') + square[0])}{square[1] + 1}"


def square_of(answer: str) -> Square:
    """The square of Gomocup's `7,8`."""
    x, y = answer.split(",")
    return int(x), int(y)


def board(stones: Iterable[Square]) -> list[str]:
    """The lines of BOARD for stones in order of play, for the side to move."""
    played = list(stones)
    to_move = len(played) % 2
    rows = [f"{x},{y},{1 if i % 2 == to_move else 2}" for i, (x, y) in enumerate(played)]
    return ["BOARD", *rows, "DONE"]


def agi(square: Square) -> str:
    """A square as AGI writes it."""
    return f"{square[1]:X}{square[0] + 1:X}"


def from_agi(text: str) -> list[Square]:
    """AGI's squares."""
    return [(int(text[i + 1], 16) - 1, int(text[i], 16)) for i in range(0, len(text), 2)]
