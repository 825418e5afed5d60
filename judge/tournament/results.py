"""What was played: a game's result by agents' ids, and a pairing with all of its games and the points they gave."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from judge.contest_games import GameResult, Pairing
from judge.games.types import Verdict

FAILURES = frozenset(
    {
        Verdict.ILLEGAL,
        Verdict.UNREADABLE,
        Verdict.START_TIME,
        Verdict.TURN_TIME,
        Verdict.MATCH_TIME,
        Verdict.MEMORY,
        Verdict.OUTPUT,
        Verdict.CRASH,
        Verdict.REFUSED,
    }
)
"""What an agent fails by. A foul is lost by the rules and a resignation by choice; Gomocup counts neither."""


@dataclass(slots=True)
class SideScore:
    """What one side of a pairing did in its games. One that both lost by a fault is a loss of both."""

    wins: int = 0
    draws: int = 0
    losses: int = 0
    failures: int = 0
    replies: int = 0
    charged_ms: float = 0.0

    @property
    def games(self) -> int:
        """How many it has played."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Wins, and draws as halves; the policy's points do not matter."""
        return self.wins + self.draws / 2

    def count(self, game: GameResult, seat: int) -> None:
        """Add a game in which this side had `seat`."""
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
        """Add what was done in another pairing."""
        self.wins += other.wins
        self.draws += other.draws
        self.losses += other.losses
        self.failures += other.failures
        self.replies += other.replies
        self.charged_ms += other.charged_ms


@dataclass(frozen=True)
class PlayedPairing:
    """A pairing with its games so far, and the points of `first` and `second`; a bye may have points without games."""

    pairing: Pairing
    games: tuple[GameResult, ...]
    points: tuple[float, float]
    is_over: bool = True
    """Whether each of its games has a result."""

    @cached_property
    def sides(self) -> tuple[SideScore, SideScore]:
        """What `first` and `second` did; counted once, for a table asks many times."""
        first, second = SideScore(), SideScore()
        for game in self.games:
            seat = int(game.first != self.pairing.first)
            first.count(game, seat)
            second.count(game, 1 - seat)
        return first, second

    def points_of(self, agent: str) -> float:
        """The points of one of the two."""
        return self.points[agent != self.pairing.first]

    def side_of(self, agent: str) -> SideScore:
        """What one of the two did."""
        return self.sides[agent != self.pairing.first]


def games_by_table(results: Iterable[GameResult]) -> dict[tuple[int, int], list[GameResult]]:
    """The games of each pairing, named by its round and table, in their order."""
    tables: dict[tuple[int, int], list[GameResult]] = {}
    for result in results:
        tables.setdefault((result.round, result.table), []).append(result)
    for games in tables.values():
        games.sort(key=lambda result: result.leg)
    return tables


def failure_shares(results: Iterable[GameResult]) -> dict[str, float]:
    """For each agent the share of its games, 0 to 1, that it lost by a failure of its own."""
    games: dict[str, int] = {}
    failures: dict[str, int] = {}
    for result in results:
        for agent, fault in zip(result.agents, result.faults, strict=True):
            games[agent] = games.get(agent, 0) + 1
            failures[agent] = failures.get(agent, 0) + (fault in FAILURES)
    return {agent: failures[agent] / games[agent] for agent in games}


def without(played: Sequence[PlayedPairing], agents: Collection[str]) -> list[PlayedPairing]:
    """The results among the other agents: games of the disqualified count for nobody."""
    out = frozenset(agents)
    return [each for each in played if not each.pairing.agents & out]
