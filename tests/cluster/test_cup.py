"""A cup on a cluster: its leagues play on the same workers."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.host.build_images import build_images
from tests.cli.conftest import SMALL, Judge
from tests.cluster.machines import Machines

LEAGUE = f"""
[[leagues]]
name = "{{name}}"
policy = "gomocup-fastgame"
change = {json.dumps([*SMALL, "clock.turn_ms=4000"])}
format = {{{{ name = "round-robin", games = 2 }}}}
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
path = "house-stamp"
leagues = ["one", "two"]
"""


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    found = Machines(tmp_path)
    yield found
    found.stop()


@pytest.mark.docker
def test_leagues_of_a_cup_are_played_by_the_workers_of_one_scheduler(
    machines: Machines, judge: Judge, tmp_path: Path
) -> None:
    build_images(["native", "keeper"])
    machines.fix("w1")
    machines.wait_for_scheduler()
    (tmp_path / "cup").mkdir()
    (tmp_path / "cup/cup.toml").write_text(CUP)

    ran = judge("cup", "run", "cup", "--cluster", machines.address)

    logs = "".join(path.read_text() for path in (tmp_path / "cup").glob("*/run.log"))
    assert 0 == ran.code, ran.err + logs
    leagues = json.loads(judge("cup", "status", "cup", "--json").out)["leagues"]
    played = {name: [(host["name"], host["played"]) for host in league["hosts"]] for name, league in leagues.items()}
    assert played == {name: [("w1", 2)] for name in ("one", "two", "three")}
