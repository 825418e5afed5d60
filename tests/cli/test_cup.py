"""A cup as an organiser uses it: three leagues of house agents are planned, played, killed, and published."""

import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from judge.base.procfs import started_ticks
from judge.contest.contest import Contest, open_store
from judge.contest.plan import load_plan
from judge.contest.run_lock import player_of
from judge.contest.slots import slots_on_host
from judge.cup.plan import load_cup
from judge.host.build_images import build_images
from judge.record.spec import RecordFile
from judge.store.files import Files
from tests.cli.conftest import TINY, Judge
from tests.cli.contests import left, workers
from tests.cli.contests import running as playing_alone
from tests.examples import evidence
from tests.forked import ForkedProcess
from tests.patience import PATIENCE_S

pytestmark = [pytest.mark.docker]

ROOT = Path(__file__).parents[2]

CHANGE = json.dumps([*TINY, "clock.turn_ms=2000"])

CUP = f"""
name = "cup"
about = "Three leagues"
entries = [
  {{ path = "house-instant", leagues = ["fast", "second"] }},
  {{ path = "house-stamp", leagues = ["fast", "second"] }},
  {{ path = "house-instant", name = "holder", leagues = ["fast", "first"] }},
]

[[machines]]
name = "one"
cores = 2

[[leagues]]
name = "fast"
about = "Fast games"
policy = "gomocup-fastgame"
change = {CHANGE}
format = {{ name = "round-robin", games = 2 }}

[[leagues]]
name = "second"
policy = "gomocup-freestyle"
change = {CHANGE}
format = {{ name = "round-robin", games = 1 }}
medals = false

[[leagues]]
name = "first"
policy = "gomocup-freestyle"
change = {CHANGE}
format = {{ name = "round-robin", games = 1 }}
after = "second"
promoted = 1
"""

_BEFORE, _, _AFTER = CUP.partition('[[leagues]]\nname = "fast"')
TWO_LEAGUES = (_BEFORE + _AFTER[_AFTER.index("[[leagues]]") :]).replace('"fast", ', "")

GAMES = {"fast": 6, "second": 1, "first": 1}


@pytest.fixture(scope="module", autouse=True)
def images() -> None:
    build_images(["native", "python", "keeper"])


def done(judge: Judge) -> dict[str, int]:
    """Games with a result of each league that has begun."""
    leagues = judge("contest", "status", "cup", "--json", code=0).document["leagues"]
    return {name: league["games"]["done"] for name, league in leagues.items() if "games" in league}


def write_cup(folder: Path, text: str) -> None:
    (folder / "cup").mkdir()
    (folder / "cup/cup.toml").write_text(text)


@contextmanager
def running(folder: Path) -> Iterator[ForkedProcess[bytes]]:
    command = [sys.executable, "-m", "judge.cli", "contest", "run", "cup", "--workers", "1"]
    with ForkedProcess[bytes](command, cwd=folder, start_new_session=True) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


@pytest.mark.long
def test_cup_is_planned_played_killed_continued_exported_and_verified(judge: Judge, tmp_path: Path) -> None:
    judge("contest", "init", "cup", "--cup", code=0)
    (tmp_path / "cup/cup.toml").write_text(CUP)
    planned = judge("contest", "plan", "cup", "--json", code=0).document
    assert {"fast": (3, 3, 6), "second": (2, 1, 1), "first": (2, 1, 1)} == {
        each["league"]: (each["agents"], each["pairs"], each["games"]) for each in planned["leagues"]
    }
    assert 2 == planned["cores"]
    assert ["cup.toml"] == [path.name for path in (tmp_path / "cup").iterdir()]
    judge("contest", "key", "cup/organiser.key")

    with running(tmp_path) as process:
        deadline = time.monotonic() + PATIENCE_S
        while not sum(done(judge).values()):
            assert process.poll() is None
            assert time.monotonic() < deadline
        leagues = workers(process.pid)
        mine = [*leagues, *(pid for league in leagues for pid in workers(league))]
        process.kill()
        process.wait()
    assert 0 < sum(done(judge).values()) < sum(GAMES.values())
    while any(started_ticks(pid) is not None for pid in mine):
        assert time.monotonic() < deadline

    ran = judge("contest", "run", "cup", "--workers", "1", code=0)
    assert "judge: cup is over; judge contest standings cup/cup.toml" in ran.err
    assert GAMES == done(judge)
    assert [] == left(mine)
    assert "3 of 3 leagues over" in judge("contest", "status", "cup").out
    again = judge("contest", "run", "cup")
    assert (0, True) == (again.code, "cup is over" in again.err)

    results = judge("contest", "standings", "cup", "--json", code=0).document
    places = {league["name"]: league["places"] for league in results["leagues"]}
    best = places["second"][0][1]
    assert {"holder", best} == {agent for _, agent in places["first"]}
    assert 6 >= sum(each["gold"] + each["silver"] + each["bronze"] for each in results["medals"]) >= 5
    shown = judge("contest", "standings", "cup").out
    assert "cup-fast" in shown
    assert "medals" in shown

    # tests/corpus compares the pages, tests/verify/test_cups.py has forgeries.
    judge("contest", "export", "public", "cup", "--language", "en", "--language", "cs", code=0)
    public = tmp_path / "public"
    assert {"fast", "second", "first"} == {path.name for path in (tmp_path / "public-private").iterdir()}
    index = (public / "index.html").read_text()
    for words in ('href="fast/index.html"', "Three leagues", "Fast games", "Gold"):
        assert words in index
    assert 'href="../../../cs/index.html"' in (public / "fast/cs/games/00001.html").read_text()
    assert results["medals"] == json.loads((public / "cup.json").read_text())["medals"]

    verified = judge("contest", "verify", "public", "--key", "cup/organiser.pem")
    assert (0, "") == (verified.code, verified.err)
    assert verified.out.endswith("public: ok: cup, 3 leagues, medals computed again\n")
    assert "league   fast: 6 games replayed, over, 0 problems" in verified.out
    assert 3 == judge("contest", "verify", "public", "--key", "cup/organiser.pem", "--sample", "1").code
    assert 0 == judge("verify", "public", "public/fast").code
    judge("contest", "verify", "public/fast", "--key", "cup/organiser.pem", code=0)


def test_new_cup_is_a_valid_file_that_lacks_entries(judge: Judge) -> None:
    assert 0 == judge("contest", "init", "spring", "--cup").code

    planned = judge("contest", "plan", "spring")

    assert (1, "") == (planned.code, planned.err)
    (missing,) = [line for line in planned.out.splitlines() if line.startswith(("  missing", "  warning"))]
    assert "spring/cup.toml: leagues.freestyle-2: " in missing
    assert "needs 2 to 1000 agents, in [[entries]] or submitted; there are 0" in missing
    assert "spring: 0 of 2 leagues over" in judge("contest", "status", "spring").out
    assert "make one with: judge contest key" in judge("contest", "export", "public", "spring").err


def test_cup_with_a_league_that_an_entry_cannot_play_writes_nothing(judge: Judge, tmp_path: Path) -> None:
    text = CUP.replace('name = "second"\npolicy = "gomocup-freestyle"', 'name = "second"\npolicy = "stratego-2012"')
    write_cup(tmp_path, text.replace(f"change = {CHANGE}\n", ""))

    planned = judge("contest", "plan", "cup", code=1)
    ran = judge("contest", "run", "cup", code=2)

    for words in (planned.out, ran.err):
        assert "cup/cup.toml: leagues.second: " in words
    assert ["cup.toml"] == [path.name for path in (tmp_path / "cup").iterdir()]


def test_ctrl_c_finishes_the_running_games_of_all_leagues(judge: Judge, tmp_path: Path) -> None:
    """Of two: the third one does not begin before the second one has played its games."""
    write_cup(tmp_path, CUP.replace("games = 1 }\nmedals", "games = 6 }\nmedals"))
    with running(tmp_path) as process:
        while not sum(done(judge).values()):
            assert process.poll() is None
        slot = slots_on_host(1)[0]
        assert set(slot.judge_cores) == os.sched_getaffinity(process.pid)
        os.kill(process.pid, signal.SIGINT)
        assert 0 == process.wait()

    with closing(open_store(planned := load_plan(tmp_path / "cup/fast"))) as store:
        results = store.results(planned.name)
    records = [RecordFile.model_validate_json(Files(planned.files).get(result.record)).record for result in results]
    assert {slot.cores} == {record.placement.slot_cores for record in records}
    table = judge("contest", "standings", "cup").out.rpartition("provisional")[2]
    assert "fast" in table, table
    leagues = judge("contest", "status", "cup", "--json", code=0).document["leagues"]
    assert 0 == sum(league["games"]["running"] for league in leagues.values() if "games" in league)
    assert 0 < sum(done(judge).values()) < sum(GAMES.values())


@evidence
def test_leagues_share_a_core_game_by_game(judge: Judge, tmp_path: Path) -> None:
    """The kernel gives the core's lock to the game that has waited longest."""
    names = ("a", "b", "c")
    league = 'policy = "gomocup-fastgame"\nformat = { name = "round-robin", games = 3 }\n'
    text = 'name = "cup"\n' + "".join(f'[[leagues]]\nname = "{name}"\nchange = {CHANGE}\n{league}' for name in names)
    for agent in ("house-instant", "house-stamp"):
        text += f'[[entries]]\npath = "{agent}"\nleagues = {json.dumps(names)}\n'
    write_cup(tmp_path, text)

    judge("contest", "run", "cup", "--workers", "1", code=0)

    results = []
    for name in names:
        journal = judge("contest", "journal", f"cup/{name}", "--json").document
        results += [(line["at"], name) for line in journal if line["event"] == "accepted"]
    order = [name for _, name in sorted(results)]
    assert 9 == len(order)
    # A league that begins a moment earlier may play two games before the others wait.
    assert all(2 >= order[at : at + 3].count(name) for at in range(7) for name in names), order


@evidence
def test_submitted_agent_is_promoted_with_its_files(judge: Judge, tmp_path: Path) -> None:
    stamp = '  { path = "house-stamp", leagues = ["second"] },\n'
    write_cup(tmp_path, TWO_LEAGUES.replace("promoted = 1", "promoted = 2").replace(stamp, ""))
    archive = shutil.make_archive(str(tmp_path / "mine"), "gztar", ROOT / "images/starter-gomocup-python")
    judge("submit", archive, "cup", "--league", "second", "--name", "newcomer", "--author", "ada", code=0)

    judge("contest", "run", "cup", "--workers", "1", code=0)

    standings = judge("contest", "standings", "cup", "--json", code=0).document
    leagues = {league["name"]: league for league in standings["leagues"]}
    assert {"house-instant", "newcomer"} == {agent for _, agent in leagues["second"]["places"]}
    assert {"holder", "house-instant", "newcomer"} == {agent for _, agent in leagues["first"]["places"]}
    digests = []
    for name in ("second", "first"):
        with closing(open_store(planned := load_plan(tmp_path / "cup" / name))) as store:
            digests.append(Contest(store, planned).snapshot.by_name()["newcomer"].seat.digest)
    assert digests[0] == digests[1]


@evidence
def test_league_waits_for_its_moment_while_another_one_plays(judge: Judge, tmp_path: Path) -> None:
    starts = datetime.now(UTC) + timedelta(seconds=8)
    text = CUP.replace("medals = false", f"contest = {{ starts = {starts.isoformat(timespec='seconds')} }}")
    write_cup(tmp_path, text)

    judge("contest", "run", "cup", "--workers", "1", code=0)

    begun = {}
    for name in ("fast", "second", "first"):
        journal = judge("contest", "journal", f"cup/{name}", "--json").document
        begun[name] = datetime.fromisoformat(next(line["at"] for line in journal if line["event"] == "started"))
    assert begun["fast"] < begun["second"] < begun["first"]
    assert begun["second"] >= starts.replace(microsecond=0)


@evidence
def test_league_that_another_process_plays_is_waited_for(judge: Judge, tmp_path: Path) -> None:
    """As judge serve starts a league at its moment."""
    write_cup(tmp_path, CUP)
    load_cup(tmp_path / "cup").write("fast")
    with playing_alone(tmp_path, "cup/fast", "--workers", "1") as other:
        while player_of(tmp_path / "cup/fast") is None:
            assert other.poll() is None
        ran = judge("contest", "run", "cup", "--workers", "1")
        assert 0 == other.wait()

    assert 0 == ran.code, ran.err
    assert f"waiting: fast: process {other.pid} plays it" in ran.err
    assert GAMES == done(judge)
