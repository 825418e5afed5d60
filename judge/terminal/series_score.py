"""The score of a match."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SeriesScore:
    """A series. `results` are the first agent's: 1, 0.5, 0, or None if neither scores."""

    names: tuple[str, str]
    games: int
    results: tuple[float | None, ...] = ()
    seconds: float = 0.0

    @property
    def counted(self) -> Sequence[float]:
        return [result for result in self.results if result is not None]

    @property
    def words(self) -> str:
        """Such as `a 3 - 1 b, 2 drawn`."""
        won, lost = self.counted.count(1.0), self.counted.count(0.0)
        return f"{self.names[0]} {won} - {lost} {self.names[1]}, {self.counted.count(0.5)} drawn"

    @property
    def seconds_left(self) -> float | None:
        """Remaining time at the current pace; None before the first result."""
        done = len(self.results)
        return self.seconds / done * (self.games - done) if done else None

    def share(self) -> tuple[float, float, float] | None:
        """The first agent's share of points and its 95 % interval."""
        if not self.counted:
            return None
        from judge.statistics.scales import wilson_interval

        return wilson_interval(sum(self.counted), len(self.counted))
