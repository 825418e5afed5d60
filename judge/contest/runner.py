"""The loop that plays a contest: fill the free slots, wait for a game to end, fix it, and look for what comes next.

Nothing of a contest is kept here: the store says which games there are and which have ended, so a loop that was killed
is begun again from the store. What was running then is rolled back and played again.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from threading import Event
from time import monotonic

from judge.base.errors import StoreLostError
from judge.base.logs import get_logger
from judge.contest.executor import Executor, JobEnd
from judge.contest.worker import Job, JobResult, describe_loss
from judge.contest_games import AttemptState, GameState, Outcome, ScheduledGame
from judge.store.contests import Store
from judge.store.files import Files
from judge.store.types import FileKind

LOOK_S = 1.0
"""How long the loop waits for a game to end before it looks whether somebody wants it to stop."""

PATIENCE_S = 600.0
"""How long a lost store is waited for."""

STOPPED = "stopped"
"""The state of a contest that needs its organiser, and the event of its journal."""


SET_ASIDE = "set-aside"
"""The event of a game that stays void while others are played: it is tried once more when nothing else is left."""

PAUSE_S = 300.0
"""How long after that, at least, it is tried: what takes a host's cores is often gone by then."""


class StopReason(StrEnum):
    """Why the loop ended."""

    FINISHED = "finished"
    """Every game of the contest has its result."""
    DRAINED = "drained"
    """Somebody asked: what was running was finished, nothing was started."""
    ABANDONED = "abandoned"
    """Somebody asked twice: what was running is played again when the contest goes on."""
    HELD = "held"
    """Games are held for the organiser, and all others are done."""
    PAUSED = "paused"
    """The contest was paused or stopped in the store."""


def again_at(store: Store, contest: str) -> str | None:
    """When a running contest may try the games once more that it has set aside, in UTC; None if it has to be resumed
    for that."""
    if store.state(contest) != "open":
        return None
    aside = [line.at for line in store.journal(contest) if line.event == SET_ASIDE]
    if not aside:
        return None
    return (datetime.fromisoformat(aside[-1]) + timedelta(seconds=PAUSE_S)).isoformat(" ", "seconds")


@dataclass(frozen=True, slots=True)
class AttemptEvent:
    """An attempt of a game ended, and the contest has taken note: `state` is the state of the attempt."""

    game: ScheduledGame
    outcome: Outcome | None
    state: AttemptState
    why: str


class ContestRunner:
    """Plays one contest on an executor."""

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
        alone: frozenset[str] = frozenset(),
        check: Callable[[], None] = lambda: None,
        pause_s: float = PAUSE_S,
        patience_s: float = PATIENCE_S,
    ) -> None:
        """`files` gets the records and the states of folders, each before the row that refers to it.

        `schedule_next` is called when all games that were scheduled have ended: it schedules those that follow from
        the results, and returns whether there are any.

        After so many void `attempts` of a game in a row the game is set aside if another one was played since the
        last time, or if others are left the first time. It is tried once more when all others have ended, and not
        before `pause_s` have passed since a game was set aside.
        Otherwise, or if it is void again, the whole contest stops and says why: so a cause that hits one game stops
        no other, an agent gains one attempt by it at most, and a host that cannot play does not try all games.

        No two games of an agent in `alone` are played at once.
        `check` is called in each round. It raises HostError if another process has taken over the contest, and
        StoreLostError while that is unknown. Games continue for `patience_s` while the store is lost; then
        StoreLostError is raised.
        """
        self._store = store
        self._files = files
        self._contest = contest
        self._executor = executor
        self._job_of = job_of
        self._schedule_next = schedule_next
        self._attempts = attempts
        self._alone = alone
        self._check = check
        self._pause_s = pause_s
        self._has_played = False
        """Whether a result came since the loop began or set a game aside."""
        self._is_first = True
        """Whether no game was set aside yet."""
        self._set_aside_at: float | None = None
        """When this loop last set a game aside."""
        self._patience_s = patience_s
        self._played: set[tuple[str, int]] = set()
        """The games and attempts whose ends are not in the store."""
        self._ended: deque[JobEnd] = deque()
        """Ends that are not in the store."""
        self._log = get_logger(contest=contest)
        self.drain = Event()
        """Set: finish what runs, start nothing."""
        self.abandon = Event()
        """Set: end now."""

    def run(self, tell: Callable[[AttemptEvent], None]) -> StopReason:
        """Play until nothing is left to play, or until it is stopped; `tell` is called with every game that ended.

        Raises HostError if the disk is full, if another host has taken over, or if the store does not come back.
        """
        self._files.sweep()
        lost_at: float | None = None
        is_new = True
        while not self.abandon.is_set():
            try:
                self._check()
                if is_new or lost_at is not None:
                    # Games that were issued to a judge that was killed, or while the store was lost.
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
                self._ended += self._executor.wait(LOOK_S)
                self.abandon.wait(LOOK_S)
        self._executor.kill()
        self._store.roll_back(self._contest, "abandoned by the organiser")
        return StopReason.ABANDONED

    def _step(self, tell: Callable[[AttemptEvent], None]) -> StopReason | None:
        """Fill the slots, wait and settle what has ended; the reason if there is nothing left to do.

        Raises StoreLostError; then the next step does what is left of it.
        """
        self._settle_all(tell)
        self._fill()
        if not self._executor.running:
            reason = self._why_nothing_runs()
            if reason is not None or self._executor.free:
                return reason
        self._ended += self._executor.wait(LOOK_S)
        self._settle_all(tell)
        return None

    def _settle_all(self, tell: Callable[[AttemptEvent], None]) -> None:
        while self._ended:
            event = self._settle(self._ended[0])
            end = self._ended.popleft()
            self._played.discard((end.game.id, end.game.attempt))
            tell(event)

    def _fill(self) -> None:
        while self._executor.free and not self.drain.is_set():
            game = self._store.issue(self._contest, self._executor.host, self._alone, self._executor.slot)
            if game is None:
                return
            self._log.info("started", game=game.id, attempt=game.attempt, seats=(game.first, game.second))
            self._executor.start(self._job_of(game))
            self._played.add((game.id, game.attempt))

    def _why_nothing_runs(self) -> StopReason | None:
        """None: there is more to play."""
        if self.drain.is_set():
            return StopReason.DRAINED
        if self._store.state(self._contest) != "open":
            return StopReason.PAUSED
        counts = self._store.counts(self._contest)
        # With free slots and nothing running, games that are pending wait for one that is held.
        if counts[GameState.PENDING] and not (counts[GameState.HELD] and self._executor.free):
            return None
        if counts[GameState.HELD]:
            return None if self._try_again() else StopReason.HELD
        return None if self._schedule_next() else StopReason.FINISHED

    def _settle(self, end: JobEnd) -> AttemptEvent:
        """Accept a result, or give the game back. Raises HostError if the record cannot be stored."""
        game, result = end.game, end.result
        if end.host:
            self._store.played_by(game.id, game.attempt, end.host)
        if result is not None:
            self._store_files(result)
        if result is None or result.is_void:
            return self._void(game, result, end.error)
        outcome = result.outcome
        state = self._store.accept(game.id, game.attempt, outcome)
        self._has_played |= state is AttemptState.ACCEPTED
        self._log.info(state, game=game.id, attempt=game.attempt, verdict=outcome.verdict)
        return AttemptEvent(game, outcome, state, outcome.reason)

    def _store_files(self, result: JobResult) -> None:
        for data in (*result.states.values(), result.record):
            self._store.keep(self._contest, FileKind.FILE, self._files.put(data), data)

    def _void(self, game: ScheduledGame, result: JobResult | None, error: BaseException | None) -> AttemptEvent:
        outcome = result.outcome if result is not None else None
        why = outcome.reason if outcome is not None else describe_loss(error or RuntimeError("no end"))
        record = outcome.record if outcome is not None else None
        public = outcome.public if outcome is not None else None
        state = self._store.void(game.id, game.attempt, why, record, self._attempts, public)
        self._log.warning("void", game=game.id, attempt=game.attempt, why=why)
        if state is GameState.HELD:
            counts = self._store.counts(self._contest)
            has_others = self._is_first and bool(counts[GameState.PENDING] or counts[GameState.RUNNING])
            if (self._has_played or has_others) and game.id not in self._set_aside():
                text = f"void {self._attempts} times in a row: {why}"
                self._store.remark(self._contest, SET_ASIDE, text, game.id)
                self._has_played = self._is_first = False
                self._set_aside_at = monotonic()
                self._log.warning("set aside", game=game.id, why=why)
            else:
                self._stop(game, why, record)
        return AttemptEvent(game, outcome, AttemptState.VOID, why)

    def _set_aside(self) -> set[str | None]:
        """The games that were set aside before."""
        return {line.game for line in self._store.journal(self._contest) if line.event == SET_ASIDE}

    def _try_again(self) -> bool:
        """Wait until it is time, then release the games that were set aside; False if others are held. Ends early if
        the contest is paused, if the organiser has released one, or if the loop is asked to end."""
        before = self._set_aside()
        held = [game.id for game in self._store.games(self._contest) if game.state is GameState.HELD]
        if not before.issuperset(held):
            return False
        end = self._pause_s + (monotonic() if self._set_aside_at is None else self._set_aside_at)
        self._log.warning("waiting", seconds=max(0.0, end - monotonic()), games=len(held))
        while (left_s := end - monotonic()) > 0:
            self._check()
            self._ended += self._executor.wait(0)  # workers come and go meanwhile
            if self.drain.wait(min(LOOK_S, left_s)) or self._store.state(self._contest) != "open":
                return True
            if self._store.counts(self._contest)[GameState.HELD] < len(held):
                return True
        for game in held:
            self._store.release(self._contest, "tried once more, after all others", game)
        return True

    def _stop(self, game: ScheduledGame, why: str, record: str | None) -> None:
        """Stop the contest because a game stays void; say if an agent of it has stopped the contest before."""
        pair = (game.first, game.second)
        stops = [
            line.text.partition(":")[0].split(" - ")
            for line in self._store.journal(self._contest)
            if line.event == STOPPED
        ]
        text = f"{' - '.join(pair)}: void {self._attempts} times in a row: {why}"
        if record is not None:
            text += f"; record {record}"
        for name in pair:
            if count := sum(name in names for names in stops):
                text += f"; games of {name} have stopped this contest before ({count})"
        self._store.set_state(self._contest, STOPPED, text)
