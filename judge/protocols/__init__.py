"""The table of protocols: a name, what builds one, which lines of it are private, and which games it cannot say."""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ValidationError

from judge.errors import InputError
from judge.protocols import agi, agi_words, gomocup, gomocup_words, person, qchess, stratego
from judge.protocols.types import AgentProtocol


def _no_objection(game: Mapping[str, Any]) -> str | None:  # noqa: ARG001 some protocols can say all of their games
    return None


@dataclass(frozen=True, slots=True)
class ProtocolEntry:
    """What the rest of the judge needs to know of a protocol."""

    options: type[BaseModel]
    build: Callable[[Any], AgentProtocol]
    is_private: Callable[[bytes], bool]
    objection: Callable[[Mapping[str, Any]], str | None] = _no_objection
    """What of a game, as it describes itself, the protocol cannot say, behind its name; None where it can say all."""
    in_contest: Mapping[str, Any] = field(default_factory=dict)
    """Options that a contest's games have where neither the policy nor the agent chooses them."""


PROTOCOLS: dict[str, ProtocolEntry] = {
    "gomocup": ProtocolEntry(
        gomocup_words.GomocupOptions,
        gomocup.Gomocup,
        gomocup_words.is_private,
        gomocup_words.objection,
        in_contest={"game_type": gomocup_words.TOURNAMENT},
    ),
    "agi": ProtocolEntry(agi.AgiOptions, agi.Agi, agi.is_private, agi_words.objection),
    "stratego": ProtocolEntry(stratego.StrategoOptions, stratego.Stratego, stratego.is_private),
    "qchess": ProtocolEntry(qchess.QchessOptions, qchess.Qchess, qchess.is_private),
    person.NAME: ProtocolEntry(person.PersonOptions, person.Person, person.is_private),
}


def protocol_entry(name: str) -> ProtocolEntry:
    """The entry of `name`; InputError with the nearest spelling for an unknown one."""
    try:
        return PROTOCOLS[name]
    except KeyError:
        near = difflib.get_close_matches(name, PROTOCOLS, 1) or list(PROTOCOLS)
        raise InputError(f"there is no protocol {name!r}; perhaps {near[0]!r}") from None


def new_protocol(name: str, options: dict[str, Any]) -> AgentProtocol:
    """A protocol at the start of its conversation; InputError when an option does not fit."""
    entry = protocol_entry(name)
    try:
        return entry.build(entry.options(**options))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise InputError(f"protocol {name}: option {field}: {first['msg']}") from None
