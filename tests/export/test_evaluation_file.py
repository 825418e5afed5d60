"""A signed evaluation is verified by its records: none of them may be void."""

from pathlib import Path

import pytest

from judge.contest.evaluation import FROZEN_FILE, RECORDS, StopRule, evaluate, evaluation_of
from judge.contest_games import Outcome
from judge.publish.export.evaluation_file import played_game, record_path, verify_evaluation, write_evaluation
from judge.record.policy import load_policy
from judge.record.spec import GameSpec, write_record
from judge.transparency.keys import make_key
from tests.contest.test_evaluation import pool, seat
from tests.publish.cups import Player, referee, voided


def written(folder: Path, is_forged: bool = False) -> Path:
    """The file of an evaluation of two games against dora; `is_forged`: a lost one is called void."""
    records = folder / RECORDS
    records.mkdir()
    against = pool("dora").model_copy(update={"policy": load_policy("gomocup-standard"), "shuffle": False})
    (folder / FROZEN_FILE).write_bytes(against.encoded())

    def play(spec: GameSpec) -> Outcome:
        file = referee(spec, [Player(each.name, 0.9 if each.name == "anna" else 0.2, 3) for each in spec.seats])
        if is_forged and "bert" in [each.name for each in spec.seats]:
            file = voided(file)
        write_record(record_path(records, spec), file)
        return played_game(record_path(records, spec), spec)

    seats, rule = (seat("anna"), seat("bert")), StopRule(width=1, pairs=1)
    *_, (scores, games) = evaluate(against, *seats, rule, play)
    path = folder / "evaluations/it.json"
    path.parent.mkdir()
    write_evaluation(path, evaluation_of("0.1.0", against, seats, rule, scores, games), make_key(folder / "my.key"))
    return path


@pytest.mark.parametrize("is_forged", [False, True])
def test_game_that_is_called_void_does_not_count(is_forged: bool, tmp_path: Path) -> None:
    """A void gives no points, so it is a loss that the parent does not have."""
    problems, _ = verify_evaluation(written(tmp_path, is_forged))
    assert is_forged == any("void, so it cannot count" in problem for problem in problems)
    assert is_forged == bool(problems)
