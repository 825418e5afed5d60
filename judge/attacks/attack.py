"""An attack is a row of a table: a program of ours, its expected result, and its result with a defence off.

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
"""What is other than in the suite's policy, by section: `{"clock": {"turn_ms": 5000}}`."""

Weakening = Callable[[dict[str, Any], Mapping[str, str]], None]
"""Removes one line of an agent's hardening from the Engine's create arguments; gets the names that the scene set up."""

NOT_PERMITTED = frozenset({"EPERM", "EACCES", "ENOSYS"})
"""How a call is denied that the kernel would carry out for somebody else."""

BY_ITSELF = "nothing to switch off: "
"""How the reason begins why there is no control, if the defence is the way the judge works."""


@dataclass(frozen=True, slots=True)
class Opponent:
    """The program that an attack plays against."""

    mode: str
    """Its mode in `program`."""
    ms: int = 0
    """Argument of the mode: milliseconds for each of its answers."""
    program: str = "honest"
    is_accomplice: bool = False
    """Whether it belongs to the attack: its box lacks the same defence in a control."""


@dataclass(frozen=True, slots=True)
class Observed:
    """The games of an attack: their records, and what its scene found afterwards."""

    files: tuple[RecordFile, ...]
    found: tuple[str, ...] = ()
    """What the scene saw harmed, in words."""
    grown_bytes: int = 0
    """By how much the judge's memory had grown at most meanwhile."""
    judge_cpu_ms: float = 0.0
    """Processor time of the judge's main thread in all games, divided by how much slower the suite is."""
    seat: int = 0
    """The attacker's seat."""
    peace: "Observed | None" = None
    """The same opponent against an agent that does no harm, if it measures itself."""

    @property
    def record(self) -> GameRecord:
        """The last game's."""
        return self.files[-1].record

    @property
    def entries(self) -> list[Entry]:
        """The last game's transcript."""
        return unseal(self.files[-1].transcript)

    @property
    def attacker(self) -> SeatRecord:
        """The attacker's part of the last record."""
        return self.record.seats[self.seat]

    @property
    def opponent(self) -> SeatRecord:
        """The opponent's part of the last record."""
        return self.record.seats[1 - self.seat]

    def bytes_of(self, kind: EntryKind, seat: int = 0) -> bytes:
        """All bytes of a kind in the last transcript for a seat."""
        return b"".join(e.data for e in self.entries if (e.kind, e.seat) == (kind, seat))

    def done(self, what: str) -> int:
        """How often the attacker reports that it did something, such as armed a timer."""
        return sum(_numbers(self.attacker.notes, f"did {what}"))

    def measured(self, what: str) -> list[int]:
        """The opponent's own measurements of a quantity, one for each of its answers."""
        return _numbers(self.opponent.notes, f"measured {what}")


def _numbers(notes: Sequence[str], words: str) -> list[int]:
    """The numbers at the end of the notes that begin with `words`."""
    return [int(note[len(words) :]) for note in notes if re.fullmatch(re.escape(words) + r" -?\d+", note)]


Scene = Callable[[Path], AbstractContextManager[Mapping[str, str]]]
"""Sets something up on the host in a directory of its own, gives names for words of the attack, and raises `HarmError`
at its end where that was harmed."""

Proof = Callable[[Observed], str]
"""Says what is not as it must be; nothing when all is well."""


def no_proof(_seen: Observed) -> str:
    """Nothing is asked for beyond the rest."""
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The expected result of an attack: by default the agent plays on and wins by the rules."""

    verdict: Verdict = Verdict.WIN
    against_opponent: bool = False
    """Whether the verdict is on the opponent, which has done nothing: only with a defence off."""
    also: tuple[Verdict, ...] = ()
    """Other verdicts that are as good, where not every transport can tell."""
    because: str = ""
    """Words of the record's reason."""
    denied: tuple[str, ...] = ()
    """What the agent must say that it was denied, all of it, by one of `by`."""
    by: frozenset[str] = NOT_PERMITTED
    got: tuple[str, ...] = ()
    """What it must say that it got; nothing else may it get."""
    did: Mapping[str, int] = field(default_factory=dict)
    """What it must report that it did, and how often at least: proof that the attack acted."""
    sent: bytes = b""
    """Bytes that the transcript must have of its stdout: proof that it printed them."""
    harm: str = ""
    """Words of what the scene must find harmed: only with a defence off."""
    proof: Proof = no_proof

    def __str__(self) -> str:
        word = "plays on" if self.verdict is Verdict.WIN else self.verdict.value
        word += " of its opponent" if self.against_opponent else ""
        denied = f"; denied {', '.join(self.denied)}" if self.denied else ""
        return word + denied + (f"; gets {', '.join(self.got)}" if self.got else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """The same program with one defence off: now it succeeds, so the attack did not fail for another reason."""

    off: str
    """The defence that is off, in words."""
    expected: Expected = Expected()
    words: tuple[str, ...] | None = None
    """Other words for the program; None: the attack's."""
    policy: Changes = field(default_factory=dict)
    weaken: Weakening | None = None
    scene: Scene | None = None
    """Changes something on the host for the control."""
    shares_files: bool = False
    """Whether the box has the staged files of its agent, as all its boxes then have, and nothing is read before."""
    renewal: type[Renewal] | None = None
    """How a box that is kept is renewed; None: as always."""
    wire: type[LiveWire] = LiveWire
    """The judge's wire, without a defence of it."""
    referee: Callable[..., Referee] = build_referee
    """Makes the judge's referee, without a defence of it."""
    in_shell: str = ""
    """A shell command to run the agent in, `{}` in place of its own."""
    since_linux: tuple[int, int] = (0, 0)
    """The first kernel on which the attack succeeds with the defence off."""


class HarmError(Exception):
    """An attack reached something on the host; says what."""


@contextmanager
def empty_scene(_directory: Path) -> Iterator[Mapping[str, str]]:
    """Nothing is set up."""
    yield {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One row; see the header of `program` in images/attacks for what it tries and what must stay true."""

    id: str
    """The row of the plan that it covers, and a word where a row has several: `A2.select`."""
    title: str
    """What the agent does, as a sentence without its subject."""
    program: str
    words: tuple[str, ...]
    """The attack's name in its program, and its arguments; `{names}` are replaced by what the scene sets up."""
    danger: str
    """What it would mean for a contest if it succeeded."""
    expected: Expected = Expected()
    control: Control | str
    """How it succeeds with a defence off; or the reason why that is not tried."""
    policy: Changes = field(default_factory=dict)
    scene: Scene = empty_scene
    opponent: Opponent | None = None
    """None: house-instant."""
    is_tight: bool = False
    """Whether the opponent has little more time than it needs: then a loss on a busy host proves nothing."""
    seats: tuple[int, ...] = (0,)
    """The attacker's seat; one game after the other if there are two."""
    shares_core: bool = False
    """Whether the judge runs on the core of the agents."""
    opening: bool = False
    """Whether the game begins with 1,000 stones on a board of 40x40."""
    is_kept: bool = False
    """Whether its folder is the persistent one; then an honest game is played with what it leaves."""
    plays: int = 1
    """How many games it takes, one after the other."""
    engine_allows: tuple[str, ...] = ()
    """What it may get where the policy takes the Engine's own seccomp profile: harmless in a box, but surface."""
    earns_void: bool = False
    """Whether it is after a void. Then the policy's own share of starvation counts, and a void is played again as often
    as in a contest; for all others nobody counts as starved, so that a busy host is not taken for a defence."""
    is_quick: bool = True
