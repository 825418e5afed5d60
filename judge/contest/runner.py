"""The loop that plays a contest: fill slots, wait for an end, store the result, draw and schedule the next games;
and the numbers of a run.
"""

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING

from judge.base.errors import StoreLostError
from judge.base.logs import get_logger
from judge.contest.attempts import EndedAttempt, Executor, describe_loss
from judge.contest.contest import Contest
from judge.contest_games import AttemptState, GameState, ScheduledGame, total_text
from judge.games.types import FAILURES
from judge.journal.events import SetAside, Stopped, cut
from judge.store.contests import Store
from judge.store.types import FileKind

if TYPE_CHECKING:
    from judge.contest.event_log.recorder import RecorderProcess

POLL_INTERVAL_S = 1.0

PATIENCE_S = 600.0
"""Maximum time to wait for a lost store."""

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


@dataclass(frozen=True, slots=True)
class StopRequest:
    """Set `drain` to finish the running games and stop, `abandon` to stop at once. Another run continues."""

    drain: Event = field(default_factory=Event)
    abandon: Event = field(default_factory=Event)


class Scheduler:
    """Draws from the results so far. In a ladder it follows the journal."""

    def __init__(self, contest: Contest) -> None:
        self._contest = contest
        self._ladder = None
        if not contest.snapshot.format.has_rounds:
            # NumPy takes long to import.
            from judge.contest.ladder import LadderScheduler

            self._ladder = LadderScheduler(contest)

    @property
    def waits_for_agents(self) -> bool:
        """Whether games may follow only after an agent has entered, or the season ends."""
        return self._ladder is not None and not self._ladder.is_over

    def schedule_next(self) -> bool:
        """Disqualify failing agents, then schedule the next games. False if none follow now."""
        contest, store, name = self._contest, self._contest.store, self._contest.name
        if store.state(name) != "open":
            return False
        if self._ladder is not None:
            return self._ladder.schedule_next()
        contest.refresh()
        while True:
            [(last, _)] = store.journal_before(name, None, 1)
            counts = store.counts(name)
            if counts[GameState.PENDING] or counts[GameState.HELD]:
                return False
            if counts[GameState.RUNNING] and contest.snapshot.format.waits:
                return False
            results, earlier = store.results(name), store.pairings(name)
            contest.disqualify_failed(results)
            view = contest.view()
            pairings = contest.tournament.next(earlier, results, view.absent, view.out)
            games = contest.tournament.games(pairings, len(earlier))
            if not games:
                return False
            if store.schedule(name, games, pairings, after=last):
                return True


class RunObserver:
    """Receives the events of a run; methods do nothing by default."""

    def open(self, contest: Contest, executor: Executor) -> None:
        """Report the start."""

    def report(self, ended: EndedAttempt) -> None:
        """Report an ended attempt."""

    def close(self) -> None:
        """Report the end of the run, also after an error."""


class RunTally:
    """Progress since this judge started."""

    def __init__(self, contest: Contest) -> None:
        self._contest = contest
        self._began = monotonic()
        self.finished = 0
        self.voids = 0
        self.failures: Counter[str] = Counter()
        self.counts: Mapping[GameState, int] = contest.store.counts(contest.name)
        self._to_come = contest.view().to_come

    def add(self, event: EndedAttempt) -> None:
        before, self.counts = self.counts, self._contest.store.counts(self._contest.name)
        if _scheduled(before) != _scheduled(self.counts):
            self._to_come = self._contest.view().to_come
        if event.state is AttemptState.VOID:
            self.voids += 1
        if event.state is not AttemptState.ACCEPTED or event.outcome is None:
            return
        self.finished += 1
        names = (event.game.first, event.game.second)
        for name, seat in zip(names, event.outcome.seats, strict=True):
            self.failures[name] += seat.fault in FAILURES

    @property
    def done(self) -> int:
        return self.counts[GameState.DONE]

    @property
    def left(self) -> int:
        """Games without a result, including later rounds; a minimum unless `is_exact`."""
        return _scheduled(self.counts) - self.done + self._to_come.games

    @property
    def is_exact(self) -> bool:
        return self._to_come.is_exact

    @property
    def total_text(self) -> str:
        """All games, such as `at least 12`."""
        return total_text(self.counts, self._to_come.games, is_exact=self.is_exact)

    @property
    def per_minute(self) -> float:
        return 60 * self.finished / max(monotonic() - self._began, 1e-3)

    @property
    def minutes_left(self) -> float | None:
        """Estimated minutes left; None before the first game."""
        return self.left / self.per_minute if self.finished else None


def _scheduled(counts: Mapping[GameState, int]) -> int:
    return sum(counts.values()) - counts[GameState.CANCELLED]


class ContestRunner:
    """Plays a contest on an executor."""

    def __init__(
        self,
        contest: Contest,
        executor: Executor,
        observer: RunObserver | None = None,
        stop: StopRequest | None = None,
        recorder: "RecorderProcess | None" = None,
        pause_s: float = PAUSE_S,
    ) -> None:
        """After the policy's number of voids in a row, a game is set aside if another was played since the last
        set-aside, if others are left the first time, or if one agent played in all games that were set aside since the
        last result, and games without it are left. It is retried after all others, at least `pause_s` after the last
        set-aside. Otherwise, or if it is void again, the contest stops.

        Games continue for `PATIENCE_S` without the store. `recorder` is restarted if it dies.
        """
        self._contest = contest
        self._store = contest.store
        self._name = contest.name
        self._executor = executor
        self._observer = observer or RunObserver()
        self._recorder = recorder
        self._scheduler = Scheduler(contest)
        self._attempts = contest.snapshot.policy.attempts
        self._ranks: Mapping[str, float] | None = None
        self._results, self._rated_results = 0, 0
        """Results since the start: now, and when priorities were computed."""
        self._pause_s = pause_s
        self._is_withheld = False
        self._has_played = False
        """Whether a result came since start or last set-aside."""
        self._is_first = True
        self._suspects: frozenset[str] = frozenset()
        """Agents of each game that was set aside since the last result."""
        self._set_aside_at: float | None = None
        self._is_waiting = False
        """Whether it was reported that a ladder waits for agents."""
        self._played: set[tuple[str, int]] = set()
        """Attempts whose ends are not stored yet."""
        self._ended: deque[EndedAttempt] = deque()
        self._log = get_logger(contest=contest.name)
        self.stop = stop or StopRequest()

    def run(self) -> StopReason:
        """Play until the end or a stop request.

        Raises HostError if the disk is full or another host has taken over, StoreLostError if the store stays lost.
        """
        self._contest.files.sweep()
        lost_at: float | None = None
        is_new = True
        while not self.stop.abandon.is_set():
            try:
                self._check()
                if is_new or lost_at is not None:
                    # Games issued to a killed judge, or while the store was lost.
                    why = "the judge that played it was stopped"
                    if rolled_back := self._store.roll_back(self._name, why, self._played):
                        self._log.info("rolled back", games=rolled_back)
                is_new, lost_at = False, None
                reason = self._step()
                if reason is not None:
                    return reason
            except StoreLostError as error:
                if lost_at is None:
                    lost_at = monotonic()
                    self._log.warning("the store is lost", why=str(error), games=self._executor.running)
                if is_new or monotonic() - lost_at > PATIENCE_S:
                    raise
                self._ended += self._executor.wait(POLL_INTERVAL_S)
                self.stop.abandon.wait(POLL_INTERVAL_S)
        self._executor.kill()
        self._store.roll_back(self._name, "abandoned by the organiser")
        return StopReason.ABANDONED

    def _check(self) -> None:
        self._store.check_lease()
        if self._recorder is not None:
            self._recorder.restart_if_ended()

    def _step(self) -> StopReason | None:
        self._settle_all()
        self._fill()
        if not self._executor.running:
            reason = self._why_nothing_runs()
            if reason is not None or self._executor.free:
                return reason
        self._ended += self._executor.wait(POLL_INTERVAL_S)
        self._settle_all()
        return None

    def _settle_all(self) -> None:
        while self._ended:
            ended = self._settle(self._ended[0])
            self._ended.popleft()
            self._played.discard((ended.game.id, ended.game.attempt))
            self._observer.report(ended)

    def _withhold(self) -> None:
        """Withhold results from the moment of the terms on."""
        terms = self._contest.snapshot.withholding
        is_due = terms is not None and terms.at is not None and datetime.now(UTC) >= terms.at
        if is_due and not self._is_withheld:
            self._store.withhold(self._name)
            self._is_withheld = True

    def _fill(self) -> None:
        self._withhold()
        while self._executor.free and not self.stop.drain.is_set():
            game = self._issue()
            if game is None and self._scheduler.schedule_next():
                game = self._issue()
            if game is None:
                return
            self._log.info("started", game=game.id, attempt=game.attempt, seats=(game.first, game.second))
            listener = self._recorder.address if self._recorder else None
            self._executor.start(self._contest.job(game, listener))
            self._is_waiting = False
            self._played.add((game.id, game.attempt))

    def _issue(self) -> ScheduledGame | None:
        slot, ranks = self._executor.slot, self._current_ranks()
        return self._store.issue(self._name, self._executor.host, self._contest.alone, slot, ranks)

    def _current_ranks(self) -> Mapping[str, float] | None:
        # Not after every result: a fit of many results takes long.
        if self._contest.planned.plan.order != "lowest":
            return None
        if self._ranks is None or self._results > self._rated_results * 1.01:
            self._ranks, self._rated_results = self._contest.priorities(), self._results
        return self._ranks

    def _why_nothing_runs(self) -> StopReason | None:
        if self.stop.drain.is_set():
            return StopReason.DRAINED
        if self._store.state(self._name) != "open":
            return StopReason.PAUSED
        counts = self._store.counts(self._name)
        if counts[GameState.PENDING]:
            return None
        if counts[GameState.HELD]:
            return None if self._try_again() else StopReason.HELD
        if self._scheduler.schedule_next():
            return None
        return None if self._wait_for_agents() else StopReason.FINISHED

    def _wait_for_agents(self) -> bool:
        """False if the contest is over."""
        waits = self._scheduler.waits_for_agents
        if waits and not self._is_waiting:
            self._log.warning("waiting for agents: fewer than two can meet, and the season has not ended")
        self._is_waiting = waits
        if waits:
            self._ended += self._executor.wait(0)  # workers come and go during this time
            self.stop.drain.wait(POLL_INTERVAL_S)
        return waits

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
            self._contest.check_failures(game)
        self._log.info(state, game=game.id, attempt=game.attempt, verdict=outcome.verdict)
        return replace(ended, record=b"", states={}, state=state, why=outcome.reason)

    def _store_files(self, ended: EndedAttempt) -> None:
        for data in (*ended.states.values(), ended.record):
            self._store.keep(self._name, FileKind.FILE, self._contest.files.put(data), data)

    def _void(self, ended: EndedAttempt) -> str:
        game, outcome = ended.game, ended.outcome
        why = outcome.reason if outcome is not None else describe_loss(ended.error or RuntimeError("no end"))
        record = outcome.record if outcome is not None else None
        public = outcome.public if outcome is not None else None
        suspects, is_aside = self._suspects, False
        # A judge that is killed in between would leave a held game that is not tried again.
        with self._store.change() as store:
            state = store.void(game.id, game.attempt, why, record, self._attempts, public, ended.host)
            if state is GameState.HELD:
                pair = frozenset({game.first, game.second})
                suspects = pair if self._has_played or self._is_first else pair & suspects
                is_aside = self._is_host_well(store, suspects) and game.id not in self._set_aside(store)
                if is_aside:
                    store.remark(self._name, SetAside(game.id, self._attempts, cut(why)))
                else:
                    self._stop(store, game, why, record)
        self._suspects = suspects
        self._log.warning("void", game=game.id, attempt=game.attempt, why=why)
        if is_aside:
            self._has_played = self._is_first = False
            self._set_aside_at = monotonic()
            self._log.warning("set aside", game=game.id, why=why)
        return why

    def _is_host_well(self, store: Store, suspects: frozenset[str]) -> bool:
        counts = store.counts(self._name)
        has_others = self._is_first and bool(counts[GameState.PENDING] or counts[GameState.RUNNING])
        return self._has_played or has_others or self._has_games_without(store, suspects)

    def _has_games_without(self, store: Store, agents: frozenset[str]) -> bool:
        games = store.games(self._name) if agents else ()
        open_states = (GameState.PENDING, GameState.RUNNING)
        return any(game.state in open_states and not {game.first, game.second} & agents for game in games)

    def _set_aside(self, store: Store) -> set[str | None]:
        return {line.game for line in store.last_lines(self._name, None, SetAside)}

    def _try_again(self) -> bool:
        before = self._set_aside(self._store)
        held_games = [game.id for game in self._store.games(self._name) if game.state is GameState.HELD]
        if not before.issuperset(held_games):
            return False
        end = self._pause_s + (monotonic() if self._set_aside_at is None else self._set_aside_at)
        self._log.warning("waiting", seconds=max(0.0, end - monotonic()), games=len(held_games))
        while (left_s := end - monotonic()) > 0:
            self._check()
            self._ended += self._executor.wait(0)  # workers come and go during this time
            if self.stop.drain.wait(min(POLL_INTERVAL_S, left_s)) or self._store.state(self._name) != "open":
                return True
            if self._store.counts(self._name)[GameState.HELD] < len(held_games):
                return True
        for game in held_games:
            self._store.release(self._name, "tried once more, after all others", game)
        return True

    def _stop(self, store: Store, game: ScheduledGame, why: str, record: str | None) -> None:
        pair = (game.first, game.second)
        changes = [line.change for line in store.last_lines(self._name, None, Stopped)]
        stops = [(change.first, change.second) for change in changes if isinstance(change, Stopped)]
        text = why
        if record is not None:
            text += f"; record {record}"
        for name in pair:
            if count := sum(name in names for names in stops):
                text += f"; games of {name} have stopped this contest before ({count})"
        store.set_state(self._name, Stopped(*pair, self._attempts, cut(text)))
