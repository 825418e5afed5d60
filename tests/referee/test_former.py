"""The Gomocup conversation of records of format 2, and former words."""

import pytest

from judge.games.gomoku.requests import Placed, PlaceStone
from judge.protocols import FormerBuilds, new_protocol
from judge.protocols.types import Ask, Clock, Open, ToldLimits
from judge.referee.former import FORMER_PROTOCOLS
from judge.referee.verify import verify
from judge.testing import Agent, Say
from judge.testing.conversation import Conversation
from tests.referee.games import a_file, brain, play, spec


def thinking(former: FormerBuilds = FORMER_PROTOCOLS) -> Conversation:
    """A conversation in which the first move is awaited."""
    conversation = Conversation(new_protocol("gomocup", {}, former=former))
    game = {"width": 20, "height": 20, "rule": "freestyle"}
    conversation.feed(Open(0, game, ("one", "two"), ToldLimits(5000, 120000, 367001600)))
    infos = ["timeout_turn 5000", "timeout_match 120000", "max_memory 367001600", "game_type 1", "rule 0"]
    greeting = "\n".join(f"> INFO {info}" for info in infos)
    conversation.goes(f'> START 20\n< OK\n{greeting}\n> ABOUT\n< name="a"\n= ready name="a"')
    ask(conversation)
    conversation.goes("> INFO time_left 90000\n> BEGIN\n= await turn")
    return conversation


def ask(conversation: Conversation, *stones: Placed) -> None:
    conversation.feed(Ask(PlaceStone(0, stones, 0, 20, 20, 0), Clock(5000, 90000)))


def test_older_records_ignore_one_unknown_and_keep_no_keyword() -> None:
    conversation = thinking()
    conversation.goes("< UNKNOWN a")
    conversation.alarm()
    conversation.goes("< UNKNOWN b\n= refused b")


def test_older_records_doubt_an_error_to_the_first_move_only() -> None:
    conversation = thinking()
    conversation.goes("< ERROR no memory\n= wake after 1000")
    conversation.alarm()
    conversation.goes("= refused no memory")
    conversation = thinking()
    conversation.goes("< 7,7\n= 7,7")
    ask(conversation, (7, 7, 0), (8, 8, 1))
    conversation.goes("> INFO time_left 90000\n> TURN 8,8\n< ERROR no")
    conversation.alarm()
    conversation.goes("< 9,9\n= 9,9")


def test_older_records_answer_every_suggestion() -> None:
    conversation = thinking()
    conversation.goes("< SUGGEST 1,1\n> PLAY 1,1\n" * 5 + "< 1,1\n= 1,1")


def test_newer_records_do_not() -> None:
    conversation = thinking({})
    conversation.goes("< UNKNOWN a\n= wake after 1000")
    conversation.alarm()
    conversation.goes("= refused UNKNOWN a")


DRAWN = spec(game={"name": "gomoku", "options": {"width": 15, "height": 15, "draw_at": 4}})


@pytest.mark.parametrize(
    ("black", "former"),
    [
        (brain("0,0", "5,5"), "4 stones, and nobody won"),
        (
            brain("0,0", TURN=[Say(b"ERROR no\r\n"), Say(b"0,0\r\n")]),
            "0,0 (a1) is taken by stone 1 (black); before that it said 'ERROR no'",
        ),
    ],
)
def test_a_reason_in_former_words_verifies_and_another_reason_does_not(black: Agent, former: str) -> None:
    file = a_file(play(black, brain("9,9", "8,8"), DRAWN), DRAWN)
    assert [] == verify(file).problems
    assert former != file.record.reason
    for reason, is_right in ((former, True), (former + ".", False), (file.record.reason[1:], False)):
        record = file.record.model_copy(update={"reason": reason})
        problems = verify(file.model_copy(update={"record": record})).problems
        assert is_right is (not problems), (file.record.reason, problems)
