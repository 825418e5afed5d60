"""Ends that GomocupJudge writes in its own way: a foul, an illegal move, hostile messages, games without a result."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from judge_gomocup.compare import compare_played
from judge_gomocup.result_files import write_result_files

from judge.catalog.files import steps_of
from judge.catalog.managers import ContestGame, FinishedContest
from judge.record.policy import load_policy
from judge.record.spec import RecordFile
from tests.formats.recorded import gomoku, named, recorded
from tests.referee.games import brain, spec


def renju_foul() -> RecordFile:
    black = brain("7,7", "8,7", "9,8", "9,9", "9,7")
    white = brain("0,0", "0,14", "14,0", "14,14")
    of_renju = spec().model_copy(update={"policy": load_policy("renju-15")})
    return recorded(black, white, named(of_renju, "anna", "bert"))


def illegal() -> RecordFile:
    """White plays where black is."""
    return recorded(brain("7,7", "8,7"), brain("7,7"), named(spec(), "anna", "bert"))


def contest(file: RecordFile | None) -> FinishedContest:
    game = ContestGame(number=1, first="anna", second="bert")
    if file is not None:
        game = ContestGame(number=1, first="anna", second="bert", steps=steps_of(file))
    policy = load_policy("renju-15") if file is None else file.record.spec.policy
    return FinishedContest(name="cup", agents=["anna", "bert"], policy=policy, games=[game])


def written(file: RecordFile | None) -> Mapping[str, str]:
    files: dict[str, bytes] = defaultdict(bytes)
    for name, data in write_result_files(contest(file)):
        files[name] += data
    return {name: data.decode() for name, data in files.items()}


def test_a_foul_is_written_without_its_stone() -> None:
    files = written(renju_foul())

    assert "foul" == renju_foul().record.verdict
    assert 8 == sum(line[0].isdigit() and line.count(",") == 2 for line in files["0_0_1_2.psq"].splitlines())
    assert files["message.txt"].endswith("ms\nForbidden move!\n\n--> 0_0_1_2.psq\n\n")
    assert files["state.txt"].startswith("(0, 1, 0)\t2\t1\t")


def test_failure_is_an_error_of_its_cause() -> None:
    files = written(illegal())

    assert files["state.txt"].startswith("(0, 1, 0)\t1\t3\t")
    assert "2. bert -\n    wins: 0+0, losses: 0+1, draws: 0+0\n    timeouts: 0, errors: 1," in files["_result.txt"]


def test_agent_output_stays_on_its_line() -> None:
    said = written(gomoku())["message.txt"]

    assert "(1) MESSAGE depth 3 ev 12 pv h8\nMESSAGE " in said
    assert "\x1b" not in said


def test_a_game_without_a_result_is_one_that_was_not_played() -> None:
    files = written(None)

    assert {"message.txt", "result.pgn", "state.txt", "_result.txt", "_table.html"} == set(files)
    assert "(0, 1, 0)\tNone\tNone\t0\t0\t0\t0\n" == files["state.txt"]
    assert "time/game: -, time/turn: -, move/game: -" in files["_result.txt"]


@pytest.mark.parametrize("make", [renju_foul, illegal, gomoku])
def test_written_game_is_equal_when_read_again(make: Callable[[], RecordFile], tmp_path: Path) -> None:
    file = make()
    for name, data in written(file).items():
        (tmp_path / name).write_text(data, newline="")
    compared = compare_played(tmp_path, contest(file))

    assert (1, 1, ()) == (compared.aligned, compared.same, compared.differences)
