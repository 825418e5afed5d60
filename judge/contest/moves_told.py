"""The moves that workers send while they play: which of them the log has, and which may not be known yet.

A worker's connection is of one attempt. A connection that was made again begins with what the log has, and whatever
does not come at all is taken from the record when the game is over (`judge.contest.recorder`).
"""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from judge.broadcast.events import AnyEvent, MoveMade, Playing, TurnBegun
from judge.broadcast.pipe import BEGIN, TRANSCRIPT, frames
from judge.broadcast.running import RunningGame
from judge.broadcast.sender import Announced, sent_ms
from judge.contest.plan import BroadcastPlan
from judge.parsing import parse_json
from judge.referee.transcript import unpack_entries

Key = tuple[int, int]
"""A game's number, and the attempt."""


@dataclass(slots=True)
class Connection:
    """What a worker sends of one attempt."""

    read: bytearray = field(default_factory=bytearray)
    key: Key | None = None
    running: RunningGame | None = None
    again: int = 0
    """How many of its events the log has from an earlier connection."""


@dataclass(slots=True)
class _Held:
    """An event that may not be known yet: until when, and after which answer."""

    until_ms: float
    ply: int
    event: AnyEvent


class MovesTold:
    """The games that are open in a log, and their moves."""

    def __init__(
        self, write: Callable[[Sequence[AnyEvent]], None], look: Callable[[], None], delay: BroadcastPlan
    ) -> None:
        """`write` appends events to the log; `look` tells what is new in the store, such as a game that has begun."""
        self._write = write
        self._look = look
        self._delay = delay
        self._told: dict[Key, int] = {}
        """How many moves the log has, with the beginning of the game."""
        self._held: dict[Key, deque[_Held]] = {}
        self._heard: dict[Key, int] = {}
        """How many answers of a game have come."""

    def begin(self, key: Key) -> None:
        """An attempt was given to a worker."""
        self._told[key] = 0

    def count(self, key: Key) -> None:
        """The log has another move of an attempt, or its beginning."""
        self._told[key] = self._told.get(key, 0) + 1

    def end(self, key: Key) -> tuple[int, Sequence[AnyEvent]]:
        """Forget an attempt that is over: how many of its moves were told, and those that were held back."""
        told = self._told.pop(key, 0)
        self._heard.pop(key, None)
        held = self._held.pop(key, ())
        return told, [each.event for each in held if isinstance(each.event, Playing | MoveMade)]

    def hear(self, connection: Connection, data: bytes) -> None:
        """Take bytes that a worker sent. Raises InputError or struct.error where they are none of a worker's."""
        connection.read += data
        for kind, frame in frames(connection.read):
            match kind:
                case _ if kind == BEGIN:
                    self._begin(connection, parse_json(Announced, frame, "an announced game"))
                case _ if kind == TRANSCRIPT and connection.running is not None:
                    at_ms, packed = sent_ms(frame)
                    self._tell(connection, connection.running.hear(list(unpack_entries(packed)), at_ms))

    def release(self) -> None:
        """Log what was held back long enough."""
        for key in list(self._held):
            self._release(key, ())

    def due_s(self) -> float | None:
        """In how many seconds something may be logged that is held back; None: nothing is, or it waits for answers."""
        waiting = [held[0].until_ms for held in self._held.values() if held]
        return max(0.0, min(waiting) / 1000 - time.time()) if waiting and self._delay.delay_s else None

    def _begin(self, connection: Connection, announced: Announced) -> None:
        key = (announced.game, announced.attempt)
        if key not in self._told:
            self._look()
        if key in self._told and connection.running is None:
            connection.key, connection.again = key, self._told[key] + len(self._held.get(key, ()))
            connection.running = RunningGame(announced.spec, *key)

    def _tell(self, connection: Connection, events: Sequence[AnyEvent]) -> None:
        """Log what the log does not have; a connection that was made again begins with what it had."""
        key = connection.key
        if key is None or key not in self._told or connection.running is None:
            return
        fresh: list[AnyEvent] = []
        for event in events:
            if connection.again == 0:
                fresh.append(event)
            elif isinstance(event, Playing | MoveMade):
                connection.again -= 1
        self._heard[key] = connection.running.plies
        self._release(key, fresh)

    def _release(self, key: Key, fresh: Sequence[AnyEvent]) -> None:
        """Log events, or hold them as long as the contest's delay wants; and log those that were held long enough."""
        if not self._delay.is_given:
            self._log(key, fresh)
            return
        now, plies = time.time() * 1000, self._heard[key]
        held = self._held.setdefault(key, deque())
        for event in fresh:
            ply = event.ply if isinstance(event, MoveMade) else plies + 1
            late = _delayed(event, self._delay)
            if late is not None:
                held.append(_Held(now + self._delay.delay_s * 1000, ply, late))
        free: list[AnyEvent] = []
        while held and held[0].until_ms <= now and held[0].ply + self._delay.delay_plies <= plies:
            free.append(held.popleft().event)
        self._log(key, free)

    def _log(self, key: Key, events: Sequence[AnyEvent]) -> None:
        self._write(events)
        self._told[key] += sum(isinstance(event, Playing | MoveMade) for event in events)


def _delayed(event: AnyEvent, delay: BroadcastPlan) -> AnyEvent | None:
    """An event as it is told later: its clock runs so much later; after a delay by answers nobody knows how much."""
    if not isinstance(event, MoveMade | TurnBegun) or event.clock is None:
        return event
    if delay.delay_plies:
        return None if isinstance(event, TurnBegun) else event.model_copy(update={"clock": None})
    since_ms = event.clock.since_ms + round(delay.delay_s * 1000)
    return event.model_copy(update={"clock": event.clock.model_copy(update={"since_ms": since_ms})})
