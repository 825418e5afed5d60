"""`verify`: the same referee on the recorded reads must write the same bytes and reach the same end."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pydantic import BaseModel

from judge.base.errors import InputError
from judge.games.types import SEATS, Verdict
from judge.record.spec import GameRecord, RecordFile
from judge.record.transcript import EntryKind
from judge.referee.blame import Void
from judge.referee.make_record import (
    plies_of,
    replayed_fields,
    result_line_of,
    verdict_of,
    winner_of,
)
from judge.referee.replay import Replay, replaying
from judge.referee.setup import replay_of
from judge.referee.side import Side

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
        if not _breaks_off(replay) and referee.game.end is None:
            yield f"void, but its transcript continues after the end: {error}"
    # The last answer may have arrived when the host failed, and is not a ply then.
    replayed = plies_of(referee)
    if record.plies not in (replayed, replayed[:-1]):
        yield "void, but its moves differ from those of its transcript"
    if record.result or record.unclosed or any(seat.fault is not None or seat.why for seat in record.seats):
        yield "void, but it has a result, a fault or an error after its end"
    if referee.game.end is not None:
        yield "void, but the moves of its transcript end the game"
    elif isinstance(end, Void):
        if end.reason != record.reason:
            yield f"reason: the replay gives {end.reason!r:.200}, the record has {record.reason!r:.200}"
    elif end is not None:
        yield f"void, but the replay gives {verdict_of(end)}"


def _breaks_off(replay: Replay) -> bool:
    """Whether no agent's input or output follows the last used entry."""
    return not any(entry.kind in (EntryKind.WROTE, EntryKind.READ) and entry.data for entry in replay.unused)


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
        own == seat and kind is EntryKind.READ and not isinstance(text, str)
        for block in file.transcript.blocks
        for _, own, kind, text in block.entries
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
    measured: list[tuple[str, float | None]] = [("judge_late_ms", record.judge_late_ms)]
    measured.append(("placement.thaw_ms", placement.thaw_ms))
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
