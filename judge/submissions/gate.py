"""Whether submissions are open.

Setting the host's clock back does not undo an event; only a changed time does.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from threading import Lock

from judge.base.moments import moment_text
from judge.journal.events import Moment, SubmissionsClosed, SubmissionsOpened
from judge.store.types import NotNowError
from judge.submissions.windows import Windows

WindowEvent = SubmissionsOpened | SubmissionsClosed


class SubmissionGate:
    """Thread-safe."""

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._past: set[WindowEvent] = set()
        self._lock = Lock()

    def now(self) -> datetime:
        return datetime.now(UTC)

    @property
    def windows(self) -> Windows:
        return self._windows

    def change(self, windows: Windows) -> None:
        with self._lock:
            self._windows = windows

    def remember(self, events: Iterable[WindowEvent]) -> None:
        """Restore the last events of the journal."""
        with self._lock:
            self._past |= set(events)

    def happened(self) -> Sequence[WindowEvent]:
        """The opening and the end of submissions, if they happened, also before the clock was set back."""
        opens, closes = self._windows.opens, self._windows.closes
        with self._lock:
            events: list[tuple[datetime, WindowEvent]] = []
            if opens is not None:
                events.append((opens, SubmissionsOpened(Moment.of(opens))))
            if closes is not None:
                events.append((closes, SubmissionsClosed(Moment.of(closes))))
            self._past |= {event for moment, event in events if self.now() >= moment}
            return [event for _, event in events if event in self._past]

    @property
    def is_closed(self) -> bool:
        """Whether the end of submissions has passed."""
        return any(isinstance(event, SubmissionsClosed) for event in self.happened())

    def check(self) -> None:
        """Raise NotNowError with time and zone if submissions are closed."""
        happened = {type(event) for event in self.happened()}
        windows = self._windows
        if windows.closes is not None and SubmissionsClosed in happened:
            raise NotNowError(f"submissions closed at {moment_text(windows.closes)}: ask the organiser")
        if windows.opens is not None and SubmissionsOpened not in happened:
            raise NotNowError(f"submissions open at {moment_text(windows.opens)}: send it again then")
