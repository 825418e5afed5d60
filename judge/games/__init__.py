"""The games that are installed, by the name that a policy, a spec or a command line gives."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from judge.base.registry import Registry
from judge.games.person import PersonWords
from judge.games.types import Game


class GameRules(ABC):
    """What must be known of a game to play it; `judge.catalog.entry.GameEntry` adds everything else."""

    name: str
    """As policies name it; also the name of its entry point."""

    protocol: str = ""
    """What agents speak where neither the policy nor the agent says; empty: one of them must."""

    @abstractmethod
    def new(self, options: Mapping[str, Any]) -> Game:
        """A game before its first request, made with a policy's plain options; InputError for a wrong one."""

    def person(self) -> PersonWords | None:
        """How a person plays it; None: a person cannot."""
        return None


GAMES = Registry("judge.games", "game", GameRules)  # type: ignore[type-abstract]


def new_game(name: str, options: Mapping[str, Any]) -> Game:
    """A game called `name`, before its first request; InputError for a wrong name or option."""
    return GAMES.entry(name).new(options)
