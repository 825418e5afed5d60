"""Verifies texts, games, attempts and digests of a log's lines: those that a judge writes, as the tables require."""

from collections.abc import Iterator, Mapping, Sequence

from judge.contest_games import PublishedGame
from judge.journal.codec import Line, UnknownLine, decode, event_names, kind_of
from judge.journal.events import (
    Accepted,
    Announced,
    Created,
    Entered,
    LockedIn,
    Rated,
    Scheduled,
    SetAside,
    Started,
    Stopped,
    SubmissionChanged,
    Superseded,
    Voided,
)
from judge.publish.model import PublishedContest
from judge.publish.verify.records import VerifiedRecord
from judge.store.types import (
    JournalLine,
)

_WITH_DIGESTS = (
    *(Accepted, Voided, Superseded),
    *(Announced, LockedIn, Created, Scheduled, Entered, SubmissionChanged),
)


def text_problems(
    contest: PublishedContest, lines: Sequence[JournalLine], records: Sequence[VerifiedRecord]
) -> Iterator[str]:
    """Lines that no judge writes in this contest. `records`: for the texts of results."""
    games = {game.id: game for game in contest.games}
    results = {(record.number, record.attempt): record for record in records}
    names = {entry.name for entry in contest.snapshot.entries}
    voids: dict[str, str] = {}
    for number, line in enumerate(lines):
        game = games.get(line.game or "")
        where = f"leaf {number} of the log, {line.event}"
        if isinstance(line.change, UnknownLine) and _has_too_many_columns(line.change.line):
            yield f"{where}: judge writes no game or attempt there"
            continue
        if line.digest is not None and not issubclass(kind_of(line.change), _WITH_DIGESTS):
            yield f"{where}: judge writes no digest there"
        if not _is_written(contest, line, game, results, names, voids):
            yield f"{where}: judge does not write {line.text!r:.100} there"
        if isinstance(line.change, Voided):
            voids[line.change.game] = line.change.why


def _has_too_many_columns(line: Line) -> bool:
    return any(
        not isinstance(decode(fewer), UnknownLine)
        for fewer in (line._replace(attempt=None), line._replace(game=None, attempt=None))
        if fewer != line
    )


def _is_written(
    contest: PublishedContest,
    line: JournalLine,
    game: PublishedGame | None,
    results: Mapping[tuple[int, int], VerifiedRecord],
    names: set[str],
    voids: Mapping[str, str],
) -> bool:
    match line.change:
        case UnknownLine():
            return line.event not in event_names()  # an unknown event has its own problem
        case Created(count):
            return count == len(contest.snapshot.entries) - len(contest.entered)
        case Started(first=first, second=second):
            return game is None or (first, second) == game.agents
        case Accepted():
            return game is None or line.change == _accepted(game, line.change, results)
        case SetAside(why=why):
            return game is not None and voids.get(game.id) == why
        case Rated(agent):
            return agent in names
        case Stopped(first, second):
            return {first, second} <= names
    return True  # of agents: compared with the tables


def _accepted(game: PublishedGame, event: Accepted, results: Mapping[tuple[int, int], VerifiedRecord]) -> Accepted:
    """The event of the attempt's result; this event if its record is not there."""
    result = game.result if game.attempt == event.attempt else None
    record = results.get((game.number, event.attempt))
    if record is not None and record.outcome is not None:
        result = record.outcome.row(game, event.attempt)
    if result is None:
        return event
    return Accepted.of_result(event.game, event.attempt, game.agents, result.winner, result.reason)
