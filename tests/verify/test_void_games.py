"""Attempts that do not count: both verifiers name their games, and believe a void only with its evidence."""

import pytest

from judge.referee.spec import RecordFile, public_part, read_record
from judge.referee.transcript import unseal
from judge.verify.export import verify_export
from judge.verify.records import void_problems
from tests.publish.cups import voided
from tests.publish.public import Public
from tests.verify.forgeries import as_void, cut_off, departing, resealed
from tests.verify.test_second_verifier import verify


@pytest.fixture(scope="module")
def finished(logged: Public) -> RecordFile:
    """A game that ended by the rules."""
    return read_record(logged.directory / "records/00002.json")


def test_both_verifiers_name_games_with_uncounted_attempts(logged: Public) -> None:
    report = verify_export(logged.directory, logged.public_key)
    words = "1 attempt does not count, void (game.attempt): 1.1"

    assert words in report.decisions
    assert f"note     {words}" in verify(logged.directory, logged.public_key)[1]


@pytest.mark.parametrize("count", range(1, 11))
def test_record_of_a_finished_game_is_not_void_however_its_end_is_cut(count: int, finished: RecordFile) -> None:
    """As long as the answer that ends the game is there."""
    assert list(void_problems(cut_off(count)(finished)))
    assert list(void_problems(cut_off()(finished)))


def test_record_that_is_cut_before_the_last_answer_is_a_void(finished: RecordFile) -> None:
    entries = unseal(cut_off()(finished).transcript)
    for end in range(1, len(entries)):
        problems = set(void_problems(resealed(as_void(finished), entries[:end])))
        assert problems <= {"void, but its moves differ from those of its transcript"}, end
    assert [] == list(void_problems(public_part(voided(finished))))


def test_record_with_a_transcript_against_the_rules_is_not_void(finished: RecordFile) -> None:
    assert any("continues after the end" in problem for problem in void_problems(departing(finished)))
