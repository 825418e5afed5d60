"""Promotion and seats of leagues that are played every year, as at Gomocup."""

from collections.abc import Collection, Mapping, Sequence


def promoted_count(order: Sequence[str], count: int, new: Collection[str]) -> int:
    """Return the number of agents that advance: `count`, or more if all agents up to a later place are `new`."""
    old = (place for place, agent in enumerate(order) if agent not in new)
    return max(count, next(old, len(order)))


def seated(previous: Sequence[str], down: int, entries: Collection[str], successors: Mapping[str, str]) -> list[str]:
    """Return the agents of a league at its start: those of `previous`, without the last `down` places.

    `previous` is last year's final order, disqualified agents last. `successors` maps a former agent to its new
    version, which keeps the seat. The seat of an agent that does not enter stays empty.
    """
    kept = previous[: max(0, len(previous) - down)]
    return [agent for agent in (successors.get(former, former) for former in kept) if agent in entries]
