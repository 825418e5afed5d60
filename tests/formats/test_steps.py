"""Steps: the position after every answer, of a record and of the field's own files.

tests/corpus has the tokens, marks, messages and clocks of the steps of all its records.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from judge.catalog import files
from judge.catalog.files import read_steps, steps_of
from judge.games.types import Verdict
from judge.record.spec import RecordFile, write_record
from judge.record.transcript import seal, unseal
from tests.formats import recorded


@pytest.mark.parametrize("family", [recorded.gomoku, recorded.stratego_game, recorded.chess, recorded.quantum])
def test_a_step_for_every_answer_and_one_before(family: Callable[[], RecordFile]) -> None:
    file = family()
    game = steps_of(file)

    assert "" == game.problem
    assert [(p.seat, p.said, p.ms) for p in file.record.plies] == [
        (step.seat, step.said, round(step.ms or 0, 3)) for step in game.steps[1:]
    ]
    assert None is game.steps[0].seat


@pytest.mark.parametrize("verdict", [Verdict.VOID, Verdict.WIN])
def test_game_that_breaks_off_is_there_as_far_as_it_went(verdict: Verdict) -> None:
    """A void does; any other breaks the rules."""
    file = recorded.gomoku()
    ends = {"verdict": verdict, "winner": None, "reason": "the Engine is gone"}
    record = file.record.model_copy(update=ends if verdict is Verdict.VOID else {})
    game = steps_of(RecordFile(record=record, transcript=seal(unseal(file.transcript)[:-9])))

    assert 1 < len(game.steps) < 11
    if verdict is Verdict.VOID:
        assert ("", "void: does not count: the Engine is gone") == (game.problem, game.result)
    else:
        assert "it ends before the game is over" in game.problem


@pytest.mark.parametrize("family", [recorded.chess, recorded.stratego_game])
def test_a_log_leads_to_the_same_positions(family: Callable[[], RecordFile], tmp_path: Path) -> None:
    file, path = family(), tmp_path / "game.json"
    write_record(path, file)
    files.write_exports(file, path)
    game, played = read_steps(path.with_suffix(".log")), steps_of(file)

    assert len(played.steps) == len(game.steps)
    assert played.steps[-1].view.tokens == game.steps[-1].view.tokens
    if family is recorded.chess:
        assert [step.view for step in played.steps] == [step.view for step in game.steps]
        assert "white" == game.result
