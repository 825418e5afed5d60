"""Writes a contest's event log in a separate process; the judge never waits for it."""

import os
import secrets
import selectors
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from datetime import datetime
from pathlib import Path
from threading import Event
from typing import Any, Literal

from judge.base.errors import HostError, InputError
from judge.base.logs import get_logger
from judge.base.owner import owned_directory
from judge.base.scheduling import set_scheduling
from judge.base.service_loop import ServiceLoop
from judge.base.text import plain_text
from judge.base.worker_processes import Worker, wait
from judge.broadcast import events as live
from judge.broadcast.log import LOG_FILE, EventLog
from judge.broadcast.pipe import END, Feed
from judge.broadcast.running import moment
from judge.contest.contest import Contest, open_store
from judge.contest.event_log.moves import Connection, Key, WorkerMoves
from judge.contest.plan import BroadcastPlan, Planned
from judge.contest_view.stored import public_view
from judge.contest_view.view import ContestView
from judge.journal import events as journal_events
from judge.journal.state import JournalLine
from judge.record.spec import RecordFile, outcome_sentence, score_text

TABLE_S, TABLE_SHARE = 0.5, 0.05
"""Minimum interval between updates of the standings, and their maximum share of time."""

MAX_REASON_CHARACTERS = 300

REST_S = 0.01
"""Pause after each round."""

POLL_INTERVAL_S = 0.25
"""Time between reads of the journal."""

CONNECT_INTERVAL_S = 0.05

FINISH_S = 30.0
"""Maximum time to complete a log."""

MAX_TITLE_CHARACTERS = 48

RESTART_S = 10.0
"""Minimum time between restarts."""

log = get_logger()


class Recorder:
    """The event log of one contest."""

    def __init__(self, contest: Contest, path: Path, delay: BroadcastPlan | None = None) -> None:
        """Open or create the log. Raises HostError and InputError."""
        self._contest = contest
        self._log = EventLog(path)
        self._last_line = 0
        self._scheduled = 0
        self._table: tuple[live.StandingLine, ...] | None = None
        self._table_at = 0.0
        self._is_table_due = True
        self.moves = WorkerMoves(self._log.append, self.read_store, BroadcastPlan() if delay is None else delay)
        self._games: dict[str, live.NextGame] = {}
        self._withheld_from: int | None = None
        """The first withheld round, after the lines that were read."""
        self._logged: set[int] = set()
        """Lines of the journal with events. An interrupted reveal continues after them."""
        try:
            self._read_log()
            if self._log.seq == 0:
                self._log.append([self._opened()], is_durable=True)
        except BaseException:
            self._log.close()  # with its lock
            raise

    def close(self) -> None:
        self._log.close()

    # --- contents of the log -----------------------------------------------------------------------------------------

    def _read_log(self) -> None:
        running: dict[Key, list[live.Playing | live.MoveMade]] = {}
        for event in self._log.events():
            line = getattr(event, "journal", None) or 0
            self._last_line = max(self._last_line, line)
            if self._withheld_from is not None:
                self._logged.add(line)
            match event:
                case live.GameStarted():
                    running[event.game, event.attempt] = []
                case live.Playing() | live.MoveMade():
                    running.setdefault((event.game, event.attempt), []).append(event)
                case live.Ended() | live.Unscored():
                    running.pop((event.game, event.attempt), None)
                case live.Scheduled():
                    self._scheduled = max(self._scheduled, *(game.game for game in event.games))
                case live.TableChanged():
                    self._table = event.lines
                case live.ResultsWithheld():
                    self._withheld_from = event.first
        for key, events in running.items():
            self.moves.begin(key)
            for event in events:
                self.moves.restore(key, event)

    def _opened(self) -> live.Opened:
        snapshot = self._contest.snapshot
        policy = snapshot.policy
        return live.Opened(
            log=secrets.token_hex(8),
            contest=snapshot.name,
            about=plain_text(snapshot.about),
            game_name=policy.game.name,
            policy=policy.name,
            turn_ms=policy.clock.controls[0].turn_ms or 0,
            match_ms=policy.clock.match_ms,
            control=policy.clock.control,
            at=moment(time.time() * 1000),
        )

    # --- the journal -------------------------------------------------------------------------------------------------

    def read_store(self) -> None:
        """Log new journal lines. Raises HostError."""
        store, name = self._contest.store, self._contest.name
        for number, line in store.journal_since(name, self._last_line):
            if isinstance(line.change, journal_events.Revealed):
                self._log_revealed(number, line.change.withheld_from)
            self._last_line = number
            if not line.is_withheld(self._withheld_from):
                self._log.append(list(self._events_of(number, line)), is_durable=True)
        if self._is_table_due and time.monotonic() >= self._table_at:
            self._log_table()

    def _log_revealed(self, before: int, first: int | None) -> None:
        """Log the lines that a reveal at position `before` makes public; from round `first` on they stay withheld."""
        for number, line in self._contest.store.journal_since(self._contest.name, 0):
            is_revealed = line.is_withheld(self._withheld_from) and not line.is_withheld(first)
            if number < before and is_revealed and number not in self._logged:
                self._log.append(list(self._events_of(number, line)), is_durable=True)

    def due_s(self) -> float | None:
        """Seconds until standings or a withheld event are due; None if nothing is."""
        table_s = max(0.0, self._table_at - time.monotonic()) if self._is_table_due else None
        due = [each for each in (self.moves.due_s(), table_s) if each is not None]
        return min(due) if due else None

    def finish(self) -> None:
        """Log everything that is left. Raises HostError."""
        self._table_at = 0
        self.read_store()

    def _events_of(self, number: int, line: JournalLine) -> Iterator[live.AnyEvent]:
        at = moment(datetime.fromisoformat(line.at).timestamp() * 1000)
        reason = plain_text(line.text, MAX_REASON_CHARACTERS)
        if line.game is not None and line.game not in self._games:
            self._schedule()
        found = self._games.get(line.game or "")
        match line.change:
            case journal_events.Created() | journal_events.Entered():
                self._contest.refresh()
                entries = self._contest.snapshot.entries
                if isinstance(line.change, journal_events.Created):
                    count = line.change.entries
                else:
                    count = [entry.name for entry in entries].index(line.change.agent) + 1
                agents = tuple(
                    live.EnteredAgent(
                        agent=place,
                        name=entry.name,
                        author=plain_text(entry.seat.author, 80),
                        rank=entry.rank or 0,
                        title=plain_text(entry.title, MAX_TITLE_CHARACTERS),
                    )
                    for place, entry in enumerate(entries[:count], 1)
                )
                yield live.Entered(journal=number, at=at, agents=agents)
            case journal_events.Scheduled(count):
                # Later ones may be withheld.
                games = tuple(game for game in self._schedule() if game.game > self._scheduled)[:count]
                self._scheduled = max([self._scheduled, *(game.game for game in games)])
                if games:
                    yield live.Scheduled(journal=number, at=at, games=games)
            case journal_events.Resumed():
                yield live.StateChanged(journal=number, at=at, state="open", reason=reason)
            case journal_events.Paused():
                yield live.StateChanged(journal=number, at=at, state="paused", reason=reason)
            case journal_events.Stopped():
                yield live.StateChanged(journal=number, at=at, state="stopped", reason=reason)
            case journal_events.StandingsFrozen(first):
                self._withheld_from = first
                yield live.ResultsWithheld(journal=number, at=at, first=first)
            case journal_events.Revealed():
                self._withheld_from = line.change.withheld_from
                yield live.ResultsWithheld(journal=number, at=at, first=self._withheld_from)
            case journal_events.Disqualified(agent):
                self._is_table_due = True
                yield live.Disqualified(journal=number, at=at, agent=agent, reason=reason)
            case journal_events.Withdrawn(agent):
                self._is_table_due = True
                is_annulled = self._contest.snapshot.format.withdrawal == "annuls"
                yield live.Withdrawn(journal=number, at=at, agent=agent, is_annulled=is_annulled, reason=reason)
            case journal_events.Started(attempt=attempt) if found:
                self.moves.begin((found.game, attempt))
                yield live.GameStarted(
                    journal=number, game=found.game, attempt=attempt, at=at, first=found.first, second=found.second
                )
            case journal_events.Accepted(game, attempt) if found:
                self._is_table_due = True
                file, moves = self._finished((found.game, attempt), game)
                yield from moves
                yield self._ended(number, at, reason, (found.game, attempt), file)
            case journal_events.Voided(game, attempt) | journal_events.Abandoned(game, attempt) if found:
                yield from self._finished((found.game, attempt), game)[1]
                is_void = isinstance(line.change, journal_events.Voided)
                state: Literal["void", "abandoned"] = "void" if is_void else "abandoned"
                yield live.Unscored(journal=number, game=found.game, attempt=attempt, at=at, state=state, reason=reason)
            case journal_events.Annulled(attempt=attempt) if found:
                self._is_table_due = True
                self.moves.end((found.game, attempt))
                yield live.Unscored(
                    journal=number, game=found.game, attempt=attempt, at=at, state="annulled", reason=reason
                )

    def _finished(self, key: Key, game_id: str) -> tuple[RecordFile | None, Sequence[live.AnyEvent]]:
        attempt = self._contest.store.attempt(game_id, key[1])
        file = None
        try:
            file = self._contest.record(attempt.record) if attempt and attempt.record else None
            return file, self.moves.end(key, file)
        except InputError as error:
            log.warning("the log lacks moves of a game", game=key[0], attempt=key[1], why=str(error))
            self.moves.end(key)  # also if its record could not be read
            return file, ()

    def _ended(self, number: int, at: str, reason: str, key: Key, file: RecordFile | None) -> live.Ended:
        game, attempt = key
        known: dict[str, Any] = {"verdict": "", "score": "", "outcome": reason, "moves": 0}
        if file is not None:
            record = file.record
            titles = {entry.name: entry.title for entry in self._contest.snapshot.entries}
            first, second = (
                plain_text(titles.get(seat.name) or seat.name, MAX_TITLE_CHARACTERS) for seat in record.seats
            )
            outcome = outcome_sentence(record.verdict, record.winner, (first, second), record.reason)
            known = {
                "verdict": record.verdict.value,
                "winner": record.winner,
                "score": score_text(record.verdict, record.winner),
                "outcome": plain_text(outcome, MAX_REASON_CHARACTERS),
                "moves": len(record.plies),
            }
        path = f"records/{game:05d}.json"
        return live.Ended(journal=number, game=game, attempt=attempt, at=at, record=path, **known)

    def _schedule(self) -> list[live.NextGame]:
        view = self._contest.view()
        for row in self._contest.store.schedule_of(self._contest.name):
            self._games[row.id] = live.NextGame(
                game=row.number,
                round=row.round,
                table=row.table,
                first=row.first,
                second=row.second,
                stage=view.stage_of(row),
            )
        return list(self._games.values())

    def _log_table(self) -> None:
        began = time.monotonic()
        standing: ContestView = self._contest.view()
        if self._contest.store.withheld_from(self._contest.name) is not None:
            standing = public_view(self._contest.read())
        is_rated = standing.table.is_by_rating
        lines = tuple(
            live.StandingLine(
                place=line.place,
                agent=line.agent,
                points=line.points,
                games=line.done.games,
                wins=line.done.wins,
                draws=line.done.draws,
                losses=line.done.losses,
                stage=standing.stages.get(line.agent, ""),
                rating=round(line.values[0], 1) if is_rated and line.values else None,
            )
            for line in standing.table.lines
        )
        now = time.monotonic()
        self._table_at = now + max(TABLE_S, (now - began) / TABLE_SHARE)
        self._is_table_due = False
        if lines != self._table:
            self._table = lines
            self._log.append([live.TableChanged(at=moment(time.time() * 1000), lines=lines)])


def record(planned: Planned, address: Path) -> None:
    """Write the log and receive moves at `address`, until a connection sends END. Runs with idle priority.

    After an error it begins again with the log that it has written. Raises HostError if the log is incomplete.
    """
    set_scheduling(os.getpid(), os.SCHED_IDLE)
    address.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(address))
    listener.listen(256)
    listener.setblocking(False)
    ending, complete = Event(), Event()

    def session() -> float:
        with closing(open_store(planned)) as store:
            recorder = Recorder(Contest(store, planned), planned.folder / LOG_FILE, planned.plan.broadcast)
            with closing(recorder), closing(_Loop(recorder, listener, ending)) as loop:
                loop.run()
        complete.set()
        return 0.0

    repeated = ServiceLoop("recorder of events", session)
    with closing(listener):
        while not ending.is_set():
            repeated.run_step()
    if not complete.is_set():
        raise HostError(f"{planned.folder / LOG_FILE}: the log of events is incomplete; its last error is in the log")


class _Loop:
    """Pauses after each round: waking it costs a fast game's worker more than finding it awake."""

    def __init__(self, recorder: Recorder, listener: socket.socket, ending: Event) -> None:
        self._recorder = recorder
        self._listener = listener
        self._read_at = 0.0
        self._ending = ending
        self._connections = 0
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ)

    def close(self) -> None:
        for key in list(self._selector.get_map().values()):
            if isinstance(key.data, Connection):
                self._end_connection(key)
        self._selector.close()

    def run(self) -> None:
        while True:
            for key, _ in self._selector.select(self._sleep_s()):
                self._read(key)
            if self._ending.is_set() and not self._connections:
                self._recorder.finish()
                return
            now = time.monotonic()
            if now - self._read_at >= POLL_INTERVAL_S or self._recorder.due_s() == 0:
                self._read_at = now
                self._recorder.read_store()
            self._recorder.moves.release()
            time.sleep(REST_S)

    def _sleep_s(self) -> float:
        if self._ending.is_set():
            return 0.0
        due_s, poll_s = self._recorder.due_s(), max(0.0, self._read_at + POLL_INTERVAL_S - time.monotonic())
        return poll_s if due_s is None else min(poll_s, due_s)

    def _read(self, key: selectors.SelectorKey) -> None:
        connection: Connection | None = key.data
        stream = key.fileobj
        if connection is None:
            worker, _ = self._listener.accept()
            worker.setblocking(False)
            self._selector.register(worker, selectors.EVENT_READ, Connection())
            self._connections += 1
            return
        if not isinstance(stream, socket.socket):
            raise TypeError("only sockets are registered")
        try:
            data = stream.recv(1 << 18)
            if data == END + bytes(4):
                data = b""
                self._ending.set()
            if data:
                self._recorder.moves.receive(connection, data)
                return
        except OSError as error:
            log.warning("a worker's connection is lost", why=str(error))
        self._end_connection(key)

    def _end_connection(self, key: selectors.SelectorKey) -> None:
        self._selector.unregister(key.fileobj)
        if isinstance(key.fileobj, socket.socket):
            key.fileobj.close()
        self._connections -= 1
        key.data.close()


class RecorderProcess:
    """The recorder process of a contest, restarted if it dies. Games continue without it."""

    def __init__(self, planned: Planned) -> None:
        """Raises HostError if the disk is full."""
        self._planned = planned
        self._directory = ExitStack()
        self.address = self._directory.enter_context(owned_directory()) / "recorder"
        self._worker: Worker[Any] = Worker()
        self._restart_at = 0.0

    def start(self) -> None:
        self._worker.start(record, self._planned, self.address)

    def restart_if_ended(self) -> None:
        """Restart a dead process, at most once per `RESTART_S`."""
        if wait([self._worker], 0) and time.monotonic() >= self._restart_at:
            self._restart_at = time.monotonic() + RESTART_S
            why = str(self._worker.exception())
            log.warning("the recorder of events has ended; it is started again", why=why)
            self._worker.kill()
            try:
                self.start()
            except OSError as error:  # the next call tries again
                log.error("the recorder of events cannot be started now", error=str(error))  # noqa: TRY400

    def finish(self) -> None:
        """Return when the log is complete. No game may be running."""
        self._restart_at = 0.0  # it may have just ended
        deadline = time.monotonic() + FINISH_S
        while time.monotonic() < deadline:
            self.restart_if_ended()
            if wait([self._worker], 0):
                break  # the new process has also ended
            if self._worker.pid is not None:
                set_scheduling(self._worker.pid, os.SCHED_OTHER)  # no game is running
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                connection.connect(str(self.address))
            except OSError:  # it has just been started
                connection.close()
                time.sleep(CONNECT_INTERVAL_S)
                continue
            feed = Feed(connection.detach())
            feed.send(END, b"")
            feed.close()
            if wait([self._worker], FINISH_S) and self._worker.exception() is None:
                return
        log.warning("the log of events is not complete; the next judge contest run completes it")

    def close(self) -> None:
        self._worker.kill()
        self._directory.close()
