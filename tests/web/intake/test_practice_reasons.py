"""What an author reads about a practice game that the host interrupted."""

from typing import Any

import pytest

from judge.contest_games import GameState
from judge.store.practice_games import PracticeGame
from judge.web.schemas import HOST_FAILED, practice_reason


@pytest.mark.parametrize(
    ("state", "failures", "why", "shown"),
    [
        (GameState.DONE, 6, "", ""),
        (GameState.DONE, 6, "the Engine was gone", "the Engine was gone"),
        (GameState.PENDING, 2, "the Engine was gone", HOST_FAILED),
        (GameState.HELD, 6, "the Engine was gone", HOST_FAILED),
        (GameState.CANCELLED, 1, "the submission was withdrawn", "the submission was withdrawn"),
        (GameState.RUNNING, 0, "", ""),
    ],
)
def test_a_played_game_shows_no_failure_of_the_host(state: GameState, failures: int, why: str, shown: str) -> None:
    result: dict[str, Any] = {"seat": 0, "verdict": "win", "winner": 0, "reason": "5 in a row", "seconds": 1.0}
    game = PracticeGame(id=1, state=state, why=why, agent="good", opponent="house", failures=failures, **result)

    assert shown == practice_reason(game)
