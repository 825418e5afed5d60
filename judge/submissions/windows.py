"""Schedule of a contest's submissions and start.

Local times that a clock change repeats or skips are refused. Setting the host's clock back does not undo an event; only
a changed time does.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from judge.base.moments import moment_text
from judge.journal.events import Moment, ScheduleChanged, SubmissionsClosed, SubmissionsOpened
from judge.journal.sentences import text_of
from judge.store.types import NotNowError


@dataclass(frozen=True, slots=True)
class Windows:
    """Aware times; None if not set."""

    opens: datetime | None = None
    closes: datetime | None = None
    starts: datetime | None = None

    @property
    def moments(self) -> Sequence[tuple[str, datetime]]:
        """Times in UTC by key: `opens`, `closes`, `starts`."""
        return [(key, moment.astimezone(UTC)) for key, moment in self._set]

    @property
    def _set(self) -> Sequence[tuple[str, datetime]]:
        named = (("opens", self.opens), ("closes", self.closes), ("starts", self.starts))
        return [(key, moment) for key, moment in named if moment is not None]

    @property
    def event(self) -> ScheduleChanged:
        """The schedule in the journal."""
        return ScheduleChanged(**{key: Moment.of(at) for key, at in self._set})

    @property
    def words(self) -> str:
        """A text such as `submissions open at …, close at …; the contest starts at …`, or empty."""
        return text_of(self.event) if self.moments else ""


def aware_moment(key: str, moment: datetime, zone: str) -> datetime:
    """Raises ValueError with `key` and the fix."""
    if moment.tzinfo is not None:
        return moment
    if not zone:
        raise ValueError(
            f"{key} has no offset: write such as {_iso(moment)}+01:00, or name the zone of all such times: "
            'zone = "Europe/Prague" before the first table'
        )
    try:
        found = ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"zone {zone!r} is not known here: write such as Europe/Prague, or UTC") from None
    first, second = (moment.replace(tzinfo=found, fold=fold) for fold in (0, 1))
    if first.utcoffset() == second.utcoffset():
        return first
    back = first.astimezone(UTC).astimezone(found)
    if back.replace(tzinfo=None) != moment:
        raise ValueError(
            f"{key} = {_iso(moment)} does not exist in {zone}, where clocks are put forward then: write "
            f"{_iso(back.replace(tzinfo=None))}"
        )
    raise ValueError(
        f"{key} = {_iso(moment)} happens twice in {zone}, where clocks are put back then: write {_iso(first)} or "
        f"{_iso(second)}"
    )


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


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
