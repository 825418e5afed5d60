"""Records of this judge in the formats of the field: the board is the replayed game's, whatever was said.

tests/corpus has illegal stones, offers of fifth stones and boards of another size in each format.
"""

from collections.abc import Sequence

import pytest

from judge.base.errors import InputError
from judge.catalog.files import steps_of
from judge.formats.gomoku.record import FiveRecord, five_of
from judge.games.types import Verdict
from judge.record.spec import RecordFile
from judge.record.transcript import SealedTranscript, seal
from judge.sandbox.evidence import Evidence
from judge.testing import World, scripted_seats
from tests.referee.games import BLACK_ROW, WHITE_ROW, Game, brain, play, spec


def five_of_played(played: Game) -> FiveRecord:
    return five_of(steps_of(played.file()))


def ended() -> RecordFile:
    """Of a game that black loses by its second stone."""
    return play(brain("7,7", "7,7"), brain("8,8")).file()


def test_game_is_broadcast_with_opening_and_times() -> None:
    """Each stone has what its answer was charged; the opening's none. Who won is what the replay finds."""
    game_spec = spec(opening=[(7, 7), (8, 8)])
    played = play(brain(*BLACK_ROW, ms=2), brain(*WHITE_ROW, ms=30), game_spec)

    found = five_of_played(played)
    assert [2, 3, 4] == [steps_of(played.file()).number_of(at) for at in range(3)]
    assert ((7, 7, 0), (8, 8, 0), (0, 0, 2), (0, 1, 30)) == found.moves[:4]
    assert (11, 2, 15, 15, "freestyle") == (len(found.moves), found.opening, found.width, found.height, found.rule)
    assert (("black", "white"), "black", "win") == (found.names, found.outcome, found.verdict)
    assert ("test", "1", "2013-03-01") == (found.event, found.round, found.date)


@pytest.mark.parametrize(
    ("first", "second", "stones"),
    [
        (
            ["0,0 5,5 1,0", "9,1", "9,3", "9,5", "9,7"],
            ["9,9 2,0", "3,0", "7,7", "4,0"],
            [(0, 0, 1), (5, 5, 0), (1, 0, 0), (9, 9, 2), (2, 0, 0), (9, 1, 1), (3, 0, 2)],
        ),
        (
            ["0,0 5,5 1,0", "9,1", "9,3", "9,5"],
            ["SWAP", "2,0", "3,0", "4,0"],
            [(0, 0, 1), (5, 5, 0), (1, 0, 0), (9, 1, 1), (2, 0, 2), (9, 3, 1), (3, 0, 2)],
        ),
    ],
    ids=["adds two", "takes black"],
)
def test_swaps_do_not_confuse_the_board(
    first: Sequence[str], second: Sequence[str], stones: list[tuple[int, int, int]]
) -> None:
    """Several stones in one answer, an answer without a stone, colours that change seats."""
    options = {"width": 15, "height": 15, "rule": "standard", "swap": "swap2"}
    chosen = spec(game={"name": "gomoku", "options": options})
    record = five_of_played(play(brain(*first), brain(*second, ms=2), chosen))

    assert stones == list(record.moves[: len(stones)])
    assert (0, ("white", "black")) == (record.opening, record.names)
    assert ("black", "win") == (record.outcome, record.verdict)


def test_void_game_is_broadcast_as_far_as_played() -> None:
    """Starved in its second turn; and one that broke off because the host failed."""
    world = World(brain("7,7"), brain("8,8"), readings=Evidence(others_share=0.5))
    file = Game(world, spec()).file()
    blocks = [b.model_copy(update={"entries": b.entries[: len(b.entries) // 2]}) for b in file.transcript.blocks]

    assert Verdict.VOID is file.record.verdict
    for transcript, moves in ((file.transcript, ((7, 7, 1), (8, 8, 1))), (seal([]), ())):
        found = five_of(steps_of(RecordFile(record=file.record, transcript=transcript)))
        assert (moves, "", "void") == (found.moves, found.outcome, found.verdict)
    with pytest.raises(InputError, match="does not match its digest"):
        five_of(steps_of(RecordFile(record=file.record, transcript=SealedTranscript(sha256="", blocks=blocks))))


def test_deviation_from_the_rules_is_refused() -> None:
    """A record of a game that ended in another way than its reads say."""
    entries = play(brain("7,7"), brain("8,9", "1,1")).world.entries
    with pytest.raises(InputError, match="departs from the rules"):
        five_of(steps_of(RecordFile(record=ended().record, transcript=seal(entries[: len(entries) // 2]))))


def test_a_record_of_another_game_is_refused() -> None:
    file = ended()
    other = spec(game={"name": "stratego", "options": {}}).model_copy(update={"seats": scripted_seats("stratego")})
    record = file.record.model_copy(update={"spec": other})
    with pytest.raises(InputError, match="a record of stratego, not of five in a row"):
        five_of(steps_of(RecordFile(record=record, transcript=file.transcript)))
