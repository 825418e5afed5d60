"""Measured values of a record, which no replay repeats."""

import re
from collections.abc import Iterator

from judge.games.types import SEATS, Verdict
from judge.referee.spec import RecordFile

_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3}([0-9]{3})?)?\+00:00")

MAX_MEASURED_VALUE = (1 << 53) - 1


def measurement_problems(file: RecordFile) -> Iterator[str]:
    """Measurements of a record that are impossible, with their fields."""
    record = file.record
    measured: list[tuple[str, float | None]] = [("judge_late_ms", record.judge_late_ms)]
    for number, seat in enumerate(record.seats):
        values = (seat.charged_ms, seat.lingered_ms, seat.lingered_cpu_ms, seat.cpu_ms, seat.memory_peak_bytes)
        names = ("charged_ms", "lingered_ms", "lingered_cpu_ms", "cpu_ms", "memory_peak_bytes")
        measured += [(f"{name} of seat {number}", value) for name, value in zip(names, values, strict=True)]
        for kind, folder in seat.folders.items():
            measured += [(f"{kind} folder", folder.used_bytes), (f"{kind} folder", folder.used_inodes)]
    for place, ply in enumerate(record.plies):
        if not _is_possible(ply.ms) or not _is_possible(ply.memory_bytes):
            measured += [(f"ms of ply {place}", ply.ms), (f"memory_bytes of ply {place}", ply.memory_bytes)]
    placement = record.placement
    cores = (*placement.judge_cores, *placement.slot_cores, *sum(placement.seat_cores, ()))
    measured += [("a core", core) for core in cores]
    measured += [("a time", entry[0]) for block in file.transcript.blocks for entry in block.entries[-1:]]
    for name, value in measured:
        if not _is_possible(value):
            yield f"impossible: {name} is {value}"
    if not 1 <= record.attempt <= MAX_MEASURED_VALUE:
        yield f"impossible: attempt is {record.attempt}"
    if not _TIME.fullmatch(record.started_at):
        yield f"impossible: started_at {record.started_at!r:.40} is no time"
    if len(placement.box) != len(SEATS) and (placement.box or record.verdict is not Verdict.VOID):
        yield f"impossible: placement.box has {len(placement.box)} values for {len(SEATS)} seats"


def _is_possible(value: float | None) -> bool:
    return value is None or 0 <= value <= MAX_MEASURED_VALUE
