"""Ladders of simulated games between agents with known strengths."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from judge.contest_games import Pairing
from judge.statistics.online_ratings import OnlineRatings, Prior
from judge.statistics.scales import expected_score
from judge.tournament.formats.ladder import Matchmaking
from judge.tournament.matchmaker import LadderGames, next_pair

FASTGAME_2026 = (
    *(3161, 2971, 2965, 2790, 2637, 2584, 2380, 2374, 2345, 2220, 2099, 2057, 2022, 2002, 1985, 1964, 1926, 1892, 1889),
    *(1876, 1867, 1868, 1698, 1675, 1676, 1676, 1649, 1614, 1588, 1436, 1420, 1413, 1320, 1296, 1271, 1267, 1262, 1259),
    *(1236, 1213, 1162, 1106, 1087, 1072, 1010, 981, 902, 895, 881, 830, 802, 779, 767, 712, 489, 281),
)
"""Elo of the programs in Gomocup's Fastgame league of 2026, in the order of its places."""

Score = Callable[["Ladder", str, str], float | None]
Duration = Callable[[str, str], float]


def names_of(strengths: Sequence[float]) -> dict[str, float]:
    """The strengths by agent: `01` is the first."""
    return {f"{place:02}": float(strength) for place, strength in enumerate(strengths, 1)}


class Ratings(OnlineRatings):
    """Without an advantage of the first seat. Also takes expected scores."""

    def __init__(self) -> None:
        super().__init__()
        self._variance[0] = self._covariance[0, 0] = 0

    def add_expected(self, first: str, second: str, score: float) -> None:
        """Count a game as a share of a win and the rest of a loss."""
        self._update(first, second, (score, 0.0, 1 - score))


@dataclass
class Ladder:
    """A ladder whose results are drawn from `strengths` (Elo). `slots` games are open at a time."""

    strengths: dict[str, float]
    seed: int
    rules: Matchmaking = field(default_factory=Matchmaking)
    slots: int = 2
    deviation: float = 1000
    authors: Mapping[str, str] = field(default_factory=dict)
    anchors: Sequence[str] = ()
    is_random: bool = False
    is_expected: bool = False
    """Whether each game counts as its expected score, without chance."""
    score: Score = lambda _ladder, _first, _second: None
    """Expected score of the first agent where it does not follow from the strengths."""
    duration: Duration | None = None
    """Time of a game; None: games end in random order."""

    def __post_init__(self) -> None:
        self.chance = np.random.default_rng(self.seed)
        self.ratings = Ratings()
        self.games = LadderGames(self.rules)
        self.running: list[Pairing] = []
        self.ends: list[float] = []
        self.time = 0.0
        self.finished: Counter[str] = Counter()
        self.waits: list[float] = []
        """Time of an agent between two games, when the second one starts."""
        self._free_since: dict[str, float] = {}
        for agent in self.strengths:
            self.admit(agent)

    def admit(self, agent: str, prior: Prior | None = None) -> None:
        """Add an agent of `strengths`."""
        is_anchor = agent in self.anchors
        if is_anchor:
            prior = Prior(self.strengths[agent], 0)
        self.ratings.admit(agent, prior or Prior(1600, self.deviation))
        self.games.admit(agent, self.authors.get(agent, ""), anchor=is_anchor)
        self._free_since[agent] = self.time

    def play(self, games: int) -> None:
        """Finish a number of games."""
        for _ in range(games):
            while len(self.running) < self.slots and (pairing := self._next()) is not None:
                self._start(pairing)
            at = int(self.chance.integers(len(self.running))) if self.duration is None else int(np.argmin(self.ends))
            if self.duration is not None:
                self.time = self.ends[at]
            del self.ends[at]
            self._finish(self.running.pop(at))

    def elo(self, agent: str) -> float:
        """The rating of an agent."""
        return self.ratings.rating(agent).elo

    def _next(self) -> Pairing | None:
        if not self.is_random:
            return next_pair(self.ratings, self.games, self.seed)
        first, second = self.chance.choice(self.ratings.agents, 2, replace=False)
        return Pairing(str(first), str(second), 1, 1)

    def _start(self, pairing: Pairing) -> None:
        assert pairing.second is not None
        self.games.draw(pairing)
        self.running.append(pairing)
        self.ends.append(self.time + (self.duration(pairing.first, pairing.second) if self.duration else 0.0))
        for agent in (pairing.first, pairing.second):
            if agent in self._free_since:
                self.waits.append(self.time - self._free_since.pop(agent))

    def _finish(self, pairing: Pairing) -> None:
        assert pairing.second is not None
        first, second = pairing.first, pairing.second
        score = self.score(self, first, second)
        if score is None:
            score = expected_score(self.strengths[first] - self.strengths[second])
        self.games.finish(first, second)
        for agent in (first, second):
            self.finished[agent] += 1
            if not self.games.open_games[self.ratings.place(agent)]:
                self._free_since[agent] = self.time
        if self.is_expected:
            self.ratings.add_expected(first, second, score)
        else:
            self.ratings.add(first, second, 0 if self.chance.random() < score else 2)


def top_error(ladder: Ladder, top: int = 10) -> float:
    """Mean distance of the top agents' places in the ratings from their true places."""
    true = sorted(ladder.strengths, key=lambda agent: -ladder.strengths[agent])
    rated = sorted(ladder.strengths, key=lambda agent: -ladder.elo(agent))
    return sum(abs(rated.index(agent) - place) for place, agent in enumerate(true[:top])) / top
