"""Ladders of simulated games between agents with known strengths."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from judge.contest_games import Pairing
from judge.statistics.online_ratings import OnlineRatings, Prior
from judge.statistics.rating_model import RatingModel
from judge.statistics.scales import expected_score
from judge.tournament.formats.ladder import Matchmaking
from judge.tournament.matchmaker import LadderGames, next_pair

Chance = Callable[[str, str], float | None]


@dataclass
class Ladder:
    """A ladder whose results are drawn from `strengths` (Elo). `slots` games are open at a time."""

    strengths: dict[str, float]
    seed: int
    rules: Matchmaking = field(default_factory=Matchmaking)
    model: RatingModel = field(default_factory=lambda: RatingModel(advantage=0, draw_elo=0.01, mean=1600))
    slots: int = 2
    deviation: float = 1000
    authors: Mapping[str, str] = field(default_factory=dict)
    anchors: Sequence[str] = ()
    is_random: bool = False
    fixed_result: Chance = lambda _first, _second: None
    """The score of a game that does not depend on strengths."""

    def __post_init__(self) -> None:
        self.chance = np.random.default_rng(self.seed)
        self.ratings = OnlineRatings(self.model)
        self.games = LadderGames(self.rules)
        self.running: list[Pairing] = []
        for agent in self.strengths:
            self.admit(agent)

    def admit(self, agent: str, prior: Prior | None = None) -> None:
        """Add an agent of `strengths`."""
        is_anchor = agent in self.anchors
        if is_anchor:
            prior = Prior(self.strengths[agent], 0)
        self.ratings.admit(agent, prior or Prior(1600, self.deviation))
        self.games.admit(agent, self.authors.get(agent, ""), anchor=is_anchor)

    def play(self, games: int) -> None:
        """Finish a number of games."""
        for _ in range(games):
            while len(self.running) < self.slots and (pairing := self._next()) is not None:
                self.games.draw(pairing)
                self.running.append(pairing)
            self._finish(self.running.pop(int(self.chance.integers(len(self.running)))))

    def elo(self, agent: str) -> float:
        """The rating of an agent."""
        return self.ratings.rating(agent).elo

    def _next(self) -> Pairing | None:
        if not self.is_random:
            return next_pair(self.ratings, self.games, self.seed)
        first, second = self.chance.choice(self.ratings.agents, 2, replace=False)
        return Pairing(str(first), str(second), 1, 1)

    def _finish(self, pairing: Pairing) -> None:
        assert pairing.second is not None
        first, second = pairing.first, pairing.second
        score = self.fixed_result(first, second)
        if score is None:
            score = expected_score(self.strengths[first] - self.strengths[second])
        self.games.finish(first, second)
        self.ratings.add(first, second, 0 if self.chance.random() < score else 2)


def top_error(ladder: Ladder, top: int = 10) -> float:
    """Mean distance of the top agents' places in the ratings from their true places."""
    true = sorted(ladder.strengths, key=lambda agent: -ladder.strengths[agent])
    rated = sorted(ladder.strengths, key=lambda agent: -ladder.elo(agent))
    return sum(abs(rated.index(agent) - place) for place, agent in enumerate(true[:top])) / top
