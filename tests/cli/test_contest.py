"""`judge contest` as an organiser uses it: one file, one command, and orders while it runs."""

import hashlib
import json
import os
import platform
import re
import shutil
import signal
from contextlib import closing
from pathlib import Path
from typing import Any

import docker
import pytest
from sqlalchemy import create_engine, text

from judge.contest.contest import open_store
from judge.contest.plan import load_plan
from judge.host.build_images import build_images
from judge.journal.events import Stopped
from tests.cli.brains import write_brain
from tests.cli.conftest import TINY, Judge, Ran
from tests.cli.contests import JUDGE, SLOW, left, line, running, slow_contest, workers, write_contest
from tests.cli.running import thinking
from tests.cli.terminal import Terminal
from tests.examples import evidence, of_evidence

GO_ON = "judge contest run cup"
ONE = ("--workers", "1")
"""One slot on a host of any size: a large one would play all games at once."""


@pytest.fixture(scope="module", autouse=True)
def images(request: pytest.FixtureRequest) -> None:
    if any(item.get_closest_marker("docker") for item in request.session.items):
        build_images(["native", "python", "keeper"])


def lines(ran: Ran) -> list[dict[str, Any]]:
    return [json.loads(one) for one in ran.out.splitlines()]


@pytest.mark.long
@pytest.mark.docker
def test_from_nothing_to_final_standings(judge: Judge, tmp_path: Path) -> None:
    made = judge(
        "contest", "init", "cup", "--policy", "gomocup-fastgame", "--agent", "house-instant",
        "--agent", "house-stamp", "--set", "clock.turn_ms=2000",
        *(word for change in TINY for word in ("--set", change)), code=0,
    )  # fmt: skip
    assert "judge contest plan cup/contest.toml" in made.out
    planned = judge("contest", "plan", "cup", "--json")
    assert (0, 2, []) == (planned.code, planned.document["games"], planned.document["missing"])

    ran = judge("contest", "run", "cup", "--json", code=0)
    assert [(1, 1, 1, 0), (2, 1, 2, 0)] == [
        (each["game"], each["attempt"], each["done"], each["voids"]) for each in lines(ran)
    ]
    assert "judge: cup is over; judge contest standings cup/contest.toml" in ran.err
    for more in ((), ("--cluster", "tls://127.0.0.1:9", "--tls", "nowhere")):
        again = judge("contest", "run", "cup", "--json", *more)
        assert (0, "", True) == (again.code, again.out, "judge: cup is over" in again.err), again.err
    status = judge("contest", "status", "cup", "--json", "--hosts").document
    assert [(platform.node(), 2, 0, None)] == [
        (host["name"], host["played"], host["voids"], host["lost_since"]) for host in status["hosts"]
    ]
    assert (status["state"], status["is_over"]) == ("open", True)
    assert judge("contest", "status", "cup").out.startswith("cup: over, 2 of 2 games done\n")
    chance = status["chance"]
    assert chance["commitment"] == hashlib.sha256(bytes.fromhex(chance["secret"])).hexdigest()
    assert f"its SHA-256 is {chance['commitment']}" in ran.err
    output = ran.out + ran.err + (tmp_path / "cup/log.jsonl").read_text()
    assert chance["secret"] not in output + judge("contest", "journal", "cup", "--json").out

    assert 2 == judge("contest", "void", "1", "cup").code
    voided = judge("contest", "void", "1", "cup", "--why", "the wrong board")
    assert (0, True) == (voided.code, "to be played again" in voided.out)
    assert {"done": 1, "pending": 1} == _counts(judge)
    status = judge("contest", "status", "cup", "--json").document
    assert (None, False) == (status["chance"]["secret"], status["is_over"])
    ran = judge("contest", "run", "cup", "--json")
    assert [(1, 2)] == [(each["game"], each["attempt"]) for each in lines(ran)]

    table = judge("contest", "standings", "cup", "--json").document
    assert {"house-instant", "house-stamp"} == {each["agent"] for each in table["lines"]}
    cross = judge("contest", "standings", "cup", "--crosstable", "--json").document
    assert [None, None] == [cross["rows"][number][number] for number in range(2)]
    events = [each["event"] for each in judge("contest", "journal", "cup", "--json").document]
    begun = ["announced", "frozen", "created", "folders", "scheduled"]
    assert [*begun, *["started", "accepted"] * 2, "annulled", "started", "accepted"] == events
    assert "game 1, attempt 1: annulled: the wrong board" in judge("contest", "journal", "cup").out

    out = judge("contest", "disqualify", "house-stamp", "cup", "--why", "it stamps")
    assert (0, "house-stamp is disqualified; 0 games of cup are cancelled\n") == (out.code, out.out)
    assert 2 == judge("contest", "disqualify", "nobody", "cup", "--why", "x").code
    assert "disqualified: house-stamp: it stamps" in judge("contest", "standings", "cup").out
    assert 2 == judge("contest", "withdraw", "house-stamp", "cup", "--why", "x").code
    records = [str(path) for path in (tmp_path / "cup/files").rglob("*") if path.is_file()]
    assert 0 == judge("verify", *records).code


def _counts(judge: Judge, *options: str) -> dict[str, int]:
    counts = judge("contest", "status", "cup", "--json", *options).document["games"]
    return {state: count for state, count in counts.items() if count}


@pytest.mark.docker
def test_one_folder_has_one_judge_and_pause_or_ctrl_c_end_it_politely(
    judge: Judge, client: docker.DockerClient, tmp_path: Path
) -> None:
    slow_contest(tmp_path / "cup", games=8)
    with running(tmp_path, "cup", *ONE) as process:
        thinking(client, process, seat=None)

        second = judge("contest", "run", "cup", "--json")
        assert (2, "") == (second.code, second.out)
        assert f"another judge (process {process.pid}) runs cup" in second.err
        assert "judge contest pause cup/contest.toml stops it after the running games" in second.err
        paused = judge("contest", "pause", "cup", "--why", "lunch")
        assert (0, True) == (paused.code, paused.out.startswith("cup is paused; "))
        out, err = process.communicate()

    assert 0 == process.returncode
    assert "judge: cup is paused; judge contest resume cup/contest.toml resumes it" in err
    done = len(out.splitlines())
    assert {"done": done, "pending": 8 - done} == _counts(judge)
    still = judge("contest", "run", "cup", "--json")
    assert (0, "") == (still.code, still.out)
    assert 0 == judge("contest", "resume", "cup").code
    with running(tmp_path, "cup", *ONE) as process:
        thinking(client, process, seat=None)
        mine = [process.pid, *workers(process.pid)]
        os.killpg(process.pid, signal.SIGINT)
        assert "finishing the running games" in line(process)["note"]
        out, err = process.communicate()

    ended = [json.loads(one) for one in out.splitlines()]
    assert (0, {"accepted"}) == (process.returncode, {each["state"] for each in ended})
    assert min(each["game"] for each in ended) > done
    assert f"judge: to continue: {GO_ON}/contest.toml" in err
    assert "Traceback" not in err
    assert [] == left(mine)
    done += len(ended)
    assert {"done": done, "pending": 8 - done} == _counts(judge)
    assert "paused: lunch" in judge("contest", "journal", "cup").out


@pytest.mark.docker
@pytest.mark.parametrize("number", [signal.SIGINT, *of_evidence(signal.SIGTERM, signal.SIGHUP)])
def test_second_ctrl_c_and_other_signals_abandon_running_games(
    judge: Judge, client: docker.DockerClient, tmp_path: Path, number: signal.Signals
) -> None:
    slow_contest(tmp_path / "cup")
    with running(tmp_path, "cup") as process:
        thinking(client, process, seat=None)
        mine = [process.pid, *workers(process.pid)]
        if number == signal.SIGINT:
            os.killpg(process.pid, number)
            line(process)
        os.killpg(process.pid, number)
        out, err = process.communicate()

    if number == signal.SIGINT:
        assert 0 == process.returncode
        assert "abandoning the running games; they will be played again" in out
        assert f"judge: to continue: {GO_ON}/contest.toml" in err
    else:
        assert (143, "") == (process.returncode, out)
    assert (number == signal.SIGHUP) == ("the terminal was closed" in err)
    assert "Traceback" not in err
    assert [] == left(mine)
    ran = judge("contest", "run", "cup", "--json")
    assert (0, {1, 2}) == (ran.code, {each["game"] for each in lines(ran)})
    assert "abandoned: " in judge("contest", "journal", "cup").out


@pytest.mark.docker
def test_ctrl_c_before_the_first_game_costs_nothing(judge: Judge, tmp_path: Path) -> None:
    """The worker is starting up, and hears the Ctrl-C of a terminal too."""
    slow_contest(tmp_path / "cup")
    with running(tmp_path, "cup") as process:
        while len(workers(process.pid)) < 4:  # beside it the recorder of events, what forks both, and what cleans up
            assert process.poll() is None
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate()

    assert "Traceback" not in err
    assert "void" not in {json.loads(one).get("state") for one in out.splitlines()}, out
    assert {0} == {process.returncode}


@pytest.mark.docker
def test_stopped_contest_is_reported_and_continues_when_the_organiser_resumes_it(judge: Judge, tmp_path: Path) -> None:
    """tests/contest/test_runner.py has what stops a contest."""
    cup = write_contest(tmp_path / "cup", ["house-instant", "house-instant"], games=1)
    assert 0 == judge("contest", "run", "cup", "--json").code
    judge("contest", "void", "1", "cup", "--why", "once more")
    with closing(open_store(load_plan(cup))) as store:
        issued = store.issue("cup", "here")
        assert issued is not None
        store.void(issued.id, issued.attempt, "the Engine was gone", None, allowed=1)
        store.set_state("cup", Stopped(issued.first, issued.second, 3, "the Engine was gone"))

    stopped = judge("contest", "run", "cup", "--json")
    assert (1, "") == (stopped.code, stopped.out)
    assert "judge: cup is stopped: agent-1 - agent-2: void 3 times in a row: " in stopped.err
    assert "fix it, then judge contest resume cup/contest.toml and judge contest run" in stopped.err
    assert {"held": 1} == _counts(judge)
    assert "cup: stopped, 0 of 1" in judge("contest", "status", "cup").out
    resumed = judge("contest", "resume", "cup", "--why", "the Engine runs")
    assert (0, True) == (resumed.code, "1 held games are played again" in resumed.out)
    ran = judge("contest", "run", "cup", "--json")
    assert (0, [(1, 3)]) == (ran.code, [(each["game"], each["attempt"]) for each in lines(ran)])


@pytest.mark.docker
def test_files_changed_since_the_start_are_reported_or_refused(judge: Judge, tmp_path: Path) -> None:
    cup = write_contest(tmp_path / "cup", ["house-instant", "house-instant"], games=1)
    assert 0 == judge("contest", "run", "cup", "--json").code
    toml = cup / "contest.toml"
    toml.write_text(toml.read_text() + "# more to come\n")
    judge("contest", "void", "1", "cup", "--why", "once more")

    engine = create_engine(f"sqlite:///{cup / 'contest.db'}")
    with engine.begin() as connection:
        plan = json.loads(str(connection.scalar(text("SELECT document FROM contests"))))
        plan["images"]["native"] = {"id": f"sha256:{'0' * 64}", "content": "0" * 64}
        connection.execute(text("UPDATE contests SET document = :document"), {"document": json.dumps(plan)})
    engine.dispose()
    ran = judge("contest", "run", "cup", "--json")
    assert (2, "") == (ran.code, ran.out)
    assert "the runtimes native were rebuilt since cup was locked in; accept them with" in ran.err
    accepted = judge("contest", "run", "cup", "--json", "--accept-images")
    assert (0, 1) == (accepted.code, len(lines(accepted))), accepted.err
    assert "was changed since the contest was locked in; the changes have no effect" in accepted.err
    assert "images: built anew since the start: native" in judge("contest", "journal", "cup").out

    judge("contest", "void", "1", "cup", "--why", "once more")
    (agent,) = (path for path in (cup / "agents").iterdir() if path.is_dir())
    program = next(path for path in agent.iterdir() if path.name != "agent.toml")
    shutil.copy(program, tmp_path / "kept")
    program.write_bytes(program.read_bytes() + b"better")
    refused = judge("contest", "run", "cup", "--json", "--accept-images")
    assert (2, "") == (refused.code, refused.out)
    assert f"{agent.name}: the agent's files are missing or were changed" in refused.err
    assert {"pending": 1} == _counts(judge)
    shutil.copy(tmp_path / "kept", program)
    assert 0 == judge("contest", "run", "cup", "--json", "--accept-images").code


def test_a_wrong_file_is_named_with_its_line_by_every_command(judge: Judge, tmp_path: Path) -> None:
    toml = write_contest(tmp_path / "cup", ["house-instant"]) / "contest.toml"
    toml.write_text(toml.read_text().replace("games = 2", "gmaes = 2"))

    for command in ("plan", "run", "status", "announce"):
        ran = judge("contest", command, "cup")
        assert (2, "") == (ran.code, ran.out)
        assert "line 7: unknown key 'format.gmaes'; did you mean 'games'?" in ran.err
        assert ran.err.startswith("judge: cup/contest.toml")
    assert [tmp_path / "cup" / "contest.toml"] == list((tmp_path / "cup").iterdir())


REFUSES = "ERROR \x1b]0;owned\x07 [red]no[/]"


@pytest.mark.docker
@pytest.mark.parametrize("size", [(80, 24), pytest.param((140, 40), marks=evidence)], ids=["80x24", "140x40"])
def test_a_panel_shows_how_far_it_is_and_ctrl_c_ends_it(tmp_path: Path, size: tuple[int, int]) -> None:
    """An agent refuses to start, in words that a terminal would obey."""
    cup = tmp_path / "cup"
    cup.mkdir()
    write_brain(cup, "slow", SLOW.format(pause=2))
    write_brain(cup, "refuses", start=REFUSES)
    write_contest(cup, ["slow.py", "refuses.py", "slow.py"], games=1)
    terminal = Terminal([*JUDGE, "contest", "run", "cup", "--workers", "1"], tmp_path, *size)

    terminal.until(lambda text: re.search("cup  0 of 3 games, [12] running", text) is not None)
    parts = (
        r"^cup  2 of 3 games, 1 running, [\d.]+ a minute",
        r"^ +1 +agent-2 - agent-3 +0-1 ",
        r"^ +2 +agent-1 - agent-2 +1-0 ",
        r"^failures since the start: agent-2 2",
        r"^Ctrl-C finishes the running games and stops",
    )
    terminal.until(lambda text: all(re.search(part, text, re.MULTILINE) for part in parts))
    terminal.type("\x03")
    terminal.until(lambda text: "finishing the running games; Ctrl-C again" in text)
    end = terminal.to_the_end(0)

    assert "cup  3 of 3 games, 0 running" in end
    assert "judge: to continue: judge contest run cup/contest.toml" in end
    assert b"\x1b]0;owned" not in terminal.written
    assert b"\x1b[?25h" in terminal.written[-200:]
