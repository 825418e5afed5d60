"""The moves that workers send while they play: which of them the log has, and which may not be known yet.

A worker's connection is of one attempt. A connection that was made again begins with what the log has. Where it tells
something else, the attempt is played again, and is told again from its beginning. Whatever does not come at all, or is
not what the record says, is taken from the record when the game is over (`judge.contest.event_log.recorder`).
"""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from judge.base.errors import InputError
from judge.base.logs import get_logger
from judge.base.parsing import parse_json
from judge.broadcast.events import AnyEvent, MoveMade, Playing, TurnBegun
from judge.broadcast.pipe import BEGIN, TRANSCRIPT, frames
from judge.broadcast.running import RunningGame
from judge.broadcast.sender import Announced, sent_ms
from judge.contest.plan import BroadcastPlan
from judge.referee.transcript import unpack_entries

Key = tuple[int, int]
"""A game's number, and the attempt."""

log = get_logger()


@dataclass(slots=True)
class _Held:
    """An event that may not be known yet: until when, and after which answer."""

    until_ms: float
    ply: int
    event: AnyEvent


@dataclass(slots=True)
class _Told:
    """What is told of an attempt: its beginning and its moves in order, as digests, of which the log has `written`."""

    play: int = 0
    """How often the attempt was begun; 0: nothing is told of it."""
    moves: list[int] = field(default_factory=list)
    written: int = 0
    held: deque[_Held] = field(default_factory=deque)
    """What may not be known yet."""
    heard: int = 0
    """How many answers have come."""
    by: "Connection | None" = None
    """Who tells of it; what an earlier connection still says is dropped."""

    def add(self, event: Playing | MoveMade) -> None:
        """It is told, too. Nothing that was told before a beginning counts."""
        if isinstance(event, Playing):
            self.play, self.written = event.play, 0
            self.moves.clear()
            self.held.clear()
        self.moves.append(_digest(event))


@dataclass(slots=True, eq=False)
class Connection:
    """What a worker sends of one attempt."""

    read: bytearray = field(default_factory=bytearray)
    key: Key | None = None
    running: RunningGame | None = None
    known: list[Playing | MoveMade] | None = None
    """Its first events, all of which were told before it was made; None: it tells what is new."""

    def close(self) -> None:
        """Follow its game no more: whatever it sends is dropped."""
        if self.running is not None:
            self.running.close()
        self.running = None


class MovesTold:
    """The games that are open in a log, and their moves."""

    def __init__(
        self, write: Callable[[Sequence[AnyEvent]], None], look: Callable[[], None], delay: BroadcastPlan
    ) -> None:
        """`write` appends events to the log; `look` tells what is new in the store, such as a game that has begun."""
        self._write = write
        self._look = look
        self._delay = delay
        self._told: dict[Key, _Told] = {}

    def begin(self, key: Key) -> None:
        """An attempt was given to a worker."""
        self._told[key] = _Told()

    def has(self, key: Key, event: Playing | MoveMade) -> None:
        """The log has this of an attempt."""
        told = self._told.setdefault(key, _Told())
        told.add(event)
        told.written += 1

    def end(self, key: Key) -> Sequence[AnyEvent]:
        """Forget an attempt that is over and has no record; what was held back of it."""
        told = self._told.pop(key, _Told())
        return [each.event for each in told.held if isinstance(each.event, Playing | MoveMade)]

    def end_as(self, key: Key, recorded: Callable[[int], Sequence[Playing | MoveMade]]) -> Sequence[AnyEvent]:
        """Forget an attempt that is over; what the log lacks of what its record says.

        `recorded` gives that as the play of a number: the next one where something else was told. Raises what it
        raises.
        """
        told = self._told.pop(key, _Told())
        events = recorded(max(1, told.play))
        if [_digest(event) for event in events[: told.written]] == told.moves[: told.written]:
            return events[told.written :]
        log.warning("what was told of a game is not what its record says: it is told again", game=key[0])
        return recorded(told.play + 1)

    def hear(self, connection: Connection, data: bytes) -> None:
        """Take bytes that a worker sent."""
        connection.read += data
        for kind, frame in frames(connection.read):
            if kind == BEGIN:
                self._begin(connection, frame)
            elif kind == TRANSCRIPT and connection.running is not None:
                running = connection.running
                try:
                    at_ms, packed = sent_ms(frame)
                    events = running.hear(list(unpack_entries(packed)), at_ms)
                except Exception as error:  # noqa: BLE001 - another machine may send anything
                    log.warning("what a worker tells cannot be read", game=running.game, why=repr(error)[:300])
                    connection.close()
                    continue
                self._tell(connection, running.plies, events)

    def release(self) -> None:
        """Log what was held back long enough."""
        if self._delay.is_given:
            for told in self._told.values():
                self._release(told, ())

    def due_s(self) -> float | None:
        """In how many seconds something may be logged that is held back; None: nothing is, or it waits for answers."""
        waiting = [told.held[0].until_ms for told in self._told.values() if told.held]
        return max(0.0, min(waiting) / 1000 - time.time()) if waiting and self._delay.delay_s else None

    def _begin(self, connection: Connection, frame: bytes) -> None:
        try:
            announced = parse_json(Announced, frame, "an announced game")
        except InputError as error:
            log.warning("what a worker tells cannot be read", why=str(error))
            return
        key = (announced.game, announced.attempt)
        if key not in self._told:
            self._look()
        if key in self._told and connection.running is None:
            told = self._told[key]
            told.by, connection.key, connection.known = connection, key, [] if told.moves else None
            connection.running = RunningGame(announced.spec, *key, announced.play)

    def _tell(self, connection: Connection, plies: int, events: Sequence[AnyEvent]) -> None:
        """Log what the log does not have; a connection that was made again begins with what it has."""
        told = None if connection.key is None else self._told.get(connection.key)
        if told is None or told.by is not connection:
            return
        told.heard = plies
        fresh: list[AnyEvent] = []
        for event in events:
            if connection.known is None:
                fresh.append(event)
            elif isinstance(event, Playing | MoveMade):
                fresh += _unknown(connection, connection.known, told.moves, event)
        self._release(told, fresh)

    def _release(self, told: _Told, fresh: Sequence[AnyEvent]) -> None:
        """Log events, or hold them as long as the contest's delay wants; and log those that were held long enough."""
        for event in fresh:
            if isinstance(event, Playing | MoveMade):
                told.add(event)
        if not self._delay.is_given:
            self._log(told, fresh)
            return
        now, held = time.time() * 1000, told.held
        for event in fresh:
            ply = event.ply if isinstance(event, MoveMade) else told.heard + 1
            late = _delayed(event, self._delay)
            if late is not None:
                held.append(_Held(now + self._delay.delay_s * 1000, ply, late))
        free: list[AnyEvent] = []
        while held and held[0].until_ms <= now and held[0].ply + self._delay.delay_plies <= told.heard:
            free.append(held.popleft().event)
        self._log(told, free)

    def _log(self, told: _Told, events: Sequence[AnyEvent]) -> None:
        self._write(events)
        told.written += sum(isinstance(event, Playing | MoveMade) for event in events)


def _unknown(
    connection: Connection, known: list[Playing | MoveMade], moves: Sequence[int], event: Playing | MoveMade
) -> Sequence[AnyEvent]:
    """What is to be told of the next event of a connection that has told only what is `known`, its `moves`: nothing, or
    all from the beginning, if the event is another than the one that is known."""
    is_same = _digest(event) == moves[len(known)]
    known.append(event)
    if not is_same or len(known) == len(moves):
        connection.known = None
    return () if is_same else known


def _digest(event: Playing | MoveMade) -> int:
    """What is the same however its transcript is cut: what ran on after a turn is charged later, and a moment is an
    estimate."""
    if isinstance(event, Playing):
        return hash((event.play, event.board, event.left_ms))
    return hash((event.ply, event.seat, event.said, event.notation, event.left_ms, event.emptied, event.pieces))


def _delayed(event: AnyEvent, delay: BroadcastPlan) -> AnyEvent | None:
    """An event as it is told later: its clock runs so much later; after a delay by answers nobody knows how much."""
    if not isinstance(event, MoveMade | TurnBegun) or event.clock is None:
        return event
    if delay.delay_plies:
        return None if isinstance(event, TurnBegun) else event.model_copy(update={"clock": None})
    since_ms = event.clock.since_ms + round(delay.delay_s * 1000)
    return event.model_copy(update={"clock": event.clock.model_copy(update={"since_ms": since_ms})})
