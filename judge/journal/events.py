"""The events of a contest. Each class is one event; its declaration has the name and the text of its line."""

from enum import StrEnum
from typing import Annotated

from judge.base.text import sentence
from judge.journal.codec import Event, Name, Number, journal_event

Digest = Annotated[str, r"[0-9a-f]{64}"]

_MOMENT = r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2} \S{1,40}(?: \([A-Za-z0-9_+/-]{1,60}\))?"

Moment = Annotated[str, _MOMENT]
"""A text of `judge.submissions.windows.moment_text`."""

Schedule = Annotated[
    str,
    rf"none|(?:submissions (?:open at {_MOMENT}(?:, close at {_MOMENT})?|close at {_MOMENT})(?:; |\Z))?"
    rf"(?:the contest starts at {_MOMENT})?",
]
"""A text of `judge.submissions.windows.Windows.words`, or `none`."""

Changes = Annotated[str, r"[a-z_]{1,20}: (?>.*? -> ).*: .*"]
"""Names of settings with old and new values, and the reason."""

Count = Annotated[int, r"[1-9][0-9]{0,8}"]

Rating = Annotated[int, r"0|-?[1-9][0-9]{0,5}"]

Deviation = Annotated[int, r"0|[1-9][0-9]{0,3}"]

Reason = Annotated[str, r".+"]

Author = Annotated[str, r"(?:[^:]|:(?! )){1,100}?"]
"""It may contain colons."""

HostName = Annotated[str, r".{1,80}?"]

CupName = Annotated[str, r".{1,100}"]


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
    """The contest was announced. Its log begins. `announcement` is the digest of the cup's announcement."""

    cup: CupName | None = None
    announcement: Digest | None = None


@journal_event(SubmissionState, "submission {number}: {name}", "submission {number}")
class SubmissionChanged(Event):
    """A submission has another state. `name` is its agent's, if known."""

    state: SubmissionState
    number: Number
    name: Reason | None = None


@journal_event("late", "{author}: {why}")
class LateAllowed(Event):
    """An author may submit until the lock-in."""

    author: Author
    why: str


@journal_event("opened", "{at}")
class SubmissionsOpened(Event):
    """Submissions opened at the set moment."""

    at: Moment


@journal_event("closed", "{at}")
class SubmissionsClosed(Event):
    """Submissions closed at the set moment."""

    at: Moment


@journal_event("window", "{schedule}")
class ScheduleChanged(Event):
    """The moments at which submissions open and close and the contest starts, in words; `none` without any."""

    schedule: Schedule


@journal_event("settings", "{changes}")
class SettingsChanged(Event):
    """An organiser changed the contest file; `changes` has the old and new values and the reason."""

    changes: Changes


@journal_event("begins", "{at}")
class StartTimeReached(Event):
    """The set moment of the start has passed."""

    at: Moment


@journal_event("frozen", "")
class LockedIn(Event):
    """Entries and terms are final."""


# --- the contest and its entries -------------------------------------------------------------------------------------


@journal_event("created", "{entries} entries")
class Created(Event):
    """The contest began with this number of entries."""

    entries: Number


@journal_event("ratings", "{source}")
class StartRatingsRead(Event):
    """The agents' first ratings come from this source."""

    source: str


@journal_event("folders", "{source}")
class FoldersTransferred(Event):
    """Agents' folders were read or written; the words name them."""

    source: str


@journal_event("images", "{images}")
class ImagesChanged(Event):
    """Images were built anew since the start."""

    images: str


@journal_event("entered", "{agent}: {why}")
class Entered(Event):
    """An agent takes part from now on."""

    agent: Name
    why: str


@journal_event("not-entered", "{agent}: {why}")
class NotEntered(Event):
    """A passed submission could not enter a ladder."""

    agent: Name
    why: Reason


@journal_event("disqualified", "{agent}: {why}")
class Disqualified(Event):
    """An agent's results do not count."""

    agent: Name
    why: str


@journal_event("agent-withdrawn", "{agent}: {why}")
class Withdrawn(Event):
    """An agent takes part no longer."""

    agent: Name
    why: str


@journal_event("rated", "{agent}: {rating} Elo, standard error {error}")
class Rated(Event):
    """The rating of a ladder's agent is certain enough. `error` is its standard error in Elo."""

    agent: Name
    rating: Rating
    error: Deviation


@journal_event("open", "{why}")
class Resumed(Event):
    """Games are issued again."""

    why: str


@journal_event("paused", "{why}")
class Paused(Event):
    """No game is issued."""

    why: str


@journal_event("stopped", "{first} - {second}: void {attempts} times in a row: {why}")
class Stopped(Event):
    """A game of these agents was void too often."""

    first: Name
    second: Name
    attempts: Number
    why: str


@journal_event("season-ended", "{why}")
class SeasonEnded(Event):
    """No further game of a ladder is drawn. `why` is the organiser's reason, or the moment set by the terms."""

    why: str


@journal_event("admissions-frozen", "{why}")
class AdmissionsFrozen(Event):
    """No agent enters a ladder until `AdmissionsReopened`."""

    why: str


@journal_event("admissions-reopened", "{why}")
class AdmissionsReopened(Event):
    """Agents may enter a ladder again."""

    why: str


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
    first: str
    second: str


@journal_event("accepted", "{first} - {second}: no winner: {reason}", "{winner} won: {reason}")
class Accepted(Event):
    """An attempt's result counts. `winner` is None without one; the pair is named then."""

    game: str
    attempt: int
    reason: str
    winner: Name | None = None
    first: Name | None = None
    second: Name | None = None

    @classmethod
    def of_result(cls, game: str, attempt: int, pair: tuple[str, str], winner: str | None, reason: str) -> "Accepted":
        """The event of a result between two agents."""
        if winner is not None:
            return cls(game, attempt, reason, winner=winner)
        return cls(game, attempt, reason, first=pair[0], second=pair[1])


@journal_event("void", "{why}")
class Voided(Event):
    """An attempt ended without a result, for a reason outside the agents."""

    game: str
    attempt: int
    why: str


@journal_event("abandoned", "{why}")
class Abandoned(Event):
    """The attempt's judge or host was lost."""

    game: str
    attempt: int
    why: str


@journal_event("superseded", "{why}")
class Superseded(Event):
    """Another attempt of the game ended before."""

    game: str
    attempt: int
    why: str


@journal_event("annulled", "{why}")
class Annulled(Event):
    """An organiser withdrew a result."""

    game: str
    attempt: int
    why: str


@journal_event("set-aside", sentence("void {attempts} times in a row: {why}"))
class SetAside(Event):
    """A void game is retried after all others."""

    game: str
    attempts: Number
    why: str


@journal_event("released", "{why}")
class GameReleased(Event):
    """A held game is played again."""

    game: str
    why: str


@journal_event("released", "{games} games: {why}")
class GamesReleased(Event):
    """All held games are played again."""

    games: Number
    why: str


AttemptEvent = Started | Accepted | Voided | Abandoned | Superseded | Annulled


# --- machines --------------------------------------------------------------------------------------------------------


@journal_event("worker", sentence("worker {name} is given no games: {why}"))
class WorkerBarred(Event):
    """A worker may not play; `why` includes the remedy."""

    name: HostName
    why: str


@journal_event("worker", sentence("worker {name} plays: {slots} slots"))
class WorkerJoined(Event):
    """A worker plays games in its slots."""

    name: HostName
    slots: Number


@journal_event("worker", sentence("worker {name} is lost"))
class WorkerLost(Event):
    """A worker left or does not answer."""

    name: HostName


@journal_event("worker", "{words}")
class WorkerNoted(Event):
    """Another remark about workers."""

    words: str


WorkerEvent = WorkerJoined | WorkerLost | WorkerBarred | WorkerNoted
