"""The events of a contest's log: everything public, at the moment when it becomes public.

A line of the log is one event as JSON, and `seq` counts the lines from 1. Fields without a value are left out. Texts of
agents are printable and short; whoever shows them escapes them.

`game` is the game's number in the schedule, and `attempt` counts how often it was begun: a game that is void or was
interrupted is played again as another attempt, whose events repeat nothing of the one before.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

Times = tuple[float | None, float | None]
"""Milliseconds by seat; None where there is no limit."""


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Event(_Value):
    seq: int = 0
    """Its line in the log, from 1; 0 before it is written."""


class _JournalEvent(_Event):
    """An event that follows from a line of the contest's journal."""

    journal: int | None = None
    """The number of that line."""


# --- the contest -----------------------------------------------------------------------------------------------------


class Opened(_Event):
    """The log begins. `log` names it: a log that was rebuilt has another name, and other numbers."""

    type: Literal["opened"] = "opened"
    log: str
    contest: str
    about: str
    game_name: str
    policy: str
    turn_ms: int
    match_ms: int
    """The limits of a turn and of a game; 0: none."""
    at: str


class EnteredAgent(_Value):
    """An agent of the contest; `agent` counts from 1, as its page does."""

    agent: int
    name: str
    author: str
    rank: int


class Entered(_JournalEvent):
    """Who takes part."""

    type: Literal["entered"] = "entered"
    at: str
    agents: tuple[EnteredAgent, ...]


class NextGame(_Value):
    """A game of the schedule."""

    game: int
    round: int
    table: int
    first: str
    second: str
    stage: str = ""
    """What its group or league is called; empty if it is in none."""


class Scheduled(_JournalEvent):
    """Games that will be played."""

    type: Literal["scheduled"] = "scheduled"
    at: str
    games: tuple[NextGame, ...]


class StateChanged(_JournalEvent):
    """The contest goes on, is paused, or was stopped."""

    type: Literal["state"] = "state"
    at: str
    state: Literal["open", "paused", "stopped"]
    reason: str


class Disqualified(_JournalEvent):
    """An agent is out: its games do not count."""

    type: Literal["disqualified"] = "disqualified"
    at: str
    agent: str = ""
    """Its name; empty in older logs."""
    reason: str
    """The agent's name and why."""


class StandingLine(_Value):
    """A line of the standings."""

    place: int
    agent: str
    points: float
    games: int
    wins: int
    draws: int
    losses: int
    stage: str = ""
    """What the group or league is called that the agent has reached; empty if there are none."""


class TableChanged(_Event):
    """The standings are others than before."""

    type: Literal["table"] = "table"
    at: str
    lines: tuple[StandingLine, ...]


# --- a game ----------------------------------------------------------------------------------------------------------


class _OfGame(_JournalEvent):
    game: int
    attempt: int


class GameStarted(_OfGame):
    """A game was given to a worker, which makes it ready."""

    type: Literal["started"] = "started"
    at: str
    first: str
    second: str


class RunningClock(_Value):
    """The clock that runs: of which seat, since when (milliseconds of Unix time by the judge's clock), and what was
    left then of the turn and of both games."""

    seat: int
    since_ms: int
    turn_ms: float | None
    left_ms: Times


class PieceShown(_Value):
    """What stands on a square; see `judge.records.views.Token`. A face that is not known to all has a `?` in front."""

    x: int
    y: int
    side: int
    number: int = 0
    faces: tuple[str, ...] = ()
    shows: int | None = None
    is_dead: bool = False


class MarkedSquare(_Value):
    """A square that is pointed out, and why."""

    x: int
    y: int
    mark: str


class Board(_Value):
    """A board before the first move; see `judge.records.views.BoardView`."""

    surface: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    sides: tuple[str, str]
    seats: tuple[int, int]
    blocked: tuple[tuple[int, int], ...] = ()
    pieces: tuple[PieceShown, ...] = ()


class Playing(_OfGame):
    """The agents are started. Without a `board` the game shows none before it is over.

    A higher `play` begins the attempt again, and cancels its events before: a machine was lost, or its moves were not
    those of the record.
    """

    type: Literal["playing"] = "playing"
    at: str
    play: int = 1
    board: Board | None = None
    left_ms: Times


class TurnBegun(_OfGame):
    """A clock runs, and no move was just made."""

    type: Literal["turn"] = "turn"
    clock: RunningClock


class SearchUpdate(_OfGame):
    """The latest values of an agent's search, and its messages since its last move."""

    type: Literal["search"] = "search"
    seat: int
    search: dict[str, str]
    messages: tuple[str, ...] = ()


class MoveMade(_OfGame):
    """An answer: the time charged for it, what is left then, and what it changed on the board.

    Squares of `emptied` are empty now, those of `pieces` have these; `marks` are all marks of the board. `seats` says
    who plays side 0 and side 1, if an opening has just changed it.
    """

    type: Literal["move"] = "move"
    ply: int
    """From 1."""
    at: str
    seat: int
    said: str
    notation: str
    """The move in the game's own words, else as it was said."""
    charged_ms: float
    memory_bytes: int | None = None
    """What the agent's box used after it, where that is known."""
    left_ms: Times
    search: dict[str, str] = Field(default_factory=dict)
    messages: tuple[str, ...] = ()
    emptied: tuple[tuple[int, int], ...] = ()
    pieces: tuple[PieceShown, ...] = ()
    marks: tuple[MarkedSquare, ...] = ()
    seats: tuple[int, int] | None = None
    clock: RunningClock | None = None


class Ended(_OfGame):
    """A game has its result, which counts. `record` is the path of its record on the site."""

    type: Literal["ended"] = "ended"
    at: str
    verdict: str
    winner: int | None = None
    """A seat."""
    score: str
    outcome: str
    """Who won and why, in a sentence."""
    moves: int
    record: str


class Unscored(_OfGame):
    """An attempt that does not count: it is void, was interrupted, or its result was annulled."""

    type: Literal["void"] = "void"
    at: str
    state: Literal["void", "abandoned", "annulled"]
    reason: str


AnyEvent = (
    Opened
    | Entered
    | Scheduled
    | StateChanged
    | Disqualified
    | TableChanged
    | GameStarted
    | Playing
    | TurnBegun
    | SearchUpdate
    | MoveMade
    | Ended
    | Unscored
)
"""What a line of the log may be."""

LoggedEvent = Annotated[AnyEvent, Field(discriminator="type")]
_ADAPTER: TypeAdapter[AnyEvent] = TypeAdapter(LoggedEvent)


def write_event(event: AnyEvent, seq: int) -> bytes:
    """The line of an event, without its end; ASCII."""
    numbered = event.model_copy(update={"seq": seq})
    return numbered.__pydantic_serializer__.to_json(numbered, ensure_ascii=True, exclude_none=True)


def read_event(line: bytes) -> AnyEvent:
    """The event of a line. Raises ValueError if it is none."""
    return _ADAPTER.validate_json(line)
