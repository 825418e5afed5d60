"""Moments in words, with their zones."""

from datetime import datetime
from zoneinfo import ZoneInfo


def moment_text(moment: datetime) -> str:
    """A text such as `2026-11-22 18:00:00 CET (Europe/Prague)`."""
    key = moment.tzinfo.key if isinstance(moment.tzinfo, ZoneInfo) else ""
    zone = f" ({key})" if key not in ("", moment.tzname()) else ""
    return f"{moment:%Y-%m-%d %H:%M:%S} {moment.tzname()}{zone}"
