"""Schedule of a contest's submissions and start.

Local times that a clock change repeats or skips are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

if TYPE_CHECKING:
    from judge.journal.events import ScheduleChanged


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
        from judge.journal.events import Moment, ScheduleChanged

        return ScheduleChanged(**{key: Moment.of(at) for key, at in self._set})

    @property
    def words(self) -> str:
        """A text such as `submissions open at …, close at …; the contest starts at …`, or empty."""
        if not self.moments:
            return ""
        from judge.journal.sentences import text_of

        return text_of(self.event)


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
