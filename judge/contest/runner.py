"""The loop that plays a contest: fill the free slots, wait for a game to end, fix it, and look for what comes next.

Nothing of a contest is kept here: the store says which games there are and which have ended, so a loop that was killed
is begun again from the store. What was running then is rolled back and played again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from threading import Event

import structlog

from judge.contest.slots import Finished, Players
from judge.contest.worker import Job, JobResult, lost
from judge.store.files import Files
from judge.store.store import Store
from judge.store.types import AttemptState, Ended, Issued, MatchState, Scheduled

LOOK_S = 1.0
"""How long the loop waits for a game to end before it looks whether somebody wants it to stop."""

STOPPED = "stopped"
"""The state of a contest that needs its organiser, and the event of its journal."""


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


@dataclass(frozen=True, slots=True)
class MatchEvent:
    """A game ended, as far as the contest is concerned: `state` is what became of its attempt."""

    issued: Issued
    ended: Ended | None
    state: AttemptState
    why: str


class ContestRunner:
    """One contest, on whatever plays its games."""

    def __init__(
        self,
        store: Store,
        files: Files,
        contest: str,
        players: Players[Issued],
        *,
        job_of: Callable[[Issued], Job],
        more: Callable[[], Sequence[Scheduled]],
        allowed_voids: int,
        alone: frozenset[str] = frozenset(),
    ) -> None:
        """`files` gets the records and the states of folders, each before the row that counts on it.

        `more` gives the games that follow from the results so far, when all that were scheduled have ended.
        `allowed_voids` attempts of a game may be void in a row; then the whole contest stops and says why. Of the
        agents `alone` no two games are played at once.
        """
        self._store = store
        self._files = files
        self._contest = contest
        self._players = players
        self._job_of = job_of
        self._more = more
        self._allowed_voids = allowed_voids
        self._alone = alone
        self._log = structlog.get_logger().bind(contest=contest)
        self.drain = Event()
        """Set: finish what runs, start nothing."""
        self.abandon = Event()
        """Set: end now."""

    def run(self, tell: Callable[[MatchEvent], None]) -> StopReason:
        """Play until nothing is left to play, or somebody stops it; `tell` hears of every game that ended."""
        rolled_back = self._store.roll_back(self._contest, "its judge was gone")
        if rolled_back:
            self._log.info("rolled back", games=rolled_back)
        self._files.sweep()
        while not self.abandon.is_set():
            self._fill()
            if not self._players.running:
                reason = self._why_nothing_runs()
                if reason is not None:
                    return reason
                if self._players.free:
                    continue
            for finished in self._players.wait(LOOK_S):
                tell(self._settle(finished))
        self._players.kill()
        self._store.roll_back(self._contest, "abandoned by the organiser")
        return StopReason.ABANDONED

    def _fill(self) -> None:
        while self._players.free and not self.drain.is_set():
            issued = self._store.issue(self._contest, self._players.host, self._alone)
            if issued is None:
                return
            self._log.info(
                "started",
                match=issued.match.id,
                attempt=issued.attempt,
                seats=(issued.match.first, issued.match.second),
            )
            self._players.start(issued, self._job_of(issued))

    def _why_nothing_runs(self) -> StopReason | None:
        """None: there is more to play."""
        if self.drain.is_set():
            return StopReason.DRAINED
        if self._store.state(self._contest) != "open":
            return StopReason.PAUSED
        counts = self._store.counts(self._contest)
        if counts[MatchState.PENDING]:
            return None
        if counts[MatchState.HELD]:
            return StopReason.HELD
        games = self._more()
        if not games:
            return StopReason.FINISHED
        self._store.schedule(self._contest, games)
        return None

    def _settle(self, finished: Finished[Issued]) -> MatchEvent:
        """Fix a result, or give the game back. Raises HostError where the record cannot be kept."""
        issued, played = finished.tag, finished.played
        if played is not None:
            self._keep(played)
        if played is not None and not played.is_void:
            ended = played.ended
            state = self._store.accept(issued.match.id, issued.attempt, ended)
            self._log.info(state, match=issued.match.id, attempt=issued.attempt, verdict=ended.verdict)
            return MatchEvent(issued, ended, state, ended.reason)
        return self._void(issued, played, finished.error)

    def _keep(self, played: JobResult) -> None:
        for data in (*played.states.values(), played.record):
            self._files.put(data)

    def _void(self, issued: Issued, played: JobResult | None, error: BaseException | None) -> MatchEvent:
        ended = played.ended if played is not None else None
        why = ended.reason if ended is not None else lost(error or RuntimeError("no end"))
        record = ended.record if ended is not None else None
        now = self._store.void(issued.match.id, issued.attempt, why, record, self._allowed_voids)
        self._log.warning("void", match=issued.match.id, attempt=issued.attempt, why=why)
        if now is MatchState.HELD:
            self._stop(issued, why, record)
        return MatchEvent(issued, ended, AttemptState.VOID, why)

    def _stop(self, issued: Issued, why: str, record: str | None) -> None:
        """Stop the contest over a game that stays void; say of an agent that it is not the first time."""
        pair = (issued.match.first, issued.match.second)
        stops = [
            line.text.partition(":")[0].split(" - ")
            for line in self._store.journal(self._contest)
            if line.event == STOPPED
        ]
        text = f"{' - '.join(pair)}: void {self._allowed_voids} times in a row: {why}"
        if record is not None:
            text += f"; record {record}"
        for name in pair:
            if count := sum(name in names for names in stops):
                text += f"; games of {name} have stopped this contest before ({count})"
        self._store.set_state(self._contest, STOPPED, text)
