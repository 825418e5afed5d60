"""A person's seat: what is asked and told, what is read, and that a slip of the fingers is no answer."""

from collections.abc import Mapping
from typing import Any

import pytest

from judge.base.errors import InputError
from judge.games import GAMES, GameRules, new_game
from judge.games.gomoku import requests as gomoku
from judge.games.person import PersonWords, UnclearError
from judge.games.quantum_chess import words as chess
from judge.games.stratego import types as stratego
from judge.games.types import Chance, Decision, Event, Game, ReplyKind, Request
from judge.protocols import new_protocol
from judge.protocols.person import MAX_COMPLAINTS, Person, PersonOptions
from judge.protocols.time_control import TimeControl
from judge.protocols.types import Ask, Await, Bytes, Clock, Open, SeatLimits, Wait, Write
from judge.record.policy import load_policy, policy_names
from judge.testing import Conversation

STONES: tuple[int, list[gomoku.Placed], int, int, int, int] = (0, [], 0, 15, 15, 0)
REQUESTS: tuple[Request, ...] = (
    gomoku.PlaceStone(*STONES),
    gomoku.LayStones(*STONES, 3),
    gomoku.AnswerSwap(*STONES, 2),
    gomoku.OfferFifths(*STONES, 2, (), ()),
    gomoku.ChooseFifth(*STONES, ((7, 7),)),
    stratego.SetupRow(0, 0),
    stratego.HalfMove(0, 1, ""),
    chess.Selection(0),
    chess.Destination(0, 3, 6),
)
EVENTS: tuple[Event, ...] = (
    gomoku.StonePlaced(None, 7, 7, 0, 0),
    gomoku.ColoursSettled(None, 1),
    stratego.Started(0),
    stratego.Confirmed(None, 0, 1, "3 6 UP OK"),
    chess.Selected(0, 0, 3, 6, 0, "pawn"),
    chess.Moved(0, 0, 3, 6, 3, 5),
    chess.TurnLost(None, "white EMPTY"),
)

ALL_WORDS = [words for name in GAMES.names() if (words := GAMES.entry(name).person()) is not None]


def words_of(spoken: Request | Event) -> PersonWords:
    """The words of the one game that makes such requests or events."""
    (words,) = [words for words in ALL_WORDS if type(spoken) in words.speaks]
    return words


def test_every_request_and_every_event_has_words() -> None:
    assert {type(spoken) for spoken in (*REQUESTS, *EVENTS)} == frozenset().union(*(w.speaks for w in ALL_WORDS))
    assert all(words_of(request).question(request) and words_of(request).tips(request) for request in REQUESTS)
    assert all(words_of(event).tell(event, ("one", "two")) for event in EVENTS)


@pytest.mark.parametrize("name", policy_names())
def test_a_person_has_words_for_every_policy_of_ours(name: str) -> None:
    choice = load_policy(name).game
    game, words = new_game(choice.name, choice.options), GAMES.entry(choice.name).person()

    assert words is not None
    assert (game.requests | game.events) - {Chance} <= words.speaks


@pytest.mark.parametrize(
    ("request_", "typed", "decision", "said"),
    [
        (REQUESTS[0], "h8", gomoku.Stone(7, 7), "7,7"),
        (REQUESTS[0], " 7, 7 ", gomoku.Stone(7, 7), "7,7"),
        (REQUESTS[0], "H8", gomoku.Stone(7, 7), "7,7"),
        (REQUESTS[0], "7 7", gomoku.Stone(7, 7), "7,7"),
        (REQUESTS[1], "h8i9 9,6", gomoku.Stones(((7, 7), (8, 8), (9, 6))), "7,7 8,8 9,6"),
        (REQUESTS[2], "Swap", gomoku.Swap(), "SWAP"),
        (REQUESTS[2], "h8; i9", gomoku.Stones(((7, 7), (8, 8))), "7,7 8,8"),
        (REQUESTS[3], "a1", gomoku.Stone(0, 0), "0,0"),
        (REQUESTS[5], "fb9944432s", stratego.SetUpRow("FB9944432s"), "FB9944432s"),
        (REQUESTS[6], "3 6 up", stratego.Move(3, 6, stratego.Direction.UP), "3 6 UP"),
        (REQUESTS[6], "3 6 up 4", stratego.Move(3, 6, stratego.Direction.UP, 4), "3 6 UP 4"),
        (REQUESTS[6], "3 6 3 4", stratego.Move(3, 6, stratego.Direction.UP, 2), "3 6 UP 2"),
        (REQUESTS[6], "3,6 4,6", stratego.Move(3, 6, stratego.Direction.RIGHT), "3 6 RIGHT"),
        (REQUESTS[6], "no_move", stratego.NoMove(), "NO_MOVE"),
        (REQUESTS[7], "3,6", chess.OnSquare(3, 6), "3 6"),
        (REQUESTS[8], "3 5", chess.OnSquare(3, 5), "3 5"),
    ],
)
def test_typed_input_is_read(request_: Request, typed: str, decision: Decision, said: str) -> None:
    reply = words_of(request_).answer(request_, typed)

    assert (ReplyKind.DECIDED, said, decision) == (reply.kind, reply.said, reply.decision)


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("typed", ["", "x", "hello", "7", "9" * 5000, "\x00", "h8 x"])
def test_unusable_answer_is_reported(request_: Request, typed: str) -> None:
    with pytest.raises(UnclearError):
        words_of(request_).answer(request_, typed)


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda each: type(each).__name__)
def test_a_person_may_resign(request_: Request) -> None:
    assert ReplyKind.RESIGNED is words_of(request_).answer(request_, " RESIGN ").kind


def test_a_person_cannot_play_a_game_without_words() -> None:
    class Wordless(GameRules):
        name = "wordless"

        def new(self, options: Mapping[str, Any]) -> Game:
            raise NotImplementedError

    with pytest.raises(InputError, match="a person cannot play wordless"):
        new_protocol("person", {}, Wordless())


def test_a_program_that_types_gets_no_more_replies_than_a_person() -> None:
    protocol = new_protocol("person", {}, GAMES.entry("gomoku"))
    protocol.feed(Open(0, {}, ("me", "it"), SeatLimits(TimeControl(turn_ms=1000), 0)))
    protocol.feed(Ask(REQUESTS[0], Clock(1000, 1000)))

    said = [effect for _ in range(3) for effect in protocol.feed(Bytes(b"x\n" * MAX_COMPLAINTS, Clock(1000, 1000)))]

    assert MAX_COMPLAINTS == sum(isinstance(effect, Write) for effect in said)


def test_single_late_reading_loses_no_game() -> None:
    talk = Conversation(new_protocol("person", {}, GAMES.entry("gomoku")), "\n")
    talk.feed(Open(0, {}, ("me", "it"), SeatLimits(TimeControl(turn_ms=1000), 0)))
    talk.goes("> me - it\n= ready")
    talk.feed(Ask(REQUESTS[0], Clock(1000, 1000)))
    talk.goes(
        """
        > ? place a black stone
        = await person
        < hello
        > ! 'hello' is not a square: type h8 or 7,7
        < h8
        = 7,7
        < i9
        = note discarded: 'i9' was typed before it was asked for
        """
    )


def test_with_a_clock_a_person_is_waited_for_as_an_agent_is() -> None:
    effects = Person(PersonOptions(clock=True), words_of(REQUESTS[0])).feed(Ask(REQUESTS[0], Clock(1000, 1000)))

    assert Await(Wait.TURN) in effects
