"""Evidence: what a page says of a fault is what the transcript and the policy hold.

tests/corpus has the evidence of other faults, in all games.
"""

from judge.formats.fault_report import Case, PolicyKey, cases
from judge.games.types import Verdict
from judge.record.transcript import EntryKind
from judge.sandbox.evidence import ProcessReport
from judge.testing import Agent, Do, dies
from tests.formats import recorded
from tests.referee.games import brain, play


def case_of(first: Agent, second: Agent) -> Case:
    """The only case of a game."""
    [case] = cases(play(first, second).file())
    return case


def test_game_without_a_fault_has_no_case() -> None:
    assert [] == cases(recorded.gomoku())


def test_an_illegal_answer_is_shown_with_its_request_and_its_clock() -> None:
    case = case_of(brain("7,7"), brain("7,7", ms=12.5))

    assert (1, "white", Verdict.ILLEGAL) == (case.seat, case.name, case.verdict)
    assert b"INFO time_left 119999\r\nTURN 7,7\r\n" == case.exchange.request
    assert b"7,7\r\n" == case.exchange.reply
    assert [(12.5, EntryKind.READ)] == [(heard.ms, heard.kind) for heard in case.exchange.heard]
    assert (12.5, 6000, "") == (case.charged_ms, case.allowed_ms, case.row)
    assert PolicyKey("game.options.width", 15) in case.rules


def test_a_death_is_shown_with_the_word_of_pid_1_and_the_end_of_stderr() -> None:
    crash = [Do(EntryKind.STDERR, b"Traceback: boom\n"), *dies(11)]
    case = case_of(brain("7,7"), brain(TURN=crash))

    assert Verdict.CRASH == case.verdict
    assert b"Traceback: boom\n" == case.exchange.stderr
    assert [EntryKind.STDERR, EntryKind.READ, EntryKind.REPORT] == [heard.kind for heard in case.exchange.heard]
    assert ProcessReport("signalled", 11).encode() == case.exchange.heard[-1].data
    assert "signalled" == case.row
