"""How far a contest is: its games are counted to its end, also those that are drawn later."""

import json
from pathlib import Path

import pytest

from judge.cli.contest.tables import status
from judge.contest.attempts import EndedAttempt
from judge.contest_games import AttemptState
from judge.terminal.contest_progress import Lines, RunTally
from judge.tournament.formats.groups import Leagues
from judge.tournament.formats.knockout import Knockout
from tests.contest.cups import better_seed, cup, play
from tests.publish.cups import STRONG_TO_WEAK, Cup


def test_games_of_the_leagues_above_are_left_to_play() -> None:
    """Six of the last league are drawn, and six of the first one are to come."""
    with cup(Leagues(games=2, sizes=(2,), promoted=1), 5) as contest:
        now = iter((0.0, 60.0, 120.0))
        tally = RunTally(contest, lambda: next(now))
        assert (12, True) == (tally.left, tally.is_exact)

        for _ in range(3):
            (game,) = play(contest, better_seed, 1)
            tally.add(EndedAttempt(game, better_seed(game), state=AttemptState.ACCEPTED))

        assert 9 == tally.left
        assert 3.0 == tally.minutes_left


def test_games_of_a_later_draw_are_counted_once() -> None:
    with cup(Leagues(games=2, sizes=(2,), promoted=1), 5) as contest:
        tally = RunTally(contest)
        for game in play(contest, better_seed):
            tally.add(EndedAttempt(game, better_seed(game), state=AttemptState.ACCEPTED))

        assert (12, 0) == (tally.done, tally.left)


def test_a_run_without_a_terminal_prints_sentences_or_json(capsys: pytest.CaptureFixture[str]) -> None:
    with cup(Leagues(games=2, sizes=(2,), promoted=1), 5) as contest:
        sentences, documents = Lines(contest, as_json=False), Lines(contest, as_json=True)
        (game,) = play(contest, better_seed, 1)
        ended = EndedAttempt(game, better_seed(game), state=AttemptState.ACCEPTED, why="five in a row\x1b")
        sentences.report(ended)
        sentences.notify("finishing the running games")
        documents.report(ended)
        documents.notify("finishing")
        (other,) = play(contest, better_seed, 1)
        sentences.report(EndedAttempt(other, None, state=AttemptState.VOID, why="the Engine was gone"))

    said = capsys.readouterr().out.splitlines()
    assert f"game 1: {game.first} - {game.second} {'1 : 0' if game.first < game.second else '0 : 1'}" in said[0]
    assert said[0].endswith(r"five in a row\x1b; 1 of 12 games done")
    assert 1 == json.loads(said[1])["game"]
    assert "void: the Engine was gone; 2 of 12 games done" in said[2]


def test_a_knockout_has_at_least_the_games_that_are_left_without_replays() -> None:
    with cup(Knockout(games=2), 4) as contest:
        tally = RunTally(contest)

        assert (6, False) == (tally.left, tally.is_exact)


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ('name = "leagues"\ngames = 2\nsizes = [2]\npromoted = 1', "2 of 12 games done"),
        ('name = "knockout"\ngames = 2', "2 of at least 8 games done"),
    ],
    ids=["leagues", "knockout"],
)
def test_a_status_counts_games_that_are_drawn_later(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str, said: str
) -> None:
    with Cup(tmp_path, STRONG_TO_WEAK, form) as found:
        found.play(2)
        status(found.planned.path)

    assert f"spring-cup: open, {said}\n" in capsys.readouterr().out
