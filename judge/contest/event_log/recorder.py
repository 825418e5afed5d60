"""Writes the log of a contest's events.

What happens to the contest comes from the journal of its store, a line at a time, so the log says of a game what the
store says, once, whatever was killed. Moves come from the workers while they play (`judge.broadcast.sender`). A game
whose moves did not all arrive is completed from its record before its end is told, so every game in the log is whole;
for the same reason a log that was removed is made again from the store and the records.
"""

import secrets
import time
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from pathlib import Path

from judge.base.errors import InputError
from judge.base.logs import get_logger
from judge.base.text import plain_text
from judge.broadcast.events import (
    AnyEvent,
    Disqualified,
    Ended,
    Entered,
    EnteredAgent,
    GameStarted,
    MoveMade,
    Opened,
    Playing,
    Scheduled,
    ScheduledGame,
    StandingLine,
    StateChanged,
    TableChanged,
    Unscored,
    read_event,
)
from judge.broadcast.log import EventLog
from judge.broadcast.running import events_of_record, moment
from judge.contest.contest import Contest
from judge.contest.event_log.moves import Key, MovesTold
from judge.contest.plan import BroadcastPlan
from judge.records.outcome import outcome_sentence, score_text
from judge.store.types import JournalLine

TABLE_S, TABLE_SHARE = 0.5, 0.05
"""The standings are computed again after this time at the earliest, and take no more than this share of it."""

OVERLAP = 100
"""Lines of the journal that are looked at again, for one may be seen late."""

LONGEST_REASON = 300

log = get_logger()


class Recorder:
    """The log of one contest, and what it has."""

    def __init__(self, contest: Contest, path: Path, delay: BroadcastPlan | None = None) -> None:
        """Open the log at `path`, or begin it. Raises HostError and InputError as `EventLog`."""
        self._contest = contest
        self._log = EventLog(path)
        self._lines: set[int] = set()
        self._last_line = 0
        self._scheduled = 0
        self._table: tuple[StandingLine, ...] | None = None
        self._table_at = 0.0
        self._is_table_due = True
        self.moves = MovesTold(self._log.append, self.look, BroadcastPlan() if delay is None else delay)
        """What the workers tell of the games that they play."""
        self._games: dict[str, ScheduledGame] = {}
        self._read()
        if self._log.seq == 0:
            self._log.append([self._opened()], is_durable=True)

    def close(self) -> None:
        """Close the log."""
        self._log.close()

    # --- what the log has --------------------------------------------------------------------------------------------

    def _read(self) -> None:
        running: dict[Key, list[bytes]] = {}
        """What the log has of attempts that are not over."""
        for head, line in self._log.lines():
            if head.journal:
                self._lines.add(head.journal)
                self._last_line = max(self._last_line, head.journal)
            key = (head.game, head.attempt)
            match head.type:
                case "started":
                    running[key] = []
                case "playing" | "move":
                    running.setdefault(key, []).append(line)
                case "ended" | "void":
                    running.pop(key, None)
                case "scheduled":
                    event = read_event(line)
                    if isinstance(event, Scheduled):
                        self._scheduled = max(self._scheduled, *(game.game for game in event.games))
                case "table":
                    table = read_event(line)
                    self._table = table.lines if isinstance(table, TableChanged) else None
        for key, lines in running.items():
            self.moves.begin(key)
            for event in map(read_event, lines):
                if isinstance(event, Playing | MoveMade):
                    self.moves.has(key, event)

    def _opened(self) -> Opened:
        snapshot = self._contest.snapshot
        policy = snapshot.policy
        return Opened(
            log=secrets.token_hex(8),
            contest=snapshot.name,
            about=plain_text(snapshot.about),
            game_name=policy.game.name,
            policy=policy.name,
            turn_ms=policy.clock.turn_ms,
            match_ms=policy.clock.match_ms,
            at=moment(time.time() * 1000),
        )

    # --- the journal -------------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Tell what is new in the store. Raises HostError if the log cannot be written."""
        store, name = self._contest.store, self._contest.name
        for number, line in store.journal_since(name, max(0, self._last_line - OVERLAP)):
            if number in self._lines:
                continue
            self._lines.add(number)
            self._last_line = max(self._last_line, number)
            self._log.append(list(self._events_of(number, line)), is_durable=True)
        if self._is_table_due and time.monotonic() >= self._table_at:
            self._tell_table()

    def due_s(self) -> float | None:
        """In how many seconds there is something to tell that comes from nobody; None: there is nothing."""
        table_s = max(0.0, self._table_at - time.monotonic()) if self._is_table_due else None
        due = [each for each in (self.moves.due_s(), table_s) if each is not None]
        return min(due) if due else None

    def finish(self) -> None:
        """Tell all that is left, also standings that could still be late. Raises HostError as `look` does."""
        self._table_at = 0
        self.look()

    def _events_of(self, number: int, line: JournalLine) -> Iterator[AnyEvent]:
        at = moment(datetime.fromisoformat(line.at).timestamp() * 1000)
        reason = plain_text(line.text, LONGEST_REASON)
        match line.event:
            case "created":
                yield Entered(journal=number, at=at, agents=self._entered())
            case "scheduled":
                games = self._new_games()
                if games:
                    yield Scheduled(journal=number, at=at, games=games)
            case "open" | "paused" | "stopped":
                yield StateChanged(journal=number, at=at, state=line.event, reason=reason)
            case "disqualified":
                self._is_table_due = True
                yield Disqualified(journal=number, at=at, agent=reason.partition(": ")[0], reason=reason)
            case _ if line.match is not None and line.attempt is not None:
                yield from self._events_of_attempt(number, at, reason, line.event, line.match, line.attempt)

    def _events_of_attempt(
        self, number: int, at: str, reason: str, event: str, match: str, attempt: int
    ) -> Iterator[AnyEvent]:
        game = self._game(match)
        if game is None:
            return
        key = (game.game, attempt)
        match event:
            case "started":
                self.moves.begin(key)
                yield GameStarted(
                    journal=number, game=game.game, attempt=attempt, at=at, first=game.first, second=game.second
                )
            case "accepted":
                self._is_table_due = True
                yield from self._rest(key, match)
                yield self._ended(number, at, reason, key, match)
            case "void" | "abandoned":
                yield from self._rest(key, match)
                yield Unscored(
                    journal=number,
                    game=game.game,
                    attempt=attempt,
                    at=at,
                    state=event,
                    reason=reason,
                )
            case "annulled":
                self._is_table_due = True
                self.moves.end(key)
                yield Unscored(journal=number, game=game.game, attempt=attempt, at=at, state="annulled", reason=reason)

    def _rest(self, key: Key, match: str) -> Iterator[AnyEvent]:
        """What the log does not have yet of an attempt that is over: what was held back, then what its record has."""
        attempt = self._contest.store.attempt(match, key[1])
        if attempt is None or attempt.record is None:
            yield from self.moves.end(key)
            return
        try:
            file = self._contest.record(attempt.record)
            yield from self.moves.end_as(key, partial(events_of_record, file, key[0]))
        except InputError as error:
            log.warning("the moves of a game cannot be told", game=key[0], attempt=key[1], why=str(error))

    def _ended(self, number: int, at: str, reason: str, key: Key, match: str) -> Ended:
        game, attempt = key
        ended = Ended(
            journal=number,
            game=game,
            attempt=attempt,
            at=at,
            verdict="",
            score="",
            outcome=reason,
            moves=0,
            record=f"records/{game:05d}.json",
        )
        stored = self._contest.store.attempt(match, attempt)
        try:
            record = self._contest.record(stored.record).record if stored and stored.record else None
        except InputError:  # it was said when its moves were told
            record = None
        if record is None:
            return ended
        names = (plain_text(record.seats[0].name, 48), plain_text(record.seats[1].name, 48))
        return ended.model_copy(
            update={
                "verdict": record.verdict.value,
                "winner": record.winner,
                "score": score_text(record.verdict, record.winner),
                "outcome": plain_text(
                    outcome_sentence(record.verdict, record.winner, names, record.reason), LONGEST_REASON
                ),
                "moves": len(record.plies),
            }
        )

    def _entered(self) -> tuple[EnteredAgent, ...]:
        entries = enumerate(self._contest.snapshot.entries, 1)
        return tuple(
            EnteredAgent(agent=number, name=entry.name, author=plain_text(entry.seat.author, 80), rank=entry.rank or 0)
            for number, entry in entries
        )

    def _new_games(self) -> tuple[ScheduledGame, ...]:
        new = [game for game in self._schedule() if game.game > self._scheduled]
        self._scheduled = max([self._scheduled, *(game.game for game in new)])
        return tuple(new)

    def _game(self, match: str) -> ScheduledGame | None:
        if match not in self._games:
            self._schedule()
        return self._games.get(match)

    def _schedule(self) -> list[ScheduledGame]:
        stages = self._contest.stages_of_games()
        for match in self._contest.store.schedule_rows(self._contest.name):
            self._games[match.id] = ScheduledGame(
                game=match.number,
                round=match.round,
                table=match.table,
                first=match.first,
                second=match.second,
                stage=stages.get(match.number, ""),
            )
        return list(self._games.values())

    def _tell_table(self) -> None:
        began = time.monotonic()
        standing = self._contest.standing()
        lines = tuple(
            StandingLine(
                place=line.place,
                agent=line.agent,
                points=line.points,
                games=line.done.games,
                wins=line.done.wins,
                draws=line.done.draws,
                losses=line.done.losses,
                stage=standing.stages.get(line.agent, ""),
            )
            for line in standing.table.lines
        )
        now = time.monotonic()
        self._table_at = now + max(TABLE_S, (now - began) / TABLE_SHARE)
        self._is_table_due = False
        if lines != self._table:
            self._table = lines
            self._log.append([TableChanged(at=moment(time.time() * 1000), lines=lines)])
