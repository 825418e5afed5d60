"""Explains from the record alone why a seat lost."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judge.games.types import SEATS, Verdict
from judge.referee.blame import TABLE, BlameRow, Evidence
from judge.referee.spec import GameRecord, RecordFile
from judge.referee.transcript import Entry, EntryKind, unseal

MS = 1_000_000

STDERR_BYTES = 2000

_OF_THE_JUDGE = (EntryKind.EXPIRED, EntryKind.PAUSED, EntryKind.OVERSLEPT)
_HEARD = (EntryKind.READ, EntryKind.STDERR, EntryKind.REPORT, EntryKind.OOM, *_OF_THE_JUDGE)
_LET_GO = (EntryKind.STARTED, EntryKind.THAWED, EntryKind.RESPAWNED)


@dataclass(frozen=True, slots=True)
class Heard:
    """`ms` counts from the start of the request's clock."""

    ms: float
    kind: EntryKind
    data: bytes


@dataclass(frozen=True, slots=True)
class Exchange:
    """The last request to a seat and its observations."""

    request: bytes
    heard: Sequence[Heard]
    stderr: bytes = b""

    @property
    def reply(self) -> bytes:
        return b"".join(heard.data for heard in self.heard if heard.kind is EntryKind.READ)


@dataclass(frozen=True, slots=True)
class PolicyKey:
    """A key of the policy file."""

    key: str
    value: Any


@dataclass(frozen=True, slots=True)
class Case:
    """`row` counts the blame table's rows from 1; None if the game or protocol decided."""

    seat: int
    name: str
    verdict: Verdict
    why: str
    exchange: Exchange
    evidence: Evidence | None
    charged_ms: float | None
    allowed_ms: int | None
    rules: tuple[PolicyKey, ...]
    row: int | None
    when: str = ""


def cases(file: RecordFile) -> Sequence[Case]:
    """Seats with a fault or evidence. Raises InputError for a broken transcript."""
    return cases_of(file.record, unseal(file.transcript))


def cases_of(record: GameRecord, entries: Sequence[Entry]) -> Sequence[Case]:
    """As `cases`."""
    return [
        _case(record, entries, seat)
        for seat in SEATS
        if record.seats[seat].fault is not None or record.seats[seat].evidence is not None
    ]


def _case(record: GameRecord, entries: Sequence[Entry], seat: int) -> Case:
    sat = record.seats[seat]
    verdict, why = (sat.fault, sat.why) if sat.fault is not None else (Verdict.VOID, record.reason)
    evidence = sat.evidence
    number, row = _row_of(verdict, why, evidence)
    return Case(
        seat,
        sat.name,
        verdict,
        why,
        last_exchange(entries, seat),
        evidence,
        *_clock(record, seat, evidence),
        rules=tuple(_rules(record, seat, verdict, evidence)),
        row=number,
        when="" if row is None else row.when,
    )


def last_exchange(entries: Sequence[Entry], seat: int) -> Exchange:
    """The last request before the seat's case was decided, and later observations."""
    own = [entry for entry in entries if entry.seat == seat or entry.kind in _OF_THE_JUDGE]
    # The farewell starts at the evidence, or at the last freeze.
    decided = _last(own, lambda entry: entry.kind is EntryKind.EVIDENCE)
    if decided < 0:
        decided = _last(own, lambda entry: entry.kind is EntryKind.FROZEN)
    if decided >= 0:
        own = own[:decided]
    begin = _last(own, lambda entry: entry.kind in _LET_GO)
    asked_from = 1 + _last(own[:begin], lambda entry: entry.kind is EntryKind.FROZEN)
    since = own[begin].ns if own else 0
    request = b"".join(e.data for e in own[asked_from:] if e.kind is EntryKind.WROTE)
    stderr = b"".join(entry.data for entry in own if entry.kind is EntryKind.STDERR)
    heard = [
        Heard((entry.ns - since) / MS, entry.kind, entry.data)
        for entry in own[asked_from:]
        if entry.kind in _HEARD and (entry.seat == seat or entry.ns >= since)
    ]
    return Exchange(request, heard, stderr[-STDERR_BYTES:])


def _last(entries: Sequence[Entry], holds: Callable[[Entry], bool]) -> int:
    return max((at for at, entry in enumerate(entries) if holds(entry)), default=-1)


def _clock(record: GameRecord, seat: int, evidence: Evidence | None) -> tuple[float | None, int | None]:
    clock = record.spec.policy.clock
    if evidence is not None and evidence.ran_on_cpu_ms is not None:
        return evidence.ran_on_cpu_ms, clock.ran_on_ms
    if evidence is not None and evidence.ran_on_ms is not None:
        return evidence.ran_on_ms, clock.still_ms
    if evidence is not None:
        return evidence.charged_ms, evidence.allowed_ms
    plies = [ply for ply in record.plies if ply.seat == seat]
    turn_ms = clock.controls[seat].turn_ms
    allowed = None if turn_ms is None else turn_ms + clock.tolerance_ms
    return (plies[-1].ms, allowed) if plies else (None, None)


def _row_of(verdict: Verdict, why: str, evidence: Evidence | None) -> tuple[int | None, BlameRow | None]:
    if evidence is not None:
        for number, row in enumerate(TABLE, 1):
            if row.verdict is verdict and row.because(evidence) == why:
                return number, row
    return None, None


_KEYS: Mapping[Verdict, tuple[str, ...]] = {
    Verdict.START_TIME: ("clock.start_ms",),
    Verdict.TURN_TIME: ("clock.turn_ms", "clock.tolerance_ms"),
    Verdict.MATCH_TIME: ("clock.match_ms", "clock.tolerance_ms"),
    Verdict.MEMORY: (
        "limits.memory_bytes",
        "folders.temporary_bytes",
        "folders.persistent_bytes",
        "limits.scratch_bytes",
        "limits.shm_bytes",
    ),
    Verdict.OUTPUT: ("bytes.turn_bytes", "bytes.game_bytes"),
    Verdict.VOID: ("clock.starved_share", "clock.waited_share", "attempts"),
    Verdict.ILLEGAL: ("game.name", "game.options"),
    Verdict.FOUL: ("game.name", "game.options"),
    Verdict.UNREADABLE: ("game.protocol", "protocol"),
    Verdict.REFUSED: ("game.protocol", "protocol"),
    Verdict.RESIGNED: ("game.protocol",),
}


def _rules(record: GameRecord, seat: int, verdict: Verdict, evidence: Evidence | None) -> Iterator[PolicyKey]:
    policy = record.spec.policy.model_dump(mode="json")
    clock = record.spec.policy.clock
    keys = _KEYS.get(verdict, ())
    if evidence is not None and evidence.ran_on_ms is not None:
        keys = ("clock.still_ms", "clock.ran_on_ms")
    elif clock.control is not None and verdict in (Verdict.TURN_TIME, Verdict.MATCH_TIME):
        keys = ("clock.control", "clock.tolerance_ms")
    elif verdict is Verdict.TURN_TIME and not clock.turn_ms:
        keys = ("clock.asap_ms", "clock.tolerance_ms")
    if verdict is Verdict.TURN_TIME and (evidence is None or evidence.ran_on_ms is None):
        turn = (clock.controls[seat].turn_ms or 0) + clock.tolerance_ms
        if evidence is not None and evidence.allowed_ms == clock.sync_ms != turn:
            keys = ("clock.sync_ms",)
    for key in keys:
        value: Any = policy
        for word in key.split("."):
            value = value[word]
        if key == "game.protocol":
            value = record.spec.seats[seat].protocol
        yield from _flat(key, value)


def _flat(key: str, value: Any) -> Iterator[PolicyKey]:
    if isinstance(value, dict):
        for inner in value:
            yield from _flat(f"{key}.{inner}", value[inner])
    else:
        yield PolicyKey(key, value)
