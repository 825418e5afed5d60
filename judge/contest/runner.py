"""The loop that plays a contest: fill slots, wait for an end, store the result, schedule the next games."""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from threading import Event
from time import monotonic

from judge.base.errors import StoreLostError
from judge.base.logs import get_logger
from judge.contest.attempts import EndedAttempt, Executor, Job, describe_loss
from judge.contest_games import AttemptState, GameState, ScheduledGame
from judge.journal.events import SetAside, Stopped
from judge.store.contests import Store
from judge.store.files import Files
from judge.store.types import FileKind

POLL_INTERVAL_S = 1.0

PATIENCE_S = 600.0
"""Maximum time to wait for a lost store."""

STOPPED = "stopped"
"""State and journal event of a contest that needs its organiser."""

PAUSE_S = 300.0
"""Minimum time until the retry: load on the host is often over by then."""


class StopReason(StrEnum):
    """Why the loop ended."""

    FINISHED = "finished"
    """All games have results."""
    DRAINED = "drained"
    """On request: running games were finished."""
    ABANDONED = "abandoned"
    """On the second request: running games are replayed later."""
    HELD = "held"
    """Games are held for the organiser; others are done."""
    PAUSED = "paused"
    """Paused or stopped in the store."""


def again_at(store: Store, contest: str) -> str | None:
    """UTC time at which a running contest retries its set-aside games; None if it does not."""
    if store.state(contest) != "open":
        return None
    aside = store.last_lines(contest, 1, SetAside)
    if not aside:
        return None
    return (datetime.fromisoformat(aside[0].at) + timedelta(seconds=PAUSE_S)).isoformat(" ", "seconds")


class ContestRunner:
    """Plays a contest on an executor."""

    def __init__(
        self,
        store: Store,
        files: Files,
        contest: str,
        executor: Executor,
        *,
        job_of: Callable[[ScheduledGame], Job],
        schedule_next: Callable[[], bool],
        attempts: int,
        check_failures: Callable[[ScheduledGame], None] = lambda _: None,
        priorities: Callable[[], Mapping[str, float]] | None = None,
        alone: Callable[[], frozenset[str]] = frozenset,
        check: Callable[[], None] = lambda: None,
        pause_s: float = PAUSE_S,
        patience_s: float = PATIENCE_S,
        drain: Event | None = None,
        abandon: Event | None = None,
    ) -> None:
        """`files` receives records and folder states before the rows that name them.

        `schedule_next` is called when a slot is free and no game can be started, and returns whether it scheduled more.
        `check_failures` is called after each result. `priorities` returns values by agent: the game with the lowest sum
        is next. None: schedule order.

        After `attempts` voids in a row, a game is set aside if another was played since the last set-aside, if others
        are left the first time, or if one agent played in all games that were set aside since the last result, and
        games without it are left. It is retried after all others, at least `pause_s` after the last set-aside.
        Otherwise, or if it is void again, the contest stops.

        Agents that `alone` returns play one game at a time. `check`, called in each round, raises HostError if another
        process has taken over, and StoreLostError while this is unknown. Games continue for `patience_s` without the
        store.
        """
        self._store = store
        self._files = files
        self._contest = contest
        self._executor = executor
        self._job_of = job_of
        self._schedule_next = schedule_next
        self._attempts = attempts
        self._alone = alone
        self._check_failures = check_failures
        self._priorities = priorities
        self._ranks: Mapping[str, float] | None = None
        self._results, self._rated_results = 0, 0
        """Results since the start: now, and when priorities were computed."""
        self._check = check
        self._pause_s = pause_s
        self._has_played = False
        """Whether a result came since start or last set-aside."""
        self._is_first = True
        self._suspects: frozenset[str] = frozenset()
        """Agents of each game that was set aside since the last result."""
        self._set_aside_at: float | None = None
        self._patience_s = patience_s
        self._played: set[tuple[str, int]] = set()
        """Attempts whose ends are not stored yet."""
        self._ended: deque[EndedAttempt] = deque()
        self._log = get_logger(contest=contest)
        self.drain = drain or Event()
        """Set to finish running games and start no others."""
        self.abandon = abandon or Event()
        """Set to end now."""

    def run(self, tell: Callable[[EndedAttempt], None]) -> StopReason:
        """Play until the end or a stop request. `tell` receives each ended attempt.

        Raises HostError if the disk is full or another host has taken over, StoreLostError if the store stays lost.
        """
        self._files.sweep()
        lost_at: float | None = None
        is_new = True
        while not self.abandon.is_set():
            try:
                self._check()
                if is_new or lost_at is not None:
                    # Games issued to a killed judge, or while the store was lost.
                    why = "the judge that played it was stopped"
                    if rolled_back := self._store.roll_back(self._contest, why, self._played):
                        self._log.info("rolled back", games=rolled_back)
                is_new, lost_at = False, None
                reason = self._step(tell)
                if reason is not None:
                    return reason
            except StoreLostError as error:
                if lost_at is None:
                    lost_at = monotonic()
                    self._log.warning("the store is lost", why=str(error), games=self._executor.running)
                if is_new or monotonic() - lost_at > self._patience_s:
                    raise
                self._ended += self._executor.wait(POLL_INTERVAL_S)
                self.abandon.wait(POLL_INTERVAL_S)
        self._executor.kill()
        self._store.roll_back(self._contest, "abandoned by the organiser")
        return StopReason.ABANDONED

    def _step(self, tell: Callable[[EndedAttempt], None]) -> StopReason | None:
        self._settle_all(tell)
        self._fill()
        if not self._executor.running:
            reason = self._why_nothing_runs()
            if reason is not None or self._executor.free:
                return reason
        self._ended += self._executor.wait(POLL_INTERVAL_S)
        self._settle_all(tell)
        return None

    def _settle_all(self, tell: Callable[[EndedAttempt], None]) -> None:
        while self._ended:
            ended = self._settle(self._ended[0])
            self._ended.popleft()
            self._played.discard((ended.game.id, ended.game.attempt))
            tell(ended)

    def _fill(self) -> None:
        while self._executor.free and not self.drain.is_set():
            game = self._issue()
            if game is None and self._schedule_next():
                game = self._issue()
            if game is None:
                return
            self._log.info("started", game=game.id, attempt=game.attempt, seats=(game.first, game.second))
            self._executor.start(self._job_of(game))
            self._played.add((game.id, game.attempt))

    def _issue(self) -> ScheduledGame | None:
        slot, ranks = self._executor.slot, self._current_ranks()
        return self._store.issue(self._contest, self._executor.host, self._alone(), slot, ranks)

    def _current_ranks(self) -> Mapping[str, float] | None:
        # Not after every result: a fit of many results takes long.
        if self._priorities is None:
            return None
        if self._ranks is None or self._results > self._rated_results * 1.01:
            self._ranks, self._rated_results = self._priorities(), self._results
        return self._ranks

    def _why_nothing_runs(self) -> StopReason | None:
        if self.drain.is_set():
            return StopReason.DRAINED
        if self._store.state(self._contest) != "open":
            return StopReason.PAUSED
        counts = self._store.counts(self._contest)
        if counts[GameState.PENDING]:
            return None
        if counts[GameState.HELD]:
            return None if self._try_again() else StopReason.HELD
        return None if self._schedule_next() else StopReason.FINISHED

    def _settle(self, ended: EndedAttempt) -> EndedAttempt:
        game, outcome = ended.game, ended.outcome
        if outcome is not None:
            self._store_files(ended)
        if outcome is None or not ended.has_score:
            return replace(ended, record=b"", states={}, state=AttemptState.VOID, why=self._void(ended))
        state = self._store.accept(game.id, game.attempt, outcome, ended.host)
        if state is AttemptState.ACCEPTED:
            self._has_played = True
            self._results += 1
            self._check_failures(game)
        self._log.info(state, game=game.id, attempt=game.attempt, verdict=outcome.verdict)
        return replace(ended, record=b"", states={}, state=state, why=outcome.reason)

    def _store_files(self, ended: EndedAttempt) -> None:
        for data in (*ended.states.values(), ended.record):
            self._store.keep(self._contest, FileKind.FILE, self._files.put(data), data)

    def _void(self, ended: EndedAttempt) -> str:
        game, outcome = ended.game, ended.outcome
        why = outcome.reason if outcome is not None else describe_loss(ended.error or RuntimeError("no end"))
        record = outcome.record if outcome is not None else None
        public = outcome.public if outcome is not None else None
        state = self._store.void(game.id, game.attempt, why, record, self._attempts, public, ended.host)
        self._log.warning("void", game=game.id, attempt=game.attempt, why=why)
        if state is GameState.HELD:
            counts = self._store.counts(self._contest)
            has_others = self._is_first and bool(counts[GameState.PENDING] or counts[GameState.RUNNING])
            pair = frozenset({game.first, game.second})
            self._suspects = pair if self._has_played or self._is_first else pair & self._suspects
            is_host_well = self._has_played or has_others or self._has_games_without(self._suspects)
            if is_host_well and game.id not in self._set_aside():
                self._store.remark(self._contest, SetAside(game.id, self._attempts, why))
                self._has_played = self._is_first = False
                self._set_aside_at = monotonic()
                self._log.warning("set aside", game=game.id, why=why)
            else:
                self._stop(game, why, record)
        return why

    def _has_games_without(self, agents: frozenset[str]) -> bool:
        games = self._store.games(self._contest) if agents else ()
        open_states = (GameState.PENDING, GameState.RUNNING)
        return any(game.state in open_states and not {game.first, game.second} & agents for game in games)

    def _set_aside(self) -> set[str | None]:
        return {line.game for line in self._store.journal(self._contest) if isinstance(line.change, SetAside)}

    def _try_again(self) -> bool:
        before = self._set_aside()
        held = [game.id for game in self._store.games(self._contest) if game.state is GameState.HELD]
        if not before.issuperset(held):
            return False
        end = self._pause_s + (monotonic() if self._set_aside_at is None else self._set_aside_at)
        self._log.warning("waiting", seconds=max(0.0, end - monotonic()), games=len(held))
        while (left_s := end - monotonic()) > 0:
            self._check()
            self._ended += self._executor.wait(0)  # workers come and go during this time
            if self.drain.wait(min(POLL_INTERVAL_S, left_s)) or self._store.state(self._contest) != "open":
                return True
            if self._store.counts(self._contest)[GameState.HELD] < len(held):
                return True
        for game in held:
            self._store.release(self._contest, "tried once more, after all others", game)
        return True

    def _stop(self, game: ScheduledGame, why: str, record: str | None) -> None:
        pair = (game.first, game.second)
        changes = [line.change for line in self._store.journal(self._contest)]
        stops = [(change.first, change.second) for change in changes if isinstance(change, Stopped)]
        text = why
        if record is not None:
            text += f"; record {record}"
        for name in pair:
            if count := sum(name in names for names in stops):
                text += f"; games of {name} have stopped this contest before ({count})"
        self._store.set_state(self._contest, Stopped(*pair, self._attempts, text))
