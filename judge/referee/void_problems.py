"""Verifies a void record: its transcript must be valid and stop before the game ends by the rules."""

from collections.abc import Iterator

from judge.base.errors import InputError
from judge.referee.blame import Void
from judge.referee.make_record import plies_of, verdict_of
from judge.referee.replay import Replay, replaying
from judge.referee.setup import replay_of
from judge.referee.spec import RecordFile
from judge.referee.transcript import EntryKind


def void_problems(file: RecordFile) -> Iterator[str]:
    """Contradictions to a void. One from the blame table is replayed."""
    record = file.record
    if record.winner is not None:
        yield "a void game has no winner"
    try:
        replay = replay_of(file, breaks_off=True)
    except (InputError, ValueError, LookupError, TypeError) as error:
        yield str(error)
        return
    end, referee = None, replay.referee
    try:
        with replaying(replay):
            end = replay.finish()
    except InputError as error:
        if not _breaks_off(replay) and referee.game.end is None:
            yield f"void, but its transcript continues after the end: {error}"
    # The last answer may have arrived when the host failed, and is not a ply then.
    replayed = plies_of(referee)
    if record.plies not in (replayed, replayed[:-1]):
        yield "void, but its moves differ from those of its transcript"
    if record.result or record.unclosed or any(seat.fault is not None or seat.why for seat in record.seats):
        yield "void, but it has a result, a fault or an error after its end"
    if referee.game.end is not None:
        yield "void, but the moves of its transcript end the game"
    elif isinstance(end, Void):
        if end.reason != record.reason:
            yield f"reason: the replay gives {end.reason!r:.200}, the record has {record.reason!r:.200}"
    elif end is not None:
        yield f"void, but the replay gives {verdict_of(end)}"


def _breaks_off(replay: Replay) -> bool:
    """Whether no agent's input or output follows the last used entry."""
    return not any(entry.kind in (EntryKind.WROTE, EntryKind.READ) and entry.data for entry in replay.unused)
