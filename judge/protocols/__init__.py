"""The table of protocols: a name, what builds one, and which lines of it are private."""

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from judge.errors import InputError
from judge.protocols import gomocup, gomocup_words, qchess, stratego
from judge.protocols.types import AgentProtocol


@dataclass(frozen=True, slots=True)
class ProtocolEntry:
    """What the rest of the judge needs to know of a protocol."""

    options: type[BaseModel]
    build: Callable[[Any], AgentProtocol]
    is_private: Callable[[bytes], bool]


PROTOCOLS: dict[str, ProtocolEntry] = {
    "gomocup": ProtocolEntry(
        gomocup_words.GomocupOptions, gomocup.Gomocup, gomocup_words.is_private
    ),
    "stratego": ProtocolEntry(stratego.StrategoOptions, stratego.Stratego, stratego.is_private),
    "qchess": ProtocolEntry(qchess.QchessOptions, qchess.Qchess, qchess.is_private),
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
