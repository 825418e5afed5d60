"""`verify`: the same referee on the recorded reads must write the same bytes and reach the same end."""

from collections.abc import Sequence
from dataclasses import dataclass

from judge.base.errors import InputError
from judge.games.types import SEATS, Verdict
from judge.referee.former import REWORDED
from judge.referee.make_record import clock_record_of, has_plies, plies_of, result_line_of, verdict_of, winner_of
from judge.referee.replay import ReplayWire, replaying
from judge.referee.setup import build_problems, build_replay
from judge.referee.side import Side
from judge.referee.spec import GameRecord, RecordFile, SeatRecord
from judge.referee.transcript import unseal


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
        problems.append(f"the id {record.id} is not that of the spec ({record.spec.id})")
    if record.transcript_sha256 != file.transcript.sha256:
        problems.append("the record names another transcript")
    for seat, (begun, ended) in enumerate(zip(record.spec.seats, record.seats, strict=True)):
        if begun.name != ended.name:
            problems.append(f"seat {seat}: the record calls it {ended.name!r:.100}, the spec {begun.name!r:.100}")
    problems += _folder_problems(record)
    problems += build_problems(record)
    problems += _core_problems(record)
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
    entries = unseal(file.transcript)
    if record.verdict is Verdict.VOID:
        # A void has no ruling to repeat.
        return [] if record.winner is None else ["a void game has no winner"]
    wire = ReplayWire(entries)
    referee = build_replay(record, wire)
    end = referee.play()
    problems = []
    for what, again, stands in (
        ("verdict", verdict_of(end), record.verdict),
        ("winner", winner_of(end), record.winner),
        ("reason", _in_words_of_today(end.reason), _in_words_of_today(record.reason)),
        ("result", result_line_of(referee), record.result),
        ("unclosed", referee.unclosed, record.unclosed),
    ):
        if again != stands:
            problems.append(f"{what}: the replay gives {again!r}, the record has {stands!r}")
    if not has_plies(record, referee):
        problems.append(f"plies: the replay gives {plies_of(referee)!r}, the record has {record.plies!r}")
    for seat, side in enumerate(referee.sides):
        stated = record.seats[seat]
        fault = None if side.fault is None else side.fault.verdict
        if fault != stated.fault:
            problems.append(f"seat {seat}: the replay finds fault {fault}, the record {stated.fault}")
        elif side.evidence != stated.evidence:
            problems.append(f"seat {seat}: the replay finds other evidence of its fault: {_other(side, stated)}")
        why = "" if side.fault is None else side.fault.reason
        for what, made, written in (
            ("why", _in_words_of_today(why), _in_words_of_today(stated.why)),
            ("about", dict(side.about), stated.about),
        ):
            if made != written:
                problems.append(f"seat {seat}: {what}: the replay gives {made!r:.200}, the record has {written!r:.200}")
        if round(side.clock.charged_ns / 1e6, 3) != stated.charged_ms:
            problems.append(f"seat {seat}: the replay charges another time than {stated.charged_ms} ms")
        clock = None if record.spec.policy.clock.control is None else clock_record_of(side.clock)
        if clock != stated.clock:
            problems.append(
                f"seat {seat}: clock: the replay gives {clock!r:.200}, the record has {stated.clock!r:.200}"
            )
    if not wire.is_finished:
        problems.append("the record continues after the end of the game")
    return problems


def _in_words_of_today(reason: str) -> str:
    for former, today in REWORDED:
        reason = reason.replace(former, today)
    return reason


def _other(side: Side, stated: SeatRecord) -> str:
    if side.evidence is None or stated.evidence is None:
        return "it is missing in the record" if stated.evidence is None else "the replay has no evidence"
    made, written = side.evidence.model_dump(), stated.evidence.model_dump()
    name = next(name for name in made if made[name] != written[name])
    return f"{name} is {made[name]!r:.100}, not {written[name]!r:.100}"
