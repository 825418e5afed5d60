"""The order of an agent's games: from which state of its folders each one starts, and whose states count.

It depends on the schedule alone, never on which of two games ended first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class FolderTurn:
    """The place of one game among those of an agent."""

    after: int | None
    """The number of the game whose end this one starts from; None: from what was there before the first."""
    commits: bool
    """Whether what it leaves counts."""


def folder_turns(schedule: Sequence[Sequence[str]], rule: Literal["each", "first"]) -> list[tuple[FolderTurn, ...]]:
    """For each game of a schedule, given by the names of its agents, the turn of each of them.

    `each` (`folders.round` of the policy): a game waits for the one before it. `first`: all start alike and may be
    played at once; only the last of the schedule counts.
    """
    last = {agent: number for number, agents in enumerate(schedule) for agent in agents}
    if rule == "first":
        return [
            tuple(FolderTurn(None, last[agent] == number) for agent in agents) for number, agents in enumerate(schedule)
        ]
    turns, before = [], dict[str, int]()
    for number, agents in enumerate(schedule):
        turns.append(tuple(FolderTurn(before.get(agent), True) for agent in agents))
        before |= dict.fromkeys(agents, number)
    return turns
