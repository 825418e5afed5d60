"""The type of the entries of `judge.protocols`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from judge.protocols.checks import CHECKS, Check
from judge.protocols.types import AgentProtocol


@dataclass(frozen=True, slots=True)
class ProtocolEntry:
    """See the module."""

    options: type[BaseModel]
    build: Callable[..., AgentProtocol]
    """From options and, if `is_for_people`, the game's words."""
    is_private: Callable[[bytes], bool] = lambda _line: False
    objection: Callable[[Mapping[str, Any]], str | None] = lambda _game: None
    """Why the protocol cannot express a game (to follow its name)."""
    games: tuple[str, ...] = ()
    """In addition to games that name the protocol; empty: all that `objection` accepts."""
    is_for_people: bool = False
    in_contest: Mapping[str, Any] = field(default_factory=dict)
    against_person: Mapping[str, int] = field(default_factory=dict)
    checks: tuple[Check, ...] = CHECKS
    agent_options: str = ""
    """Field of `options` for the `[options]` of an agent.toml; "": none."""
    thread_options: frozenset[str] = frozenset()
    """Those that are numbers of threads, in lower case."""
    memory_options: Mapping[str, int] = field(default_factory=dict)
    """Those that are sizes of memory, in lower case, with their unit in bytes."""
    has_ponder_commands: bool = False
    """Takes `Ponder` stimuli. Other agents ponder without a command."""
    answer_forms: Mapping[str, str] = field(default_factory=dict)
    """Forms by the first word of a command, with an example; "": every other command."""
    probable_answer: Callable[[str], str] = lambda _said: ""
    """The answer that a line in a wrong form probably means; empty: unknown."""
    coordinate_order: str = ""
    """A question about exchanged coordinates, for an answer on a wrong square."""
    counts_from_0: bool = False
    """Columns and rows count from 0."""
    url: str = ""
    """Of its description on the Web, for authors."""
