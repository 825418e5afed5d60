"""`play(spec, programs) -> record`: makes boxes, lets the referee play, turns a failure of the host into a void."""

import gc
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

import structlog

from judge.errors import HostError
from judge.games.types import SEATS
from judge.protocols import protocol_entry
from judge.referee.blame import Void
from judge.referee.recording import Played, record_of
from judge.referee.seating import build_referee
from judge.referee.side import Ply
from judge.referee.spec import (
    MatchSpec,
    Placement,
    RecordFile,
)
from judge.referee.transcript import Transcript, mark_private, seal
from judge.referee.wire import LiveWire
from judge.sandbox import open_box
from judge.sandbox.box import Box, Tenant
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
    follow: Callable[[bytes], None] | None = None,
) -> RecordFile:
    """Play one attempt of a match. `programs` has the staged files of each agent by digest.

    `watch` hears of each answer at once. `follow` is given the growing transcript, packed, whenever the judge waits
    anyway (`judge.referee.onlooker` makes a game of it again); it must not block.

    Never raises HostError: a host that fails makes a void record. Raises InputError for a spec that cannot be played.
    """
    slot = slot or Slot()
    # What is there by now stays: a full collection in the middle of a turn would be charged to an agent.
    gc.freeze()
    transcript = Transcript(follow)
    started_at, began = datetime.now(UTC), monotonic()
    played = _play(spec, programs, slot, transcript, watch)
    transcript.spill()
    if isinstance(played.end, Void):
        log.warning("void", match=spec.id, attempt=attempt, why=played.end.reason)
    sealed = seal(mark_private(list(transcript.entries()), _privacy(spec)))
    transcript.close()
    record = record_of(
        spec,
        played,
        attempt=attempt,
        started_at=started_at.isoformat(timespec="seconds"),
        seconds=round(monotonic() - began, 3),
        placement=Placement(box=played.boxes, judge_cores=slot.judge_cores, slot_cores=slot.cores),
        transcript_sha256=sealed.sha256,
    )
    return RecordFile(record=record, transcript=sealed)


def _play(
    spec: MatchSpec,
    programs: Mapping[str, Path],
    slot: Slot,
    transcript: Transcript,
    watch: Callable[[Ply], None] | None,
) -> Played:
    """The game in its boxes, which are gone afterwards whatever happens."""

    def new_box(seat: int) -> Box:
        tenant = _tenant(spec, seat, programs, slot)
        return open_box(spec.box, tenant, spec.policy.limits.enforced(), spec.policy.box)

    played = Played()
    boxes = [new_box(seat) for seat in SEATS]
    with ExitStack() as closing:
        for box in boxes:
            closing.callback(box.close)
        try:
            _prepare(boxes)
            played.boxes = (boxes[0].name, boxes[1].name)
            wire = _wire(spec, boxes, slot, transcript, new_box)
            closing.callback(wire.close)
            played.referee = build_referee(spec, wire, watch)
            played.end = played.referee.play()
            played.readings = (wire.boxes[0].readings(), wire.boxes[1].readings())
        except HostError as error:
            played.end = Void(str(error))
    return played


def _wire(
    spec: MatchSpec,
    boxes: Sequence[Box],
    slot: Slot,
    transcript: Transcript,
    new_box: Callable[[int], Box],
) -> LiveWire:
    counts_cores = spec.box == "docker" and bool(slot.cores)
    return LiveWire(
        boxes,
        transcript,
        new_box,
        (lambda: busy_ns(slot.cores)) if counts_cores else None,
        len(slot.cores),
        spec.policy.bytes.stderr_bytes,
        SPIN_NS if slot.is_apart else 0,
    )


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
