"""The games that are installed, with everything that the judge knows of each outside its rules."""

from judge.base.registry import Registry
from judge.catalog.entry import GameEntry

GAMES = Registry("judge.games", "game", GameEntry)  # type: ignore[type-abstract]


def game_entry(name: str) -> GameEntry:
    """The entry of the game called `name`; InputError as `Registry.entry`."""
    return GAMES.entry(name)
