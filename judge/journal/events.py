"""The events of a contest. Each class is one event; its fields are the data of its line."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field

from judge.base.parsing import FIRST_YEAR, LAST_YEAR
from judge.journal.codec import Event, journal_event

MAX_TEXT_CHARACTERS = 4000

Text = Annotated[str, Field(max_length=MAX_TEXT_CHARACTERS)]
"""Words of an organiser, the judge or an agent."""

Reason = Annotated[Text, Field(min_length=1)]

Name = Annotated[str, Field(min_length=1, max_length=100)]
"""The name of an agent, author or cup."""

Number = Annotated[int, Field(ge=0, lt=1 << 53)]

Count = Annotated[int, Field(ge=1, lt=10**9)]

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]

Rating = Annotated[int, Field(gt=-(10**6), lt=10**6)]

Deviation = Annotated[int, Field(ge=0, lt=10**4)]

HostName = Annotated[str, Field(min_length=1, max_length=80)]


def cut(text: str) -> str:
    """At most the first `MAX_TEXT_CHARACTERS`."""
    return text[:MAX_TEXT_CHARACTERS]


def _checked(text: str) -> str:
    moment = datetime.fromisoformat(text)
    if moment.utcoffset() is None or not FIRST_YEAR <= moment.year <= LAST_YEAR or _iso(moment) != text:
        raise ValueError(f"{text!r:.40} is not a moment")
    return text


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class Moment:
    """A second in time, with the name of its zone if it has one."""

    at: Annotated[str, AfterValidator(_checked)]
    zone: Annotated[str, Field(pattern=r"^[A-Za-z0-9_+/-]{1,60}$")] | None = None

    @classmethod
    def of(cls, moment: datetime) -> "Moment":
        """An aware time."""
        return cls(_iso(moment), moment.tzinfo.key if isinstance(moment.tzinfo, ZoneInfo) else None)

    @property
    def time(self) -> datetime:
        """With its offset, without its zone."""
        return datetime.fromisoformat(self.at)

    @property
    def local(self) -> datetime:
        """In its zone, if that is known here and had this offset."""
        with suppress(ZoneInfoNotFoundError, ValueError, OSError):
            local = self.time.astimezone(ZoneInfo(self.zone or ""))
            return local if local.utcoffset() == self.time.utcoffset() else self.time
        return self.time


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A setting of the contest file with its old and new values; an empty text is no value."""

    name: Annotated[str, Field(pattern=r"^[a-z_]{1,20}$")]
    before: Text
    after: Text


@dataclass(frozen=True, slots=True)
class _AtMoment(Event):
    at: Moment


@dataclass(frozen=True, slots=True)
class _WithReason(Event):
    why: Text


@dataclass(frozen=True, slots=True)
class _OfAgent(Event):
    agent: Name
    why: Text


@dataclass(frozen=True, slots=True)
class _OfAttempt(Event):
    game: str
    attempt: int
    why: Text


class SubmissionState(StrEnum):
    """State of a submission. Passed and approved ones become entries."""

    RECEIVED = "received"
    """On disk and not yet read."""
    PROCESSING = "processing"
    FAILED = "failed"
    """Host failure: retried at `due_at` or by the organiser."""
    REFUSED = "refused"
    PASSED = "passed"
    APPROVED = "approved"
    """Refused by the check, then accepted by the organiser."""
    WITHDRAWN = "withdrawn"


# --- before the contest begins ---------------------------------------------------------------------------------------


@journal_event("announced", "league of the cup {cup}, announcement {announcement}", "")
class Announced(Event):
    """The contest was announced. Its log begins. A league has its `cup` and the digest of the cup's announcement."""

    cup: Name | None = None
    announcement: Digest | None = None

    def __post_init__(self) -> None:
        if (self.cup is None) != (self.announcement is None):
            raise ValueError("a league has a cup and an announcement")


@journal_event(SubmissionState, "submission {number}: {name}", "submission {number}")
class SubmissionChanged(Event):
    """A submission has another state. `name` is its agent's, if known."""

    state: SubmissionState
    number: Number
    name: Reason | None = None


@journal_event("late", "{author}: {why}", head="Late submission permitted")
class LateAllowed(Event):
    """An author may submit until the lock-in."""

    author: Name
    why: Text


@journal_event("opened", "{at}", head="Submissions opened")
class SubmissionsOpened(_AtMoment):
    """Submissions opened at the set moment."""


@journal_event("closed", "{at}", head="Submissions closed")
class SubmissionsClosed(_AtMoment):
    """Submissions closed at the set moment."""


@journal_event("window", head="Schedule")
class ScheduleChanged(Event):
    """The moments at which submissions open and close and the contest starts."""

    opens: Moment | None = None
    closes: Moment | None = None
    starts: Moment | None = None


@journal_event("settings", "{changes}: {why}", head="Settings changed")
class SettingsChanged(Event):
    """An organiser changed the contest file."""

    changes: Annotated[tuple[SettingChange, ...], Field(min_length=1, max_length=100)]
    why: Text


@journal_event("begins", "{at}", head="Start")
class StartTimeReached(_AtMoment):
    """The set moment of the start has passed."""


@journal_event("frozen")
class LockedIn(Event):
    """Entries and terms are final."""


# --- the contest and its entries -------------------------------------------------------------------------------------


@journal_event("created", "{entries} entries")
class Created(Event):
    """The contest began with this number of entries."""

    entries: Number


@journal_event("ratings", "{source}", head="Ratings")
class StartRatingsRead(Event):
    """The agents' first ratings come from this source."""

    source: Text


@journal_event("folders", "{source}", head="Persistent folders")
class FoldersTransferred(Event):
    """Agents' folders were read or written; the words name them."""

    source: Text


@journal_event("images", "{images}", head="Runtime images")
class ImagesChanged(Event):
    """Images were built anew since the start."""

    images: Text


@journal_event("entered", "{agent}: {why}", head="Entered after the start")
class Entered(_OfAgent):
    """An agent takes part from now on."""


@journal_event("not-entered", "{agent}: {why}")
class NotEntered(_OfAgent):
    """A passed submission could not enter a ladder."""


@journal_event("disqualified", "{agent}: {why}", head="Disqualified")
class Disqualified(_OfAgent):
    """An agent's results do not count."""


@journal_event("agent-withdrawn", "{agent}: {why}", head="Withdrawn")
class Withdrawn(_OfAgent):
    """An agent takes part no longer."""


@journal_event("rated", "{agent}: {rating} Elo, standard error {error}", head="Rated")
class Rated(Event):
    """The rating of a ladder's agent is certain enough. `error` is its standard error in Elo."""

    agent: Name
    rating: Rating
    error: Deviation


@journal_event("open", "{why}", head="Contest resumed")
class Resumed(_WithReason):
    """Games are issued again."""


@journal_event("paused", "{why}", head="Contest paused")
class Paused(_WithReason):
    """No game is issued."""


@journal_event("stopped", "{first} - {second}: void {attempts} times in a row: {why}", head="Contest stopped")
class Stopped(Event):
    """A game of these agents was void too often."""

    first: Name
    second: Name
    attempts: Number
    why: Text


@journal_event("season-ended", "{why}", "{ends}", head="Season ended")
class SeasonEnded(Event):
    """No further game of a ladder is drawn: the organiser's reason, or the moment that the terms set."""

    why: Text | None = None
    ends: Moment | None = None

    def __post_init__(self) -> None:
        if (self.why is None) == (self.ends is None):
            raise ValueError("a season ends by an order or at a moment")


@journal_event("admissions-frozen", "{why}", head="Admissions frozen")
class AdmissionsFrozen(_WithReason):
    """No agent enters a ladder until `AdmissionsReopened`."""


@journal_event("admissions-reopened", "{why}", head="Admissions reopened")
class AdmissionsReopened(_WithReason):
    """Agents may enter a ladder again."""


# --- withheld results ------------------------------------------------------------------------------------------------


@journal_event("standings-frozen", "results are withheld from round {first} on", head="Standings frozen")
class StandingsFrozen(Event):
    """What follows is withheld until a `Revealed`, except lines of earlier rounds and `PUBLIC` events."""

    first: Count


@journal_event("round-played", "round {round}", head="Round played, results withheld")
class RoundPlayed(Event):
    """All games up to this withheld round have ended. The log's checkpoint after it commits to their results."""

    round: Count


@journal_event("revealed", "up to round {round}: {why}", "all rounds: {why}", head="Results revealed")
class Revealed(Event):
    """The results up to a round are public; without `round`, all results, also later ones."""

    why: Text
    round: Count | None = None

    @property
    def withheld_from(self) -> int | None:
        """The first round that stays withheld."""
        return None if self.round is None else self.round + 1


PUBLIC = (
    *(StandingsFrozen, RoundPlayed, Revealed),
    *(SubmissionChanged, LateAllowed, SubmissionsOpened, SubmissionsClosed, ScheduleChanged),
)
"""Events that are never withheld, because they follow from no result."""


# --- games -----------------------------------------------------------------------------------------------------------


@journal_event("scheduled", "{games} games")
class Scheduled(Event):
    """Games were added to the schedule."""

    games: Count


@journal_event("started", "{first} - {second}")
class Started(Event):
    """An attempt of a game began."""

    game: str
    attempt: int
    first: Name
    second: Name


@journal_event("accepted", "{first} - {second}: no winner: {reason}", "{winner} won: {reason}")
class Accepted(Event):
    """An attempt's result counts. `winner` is None without one; the pair is named then."""

    game: str
    attempt: int
    reason: Text
    winner: Name | None = None
    first: Name | None = None
    second: Name | None = None

    def __post_init__(self) -> None:
        if len({self.winner is None, self.first is not None, self.second is not None}) > 1:
            raise ValueError("a result has a winner or a pair")

    @classmethod
    def of_result(cls, game: str, attempt: int, pair: tuple[str, str], winner: str | None, reason: str) -> "Accepted":
        """The event of a result between two agents. An agent can make a reason long, by the quote of its answer."""
        reason = cut(reason)
        if winner is not None:
            return cls(game, attempt, reason, winner=winner)
        return cls(game, attempt, reason, first=pair[0], second=pair[1])


@journal_event("void", "{why}")
class Voided(_OfAttempt):
    """An attempt ended without a result, for a reason outside the agents."""


@journal_event("abandoned", "{why}")
class Abandoned(_OfAttempt):
    """The attempt's judge or host was lost."""


@journal_event("superseded", "{why}")
class Superseded(_OfAttempt):
    """Another attempt of the game ended before."""


@journal_event("annulled", "{why}")
class Annulled(_OfAttempt):
    """An organiser withdrew a result."""


@journal_event("set-aside", "void {attempts} times in a row: {why}", head="Set aside")
class SetAside(Event):
    """A void game is retried after all others."""

    game: str
    attempts: Number
    why: Text


@journal_event("released", "{why}", head="Tried again")
class GameReleased(Event):
    """A held game is played again."""

    game: str
    why: Text


@journal_event("all-released", "{games} games: {why}")
class GamesReleased(Event):
    """All held games are played again."""

    games: Number
    why: Text


AttemptEvent = Started | Accepted | Voided | Abandoned | Superseded | Annulled


# --- machines --------------------------------------------------------------------------------------------------------


@journal_event("worker-barred", "worker {name} is given no games: {why}", head="Machine")
class WorkerBarred(Event):
    """A worker may not play; `why` includes the remedy."""

    name: HostName
    why: Text


@journal_event("worker-joined", "worker {name} plays: {slots} slots", head="Machine")
class WorkerJoined(Event):
    """A worker plays games in its slots."""

    name: HostName
    slots: Number


@journal_event("worker-lost", "worker {name} is lost", head="Machine")
class WorkerLost(Event):
    """A worker left or does not answer."""

    name: HostName


@journal_event("worker-noted", "{words}", head="Machine")
class WorkerNoted(Event):
    """Another remark about workers."""

    words: Text


WorkerEvent = WorkerJoined | WorkerLost | WorkerBarred | WorkerNoted
