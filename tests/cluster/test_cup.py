"""A cup on a cluster: its leagues play on the same workers, of which one is killed."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.host.build_images import build_images
from judge.host.house_agents import build_house_agents
from tests.cli.brains import write_brain
from tests.cli.conftest import SMALL, Judge
from tests.cli.contests import SLOW
from tests.cluster.machines import Machines
from tests.forked import ForkedProcess
from tests.patience import until
from tests.verify.second_opinion import second_opinion

LEAGUES = ("one", "two", "three")

LEAGUE = f"""
[[leagues]]
name = "{{name}}"
policy = "gomocup-fastgame"
change = {json.dumps([*SMALL, "clock.turn_ms=4000", "clock.starved_share=1"])}
format = {{{{ name = "round-robin", games = 1 }}}}
{{more}}
"""

CUP = f"""
name = "cup"
{LEAGUE.format(name="one", more="")}
{LEAGUE.format(name="two", more="")}
{LEAGUE.format(name="three", more='after = "one"')}
[[entries]]
path = "house-instant"
leagues = ["one", "two"]

[[entries]]
path = "slow.py"
leagues = ["one", "two"]
"""


def kill_during_a_game(worker: subprocess.Popen[bytes], is_playing: Callable[[], bool]) -> None:
    """A stopped worker cannot end its game between the look and the kill."""
    while True:
        until(is_playing, "a game of the worker")
        worker.send_signal(signal.SIGSTOP)
        if is_playing():
            break
        worker.send_signal(signal.SIGCONT)
    worker.kill()
    worker.wait()


@pytest.mark.docker
def test_leagues_of_a_cup_are_played_by_one_cluster(machines: Machines, judge: Judge, tmp_path: Path) -> None:
    """One of them is killed, and both verifiers accept the export."""
    build_images(["native", "python", "keeper"])
    build_house_agents()
    machines.fix("killed")
    machines.wait_for_scheduler()
    folder = tmp_path / "cup"
    folder.mkdir()
    write_brain(folder, "slow", SLOW.format(pause=2))
    judge("contest", "key", "cup/organiser.key")
    (folder / "cup.toml").write_text(CUP)

    def hosts() -> dict[str, dict[str, dict[str, int]]]:
        leagues = judge("contest", "status", "cup", "--json").document["leagues"]
        return {name: {host["name"]: host for host in league.get("hosts", ())} for name, league in leagues.items()}

    def is_playing() -> bool:
        return any(host["running"] for league in hosts().values() for name, host in league.items() if name == "killed")

    words = [sys.executable, "-m", "judge.cli", "contest", "run", "cup", "--cluster", machines.address]
    with ForkedProcess(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as run:
        kill_during_a_game(machines.workers["killed"], is_playing)
        machines.start_worker("w1")
        _, said = run.communicate()
    assert 0 == run.returncode, said + "".join(path.read_text() for path in folder.glob("*/run.log"))
    played = {name: [(host, row["played"]) for host, row in league.items()] for name, league in hosts().items()}
    assert set(LEAGUES) == set(played)
    assert all(("w1", 1) in rows for rows in played.values()), played
    assert all(("killed", 1) not in rows for rows in played.values()), played

    exported = judge("contest", "export", "public", "cup", "--language", "en")
    assert 0 == exported.code, exported.err
    verified = judge("contest", "verify", "public", "--key", "cup/organiser.pem")
    assert 0 == verified.code, verified.out + verified.err
    for name in LEAGUES:
        assert [] == second_opinion(tmp_path / "public" / name, folder / "organiser.pem")
