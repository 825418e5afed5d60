"""`judge contest status`, and how far a contest is: its games are counted to its end, also those drawn later."""

import json
from itertools import count
from pathlib import Path

import pytest

from judge.cli.contest.tables import status
from judge.contest.attempts import EndedAttempt
from judge.contest.run_lock import alone
from judge.contest.runner import RunTally
from judge.contest.status import status_of
from judge.contest_games import AttemptState
from judge.terminal.contest_progress import Lines
from judge.tournament.formats.groups import Leagues
from tests.contest.cups import better_seed, cup, play
from tests.publish.cups import STRONG_TO_WEAK, Cup, crasher, player

CAST = {
    "anna": player("anna", 0.95),
    "bert": player("bert", 0.8),
    "crash.one": crasher("crash.one", 2),
    "crash.two": crasher("crash.two", 2),
}


def test_status_agrees_with_the_standings(tmp_path: Path) -> None:
    form = 'name = "swiss"\ngames = 2\nrounds = 3'
    with Cup(tmp_path / "cup", CAST, form, more="[failures]\nafter = 1000") as cup:
        for out in ("", "crash.one"):
            if out:
                cup.store.disqualify(cup.contest.name, out, "a test")
            cup.play(5)
            shown, view = status_of(cup.contest), cup.contest.view()
            counts = {line.agent: line.done.failures for line in view.table.lines if line.done.failures}
            assert counts == shown["failures"]
            assert list(shown["failures"].values()) == sorted(counts.values(), reverse=True) != []
            assert shown["disqualified"] == view.out
            assert (shown["to_come"], shown["is_over"]) == (view.to_come.games, view.is_over)


class Twins(Cup):
    """Whose bert has the files of anna."""

    def store_files(self, name: str) -> str:
        return super().store_files("anna" if name == "bert" else name)


def test_status_names_agents_with_the_same_files_while_they_take_part(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Twins(tmp_path / "cup", {name: CAST[name] for name in ("anna", "bert", "crash.one")}) as cup:
        status(tmp_path / "cup")
        assert "  copies        anna, bert have the same files\n" in capsys.readouterr().out
        cup.store.disqualify(cup.contest.name, "bert", "a test")
        status(tmp_path / "cup")
    assert "same files" not in capsys.readouterr().out


def test_status_shows_whether_a_judge_plays_the_contest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """tests/corpus has the tables of contests that run and are over."""
    folder = tmp_path / "cup"
    with Cup(folder, CAST, more='title = "Weekend Cup"') as cup:
        cup.play(1)
        cup.store.issue(cup.contest.name, "here", cup.contest.alone)
        status(folder)
        interrupted = capsys.readouterr().out.splitlines()
        with alone(cup.planned):
            status(folder)
        running = capsys.readouterr().out.splitlines()
    assert "Weekend Cup (spring-cup): interrupted, 1 of 12 games done" == interrupted[0]
    assert f"no judge plays the contest; judge contest run {folder} continues it" in interrupted[2]
    assert "Weekend Cup (spring-cup): running, 1 of 12 games done" == running[0]


def test_games_of_the_leagues_above_are_left_to_play(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six of the last league are drawn, and six of the first one are to come."""
    with cup(Leagues(games=2, sizes=(2,), promoted=1), 5) as contest:
        now = count(0, 60)
        monkeypatch.setattr("judge.contest.runner.monotonic", lambda: float(next(now)))
        tally = RunTally(contest)
        assert (12, True) == (tally.left, tally.is_exact)

        for _ in range(3):
            (game,) = play(contest, better_seed, 1)
            tally.add(EndedAttempt(game, better_seed(game), state=AttemptState.ACCEPTED))

        assert 9 == tally.left
        assert 3.0 == tally.minutes_left
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


def test_a_status_counts_games_that_are_drawn_later(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Cup(tmp_path, STRONG_TO_WEAK, 'name = "knockout"\ngames = 2') as found:
        found.play(2)
        status(found.planned.path)

    assert "spring-cup: interrupted, 2 of at least 8 games done\n" in capsys.readouterr().out
