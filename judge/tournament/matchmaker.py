"""The next pair of a ladder (docs/decisions/0013-matchmaking-of-ladders.md)."""

from collections import Counter
from enum import IntEnum
from math import ceil

import numpy as np
import numpy.typing as npt

from judge.contest_games import Pairing
from judge.record.seeds import Seed, numbers
from judge.statistics.online_ratings import OnlineRatings
from judge.statistics.portable_math import Vector, exp, log, share
from judge.tournament.formats.ladder import Matchmaking

Places = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]

_NORMAL_SLOPE = 1.702
"""Makes the logistic function approximate the normal distribution, with an error of at most 0.01."""

_LEAST_LENGTH = 1e-9


class _Row(IntEnum):
    ACTIVE = 0
    ANCHOR = 1
    OPEN = 2
    GAMES = 3
    AUTHOR_GAMES = 4
    """Against agents of its own author."""
    PERIOD_GAMES = 5
    FIRST_SEATS = 6
    AUTHOR = 7
    """Number of the author; -1: unknown."""
    FIRST_PERIOD = 8
    """Number of the first period in which the agent has a minimum."""
    OPEN_TIME = 9
    """Time of finished games minus the start of open ones, in drawn games."""


class LadderGames:
    """The agents of a ladder and the numbers of their games. Agents have the same places as in `OnlineRatings`."""

    def __init__(self, rules: Matchmaking) -> None:
        self.rules = rules
        self.drawn = 0
        """Number of drawn games."""
        self.anchor_games = 0
        self.period = 0
        self.period_left = 0
        """Number of games until the next period."""
        self._names: list[str] = []
        self._places: dict[str, int] = {}
        self._authors: dict[str, int] = {}
        self._meetings: dict[tuple[int, int], tuple[int, int]] = {}
        """Number of games, and the first seat's agent in the last one."""
        self._open_pairs = Counter[tuple[int, int]]()
        self._table: npt.NDArray[np.int64] = np.zeros((len(_Row), 16), dtype=np.int64)
        self._against: npt.NDArray[np.int32] = np.zeros((16, 16), dtype=np.int32)
        """Games per agent and author of the opponent."""

    @property
    def active(self) -> Flags:
        return self._row(_Row.ACTIVE) > 0

    @property
    def anchors(self) -> Flags:
        return self._row(_Row.ANCHOR) > 0

    @property
    def open_games(self) -> npt.NDArray[np.int64]:
        return self._row(_Row.OPEN)

    @property
    def games(self) -> npt.NDArray[np.int64]:
        """Drawn games per agent."""
        return self._row(_Row.GAMES)

    @property
    def owed(self) -> npt.NDArray[np.int64]:
        """Games per agent until its minimum of this period; 0 for anchors."""
        due = (self._row(_Row.FIRST_PERIOD) <= self.period) & self.active & ~self.anchors
        return np.where(due, np.maximum(self.rules.minimum_games - self._row(_Row.PERIOD_GAMES), 0), 0)

    @property
    def missing(self) -> npt.NDArray[np.int64]:
        """As `owed`; 0 for agents that may not play more now."""
        return np.where(self.has_share, self.owed, 0)

    @property
    def has_share(self) -> Flags:
        """Whether each agent may play more games. Agents of large authors and agents with long games have limits."""
        counted = self.active & ~self.anchors
        portion = self._portions()
        is_limited: Flags = portion < portion[counted].max(initial=0.0)
        if not is_limited.any():
            return ~is_limited
        mean = self.games[counted].sum() / np.add.accumulate(portion[counted])[-1]
        found: Flags = ~is_limited | (self.games < np.maximum(1.0, portion * mean))
        return found

    @property
    def is_free(self) -> Flags:
        """Whether each agent has fewer open games than allowed; one is allowed if its mean game is long."""
        most = np.where(self._lengths() > self.rules.long_game, 1, self.rules.open_games)
        return self.active & (self.open_games < most)

    def _portions(self) -> Vector:
        weight, longest = self.rules.author_weight, self.rules.long_game
        of_author = weight / np.maximum(self._agents_of_authors(self.active), weight)
        of_author[-1] = 1.0
        portion: Vector = of_author[self._row(_Row.AUTHOR)] * longest / np.maximum(self._lengths(), longest)
        return portion

    def _lengths(self) -> Vector:
        # Mean length of an agent's games relative to that of all, in games that were drawn during them.
        games, time = self.games, self._row(_Row.OPEN_TIME) + self.open_games * self.drawn
        mean = time.sum() / max(1, games.sum())
        lengths: Vector = time / np.maximum(games, 1) / max(mean, _LEAST_LENGTH)
        return lengths

    def name(self, place: int) -> str:
        return self._names[place]

    def admit(self, agent: str, author: str = "", *, anchor: bool = False) -> None:
        """Add an agent. An empty `author` is unknown. Raises ValueError if it was added before."""
        if agent in self._places:
            raise ValueError(f"agent {agent} is already in the ladder")
        place = self._places[agent] = len(self._names)
        if place == self._table.shape[1]:
            self._table = np.concatenate([self._table, np.zeros_like(self._table)], axis=1)
            self._against = np.concatenate([self._against, np.zeros_like(self._against)])
        number = self._authors.setdefault(author, len(self._authors)) if author else -1
        if number == self._against.shape[1]:
            self._against = np.concatenate([self._against, np.zeros_like(self._against)], axis=1)
        # An agent that joins within a period has its first minimum in the next one.
        self._names.append(agent)
        rows = [_Row.ACTIVE, _Row.ANCHOR, _Row.AUTHOR, _Row.FIRST_PERIOD]
        self._table[rows, place] = 1, anchor, number, self.period + (self.drawn > 0)

    def withdraw(self, agent: str) -> None:
        """Pair the agent no more. Its open games still count."""
        self._table[_Row.ACTIVE, self._places[agent]] = 0

    def draw(self, pairing: Pairing) -> None:
        """Count a drawn game as open. Raises ValueError for a bye."""
        if pairing.second is None:
            raise ValueError("a ladder has no byes")
        first, second = self._places[pairing.first], self._places[pairing.second]
        if not self.period_left:
            self._begin_period()
        pair = _pair(first, second)
        self.drawn += 1
        self.period_left -= 1
        places = [first, second]
        self.anchor_games += bool(self._table[_Row.ANCHOR, places].any())
        for row in (_Row.OPEN, _Row.GAMES, _Row.PERIOD_GAMES):
            self._table[row, places] += 1
        self._table[_Row.OPEN_TIME, places] -= self.drawn
        self._table[_Row.FIRST_SEATS, first] += 1
        if self._table[_Row.AUTHOR, first] == self._table[_Row.AUTHOR, second] >= 0:
            self._table[_Row.AUTHOR_GAMES, places] += 1
        for agent, opponent in (places, reversed(places)):
            author = self._table[_Row.AUTHOR, opponent]
            if author >= 0:
                self._against[agent, author] += 1
        self._meetings[pair] = self._meetings.get(pair, (0, first))[0] + 1, first
        self._open_pairs[pair] += 1
        if not self.period_left:
            self._begin_period()

    def finish(self, first: str, second: str) -> None:
        """Count an open game as finished. Raises ValueError if it is not open."""
        places = [self._places[first], self._places[second]]
        pair = _pair(*places)
        if pair not in self._open_pairs:
            raise ValueError(f"{first} and {second} have no open game")
        self._table[_Row.OPEN, places] -= 1
        self._table[_Row.OPEN_TIME, places] += self.drawn
        self._open_pairs[pair] -= 1
        if not self._open_pairs[pair]:
            del self._open_pairs[pair]

    def reopen(self, first: str, second: str) -> None:
        """Count a finished game as open: its result was withdrawn."""
        places = [self._places[first], self._places[second]]
        self._table[_Row.OPEN, places] += 1
        self._table[_Row.OPEN_TIME, places] -= self.drawn
        self._open_pairs[_pair(*places)] += 1

    def pairing(self, pair: tuple[int, int], seed: Seed) -> Pairing:
        """The next game of a pair, the lower place first.

        `meeting` is the number of the pair's earlier games, the table the game's number from 1.
        """
        meetings, last_first = self._meetings.get(pair, (0, None))
        if last_first is None:
            # How many more first seats than second ones each agent had.
            one, other = (2 * self._table[_Row.FIRST_SEATS, each] - self._table[_Row.GAMES, each] for each in pair)
            at = int(one > other) if one != other else numbers(seed, "seats", self.drawn).randrange(2)
        else:
            at = int(last_first == pair[0])
        first, second = self.name(pair[at]), self.name(pair[1 - at])
        return Pairing(first, second, 1, self.drawn + 1, meeting=meetings)

    def open_in(self, low: Places, high: Places) -> Vector:
        count = len(self._names)
        keys = np.array(sorted(a * count + b for a, b in self._open_pairs), dtype=np.intp)
        if not len(keys):
            return np.zeros(len(low))
        values = np.array([self._open_pairs[divmod(int(key), count)] for key in keys], dtype=np.float64)
        wanted = low * count + high
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[at] == wanted, values[at], 0.0)

    def allowed(self, low: Places, high: Places) -> Flags:
        """Whether the shares of authors allow each pair."""
        authors, rules, games = self._row(_Row.AUTHOR), self.rules, self.games + 1
        playing = authors[self.active]
        if len(playing) and playing[0] >= 0 and (playing == playing[0]).all():
            return np.ones(len(low), dtype=np.bool_)
        of_low, of_high = authors[low], authors[high]
        full = self._row(_Row.AUTHOR_GAMES) + 1 > rules.author_share * games
        is_own = (of_low == of_high) & (of_low >= 0)
        is_full: Flags = is_own & (full[low] | full[high])
        agents = self._agents_of_authors(self.active & ~self.anchors)
        others = int((agents[:-1] > 0).sum() + agents[-1]) - 1
        # Below twice the mean share of an author, there could be no pair.
        portion = max(rules.opponent_share, 2 / max(1, others))
        is_large = agents > rules.author_weight
        is_large[-1] = False
        if portion < 1 and is_large.any():
            most = np.where(self.anchors, np.inf, np.ceil(portion * games))
            is_full |= ~is_own & is_large[of_high] & (self._against[low, of_high] >= most[low])
            is_full |= ~is_own & is_large[of_low] & (self._against[high, of_low] >= most[high])
        return ~is_full

    def _agents_of_authors(self, agents: Flags) -> npt.NDArray[np.intp]:
        # The last number is that of agents without a known author.
        authors, count = self._row(_Row.AUTHOR)[agents], len(self._authors)
        return np.bincount(np.where(authors < 0, count, authors), minlength=count + 1)

    def _row(self, number: int) -> npt.NDArray[np.int64]:
        return self._table[number, : len(self._names)]

    def _begin_period(self) -> None:
        self.period += 1
        self._table[_Row.PERIOD_GAMES] = 0
        playing = int((self.active & ~self.anchors).sum())
        self.period_left = max(1, ceil(playing * self.rules.period * max(1, self.rules.minimum_games)))


def next_pair(ratings: OnlineRatings, games: LadderGames, seed: Seed) -> Pairing | None:
    """The next game, or None if no pair is allowed now."""
    rules = games.rules
    can_play = games.is_free
    missing = games.missing
    anchors = can_play & games.anchors
    others = can_play & ~games.anchors
    ready = others & games.has_share
    is_anchor_due = games.anchor_games < rules.anchor_share * (games.drawn + 1)
    # The share of an agent may return before the period ends.
    is_late = 0 < games.period_left <= games.owed.sum()
    late = others & (missing > 0)
    for agents, opponents in [*([(late, ready), (late, others)] if is_late else []), (ready, ready), (others, others)]:
        for kind in [anchors, opponents] if is_anchor_due else [opponents, anchors]:
            pair = _best_pair(ratings, games, np.flatnonzero(agents), np.flatnonzero(kind), seed)
            if pair is not None:
                return games.pairing(pair, seed)
    return None


def _pair(first: int, second: int) -> tuple[int, int]:
    return (first, second) if first < second else (second, first)


def _best_pair(
    ratings: OnlineRatings, games: LadderGames, agents: Places, opponents: Places, seed: Seed
) -> tuple[int, int] | None:
    if not len(agents) or not len(opponents):
        return None
    width = games.rules.neighbours
    while True:
        low, high = _neighbours(ratings.ratings, agents, opponents, width)
        allowed = games.allowed(low, high)
        low, high = low[allowed], high[allowed]
        if len(low):
            break
        if width >= len(opponents):
            return None
        width *= 8
    values = _values(ratings, games, low, high)
    best = np.flatnonzero(values == values.max())
    ties = np.unique(low[best] * len(ratings.ratings) + high[best])
    at = numbers(seed, "pair", games.drawn).randrange(len(ties)) if len(ties) > 1 else 0
    first, second = divmod(int(ties[at]), len(ratings.ratings))
    return first, second


def _neighbours(ratings: Vector, agents: Places, opponents: Places, width: int) -> tuple[Places, Places]:
    """Pairs of agents with at most `width` stronger and `width` weaker opponents each."""
    ordered = opponents[np.argsort(ratings[opponents], kind="stable")]
    is_one_set = np.array_equal(agents, opponents)
    agents = ordered if is_one_set else agents
    middle: Places = np.arange(len(agents)) + 1 if is_one_set else np.searchsorted(ratings[ordered], ratings[agents])
    width = min(width, len(ordered))
    # Within one set, the weaker side has the same pairs. The agent itself is in neither list.
    at = middle[:, None] + np.arange(0 if is_one_set else -width, width + (not is_one_set))
    inside = (at >= 0) & (at < len(ordered))
    first = np.broadcast_to(agents[:, None], at.shape)[inside]
    second = ordered[at[inside]]
    distinct = first != second
    first, second = first[distinct], second[distinct]
    return np.minimum(first, second), np.maximum(first, second)


def _values(ratings: OnlineRatings, games: LadderGames, low: Places, high: Places) -> Vector:
    elo, covariance = ratings.ratings, ratings.covariance
    variances = covariance.diagonal()
    lead = np.abs(elo[low] - elo[high])
    variance = np.maximum(variances[low] + variances[high] - 2 * covariance[low, high], 1e-12)
    p = share(lead)
    x = 2 * p * (1 - p) * variance
    gain: Vector = log(1 + x / (1 + games.open_in(low, high) * x))
    return gain * 2 / (1 + exp(_NORMAL_SLOPE * lead / np.sqrt(variance)))
