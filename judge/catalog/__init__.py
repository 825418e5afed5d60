"""The installed games, with everything outside their rules."""

from judge.base.registry import Registry
from judge.catalog.entry import GameEntry

GAMES = Registry("judge.games", "game", GameEntry)  # type: ignore[type-abstract]


def game_entry(name: str) -> GameEntry:
    """Raises InputError as `Registry.entry` does."""
    return GAMES.entry(name)
