"""The events of a contest's event log.

A line is one event as JSON; `seq` counts lines from 1. Fields without a value are omitted. Agents' texts are short and
printable, and must be escaped for display. `game` is the number in the schedule; `attempt` counts starts, and each
attempt has complete events.
"""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, TypeAdapter

from judge.base.parsing import FrozenModel

Times = tuple[float | None, float | None]
"""Milliseconds by seat; None without a limit."""


def _moment(text: str) -> str:
    datetime.fromisoformat(text)
    return text


def _both(seats: tuple[int, int]) -> tuple[int, int]:
    if sorted(seats) != [0, 1]:
        raise ValueError("not both seats")
    return seats


Seat = Annotated[int, Field(ge=0, le=1)]

Seats = Annotated[tuple[int, int], AfterValidator(_both)]
"""Seats of sides 0 and 1."""

Moment = Annotated[str, AfterValidator(_moment)]
"""Such as `2024-01-31T18:00:00.000Z`."""


class _Event(FrozenModel):
    seq: int = 0
    """Line number, from 1; 0 before it is written."""


class _JournalEvent(_Event):
    journal: int | None = None


# --- the contest -----------------------------------------------------------------------------------------------------


class Opened(_Event):
    """The log begins. A rebuilt log has a new `log` name and new numbers."""

    type: Literal["opened"] = "opened"
    log: str
    contest: str
    about: str
    game_name: str
    policy: str
    turn_ms: int
    match_ms: int
    """The limits of a turn and of a game; 0: unlimited."""
    control: str | None = None
    """The time control, such as `60+0.6`."""
    at: str


class EnteredAgent(FrozenModel):
    """An agent of the contest; `agent` counts from 1 and names its page."""

    agent: int
    name: str
    author: str
    rank: int
    title: str = ""
    """Display name; empty: `name`."""


class Entered(_JournalEvent):
    """The agents of the contest."""

    type: Literal["entered"] = "entered"
    at: str
    agents: tuple[EnteredAgent, ...]


class NextGame(FrozenModel):
    """A scheduled game."""

    game: int
    round: int
    table: int
    first: str
    second: str
    stage: str = ""


class Scheduled(_JournalEvent):
    """New scheduled games."""

    type: Literal["scheduled"] = "scheduled"
    at: str
    games: tuple[NextGame, ...]


class StateChanged(_JournalEvent):
    """The contest runs, is paused, or was stopped."""

    type: Literal["state"] = "state"
    at: str
    state: Literal["open", "paused", "stopped"]
    reason: str


class ResultsWithheld(_JournalEvent):
    """Games of round `first` and later ones have no events until they are revealed; without it, all are revealed."""

    type: Literal["withheld"] = "withheld"
    at: str
    first: int | None = None


class Disqualified(_JournalEvent):
    """An agent was disqualified: its games do not count."""

    type: Literal["disqualified"] = "disqualified"
    at: str
    agent: str = ""
    """Its name; empty in older logs."""
    reason: str


class Withdrawn(_JournalEvent):
    """An agent withdrew. `is_annulled`: its games do not count and are cancelled."""

    type: Literal["withdrawn"] = "withdrawn"
    at: str
    agent: str
    is_annulled: bool
    reason: str


class StandingLine(FrozenModel):
    """A line of the standings."""

    place: int
    agent: str
    points: float
    games: int
    wins: int
    draws: int
    losses: int
    stage: str = ""
    rating: float | None = None
    """If places depend on it."""


class TableChanged(_Event):
    """The standings have changed."""

    type: Literal["table"] = "table"
    at: str
    lines: tuple[StandingLine, ...]


# --- a game ----------------------------------------------------------------------------------------------------------


class _OfGame(_JournalEvent):
    game: int
    attempt: int


class GameStarted(_OfGame):
    """A worker got a game and prepares it."""

    type: Literal["started"] = "started"
    at: Moment
    first: str
    second: str


class RunningClock(FrozenModel):
    """The running clock: its seat, its start (Unix milliseconds on the judge's clock), and the remaining times then."""

    seat: Seat
    since_ms: int
    turn_ms: float | None
    left_ms: Times


class PieceShown(FrozenModel):
    """A piece on a square; see `judge.formats.views.Token`. A face that is not public begins with `?`."""

    x: int
    y: int
    side: int
    number: int = 0
    faces: tuple[str, ...] = ()
    shows: int | None = None
    is_dead: bool = False


class MarkedSquare(FrozenModel):
    """A marked square, and the reason."""

    x: int
    y: int
    mark: str


class Board(FrozenModel):
    """A board before the first move; see `judge.formats.views.BoardView`."""

    surface: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    sides: tuple[str, str]
    seats: Seats
    blocked: tuple[tuple[int, int], ...] = ()
    pieces: tuple[PieceShown, ...] = ()


class Playing(_OfGame):
    """The agents have started. Without a `board` it is hidden until the game is over.

    A higher `play` cancels the attempt's previous events: a machine was lost, or its moves differed from the record.
    `set_moves`: number of the opening's moves, which move numbers include.
    """

    type: Literal["playing"] = "playing"
    at: str
    play: int = 1
    set_moves: int = 0
    board: Board | None = None
    left_ms: Times


class TurnBegun(_OfGame):
    """A clock has started without a preceding move. Without a `clock` it has stopped without an answer: a failure."""

    type: Literal["turn"] = "turn"
    clock: RunningClock | None = None


class SearchUpdate(_OfGame):
    """The latest values of an agent's search, and its messages since its last move."""

    type: Literal["search"] = "search"
    seat: Seat
    search: dict[str, str]
    messages: tuple[str, ...] = ()


class MoveMade(_OfGame):
    """An answer: its charged time, the remaining times, and the changes on the board.

    `emptied` and `pieces` are the changed squares, `marks` all marks. `seats` are the players of sides 0 and 1 after a
    swap.
    """

    type: Literal["move"] = "move"
    ply: int
    at: str
    seat: Seat
    said: str
    notation: str
    charged_ms: float
    memory_bytes: int | None = None
    left_ms: Times
    search: dict[str, str] = Field(default_factory=dict)
    messages: tuple[str, ...] = ()
    emptied: tuple[tuple[int, int], ...] = ()
    pieces: tuple[PieceShown, ...] = ()
    marks: tuple[MarkedSquare, ...] = ()
    seats: Seats | None = None
    clock: RunningClock | None = None


class Ended(_OfGame):
    """A game has its final result. `record` is its record's path on the site."""

    type: Literal["ended"] = "ended"
    at: Moment
    verdict: str
    winner: Seat | None = None
    """A seat."""
    score: str
    outcome: str
    moves: int
    record: str


class Unscored(_OfGame):
    """An attempt that does not count: void, interrupted or annulled."""

    type: Literal["void"] = "void"
    at: str
    state: Literal["void", "abandoned", "annulled"]
    reason: str


AnyEvent = (
    Opened
    | Entered
    | Scheduled
    | StateChanged
    | ResultsWithheld
    | Disqualified
    | Withdrawn
    | TableChanged
    | GameStarted
    | Playing
    | TurnBegun
    | SearchUpdate
    | MoveMade
    | Ended
    | Unscored
)
"""The types of events."""

_ADAPTER: TypeAdapter[AnyEvent] = TypeAdapter(Annotated[AnyEvent, Field(discriminator="type")])


def write_event(event: AnyEvent, seq: int) -> bytes:
    """The line of an event in ASCII, without line end."""
    numbered = event.model_copy(update={"seq": seq})
    return numbered.__pydantic_serializer__.to_json(numbered, ensure_ascii=True, exclude_none=True)


def read_event(line: bytes) -> AnyEvent:
    """Parse a line. Raises ValueError if it is invalid."""
    return _ADAPTER.validate_json(line)
