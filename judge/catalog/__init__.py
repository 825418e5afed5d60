"""The installed games, with everything outside their rules, and contest managers with which judge exchanges files."""

from judge.base.registry import Registry
from judge.catalog.entry import GameEntry
from judge.catalog.managers import ContestManager

GAMES = Registry("judge.games", "game", GameEntry)  # type: ignore[type-abstract]

MANAGERS = Registry("judge.formats", "contest manager", ContestManager)


def game_entry(name: str) -> GameEntry:
    """Raises InputError as `Registry.entry` does."""
    return GAMES.entry(name)
