"""Why a seat lost, from the record alone: the evidence, and one page that explains it and how to check it."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from judge.base.text import decode, mib, printable
from judge.games.types import SEATS, Verdict
from judge.record.spec import ClockRecord, GameRecord, RecordFile
from judge.record.transcript import Entry, EntryKind, decode_number, unseal
from judge.referee.blame import RULED, TABLE, BlameRow, Evidence
from judge.referee.clock import MS, SYNC_MS
from judge.referee.referee import RAN_ON_MS, STILL_MS

STDERR_BYTES = 2000

_OF_THE_JUDGE = (EntryKind.EXPIRED, EntryKind.PAUSED, EntryKind.OVERSLEPT)
_HEARD = (EntryKind.READ, EntryKind.STDERR, EntryKind.REPORT, EntryKind.OOM, EntryKind.KERNEL, *_OF_THE_JUDGE)
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
    """`row` is the name of the blame table's row; "" if the game or protocol decided."""

    seat: int
    name: str
    verdict: Verdict
    why: str
    exchange: Exchange
    evidence: Evidence | None
    charged_ms: float | None
    allowed_ms: int | None
    rules: tuple[PolicyKey, ...]
    row: str
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
    row = _row_of(verdict, why, evidence)
    return Case(
        seat,
        sat.name,
        verdict,
        why,
        last_exchange(entries, seat),
        evidence,
        *_clock(record, seat, evidence),
        rules=tuple(_rules(record, seat, verdict, evidence)),
        row="" if row is None else row.name,
        when="" if row is None else row.when,
    )


def last_exchange(entries: Sequence[Entry], seat: int) -> Exchange:
    """The last request before the seat's case was decided, and later observations."""
    seat_entries = [entry for entry in entries if entry.seat == seat or entry.kind in _OF_THE_JUDGE]
    # The farewell starts at the evidence, or at the last freeze.
    decided = _last(seat_entries, lambda entry: entry.kind is EntryKind.EVIDENCE)
    if decided < 0:
        decided = _last(seat_entries, lambda entry: entry.kind is EntryKind.FROZEN)
    if decided >= 0:
        seat_entries = seat_entries[:decided]
    begin = _last(seat_entries, lambda entry: entry.kind in _LET_GO)
    asked_from = 1 + _last(seat_entries[:begin], lambda entry: entry.kind is EntryKind.FROZEN)
    since = seat_entries[begin].ns if seat_entries else 0
    request = b"".join(e.data for e in seat_entries[asked_from:] if e.kind is EntryKind.WROTE)
    stderr = b"".join(entry.data for entry in seat_entries if entry.kind is EntryKind.STDERR)
    heard = [
        Heard((entry.ns - since) / MS, entry.kind, entry.data)
        for entry in seat_entries[asked_from:]
        if entry.kind in _HEARD and (entry.seat == seat or entry.ns >= since)
    ]
    return Exchange(request, heard, stderr[-STDERR_BYTES:])


def _last(entries: Sequence[Entry], holds: Callable[[Entry], bool]) -> int:
    return max((at for at, entry in enumerate(entries) if holds(entry)), default=-1)


def _clock(record: GameRecord, seat: int, evidence: Evidence | None) -> tuple[float | None, int | None]:
    if evidence is not None:
        for used_ms, limit_ms in (
            (evidence.lingered_cpu_ms, STILL_MS),
            (evidence.stopped_cpu_ms, RAN_ON_MS),
            (evidence.ran_on_cpu_ms, RAN_ON_MS),
            (evidence.ran_on_ms, STILL_MS),
        ):
            if used_ms is not None:
                return used_ms, limit_ms
        return evidence.charged_ms, evidence.allowed_ms
    plies, clock = [ply for ply in record.plies if ply.seat == seat], record.spec.policy.clock
    turn_ms = clock.controls[seat].turn_limit_ms
    allowed = None if turn_ms is None else turn_ms + clock.tolerance_ms
    return (plies[-1].ms, allowed) if plies else (None, None)


def _row_of(verdict: Verdict, why: str, evidence: Evidence | None) -> BlameRow | None:
    if evidence is not None:
        with suppress(ValueError, OverflowError):
            for row in TABLE:
                if row.verdict is verdict and row.because(evidence) == why:
                    return row
    return None


_KEYS: Mapping[Verdict, tuple[str, ...]] = {
    Verdict.START_TIME: ("clock.start_ms",),
    Verdict.TURN_TIME: ("clock.turn_ms", "clock.tolerance_ms"),
    Verdict.MATCH_TIME: ("clock.match_ms", "clock.tolerance_ms"),
    Verdict.MEMORY: ("limits.memory_bytes", "folders.temporary_bytes", "folders.persistent_bytes"),
    Verdict.OUTPUT: ("bytes.game_bytes",),
    Verdict.VOID: ("clock.starved_share", "attempts"),
    Verdict.ILLEGAL: ("game.name", "game.options"),
    Verdict.FOUL: ("game.name", "game.options"),
    Verdict.UNREADABLE: ("game.protocol", "protocol"),
    Verdict.REFUSED: ("game.protocol", "protocol"),
    Verdict.RESIGNED: ("game.protocol",),
}


def _rules(record: GameRecord, seat: int, verdict: Verdict, evidence: Evidence | None) -> Iterator[PolicyKey]:
    policy = record.spec.policy.model_dump(mode="json")
    clock = record.spec.policy.clock
    turn_ms = (clock.controls[seat].turn_limit_ms or 0) + clock.tolerance_ms
    is_late_to_sync = (
        verdict is Verdict.TURN_TIME and evidence is not None and evidence.allowed_ms == SYNC_MS != turn_ms
    )
    if is_late_to_sync or (evidence is not None and evidence.has_run_on):
        return  # the same under every policy
    keys = _KEYS.get(verdict, ())
    if clock.control is not None and verdict in (Verdict.TURN_TIME, Verdict.MATCH_TIME):
        keys = ("clock.control", "clock.tolerance_ms")
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


HEX_BYTES = 16

MAX_LINES = 12


def case_lines(case: Case, record: GameRecord, path: str) -> Iterator[str]:
    """The page's lines."""
    verdict = "is void" if case.verdict is Verdict.VOID else f"lost: {case.verdict}"
    if record.winner == case.seat or record.verdict is Verdict.DRAW:
        verdict = f"failed after the game, which it did not lose: {case.verdict}"
    yield f"{printable(case.name, 60)} (seat {case.seat}) {verdict}"
    yield f"  {printable(case.why, 400)}"
    for title, lines in _sections(case, record, path):
        yield ""
        yield title
        yield from (f"  {line}" for line in lines)


def _sections(case: Case, record: GameRecord, path: str) -> Iterator[tuple[str, Iterable[str]]]:
    yield "The last request", _text_lines(">", case.exchange.request) if case.exchange.request else ["nothing"]
    yield f"The reply: {len(case.exchange.reply)} bytes", _reply_lines(case.exchange)
    yield "The clock", _clock_lines(case, record)
    yield "The measurements", _reading_lines(case, record)
    yield f"The rule: policy {printable(record.spec.policy.name, 60)}", _rule_lines(case)
    yield "To check it", [f"judge verify {printable(path, 200)}", f"transcript {record.transcript_sha256}"]


def hex_lines(data: bytes) -> Iterator[str]:
    """Offset, hex bytes, text."""
    for offset in range(0, len(data), HEX_BYTES):
        part = data[offset : offset + HEX_BYTES]
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        yield f"{offset:6}  {part.hex(' '):<{3 * HEX_BYTES - 1}}  |{text}|"


def _shortened(lines: Sequence[str]) -> Iterator[str]:
    if len(lines) <= MAX_LINES:
        yield from lines
        return
    yield from lines[: MAX_LINES // 2]
    yield f"... {len(lines) - MAX_LINES} lines ..."
    yield from lines[-MAX_LINES // 2 :]


def _text_lines(sign: str, data: bytes) -> Iterator[str]:
    lines = decode(data).removesuffix("\n").split("\n")
    return _shortened([f"{sign} {printable(line, 160)}" for line in lines])


def _reply_lines(exchange: Exchange) -> Iterator[str]:
    reply = exchange.reply
    if reply:
        yield from _text_lines("<", reply)
        yield "in hex"
        yield from _shortened(list(hex_lines(reply)))
    yield "events, in ms since its clock started"
    yield from _shortened([f"{heard.ms:12.3f}  {_heard_text(heard)}" for heard in exchange.heard])
    if exchange.stderr:
        yield "the end of its stderr"
        yield from _text_lines("!", exchange.stderr)


def _heard_text(heard: Heard) -> str:
    match heard.kind:
        case EntryKind.READ | EntryKind.STDERR as kind:
            stream = "stdout" if kind is EntryKind.READ else "stderr"
            return f"{len(heard.data)} bytes on {stream}" if heard.data else f"the end of its {stream}"
        case EntryKind.REPORT:
            return f"PID 1 reports: {printable(heard.data.decode('ascii', 'replace'), 60)}"
        case EntryKind.PAUSED:
            return f"the judge did not run for {_span_ms(heard.data)} ms before"
        case EntryKind.OVERSLEPT:
            return f"the judge woke up {_span_ms(heard.data)} ms late"
        case EntryKind.OOM:
            return "the kernel killed a process for memory"
        case EntryKind.KERNEL:
            return f"the kernel's memory for it was {printable(heard.data.decode('ascii', 'replace'), 20)} bytes"
        case _:
            return "the judge looked: no data"


def _span_ms(data: bytes) -> str:
    try:
        return f"{decode_number(data) / 1e6:.0f}"
    except ValueError:
        return "?"


def _clock_lines(case: Case, record: GameRecord) -> Iterator[str]:
    if case.charged_ms is None or not case.allowed_ms:
        yield "turn      not measured: the event was before its clock started"
    else:
        yield f"charged   {case.charged_ms:.3f} ms"
        yield f"allowed   {case.allowed_ms} ms, tolerance included"
    control, seat = record.spec.policy.clock.controls[case.seat], record.seats[case.seat]
    match_ms = control.total_ms
    limit = f"of {match_ms} ms" if match_ms else "(no limit)"
    if seat.clock is not None and match_ms:
        limit += f" + {seat.clock.added_ms:.3f} ms added by {seat.clock.answers} answers"
    yield f"game      {seat.charged_ms:.3f} ms charged {limit}"
    if seat.clock is not None:
        yield from _control_lines(control.words, seat.clock)
    boxes = record.placement.box
    box = printable(boxes[case.seat], 60) if case.seat < len(boxes) else "no box"
    sharing = record.spec.policy.box.sharing
    shared = f", shared by up to {sharing} games" if sharing > 1 else ""
    seat_cores = record.placement.seat_cores
    cores = seat_cores[case.seat] if case.seat < len(seat_cores) else record.placement.slot_cores
    ponders = ", also in the opponent's time" if record.spec.policy.clock.ponder else ""
    yield f"box       {box}, cores {list(cores)}{shared}{ponders}"
    if thaw_ms := record.placement.thaw_ms:
        yield f"freezer   the Engine's; a thaw took up to {thaw_ms:.3f} ms of a turn"
    if image := record.placement.images.get(record.spec.seats[case.seat].runtime):
        yield f"image     {printable(str(image), 200)}"


def _control_lines(words: str, clock: ClockRecord) -> Iterator[str]:
    yield f"control   {printable(clock.control, 60)}: {words}"
    if clock.left_ms is not None:
        yield f"left      {clock.left_ms:.3f} ms until the flag falls, without tolerance"
    if clock.moves_to_go is not None:
        yield f"period    {clock.moves_to_go} answers to go"
    if clock.periods_left:
        yield f"period    {clock.periods_left} left"


def _reading_lines(case: Case, record: GameRecord) -> Iterator[str]:
    evidence, seat = case.evidence, record.seats[case.seat]
    if evidence is None:
        peak = mib(None if seat.memory_peak_bytes is None else min(seat.memory_peak_bytes, 1 << 60), "-")
        yield f"memory peak {peak}, CPU {'-' if seat.cpu_ms is None else seat.cpu_ms} ms in the game"
        yield "no other evidence: its answer alone decided"
        return
    yield from evidence.lines()
    if seat.lingered_cpu_ms:
        yield f"lingered      {seat.lingered_cpu_ms:.0f} ms of CPU time in {seat.lingered_ms:.0f} ms after its kill"
    yield f"output        {evidence.bytes_read} bytes"
    if evidence.detail:
        yield f"host          {printable(evidence.detail, 200)}"


def _rule_lines(case: Case) -> Iterator[str]:
    for rule in case.rules:
        yield f"{rule.key} = {printable(json.dumps(rule.value), 200)}"
    if not case.rules:
        yield "no key: an agent must answer until the game is over"
    if not case.row:
        said, _ = RULED.get(case.verdict, ("", ""))
        yield f"{case.verdict}: {said}"
    else:
        yield f"row {case.row} of the blame table (judge verdicts): {case.verdict},"
        yield f"when {case.when}"
