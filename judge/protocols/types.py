"""The types between the referee and a protocol. See decision 0012.

The referee passes a stimulus and carries out the effects in order. A conversation opens with `Open`, `Ask` or `Close`;
it ends with `Ready`, `Answer` or the agent's exit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from judge.games.types import Event, Reply, Request
from judge.protocols.time_control import TimeControl


class Wait(StrEnum):
    """The policy defines deadlines and charges."""

    START = "start"
    """Readiness to play: outside the turn, inside the game."""
    TURN = "turn"
    """Charged to the turn and the game."""
    ROW = "row"
    """One of many lines, each with the whole limit (a set-up row)."""
    PERSON = "person"
    """A person without a clock: not charged."""
    SYNC = "sync"
    """Confirmation before a request: part of the turn, with a separate limit."""
    COURTESY = "courtesy"
    """An optional answer: short, free; without one, an `Alarm` and no fault."""
    CLOSE = "close"


@dataclass(slots=True)
class SeatLimits:
    """Limits of a seat. `memory_bytes` of 0: unlimited."""

    control: TimeControl
    memory_bytes: int
    folder: str | None = None
    ponder: bool = False
    """`Ponder` stimuli follow."""


@dataclass(slots=True)
class Open:
    """`names` are one word per seat."""

    seat: int
    game: dict[str, Any]
    names: tuple[str, str]
    limits: SeatLimits


@dataclass(slots=True)
class Clock:
    """Remaining milliseconds; may be negative or UNLIMITED_MS."""

    turn_ms: int
    """0: as fast as possible."""
    time_left_ms: int
    """Until the flag falls, if no time is added: main time, delay and byo-yomi."""
    main_ms: int | None = None
    """0 in byo-yomi. None: no limit of the game."""
    increment_ms: int = 0
    delay_ms: int = 0
    moves_to_go: int | None = None
    """Answers until the next period, of `40/300` or Canadian byo-yomi."""
    periods_left: int = 0
    period_ms: int = 0
    """Of a Japanese period; left in the Canadian one."""


@dataclass(slots=True)
class Tell:
    """An event that this seat may see."""

    event: Event


@dataclass(slots=True)
class Ask:
    """This seat must decide."""

    request: Request
    clock: Clock
    opponent: Clock | None = None


@dataclass(slots=True)
class Ponder:
    """The opponent is asked next. Effects: `Write` and `Note`."""

    clock: Clock
    opponent: Clock


@dataclass(slots=True)
class Bytes:
    """The agent's output; `clock` when it was read."""

    data: bytes
    clock: Clock


@dataclass(slots=True)
class Alarm:
    """The time of `WakeAt` or `WakeAfter`, or the end of a courtesy wait."""

    clock: Clock


@dataclass(slots=True)
class Close:
    """`result` is the game's result line, if any."""

    result: str = ""


Stimulus = Open | Tell | Ask | Ponder | Bytes | Alarm | Close


@dataclass(slots=True)
class Write:
    """Bytes for the agent's stdin."""

    data: bytes


@dataclass(slots=True)
class Await:
    """The same kind again keeps the deadline."""

    wait: Wait


@dataclass(slots=True)
class Ready:
    """`about`: the agent's description by keyword (`text`: free text)."""

    about: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Answer:
    """REFUSED may also end an opening conversation."""

    reply: Reply


@dataclass(slots=True)
class Note:
    """An agent's message, or ignored input with the reason."""

    text: str
    private: bool = False


@dataclass(slots=True)
class Search:
    """Unchecked search data by keyword (`depth`, `score`, `nps`, `pv`); the record has the latest values."""

    values: Mapping[str, str]


@dataclass(slots=True)
class WakeAt:
    """Alarm before the current deadline (STOP when time is short)."""

    before_deadline_ms: int


@dataclass(slots=True)
class WakeAfter:
    """Alarm after the last input, unless the deadline is earlier; replaces earlier ones. The wait is charged."""

    ms: int


@dataclass(slots=True)
class Respawn:
    """When this process has ended or its grace period is over."""


Effect = Write | Await | Ready | Answer | Note | Search | WakeAt | WakeAfter | Respawn


class AgentProtocol(Protocol):
    """One agent's side of a conversation."""

    @property
    def speaks(self) -> frozenset[type[Request] | type[Event]]:
        """Supported requests and events."""

    def feed(self, stimulus: Stimulus) -> Sequence[Effect]:
        """Effects in order."""
