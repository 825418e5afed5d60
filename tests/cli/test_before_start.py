"""What an organiser sees in the terminal before the contest begins."""

import json
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from judge.cli.submit import open_intake
from judge.contest.plan import load_plan
from judge.contest.run_process import start_run
from judge.store.types import ProcessingResult, Upload
from judge.web.player.status import PlayerFiles
from tests.cli.conftest import Judge

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
    assert "not begun" == json.loads(judge("contest", "status", "cup", "--json").out)["state"]
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
    document = json.loads(judge("contest", "standings", "cup", "--json").out)
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

    status = judge("contest", "status", "cup")

    assert 0 == status.code, status.err
    assert "entry         five of ada" in status.out
    assert "refused       2, six of ada: it loses on time" in status.out
    assert "waiting       3, seven of bob" in status.out
    (line,) = [line for line in status.out.splitlines() if "submissions   " in line]
    assert {"1 received", "1 passed", "1 refused"} == set(line.removeprefix("  submissions   ").split(", "))
    assert "closes        in 2 d " in status.out
    assert "judge serve is not running here: start it, because it starts the contest" in status.out
    document = json.loads(judge("contest", "status", "cup", "--json").out)
    assert not document["is_served"]
    assert {"closes", "starts"} == document["schedule"].keys()
    assert [{"name": "five", "author": "ada"}] == document["entries"]


def test_status_reports_whether_a_service_starts_the_contest(judge: Judge, tmp_path: Path) -> None:
    starts = datetime.now(UTC) + timedelta(days=3)
    make_cup(tmp_path, f"[contest]\nstarts = {starts.isoformat()}\n")
    planned = load_plan(tmp_path / "cup")

    with (
        closing(PlayerFiles(planned.folder, planned.name)) as first,
        closing(PlayerFiles(planned.folder, "other")) as own,
    ):
        assert first.take()
        assert own.take()
        served = judge("contest", "status", "cup")
    ended = judge("contest", "status", "cup")

    assert "judge serve is running here and starts it then" in served.out
    assert "judge serve is not running here" in ended.out


def test_email_of_an_unknown_author_is_refused(judge: Judge, tmp_path: Path) -> None:
    make_cup(tmp_path)
    assert 0 == judge("tokens", "make", "Dana", "cup").code

    unknown = judge("submissions", "email", "Danna", "danna@example.org", "cup")
    known = judge("submissions", "email", "Dana", "dana@example.org", "cup")

    assert 2 == unknown.code
    assert "no author 'Danna' in cup: did you mean 'Dana'?; judge tokens make adds one" in unknown.err
    assert 0 == known.code
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
