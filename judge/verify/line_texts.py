"""Verifies texts, games, attempts and digests of a log's lines: those that a judge writes, as the tables require."""

import re
from collections.abc import Iterator, Mapping, Sequence

from judge.contest_games import PublishedGame, scheduled_games
from judge.publish.model import PublishedContest
from judge.store.types import (
    ANNOUNCED,
    BEGINS,
    CLOSED,
    FROZEN,
    NOT_ENTERED,
    OPENED,
    RATED,
    SET_ASIDE,
    WINDOW,
    JournalLine,
    State,
)
from judge.verify.line_times import MOMENT
from judge.verify.records import VerifiedRecord

_SUBMISSION = r"submission [0-9]{1,18}(: .+)?"
_AGENT = r"(?P<agent>[^:]+): "

_FORMS: Mapping[str, str] = {
    ANNOUNCED: r"(league of the cup .{1,100}, announcement [0-9a-f]{64})?",
    FROZEN: "",
    RATED: _AGENT + r"-?[0-9]{1,6} Elo, standard error [0-9]{1,4}",
    NOT_ENTERED: _AGENT + ".+",
    SET_ASIDE: r"void [0-9]{1,9} times in a row: (?P<why>.*)",
    "stopped": r"(?P<first>.+) - (?P<second>[^:]+): void [0-9]{1,9} times in a row: .*",
    "late": r"[^:]+: .*",
    "settings": r"[a-z_]{1,20}: .* -> .*: .*",
    OPENED: MOMENT,
    CLOSED: MOMENT,
    BEGINS: MOMENT,
    WINDOW: rf"none|(submissions (open at {MOMENT}(, close at {MOMENT})?|close at {MOMENT})(; |\Z))?"
    rf"(the contest starts at {MOMENT})?",
    **dict.fromkeys((state.value for state in State), _SUBMISSION),
}
"""Texts of events without a check elsewhere, as regular expressions. Reasons of an organiser, and notes on
workers, have any text.
"""

_FORMS_OF_EVENTS = {event: re.compile(form, re.DOTALL) for event, form in _FORMS.items()}

_OF_GAMES = frozenset({"started", "accepted", "void", "abandoned", "superseded", "annulled"})
_WITH_GAMES = _OF_GAMES | {SET_ASIDE, "released"}
_WITH_DIGESTS = _OF_GAMES - {"started", "abandoned", "annulled"} | {
    *(ANNOUNCED, FROZEN, "created", "scheduled", "entered"),
    *(state.value for state in State),
}


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
        if (line.game is not None and line.event not in _WITH_GAMES) or (
            line.attempt is not None and line.event not in _OF_GAMES
        ):
            yield f"{where}: judge writes no game or attempt there"
        if line.digest is not None and line.event not in _WITH_DIGESTS:
            yield f"{where}: judge writes no digest there"
        if not _is_written(contest, line, game, results, names, voids):
            yield f"{where}: judge does not write {line.text!r:.100} there"
        if line.event == "void" and line.game is not None:
            voids[line.game] = line.text


def _is_written(
    contest: PublishedContest,
    line: JournalLine,
    game: PublishedGame | None,
    results: Mapping[tuple[int, int], VerifiedRecord],
    names: set[str],
    voids: Mapping[str, str],
) -> bool:
    match line.event:
        case "created":
            return line.text == f"{len(contest.snapshot.entries) - len(contest.entered)} entries"
        case "scheduled":
            return scheduled_games(line.text) > 0
        case "started":
            return game is None or line.text == f"{game.first} - {game.second}"
        case "accepted":
            return game is None or line.text in _stories(game, line, results)
        case "disqualified" | "entered" | "agent-withdrawn":
            return True  # compared with the tables
        case "released":
            return line.game is not None or bool(re.fullmatch(r"[0-9]{1,9} games: .*", line.text, re.DOTALL))
    form = _FORMS_OF_EVENTS.get(line.event)
    if form is None:
        return True
    found = form.fullmatch(line.text)
    if found is None:
        return False
    parts = found.groupdict()
    if line.event == SET_ASIDE:
        return game is not None and voids.get(game.id) == parts["why"]
    agents = {parts[key] for key in ("agent", "first", "second") if key in parts}
    return line.event == NOT_ENTERED or agents <= names


def _stories(
    game: PublishedGame, line: JournalLine, results: Mapping[tuple[int, int], VerifiedRecord]
) -> Sequence[str]:
    """The possible texts of a result; the line's own if its record is not there."""
    result = game.result if game.attempt == line.attempt else None
    record = results.get((game.number, line.attempt or 0))
    if record is not None and record.outcome is not None:
        result = record.outcome.row(game, line.attempt or 0)
    if result is None:
        return [line.text]
    if result.winner is None:
        return [f"{game.first} - {game.second}: no winner: {result.reason}"]
    return [f"{result.winner} won: {result.reason}"]
