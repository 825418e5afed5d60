"""A game's time and place, from its record; importable without a database."""

from datetime import datetime

from judge.base.errors import InputError
from judge.base.text import quote
from judge.contest_games import GameConditions
from judge.record.spec import GameRecord


def conditions_of(record: GameRecord) -> GameConditions:
    """A game's host, slot and time. Raises InputError for an invalid time."""
    place = record.placement
    try:
        began = datetime.fromisoformat(record.started_at)
        slot = ",".join(map(str, place.slot_cores))
        return GameConditions(place.host, slot, began.timestamp(), record.seconds, f"{began.hour:02d}")
    except (ValueError, OverflowError):
        raise InputError(f"started_at {quote(record.started_at)} is not a time") from None
