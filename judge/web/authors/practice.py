"""Practice games as their author sees them: on the page of the submission, and each on a page of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from judge.matches import Match, MatchState
from judge.publish.model import PublishedMatch
from judge.referee.spec import RecordFile, public_part
from judge.site.match_files import read_stored
from judge.site.match_page import MatchContext
from judge.site.pages import PagePlace
from judge.store.practice_games import PracticeGame
from judge.store.submission_types import ENTERS, Submission
from judge.submissions.service import IntakeDirectory
from judge.web.authors.games import page_of, private_bytes
from judge.web.intake.schemas import practice_reason

OPEN = (MatchState.PENDING, MatchState.RUNNING)


def practice_values(
    directory: IntakeDirectory, submission: Submission, games: Sequence[PracticeGame]
) -> Mapping[str, Any]:
    """What the page of a submission shows of its practice games."""
    limits, clock = directory.intake, directory.policy.clock
    is_waiting = any(game.state in OPEN for game in games)
    may_ask = limits.practice_games and limits.practice_games_per_day >= limits.practice_games
    return {
        "games": [{**asdict(game), "why": practice_reason(game), "names": _names(game)} for game in games],
        "practice_s": limits.practice_s if clock.match_ms > limits.practice_s * 1000 else 0,
        "turn_ms": clock.turn_ms or clock.asap_ms,
        "may_practise": bool(may_ask and submission.state in ENTERS and not is_waiting),
        "is_practising": is_waiting,
    }


def practice_page(directory: IntakeDirectory, game: PracticeGame, place: PagePlace, folder: str) -> bytes | None:
    """The page of a game; None if it is not over. Raises InputError for a damaged record."""
    if game.record is None:
        return None
    first, second = _names(game)
    match = Match(str(game.id), game.id, 0, 0, game.number, first, second, "", game.state, game.attempt)
    context = MatchContext(directory.contest, PublishedMatch.of(match, None), ("", ""))
    values = {"has_authors": True, "submission": game.submission, "folder": folder}
    return page_of(_record(directory, game.record), [game.seat], context, place, "author_practice.html", values)


def practice_file(directory: IntakeDirectory, game: PracticeGame, ending: str, seat: int | None) -> bytes | None:
    """The public record (`seat` None), or what was withheld of the author's seat; None if there is none."""
    if game.record is None:
        return None
    file = _record(directory, game.record)
    if seat is None:
        return public_part(file).to_json(as_read=True)
    return private_bytes(file, seat, ending) if seat == game.seat else None


def _record(directory: IntakeDirectory, digest: str) -> RecordFile:
    return read_stored(directory.practice, digest)


def _names(game: PracticeGame) -> tuple[str, str]:
    """By seat; before the game is over only the agent is known, and not its seat."""
    return (game.agent, game.opponent) if game.seat == 0 else (game.opponent, game.agent)
