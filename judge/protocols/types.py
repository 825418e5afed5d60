"""Stimulus in, effects out: the plain types between the referee and a protocol, which does no I/O and reads no clock.

A protocol is a state machine. The referee feeds it what happened (a stimulus) and carries out what it returns
(effects), in order. Every conversation is opened by `Open`, `Ask` or `Close`; it ends with `Ready` (after `Open`),
with `Answer` (after `Ask`) or with the agent's exit (after `Close`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from judge.games.types import Event, Reply, Request

UNLIMITED_MS = 2147483647
"""The time that an agent is sent if there is no limit (Gomoku AI protocol, INFO time_left)."""


class Wait(StrEnum):
    """What the judge waits for; the policy gives each a deadline and says whether it is charged."""

    START = "start"
    """To be ready to play: outside the turn, inside the game, a deadline of its own."""
    TURN = "turn"
    """To decide a turn: charged to the turn and to the game."""
    ROW = "row"
    """One line of many, each with the whole reply limit (a set-up row)."""
    PERSON = "person"
    """The decision of a person who plays without a clock: a deadline of its own, not charged."""
    SYNC = "sync"
    """To say that it listens, before a request is made: outside the turn, inside the game, a deadline of its own."""
    COURTESY = "courtesy"
    """An answer that may never come: short, free, and its absence is an `Alarm`, never a fault."""
    CLOSE = "close"
    """To exit after the game."""


# --- stimuli ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class ToldLimits:
    """The limits that an agent is sent, in milliseconds and bytes; 0 means none (turn: as fast as possible)."""

    turn_ms: int
    match_ms: int
    memory_bytes: int
    folder: str | None = None


@dataclass(slots=True)
class Open:
    """The agent runs: say what the protocol says before any request. `names` are one word a seat."""

    seat: int
    game: dict[str, Any]
    names: tuple[str, str]
    limits: ToldLimits


@dataclass(slots=True)
class Clock:
    """What is left now, in milliseconds: the limit of a turn, and of the game `time_left_ms`, all that is charged by
    now taken off; it may be negative, or UNLIMITED_MS."""

    turn_ms: int
    time_left_ms: int


@dataclass(slots=True)
class Tell:
    """Something happened that this seat may see."""

    event: Event


@dataclass(slots=True)
class Ask:
    """This seat must decide."""

    request: Request
    clock: Clock


@dataclass(slots=True)
class Bytes:
    """The agent wrote to its stdout; `clock` is as it was read."""

    data: bytes
    clock: Clock


@dataclass(slots=True)
class Eof:
    """The agent's stdout ended."""


@dataclass(slots=True)
class Alarm:
    """The moment asked for by `WakeAt` or `WakeAfter` is there, or a courtesy answer did not come."""

    clock: Clock


@dataclass(slots=True)
class Close:
    """The game is over; say goodbye. `result` is the game's own result line, where it has one."""

    result: str = ""


Stimulus = Open | Tell | Ask | Bytes | Eof | Alarm | Close

# --- effects ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Write:
    """Bytes for the agent's stdin."""

    data: bytes


@dataclass(slots=True)
class Await:
    """From here on the agent is waited for because of `wait`; the same kind again goes on with the same deadline."""

    wait: Wait


@dataclass(slots=True)
class Ready:
    """The opening conversation is over; `about` is the agent's description of itself by keyword (`text`: free text)."""

    about: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Answer:
    """The request is answered. A REFUSED reply may also end an opening conversation."""

    reply: Reply


@dataclass(slots=True)
class Note:
    """Worth keeping: a message of the agent, or what was set aside and why. Public unless `private`."""

    text: str
    private: bool = False


@dataclass(slots=True)
class Search:
    """What the agent reported of its search, by keyword (`depth`, `score`, `nps`, `pv`): text, unchecked.

    The record has the latest value of each keyword with the answer.
    """

    values: Mapping[str, str]


@dataclass(slots=True)
class WakeAt:
    """Feed `Alarm` this many milliseconds before the present deadline (STOP when time is short)."""

    before_deadline_ms: int


@dataclass(slots=True)
class WakeAfter:
    """Feed `Alarm` this many milliseconds after what was just heard, unless the deadline comes first.

    The wait goes on and is charged. A later wish to be woken takes the place of an earlier one.
    """

    ms: int


@dataclass(slots=True)
class Respawn:
    """Start the agent again when this process, which was told to end, has ended or its grace is over: the effects after
    this one are for the new process."""


Effect = Write | Await | Ready | Answer | Note | Search | WakeAt | WakeAfter | Respawn


class AgentProtocol(Protocol):
    """One agent's side of a conversation."""

    @property
    def speaks(self) -> frozenset[type[Request] | type[Event]]:
        """The requests and events that it can put into words."""

    def feed(self, stimulus: Stimulus) -> Sequence[Effect]:
        """Take what happened, return what to do, in order."""
