"""Looking on: whoever gets the bytes of a transcript sees the game that the judge sees."""

from collections.abc import Sequence

import pytest

from judge.record.spec import GameSpec
from judge.record.transcript import SPILL_BYTES, Entry, EntryKind, Transcript, unpack_entries
from judge.referee.replay import Replay
from judge.referee.setup import build_referee
from judge.referee.side import Ply
from judge.referee.steps import FollowedGame, SeatViews
from judge.referee.verify import plies_of
from judge.testing import Say, ScriptedGame, World
from tests.games.stratego_positions import FULL_BLUE, FULL_RED
from tests.hostile import assert_bounded
from tests.referee import test_agi as agi
from tests.referee import test_stratego as stratego
from tests.referee.games import BLACK_ROW, WHITE_ROW, Game, brain, play, spec


class Spectator(SeatViews):
    """Sees a game as far as its entries reach, one by one."""

    def __init__(self, game_spec: GameSpec, entries: Sequence[Entry]) -> None:
        super().__init__()
        self.answered: list[int] = []
        self.referee = build_referee(game_spec, self)
        self.replay = Replay(self.referee)
        for entry in entries:
            self.replay.feed([entry])

    def see_answer(self, ply: Ply) -> None:
        super().see_answer(ply)
        self.answered.append(ply.seat)


@pytest.fixture
def played() -> Game:
    return play(brain(*BLACK_ROW), brain(*WHITE_ROW))


def test_a_growing_transcript_gives_the_same_game_and_asks_nobody_after_its_end(played: Game) -> None:
    spectator = Spectator(spec(), played.world.entries)

    assert played.end == spectator.replay.end
    assert plies_of(played.referee) == plies_of(spectator.referee)
    assert spectator.seats[0].ply == played.referee.plies[-1]
    assert [number % 2 for number in range(9)] == spectator.answered
    assert [False, False] == [seen.is_asked for seen in spectator.seats]
    assert {} == spectator.seats[0].search


def test_lines_sent_ahead_are_followed() -> None:
    """A whole game sent at once leaves requests that are answered without a wait."""
    rows = [Say(f"{row}\n".encode()) for row in FULL_RED]
    moves = [Say(b"0 3 DOWN\nSURRENDER\n", 0)]
    red = stratego.agent(setup=[*rows, *moves])
    played = ScriptedGame(World(red, stratego.agent("0 6 UP", rows=FULL_BLUE)), stratego.spec("stratego-seed"))

    spectator = Spectator(stratego.spec("stratego-seed"), played.world.entries)

    assert played.end == spectator.replay.end


def test_private_lines_are_not_observed() -> None:
    says = [Say(b"DEBUG a secret\r\nMESSAGE hello\r\n0,0\r\ndebug another secret\r\n")]
    entries = play(brain(*BLACK_ROW[1:], BEGIN=says), brain(*WHITE_ROW)).world.entries

    assert ["hello"] == list(Spectator(spec(), entries).seats[0].messages)


def test_observations_of_a_thinking_seat() -> None:
    """Its clock runs from the thaw, and its messages are there before its answer."""
    thinking = [Say(b"MESSAGE depth 3\r\n", 5), Say(b"MESSAGE \x1b[2J\r\n", 5)]
    played = play(brain(BEGIN=[*thinking, Say(b"7,7\r\n", 5)]), brain("8,8"))
    entries = played.world.entries
    answered = next(e.ns for e in entries if e.data == b"7,7\r\n")
    thawed = max(e.ns for e in entries if e.kind is EntryKind.THAWED and e.seat == 0 and e.ns < answered)
    spectator = Spectator(spec(), [entry for entry in entries if entry.ns < answered])

    seen = spectator.seats[0]
    assert (True, None) == (seen.is_asked, seen.ply)
    assert [thawed, None] == spectator.replay.runs_since_ns
    assert ["depth 3", "\x1b[2J"] == list(seen.messages)
    assert played.referee.plies[0].said == "7,7"


def test_engine_search_information_is_visible_at_once() -> None:
    thinks = [Say(b"INFO DEPTH 1 SCORE 3\nINFO DEPTH 2\n", 5), Say(b"BESTMOVE 77\n", 5)]
    played = agi.play(agi.engine(lines={"GO": thinks}), agi.engine("11"))
    entries = played.world.entries
    answered = next(number for number, e in enumerate(entries) if b"BESTMOVE" in e.data)
    spectator = Spectator(agi.spec(), entries[:answered])

    assert {"depth": "2", "score": "3"} == spectator.seats[0].search


def test_a_feed_of_single_entries_takes_linear_work(played: Game) -> None:
    """Whether events precede a request is only known at its entry."""
    entries = played.world.entries
    answered = [number for number, entry in enumerate(entries) if entry.kind is EntryKind.FROZEN][1]
    game = FollowedGame(spec())
    assert game.follow(entries[: answered + 1])

    def feed() -> None:
        for number in range(3000):
            game.follow([Entry(number, 0, EntryKind.STDERR, b"x", private=False)])

    assert_bounded(feed, 3000)
    assert not game.is_over


def test_entries_before_one_that_no_judge_writes_are_seen(played: Game) -> None:
    entries = played.world.entries
    forged = [*entries[:40], Entry(entries[40].ns, 5, EntryKind.READ, b"", private=False), *entries[40:]]
    whole, single = FollowedGame(spec()), FollowedGame(spec())
    assert not whole.follow(forged)
    for entry in forged:
        single.follow([entry])

    assert plies_of(whole.referee) == plies_of(single.referee) != ()
    with pytest.raises(TypeError, match="raised an error before"):
        whole.replay.feed([])


def test_an_error_of_a_game_ends_its_view_alone(played: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    game = FollowedGame(spec())
    monkeypatch.setattr(game.referee.game, "apply", lambda _: 1 / 0)

    assert not game.follow(played.world.entries)
    assert game.is_over


def test_a_follower_is_given_everything_once_and_in_order() -> None:
    """Also what is spilled to disk meanwhile."""
    heard: list[bytes] = []
    transcript = Transcript(heard.append)
    for number in range(10):
        transcript.add(number, number % 2, EntryKind.READ, b"x" * (SPILL_BYTES // 4))
        if number % 3 == 2:
            transcript.spill()
    transcript.spill()

    assert list(transcript) == [entry for packed in heard for entry in unpack_entries(packed)]
    transcript.spill()
    assert 4 == len(heard)
    transcript.close()
