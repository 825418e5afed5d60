"""The score of a series of games: the first agent's points with their confidence interval, and the time to its end."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

Z95 = 1.96
"""How many standard deviations hold 95 % of a normal distribution."""


@dataclass(frozen=True, slots=True)
class SeriesScore:
    """A series between two agents. `results` are the first one's: 1, 0.5, 0, or None if neither agent scores."""

    names: tuple[str, str]
    games: int
    results: tuple[float | None, ...] = ()
    seconds: float = 0.0
    """Since the first game began."""

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
        """The number of draws."""
        return self.counted.count(0.5)

    @property
    def seconds_left(self) -> float | None:
        """The rest at the pace so far; None before the first game is over."""
        done = len(self.results)
        return self.seconds / done * (self.games - done) if done else None

    def share(self) -> tuple[float, float, float] | None:
        """The first agent's share of the points and its 95 % interval; None before the first game that counts."""
        if not self.counted:
            return None
        return wilson_interval(sum(self.counted), len(self.counted))


def wilson_interval(points: float, games: int) -> tuple[float, float, float]:
    """Share of the points, and Wilson's interval of it at 95 %: sound for few games and for scores of 0 and 100 % too.

    A draw counts as half a win; that makes the interval wider than it need be, never narrower.
    """
    share, square = points / games, Z95**2
    middle = (share + square / (2 * games)) / (1 + square / games)
    half = Z95 / (1 + square / games) * sqrt(share * (1 - share) / games + square / (4 * games**2))
    return share, max(0.0, middle - half), min(1.0, middle + half)


def score_words(series: SeriesScore) -> str:
    """`67 % (30-90)  a 3 - 1 b, 2 drawn`: the first one's share with its 95 % interval, and the wins of each."""
    wins = series.wins
    text = f"{series.names[0]} {wins[0]} - {wins[1]} {series.names[1]}, {series.draws} drawn"
    share = series.share()
    if share is None:
        return text
    own, low, high = (round(100 * number) for number in share)
    return f"{own} % ({low}-{high})  {text}"


def clock_words(seconds: float) -> str:
    """`0:07`, `12:30`, `1:02:03`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
