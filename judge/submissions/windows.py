"""When a contest takes submissions, and when it starts: moments that its file names.

A moment has an offset, or is a local time in a zone that the file names; one that a change of clocks makes twice or
never is refused. What has happened at a moment stays so when the host's clock is set back: another moment undoes it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from judge.store.submission_types import NotNowError

OPENED, CLOSED, BEGINS, WINDOW = "opened", "closed", "begins", "window"
"""Events of the contest's journal: that the clock opened and closed submissions and started the contest, and which
moments its file names since."""

_FIRST_YEAR, _LAST_YEAR = 1970, 9000
"""Moments beyond them may have no equal in UTC."""


@dataclass(frozen=True, slots=True)
class Windows:
    """Moments of a contest, each aware of its zone; None where the file names none."""

    opens: datetime | None = None
    closes: datetime | None = None
    starts: datetime | None = None

    @property
    def moments(self) -> Sequence[tuple[str, datetime]]:
        """Those that there are, in UTC, by their keys: `opens`, `closes`, `starts`."""
        named = (("opens", self.opens), ("closes", self.closes), ("starts", self.starts))
        return [(key, moment.astimezone(UTC)) for key, moment in named if moment is not None]

    @property
    def words(self) -> str:
        """For the journal: `submissions open at …, close at …; the contest starts at …`; empty if there are none."""
        ends = [
            f"{verb} at {moment_text(moment)}"
            for verb, moment in (("open", self.opens), ("close", self.closes))
            if moment is not None
        ]
        parts = [f"submissions {', '.join(ends)}"] if ends else []
        if self.starts is not None:
            parts.append(f"the contest starts at {moment_text(self.starts)}")
        return "; ".join(parts)


def aware_moment(key: str, moment: datetime, zone: str) -> datetime:
    """A moment of a contest's file, which is `key` there, with its zone. Raises ValueError with the fix."""
    if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        raise ValueError(f"{key} is in the year {moment.year}: write a moment such as 2027-03-31T18:00:00")
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


def moment_text(moment: datetime) -> str:
    """A moment for people: `2026-11-22 18:00:00 CET (Europe/Prague)`."""
    zone = f" ({moment.tzinfo.key})" if isinstance(moment.tzinfo, ZoneInfo) else ""
    return f"{moment:%Y-%m-%d %H:%M:%S} {moment.tzname()}{zone}"


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


class SubmissionGate:
    """Whether submissions are taken now. Thread-safe."""

    def __init__(self, windows: Windows, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._windows = windows
        self._now = now
        self._told: dict[str, str] = {}
        self._lock = Lock()

    @property
    def windows(self) -> Windows:
        """The moments that hold."""
        return self._windows

    def change(self, windows: Windows) -> None:
        """Other moments hold from now on."""
        with self._lock:
            self._windows = windows

    def remember(self, told: Mapping[str, str]) -> None:
        """What the journal says has happened: the text of the last line of `OPENED` and `CLOSED`."""
        with self._lock:
            self._told |= told

    def happened(self) -> Mapping[str, str]:
        """What has happened by now: for `OPENED` and `CLOSED` the text of the moment, for the journal."""
        with self._lock:
            now = self._now()
            for event, moment in ((OPENED, self._windows.opens), (CLOSED, self._windows.closes)):
                if moment is not None and now >= moment:
                    self._told[event] = moment_text(moment)
            return {
                event: text
                for event, moment in ((OPENED, self._windows.opens), (CLOSED, self._windows.closes))
                if moment is not None and (text := moment_text(moment)) == self._told.get(event)
            }

    def check(self) -> None:
        """Raise NotNowError, with the moment and its zone, if no submissions are taken now."""
        happened = self.happened()
        windows = self._windows
        if windows.closes is not None and CLOSED in happened:
            raise NotNowError(f"submissions closed at {moment_text(windows.closes)}: ask the organiser")
        if windows.opens is not None and OPENED not in happened:
            raise NotNowError(f"submissions open at {moment_text(windows.opens)}: send it again then")
