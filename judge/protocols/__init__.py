"""The protocols that are installed, by the name that a policy or an agent gives."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from judge.base.errors import InputError
from judge.base.parsing import parse
from judge.base.registry import Registry
from judge.games import GameRules
from judge.protocols.entry import ProtocolEntry
from judge.protocols.types import AgentProtocol

PERSON = "person"
"""The protocol of a person, and the runtime of whoever speaks it: a seat with it was a person's."""

FormerBuilds = Mapping[Callable[..., AgentProtocol], Callable[..., AgentProtocol]]
"""By the `build` of a protocol's entry, what builds the protocol of older records."""

PROTOCOLS = Registry("judge.protocols", "protocol", ProtocolEntry)


def protocol_entry(name: str) -> ProtocolEntry:
    """The entry of `name`; InputError with the nearest spelling for an unknown one."""
    return PROTOCOLS.entry(name)


def new_protocol(
    name: str,
    options: dict[str, Any],
    game: GameRules | None = None,
    former: FormerBuilds = MappingProxyType({}),
) -> AgentProtocol:
    """A protocol at the start of its conversation. `game` is required if people speak it.

    Raises InputError for an option that does not fit, and for a game that a person cannot play.
    """
    entry = protocol_entry(name)
    chosen = parse(entry.options, options, f"protocol {name}")
    build = former.get(entry.build, entry.build)
    if not entry.is_for_people:
        return build(chosen)
    words = None if game is None else game.person()
    if words is None:
        which = "without a game" if game is None else f"{game.name}: its entry has no words for a person"
        raise InputError(f"a person cannot play {which}; choose agents for both seats")
    return build(chosen, words)


def not_carried(name: str, game: GameRules) -> str:
    """Which games the protocol called `name` carries if it does not carry `game`, behind its name; empty if it does.

    A protocol names the games that it was made for, and a game names the protocol that it is usually played in; either
    is enough.
    """
    games = protocol_entry(name).games
    if not games or game.name in games or game.protocol == name:
        return ""
    return f"carries {', '.join(games)}, not {game.name}"
