r"""Whole conversations as text. In addition to the lines of `judge.testing.Conversation`:

* options.line_bytes = 64     TOML, before the first other line: options of the protocol, or `game` as it is opened
@ greeted                     a script of this name
> BOARD | 7,7,1 | DONE        several lines that the judge must write
< BESTMOVE 78 => 7,7          a line of the agent, and `= 7,7`
? place 7,7 => TURN 7,7       the judge asks, and what it must write, which may be left out
! colours 1 => SETRULE        the judge tells of an event
! alarm                       also `open` (a new process), `ponder` and `close`
= nothing                     no effect, until now

Of five in a row: `? place`, `lay`, `swap`, `offer` and `choose` (squares may be AGI's: `7868`), and `! colours BLACK`
and `! stone X,Y SEAT`.
"""

import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from judge.games.gomoku import requests as gomoku
from judge.games.types import Event, Request
from judge.protocols.agi import read_squares
from judge.protocols.types import AgentProtocol, Ask, Clock, Close, Open, Ponder, Stimulus, Tell
from judge.testing import Conversation

CLOCK = Clock(5000, 90000)


def settings(script: str) -> tuple[dict[str, Any], str]:
    """The values at the head of a script, and the script without them."""
    lines = [line.strip() for line in script.splitlines()]
    head = [line.removeprefix("* ") for line in lines if line.startswith("* ")]
    return tomllib.loads("\n".join(head)), "\n".join(line for line in lines if not line.startswith("* "))


def squares(text: str) -> tuple[gomoku.Square, ...]:
    """Of `7,7`, or of `7868` as AGI has it."""
    if "," not in text:
        return read_squares(text.encode())
    x, y = text.split(",")
    return ((int(x), int(y)),)


def request(text: str, side: int = 15) -> gomoku.StonesRequest:
    """The request of a line; black has the first of the stones, and the seats have their colours."""
    kind, *words = text.split()
    named = dict(word.split("=") for word in words if "=" in word)
    stones = [at for word in words if "=" not in word for at in squares(word)]
    placed = [(x, y, number & 1) for number, (x, y) in enumerate(stones)]
    colour = int(named.get("colour", len(stones) & 1))
    opening = int(named.get("opening", 0))
    match kind:
        case "place":
            dead = set(squares(named["dead"])) if "dead" in named else ()
            return gomoku.PlaceStone(int(named.get("seat", colour)), placed, opening, side, side, colour, dead)
        case "lay":
            return gomoku.LayStones(0, placed, opening, side, side, 0, 3)
        case "swap":
            return gomoku.AnswerSwap(1, placed, opening, side, side, colour, int(named.get("adds", 0)))
        case "offer":
            offered, free = squares(named.get("offered", "")), squares(named.get("free", ""))
            return gomoku.OfferFifths(0, placed, opening, side, side, 0, 2, offered, free)
        case "choose":
            return gomoku.ChooseFifth(1, placed, opening, side, side, 1, squares(named["offers"]))
    raise ValueError(text)


def event(text: str) -> Event:
    """The event of a line."""
    match text.split():
        case ["colours", black]:
            return gomoku.ColoursSettled(None, int(black))
        case ["stone", at, seat]:
            ((x, y),) = squares(at)
            return gomoku.StonePlaced(None, x, y, int(seat), int(seat))
    raise ValueError(text)


class Talk(Conversation):
    """Plays scripts."""

    def __init__(
        self,
        protocol: AgentProtocol,
        opening: Open,
        line_end: str = "\n",
        *,
        clock: Clock = CLOCK,
        scripts: Mapping[str, str] | None = None,
        requests: Callable[[str], Request] = request,
        events: Callable[[str], Event] = event,
    ) -> None:
        """`scripts` are those of `@`; `requests` and `events` read the lines of `?` and of `!`."""
        super().__init__(protocol, line_end)
        self._opening, self._clock, self._scripts = opening, clock, scripts or {}
        self._requests, self._events = requests, events
        self.feed(opening)

    def plays(self, script: str) -> None:
        """Raises AssertionError at the first effect that the script does not have, or that it has alone."""
        lines: list[str] = []
        for line in self._expanded(script):
            mark, _, text = line.partition(" ")
            if mark in ("?", "??", "!") or line == "= nothing":
                if lines or line == "= nothing":
                    self.goes("\n".join(lines))
                asked, arrow, written = text.partition(" => ")
                self._give(mark, asked)
                lines = [f"> {each}" for each in written.split(" | ")] if arrow else []
            elif mark == ">":
                lines += line.replace(" | ", "\n> ").splitlines()
            else:
                lines += line.replace(" => ", "\n= ").splitlines()
        self.goes("\n".join(lines))

    def ask(self, asked: Request) -> None:
        """Make a request."""
        self.feed(Ask(asked, self._clock))

    def _expanded(self, script: str) -> list[str]:
        lines = []
        for line in filter(None, map(str.strip, script.splitlines())):
            lines += self._expanded(self._scripts[line[2:]]) if line.startswith("@ ") else [line]
        return lines

    def _give(self, mark: str, text: str) -> None:
        if mark == "?":
            self.ask(self._requests(text))
        elif mark == "??":
            self.feed(Ask(self._requests(text), self._clock))
        elif mark == "!" and text == "alarm":
            self.alarm()
        elif mark == "!":
            self.feed(self._stimulus(*text.split(" ", 1)))

    def _stimulus(self, word: str, text: str = "") -> Stimulus:
        match word:
            case "open":
                return self._opening
            case "ponder":
                return Ponder(self._clock, self._clock)
            case "close":
                return Close(text)
        return Tell(self._events(f"{word} {text}"))
