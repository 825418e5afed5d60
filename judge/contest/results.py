"""What was played: a game's result by agents' ids, and a pairing with all of its games and the points they gave."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from judge.contest.pairings import Fixture, Pairing
from judge.games.types import Verdict
from judge.records.outcome import match_scores
from judge.referee.spec import MatchRecord

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

FAILURE_LIMIT = 0.1
"""Gomocup disqualifies who fails in a greater share of its games (facts/gomoku.md 1.3, 3.6)."""


@dataclass(frozen=True, slots=True)
class GameResult:
    """A finished game. `first` sat in seat 0, `winner` is one of the two, or None for a draw or when both are at fault.

    Pairs stand in order of seats: the word for which each lost, how often it answered, and the time charged to it in
    milliseconds. `result` is the line of the field's own manager. `round`, `table` and `game` are the fixture's.
    """

    first: str
    second: str
    winner: str | None
    verdict: Verdict
    reason: str = ""
    result: str = ""
    faults: tuple[Verdict | None, Verdict | None] = (None, None)
    replies: tuple[int, int] = (0, 0)
    charged_ms: tuple[float, float] = (0.0, 0.0)
    round: int = 1
    table: int = 1
    game: int = 0

    def __post_init__(self) -> None:
        """ValueError for a void, which is played again, and for a winner who did not play."""
        if self.verdict is Verdict.VOID:
            raise ValueError("a void is no result: it is played again")
        if self.winner not in (self.first, self.second, None):
            raise ValueError(f"{self.winner!r} won a game of {self.first!r} and {self.second!r}")

    @property
    def agents(self) -> tuple[str, str]:
        """In order of seats."""
        return self.first, self.second

    @property
    def is_draw(self) -> bool:
        """Nobody won and nobody is at fault."""
        return self.verdict is Verdict.DRAW

    @property
    def scores(self) -> tuple[float, float]:
        """1 for a win, a half for a draw, 0 for a loss; 0 for both where both are at fault."""
        return match_scores(self.verdict, None if self.winner is None else self.agents.index(self.winner))


def result_of(fixture: Fixture, record: MatchRecord) -> GameResult:
    """What `record` says of the game `fixture`; ValueError for a void."""
    agents = (fixture.first, fixture.second)
    said = [ply.seat for ply in record.plies]
    first, second = record.seats
    return GameResult(
        first=fixture.first,
        second=fixture.second,
        winner=None if record.winner is None else agents[record.winner],
        verdict=record.verdict,
        reason=record.reason,
        result=record.result,
        faults=(first.fault, second.fault),
        replies=(said.count(0), said.count(1)),
        charged_ms=(first.charged_ms, second.charged_ms),
        round=fixture.round,
        table=fixture.table,
        game=fixture.game,
    )


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
        """Games won, draws as halves, whatever the points."""
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
        games.sort(key=lambda result: result.game)
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


def disqualified(results: Iterable[GameResult], limit: float = FAILURE_LIMIT) -> frozenset[str]:
    """Who failed in more than `limit` of its games; a matter of whole rounds, for the first game of all may fail."""
    shares = failure_shares(results)
    return frozenset(agent for agent, share in shares.items() if share > limit)


def without(played: Sequence[PlayedPairing], agents: Collection[str]) -> list[PlayedPairing]:
    """What was played among the others: the games of who is disqualified count for nobody."""
    out = frozenset(agents)
    return [each for each in played if not each.pairing.agents & out]
