"""The plain types between a game and its players: request, reply, event, and how a game ends.

A game never talks to an agent and a protocol never knows a rule; they meet here. Nothing in this module does I/O.
Nobody changes one of these after it is made. They are not frozen all the same: dozens are made for every move, and a
frozen one takes three times as long to make.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

NATURE = -1
"""The seat that answers chance: from the spec's seed, from a script in a test, from a log in a replay."""

SEATS = (0, 1)


class Verdict(StrEnum):
    """How a game ended, in one word. Public: records, `--json` and the documentation use it."""

    WIN = "win"
    DRAW = "draw"
    FOUL = "foul"
    ILLEGAL = "illegal"
    UNREADABLE = "unreadable"
    RESIGNED = "resigned"
    START_TIME = "start-time"
    TURN_TIME = "turn-time"
    MATCH_TIME = "match-time"
    MEMORY = "memory"
    OUTPUT = "output"
    CRASH = "crash"
    REFUSED = "refused"
    VOID = "void"


@dataclass(slots=True)
class Request:
    """`seat` must decide something; each game derives what, with the position that a protocol may show."""

    seat: int


@dataclass(slots=True)
class Chance(Request):
    """Nature must choose one of `outcomes` equally likely outcomes, numbered from 0; `seat` is NATURE."""

    outcomes: int


@dataclass(slots=True)
class Decision:
    """What a seat decided; each game derives its own (a stone, a set-up row, a move, a selection)."""


@dataclass(slots=True)
class Drawn(Decision):
    """What nature chose: the number of the outcome."""

    outcome: int


class ReplyKind(StrEnum):
    """How a protocol read an agent's bytes."""

    DECIDED = "decided"
    UNREADABLE = "unreadable"
    RESIGNED = "resigned"
    REFUSED = "refused"
    UNASKED = "unasked"
    """It wrote without a request, which its protocol forbids."""


@dataclass(slots=True)
class Reply:
    """An answer to a request: the decision, if one could be read, and the bounded text as it was spoken."""

    kind: ReplyKind
    said: str = ""
    decision: Decision | None = None
    complaint: str = ""
    """What it said before that it cannot do, as it was spoken, bounded and public; often why the answer is wrong."""
    spoken: str = ""
    """The answer in the protocol's own notation, where that is another than `said`."""


def decided(decision: Decision, said: str = "") -> Reply:
    """The reply that carries `decision`."""
    return Reply(ReplyKind.DECIDED, said, decision)


@dataclass(slots=True)
class Event:
    """Something that happened. `only` names the one seat that may see it; None: both may."""

    only: int | None


@dataclass(slots=True)
class RuleResult:
    """The rules ended the game: `verdict` is WIN or DRAW, or FOUL against the seat that is not `winner`."""

    verdict: Verdict
    winner: int | None
    reason: str


@dataclass(slots=True)
class AgentFault:
    """`seat` lost by what its agent did; the other seat wins."""

    verdict: Verdict
    seat: int
    reason: str


@dataclass(slots=True)
class BothAtFault:
    """Both seats lost by what their agents did (two bad set-ups): there is no winner. In order of seats."""

    faults: tuple[AgentFault, AgentFault]

    @property
    def verdict(self) -> Verdict:
        """That of seat 0; each seat has its own in `faults`."""
        return self.faults[0].verdict

    @property
    def reason(self) -> str:
        """Both reasons."""
        return "; ".join(f"seat {fault.seat}: {fault.reason}" for fault in self.faults)


End = RuleResult | AgentFault | BothAtFault
"""How a game ended, by its rules or by an agent; the judge's own faults are not a game's business."""


def faults_of(end: End) -> tuple[AgentFault, ...]:
    """The faults by which a game ended, a seat each at most: a foul that the rules count as a loss is one too."""
    match end:
        case AgentFault():
            return (end,)
        case BothAtFault(faults=faults):
            return faults
        case RuleResult(verdict=Verdict.FOUL, winner=int(winner)):
            return (AgentFault(Verdict.FOUL, 1 - winner, end.reason),)
        case _:
            return ()


class Game(Protocol):
    """A position under rules: no clock, no bytes, no names of agents.

    `requests` and `events` list every type the game may use, so that a protocol can be checked before play.
    """

    @property
    def requests(self) -> frozenset[type[Request]]:
        """Every type of request that the game may make."""

    @property
    def events(self) -> frozenset[type[Event]]:
        """Every type of event that may happen in it."""

    @property
    def end(self) -> End | None:
        """How the game ended; None before its end."""

    @property
    def longest(self) -> int | None:
        """The largest number of answers that it may ask for; None if the rules have no limit."""

    def describe(self) -> dict[str, Any]:
        """What a protocol must know before play (sizes, rule), as plain data."""

    def renegotiate(self) -> bool:
        """An agent refused to start on the terms of `describe()`: change them if there are others and no move was made.

        True: there are new terms, and both agents are started again. False: the agent loses by its refusal.
        """

    def pending(self) -> Request:
        """The one decision the game waits for. Only while `end` is None."""

    def apply(self, reply: Reply) -> Sequence[Event]:
        """Apply the answer to `pending()`; the events, in the order in which the seats receive them."""

    def forfeit(self, fault: AgentFault) -> Sequence[Event]:
        """Take it that an agent failed outside the rules (time, crash, memory, output).

        The seat is never asked again. As a rule the game ends here; a set-up phase may still ask the other seat.
        """

    def result(self, names: tuple[str, str]) -> str:
        """The line with which the field's own manager reports the end, given the seats' names; empty if it has none."""
