"""The order of an agent's games, which decides each game's initial folders.

It depends on the schedule alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class FolderTurn:
    """A game's place among an agent's games."""

    after: int | None
    """Game whose folders it continues; None: the initial ones."""
    commits: bool


def folder_turns(schedule: Sequence[Sequence[str]], rule: Literal["each", "first"]) -> list[tuple[FolderTurn, ...]]:
    """The turns of each game's agents.

    `rule` is `folders.round` of the policy (docs/folders.md).
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
