"""The protocols that are installed, by the name that a policy or an agent gives."""

from typing import Any

from judge.documents import parse
from judge.protocols.entry import ProtocolEntry
from judge.protocols.types import AgentProtocol
from judge.registry import Registry

PROTOCOLS = Registry("judge.protocols", "protocol", ProtocolEntry)


def protocol_entry(name: str) -> ProtocolEntry:
    """The entry of `name`; InputError with the nearest spelling for an unknown one."""
    return PROTOCOLS.entry(name)


def new_protocol(name: str, options: dict[str, Any]) -> AgentProtocol:
    """A protocol at the start of its conversation; InputError when an option does not fit."""
    entry = protocol_entry(name)
    return entry.build(parse(entry.options, options, f"protocol {name}"))
