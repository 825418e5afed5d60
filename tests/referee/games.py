"""Games of gomoku between scripted brains, and their results."""

from collections.abc import Iterable, Sequence
from typing import Any

from judge.games.types import End, Verdict
from judge.protocols import protocol_entry
from judge.record.policy import Policy
from judge.record.spec import GameRecord, GameSpec, Placement, RecordFile
from judge.record.transcript import Entry, SealedTranscript, mark_private, seal
from judge.referee.blame import Void
from judge.referee.referee import Referee
from judge.referee.verify import record_of, verify
from judge.sandbox.evidence import Evidence
from judge.testing import MS, Act, Agent, Say, ScriptedGame, World, exits, scripted_seats


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
    document = {"name": "test", "game": {"name": "gomoku", "options": {"width": 15, "height": 15}}, **sections}
    return GameSpec(
        seats=scripted_seats("gomocup", ("black", "white")),
        policy=Policy.model_validate(document),
        opening=tuple(opening),
    )


class Game(ScriptedGame):
    """A game that was refereed, and again from its own transcript."""

    def __init__(self, world: World, game_spec: GameSpec) -> None:
        self.spec = game_spec
        super().__init__(world, game_spec)

    @property
    def said(self) -> list[str]:
        return [ply.said for ply in self.referee.plies]

    def heard(self, seat: int, word: str = "") -> list[str]:
        """The lines that a seat was sent; those that begin with a word."""
        return [line for line in self.world.bodies[seat].heard if line.startswith(word)]

    def charged_ms(self, seat: int) -> list[float]:
        return [ply.charged_ns / MS for ply in self.referee.plies if ply.seat == seat]

    def evidence(self, seat: int) -> Evidence:
        evidence = self.referee.sides[seat].evidence
        assert evidence is not None
        return evidence

    def file(self) -> RecordFile:
        return a_file(self, self.spec)

    def assert_won(self, seat: int = 0) -> None:
        assert (Verdict.WIN, seat) == (self.verdict, self.winner)
        assert [None, None] == self.faults

    def assert_lost(self, seat: int, verdict: Verdict, words: str = "") -> None:
        assert (verdict, 1 - seat) == (self.verdict, self.winner)
        assert [verdict if each == seat else None for each in (0, 1)] == self.faults
        assert words in self.end.reason
        assert not verify(self.file()).problems

    def assert_void(self, words: str = "") -> None:
        assert (Verdict.VOID, None) == (self.verdict, self.winner)
        assert words in self.end.reason
        assert not verify(self.file()).problems


def play(black: Agent, white: Agent, game_spec: GameSpec | None = None, **world: Any) -> Game:
    return Game(World(black, white, **world), game_spec or spec())


def a_file(played: ScriptedGame, game_spec: GameSpec | None = None) -> RecordFile:
    """The record of a game that was played in a world, with its transcript: it verifies."""
    sealed = seal(played.world.entries)
    return RecordFile(record=a_record(game_spec or spec(), played.end, played.referee, sealed), transcript=sealed)


def resealed(file: RecordFile, entries: Iterable[Entry], **values: Any) -> RecordFile:
    """The record with another transcript, and with what it says of it; `values` are other fields."""
    sealed = seal(entries)
    fitted = {"transcript_sha256": sealed.sha256, "seconds": sealed.seconds, **values}
    return RecordFile(record=file.record.model_copy(update=fitted), transcript=sealed)


def marked_file(
    game_spec: GameSpec,
    end: End | Void,
    referee: Referee,
    entries: Iterable[Entry],
    seat_cores: tuple[tuple[int, ...], ...] = (),
) -> RecordFile:
    """As `play` records a game in a slot of two cores: with the private lines of agents marked."""
    tests = [protocol_entry(seat.protocol).is_private for seat in game_spec.seats]
    sealed = seal(mark_private(entries, lambda seat, line: tests[seat](line)))
    place = Placement(box=("world", "world"), judge_cores=(), slot_cores=(1, 2), seat_cores=seat_cores)
    return RecordFile(record=a_record(game_spec, end, referee, sealed, place), transcript=sealed)


WORLD = Placement(box=("world", "world"), judge_cores=(), slot_cores=())


def a_record(
    game_spec: GameSpec,
    end: End | Void,
    referee: Referee,
    transcript: SealedTranscript = NO_TRANSCRIPT,
    place: Placement = WORLD,
) -> GameRecord:
    at = "2013-03-01T20:00:00+00:00"
    return record_of(game_spec, end, referee, attempt=1, started_at=at, placement=place, transcript=transcript)
