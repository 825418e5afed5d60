"""Verifies that no pairing of a sequential test was drawn after the decision."""

from collections.abc import Iterator, Sequence

from judge.contest_games import AttemptState
from judge.publish.model import PublishedContest
from judge.store.types import JournalLine
from judge.tournament.formats.sequential import Sequential


def sequential_problems(contest: PublishedContest, log: Sequence[JournalLine]) -> Iterator[str]:
    """Yield rounds that were drawn after the test was decided. Without a log, the order of draws and results is
    unknown, so every round after the decision is one.
    """
    form, tournament = contest.snapshot.format, contest.tournament
    if not isinstance(form, Sequential):
        return
    decided = form.decided_after(tournament.entries(), tournament.played(contest.pairings, contest.results))
    if decided is None:
        return
    counted = {pairing.round for pairing in contest.pairings[:decided]}
    counting = {game.id: -1 for game in contest.games if game.round in counted}
    drawn_at: list[int] = []
    for number, line in enumerate(log):
        if line.event == "scheduled":
            drawn_at += [number] * (int(line.text.partition(" ")[0]) // form.games)
        elif line.event == AttemptState.ACCEPTED and line.game in counting:
            counting[line.game] = number
    decision = max(counting.values(), default=-1)
    for at, pairing in enumerate(contest.pairings[decided:], decided):
        if at >= len(drawn_at) or drawn_at[at] > decision:
            yield f"round {pairing.round} was drawn after the test was decided"
