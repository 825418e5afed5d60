"""Draws and schedules the next games of a contest."""

from judge.contest.contest import Contest
from judge.contest_games import GameState


class Scheduler:
    """Draws from the results so far. In a ladder it follows the journal."""

    def __init__(self, contest: Contest) -> None:
        self._contest = contest
        self._ladder = None
        if not contest.snapshot.format.has_rounds:
            # NumPy takes long to import.
            from judge.contest.ladder import LadderScheduler

            self._ladder = LadderScheduler(contest)

    def schedule_next(self) -> bool:
        """Disqualify failing agents, then schedule the next games. False if none follow now."""
        contest, store, name = self._contest, self._contest.store, self._contest.name
        if store.state(name) != "open":
            return False
        if self._ladder is not None:
            return self._ladder.schedule_next()
        contest.refresh()
        while True:
            [(last, _)] = store.journal_before(name, None, 1)
            counts = store.counts(name)
            if counts[GameState.PENDING] or counts[GameState.HELD]:
                return False
            if counts[GameState.RUNNING] and contest.snapshot.format.waits:
                return False
            results, earlier = store.results(name), store.pairings(name)
            contest.disqualify_failed(results)
            pairings = contest.tournament.next(earlier, results, contest.view().absent)
            games = contest.tournament.games(pairings, len(earlier))
            if not games:
                return False
            if store.schedule(name, games, pairings, after=last):
                return True
