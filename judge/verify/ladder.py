"""Verifies that each pair of a ladder follows from the log before it and from the contest's secret."""

from collections.abc import Iterator, Sequence

from judge.base.errors import InputError
from judge.contest_games import GameResult, Pairing
from judge.publish.model import PublishedContest
from judge.verify.log import ReadLog
from judge.verify.records import VerifiedRecord


def ladder_problems(contest: PublishedContest, log: ReadLog, records: Sequence[VerifiedRecord]) -> Iterator[str]:
    """Yield choices that differ from those of the matchmaker. Nothing is checked before the secret is revealed."""
    seed = contest.tournament.seed
    if not contest.snapshot.format.draws_when_free or seed is None:
        return
    # It needs NumPy, whose import takes long.
    from judge.tournament.ladder import LadderHistory, follow

    by_id = {game.id: game for game in contest.games}
    withdrawn = {(record.number, record.attempt): record.outcome for record in records}

    def result_of(game: str, attempt: int) -> GameResult:
        row = by_id[game]
        if row.result is not None and row.attempt == attempt:
            return row.result
        outcome = withdrawn.get((row.number, attempt))
        if outcome is None:
            raise InputError(
                f"game {row.number}: the result of attempt {attempt}, on which later pairs depend, is missing"
            )
        return outcome.row(row, attempt)

    entries = contest.snapshot.by_name()
    at_start = tuple(entry for entry in contest.snapshot.entries if entry.name not in contest.entered)
    first = contest.snapshot.model_copy(update={"entries": at_start})
    history = LadderHistory(first, seed, result_of, entries.__getitem__)
    found: list[str] = []

    def compare(pairing: Pairing) -> None:
        expected = history.next()
        if expected != pairing and len(found) < MAX_REPORTED:
            right = "no pair" if expected is None else f"{expected.first} - {expected.second}"
            found.append(
                f"game {history.drawn + 1}: the matchmaker chooses {right}, but {pairing.first} - {pairing.second} "
                "was scheduled"
            )

    pairings = list(contest.pairings)
    problem = ""
    try:
        follow(history, log.lines, pairings, contest.games, compare)
    except (InputError, ValueError, LookupError) as error:
        problem = f"the choice of the pairs cannot be verified after game {history.drawn}: {error}"
    yield from found
    if problem:
        yield problem
    elif history.drawn != len(pairings):
        yield f"the log schedules {history.drawn} games, pairings.json has {len(pairings)}"


MAX_REPORTED = 10
