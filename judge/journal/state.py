"""The lines of a journal, and the state of a contest: a fold of their events."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from judge.base.errors import InputError
from judge.base.parsing import canonical_json, parse
from judge.journal.codec import Event, Line, decode
from judge.journal.events import (
    PUBLIC,
    Abandoned,
    Accepted,
    AdmissionsFrozen,
    AdmissionsReopened,
    Annulled,
    AttemptEvent,
    Created,
    Disqualified,
    Entered,
    Paused,
    Resumed,
    Revealed,
    RoundPlayed,
    Scheduled,
    SeasonEnded,
    SetAside,
    StandingsFrozen,
    Started,
    Stopped,
    SubmissionChanged,
    Superseded,
    Voided,
    Withdrawn,
)
from judge.journal.sentences import text_of

EntryChange = Disqualified | Withdrawn | Entered


@dataclass(frozen=True)
class JournalLine:
    """A line of the journal."""

    at: str
    event: str
    game: str | None
    attempt: int | None
    data: str
    """The other fields of the event (`judge.journal.codec`)."""
    digest: str | None = None
    """SHA-256 of a record's public part, a document, an upload, a schedule."""
    number: int | None = None
    """Leaf number, from 0; None without a log."""
    who: str | None = None
    """The order's organiser, not published, if known."""
    withheld: int | None = None
    """The round with which it becomes public; None: it is public."""
    salt: str | None = None
    """Random, of a line that is or was withheld: its leaf cannot be guessed by its hash."""

    @cached_property
    def change(self) -> Event:
        return decode(Line(self.event, self.data, self.game, self.attempt))

    @property
    def text(self) -> str:
        """The sentence of the event in English."""
        return text_of(self.change)

    def is_withheld(self, first: int | None) -> bool:
        """Whether it is not public while the results from round `first` on are withheld."""
        return first is not None and self.withheld is not None and self.withheld >= first

    @property
    def leaf(self) -> bytes:
        """Canonical JSON of the line."""
        before = canonical_json({"at": self.at, "attempt": self.attempt})
        salt = {} if self.salt is None else {"salt": self.salt}
        after = canonical_json({"digest": self.digest, "event": self.event, "game": self.game, **salt})
        return f'{before[:-1]},"data":{self.data},{after[1:]}'.encode()


def read_leaf(leaf: bytes) -> JournalLine | None:
    """The line of a leaf; None if no line has this leaf."""
    try:
        values = json.loads(leaf)
        line = parse(JournalLine, {**values, "data": canonical_json(values["data"])}, "a leaf")
        return line if line.leaf == leaf else None
    except (InputError, ValueError, TypeError, KeyError, RecursionError):
        return None


def withheld_round(event: Event, played_in: int | None, first: int, latest: int) -> int | None:
    """The round with which a line becomes public, if results are withheld from round `first` on; None: it is public.

    `played_in`: the round of its games, None without games. `latest`: the greatest round of the withheld lines so far.
    """
    if isinstance(event, PUBLIC):
        return None
    if played_in is None:
        return max(first, latest)
    return played_in if played_in >= first else None


@dataclass(slots=True)
class GameAttempts:
    """The attempts of a game; `last` is 0 before the first one. `counted`: the attempt whose result counts."""

    last: int = 0
    running: int | None = None
    counted: int | None = None
    ended: dict[int, tuple[AttemptEvent, str | None]] = field(default_factory=dict)
    """The last event of each attempt, and the digest of its record."""


class ContestState:
    """A contest after the events given to `apply`. It knows neither terms nor tables."""

    def __init__(self) -> None:
        self.is_created = False
        self.activity: Resumed | Paused | Stopped = Resumed("")
        """Whether games are issued, and why."""
        self.has_ended = False
        """Whether a ladder's season ended early."""
        self.why_frozen: str | None = None
        """Why a ladder's admissions are frozen; None if they are open."""
        self.changes: list[EntryChange] = []
        self.disqualified: dict[str, str] = {}
        """Agents in the order of the events, with reasons; also in `withdrawn` and `entered`."""
        self.withdrawn: dict[str, str] = {}
        self.entered: dict[str, str] = {}
        self._reasons = {Disqualified: self.disqualified, Withdrawn: self.withdrawn, Entered: self.entered}
        self.submissions: dict[int, tuple[SubmissionChanged, str | None]] = {}
        """The last change by number, with the digest of the agent's files."""
        self.scheduled = 0
        """Number of games."""
        self.games: Mapping[str, GameAttempts] = defaultdict(GameAttempts)
        self.stops: list[Stopped] = []
        self.set_aside: dict[str, int] = {}
        """Games that were set aside, with the number of stops before."""
        self.is_frozen = False
        """Whether the standings were frozen, also if all is revealed."""
        self.withheld_from: int | None = None
        """The first round whose results are withheld."""

    def apply(self, event: Event, digest: str | None = None) -> list[str]:
        """Change the state. Returns why the event cannot follow the earlier ones, in sentences of `verify`."""
        return list(self._apply(event, digest))

    def _apply(self, event: Event, digest: str | None) -> Iterator[str]:
        match event:
            case Started(game, attempt):
                yield from self._start(self.games[game], attempt)
            case Accepted(game) | Voided(game) | Abandoned(game) | Superseded(game) | Annulled(game):
                yield from _end(self.games[game], event, digest)
            case Scheduled(count):
                if self.has_ended:
                    yield "a game was drawn after the end of the season"
                self.scheduled += count
            case SubmissionChanged(number=number):
                self.submissions[number] = event, digest
            case Disqualified(agent, why) | Withdrawn(agent, why) | Entered(agent, why):
                if isinstance(event, Entered) and self.why_frozen is not None:
                    yield f"{agent} entered while admissions were frozen"
                self.changes.append(event)
                self._reasons[type(event)][agent] = why
            case Resumed() | Paused() | Stopped():
                self.activity = event
                if isinstance(event, Stopped):
                    self.stops.append(event)
            case SetAside(game):
                self.set_aside[game] = len(self.stops)
            case SeasonEnded():
                if self.has_ended:
                    yield "the season had ended before"
                self.has_ended = True
            case AdmissionsFrozen() | AdmissionsReopened():
                why_frozen = event.why if isinstance(event, AdmissionsFrozen) else None
                if (self.why_frozen is None) == (why_frozen is None):
                    yield f"admissions were {'open' if why_frozen is None else 'frozen'} before"
                self.why_frozen = why_frozen
            case StandingsFrozen(first):
                if self.is_frozen:
                    yield "the standings were frozen before"
                self.is_frozen, self.withheld_from = True, first
            case RoundPlayed(round=last) | Revealed(round=last):
                if self.withheld_from is None or (last is not None and last < self.withheld_from):
                    yield "no results were withheld" if last is None else f"round {last} was not withheld"
                elif isinstance(event, Revealed):
                    self.withheld_from = event.withheld_from
            case Created():
                self.is_created = True

    def _start(self, game: GameAttempts, attempt: int) -> Iterator[str]:
        if not isinstance(self.activity, Resumed):
            yield "the contest was not open"
        if attempt != game.last + 1:
            yield f"attempt {attempt} does not follow {game.last}"
        if game.running is not None:
            yield f"attempt {game.running} of the game has not ended"
        if game.counted is not None:
            yield f"the game already has a result, of attempt {game.counted}"
        game.last = game.running = attempt
        game.counted = None


def _end(game: GameAttempts, event: AttemptEvent, digest: str | None) -> Iterator[str]:
    attempt, is_running = event.attempt, game.running == event.attempt
    if not 1 <= attempt <= game.last:
        yield f"attempt {attempt} was not started"
        return
    match event:
        case Superseded():
            if is_running:
                yield f"attempt {attempt} was running, so it cannot be superseded"
            elif attempt not in game.ended:
                yield f"attempt {attempt} had not ended"
        case Annulled():
            if not is_running and game.counted != attempt:
                yield f"attempt {attempt} was not running and has no counted result"
            game.running = game.counted = None
            digest = game.ended.get(attempt, (event, None))[1]
        case _ if not is_running:
            yield f"attempt {attempt} was not running"
            return
        case _:
            game.running = None
            if isinstance(event, Accepted):
                game.counted = attempt
    game.ended[attempt] = event, digest


def state_after(lines: Iterable[JournalLine]) -> ContestState:
    """A contest after these lines of its journal."""
    state = ContestState()
    for line in lines:
        state.apply(line.change, line.digest)
    return state
