"""Evidence: the readings for a verdict on a seat, from sources that its agent cannot reach.

`Meter.readings` makes it, the wire adds shares of the wait, and the transcript's EVIDENCE entry stores it. The referee
adds what it charged, for the blame table and the record. A new reading is a field here, set where it is read.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal, cast, get_args

from pydantic import BeforeValidator, Field, PlainSerializer, ValidationInfo, WithJsonSchema, field_validator
from pydantic.json_schema import SkipJsonSchema

from judge.base.parsing import FrozenModel
from judge.base.text import mib, sentence

ReportKind = Literal["started", "exec-failed", "exited", "signalled", "removed", "lost"]


@dataclass(frozen=True, slots=True)
class ProcessReport:
    """State from PID 1, which the agent cannot influence.

    `exec-failed` has the errno, `exited` the code, `signalled` the signal number. Without a report: `removed` by
    another client of the Engine, or `lost`.
    """

    kind: ReportKind
    number: int = 0

    def __str__(self) -> str:
        return f"{self.kind} {self.number}"

    def encode(self) -> bytes:
        return str(self).encode()

    @classmethod
    def decode(cls, data: bytes) -> "ProcessReport":
        """Raises ValueError."""
        kind, _, number = data.decode("ascii").partition(" ")
        if kind not in get_args(ReportKind):
            raise ValueError(f"not a report: {data!r}")
        return cls(cast(ReportKind, kind), int(number))


MAX_REPORT_CHARACTERS = 40


def _report_of(value: object) -> object:
    if not isinstance(value, str):
        return value
    report = ProcessReport.decode(value.encode())
    if str(report) != value or len(value) > MAX_REPORT_CHARACTERS:
        raise ValueError(f"not a report as the judge writes it: {value!r:.40}")
    return report


_Report = Annotated[
    ProcessReport,
    BeforeValidator(_report_of),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string"}),
]
"""Text in JSON."""

_ENTRY_FIELDS = (
    "memory_peak_bytes",
    "memory_cap_bytes",
    "oom_kills",
    "cpu_ns",
    "others_share",
    "held_by_others",
    "opponent_cpu_ns",
    "waited_share",
    "stalled_share",
    "slept_share",
    "game_stalled_share",
    "game_slept_share",
    "pressure_share",
    "host_pressure_share",
    "interrupt_share",
    "reached_cap",
    "kernel_peak_bytes",
)
"""Values of an EVIDENCE entry. A new one is last; older entries end before it."""

_FEWEST = 6
"""Values of the oldest entries."""

MAX_COUNT = 1 << 64


class Evidence(FrozenModel):
    """Readings for a verdict, from sources that the agent cannot reach; None: no reading."""

    report: _Report | None = Field(default=None, title="Report")
    """Such as `exited 3`."""
    oom_kills: int | None = None
    memory_peak_bytes: int | None = None
    memory_cap_bytes: int | None = None
    reached_cap: bool | None = None
    """If False, the host or a parent cgroup caused an out-of-memory kill."""
    kernel_peak_bytes: int | None = None
    """The kernel's own memory for the agent, such as sockets and page tables: the peak with cgroup v1, with v2 the
    highest reading.
    """
    kernel_limit_bytes: int | None = None
    others_share: float | None = None
    """Share (0 to 1) of the slot's core time in this wait that neither agent used."""
    waited_share: float | None = None
    """Share of the wait in which the seat was runnable without a core."""
    stalled_share: float | None = None
    """Share of the wait in which the kernel stalled the judge's probe process."""
    slept_share: float | None = None
    """Share of the wait in which the seat was idle, or waited for memory or a disk."""
    game_stalled_share: float | None = None
    """As `stalled_share`, over all waits of the game; in a record only for `match-time`."""
    game_slept_share: float | None = None
    """As `slept_share`, over the same waits."""
    pressure_share: float | None = None
    """Share of the wait in which the whole box waited for memory or a disk. An agent can cause it, so it is only shown,
    and part of `slept_share`.
    """
    host_pressure_share: float | None = None
    """The same for the host; only shown."""
    interrupt_share: float | None = None
    """Share of the slot's core time. Only shown; agents also cause interrupts."""
    judge_paused_ms: float | None = None
    """Not in `charged_ms`."""
    held_by_others: bool | None = None
    """Another process froze or paused its container."""
    cpu_ms: int | None = None
    charged_ms: float = 0.0
    """Milliseconds charged since this wait's clock started."""
    allowed_ms: int = 0
    """Limit of the wait, including the tolerance."""
    ran_on_ms: float | None = None
    """Time that it ran in its opponent's time."""
    ran_on_cpu_ms: float | None = None
    stopped_cpu_ms: float | None = None
    """In all turns of its opponent, if that is its fault."""
    stopped_turns: int | None = None
    lingered_ms: float | None = None
    lingered_cpu_ms: float | None = None
    bytes_read: int = 0
    """Output since the last answer or in the game. A line counts at least `bounds.MIN_COUNT_BYTES`."""
    detail: str = ""
    """The host's error, or the place of the judge's."""
    cpu_ns: SkipJsonSchema[int | None] = Field(default=None, exclude=True)
    """`cpu_ms` in an entry; not in a record."""
    opponent_cpu_ns: SkipJsonSchema[int | None] = Field(default=None, exclude=True)
    """In an entry of a judge that did not count the time of stopped boxes."""

    @field_validator("cpu_ns", "opponent_cpu_ns")
    @classmethod
    def _is_in_no_record(cls, value: int | None, info: ValidationInfo) -> int | None:
        if info.mode == "json":
            raise ValueError("only an entry of the transcript has this value")
        return value

    @property
    def has_run_on(self) -> bool:
        return any(ms is not None for ms in (self.ran_on_ms, self.stopped_cpu_ms, self.lingered_cpu_ms))

    def encode(self) -> bytes:
        """The data of an EVIDENCE entry."""
        return json.dumps([getattr(self, name) for name in _ENTRY_FIELDS]).encode()

    @classmethod
    def decode(cls, data: bytes) -> "Evidence":
        """Raises ValueError or TypeError."""
        values = json.loads(data)
        if not isinstance(values, list) or not _FEWEST <= len(values) <= len(_ENTRY_FIELDS):
            raise ValueError(f"not a list of {_FEWEST} to {len(_ENTRY_FIELDS)} readings")
        if not all(value is None or 0 <= value < MAX_COUNT for value in values):
            raise ValueError("a reading is out of range")
        return cls.model_validate(dict(zip(_ENTRY_FIELDS, values, strict=False)), strict=True)

    def lines(self) -> Iterator[str]:
        """The readings, one a line, for the fault report."""
        yield f"PID 1         {self.report or 'no report of its end'}"
        cap = _mib(self.memory_cap_bytes)
        yield f"memory        peak {_mib(self.memory_peak_bytes)}, cap {cap}, kills {_or_dash(self.oom_kills)}"
        if self.reached_cap is False:
            yield "below cap     its box was never at its cap; counts in verdicts of memory"
        if self.kernel_peak_bytes is not None:
            limit = _mib(self.kernel_limit_bytes)
            yield f"kernel memory peak {_mib(self.kernel_peak_bytes)}, limit {limit}; part of the memory"
        yield f"CPU           {_or_dash(self.cpu_ms)} ms so far"
        yield f"others took   {_percent(self.others_share)} of its cores during its turn; counts in verdicts of time"
        if self.stalled_share is not None:
            game = "" if self.game_stalled_share is None else f", {_percent(self.game_stalled_share)} in the game"
            yield f"host stalled  {_percent(self.stalled_share)} of its turn{game}; counts in verdicts of time"
            yield f"slept         {_percent(self.slept_share)} of its turn, or waited for memory or a disk"
            host = _percent(self.host_pressure_share)
            yield f"pressure      its box {_percent(self.pressure_share)}, the host {host} (memory and disks, full)"
        if self.judge_paused_ms is not None:
            yield f"judge paused  {self.judge_paused_ms:.0f} ms of its turn, not charged; counts in verdicts of time"
        if self.interrupt_share is not None:
            yield f"interrupts    {_percent(self.interrupt_share)} of its cores during its turn"
        if self.held_by_others:
            yield "held          its container was frozen or paused from outside; counts in verdicts of time"


def _mib(count: int | None) -> str:
    return mib(None if count is None else min(count, 1 << 60), "-")


def _or_dash(number: int | None) -> str:
    return "-" if number is None else str(number)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def host_memory_words(evidence: Evidence) -> str:
    """Why a kill for memory below the cap is no fault of the agent."""
    peak, cap = mib(evidence.memory_peak_bytes), mib(evidence.memory_cap_bytes)
    return sentence(
        f"the kernel killed a process of the agent for memory although its box was never at its cap (peak {peak} of "
        f"{cap}): the host, or a cgroup above the box, has too little memory; check memory with `judge doctor`"
    )
