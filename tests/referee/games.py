"""Games of gomoku between scripted brains, and what came of them."""

from collections.abc import Iterable, Sequence
from typing import Any

from judge.games.types import End
from judge.referee.blame import Void
from judge.referee.make_record import Circumstances, record_of
from judge.referee.make_record import RefereedGame as RecordedGame
from judge.referee.policy import Policy
from judge.referee.referee import Referee
from judge.referee.spec import GameRecord, GameSpec, Placement, RecordFile
from judge.referee.transcript import Entry, SealedTranscript, seal
from judge.testing import Act, Agent, Say, ScriptedGame, World, exits, scripted_seats


def brain(*moves: str, ms: float = 1.0, **lines: Sequence[Act]) -> Agent:
    """A brain that plays `moves` one after the other; `START=[...]` and so on override what it does on a line."""
    left = iter(moves)

    def hear(line: str) -> Sequence[Act]:
        word = line.split()[0] if line else ""
        if word in lines:
            return lines[word]
        match word:
            case "START" | "RECTSTART":
                return [Say(b"OK\r\n")]
            case "ABOUT":
                return [Say(b'name="scripted"\r\n')]
            case "BEGIN" | "TURN" | "DONE":
                move = next(left, None)
                return [] if move is None else [Say(f"{move}\r\n".encode(), ms)]
            case "END":
                return exits(0)
            case _:
                return []

    return hear


NO_TRANSCRIPT = seal(())

BLACK_ROW = ("0,0", "1,0", "2,0", "3,0", "4,0")
WHITE_ROW = ("0,1", "1,1", "2,1", "3,1", "4,1")


def spec(opening: Sequence[tuple[int, int]] = (), **sections: dict[str, Any]) -> GameSpec:
    return GameSpec(
        seats=scripted_seats("gomocup", ("black", "white")),
        policy=Policy.model_validate(
            {
                "name": "test",
                "game": {"name": "gomoku", "options": {"width": 15, "height": 15}},
                **sections,
            }
        ),
        opening=tuple(opening),
    )


def play(black: Agent, white: Agent, game_spec: GameSpec | None = None, **world: Any) -> ScriptedGame:
    return ScriptedGame(World(black, white, **world), game_spec or spec())


def a_file(played: ScriptedGame, game_spec: GameSpec | None = None) -> RecordFile:
    """The record of a game that was played in a world, with its transcript: it verifies."""
    sealed = seal(played.world.entries)
    return RecordFile(record=a_record(game_spec or spec(), played.end, played.referee, sealed), transcript=sealed)


def resealed(file: RecordFile, entries: Iterable[Entry], **values: Any) -> RecordFile:
    """The record with another transcript, and with what it says of it; `values` are other fields."""
    sealed = seal(entries)
    fitted = {"transcript_sha256": sealed.sha256, "seconds": sealed.seconds, **values}
    return RecordFile(record=file.record.model_copy(update=fitted), transcript=sealed)


def a_record(
    game_spec: GameSpec, end: End | Void, referee: Referee, transcript: SealedTranscript = NO_TRANSCRIPT
) -> GameRecord:
    """The record of a game."""
    return record_of(
        game_spec,
        RecordedGame(end, referee),
        Circumstances(
            attempt=1,
            started_at="2013-03-01T20:00:00+00:00",
            placement=Placement(box=("world", "world"), judge_cores=(), slot_cores=()),
            transcript=transcript,
        ),
    )
