"""`./scripts/bench ladder`: the cost of a choice and of a result in a ladder with many agents and games."""

import random
import time
from collections.abc import Iterator

from judge.contest_games import Pairing
from judge.statistics.online_ratings import OnlineRatings, Prior
from judge.statistics.scales import expected_score
from judge.tournament.formats.ladder import Matchmaking
from judge.tournament.matchmaker import LadderGames, next_pair
from scripts.benchmarks.measuring import Bench, Figure, share_of

AGENTS, GAMES, SLOTS = 1000, 100_000, 64
CHOICES = 500
LIMIT_MS = 5.0


def ladder(_: Bench) -> Iterator[Figure]:
    """Choices and results after 100,000 games of 1,000 agents, and an exact fit of all games."""
    return measure(AGENTS, GAMES, CHOICES)


def measure(agents: int, games: int, choices: int) -> Iterator[Figure]:
    """The same for any numbers."""
    chance = random.Random(1)
    strength = [chance.gauss(0, 400) for _ in range(agents)]
    ratings = OnlineRatings()
    played = LadderGames(Matchmaking())
    for at in range(agents):
        is_anchor = at % 100 == 0
        ratings.admit(str(at), Prior(strength[at], 0 if is_anchor else 500))
        played.admit(str(at), f"author {at // 3}", anchor=is_anchor)
    order = sorted(range(agents), key=lambda at: strength[at])
    for _ in range(games):
        near = chance.randrange(agents - 1)
        pair = order[near], order[min(agents - 1, near + chance.randint(1, 100))]
        first, second = pair if chance.random() < 0.5 else pair[::-1]
        ratings.count(str(first), str(second), _ending(chance, strength[first] - strength[second]))
        played.draw(Pairing(str(first), str(second), 1, played.drawn + 1))
        played.finish(str(first), str(second))
    began = time.perf_counter()
    ratings.refit()
    fit_s = time.perf_counter() - began
    running: list[tuple[str, str]] = []
    chosen_ms: list[float] = []
    updated_ms: list[float] = []
    while len(chosen_ms) < choices:
        began = time.perf_counter()
        pairing = next_pair(ratings, played, 1)
        chosen_ms.append((time.perf_counter() - began) * 1000)
        if pairing is not None and pairing.second is not None:
            played.draw(pairing)
            running.append((pairing.first, pairing.second))
        if len(running) >= min(SLOTS, agents // 2):
            names = running.pop(chance.randrange(len(running)))
            played.finish(*names)
            ending = _ending(chance, strength[int(names[0])] - strength[int(names[1])])
            began = time.perf_counter()
            ratings.add(*names, ending)
            updated_ms.append((time.perf_counter() - began) * 1000)
    for name, values, limit in (
        ("ladder, choice of a pair", chosen_ms, LIMIT_MS),
        ("ladder, update after a result", updated_ms, None),
    ):
        for word, part in (("median", 0.5), ("p99", 0.99)):
            value = share_of(values, part)
            yield Figure(f"{name}, {word}", value, "ms", limit, None if limit is None else value / limit)
    yield Figure("ladder, exact fit of all games", fit_s, "s")


def _ending(chance: random.Random, lead: float) -> int:
    return 0 if chance.random() < expected_score(lead) else 2
