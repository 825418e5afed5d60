"""What the judge knows of a protocol besides its conversation: the type of the entries of `judge.protocols`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from judge.protocols.checks import CHECKS, Check
from judge.protocols.types import AgentProtocol


def _no_objection(game: Mapping[str, Any]) -> str | None:  # noqa: ARG001 some protocols can say all of their games
    return None


def _is_public(line: bytes) -> bool:  # noqa: ARG001 most protocols have no private lines
    return False


@dataclass(frozen=True, slots=True)
class ProtocolEntry:
    """What the rest of the judge needs to know of a protocol."""

    options: type[BaseModel]
    build: Callable[..., AgentProtocol]
    """Makes a protocol from its options; and, if it `is_for_people`, from the game's words for a person."""
    is_private: Callable[[bytes], bool] = _is_public
    """Whether a line that an agent wrote is only for its author."""
    objection: Callable[[Mapping[str, Any]], str | None] = _no_objection
    """What of a game, as it describes itself, the protocol cannot say, behind its name; None where it can say all."""
    games: tuple[str, ...] = ()
    """The games that it can carry, beside those whose entries name it; empty: all that it has words for."""
    is_for_people: bool = False
    """Whether a person speaks it, in the words that the game's entry has (`GameRules.person`)."""
    in_contest: Mapping[str, Any] = field(default_factory=dict)
    """Options that a contest's games have where neither the policy nor the agent chooses them."""
    against_person: Mapping[str, int] = field(default_factory=dict)
    """Options of an agent's seat where a person sits opposite."""
    checks: tuple[Check, ...] = CHECKS
    """What `judge check` tries of an agent that speaks it, in the order of the report. Beside `CHECKS` these are the
    checks that the questions of its games name, and those of `judge.protocols.checks` that it has words for."""
