"""Starts a contest at its time, continues it after interruptions, and exports it after its end.

Actions depend only on contest.toml, the clock, the journal and the exports in the folder.
"""

import hashlib
import time
from contextlib import closing
from datetime import UTC, datetime

from judge.base.errors import HostError
from judge.base.logs import get_logger
from judge.base.service_loop import ServiceLoop
from judge.base.worker_processes import Worker, wait
from judge.contest.contest import Contest, has_begun, open_store
from judge.contest.file_names import EXPORTS
from judge.contest.plan import Planned
from judge.contest.run_lock import player_of
from judge.contest.run_process import ContestProcess
from judge.contest.window_keeper import POLL_INTERVAL_S, WHO, PlanFile, WindowKeeper
from judge.contest_games import GameState
from judge.journal.events import Announced, Moment, Revealed, StartTimeReached
from judge.journal.sentences import text_of
from judge.journal.state import JournalLine
from judge.publish.export.export import write_export
from judge.publish.kept_exports import last_change
from judge.store.contests import Store
from judge.store.orders import Orders, OrganiserOrder
from judge.store.submissions import Register
from judge.submissions.service import SubmissionGate
from judge.transparency.keys import KEY_FILE
from judge.web.player.status import PlayerFiles

RETRY_EXPORT_S = 60.0

log = get_logger()


class ContestPlayer(ServiceLoop):
    """Plays a contest with a start time in `judge contest run`; as a context manager, in a thread."""

    def __init__(self, planned: Planned, register: Register, process: ContestProcess, files: PlayerFiles) -> None:
        """With the lock of `files` it exports the contest."""
        self._planned = planned
        self._register = register
        self._process = process
        self._file = PlanFile(planned)
        self._keeper = WindowKeeper(planned, SubmissionGate(planned.plan.windows))
        super().__init__("contest", self.step)
        self._files = files
        self._worker = Worker[str](starts_workers=True)  # an export of many games is written by several
        self._writing = ""
        """The number of the export that is being written, or empty."""
        self._export_at = 0.0
        self._waits = 0
        """The number of submissions for which the start waits."""
        self._reveals: list[JournalLine] = []
        """The last reveal that a run has written to the event log."""

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        self._worker.kill()

    def now(self) -> datetime:
        return datetime.now(UTC)

    def step(self) -> float:
        """Do what is due; return the seconds until the next step. Raises as `act`."""
        self.act()
        return POLL_INTERVAL_S

    def act(self) -> None:
        """Do what is due. Raises InputError and HostError; the next call continues."""
        starts = self._file.plan.windows.starts
        if starts is None:
            return
        with closing(open_store(self._planned)) as store:
            reached = StartTimeReached(Moment.of(starts))
            lines = store.last_lines(self._planned.name, 1, StartTimeReached)
            # The clock may have been set back since.
            is_time = self.now() >= starts or bool(lines and lines[0].change == reached)
            if is_time and self._is_ready(store, starts):
                self._keeper.write_due()  # the end of submissions is before the start
                if store.log_once(self._planned.name, reached, WHO):
                    log.info("schedule", kind=reached.NAME, text=text_of(reached))
            # An organiser may have begun it earlier.
            if has_begun(store, self._planned) or (is_time and not self._waits):
                self._play(store)

    def _is_ready(self, store: Store, starts: datetime) -> bool:
        """Whether no submission from before the start is still being processed."""
        waits = 0
        if not has_begun(store, self._planned):
            before = starts.astimezone(UTC).isoformat(timespec="milliseconds")
            waits = sum(not each.is_over and each.received_at < before for each in self._register.submissions())
        if waits and waits != self._waits:
            log.info("the contest waits for submissions that came before its start", submissions=waits)
        self._waits = waits
        return not waits

    def _play(self, store: Store) -> None:
        name, begun = self._planned.name, has_begun(store, self._planned)
        self._process.collect()
        if player_of(self._planned.folder) is not None or (begun and store.state(name) != "open"):
            return
        counts = store.counts(name) if begun else {}
        has_games = not begun or counts[GameState.PENDING] or counts[GameState.RUNNING]
        reveals = store.last_lines(name, 1, Revealed) if begun else []
        is_due = has_games or not self._is_exported(store) or reveals != self._reveals or self._process.has_failed
        if is_due and self._process.ensure():
            self._reveals = reveals

    # --- after the end -----------------------------------------------------------------------------------------------

    def _is_exported(self, store: Store) -> bool:
        """Whether the contest is over; then export it, once for each state of its results."""
        if self._writing:
            self._finish_export()
            return True
        # Another export after each later change of the results.
        last = last_change(store, self._planned.name)
        source = f"{self._planned.name} {'' if last is None else last.at}"
        number = hashlib.sha256(source.encode()).hexdigest()[:32]
        with closing(Orders(self._planned.store_url, self._planned.name)) as orders:
            # A restored folder has no exports.
            if orders.get(number) is not None and (self._planned.folder / EXPORTS).is_dir():
                return True
        if not Contest(store, self._planned).view().is_over:
            return False
        if store.withheld_from(self._planned.name) is not None:
            return True  # after the reveal
        if self._files.take():
            self._start_export(store, number)
        return True

    def _start_export(self, store: Store, number: str) -> None:
        announced = store.last_lines(self._planned.name, 1, Announced)
        if announced and isinstance(announced[0].change, Announced) and announced[0].change.cup is not None:
            return  # the cup is exported
        key = self._planned.folder / KEY_FILE
        if not key.is_file():
            raise HostError(f"{self._planned.name} is over, and is not exported without {key}: judge contest key {key}")
        if time.monotonic() < self._export_at:
            return
        self._export_at = time.monotonic() + RETRY_EXPORT_S
        log.info("the contest is over; its export is written", export=number)
        self._worker.start(write_export, str(self._planned.path), number)
        self._writing = number

    def _finish_export(self) -> None:
        if not wait([self._worker], 0):
            return
        number, self._writing = self._writing, ""
        self._export_at = time.monotonic() + RETRY_EXPORT_S
        done = self._worker.result()
        order = OrganiserOrder(WHO, "export", "", "the contest is over", number)
        with closing(Orders(self._planned.store_url, self._planned.name)) as orders:
            orders.carry_out(self._planned.name, order, lambda _: done)
        log.info("exported", export=number, done=done)
