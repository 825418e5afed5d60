"""Merges the moves that workers send into the event log, best effort.

A reconnected worker resends its play from the start; known moves are skipped. A higher play number restarts the
attempt.
"""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from judge.base.errors import InputError
from judge.base.logs import get_logger
from judge.base.parsing import parse_json
from judge.broadcast.events import AnyEvent, MoveMade, Playing, TurnBegun
from judge.broadcast.pipe import BEGIN, TRANSCRIPT, Announced, frames, sent_ms
from judge.broadcast.running import RunningGame, events_of_record
from judge.contest.plan import BroadcastPlan
from judge.record.spec import RecordFile
from judge.record.transcript import unpack_entries

Key = tuple[int, int]
"""Game number and attempt."""

log = get_logger()


@dataclass(slots=True)
class _WithheldEvent:
    """Withheld until `due_s` (`time.monotonic`) and until enough answers after `ply`."""

    due_s: float
    ply: int
    event: AnyEvent


@dataclass(slots=True)
class _Attempt:
    play: int = 0
    """0: not begun."""
    next_ply: int = 0
    withheld_events: deque[_WithheldEvent] = field(default_factory=deque)
    logged: list[int] = field(default_factory=list)
    """Hashes of the logged beginning and moves."""


@dataclass(slots=True, eq=False)
class Connection:
    """A worker's connection for one play."""

    unread: bytearray = field(default_factory=bytearray)
    running: RunningGame | None = None

    def close(self) -> None:
        """Ignore all further data."""
        self.running = None


class WorkerMoves:
    """The open attempts of a log and their moves."""

    def __init__(
        self, write: Callable[[Sequence[AnyEvent]], None], read_store: Callable[[], None], delay: BroadcastPlan
    ) -> None:
        """`write` appends to the log. `read_store` calls `begin` for new attempts."""
        self._write = write
        self._read_store = read_store
        self._delay = delay
        self._attempts: dict[Key, _Attempt] = {}

    def begin(self, key: Key) -> None:
        """Register a worker's attempt."""
        self._attempts[key] = _Attempt()

    def restore(self, key: Key, event: Playing | MoveMade) -> None:
        """Register a logged event of an open attempt."""
        if isinstance(event, Playing):
            self._attempts[key] = _Attempt(event.play)
        attempt = self._attempts.setdefault(key, _Attempt())
        attempt.next_ply = _ply(event) + 1
        attempt.logged.append(_hash(event))

    def end(self, key: Key, file: RecordFile | None = None) -> Sequence[AnyEvent]:
        """Forget a finished attempt and return its events missing in the log.

        Without a record: the withheld ones. If the record contradicts the log: another play. Raises InputError for a
        broken transcript.
        """
        attempt = self._attempts.pop(key, _Attempt())
        if file is None:
            return [each.event for each in attempt.withheld_events if isinstance(each.event, Playing | MoveMade)]
        events = events_of_record(file, key[0], max(1, attempt.play))
        count = len(attempt.logged)
        if [_hash(event) for event in events[:count]] == attempt.logged:
            return events[count:]
        log.warning("a worker sent other moves than those of the record: the record replaces them", game=key[0])
        return events_of_record(file, key[0], attempt.play + 1)

    def receive(self, connection: Connection, data: bytes) -> None:
        """Process bytes from a worker."""
        connection.unread += data
        for kind, frame in frames(connection.unread):
            if kind == BEGIN and connection.running is None:
                self._open(connection, frame)
            elif kind == TRANSCRIPT and connection.running is not None:
                try:
                    at_ms, packed = sent_ms(frame)
                    events = connection.running.add(list(unpack_entries(packed)), at_ms)
                except Exception as error:  # noqa: BLE001 - another machine may send anything
                    log.warning("a worker's moves cannot be read", game=connection.running.game, why=f"{error!r:.300}")
                    connection.close()
                else:
                    self._add(connection.running, events)

    def release(self) -> None:
        """Log the withheld events that are due."""
        for attempt in self._attempts.values():
            self._release(attempt)

    def due_s(self) -> float | None:
        """Seconds until a withheld event is due; None without one, or if it waits for answers."""
        waiting = [attempt.withheld_events[0].due_s for attempt in self._attempts.values() if attempt.withheld_events]
        return max(0.0, min(waiting) - time.monotonic()) if waiting and self._delay.delay_s else None

    def _open(self, connection: Connection, frame: bytes) -> None:
        try:
            announced = parse_json(Announced, frame, "an announced game")
        except InputError as error:
            log.warning("a worker's moves cannot be read", why=str(error))
            return
        key = (announced.game, announced.attempt)
        if key not in self._attempts:
            self._read_store()
        if key in self._attempts:
            connection.running = RunningGame(announced.spec, *key, announced.play)

    def _add(self, running: RunningGame, events: Sequence[AnyEvent]) -> None:
        key = (running.game, running.attempt)
        attempt = self._attempts.get(key)
        if attempt is None or running.play < attempt.play:
            return
        if running.play > attempt.play:
            attempt = self._attempts[key] = _Attempt(running.play)
        for event in events:
            is_lasting = isinstance(event, Playing | MoveMade)
            ply = _ply(event) if is_lasting else running.plies + 1
            if ply < attempt.next_ply:
                continue
            if is_lasting:
                attempt.next_ply = ply + 1
            late = _delayed(event, self._delay)
            if late is not None:
                attempt.withheld_events.append(_WithheldEvent(time.monotonic() + self._delay.delay_s, ply, late))
        self._release(attempt)

    def _release(self, attempt: _Attempt) -> None:
        withheld_events, events = attempt.withheld_events, list[AnyEvent]()
        while withheld_events and withheld_events[0].due_s <= time.monotonic():
            if self._delay.delay_plies and withheld_events[0].ply + self._delay.delay_plies >= attempt.next_ply:
                break
            events.append(withheld_events.popleft().event)
        self._write(events)
        attempt.logged += [_hash(event) for event in events if isinstance(event, Playing | MoveMade)]


def _ply(event: AnyEvent) -> int:
    return event.ply if isinstance(event, MoveMade) else 0


def _hash(event: Playing | MoveMade) -> int:
    """Independent of how the transcript was split."""
    if isinstance(event, Playing):
        return hash((event.board, event.left_ms))
    return hash((event.ply, event.seat, event.said, event.notation, event.left_ms, event.emptied, event.pieces))


def _delayed(event: AnyEvent, delay: BroadcastPlan) -> AnyEvent | None:
    if not isinstance(event, MoveMade | TurnBegun) or event.clock is None:
        return event
    if delay.delay_plies:
        return None if isinstance(event, TurnBegun) else event.model_copy(update={"clock": None})
    if not delay.delay_s:
        return event
    since_ms = event.clock.since_ms + round(delay.delay_s * 1000)
    return event.model_copy(update={"clock": event.clock.model_copy(update={"since_ms": since_ms})})
