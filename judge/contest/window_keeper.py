"""Opens and closes submissions, resumes the contest, and reveals results, on schedule, in a service.

Actions depend only on contest.toml, the clock and the journal, which has each action once.
"""

from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import Self

from judge.base.logs import get_logger
from judge.base.service_loop import ServiceLoop
from judge.base.watched_file import WatchedFile
from judge.contest.contest import Contest, has_begun, open_store
from judge.contest.orders.contest_orders import Resume, Reveal
from judge.contest.plan import Plan, Planned, load_plan
from judge.journal.codec import Event
from judge.journal.events import Paused, ScheduleChanged, SubmissionsClosed, SubmissionsOpened
from judge.journal.sentences import text_of
from judge.store.orders import OrganiserOrder
from judge.submissions.service import SubmissionGate, WindowEvent

WHO = "the clock"
"""Actor in the journal."""

POLL_INTERVAL_S = 1.0

log = get_logger()


class PlanFile(WatchedFile[Planned]):
    """The plan of a contest file."""

    def __init__(self, planned: Planned) -> None:
        super().__init__(planned.path, load_plan, planned)

    @property
    def plan(self) -> Plan:
        return self.current_value().plan

    def moments(self) -> Sequence[tuple[str, datetime]]:
        """Coming ones of the windows, and that of the reveal, `reveals`, in UTC."""
        plan, now = self.plan, datetime.now(UTC)
        reveals = () if plan.reveal_at is None else (("reveals", plan.reveal_at.astimezone(UTC)),)
        return [(key, at) for key, at in (*plan.windows.moments, *reveals) if at > now]


class WindowKeeper:
    """Opens and closes the gate, and writes it to the journal; as a context manager periodically, in a thread."""

    def __init__(self, planned: Planned, gate: SubmissionGate) -> None:
        self._planned = planned
        self._gate = gate
        self._file = PlanFile(planned)
        self._written: dict[type[Event], Event] = {}
        self._resumes: datetime | None = None
        """The moment at which a paused contest was resumed."""
        self._loop = ServiceLoop("schedule", self._step)

    def __enter__(self) -> Self:
        self._loop.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.__exit__()

    def _step(self) -> float:
        self.apply()
        return POLL_INTERVAL_S

    def apply(self) -> None:
        """Write, resume and reveal what is due. Raises InputError and HostError; the next call continues."""
        self.write_due()
        self._resume(self._file.plan.resumes)
        self._reveal(self._file.plan.reveal_at)

    def write_due(self) -> None:
        """Write a changed schedule, and the opening and the end of submissions if they happened. Raises as `apply`."""
        self._gate.windows = self._file.plan.windows
        self._write(self._gate.windows.event)
        for event in self._gate.happened():
            self._write(event)

    def _resume(self, at: datetime | None) -> None:
        """Resume a contest that was paused before the set moment."""
        planned = self._planned
        if at is None or at == self._resumes or self._gate.now() < at:
            return
        with closing(open_store(planned)) as store:
            if has_begun(store, planned) and store.state(planned.name) == "paused":
                (pause,) = store.last_lines(planned.name, 1, Paused)
                if datetime.fromisoformat(pause.at) < at:
                    order = Resume(Contest(store, planned), OrganiserOrder(WHO, Resume.action, "", "the set moment"))
                    log.info("resumed", done=order.carry_out().done)
        self._resumes = at

    def _reveal(self, at: datetime | None) -> None:
        """Reveal all results from the set moment on, when the last game has ended."""
        planned = self._planned
        if at is None or self._gate.now() < at:
            return
        with closing(open_store(planned)) as store:
            if not has_begun(store, planned) or store.withheld_from(planned.name) is None:
                return
            contest = Contest(store, planned)
            if contest.view().is_over:
                order = Reveal(contest, OrganiserOrder(WHO, Reveal.action, "all", "the set moment"))
                log.info("revealed", done=order.carry_out().done)

    def _write(self, event: Event) -> None:
        if self._written.get(type(event)) == event:
            return
        with closing(open_store(self._planned)) as store:
            if event == ScheduleChanged() and not store.last_lines(self._planned.name, 1, type(event)):
                return
            if store.log_once(self._planned.name, event, WHO):
                log.info("schedule", kind=event.NAME, text=text_of(event))
        self._written[type(event)] = event


def past_windows(planned: Planned) -> Sequence[WindowEvent]:
    """The last opening and end of submissions in the journal."""
    with closing(open_store(planned)) as store:
        lines = [
            line for kind in (SubmissionsOpened, SubmissionsClosed) for line in store.last_lines(planned.name, 1, kind)
        ]
    return [line.change for line in lines if isinstance(line.change, SubmissionsOpened | SubmissionsClosed)]
