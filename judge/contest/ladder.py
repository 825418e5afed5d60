"""Draws the pairs of a running ladder."""

from collections.abc import Sequence
from time import monotonic

from judge.contest.admissions import enter_passed
from judge.contest.contest import Contest
from judge.contest_games import GameResult, Pairing, ScheduledGame
from judge.contest_view.values import outcome_of
from judge.journal.codec import Event
from judge.journal.events import (
    Accepted,
    AdmissionsReopened,
    Disqualified,
    Entered,
    Rated,
    SubmissionChanged,
    Withdrawn,
)
from judge.journal.state import JournalLine
from judge.store.types import ENTERS
from judge.tournament.formats.ladder import Ladder
from judge.tournament.ladder import LadderHistory, follow

RATED_DEVIATION = 75.0
"""Standard error in Elo from which a rating is reported in the journal, once per agent."""

ADMISSION_INTERVAL_S = 60.0
"""Time between two attempts to enter submissions that have to wait."""


class LadderScheduler:
    """Follows the journal of a contest and schedules one game at a time."""

    def __init__(self, contest: Contest) -> None:
        first, seed, name = contest.first, contest.tournament.seed, contest.name
        if seed is None:
            raise ValueError("a ladder that is played needs its secret")
        self._contest = contest
        self._ends = first.format.ends if isinstance(first.format, Ladder) else None
        self._store = store = contest.store
        self._name = name
        self._enters_at: float | None = None
        self._last = 0
        self._rated: set[str] = set()
        self._pairings: list[Pairing] = store.pairings(name)
        self._games: list[ScheduledGame] = store.schedule_of(name)
        self._by_id = {game.id: game for game in self._games}
        # At the start there may be many results. Later ones are read one by one.
        self._results = {result.id: result for result in store.results(name)}
        self._history = LadderHistory(
            first, seed, self._result_of, lambda agent: self._contest.snapshot.by_name()[agent]
        )

    @property
    def is_over(self) -> bool:
        """Whether no further game is drawn."""
        return self._history.is_over

    def schedule_next(self) -> bool:
        """Schedule the next game, or write the end of the season; False if no pair is allowed now."""
        while True:
            lines = self._store.journal_since(self._name, self._last)
            if lines:
                self._last = lines[-1][0]
            if any(isinstance(line.change, Entered) for _, line in lines):
                self._contest.refresh()
            is_new = any(_may_let_enter(line.change) for _, line in lines)
            follow(self._history, [line.change for _, line in lines], self._pairings, self._games)
            self._report_ratings([line for _, line in lines])
            if is_new or (self._enters_at is not None and monotonic() >= self._enters_at):
                self._enters_at = monotonic() + ADMISSION_INTERVAL_S if enter_passed(self._contest) else None
                continue
            pairing = self._history.next()
            if pairing is None:
                if self._ends is not None and not self.is_over:
                    self._store.schedule(self._name, (), (), self._last, self._ends)
                return False
            (game,) = self._contest.tournament.games([pairing], len(self._pairings))
            if self._store.schedule(self._name, [game], [pairing], self._last, self._ends):
                self._pairings.append(pairing)
                self._games.append(game)
                self._by_id[game.id] = game
                return True

    def _report_ratings(self, lines: Sequence[JournalLine]) -> None:
        changes = [line.change for line in lines]
        self._rated |= {change.agent for change in changes if isinstance(change, Rated)}
        ids = [change.game for change in changes if isinstance(change, Accepted)]
        games = [self._by_id[game] for game in ids if game in self._by_id]
        for agent in sorted({agent for game in games for agent in (game.first, game.second)} - self._rated):
            ratings = self._history.ratings
            rating, error = ratings.rating(agent), ratings.relative_deviation(agent)
            if rating.deviation and error <= RATED_DEVIATION:
                self._store.remark(self._name, Rated(agent, round(rating.elo), round(error)))
                self._rated.add(agent)

    def _result_of(self, game: str, attempt: int) -> GameResult:
        row = self._by_id[game]
        result = self._results.pop(game, None)
        if result is None:
            result = self._store.results_by_number(self._name, [row.number]).get(row.number)
        if result is not None and result.attempt == attempt:
            return result
        withdrawn = self._store.attempt(game, attempt)
        if withdrawn is None or withdrawn.record is None:
            raise ValueError(f"game {row.number}: attempt {attempt} has no record")
        return outcome_of(self._contest.record(withdrawn.record), withdrawn.record).row(row, attempt)


def _may_let_enter(change: Event) -> bool:
    """Whether an agent may enter after it that could not before."""
    if isinstance(change, SubmissionChanged):
        return change.state in ENTERS
    return isinstance(change, Entered | Withdrawn | Disqualified | AdmissionsReopened)
