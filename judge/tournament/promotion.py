"""Promotion and seats of leagues that are played every year."""

from collections.abc import Collection, Mapping, Sequence
from typing import Self

from pydantic import Field, model_validator

from judge.base.parsing import FailFastTuple, FrozenModel


class Seats(FrozenModel):
    """The agents of the first league at its start."""

    previous: str = Field(default="", max_length=1000)
    """Last year's contest or its export, relative to this file: all but the last agents of its first league."""
    down: int | None = Field(default=None, ge=0)
    """Number of last agents without a seat; by default `promoted`."""
    successors: Mapping[str, str] = {}
    """New versions that keep a seat, by the name of the former version."""
    agents: FailFastTuple[str] = ()
    """Seats given by hand. In a contest that has begun: all seats."""

    @model_validator(mode="after")
    def _has_seats(self) -> Self:
        if not self.previous and not self.agents:
            raise ValueError("no seats: name last year's contest in previous, or set agents")
        if len(set(self.agents)) < len(self.agents):
            raise ValueError("agents names an agent twice: leave one out")
        if self.successors and not self.previous:
            raise ValueError("successors need previous: last year's contest")
        return self


def promoted_count(order: Sequence[str], count: int, new: Collection[str]) -> int:
    """`count`, or more if all agents up to a later place are `new`."""
    old = (place for place, agent in enumerate(order) if agent not in new)
    return max(count, next(old, len(order)))


def seated(previous: Sequence[str], down: int, entries: Collection[str], successors: Mapping[str, str]) -> list[str]:
    """Agents of a league at its start: those of `previous`, without the last `down` places.

    `previous` is last year's final order, disqualified agents last. `successors` is as in `Seats`. Seats
    of agents that do not enter stay empty.
    """
    kept = previous[: max(0, len(previous) - down)]
    return [agent for agent in (successors.get(former, former) for former in kept) if agent in entries]
