"""Builds the record of a played game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import judge
from judge.base.text import printable
from judge.games.types import AgentFault, BothAtFault, End, RuleResult, Verdict
from judge.record.spec import ClockRecord, FolderRecord, GameRecord, GameSpec, Placement, PlyRecord, SeatRecord
from judge.record.transcript import SealedTranscript
from judge.referee.blame import Void
from judge.referee.clock import SeatClock
from judge.referee.referee import Referee
from judge.referee.side import Side
from judge.sandbox.evidence import Evidence

if TYPE_CHECKING:
    from judge.sandbox.folders import FolderKey

NO_READINGS = (Evidence(), Evidence())


@dataclass(frozen=True, slots=True)
class RefereedGame:
    """The outcome of a game; `referee` is None if it never began."""

    end: End | Void
    referee: Referee | None = None
    readings: tuple[Evidence, Evidence] = NO_READINGS
    lingered_s: Sequence[float] = (0.0, 0.0)
    folders: Mapping[FolderKey, FolderRecord] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Fields of `GameRecord` from outside the game."""

    attempt: int
    started_at: str
    placement: Placement
    transcript: SealedTranscript
    judge_late_ms: float = 0.0


def record_of(spec: GameSpec, played: RefereedGame, circumstances: Circumstances) -> GameRecord:
    """The record of a played game."""
    referee = played.referee
    return GameRecord(
        judge=judge.__version__,
        id=spec.id,
        attempt=circumstances.attempt,
        spec=spec,
        verdict=verdict_of(played.end),
        winner=winner_of(played.end),
        reason=played.end.reason,
        result=result_line_of(referee),
        seats=(_seat_record(spec, 0, played), _seat_record(spec, 1, played)),
        plies=plies_of(referee),
        started_at=circumstances.started_at,
        seconds=circumstances.transcript.seconds,
        placement=circumstances.placement,
        unclosed="" if referee is None else referee.unclosed,
        judge_late_ms=circumstances.judge_late_ms,
        transcript_sha256=circumstances.transcript.sha256,
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


_UNPLAYED: Mapping[str, Any] = {
    "fault": None,
    "evidence": None,
    "why": "",
    "about": {},
    "charged_ms": 0.0,
    "notes": (),
}


def _seat_record(spec: GameSpec, seat: int, played: RefereedGame) -> SeatRecord:
    readings, kept = played.readings[seat], spec.seats[seat].folders
    side = None if played.referee is None else played.referee.sides[seat]
    return SeatRecord(
        **(_UNPLAYED if side is None else replayed_fields(spec, side)),
        name=spec.seats[seat].name,
        memory_peak_bytes=readings.memory_peak_bytes,
        cpu_ms=None if readings.cpu_ns is None else readings.cpu_ns // 1_000_000,
        lingered_ms=round(played.lingered_s[seat] * 1000 + (0 if side is None else side.lingered_ns / 1e6), 3),
        folders={
            kind: played.folders.get((seat, kind), FolderRecord(digest=start))
            for kind, start in (kept.digests if kept else {}).items()
        },
    )


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
