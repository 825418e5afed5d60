"""When and where a game was played, by its record. Verifier processes import it without a database."""

from datetime import datetime

from judge.base.errors import InputError
from judge.base.text import quote
from judge.contest_games import GameConditions
from judge.referee.spec import GameRecord


def conditions_of(record: GameRecord) -> GameConditions:
    """Where and when a game was played. Raises InputError if the record's time is none."""
    place = record.placement
    try:
        began = datetime.fromisoformat(record.started_at)
        slot = ",".join(map(str, place.slot_cores))
        return GameConditions(place.host, slot, began.timestamp(), record.seconds, f"{began.hour:02d}")
    except (ValueError, OverflowError):
        raise InputError(f"started_at {quote(record.started_at)} is no time") from None
