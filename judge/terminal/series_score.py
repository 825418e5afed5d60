"""Score of a series: the first agent's points with confidence interval, and the remaining time."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

Z95 = 1.96
"""Standard deviations of a 95 % interval."""


@dataclass(frozen=True, slots=True)
class SeriesScore:
    """A series. `results` are the first agent's: 1, 0.5, 0, or None if neither scores."""

    names: tuple[str, str]
    games: int
    results: tuple[float | None, ...] = ()
    seconds: float = 0.0

    @property
    def counted(self) -> Sequence[float]:
        """The results that count."""
        return [result for result in self.results if result is not None]

    @property
    def wins(self) -> tuple[int, int]:
        """Games won by each agent."""
        return self.counted.count(1.0), self.counted.count(0.0)

    @property
    def draws(self) -> int:
        """Number of draws."""
        return self.counted.count(0.5)

    @property
    def seconds_left(self) -> float | None:
        """Remaining time at the current pace; None before the first result."""
        done = len(self.results)
        return self.seconds / done * (self.games - done) if done else None

    def share(self) -> tuple[float, float, float] | None:
        """The first agent's share of points and its 95 % interval."""
        if not self.counted:
            return None
        return wilson_interval(sum(self.counted), len(self.counted))


def wilson_interval(points: float, games: int) -> tuple[float, float, float]:
    """Share of points and its 95 % Wilson interval.

    A draw counts as half a win, so the interval may be too wide, never too narrow.
    """
    share, square = points / games, Z95**2
    middle = (share + square / (2 * games)) / (1 + square / games)
    half = Z95 / (1 + square / games) * sqrt(share * (1 - share) / games + square / (4 * games**2))
    return share, max(0.0, middle - half), min(1.0, middle + half)


def score_words(series: SeriesScore) -> str:
    """The score, such as `67 % (30-90)  a 3 - 1 b, 2 drawn`."""
    wins = series.wins
    text = f"{series.names[0]} {wins[0]} - {wins[1]} {series.names[1]}, {series.draws} drawn"
    share = series.share()
    if share is None:
        return text
    own, low, high = (round(100 * number) for number in share)
    return f"{own} % ({low}-{high})  {text}"


def clock_words(seconds: float) -> str:
    """A duration, such as `0:07`, `12:30` or `1:02:03`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
