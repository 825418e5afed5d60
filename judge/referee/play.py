"""`play(spec, programs) -> record`: makes boxes, lets the referee play, turns a failure of the host into a void."""

import gc
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

import structlog

import judge
from judge.errors import HostError
from judge.games.types import SEATS
from judge.protocols import protocol_entry
from judge.referee.blame import Void
from judge.referee.match import Ply, Referee, Side
from judge.referee.seating import build_referee, plies_of, verdict_of, winner_of
from judge.referee.spec import (
    MatchRecord,
    MatchSpec,
    Placement,
    RecordFile,
    SeatRecord,
)
from judge.referee.transcript import Transcript, mark_private, seal
from judge.referee.wire import LiveWire
from judge.sandbox import open_box
from judge.sandbox.box import Box, Readings, Tenant
from judge.sandbox.cores import busy_ns

SPIN_NS = 100_000
"""How long a judge with a core of its own looks again before it sleeps."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Slot:
    """The cores that one game owns, and those that its judge runs on."""

    cores: tuple[int, ...] = ()
    judge_cores: tuple[int, ...] = ()

    @property
    def is_apart(self) -> bool:
        """Whether the judge has a core that the agents have not."""
        return bool(self.cores) and not set(self.cores) & set(self.judge_cores)


def play(
    spec: MatchSpec,
    programs: Mapping[str, Path],
    attempt: int = 1,
    slot: Slot | None = None,
    watch: Callable[[Ply], None] | None = None,
) -> RecordFile:
    """Play one attempt of a match. `programs` has the staged files of each agent by digest.

    Never raises HostError: a host that fails makes a void record. Raises InputError for a spec that cannot be played.
    """
    slot = slot or Slot()
    # What is there by now stays: a full collection in the middle of a turn would be charged to an agent.
    gc.freeze()
    transcript = Transcript()
    started_at, began = datetime.now(UTC), monotonic()

    def new_box(seat: int) -> Box:
        return open_box(
            spec.box,
            _tenant(spec, seat, programs, slot),
            spec.policy.limits.enforced(),
            spec.policy.box,
        )

    boxes = [new_box(seat) for seat in SEATS]
    wire: LiveWire | None = None
    referee: Referee | None = None
    try:
        _prepare(boxes)
        counts_cores = spec.box == "docker" and bool(slot.cores)
        wire = LiveWire(
            boxes,
            transcript,
            new_box,
            (lambda: busy_ns(slot.cores)) if counts_cores else None,
            len(slot.cores),
            spec.policy.bytes.stderr_bytes,
            SPIN_NS if slot.is_apart else 0,
        )
        referee = build_referee(spec, wire, watch)
        end = referee.play()
        readings = [box.readings() for box in wire.boxes]
    except HostError as error:
        end, readings = Void(str(error)), [Readings(), Readings()]
        log.warning("void", match=spec.id, attempt=attempt, why=str(error))
    finally:
        kinds = tuple(box.name for box in boxes)
        if wire is not None:
            wire.close()
        for box in boxes:
            box.close()
    entries = mark_private(list(transcript.entries()), _privacy(spec))
    transcript.close()
    sealed = seal(entries)
    sides: Sequence[Side | None] = referee.sides if referee is not None else (None, None)
    record = MatchRecord(
        judge=judge.__version__,
        id=spec.id,
        attempt=attempt,
        spec=spec,
        verdict=verdict_of(end),
        winner=winner_of(end),
        reason=end.reason,
        seats=(
            _seat_record(spec, 0, sides[0], readings[0]),
            _seat_record(spec, 1, sides[1], readings[1]),
        ),
        plies=plies_of(referee) if referee is not None else (),
        started_at=started_at.isoformat(timespec="seconds"),
        seconds=round(monotonic() - began, 3),
        placement=Placement(box=kinds, judge_cores=slot.judge_cores, slot_cores=slot.cores),
        transcript_sha256=sealed.sha256,
    )
    return RecordFile(record=record, transcript=sealed)


def _tenant(spec: MatchSpec, seat: int, programs: Mapping[str, Path], slot: Slot) -> Tenant:
    choice = spec.seats[seat]
    return Tenant(
        name=choice.name,
        program=programs[choice.digest],
        command=choice.command,
        runtime=choice.runtime,
        seat=seat,
        match_id=spec.id,
        cores=slot.cores,
    )


def _prepare(boxes: Sequence[Box]) -> None:
    """Both at once: most of it is waiting for the Engine."""
    with ThreadPoolExecutor(len(boxes)) as pool:
        for done in [pool.submit(box.prepare) for box in boxes]:
            done.result()


def _privacy(spec: MatchSpec) -> Callable[[int, bytes], bool]:
    tests = [protocol_entry(seat.protocol).is_private for seat in spec.seats]
    return lambda seat, line: tests[seat](line)


def _seat_record(spec: MatchSpec, seat: int, side: Side | None, readings: Readings) -> SeatRecord:
    fault = side.fault if side is not None else None
    return SeatRecord(
        name=spec.seats[seat].name,
        fault=None if fault is None else fault.verdict,
        evidence=None if side is None else side.evidence,
        charged_ms=0.0 if side is None else round(side.clock.charged_ns / 1e6, 3),
        memory_peak_bytes=readings.memory_peak_bytes,
        cpu_ms=None if readings.cpu_ns is None else readings.cpu_ns // 1_000_000,
        about={} if side is None else dict(side.about),
        notes=() if side is None else tuple(n.text for n in side.notes if not n.private),
    )
