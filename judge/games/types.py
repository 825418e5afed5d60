"""Types shared by games and players: request, reply, event, end of game. See decision 0012.

Values are never changed, but not frozen: creating frozen ones takes three times as long.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

NATURE = -1
"""For random choices, made from the spec's seed, a test's script, or a replayed log."""

SEATS = (0, 1)


class Verdict(StrEnum):
    """How a game ended, in one word. Public: used by records, `--json` and documentation."""

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


FAILURES = frozenset(
    {
        Verdict.ILLEGAL,
        Verdict.UNREADABLE,
        Verdict.START_TIME,
        Verdict.TURN_TIME,
        Verdict.MATCH_TIME,
        Verdict.MEMORY,
        Verdict.OUTPUT,
        Verdict.CRASH,
        Verdict.REFUSED,
    }
)
"""Failures. Fouls and resignations do not count."""

Opening = tuple[tuple[int, int], ...] | str
"""Squares, or a position in the game's notation; empty: the initial position."""

MAX_POSITION_CHARACTERS = 4096


def opening_options(opening: Opening) -> dict[str, Any]:
    """An option of the rules: `position` for a text, else `opening`; empty without one."""
    if isinstance(opening, str):
        return {"position": opening}
    return {"opening": [list(square) for square in opening]} if opening else {}


@dataclass(slots=True)
class Request:
    """`seat` must decide. Subclasses have the position."""

    seat: int


@dataclass(slots=True)
class Chance(Request):
    """One of `outcomes` equally likely outcomes, from 0; `seat` is NATURE."""

    outcomes: int


@dataclass(slots=True)
class Decision:
    """A seat's decision; each game derives its own."""


@dataclass(slots=True)
class Drawn(Decision):
    """The chosen outcome."""

    outcome: int


class ReplyKind(StrEnum):
    """How a protocol read an agent's bytes."""

    DECIDED = "decided"
    UNREADABLE = "unreadable"
    RESIGNED = "resigned"
    REFUSED = "refused"
    UNASKED = "unasked"


@dataclass(slots=True)
class Reply:
    """The decision, if readable, and the agent's bounded text."""

    kind: ReplyKind
    said: str = ""
    decision: Decision | None = None
    complaint: str = ""
    spoken: str = ""
    """The answer in the protocol's notation; empty: as in the text for records."""


def decided(decision: Decision, said: str = "") -> Reply:
    """A reply with `decision`."""
    return Reply(ReplyKind.DECIDED, said, decision)


@dataclass(slots=True)
class Event:
    """`only` is the single seat that may see it, if any."""

    only: int | None


@dataclass(slots=True)
class RuleResult:
    """`verdict` is WIN, DRAW, or FOUL against the seat that is not `winner`."""

    verdict: Verdict
    winner: int | None
    reason: str


@dataclass(slots=True)
class AgentFault:
    """`seat` lost by its agent's fault."""

    verdict: Verdict
    seat: int
    reason: str


@dataclass(slots=True)
class BothAtFault:
    """Two bad set-ups: there is no winner."""

    faults: tuple[AgentFault, AgentFault]

    @property
    def verdict(self) -> Verdict:
        """Seat 0's verdict; `faults` has both."""
        return self.faults[0].verdict

    @property
    def reason(self) -> str:
        return "; ".join(f"seat {fault.seat}: {fault.reason}" for fault in self.faults)


End = RuleResult | AgentFault | BothAtFault
"""Excludes faults of the judge."""


def faults_of(end: End) -> tuple[AgentFault, ...]:
    """At most one per seat, including a foul that loses."""
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
    """A position under rules, without clocks, bytes and agents' names.

    `requests` and `events` allow a protocol to be checked before play.
    """

    @property
    def requests(self) -> frozenset[type[Request]]:
        """All possible types."""

    @property
    def events(self) -> frozenset[type[Event]]:
        """All possible types."""

    @property
    def end(self) -> End | None:
        """None during the game."""

    @property
    def longest(self) -> int | None:
        """Maximum number of answers; None: no limit."""

    def describe(self) -> dict[str, Any]:
        """Plain data that a protocol needs before play (sizes, rule)."""

    def renegotiate(self) -> bool:
        """Change the terms of `describe()` after an agent refused them, if possible before any move.

        True: both agents are started again. False: the agent loses.
        """

    def pending(self) -> Request:
        """The awaited request, while `end` is None."""

    def apply(self, reply: Reply) -> Sequence[Event]:
        """Apply the answer to `pending()`. Return events in the order in which seats receive them.

        Raises RuntimeError after the end and TypeError for another game's decision.
        """

    def forfeit(self, fault: AgentFault) -> Sequence[Event]:
        """Record a fault outside the rules (time, crash, memory, output).

        The seat is not asked again. Usually the game ends; a set-up phase may still ask the other seat.
        """

    def result(self, names: tuple[str, str]) -> str:
        """Result line of the game's own manager; may be empty."""
