"""Verifies that each draw follows from the entries and the results before it."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from judge.contest_games import AttemptState, GameResult, Pairing
from judge.publish.model import PublishedContest
from judge.store.types import JournalLine
from judge.verify.records import VerifiedRecord


def pairing_problems(
    contest: PublishedContest, log: Sequence[JournalLine] | None, records: Sequence[VerifiedRecord]
) -> Iterator[str]:
    """The first round that does not follow from the results that the log has before it.

    Without a log it follows from the final results of earlier rounds. Ladders are not verified.
    """
    if not contest.snapshot.format.has_rounds:
        return
    pairings, gone, start = contest.pairings, 0, 0
    for count, results in _draws_of_log(contest, log, records) if log is not None else _draws_by_round(contest):
        drawn = _first_pairings(pairings[start:], count)
        changes = _changes_at(contest, pairings[:start], drawn, results, gone)
        if changes is None:
            break
        gone, start = changes, start + len(drawn)
    if start < len(pairings):
        yield f"round {pairings[start].round} does not follow from the entries and the earlier results"


def _draws_of_log(
    contest: PublishedContest, log: Sequence[JournalLine], records: Sequence[VerifiedRecord]
) -> Iterator[tuple[int, Mapping[str, GameResult]]]:
    by_id = {game.id: game for game in contest.games}
    outcomes = {(record.number, record.attempt): record.outcome for record in records}
    results: dict[str, GameResult] = {}
    for line in log:
        game = by_id.get(line.game or "")
        if line.event == "scheduled":
            yield int(line.text.partition(" ")[0]) // contest.snapshot.format.games, results
        elif game is None:
            continue
        elif line.event == AttemptState.ANNULLED:
            results.pop(game.id, None)
        elif line.event == AttemptState.ACCEPTED and line.attempt is not None:
            # A later draw may depend on a result that was withdrawn afterwards.
            outcome = outcomes.get((game.number, line.attempt))
            result = game.result if line.attempt == game.attempt or outcome is None else outcome.row(game, line.attempt)
            if result is not None:
                results[game.id] = result


def _draws_by_round(contest: PublishedContest) -> Iterator[tuple[int, Mapping[str, GameResult]]]:
    results: dict[str, GameResult] = {}
    for number, pairings in groupby(contest.pairings, lambda pairing: pairing.round):
        yield sum(pairing.second is not None for pairing in pairings), results
        results |= {result.id: result for result in contest.results if result.round == number}


def _first_pairings(pairings: Sequence[Pairing], count: int) -> list[Pairing]:
    drawn: list[Pairing] = []
    for pairing in pairings:
        if pairing.second is not None:
            if not count:
                break
            count -= 1
        drawn.append(pairing)
    return drawn


def _changes_at(
    contest: PublishedContest,
    paired: Sequence[Pairing],
    drawn: Sequence[Pairing],
    results: Mapping[str, GameResult],
    gone: int,
) -> int | None:
    """Number of changes of the entries from which a draw follows, or None."""
    tournament = contest.tournament
    for count in range(gone, len(contest.changes) + 1):
        for lots in _LOTS if tournament.seed is None else (None,):
            following = tournament.next(paired, results.values(), contest.absent(count), lots)
            # Earlier versions drew the rounds of a league one by one.
            is_whole = not following[len(drawn) :] or following[len(drawn)].round != drawn[-1].round
            if drawn and following[: len(drawn)] == drawn and is_whole:
                return count
    return None


_LOTS = range(16)
"""Seeds that give each lot between two both results, while the secret is unknown."""
