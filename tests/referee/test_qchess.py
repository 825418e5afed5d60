"""Quantum Chess under the referee: whole games between scripted agents.

tests/conformance/test_qchess.py has recorded games with every kind of end.
"""

from collections.abc import Sequence
from typing import Any

import pytest

from judge.catalog.files import steps_of
from judge.formats.quantum_chess.log import qchess_log, read_log, replay_qchess_log, write_log
from judge.record.policy import load_policy
from judge.record.spec import GameSpec
from judge.record.transcript import EntryKind
from judge.referee.verify import verify
from judge.sandbox.evidence import ProcessReport
from judge.testing import Act, Agent, Do, Say, World, exits, scripted_seats
from tests.referee.games import Game


def player(*answers: str, ms: float = 1.0, **lines: Sequence[Act]) -> Agent:
    """An agent that says `answers` one after the other when it is asked; `QUIT=[...]` overrides what it does then."""
    left = iter(answers)

    def hear(line: str) -> Sequence[Act]:
        word = line.split()[0].rstrip("?") if line else ""
        if word in lines:
            return lines[word]
        if word in ("SELECTION", "MOVE"):
            said = next(left, None)
            return [] if said is None else [Say(f"{said}\n".encode(), ms)]
        return exits(0) if word == "QUIT" else []

    return hear


def spec(policy: str = "qchess-2013:classical", *overrides: str, **options: Any) -> GameSpec:
    chosen = load_policy(policy, overrides)
    game = chosen.game.model_copy(update={"options": chosen.game.options | options})
    return GameSpec(seats=scripted_seats("qchess"), policy=chosen.model_copy(update={"game": game}), seed=7)


KNIGHT = ("1 7", "0 5", "0 5", "1 3", "1 3", "3 4", "3 4", "2 2", "2 2", "3 0")
"""A knight of white's takes the king in five moves."""
PAWN = ("0 1", "0 2", "0 2", "0 3", "0 3", "0 4", "0 4", "0 5")
"""Meanwhile a pawn of black's goes its way."""


def test_a_key_hides_the_same_types_again_and_other_types_than_another() -> None:
    """The first piece that is chosen shows a type: over ten keys not always the same."""
    shown = set()
    for number in range(10):
        game_spec = spec("qchess-2013").model_copy(update={"seed": f"{number}" * 64})
        played, again = (Game(World(player("0 6", "0 5", "3 7"), player("3 0")), game_spec) for _ in range(2))
        assert (played.heard(0), played.heard(1)) == (again.heard(0), again.heard(1))
        assert ["white", "SELECTION?"] == played.heard(0)[:2]
        shown.add(played.heard(1)[1])
        assert [] == verify(played.file()).problems

    assert 1 < len(shown)


@pytest.mark.parametrize(
    ("white", "policy"),
    [
        (player(*KNIGHT), "qchess-2013:classical"),
        (player("3 7", "E5"), "qchess-2013"),
        (player("4 6\n4 4"), "qchess-seed:classical"),
        (player("4 6", MOVE=exits(1)), "qchess-2013:classical"),
        (player("4 6", MOVE=[]), "qchess-2013:classical"),
    ],
    ids=["king", "gibberish", "unasked", "crash", "time"],
)
def test_log_of_a_record_shows_both_conversations(white: Agent, policy: str) -> None:
    """Nature's answers come from the seed again; the log stands for itself when it is replayed."""
    played = Game(World(white, player(*PAWN)), spec(policy))
    log = qchess_log(steps_of(played.file()))

    questions = ("SELECTION?", "MOVE?", "QUIT", "black")
    assert [line for line in played.heard(1) if line.split()[0] not in questions] == [said.text for said in log.events]
    assert log.result is not None
    assert played.referee.game.result(("one", "two")) == log.result.text
    assert ("one", "two") == log.names
    assert log.result.text == replay_qchess_log(read_log(write_log(log))).game.result(log.names)


def test_a_void_game_has_a_log_without_a_result() -> None:
    """An outsider ended white's container: nobody is charged."""
    removed: list[Act] = [Say(b""), Do(EntryKind.REPORT, ProcessReport("removed").encode())]
    played = Game(World(player("4 6", MOVE=removed), player()), spec())
    log = qchess_log(steps_of(played.file()))

    played.assert_void()
    assert ["4 6 0 pawn"] == [said.text for said in log.events]
    assert log.result is None


@pytest.mark.parametrize("policy", ["qchess-2013", "qchess-seed"])
def test_every_word_of_a_final_result_has_its_points(policy: str) -> None:
    """The contest's script knew a plain win only; a win is a result without a word."""
    words = "WIN DRAW ILLEGAL BOUNDS EMPTY COLOUR GIBBERISH TIMEOUT UNRESPONSIVE terminated"

    assert set(words.split()) == set(load_policy(policy).points)
