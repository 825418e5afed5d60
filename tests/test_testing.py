"""What the judge ships for tests of games and protocols."""

import doctest

import pytest

import judge.testing
from judge.protocols import new_protocol
from judge.protocols.time_control import TimeControl
from judge.protocols.types import Open, SeatLimits
from judge.testing import Conversation


def test_the_example_is_true() -> None:
    tried = doctest.testmod(judge.testing)

    assert tried.attempted > 10
    assert tried.failed == 0


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("> START 16", "expected '> START 16', got '> START 15'"),
        ("< OK", r"expected nothing more, got \['> START 15'\]"),
        ("> START 15\n> BEGIN", "expected '> BEGIN', but there is no effect"),
    ],
)
def test_unexpected_conversation_reports_the_difference(script: str, why: str) -> None:
    conversation = Conversation(new_protocol("gomocup", {}))
    terms = {"rule": "freestyle", "width": 15, "height": 15}
    conversation.feed(Open(0, terms, ("one", "two"), SeatLimits(TimeControl.of_game(60_000, 1000), 0)))

    with pytest.raises(AssertionError, match=f"^{why}$"):
        conversation.goes(script)
