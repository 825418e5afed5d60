"""Results by agents' ids, and pairings with games and points."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from judge.contest_games import GameResult, Pairing
from judge.games.types import FAILURES


@dataclass(slots=True)
class SideScore:
    """One side's results. A fault of both is a loss of both."""

    wins: int = 0
    draws: int = 0
    losses: int = 0
    failures: int = 0
    replies: int = 0
    charged_ms: float = 0.0

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Wins plus half of the draws."""
        return self.wins + self.draws / 2

    def count(self, game: GameResult, seat: int) -> None:
        if game.is_draw:
            self.draws += 1
        elif game.winner == game.agents[seat]:
            self.wins += 1
        else:
            self.losses += 1
        self.failures += game.faults[seat] in FAILURES
        self.replies += game.replies[seat]
        self.charged_ms += game.charged_ms[seat]

    def add(self, other: "SideScore") -> None:
        """Add another pairing's results."""
        self.wins += other.wins
        self.draws += other.draws
        self.losses += other.losses
        self.failures += other.failures
        self.replies += other.replies
        self.charged_ms += other.charged_ms


@dataclass(frozen=True)
class PlayedPairing:
    """A pairing with games and points so far."""

    pairing: Pairing
    games: tuple[GameResult, ...]
    points: tuple[float, float]
    is_over: bool = True

    @cached_property
    def sides(self) -> tuple[SideScore, SideScore]:
        first, second = SideScore(), SideScore()
        for game in self.games:
            seat = int(game.first != self.pairing.first)
            first.count(game, seat)
            second.count(game, 1 - seat)
        return first, second

    def points_of(self, agent: str) -> float:
        return self.points[agent != self.pairing.first]

    def side_of(self, agent: str) -> SideScore:
        return self.sides[agent != self.pairing.first]


def games_by_table(results: Iterable[GameResult]) -> dict[tuple[int, int], list[GameResult]]:
    """Games by round and table."""
    tables: dict[tuple[int, int], list[GameResult]] = {}
    for result in results:
        tables.setdefault((result.round, result.table), []).append(result)
    for games in tables.values():
        games.sort(key=lambda result: result.leg)
    return tables


def failure_shares(results: Iterable[GameResult], after: int = 1) -> dict[str, float]:
    """Share of games lost by an agent's failure, 0 to 1, of agents with at least `after` games."""
    games: dict[str, int] = {}
    failures: dict[str, int] = {}
    for result in results:
        for agent, fault in zip(result.agents, result.faults, strict=True):
            games[agent] = games.get(agent, 0) + 1
            failures[agent] = failures.get(agent, 0) + (fault in FAILURES)
    return {agent: failures[agent] / count for agent, count in games.items() if count >= after}


def without(played: Sequence[PlayedPairing], agents: Collection[str]) -> list[PlayedPairing]:
    """Results without these agents."""
    out = frozenset(agents)
    return [each for each in played if not each.pairing.agents & out]
