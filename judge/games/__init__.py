"""The installed games, by name."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from judge.base.registry import Registry
from judge.games.person import PersonWords
from judge.games.types import Game


class GameRules(ABC):
    """`judge.catalog.entry.GameEntry` adds everything else."""

    name: str

    protocol: str = ""
    """If neither the policy nor the agent names one."""

    @abstractmethod
    def new(self, options: Mapping[str, Any]) -> Game:
        """A game before its first request. Raises InputError."""

    def person(self) -> PersonWords | None:
        return None


GAMES = Registry("judge.games", "game", GameRules)  # type: ignore[type-abstract]


def new_game(name: str, options: Mapping[str, Any]) -> Game:
    """Raises InputError for an invalid name or option."""
    return GAMES.entry(name).new(options)
