"""The Stratego protocol as conversations: `>` the judge writes, `<` the agent writes, `=` what comes of it."""

from typing import Any

import pytest

from judge.base.errors import InputError
from judge.games.stratego.types import (
    BLUE,
    RED,
    Confirmed,
    Direction,
    HalfMove,
    Move,
    NoMove,
    SetUpRow,
    SetupRow,
    Started,
)
from judge.games.types import ReplyKind, Request
from judge.protocols import new_protocol, protocol_entry
from judge.protocols.stratego import StrategoProtocol, StrategoProtocolOptions
from judge.protocols.types import (
    UNLIMITED_MS,
    Answer,
    Ask,
    Bytes,
    Clock,
    Close,
    Eof,
    Note,
    Open,
    Ready,
    Tell,
    ToldLimits,
    Write,
)
from judge.testing import Conversation

ROWS = ("FB8sB479B8", "BB31555583", "6724898974", "967B669999")
BOARD = "".join(f"{y}..++..++#\n" for y in range(10))
CLOCK = Clock(2000, UNLIMITED_MS)


class Talk(Conversation):
    """A conversation with the agent that plays `seat` against one of the given name."""

    def __init__(self, seat: int = RED, opponent: str = "./blue", **options: Any) -> None:
        self.protocol = StrategoProtocol(StrategoProtocolOptions(**options))
        super().__init__(self.protocol, line_end="\n")
        names = ("./red", opponent) if seat == RED else (opponent, "./blue")
        self.feed(Open(seat, {"width": 10, "height": 10}, names, ToldLimits(2000, 0, 0)))
        self.goes("= ready")

    def ask(self, request: Request) -> None:
        self.feed(Ask(request, CLOCK))


def seated(**options: Any) -> Talk:
    """RED has set up."""
    talk = Talk(**options)
    for number, row in enumerate(ROWS):
        talk.ask(SetupRow(RED, number))
        talk.goes(("> RED ./blue 10 10\n" if number == 0 else "") + f"< {row}\n= {row}")
    return talk


def test_a_set_up_is_asked_for_once_and_given_in_four_lines() -> None:
    talk = Talk()
    talk.ask(SetupRow(RED, 0))
    talk.goes("""
        > RED ./blue 10 10
        = await row
        < FB8sB479B8
        = FB8sB479B8
    """)
    talk.ask(SetupRow(RED, 1))
    talk.goes("""
        = await row
        < BB31555583
        = BB31555583
    """)


def test_blue_gets_its_colour_and_opponent() -> None:
    talk = Talk(BLUE, "./red")
    talk.ask(SetupRow(BLUE, 0))
    talk.goes("> BLUE ./red 10 10")


def test_rows_that_come_together_answer_one_request_each() -> None:
    together = "\\n".join(ROWS)
    talk = Talk()
    talk.ask(SetupRow(RED, 0))
    talk.goes(f"> RED ./blue 10 10\n< {together}\n= {ROWS[0]}")
    for number in (1, 2, 3):
        talk.ask(SetupRow(RED, number))
        talk.goes(f"= {ROWS[number]}")


def test_a_row_may_hold_anything() -> None:
    """What is wrong with it is the game's to say."""
    talk = Talk()
    talk.ask(SetupRow(RED, 0))
    talk.goes("> RED ./blue 10 10\n< x\n= x")
    talk.ask(SetupRow(RED, 1))
    assert SetUpRow("") == answer_of(talk.protocol, b"\n").decision


def test_start_board_move_and_result_are_sent_in_order() -> None:
    talk = seated()
    talk.feed(Tell(Started(RED)))
    talk.goes("> START")
    talk.ask(HalfMove(RED, 1, BOARD))
    talk.goes("".join(f"> {row}\n" for row in BOARD.splitlines()) + "= await turn\n< 0 3 DOWN\n= 0 3 DOWN")
    talk.feed(Tell(Confirmed(None, RED, 1, "0 3 DOWN OK")))
    talk.feed(Tell(Confirmed(None, BLUE, 1, "0 6 UP OK")))
    talk.goes("> 0 3 DOWN OK\n> 0 6 UP OK")


def move_of(protocol: StrategoProtocol, data: bytes) -> Any:
    """The reply that `data` makes to a request for a half-move."""
    protocol.feed(Ask(HalfMove(RED, 1, BOARD), CLOCK))
    effects = protocol.feed(Bytes(data, CLOCK))
    assert isinstance(effects[-1], Answer)
    return effects[-1].reply


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
    reply = move_of(seated().protocol, data)

    assert (said, decision) == (reply.said, reply.decision)
    assert data.removesuffix(b"\n") == reply.said.encode("latin-1")
    assert (decision is None) is (reply.kind is ReplyKind.UNREADABLE)


def test_surrender_is_a_resignation() -> None:
    assert ReplyKind.RESIGNED is move_of(seated().protocol, b"SURRENDER\n").kind


def test_a_carriage_return_is_taken_off_or_kept() -> None:
    """Kept, as both managers did, it spoils a row of a set-up, SURRENDER and NO_MOVE but no move."""
    strip, keep = seated().protocol, seated(carriage_return="keep").protocol
    assert "0 3 DOWN" == move_of(strip, b"0 3 DOWN\r\n").said
    assert ("0 3 DOWN\r", ReplyKind.DECIDED) == (
        (reply := move_of(keep, b"0 3 DOWN\r\n")).said,
        reply.kind,
    )
    assert ReplyKind.RESIGNED is move_of(strip, b"SURRENDER\r\n").kind
    assert ReplyKind.UNREADABLE is move_of(keep, b"SURRENDER\r\n").kind

    talk = Talk(carriage_return="keep")
    talk.ask(SetupRow(RED, 0))
    reply = answer_of(talk.protocol, b"FB8sB479B8\r\n")
    assert SetUpRow("FB8sB479B8\r") == reply.decision


def answer_of(protocol: StrategoProtocol, data: bytes) -> Any:
    effects = protocol.feed(Bytes(data, CLOCK))
    assert isinstance(effects[-1], Answer)
    return effects[-1].reply


def test_lines_that_come_early_are_kept_for_later_turns_and_the_board_is_sent_all_the_same() -> None:
    talk = seated()
    talk.ask(HalfMove(RED, 1, "a\n"))
    talk.goes("> a\n= await turn\n< 0 3 DOWN\\n0 4 DOWN\\n0 5 DOWN\n= 0 3 DOWN")
    talk.feed(Tell(Confirmed(None, RED, 1, "0 3 DOWN OK")))
    talk.ask(HalfMove(RED, 2, "b\n"))
    talk.goes("> 0 3 DOWN OK\n> b\n= 0 4 DOWN")
    talk.ask(HalfMove(RED, 3, "c\n"))
    talk.goes("> c\n= 0 5 DOWN")
    talk.ask(HalfMove(RED, 4, "d\n"))
    talk.goes("> d\n= await turn\n< 0 6 DOWN\n= 0 6 DOWN")


def test_early_output_answers_the_next_request() -> None:
    talk = seated()
    talk.goes("< 0 3 DOWN")
    talk.ask(HalfMove(RED, 1, "a\n"))
    talk.goes("> a\n= 0 3 DOWN")


def test_a_line_may_come_in_pieces() -> None:
    talk = seated()
    talk.ask(HalfMove(RED, 1, "a\n"))
    talk.goes("> a\n< 0 3 \\\n< DO\\\n< WN\n= 0 3 DOWN")


def test_a_line_without_its_end_is_no_line() -> None:
    """A death in the middle of a reply leaves no reply; the alarm of another protocol means nothing here."""
    talk = seated()
    talk.ask(HalfMove(RED, 1, "a\n"))
    talk.goes("> a\n< 0 3 DOWN\\")
    talk.feed(Eof())
    talk.alarm()
    talk.goes("")


@pytest.mark.parametrize("cut", [1, 7, 1 << 20])
def test_a_line_that_is_too_long_is_unreadable_and_only_its_beginning_is_kept(cut: int) -> None:
    protocol = seated(line_bytes=64).protocol
    protocol.feed(Ask(HalfMove(RED, 1, BOARD), CLOCK))
    data = b"0 3 DOWN 1 " + b"x" * 5000 + b"\n0 3 DOWN" + b" " * 56 + b"\n"
    answers = [
        effect
        for at in range(0, len(data), cut)
        for effect in protocol.feed(Bytes(data[at : at + cut], CLOCK))
        if isinstance(effect, Answer)
    ]
    reply = answers[0].reply
    assert (ReplyKind.UNREADABLE, 65) == (reply.kind, len(reply.said))
    # 64 bytes are not too long.
    effects = protocol.feed(Ask(HalfMove(RED, 2, BOARD), CLOCK))
    assert isinstance(effects[-1], Answer)
    assert Move(0, 3, Direction.DOWN) == effects[-1].reply.decision


def test_surplus_early_lines_are_dropped_with_one_note() -> None:
    protocol = seated(lines_ahead=4).protocol
    notes = [effect for _ in range(3) for effect in protocol.feed(Bytes(b"0 3 DOWN\n" * 3, CLOCK))]

    assert [Note("dropped: lines beyond the 4 that may be sent ahead")] == notes
    for turn in range(4):
        assert isinstance(protocol.feed(Ask(HalfMove(RED, turn, BOARD), CLOCK))[-1], Answer)
    assert not isinstance(protocol.feed(Ask(HalfMove(RED, 5, BOARD), CLOCK))[-1], Answer)


def test_quit_carries_the_result_and_nothing_is_heard_after_it() -> None:
    talk = seated()
    talk.feed(Close("./red RED VICTORY 3 8 4"))
    talk.goes("> QUIT ./red RED VICTORY 3 8 4\n= await close\n< 0 3 DOWN")

    talk = seated()
    talk.feed(Close())
    talk.goes("> QUIT")


def test_start_before_a_request_is_a_separate_line() -> None:
    """A game of no turns: RED hears START and QUIT, and no board."""
    talk = seated()
    talk.feed(Tell(Started(RED)))
    talk.feed(Close("./red RED DRAW_DEFAULT 1 148 148"))
    talk.goes("> START\n> QUIT ./red RED DRAW_DEFAULT 1 148 148")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Deep Thought", "Deep_Thought"),
        ("evil\nRED x 10 10", "evil_RED_x_10_10"),
        ("n\u00e4me", "n_me"),
        ("", "_"),
        ("x" * 500, "x" * 127),
    ],
)
def test_opponent_name_is_sent_as_one_word(name: str, told: str) -> None:
    talk = Talk(opponent=name)
    talk.ask(SetupRow(RED, 0))
    talk.goes(f"> RED {told} 10 10")


def test_the_protocol_is_found_by_its_name_and_has_nothing_private() -> None:
    protocol = new_protocol("stratego", {"carriage_return": "keep"})
    opening = Open(RED, {"width": 10, "height": 10}, ("a", "b"), ToldLimits(0, 0, 0))

    assert [Ready()] == protocol.feed(opening)
    assert [Write(b"START\n")] == protocol.feed(Tell(Started(RED)))
    assert not protocol_entry("stratego").is_private(b"DEBUG x")
    with pytest.raises(InputError, match="carriage_return"):
        new_protocol("stratego", {"carriage_return": "lose"})


def test_a_request_of_another_game_is_the_judges_mistake() -> None:
    with pytest.raises(TypeError):
        StrategoProtocol(StrategoProtocolOptions()).feed(Ask(Request(0), CLOCK))
