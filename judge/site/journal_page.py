"""Pages of a contest's journal."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from judge.base.text import plain_text, sentence
from judge.contest_games import PublishedGame
from judge.publish.model import PublishedContest
from judge.records.outcome import outcome_sentence
from judge.site.pages import PagePlace, render_for
from judge.store.types import (
    ADMISSIONS_FROZEN,
    ADMISSIONS_REOPENED,
    ANNOUNCED,
    FROZEN,
    RATED,
    SEASON_ENDED,
    WITHDRAWN,
    JournalLine,
    State,
)

PER_PAGE = 300
"""Entries on one page."""

_HIDDEN = frozenset({"started", ANNOUNCED, FROZEN, *State})
"""Events that later lines repeat, and those before the contest."""


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A line of the journal."""

    at: str
    kind: str
    text: str
    game: PublishedGame | None


def journal_pages(contest: PublishedContest, place: Callable[[str], PagePlace]) -> Mapping[str, Callable[[], bytes]]:
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


def journal_entries(contest: PublishedContest) -> Sequence[JournalEntry]:
    """The journal without lines that later lines repeat."""
    games = {game.id: game for game in contest.games}
    entries = []
    # In a ladder, each game is drawn alone.
    hidden = _HIDDEN if contest.has_rounds else {*_HIDDEN, "scheduled"}
    for line in contest.journal:
        if line.event not in hidden:
            game = games.get(line.game or "")
            # The kind is a CSS class: letters only.
            kind = "".join(letter for letter in line.event.lower() if "a" <= letter <= "z")
            text = _describe(line) if game is None else _describe_game(line, game)
            entries.append(JournalEntry(line.at, kind, text, game))
    return entries


def _describe(line: JournalLine) -> str:
    event, text = _EVENTS.get(line.event, line.event), line.text
    if counted := _COUNTED.fullmatch(text):
        count, why = counted[1], counted[2]
        match line.event:
            case "created":
                return sentence(f"Contest created, entries: {count}")
            case "scheduled":
                return sentence(f"Scheduled, games: {count}")
            case "released":
                return sentence(f"Tried again, games: {count}: {why}")
    return sentence(f"{event}: {text}") if text else event


def _describe_game(line: JournalLine, game: PublishedGame) -> str:
    first, second = names = (plain_text(game.first, 40), plain_text(game.second, 40))
    attempt, why = line.attempt, line.text
    match line.event:
        case "accepted" if game.result is not None and attempt == game.attempt:
            result = game.result
            what = outcome_sentence(result.verdict, result.winning_seat, names, result.reason)
        case "accepted":
            what = sentence(f"attempt {attempt} ended; its result was annulled later")
        case "void":
            what = sentence(f"attempt {attempt} is void and does not count: {why}")
        case "abandoned":
            what = sentence(f"attempt {attempt} was interrupted and is played again: {why}")
        case "superseded":
            what = sentence(f"attempt {attempt} ended after a later attempt had started; it does not count")
        case "annulled":
            what = sentence(f"the organiser annulled the result of attempt {attempt}: {why}")
        case _:
            what = _describe(line)
    return sentence(f"{first} - {second}: {what}")


_COUNTED = re.compile(r"([0-9]+) (?:entries|games)(?:: (.*))?", re.DOTALL)

_EVENTS = {
    "created": sentence("Contest created"),
    "scheduled": sentence("Scheduled"),
    "disqualified": sentence("Disqualified"),
    WITHDRAWN: sentence("Withdrawn"),
    "entered": sentence("Entered after the start"),
    RATED: sentence("Rated"),
    SEASON_ENDED: sentence("Season ended"),
    ADMISSIONS_FROZEN: sentence("Admissions frozen"),
    ADMISSIONS_REOPENED: sentence("Admissions reopened"),
    "open": sentence("Contest resumed"),
    "paused": sentence("Contest paused"),
    "stopped": sentence("Contest stopped"),
    "set-aside": sentence("Set aside"),
    "released": sentence("Tried again"),
    "ratings": sentence("Ratings"),
    "folders": sentence("Persistent folders"),
    "settings": sentence("Settings changed"),
    "images": sentence("Runtime images"),
    "worker": sentence("Machine"),
    "late": sentence("Late submission permitted"),
    "window": sentence("Schedule"),
    "opened": sentence("Submissions opened"),
    "closed": sentence("Submissions closed"),
    "begins": sentence("Start"),
}
