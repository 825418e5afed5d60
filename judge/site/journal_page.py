"""Pages of a contest's journal."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from judge.base.text import plain_text, sentence
from judge.contest_games import PublishedGame
from judge.contest_view.view import ContestView
from judge.formats.outcome import outcome_sentence
from judge.journal.codec import Event, encode
from judge.journal.events import (
    Abandoned,
    Accepted,
    AdmissionsFrozen,
    AdmissionsReopened,
    Announced,
    Annulled,
    Created,
    Disqualified,
    Entered,
    FoldersTransferred,
    GameReleased,
    GamesReleased,
    ImagesChanged,
    LateAllowed,
    LockedIn,
    Paused,
    Rated,
    Resumed,
    ScheduleChanged,
    Scheduled,
    SeasonEnded,
    SetAside,
    SettingsChanged,
    Started,
    StartRatingsRead,
    StartTimeReached,
    Stopped,
    SubmissionChanged,
    SubmissionsClosed,
    SubmissionsOpened,
    Superseded,
    Voided,
    Withdrawn,
    WorkerBarred,
    WorkerJoined,
    WorkerLost,
    WorkerNoted,
)
from judge.site.pages import PagePlace, render_for

PER_PAGE = 300
"""Entries on one page."""

_HIDDEN: tuple[type[Event], ...] = (Started, Announced, LockedIn, SubmissionChanged)
"""Events that later lines repeat, and those before the contest."""


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A line of the journal."""

    at: str
    kind: str
    text: str
    game: PublishedGame | None


def journal_pages(contest: ContestView, place: Callable[[str], PagePlace]) -> Mapping[str, Callable[[], bytes]]:
    """A function for each page (at least one), by file."""
    entries = journal_entries(contest)
    written: dict[str, Callable[[], bytes]] = {}
    parts = max(1, -(-len(entries) // PER_PAGE))
    for part in range(1, parts + 1):
        days: dict[str, list[JournalEntry]] = {}
        for entry in entries[(part - 1) * PER_PAGE : part * PER_PAGE]:
            days.setdefault(entry.at[:10], []).append(entry)
        values = {"days": days, "part": part, "parts": parts, "journal_name": _page_name}
        at = place(_page_name(part))
        written[at.file] = partial(render_for, contest, "journal.html", "journal", at, values)
    return written


def _page_name(part: int) -> str:
    return "journal.html" if part == 1 else f"journal-{part}.html"


def journal_entries(contest: ContestView) -> Sequence[JournalEntry]:
    """The journal without lines that later lines repeat."""
    games = {game.id: game for game in contest.games}
    entries = []
    # In a ladder, each game is drawn alone.
    hidden = _HIDDEN if contest.has_rounds else (*_HIDDEN, Scheduled)
    for line in contest.journal:
        if not isinstance(line.change, hidden):
            game = games.get(line.game or "")
            # The kind is a CSS class: letters only.
            kind = "".join(letter for letter in line.event.lower() if "a" <= letter <= "z")
            text = _describe(line.change) if game is None else _describe_game(line.change, game)
            entries.append(JournalEntry(line.at, kind, text, game))
    return entries


def _describe(change: Event) -> str:
    match change:
        case Created(count):
            return sentence(f"Contest created, entries: {count}")
        case Scheduled(count):
            return sentence(f"Scheduled, games: {count}")
        case GamesReleased(count, why):
            return sentence(f"Tried again, games: {count}: {why}")
    line = encode(change)
    event, text = _HEADS.get(type(change), line.name), line.text
    return sentence(f"{event}: {text}") if text else event


def _describe_game(event: Event, game: PublishedGame) -> str:
    first, second = names = (plain_text(game.first, 40), plain_text(game.second, 40))
    match event:
        case Accepted(attempt=attempt) if game.result is not None and attempt == game.attempt:
            result = game.result
            what = outcome_sentence(result.verdict, result.winning_seat, names, result.reason)
        case Accepted(attempt=attempt):
            what = sentence(f"attempt {attempt} ended; its result was annulled later")
        case Voided(attempt=attempt, why=why):
            what = sentence(f"attempt {attempt} is void and does not count: {why}")
        case Abandoned(attempt=attempt, why=why):
            what = sentence(f"attempt {attempt} was interrupted and is played again: {why}")
        case Superseded(attempt=attempt):
            what = sentence(f"attempt {attempt} ended after a later attempt had started; it does not count")
        case Annulled(attempt=attempt, why=why):
            what = sentence(f"the organiser annulled the result of attempt {attempt}: {why}")
        case _:
            what = _describe(event)
    return sentence(f"{first} - {second}: {what}")


_HEADS: Mapping[type[Event], str] = {
    Disqualified: sentence("Disqualified"),
    Withdrawn: sentence("Withdrawn"),
    Entered: sentence("Entered after the start"),
    Rated: sentence("Rated"),
    SeasonEnded: sentence("Season ended"),
    AdmissionsFrozen: sentence("Admissions frozen"),
    AdmissionsReopened: sentence("Admissions reopened"),
    Resumed: sentence("Contest resumed"),
    Paused: sentence("Contest paused"),
    Stopped: sentence("Contest stopped"),
    SetAside: sentence("Set aside"),
    GameReleased: sentence("Tried again"),
    StartRatingsRead: sentence("Ratings"),
    FoldersTransferred: sentence("Persistent folders"),
    SettingsChanged: sentence("Settings changed"),
    ImagesChanged: sentence("Runtime images"),
    **dict.fromkeys((WorkerJoined, WorkerLost, WorkerBarred, WorkerNoted), sentence("Machine")),
    LateAllowed: sentence("Late submission permitted"),
    ScheduleChanged: sentence("Schedule"),
    SubmissionsOpened: sentence("Submissions opened"),
    SubmissionsClosed: sentence("Submissions closed"),
    StartTimeReached: sentence("Start"),
}
