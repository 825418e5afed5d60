"""The Stratego protocol as conversations (tests/protocols/talk.py)."""

from typing import Any

import pytest

from judge.base.errors import InputError
from judge.games.stratego.types import RED, Confirmed, Direction, HalfMove, Move, NoMove, SetUpRow, SetupRow, Started
from judge.games.types import Event, Reply, ReplyKind, Request
from judge.protocols import new_protocol
from judge.protocols.stratego import StrategoProtocol, StrategoProtocolOptions
from judge.protocols.time_control import UNLIMITED_MS, TimeControl
from judge.protocols.types import Answer, Ask, Bytes, Clock, Note, Open, SeatLimits
from tests.protocols.talk import Talk, settings

CLOCK = Clock(2000, UNLIMITED_MS)
LIMITS = SeatLimits(TimeControl(turn_ms=2000), 0)

SCRIPTS = {
    "asked": "= ready\n? row 0\n> RED ./blue 10 10\n= await row",
    "seated": """
        @ asked
        < FB8sB479B8 => FB8sB479B8
        ? row 1
        = await row
        < BB31555583 => BB31555583
        ? row 2
        < 6724898974 => 6724898974
        ? row 3
        < 967B669999 => 967B669999
    """,
}

TALKS = {
    # tests/conformance/test_stratego.py has recorded conversations, also in one burst and byte by byte.
    "BLUE gets its colour and its opponent": "* seat = 1\n= ready\n? row 0\n> BLUE ./red 10 10",
    "a row may hold anything": "@ asked\n< x\n= x",
    "START, the boards, the moves and the result are sent in order": """
        @ seated
        ! started => START
        ? move 1 first board => first | board
        = await turn
        < 0 3 DOWN => 0 3 DOWN
        ! confirmed 0 3 DOWN OK
        ! confirmed 0 6 UP OK => 0 3 DOWN OK | 0 6 UP OK
        ! close ./red RED VICTORY 3 8 4 => QUIT ./red RED VICTORY 3 8 4
        = await close
        < 0 3 DOWN
    """,
    "a game without a result ends with QUIT alone": "@ seated\n! close\n> QUIT",
    "a line may come in pieces": "@ seated\n? move 1 a\n> a\n< 0 3 \\\n< DO\\\n< WN\n= 0 3 DOWN",
    # The alarm of another protocol means nothing here.
    "a line without its end is no line": "@ seated\n? move 1 a\n> a\n< 0 3 DOWN\\\n! alarm\n= nothing",
}


def requests(text: str) -> Request:
    match text.split():
        case ["row", number]:
            return SetupRow(RED, int(number))
        case ["move", turn, *lines]:
            return HalfMove(RED, int(turn), "".join(f"{line}\n" for line in lines))
    raise ValueError(text)


def events(text: str) -> Event:
    word, _, said = text.partition(" ")
    return Started(RED) if word == "started" else Confirmed(None, RED, 1, said)


def talk(seat: int = RED, opponent: str = "./blue", **options: Any) -> Talk:
    """A conversation with the agent that plays `seat` against one of the given name."""
    names = ("./red", opponent) if seat == RED else ("./red", "./blue")
    opening = Open(seat, {"width": 10, "height": 10}, names, LIMITS)
    protocol = StrategoProtocol(StrategoProtocolOptions(**options))
    return Talk(protocol, opening, clock=CLOCK, scripts=SCRIPTS, requests=requests, events=events)


@pytest.mark.parametrize("name", TALKS)
def test_conversation(name: str) -> None:
    values, script = settings(TALKS[name])
    talk(values.get("seat", RED)).plays(script)


@pytest.mark.parametrize(
    ("name", "sent_name"),
    [
        ("Deep Thought", "Deep_Thought"),
        ("evil\nRED x 10 10", "evil_RED_x_10_10"),
        ("n\u00e4me", "n_me"),
        ("", "_"),
        ("x" * 500, "x" * 127),
    ],
)
def test_opponent_name_is_sent_as_one_word(name: str, sent_name: str) -> None:
    talk(opponent=name).plays(f"= ready\n? row 0\n> RED {sent_name} 10 10")


def asked(request: Request, **options: Any) -> StrategoProtocol:
    protocol = StrategoProtocol(StrategoProtocolOptions(**options))
    protocol.feed(Open(RED, {"width": 10, "height": 10}, ("./red", "./blue"), LIMITS))
    protocol.feed(Ask(request, CLOCK))
    return protocol


def reply_of(request: Request, data: bytes, **options: Any) -> Reply:
    """The reply that `data` makes to a request."""
    effects = asked(request, **options).feed(Bytes(data, CLOCK))
    assert isinstance(effects[-1], Answer)
    return effects[-1].reply


MOVE, ROW = HalfMove(RED, 1, "a\n"), SetupRow(RED, 0)


@pytest.mark.parametrize(
    ("data", "said", "decision"),
    [
        (b"0 3 DOWN\n", "0 3 DOWN", Move(0, 3, Direction.DOWN)),
        (b"  0\t3 DOWN 2 words\n", "  0\t3 DOWN 2 words", Move(0, 3, Direction.DOWN, 2)),
        (b"NO_MOVE\n", "NO_MOVE", NoMove()),
        (b"0 3 \xe9\xff\n", "0 3 \u00e9\u00ff", None),
        (b"\n", "", None),
    ],
)
def test_reply_is_stored_unchanged(data: bytes, said: str, decision: Any) -> None:
    """Latin-1 loses no byte: a confirmation gives back what came."""
    reply = reply_of(MOVE, data)

    assert (said, decision) == (reply.said, reply.decision)
    assert data.removesuffix(b"\n") == reply.said.encode("latin-1")
    assert (decision is None) is (reply.kind is ReplyKind.UNREADABLE)


@pytest.mark.parametrize(
    ("request_", "data", "way", "said", "kind"),
    [
        (MOVE, b"0 3 DOWN\r\n", "strip", "0 3 DOWN", ReplyKind.DECIDED),
        (MOVE, b"0 3 DOWN\r\n", "keep", "0 3 DOWN\r", ReplyKind.DECIDED),
        (MOVE, b"SURRENDER\r\n", "strip", "SURRENDER", ReplyKind.RESIGNED),
        (MOVE, b"SURRENDER\r\n", "keep", "SURRENDER\r", ReplyKind.UNREADABLE),
        (ROW, b"FB8sB479B8\r\n", "keep", "FB8sB479B8\r", ReplyKind.DECIDED),
    ],
)
def test_carriage_return_is_taken_off_or_kept(
    request_: Request, data: bytes, way: str, said: str, kind: ReplyKind
) -> None:
    """Kept, as both managers did, it spoils a row of a set-up, SURRENDER and NO_MOVE but no move."""
    reply = reply_of(request_, data, carriage_return=way)

    assert (said, kind) == (reply.said, reply.kind)
    assert request_ is MOVE or SetUpRow(said) == reply.decision


def test_row_may_be_empty() -> None:
    assert SetUpRow("") == reply_of(ROW, b"\n").decision


@pytest.mark.parametrize("cut", [1, 7, 1 << 20])
def test_line_that_is_too_long_is_unreadable_and_only_its_beginning_is_kept(cut: int) -> None:
    protocol = asked(MOVE, line_bytes=64)
    data = b"0 3 DOWN 1 " + b"x" * 5000 + b"\n0 3 DOWN" + b" " * 56 + b"\n"
    pieces = [data[at : at + cut] for at in range(0, len(data), cut)]
    answers = [
        effect for piece in pieces for effect in protocol.feed(Bytes(piece, CLOCK)) if isinstance(effect, Answer)
    ]
    reply = answers[0].reply
    assert (ReplyKind.UNREADABLE, 65) == (reply.kind, len(reply.said))
    # 64 bytes are not too long.
    *_, answer = protocol.feed(Ask(HalfMove(RED, 2, "a\n"), CLOCK))
    assert isinstance(answer, Answer)
    assert Move(0, 3, Direction.DOWN) == answer.reply.decision


def test_surplus_early_lines_are_dropped_with_one_note() -> None:
    protocol = StrategoProtocol(StrategoProtocolOptions(lines_ahead=4))
    notes = [effect for _ in range(3) for effect in protocol.feed(Bytes(b"0 3 DOWN\n" * 3, CLOCK))]

    assert [Note("dropped: lines beyond the 4 that may be sent ahead")] == notes
    for turn in range(5):
        assert isinstance(protocol.feed(Ask(HalfMove(RED, turn, "a\n"), CLOCK))[-1], Answer) == (turn < 4)


def test_options_are_checked() -> None:
    with pytest.raises(InputError, match="carriage_return"):
        new_protocol("stratego", {"carriage_return": "lose"})


def test_a_request_of_another_game_is_the_judges_mistake() -> None:
    with pytest.raises(TypeError):
        StrategoProtocol(StrategoProtocolOptions()).feed(Ask(Request(0), CLOCK))
