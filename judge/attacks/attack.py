"""An attack is a table row: a program, its expected result, and its result without a defence.

The programs are in images/attacks; `judge.attacks.table` has the rows, `judge.attacks.runner` plays them.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judge.games.types import Verdict
from judge.referee.live_wire import LiveWire
from judge.referee.referee import Referee
from judge.referee.setup import build_referee
from judge.referee.spec import GameRecord, RecordFile, SeatRecord
from judge.referee.transcript import Entry, EntryKind, unseal
from judge.sandbox.docker.renewal import Renewal

Changes = Mapping[str, Mapping[str, Any]]
"""By section: `{"clock": {"turn_ms": 5000}}`."""

Weakening = Callable[[dict[str, Any], Mapping[str, str]], None]
"""Changes the Engine's create arguments; gets the scene's names."""

NOT_PERMITTED = frozenset({"EPERM", "EACCES", "ENOSYS"})

BY_ITSELF = "nothing to switch off: "


@dataclass(frozen=True, slots=True)
class Opponent:
    """The opponent's program."""

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


def no_proof(_seen: Observed) -> str:
    """Require nothing more."""
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """By default the agent plays and wins by the rules."""

    verdict: Verdict = Verdict.WIN
    against_opponent: bool = False
    """The innocent opponent gets the verdict: only without a defence."""
    also: tuple[Verdict, ...] = ()
    because: str = ""
    denied: tuple[str, ...] = ()
    """The agent must report all as denied, with one of the errors `by`."""
    by: frozenset[str] = NOT_PERMITTED
    got: tuple[str, ...] = ()
    did: Mapping[str, int] = field(default_factory=dict)
    """Minimum numbers of reported actions."""
    sent: bytes = b""
    harm: str = ""
    """Part of the scene's harm: only without a defence."""
    proof: Proof = no_proof
    may_fail: bool = False
    """It wins, and its box may run on after that."""

    def __str__(self) -> str:
        word = "plays on" if self.verdict is Verdict.WIN else self.verdict.value
        word += " of its opponent" if self.against_opponent else ""
        denied = f"; denied {', '.join(self.denied)}" if self.denied else ""
        return word + denied + (f"; gets {', '.join(self.got)}" if self.got else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """The same program without one defence. It must succeed, so the defence is what stops the attack."""

    off: str
    expected: Expected = Expected()
    words: tuple[str, ...] | None = None
    policy: Changes = field(default_factory=dict)
    weaken: Weakening | None = None
    scene: Scene | None = None
    shares_files: bool = False
    renewal: type[Renewal] | None = None
    wire: type[LiveWire] = LiveWire
    referee: Callable[..., Referee] = build_referee
    in_shell: str = ""
    since_linux: tuple[int, int] = (0, 0)
    """First kernel on which the control succeeds."""


class HarmError(Exception):
    """An attack harmed something on the host."""


@contextmanager
def empty_scene(_directory: Path) -> Iterator[Mapping[str, str]]:
    """Prepare nothing."""
    yield {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """The header of `program` in images/attacks describes it."""

    id: str
    """Row of the plan, with a suffix for variants: `A2.select`."""
    title: str
    program: str
    words: tuple[str, ...]
    """Name in the program, and arguments; `{names}` come from the scene."""
    danger: str
    expected: Expected = Expected()
    control: Control | str
    """Success without a defence, or the reason for a missing control."""
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

    @property
    def ponders(self) -> bool:
        return bool(self.policy.get("clock", {}).get("ponder"))
