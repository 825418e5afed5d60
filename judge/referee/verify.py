"""The record of a game, and its verification: the same referee on the recorded reads must write the same bytes and
reach the same end.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

import judge
from judge.base.errors import InputError
from judge.base.text import printable
from judge.games.types import SEATS, AgentFault, BothAtFault, End, RuleResult, Verdict
from judge.record.spec import (
    ClockRecord,
    FolderRecord,
    GameRecord,
    GameSpec,
    Placement,
    PlyRecord,
    RecordFile,
    SeatRecord,
)
from judge.record.transcript import EntryKind, SealedTranscript
from judge.referee.blame import Void
from judge.referee.clock import MS, SeatClock
from judge.referee.referee import Referee
from judge.referee.replay import replaying
from judge.referee.setup import replay_of
from judge.referee.side import Side
from judge.sandbox.evidence import Evidence

if TYPE_CHECKING:
    from judge.sandbox.folders import FolderKey

NO_READINGS = (Evidence(), Evidence())


_UNPLAYED: Mapping[str, Any] = {
    "fault": None,
    "evidence": None,
    "why": "",
    "about": {},
    "charged_ms": 0.0,
    "notes": (),
}


def record_of(
    spec: GameSpec,
    end: End | Void,
    referee: Referee | None,
    *,
    started_at: str,
    placement: Placement,
    transcript: SealedTranscript,
    attempt: int,
    readings: tuple[Evidence, Evidence] = NO_READINGS,
    lingered_s: Sequence[float] = (0.0, 0.0),
    folders: Mapping[FolderKey, FolderRecord] = MappingProxyType({}),
    judge_late_ms: float = 0.0,
) -> GameRecord:
    """The record of a played game. `referee` is None if it never began; `readings` and `lingered_s` are by seat."""

    def seat_record(seat: int) -> SeatRecord:
        side, kept = None if referee is None else referee.sides[seat], spec.seats[seat].folders
        cpu_ns = readings[seat].cpu_ns
        return SeatRecord(
            **(_UNPLAYED if side is None else replayed_fields(spec, side)),
            name=spec.seats[seat].name,
            memory_peak_bytes=readings[seat].memory_peak_bytes,
            cpu_ms=None if cpu_ns is None else cpu_ns // MS,
            lingered_ms=round(lingered_s[seat] * 1000 + (0 if side is None else side.lingered_ns / MS), 3),
            folders={
                kind: folders.get((seat, kind), FolderRecord(digest=start))
                for kind, start in (kept.digests if kept else {}).items()
            },
        )

    return GameRecord(
        judge=judge.__version__,
        id=spec.id,
        attempt=attempt,
        spec=spec,
        verdict=verdict_of(end),
        winner=winner_of(end),
        reason=end.reason,
        result=result_line_of(referee),
        seats=(seat_record(0), seat_record(1)),
        plies=plies_of(referee),
        started_at=started_at,
        seconds=transcript.seconds,
        placement=placement,
        unclosed="" if referee is None else referee.unclosed,
        judge_late_ms=judge_late_ms,
        transcript_sha256=transcript.sha256,
    )


def verdict_of(end: End | Void) -> Verdict:
    """The verdict of a game's end."""
    return Verdict.VOID if isinstance(end, Void) else end.verdict


def winner_of(end: End | Void) -> int | None:
    """The winning seat, or None."""
    match end:
        case Void() | BothAtFault():
            return None
        case AgentFault(seat=seat):
            return 1 - seat
        case RuleResult(winner=winner):
            return winner


def plies_of(referee: Referee | None) -> tuple[PlyRecord, ...]:
    """The answers of a game; empty if it never began."""
    return tuple(
        PlyRecord(
            seat=ply.seat,
            said=ply.said,
            ms=round(ply.charged_ns / 1e6, 3),
            search=dict(ply.search),
            memory_bytes=ply.memory_bytes,
        )
        for ply in (referee.plies if referee is not None else ())
    )


def result_line_of(referee: Referee | None) -> str:
    """The result line in the usual manager's format, or ""."""
    if referee is None or referee.game.end is None:
        return ""
    return referee.game.result(referee.sides[0].opening.names)


def replayed_fields(spec: GameSpec, side: Side) -> dict[str, Any]:
    """The fields of a `SeatRecord` that a replay also gives."""
    fault, clock = side.fault, side.clock
    return {
        "fault": None if fault is None else fault.verdict,
        "evidence": side.evidence,
        "why": "" if fault is None else fault.reason,
        "about": dict(side.about),
        "charged_ms": round(clock.charged_ns / 1e6, 3),
        "lingered_cpu_ms": round(side.lingered_cpu_ns / 1e6, 3),
        "clock": None if spec.policy.clock.control is None else _clock_record(clock),
        "notes": tuple(printable(note.text, None) for note in side.notes if not note.private),
    }


def _clock_record(clock: SeatClock) -> ClockRecord:
    shown, left_ns = clock.shown(), clock.left_ns()
    return ClockRecord(
        control=str(clock.control),
        answers=clock.answers,
        added_ms=round(clock.added_ns / 1e6, 3),
        left_ms=None if left_ns is None else round(left_ns / 1e6, 3),
        moves_to_go=shown.moves_to_go,
        periods_left=shown.periods_left,
    )


_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3}([0-9]{3})?)?\+00:00")

MAX_MEASURED_VALUE = (1 << 53) - 1


@dataclass(frozen=True, slots=True)
class Verified:
    """`problems` is empty if the check passed."""

    record: GameRecord
    problems: Sequence[str]


def verify(file: RecordFile) -> Verified:
    """Errors are returned as problems."""
    record = file.record
    problems = []
    if not record.spec.is_called(record.id):
        problems.append(f"the id {record.id!r:.100} is not that of the spec ({record.spec.id})")
    if record.transcript_sha256 != file.transcript.sha256:
        problems.append("transcript_sha256 is not that of the transcript")
    problems += _differ("seconds", file.transcript.seconds, record.seconds)
    for seat, (begun, ended) in enumerate(zip(record.spec.seats, record.seats, strict=True)):
        if begun.name != ended.name:
            problems.append(f"seats.{seat}.name: the record has {ended.name!r:.100}, the spec {begun.name!r:.100}")
    problems += _folder_problems(record)
    problems += _core_problems(record)
    problems += _measurement_problems(file)
    try:
        with replaying():
            problems += _replay(file)
    except InputError as error:
        problems.append(str(error))
    return Verified(record, problems)


def _folder_problems(record: GameRecord) -> list[str]:
    problems = []
    for seat, (begun, ended) in enumerate(zip(record.spec.seats, record.seats, strict=True)):
        starts = begun.folders.digests if begun.folders else {}
        ends = {kind: folder.digest for kind, folder in ended.folders.items()}
        if starts.keys() != ends.keys():
            problems.append(f"seat {seat}: the record names other folders than the spec")
        elif record.verdict is Verdict.VOID and starts != ends:
            problems.append(f"seat {seat}: a void game changes no folder")
    return problems


def _core_problems(record: GameRecord) -> list[str]:
    place, ponders = record.placement, record.spec.policy.clock.ponder
    if not ponders:
        return ["the record divides the slot's cores, but its agents do not ponder"] if place.seat_cores else []
    is_divided = len(place.seat_cores) == len(SEATS) and all(place.seat_cores)
    if is_divided and sorted(sum(place.seat_cores, ())) == sorted(set(place.slot_cores)):
        return []
    is_free = record.spec.box == "process" and not (place.slot_cores or place.seat_cores)
    return [] if is_free else ["agents ponder, but the record does not divide the slot's cores between the seats"]


def _replay(file: RecordFile) -> list[str]:
    record = file.record
    if record.verdict is Verdict.VOID:
        return list(void_problems(file))
    replay = replay_of(file)
    referee = replay.referee
    with replaying(replay):
        end = replay.finish()
    found = [
        *_differ("verdict", verdict_of(end), record.verdict),
        *_differ("winner", winner_of(end), record.winner),
        *_differ("reason", end.reason, record.reason),
        *_differ("result", result_line_of(referee), record.result),
        *_differ("unclosed", referee.unclosed, record.unclosed),
    ]
    if (plies := plies_of(referee)) != record.plies:
        found += _differ("plies", _values(plies), _values(record.plies))
    for seat, side in enumerate(referee.sides):
        found += _seat_problems(file, seat, side)
    if not replay.is_finished:
        found.append("the record continues after the end of the game")
    return found


def void_problems(file: RecordFile) -> Iterator[str]:
    """Contradictions to a void. One from the blame table is replayed."""
    record = file.record
    if record.winner is not None:
        yield "a void game has no winner"
    try:
        replay = replay_of(file, breaks_off=True)
    except (InputError, ValueError, LookupError, TypeError) as error:
        yield str(error)
        return
    end, referee = None, replay.referee
    try:
        with replaying(replay):
            end = replay.finish()
    except InputError as error:
        was_played = any(entry.kind in (EntryKind.WROTE, EntryKind.READ) and entry.data for entry in replay.unused)
        if was_played and referee.game.end is None:
            yield f"void, but its transcript continues after the end: {error}"
    # The last answer may have arrived when the host failed, and is not a ply then.
    replayed = plies_of(referee)
    lacks_last = record.plies != replayed and record.plies == replayed[:-1] and replay.ends_with_answer
    if record.plies not in (replayed, replayed[:-1]):
        yield "void, but its moves differ from those of its transcript"
    if record.result or record.unclosed or any(seat.fault is not None or seat.why for seat in record.seats):
        yield "void, but it has a result, a fault or an error after its end"
    if lacks_last:
        return
    if referee.game.end is not None:
        yield "void, but the moves of its transcript end the game"
    elif isinstance(end, Void):
        if end.reason != record.reason:
            yield f"reason: the replay gives {end.reason!r:.200}, the record has {record.reason!r:.200}"
    elif end is not None:
        yield f"void, but the replay gives {verdict_of(end)}"


def _seat_problems(file: RecordFile, seat: int, side: Side) -> Iterator[str]:
    stated, replayed = file.record.seats[seat], replayed_fields(file.record.spec, side)
    notes = replayed.pop("notes")
    for name, made in replayed.items():
        if name != "evidence" or replayed["fault"] == stated.fault:
            yield from _differ(f"seats.{seat}.{name}", _values(made), _values(getattr(stated, name)))
    if notes == stated.notes:
        return
    if not _has_private(file, seat):
        yield from _differ(f"seats.{seat}.notes", notes, stated.notes)
    elif side.has_room_for_notes and stated.fault is not Verdict.OUTPUT:
        # Private notes count toward the limit of a seat; they may be withheld, and their order in a read is lost.
        for note in Counter(stated.notes) - Counter(notes):
            yield f"seats.{seat}.notes: the replay does not give {note!r:.200}"


def _has_private(file: RecordFile, seat: int) -> bool:
    return any(
        entry_seat == seat and kind is EntryKind.READ and not isinstance(text, str)
        for block in file.transcript.blocks
        for _, entry_seat, kind, text in block.entries
    )


def _values(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump()
    return [_values(each) for each in value] if isinstance(value, tuple) else value


def _differ(where: str, made: object, stated: object) -> Iterator[str]:
    """The first difference, with its field."""
    if made == stated:
        return
    if isinstance(made, dict) and isinstance(stated, dict) and made.keys() == stated.keys():
        key = next(key for key in made if made[key] != stated[key])
        yield from _differ(f"{where}.{key}", made[key], stated[key])
    elif isinstance(made, list | tuple) and isinstance(stated, list | tuple) and made and stated:
        pairs = zip(made, stated, strict=False)
        number = next((number for number, (one, other) in enumerate(pairs) if one != other), None)
        if number is None:
            yield f"{where}: the replay gives {len(made)}, the record has {len(stated)}"
        else:
            yield from _differ(f"{where}.{number}", made[number], stated[number])
    else:
        yield f"{where}: the replay gives {_shown(made)}, the record has {_shown(stated)}"


def _shown(value: object) -> str:
    return repr(value.value if isinstance(value, StrEnum) else value)[:200]


def _measurement_problems(file: RecordFile) -> Iterator[str]:
    """Measurements of a record that are impossible, with their fields."""
    record = file.record
    placement = record.placement
    measured: list[tuple[str, float | None]] = [
        ("judge_late_ms", record.judge_late_ms),
        ("placement.thaw_ms", placement.thaw_ms),
    ]
    for number, seat in enumerate(record.seats):
        values = (seat.charged_ms, seat.lingered_ms, seat.lingered_cpu_ms, seat.cpu_ms, seat.memory_peak_bytes)
        names = ("charged_ms", "lingered_ms", "lingered_cpu_ms", "cpu_ms", "memory_peak_bytes")
        measured += [(f"{name} of seat {number}", value) for name, value in zip(names, values, strict=True)]
        for kind, folder in seat.folders.items():
            measured += [(f"{kind} folder", folder.used_bytes), (f"{kind} folder", folder.used_inodes)]
    for place, ply in enumerate(record.plies):
        if not _is_possible(ply.ms) or not _is_possible(ply.memory_bytes):
            measured += [(f"ms of ply {place}", ply.ms), (f"memory_bytes of ply {place}", ply.memory_bytes)]
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
