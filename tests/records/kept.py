"""The record file of a game that was refereed in a world."""

from judge.referee.spec import GameSpec, RecordFile
from judge.referee.transcript import seal
from judge.testing import ScriptedGame
from tests.referee.games import a_record, spec


def record_file(played: ScriptedGame, game_spec: GameSpec | None = None) -> RecordFile:
    """What `judge match` would have written; `match_spec` as it was given to `play`."""
    sealed = seal(played.world.entries)
    record = a_record(game_spec or spec(), played.end, played.referee)
    named = record.model_copy(update={"transcript_sha256": sealed.sha256})
    return RecordFile(record=named, transcript=sealed)
