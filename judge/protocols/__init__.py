"""The installed protocols, by name."""

from typing import Any

from judge.base.errors import InputError
from judge.base.parsing import parse
from judge.base.registry import Registry
from judge.games import GameRules
from judge.protocols.entry import ProtocolEntry
from judge.protocols.types import AgentProtocol

PERSON = "person"

PROTOCOLS = Registry("judge.protocols", "protocol", ProtocolEntry)


def protocol_entry(name: str) -> ProtocolEntry:
    """Raises InputError."""
    return PROTOCOLS.entry(name)


def new_protocol(name: str, options: dict[str, Any], game: GameRules | None = None) -> AgentProtocol:
    """A protocol for people requires `game`.

    Raises InputError for an invalid option, or a game that a person cannot play.
    """
    entry = protocol_entry(name)
    chosen = parse(entry.options, options, f"protocol {name}")
    if not entry.is_for_people:
        return entry.build(chosen)
    words = None if game is None else game.person()
    if words is None:
        which = "without a game" if game is None else f"{game.name}: its entry has no words for a person"
        raise InputError(f"a person cannot play {which}; choose agents for both seats")
    return entry.build(chosen, words)


def not_carried(name: str, game: GameRules) -> str:
    """Empty if `name` supports `game`, else such as "carries gomoku, renju, not GAME".

    Protocols support the games that they name and those that name them.
    """
    games = protocol_entry(name).games
    if not games or game.name in games or game.protocol == name:
        return ""
    return f"carries {', '.join(games)}, not {game.name}"
