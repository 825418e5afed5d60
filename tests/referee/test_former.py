"""The Gomocup conversation of records of format 2."""

from judge.games.gomoku.requests import Placed, PlaceStone
from judge.protocols import FormerBuilds, new_protocol
from judge.protocols.types import Ask, Clock, Open, ToldLimits
from judge.referee.former import FORMER_PROTOCOLS
from judge.testing.conversation import Conversation


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
