"""An attack is a row of attacks.toml: a program of images/attacks, and its expected result.

`judge.attacks.table` reads the rows, `judge.attacks.runner` plays them.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from pydantic import ConfigDict

from judge.games.types import Verdict
from judge.record.spec import GameRecord, RecordFile, SeatRecord
from judge.record.transcript import Entry, EntryKind, unseal

KNOWN_FIELDS = ConfigDict(extra="forbid")

Changes = Mapping[str, Mapping[str, Any]]
"""Of a policy, by section: `{"clock": {"turn_ms": 5000}}`."""

NOT_PERMITTED = ("EPERM", "EACCES", "ENOSYS")


@dataclass(frozen=True, slots=True)
class Opponent:
    """The opponent's program."""

    __pydantic_config__: ClassVar = KNOWN_FIELDS

    mode: str
    ms: int = 0
    program: str = "honest"
    is_accomplice: bool = False


@dataclass(frozen=True, slots=True)
class Observed:
    """The games of an attack: records, and findings of the scene."""

    files: tuple[RecordFile, ...]
    found: tuple[str, ...] = ()
    grown_bytes: int = 0
    judge_cpu_ms: float = 0.0
    """CPU time of the judge's main thread in all games, divided by the suite's slowdown."""
    seat: int = 0
    peace: "Observed | None" = None
    """The same opponent against a harmless agent, if it measures itself."""

    @property
    def record(self) -> GameRecord:
        return self.files[-1].record

    @property
    def entries(self) -> list[Entry]:
        return unseal(self.files[-1].transcript)

    @property
    def attacker(self) -> SeatRecord:
        return self.record.seats[self.seat]

    @property
    def opponent(self) -> SeatRecord:
        return self.record.seats[1 - self.seat]

    def bytes_of(self, kind: EntryKind, seat: int = 0) -> bytes:
        return b"".join(e.data for e in self.entries if (e.kind, e.seat) == (kind, seat))

    def done(self, what: str) -> int:
        return sum(_numbers(self.attacker.notes, f"did {what}"))

    def measured(self, what: str) -> list[int]:
        return _numbers(self.opponent.notes, f"measured {what}")


def _numbers(notes: Sequence[str], words: str) -> list[int]:
    return [int(note[len(words) :]) for note in notes if re.fullmatch(re.escape(words) + r" -?\d+", note)]


Scene = Callable[[Path], AbstractContextManager[Mapping[str, str]]]
"""Prepares the host and yields names for the attack's words. Raises `HarmError` at the end."""

Proof = Callable[[Observed], str]
"""Returns the problem, or an empty text."""


def no_proof(_seen: Observed) -> str:
    """Require nothing more."""
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """By default the agent plays and wins by the rules."""

    __pydantic_config__: ClassVar = KNOWN_FIELDS

    verdict: Verdict = Verdict.WIN
    also: tuple[Verdict, ...] = ()
    because: str = ""
    denied: tuple[str, ...] = ()
    """The agent must report all as denied, with one of the errors `by`."""
    by: tuple[str, ...] = NOT_PERMITTED
    got: tuple[str, ...] = ()
    did: Mapping[str, int] = field(default_factory=dict)
    """Minimum numbers of reported actions."""
    sent: str = ""
    """Bytes as characters."""
    proof: Proof = no_proof
    may_fail: bool = False
    """It wins, and its box may run on after that."""

    def __str__(self) -> str:
        word = "plays on" if self.verdict is Verdict.WIN else self.verdict.value
        denied = f"; denied {', '.join(self.denied)}" if self.denied else ""
        return word + denied + (f"; gets {', '.join(self.got)}" if self.got else "")


class HarmError(Exception):
    """An attack harmed something on the host."""


@contextmanager
def empty_scene(_directory: Path) -> Iterator[Mapping[str, str]]:
    """Prepare nothing."""
    yield {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """The header of `program` in images/attacks describes it."""

    __pydantic_config__: ClassVar = KNOWN_FIELDS

    id: str
    """Row of the plan, with a suffix for variants: `A2.select`."""
    title: str
    program: str
    words: tuple[str, ...]
    """Name in the program, and arguments; `{names}` come from the scene."""
    danger: str
    expected: Expected = Expected()
    policy: Changes = field(default_factory=dict)
    scene: Scene = empty_scene
    opponent: Opponent | None = None
    is_tight: bool = False
    """A loss on a busy host proves nothing."""
    seats: tuple[int, ...] = (0,)
    shares_core: bool = False
    opening: bool = False
    is_kept: bool = False
    """Use the persistent folder; an honest game follows."""
    plays: int = 1
    engine_allows: tuple[str, ...] = ()
    """Allowed by the Engine's default seccomp profile: harmless in a box."""
    earns_void: bool = False
    """Only then the policy's starvation share and replays apply; otherwise a busy host could be mistaken for a defence.
    """
    is_quick: bool = True
    ends_frozen: bool = False
    """Its processes are to end while they are frozen."""

    @property
    def ponders(self) -> bool:
        return bool(self.policy.get("clock", {}).get("ponder"))

    @property
    def is_reused(self) -> bool:
        return self.policy.get("box", {}).get("reuse") == "agent"

    @property
    def needs_calm(self) -> bool:
        """Whether it proves nothing while others use its cores."""
        return self.is_tight or (self.earns_void and self.expected.verdict is not Verdict.CRASH)
