"""`judge contest watch` shows in the terminal what the log of events says, and ends with what it shows."""

import io
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from rich.console import Console, RenderableType

from judge.broadcast.state import Live
from judge.catalog.files import steps_of
from judge.cli.contest.watch import Followed
from judge.formats.search_figures import evaluate_game, search_figures
from judge.terminal.contest_screen import game_screen, line_of, overview
from tests.broadcast.logs import PAIR, accept, play_next, recorder
from tests.forked import ForkedProcess
from tests.patience import PATIENCE_S
from tests.publish.cups import Cup
from tests.web.live.watching import told_by


@pytest.fixture
def cup(tmp_path: Path) -> Iterator[Cup]:
    with Cup(tmp_path / "cup", PAIR, form='name = "round-robin"\ngames = 2') as found:
        yield found


def written(shown: RenderableType) -> str:
    console = Console(file=io.StringIO(), width=120, height=40, force_terminal=False)
    console.print(shown)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def now(followed: Followed) -> Live:
    list(followed.news())
    return followed.live


def test_running_game_agrees_with_its_record_and_gets_its_result_at_the_end(cup: Cup) -> None:
    with recorder(cup) as log, closing(Followed(cup.contest, game=1)) as followed:
        game, file, pieces = told_by(cup, log)
        for _ in range(10):
            next(pieces)
        live = now(followed)
        assert "1 running, 1 to come" in written(overview(live, 0))
        plies = len(live.games[1].moves)
        assert 0 < plies < len(file.record.plies)
        view, kept = live.games[1].view(), steps_of(file).steps[plies].view
        assert view is not None
        assert (kept.tokens, kept.marks, kept.seats) == (view.tokens, view.marks, view.seats)
        assert f"{file.record.spec.opening_moves + plies}. " in written(game_screen(live, 1, 0))
        assert not followed.is_over()
        list(pieces)
        accept(cup, game, file)
        log.read_store()
        outcome = now(followed).ended[0][0].outcome
        assert followed.is_over()

    assert outcome in " ".join(written(game_screen(live, 1, 0)).split())
    assert outcome[:40] in written(overview(live, 0))


def test_elsewhere_than_on_a_terminal_it_prints_every_event_of_the_contest_and_ends_with_it(cup: Cup) -> None:
    with recorder(cup) as log:
        log.read_store()
        words = [sys.executable, "-m", "judge.cli", "contest", "watch", str(cup.folder)]
        with ForkedProcess[str](words, stdout=-1, text=True) as process:
            files = []
            for _ in range(2):
                game, file, pieces = told_by(cup, log)
                list(pieces)
                accept(cup, game, file)
                files.append(file)
                log.finish()
            lines = process.communicate(timeout=PATIENCE_S)[0].splitlines()

    assert 0 == process.returncode
    assert lines[-1].startswith("table: 1. ")
    for number, file in enumerate(files, 1):
        of_game = [line.partition(": ")[2] for line in lines if line.startswith(f"game {number}: ")]
        assert " - ".join(seat.name for seat in file.record.seats) == of_game[0]
        moves = [line for line in of_game if line.endswith(" ms")]
        first = file.record.spec.opening_moves + 1
        stones = range(first, first + len(file.record.plies))
        assert [f"{stone}." for stone in stones] == [move.split(" ")[0] for move in moves]


def test_contest_waits_for_its_start_and_reports_it(tmp_path: Path) -> None:
    folder, form = tmp_path / "cup", 'name = "round-robin"\ngames = 2'
    moment = "[contest]\nstarts = 2036-01-01T12:00:00Z\n"
    folder.mkdir()
    agents = "".join(f'[[agents]]\npath = "{name}"\n' for name in PAIR)
    text = f'name = "spring-cup"\npolicy = "gomocup-freestyle"\n{{}}[format]\n{form}\n{agents}'
    (folder / "contest.toml").write_text(text.format("") + moment)
    words = [sys.executable, "-m", "judge.cli", "contest", "watch", str(folder)]
    with ForkedProcess[str](words, stdout=-1, text=True) as process:
        assert process.stdout is not None
        assert "spring-cup: not begun\n" == process.stdout.readline()
        assert "  the contest starts at 2036-01-01 12:00:00 UTC\n" == process.stdout.readline()
        with Cup(folder, PAIR, form) as cup, recorder(cup) as log:
            for _ in range(2):
                accept(cup, *play_next(cup))
            log.finish()
            lines = process.communicate(timeout=PATIENCE_S)[0].splitlines()

    assert 0 == process.returncode
    assert lines[-1].startswith("table: 1. ")


def test_contest_is_not_over_while_its_log_lags_behind_the_store(cup: Cup) -> None:
    with recorder(cup) as log, closing(Followed(cup.contest)) as followed:
        log.read_store()
        for game, file in [play_next(cup), play_next(cup)]:
            accept(cup, game, file)
        list(followed.news())
        assert cup.contest.view().is_over
        assert not followed.is_over()
        log.finish()
        list(followed.news())
        assert followed.is_over()


@pytest.mark.parametrize("event", ["disqualified", "withdrawn"])
def test_a_contest_is_over_though_an_absent_agent_has_games_that_are_not_played(cup: Cup, event: str) -> None:
    with recorder(cup) as log, closing(Followed(cup.contest)) as followed:
        accept(cup, *play_next(cup))
        if event == "withdrawn":
            cup.store.withdraw(cup.contest.name, "bert", "cheats", is_annulled=True)
        else:
            cup.store.disqualify(cup.contest.name, "bert", "cheats")
        log.finish()
        assert f"{event}: bert: cheats" in [line_of(each, followed.live) for each in followed.news()]
        assert 0 == followed.live.waiting
        assert followed.is_over()


def test_live_games_are_evaluated_as_their_records(cup: Cup) -> None:
    with recorder(cup) as log, closing(Followed(cup.contest)) as followed:
        game, file, pieces = told_by(cup, log)
        list(pieces)
        accept(cup, game, file)
        log.finish()
        evaluated = now(followed).evaluated[1]

    values = [
        (step.seat, search_figures(step.search, step.messages, step.ms).evaluation)
        for step in steps_of(file).steps
        if step.seat is not None
    ]
    expected = evaluate_game(values, file.record.winner)
    assert expected is not None
    assert expected == evaluated
