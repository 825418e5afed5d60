"""`judge contest status` before and after the start: entries, moments, and games, also those that are drawn later."""

import json
import re
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from judge.cli.contest.tables import status
from judge.cli.submit import open_intake
from judge.contest.attempts import EndedAttempt
from judge.contest.plan import load_plan
from judge.contest.run_lock import alone
from judge.contest.run_process import start_run
from judge.contest.runner import RunTally
from judge.contest.status import status_of
from judge.contest_games import AttemptState
from judge.store.types import ProcessingResult, Upload
from judge.terminal.contest_progress import Lines
from judge.tournament.formats.groups import Leagues
from judge.transparency.keys import KEY_FILE, make_key
from judge.web.player.status import PlayerFiles
from tests.cli.conftest import Judge
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


@pytest.mark.parametrize(
    "words",
    [
        ("status",),
        ("standings",),
        ("standings", "--crosstable"),
        ("journal",),
        ("export", "public", "--language", "en"),
    ],
)
def test_a_contest_that_has_begun_is_shown_without_its_policy(
    words: tuple[str, ...], judge: Judge, tmp_path: Path
) -> None:
    """It has the policy that was locked in. Before the start a missing policy is a mistake."""
    with Cup(tmp_path / "cup", STRONG_TO_WEAK) as cup:
        cup.play(2)
        make_key(cup.folder / KEY_FILE)
    plan = tmp_path / "cup/contest.toml"
    plan.write_text(re.sub("(?m)^policy = .*$", 'policy = "removed.toml"', plan.read_text()))
    assert 0 == judge("contest", *words, "cup").code

    (tmp_path / "cup/contest.db").unlink()
    if words in (("status",), ("standings",)):
        assert "removed.toml" in judge("contest", *words, "cup", code=2).err


PLAN = """
name = "cup"
policy = "gomocup-freestyle"
[format]
name = "round-robin"
[[agents]]
path = "house-instant"
name = "left"
{moments}
"""


def make_cup(folder: Path, moments: str = "") -> None:
    (folder / "cup").mkdir()
    (folder / "cup" / "contest.toml").write_text(PLAN.format(moments=moments))


def test_status_and_log_work_before_anything_happened(judge: Judge, tmp_path: Path) -> None:
    make_cup(tmp_path)
    status = judge("contest", "status", "cup")
    assert (0, "cup: not begun") == (status.code, status.out.splitlines()[0])
    assert "agent         left" in status.out
    assert "not begun" == judge("contest", "status", "cup", "--json").document["state"]
    log = judge("contest", "journal", "cup")
    assert (0, "cup: not begun, and its journal is empty\n") == (log.code, log.out)
    assert "[]\n" == judge("contest", "journal", "cup", "--json").out
    assert ["contest.toml"] == [path.name for path in (tmp_path / "cup").iterdir()]


def test_standings_show_the_start_time(judge: Judge, tmp_path: Path) -> None:
    starts = datetime.now(UTC).replace(microsecond=0) + timedelta(days=3)
    make_cup(tmp_path, f"[contest]\nstarts = {starts.isoformat()}\n")

    standings = judge("contest", "standings", "cup")
    assert (0, judge("contest", "status", "cup").out) == (standings.code, standings.out)
    assert f"the contest starts at {starts:%Y-%m-%d %H:%M:%S} UTC" in standings.out
    assert "starts        in 2 d 23 h" in standings.out
    document = judge("contest", "standings", "cup", "--json").document
    assert ("not begun", []) == (document["state"], document["lines"])
    assert {"starts": starts.isoformat()} == document["schedule"]
    assert ["contest.toml"] == [path.name for path in (tmp_path / "cup").iterdir()]


def test_status_names_entries_submissions_and_the_time_until_each_moment(judge: Judge, tmp_path: Path) -> None:
    at = datetime.now(UTC).replace(microsecond=0)
    closes, starts = at + timedelta(days=2, hours=3), at + timedelta(days=3)
    moments = f"[submissions]\ncloses = {closes.isoformat()}\n[contest]\nstarts = {starts.isoformat()}\n"
    make_cup(tmp_path, moments)
    with closing(open_intake(tmp_path / "cup").register()) as register:
        for name, refusal in (("five", ""), ("six", "it loses on time")):
            taken = register.receive(Upload("ada", name, "a.zip", "a" * 64, 1), worker="0" * 32)
            register.finish(taken.id, taken.attempt, ProcessingResult(refusal, name, "d" * 64, "{}", None, None))
        register.receive(Upload("bob", "seven", "a.zip", "a" * 64, 1))

    status = judge("contest", "status", "cup", code=0)

    assert "entry         five of ada" in status.out
    assert "refused       2, six of ada: it loses on time" in status.out
    assert "waiting       3, seven of bob" in status.out
    (line,) = [line for line in status.out.splitlines() if "submissions   " in line]
    assert {"1 received", "1 passed", "1 refused"} == set(line.removeprefix("  submissions   ").split(", "))
    assert "closes        in 2 d " in status.out
    assert "judge serve is not running here: start it, because it starts the contest" in status.out
    document = judge("contest", "status", "cup", "--json").document
    assert not document["is_served"]
    assert {"closes", "starts"} == document["schedule"].keys()
    assert [{"name": "five", "author": "ada"}] == document["entries"]


def test_status_reports_whether_a_service_starts_the_contest(judge: Judge, tmp_path: Path) -> None:
    starts = datetime.now(UTC) + timedelta(days=3)
    make_cup(tmp_path, f"[contest]\nstarts = {starts.isoformat()}\n")
    planned = load_plan(tmp_path / "cup")

    with (
        closing(PlayerFiles(planned.folder, planned.name)) as first,
        closing(PlayerFiles(planned.folder, "other")) as second,
    ):
        assert first.take()
        assert second.take()
        served = judge("contest", "status", "cup")
    ended = judge("contest", "status", "cup")

    assert "judge serve is running here and starts it then" in served.out
    assert "judge serve is not running here" in ended.out


def test_email_of_an_unknown_author_is_refused(judge: Judge, tmp_path: Path) -> None:
    make_cup(tmp_path)
    assert 0 == judge("tokens", "make", "Dana", "cup").code

    unknown = judge("submissions", "email", "Danna", "danna@example.org", "cup", code=2)
    judge("submissions", "email", "Dana", "dana@example.org", "cup", code=0)

    assert "no author 'Danna' in cup: did you mean 'Dana'?; judge tokens make adds one" in unknown.err
    message = judge("submissions", "message", "We start at 19:00.", "cup")
    assert (0, "message to all authors; authors: 1, with an address for notices: 1\n") == (message.code, message.out)
    sent = judge("submissions", "send", "cup")
    assert (0, "waiting notices that are sent now: 2\n") == (sent.code, sent.out)
    assert 2 == judge("submissions", "message", " ", "cup").code


def test_status_reports_why_a_contest_was_not_started_at_its_time(judge: Judge, tmp_path: Path) -> None:
    make_cup(tmp_path, "[contest]\nstarts = 2020-01-01T00:00:00Z\n")
    with start_run(tmp_path / "cup" / "contest.toml") as process:
        process.wait()

    shown = judge("contest", "status", "cup")

    assert "problem       it was not started at its time: " in shown.out
    assert "needs 2 to 1000 agents" in shown.out
