"""Pages of a contest's journal."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from judge.base.text import plain_text
from judge.contest_games import PublishedGame
from judge.contest_view.view import ContestView
from judge.journal.codec import Event, encode
from judge.journal.events import (
    Abandoned,
    Accepted,
    Announced,
    Annulled,
    Created,
    GamesReleased,
    LockedIn,
    Scheduled,
    Started,
    SubmissionChanged,
    Superseded,
    Voided,
)
from judge.journal.sentences import event_message, text_of
from judge.record.spec import outcome_sentence
from judge.site.pages import PagePlace, in_parts, render_for
from judge.translations.language import Language

PER_PAGE = 300

_HIDDEN: tuple[type[Event], ...] = (Started, Announced, LockedIn, SubmissionChanged)
"""Events that later lines repeat, and those before the contest."""


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A line of the journal. `kind` is a CSS class."""

    at: str
    kind: str
    change: Event
    game: PublishedGame | None

    def text(self, language: Language) -> str:
        if self.game is None:
            return _describe(self.change, language)
        return _describe_game(self.change, self.game, language)


def journal_pages(contest: ContestView, place: Callable[[str], PagePlace]) -> Mapping[str, Callable[[], bytes]]:
    """A function for each page (at least one), by file."""
    written: dict[str, Callable[[], bytes]] = {}
    parts = in_parts(journal_entries(contest), PER_PAGE)
    for part, entries in enumerate(parts, 1):
        days: dict[str, list[JournalEntry]] = {}
        for entry in entries:
            days.setdefault(entry.at[:10], []).append(entry)
        values = {"days": days, "part": part, "parts": len(parts), "journal_name": _page_name}
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
            kind = "".join(letter for letter in line.event.lower() if "a" <= letter <= "z")
            entries.append(JournalEntry(line.at, kind, line.change, game))
    return entries


def _describe(change: Event, language: Language) -> str:
    match change:
        case Created(count):
            return language.fill(event_message("Contest created, entries: {count}"), count=count)
        case Scheduled(count):
            return language.fill(event_message("Scheduled, games: {count}"), count=count)
        case GamesReleased(count, why):
            again = event_message("Tried again, games: {count}: {why}")
            return language.fill(again, count=count, why=language.explain(why))
    head, text = language.fill(change.HEAD or encode(change).name), text_of(change, language)
    return language.fill(event_message("{event}: {text}"), event=head, text=text) if text else head


def _describe_game(event: Event, game: PublishedGame, language: Language) -> str:
    first, second = names = (plain_text(game.first, 40), plain_text(game.second, 40))
    ending, result = _OF_ATTEMPT.get(type(event), ""), game.result
    match event:
        case Accepted(attempt=attempt) if result is not None and attempt == game.attempt:
            what = language.explain(outcome_sentence(result.verdict, result.winning_seat, names, result.reason))
        case Accepted(attempt=attempt):
            what = language.fill(ending, attempt=attempt)
        case Voided(attempt=attempt, why=why) | Annulled(attempt=attempt, why=why):
            what = language.fill(ending, attempt=attempt, why=language.explain(why))
        case Abandoned(attempt=attempt, why=why) | Superseded(attempt=attempt, why=why):
            what = language.fill(ending, attempt=attempt, why=language.explain(why))
        case _:
            what = _describe(event, language)
    return language.fill(event_message("{first} - {second}: {what}"), first=first, second=second, what=what)


_OF_ATTEMPT: Mapping[type[Event], str] = {
    Accepted: event_message("attempt {attempt} ended; its result was annulled later"),
    Voided: event_message("attempt {attempt} is void and does not count: {why}"),
    Abandoned: event_message("attempt {attempt} was interrupted and is played again: {why}"),
    Superseded: event_message("attempt {attempt} ended after a later attempt had started; it does not count"),
    Annulled: event_message("the organiser annulled the result of attempt {attempt}: {why}"),
}
