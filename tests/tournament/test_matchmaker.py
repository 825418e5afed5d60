"""The next pair of a ladder: limits for any sequence of results, value, seats, ties."""

from collections import Counter
from dataclasses import dataclass, field
from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.contest_games import Pairing
from judge.statistics.online_ratings import OnlineRatings, Prior
from judge.tournament.formats.ladder import Matchmaking
from judge.tournament.matchmaker import LadderGames, next_pair
from judge.tournament.schedule import opening_number
from tests.examples import examples, sized

RULES = st.builds(
    Matchmaking,
    anchor_share=st.sampled_from([0, 0.05, 0.3, 1]),
    minimum_games=st.integers(0, 3),
    period=st.sampled_from([1, 1.5, 3]),
    open_games=st.integers(1, 3),
    author_share=st.sampled_from([0, 0.1, 0.5, 1]),
    author_weight=st.sampled_from([1, 2, 1000]),
    opponent_share=st.sampled_from([0.1, 0.4, 1]),
    long_game=st.sampled_from([1.2, 2, 1000]),
    neighbours=st.sampled_from([1, 4, 16]),
)


@dataclass
class Field:
    """A ladder, and its own count of everything that is limited."""

    rules: Matchmaking
    ratings: OnlineRatings = field(default_factory=OnlineRatings)
    authors: dict[str, str] = field(default_factory=dict)
    anchors: set[str] = field(default_factory=set)
    active: set[str] = field(default_factory=set)
    drawn: list[Pairing] = field(default_factory=list)
    running: list[Pairing] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    """Number of drawn games at the start of each running one."""
    played: Counter[str] = field(default_factory=Counter)
    met: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Games of an agent by author of the opponent."""
    length: Counter[str] = field(default_factory=Counter)
    """Games that were drawn during an agent's finished games."""
    count: int = 0
    """Number of agents from the start."""

    def __post_init__(self) -> None:
        self.games = LadderGames(self.rules)
        for _ in range(self.count):
            self.admit()

    def admit(self, author: str = "", *, anchor: bool = False, mean: float = 0, deviation: float = 500) -> str:
        agent = f"agent-{len(self.authors)}"
        self.ratings.admit(agent, Prior(mean, 0 if anchor else deviation))
        self.games.admit(agent, author, anchor=anchor)
        self.authors[agent] = author
        self.active.add(agent)
        if anchor:
            self.anchors.add(agent)
        return agent

    def choose(self, seed: int = 1) -> Pairing | None:
        pairing = next_pair(self.ratings, self.games, seed)
        if pairing is not None:
            self.check(pairing)
            self.games.draw(pairing)
            self.drawn.append(pairing)
            for agent in agents_of(pairing):
                self.played[agent] += 1
                (opponent,) = pairing.agents - {agent}
                self.met[agent, self.authors[opponent]] += 1
            self.running.append(pairing)
            self.starts.append(len(self.drawn))
        return pairing

    def finish(self, at: int, ending: int) -> None:
        length = len(self.drawn) - self.starts.pop(at % len(self.running))
        first, second = agents_of(self.running.pop(at % len(self.running)))
        self.length.update({first: length, second: length})
        self.games.finish(first, second)
        self.ratings.add(first, second, ending)

    def open_games(self) -> Counter[str]:
        return Counter(agent for pairing in self.running for agent in agents_of(pairing))

    def is_allowed(self, first: str, second: str) -> bool:
        """Whether the strict limits allow a pair: open games and the shares of authors."""
        if first == second or not {first, second} <= self.active:
            return False
        opened = self.open_games()
        if any(opened[agent] >= (1 if self.is_long(agent) else self.rules.open_games) for agent in (first, second)):
            return False
        if self.is_full(first, second) or self.is_full(second, first):
            return False
        if not self.authors[first] or self.authors[first] != self.authors[second]:
            return True
        return all(
            self.own_games(agent) + 1 <= self.rules.author_share * (self.played[agent] + 1) for agent in (first, second)
        )

    def is_long(self, agent: str) -> bool:
        """Whether the agent's mean game is long."""
        length, total = self.length[agent], self.length.total()
        for pairing, start in zip(self.running, self.starts, strict=True):
            length += (len(self.drawn) - start) * (agent in pairing.agents)
            total += 2 * (len(self.drawn) - start)
        mean = max(1e-9, total / max(1, 2 * len(self.drawn)))
        return length / max(1, self.played[agent]) / mean > self.rules.long_game

    def is_full(self, agent: str, opponent: str) -> bool:
        """Whether the agent has played its share of games against the opponent's author, which is large."""
        author = self.authors[opponent]
        if not author or agent in self.anchors or author == self.authors[agent]:
            return False
        agents = Counter(self.authors[each] or each for each in self.active - self.anchors)
        if agents[author] <= self.rules.author_weight:
            return False
        portion = max(self.rules.opponent_share, 2 / max(1, len(agents) - 1))
        return portion < 1 and self.met[agent, author] >= ceil(portion * (self.played[agent] + 1))

    def own_games(self, agent: str) -> int:
        return self.met[agent, self.authors[agent]] if self.authors[agent] else 0

    def check(self, pairing: Pairing) -> None:
        first, second = agents_of(pairing)
        assert self.is_allowed(first, second)
        assert pairing.agents - self.anchors
        earlier = [each for each in self.drawn if each.agents == pairing.agents]
        assert pairing.meeting == len(earlier)
        assert not earlier or earlier[-1].first == second
        self.check_anchors(pairing)

    def check_anchors(self, pairing: Pairing) -> None:
        """Too few games of anchors so far: this one has an anchor unless none is allowed or a minimum is urgent."""
        with_anchor = sum(bool(each.agents & self.anchors) for each in self.drawn)
        is_due = with_anchor < self.rules.anchor_share * (len(self.drawn) + 1)
        missing = self.games.missing
        is_late = 0 < self.games.period_left <= self.games.owed.sum()
        chosen = missing > 0 if is_late else self.games.has_share
        agents = [agent for agent in self.active - self.anchors if chosen[self.ratings.agents.index(agent)]]
        possible = any(self.is_allowed(agent, anchor) for agent in agents for anchor in self.anchors)
        if is_due and possible:
            assert pairing.agents & self.anchors


def agents_of(pairing: Pairing) -> tuple[str, str]:
    assert pairing.second is not None
    return pairing.first, pairing.second


EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("choose"), st.just(0), st.just(0)),
        st.tuples(st.just("choose"), st.just(0), st.just(0)),
        st.tuples(st.just("finish"), st.integers(0, 5), st.integers(0, 2)),
        st.tuples(st.just("finish"), st.integers(0, 5), st.integers(0, 2)),
        st.tuples(st.just("admit"), st.integers(0, 3), st.integers(-800, 800)),
        st.tuples(st.just("withdraw"), st.integers(0, 20), st.just(0)),
    ),
    max_size=150,
)


@given(RULES, EVENTS)
@settings(max_examples=examples(sized(30, 80)), deadline=None)
def test_limits_hold_for_any_sequence(rules: Matchmaking, events: list[tuple[str, int, int]]) -> None:
    """Open games, the author's share, the anchors' share and seats; a pair is found whenever one is allowed."""
    ladder = Field(rules)
    for number in range(6):
        ladder.admit("xyz"[number % 3], anchor=number == 0)
    for kind, at, value in events:
        if kind == "admit":
            ladder.admit(["", "x", "y", "z"][at], mean=value)
        elif kind == "withdraw":
            agent = f"agent-{at % len(ladder.authors)}"
            ladder.games.withdraw(agent)
            ladder.active.discard(agent)
        elif kind == "finish" and ladder.running:
            ladder.finish(at, value)
        elif kind == "choose" and ladder.choose() is None:
            players = sorted(ladder.active - ladder.anchors)
            assert not any(ladder.is_allowed(agent, other) for agent in players for other in ladder.active)
        for agent in ladder.authors:
            assert ladder.open_games()[agent] <= rules.open_games
            assert ladder.own_games(agent) <= rules.author_share * ladder.played[agent]


@given(RULES, st.lists(st.integers(0, 2), min_size=100, max_size=100), st.integers(2, 9), st.booleans())
@settings(max_examples=examples(sized(10, 40)), deadline=None)
def test_all_agents_have_their_minimum(rules: Matchmaking, endings: list[int], agents: int, has_anchor: bool) -> None:
    """With agents that are free. Half of them are of one author and their nearest opponents are of the same one."""
    ladder = Field(rules.model_copy(update={"author_weight": 1000, "long_game": 1000}))
    for at in range(agents):
        ladder.admit("xy"[at % 2], mean=2000 * (at % 2) + at)
    if has_anchor:
        ladder.admit(anchor=True, mean=2000)
    played: Counter[str] = Counter()
    period = None
    for at, ending in enumerate(endings):
        if ladder.games.period != period:
            assert not period or min(played[agent] for agent in list(ladder.authors)[:agents]) >= rules.minimum_games
            played, period = Counter(), ladder.games.period
        pairing = ladder.choose()
        assert pairing is not None
        if period == 0:
            period = 1
        played.update(pairing.agents)
        ladder.finish(at, ending)
    assert ladder.games.period > 1


@pytest.mark.parametrize(("weight", "most"), [(1, 1.2), (2, 2.2), (1000, 8)])
def test_agents_of_a_large_author_play_together_as_many_games_as_its_weight(weight: int, most: float) -> None:
    ladder = Field(Matchmaking(author_weight=weight))
    for at in range(18):
        ladder.admit("x" if at < 6 else "")
    for _ in range(400):
        ladder.choose()
        ladder.finish(0, 1)

    games = [ladder.played[agent] for agent in ladder.authors]
    assert most - 0.5 * (1 + (weight > 2) * 6) < sum(games[:6]) / np.mean(games[6:]) < most
    assert min(games[:6]) > 0


def test_agent_with_long_games_plays_fewer_and_one_at_a_time() -> None:
    ladder = Field(Matchmaking(), count=19)
    slow = ladder.admit()
    for _ in range(600):
        while len(ladder.running) < 6:
            ladder.choose()
        is_ending = [
            slow not in each.agents or len(ladder.drawn) > ladder.starts[at] + 40
            for at, each in enumerate(ladder.running)
        ]
        ladder.finish(is_ending.index(True), 1)

    assert ladder.open_games()[slow] <= 1
    assert ladder.played[slow] < 0.5 * len(ladder.drawn) * 2 / 20


def test_wide_intervals_and_small_leads_are_preferred() -> None:
    ladder = Field(Matchmaking(minimum_games=0))
    for mean, deviation in ((0, 300), (20, 300), (0, 30), (10, 30), (1500, 300)):
        ladder.admit(mean=mean, deviation=deviation)

    assert (ladder.choose() or pytest.fail("no pair")).agents == {"agent-0", "agent-1"}


def test_games_of_a_pair_change_seats_and_share_openings() -> None:
    ladder = Field(Matchmaking(), count=2)

    for _ in range(4):
        ladder.choose()
        ladder.finish(0, 1)

    assert [pairing.table for pairing in ladder.drawn] == [1, 2, 3, 4]
    assert len({pairing.first for pairing in ladder.drawn[:2]}) == 2
    assert [opening_number(pairing, 0, 1) for pairing in ladder.drawn] == [0, 0, 1, 1]


def test_first_seats_are_balanced_over_opponents() -> None:
    ladder = Field(Matchmaking(minimum_games=0), count=30)
    for at in range(300):
        ladder.choose()
        ladder.finish(0, at % 3)

    firsts = Counter(pairing.first for pairing in ladder.drawn)
    surplus = [abs(2 * firsts[agent] - ladder.played[agent]) for agent in ladder.authors]
    assert np.mean(surplus) < 1.5


def test_ties_are_decided_by_the_seed() -> None:
    ladder = Field(Matchmaking(), count=10)

    pairs = [next_pair(ladder.ratings, ladder.games, seed) for seed in range(40)]

    assert len({pair.agents for pair in pairs if pair is not None}) > 15
    assert pairs == [next_pair(ladder.ratings, ladder.games, seed) for seed in range(40)]
    assert next_pair(ladder.ratings, ladder.games, "0" * 64) == next_pair(ladder.ratings, ladder.games, "0" * 64)


def test_no_pair_without_a_free_opponent_and_wrong_calls_are_refused() -> None:
    assert Field(Matchmaking()).choose() is None
    ladder = Field(Matchmaking(open_games=1), count=3)
    with pytest.raises(ValueError, match="agent-0 is already in the ladder"):
        ladder.games.admit("agent-0")
    with pytest.raises(ValueError, match="agent-0 and agent-1 have no open game"):
        ladder.games.finish("agent-0", "agent-1")
    with pytest.raises(ValueError, match="no byes"):
        ladder.games.draw(Pairing("agent-0", None, 1, 1))
    assert ladder.choose() is not None
    assert ladder.choose() is None
