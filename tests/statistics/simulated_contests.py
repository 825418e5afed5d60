"""Contests of simulated games: agents with a strength and a time a move, on slots of which one may be slow."""

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from judge.contest_games import GameConditions, GameResult
from judge.games.types import Verdict

SPREAD = 0.25
"""Of the logarithm of the time of one move."""


def play(
    seed: int,
    games: int,
    *,
    agents: int = 2,
    slots: int = 4,
    hosts: int = 2,
    differ: float = 0.0,
    slow: Mapping[int, float] | None = None,
    neighbour: float = 0.0,
    helped: float = 0.0,
) -> tuple[list[GameResult], list[GameConditions]]:
    """Every game takes the slot that is free first. Without `differ` all agents are one and no seat is better: an A/A
    contest.

    `slow` are factors of the time on slots by number, `neighbour` is what each game beside it adds to the time of a
    game, `helped` by how much the first seat's probability to win is raised on slot 0.
    """
    chance = np.random.default_rng(seed)
    strength, slowness = chance.normal(0, 150 * differ, agents), chance.normal(0, differ, agents)
    advantage = 20 if differ else 0
    free, busy = np.zeros(slots), np.zeros(slots)
    results, conditions = [], []
    for _ in range(games):
        first, second = chance.choice(agents, 2, replace=False)
        slot = int(free.argmin())
        began = float(free[slot])
        beside = sum(busy[other] > began for other in range(slots) if other != slot and other % hosts == slot % hosts)
        factor = (slow or {}).get(slot, 1.0) * (1 + neighbour * beside)
        moves = chance.integers(15, 40)
        charged = [
            float(np.exp(4 + slowness[agent] + SPREAD * chance.normal(size=moves)).sum() * factor)
            for agent in (first, second)
        ]
        lead = 1 / (1 + 10 ** ((strength[second] - strength[first] - advantage) / 400)) + helped * (slot == 0)
        names = f"agent-{first}", f"agent-{second}"
        is_drawn = chance.random() < 0.2
        winner = None if is_drawn else names[int(chance.random() >= lead)]
        results.append(
            GameResult(
                *names,
                winner,
                Verdict.DRAW if is_drawn else Verdict.WIN,
                replies=(int(moves), int(moves)),
                charged_ms=(charged[0], charged[1]),
            )
        )
        seconds = sum(charged) / 1000
        # What a slot waits for until its next game is of no agent's doing.
        free[slot] = began + seconds * (1 + chance.exponential(0.5))
        busy[slot] = began + seconds
        hour = f"{int(began // 60) % 24:02d}"
        conditions.append(GameConditions(f"host-{slot % hosts}", str(slot), began, seconds, hour))
    return results, conditions


def play_pairs(seed: int, agents: int, games: int) -> tuple[list[GameResult], list[GameConditions]]:
    """All games of a pair, then those of the next one; at the half another host takes over. Two agents take longer
    against each other than each of them does, and what the first seat is worth depends on the two. The hosts are
    fair."""
    chance = np.random.default_rng(seed)
    results, conditions = [], []
    pairs = list(combinations(range(agents), 2))
    slowness = chance.normal(0, 1, agents)
    for number, pair in enumerate(pairs):
        together, lead, advantage = chance.normal(0, 1), chance.uniform(0.2, 0.8), chance.uniform(-0.2, 0.2)
        for game in range(games):
            first, second = pair if game % 2 == 0 else pair[::-1]
            names = f"agent-{first}", f"agent-{second}"
            wins = (lead if game % 2 == 0 else 1 - lead) + advantage
            charged = np.exp(4 + slowness[[first, second]] + together + SPREAD * chance.normal(size=2))
            winner = names[int(chance.random() >= wins)]
            times = float(charged[0]), float(charged[1])
            results.append(GameResult(*names, winner, Verdict.WIN, replies=(1, 1), charged_ms=times))
            began = float(len(results))
            host = f"host-{2 * number // len(pairs)}"
            conditions.append(GameConditions(host, "0", began, 0.5, f"{len(results) // 100:02d}"))
    return results, conditions
