"""The contest's log as a story: who beat whom and why, what was void and played again, what the organiser decided."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judge.games.types import Verdict
from judge.publish.formatting import plain
from judge.publish.publication import Publication, PublishedGame
from judge.store.types import JournalLine

PER_PAGE = 500
"""Lines of the log on one page."""

_QUIET = frozenset({"started"})
"""What says nothing that its end does not say."""


@dataclass(frozen=True, slots=True)
class Told:
    """A line: when (UTC), what kind of event, in words, and the game it is about."""

    at: str
    kind: str
    text: str
    game: PublishedGame | None


def told(publication: Publication) -> Sequence[Told]:
    """The log without what nobody would tell."""
    games = {game.match: game for game in publication.games}
    return [
        Told(line.at, _kind(line), _words(line, games.get(line.match or "")), games.get(line.match or ""))
        for line in publication.journal
        if line.event not in _QUIET
    ]


def by_day(lines: Sequence[Told]) -> Iterator[tuple[str, Sequence[Told]]]:
    """The lines of each day."""
    days: dict[str, list[Told]] = {}
    for line in lines:
        days.setdefault(line.at[:10], []).append(line)
    yield from days.items()


def page_name(number: int) -> str:
    """The page of this number, from 1."""
    return "journal.html" if number == 1 else f"journal-{number}.html"


def _kind(line: JournalLine) -> str:
    """A class of the style sheet: letters only."""
    return "".join(letter for letter in line.event.lower() if "a" <= letter <= "z")


def _words(line: JournalLine, game: PublishedGame | None) -> str:
    if game is None:
        return f"{_HEADS.get(line.event, line.event)}{': ' if line.text else ''}{line.text}"
    pair = f"{_name(game.first)} - {_name(game.second)}"
    match line.event:
        case "accepted":
            return _ending(game, line.attempt, pair)
        case "void":
            return f"{pair}: attempt {line.attempt} is void and does not count: {line.text}"
        case "abandoned":
            return f"{pair}: attempt {line.attempt} was broken off and is played again: {line.text}"
        case "superseded":
            return f"{pair}: attempt {line.attempt} ended after another had taken its place: kept, not counted"
        case "annulled":
            return f"{pair}: the organiser took the result of attempt {line.attempt} back: {line.text}"
        case _:
            return f"{pair}: {line.event}{': ' if line.text else ''}{line.text}"


def _ending(game: PublishedGame, attempt: int | None, pair: str) -> str:
    result = game.result
    if result is None or attempt != game.attempt:
        return f"{pair}: attempt {attempt} ended; its result was taken back later"
    if result.is_draw:
        return f"{pair} is drawn: {result.reason}"
    if result.winner is None:
        return f"{pair}: nobody wins: {result.reason}"
    loser = game.second if result.winner == game.first else game.first
    how = "" if result.verdict is Verdict.WIN else f"{result.verdict}, "
    return f"{_name(result.winner)} beats {_name(loser)}: {how}{result.reason}"


def _name(text: str) -> str:
    return plain(text, 40)


_HEADS = {
    "created": "The contest is created",
    "scheduled": "Scheduled",
    "disqualified": "Disqualified",
    "open": "The contest goes on",
    "paused": "Paused",
    "stopped": "Stopped",
}
