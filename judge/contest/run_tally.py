"""Progress of a contest since this judge started."""

from collections import Counter
from collections.abc import Mapping
from time import monotonic

from judge.contest.attempts import EndedAttempt
from judge.contest.contest import Contest
from judge.contest_games import AttemptState, GameState, total_text
from judge.games.types import FAILURES


class RunTally:
    """Progress since this judge started."""

    def __init__(self, contest: Contest) -> None:
        self._contest = contest
        self._began = monotonic()
        self.finished = 0
        self.voids = 0
        self.failures: Counter[str] = Counter()
        self.counts: Mapping[GameState, int] = contest.store.counts(contest.name)
        self._to_come = contest.view().to_come

    def add(self, event: EndedAttempt) -> None:
        before, self.counts = self.counts, self._contest.store.counts(self._contest.name)
        if _scheduled(before) != _scheduled(self.counts):
            self._to_come = self._contest.view().to_come
        if event.state is AttemptState.VOID:
            self.voids += 1
        if event.state is not AttemptState.ACCEPTED or event.outcome is None:
            return
        self.finished += 1
        names = (event.game.first, event.game.second)
        for name, seat in zip(names, event.outcome.seats, strict=True):
            self.failures[name] += seat.fault in FAILURES

    @property
    def done(self) -> int:
        return self.counts[GameState.DONE]

    @property
    def left(self) -> int:
        """Games without a result, including later rounds; a minimum unless `is_exact`."""
        return _scheduled(self.counts) - self.done + self._to_come.games

    @property
    def is_exact(self) -> bool:
        return self._to_come.is_exact

    @property
    def total_text(self) -> str:
        """All games, such as `at least 12`."""
        return total_text(self.counts, self._to_come.games, is_exact=self.is_exact)

    @property
    def per_minute(self) -> float:
        return 60 * self.finished / max(monotonic() - self._began, 1e-3)

    @property
    def minutes_left(self) -> float | None:
        """Estimated minutes left; None before the first game."""
        return self.left / self.per_minute if self.finished else None


def _scheduled(counts: Mapping[GameState, int]) -> int:
    return sum(counts.values()) - counts[GameState.CANCELLED]
