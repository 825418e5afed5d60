"""The announcement of a cup: it fixes the leagues, and each league's log begins with it."""

import json
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judge.base.errors import InputError
from judge.cli import app
from judge.contest.begin import announce as announce_contest
from judge.contest.contest import open_store
from judge.contest.plan import load_plan
from judge.cup.plan import load_cup
from judge.store.types import ANNOUNCED
from tests.cup.test_plan import HEAD, ONE, TWO, entry, plan

LEAGUES = HEAD + ONE + TWO + 'after = "one"\npromoted = 2\n'


def announce(folder: Path, text: str) -> str:
    """The digest of the announcement, by the command."""
    (folder / "cup.toml").write_text(text)
    ran = CliRunner().invoke(app, ["contest", "announce", str(folder)])
    assert 0 == ran.exit_code, ran.output
    return next(line for line in ran.stdout.splitlines() if line.startswith("announcement")).split()[1]


def test_log_of_each_league_begins_with_the_announcement_of_all(tmp_path: Path) -> None:
    digest = announce(tmp_path, LEAGUES)

    assert digest == announce(tmp_path, LEAGUES)
    document = json.loads((tmp_path / "announcement.json").read_bytes())
    assert [("one", "cup-one", "", 0), ("two", "cup-two", "one", 2)] == [
        (league["name"], league["contest"], league["after"], league["promoted"]) for league in document["leagues"]
    ]
    for name in ("one", "two"):
        with closing(open_store(planned := load_plan(tmp_path / name))) as store:
            (line,) = store.leaves(planned.name, 0, 10)
        assert (ANNOUNCED, f"league of the cup cup, announcement {digest}") == (line.event, line.text)


@pytest.mark.parametrize(
    ("text", "change"),
    [
        (LEAGUES + ONE.replace("one", "three"), "three was added"),
        (HEAD + ONE, "two was removed"),
        (LEAGUES.replace("gomocup-caro", "gomocup-caro:finals"), "two was changed"),
        (LEAGUES.replace("promoted = 2", "promoted = 3"), "two was changed"),
        (LEAGUES.replace(ONE, ONE + "medals = false\n"), "one was changed"),
        (LEAGUES.replace('policy = "gomocup-fastgame"', 'seed = 1\npolicy = "gomocup-fastgame"'), "one was changed"),
        (LEAGUES.replace(ONE, ONE.replace("}", ", games = 4 }")), "one was changed"),
    ],
)
def test_cup_with_other_leagues_than_announced_is_refused(tmp_path: Path, text: str, change: str) -> None:
    announce(tmp_path, LEAGUES)
    before = {path: path.read_bytes() for path in tmp_path.glob("**/*.[tj]*") if path.is_file()}

    other = plan(tmp_path, text)
    for refused in (other.announce, lambda: other.write("one"), other.refuse_changes):
        with pytest.raises(InputError, match=rf"cup.toml: the leagues differ .*: {change}; restore cup.toml"):
            refused()
    before[tmp_path / "cup.toml"] = text.encode()
    assert before == {path: path.read_bytes() for path in tmp_path.glob("**/*.[tj]*") if path.is_file()}


def test_agents_moments_and_machines_of_an_announced_cup_can_change(tmp_path: Path) -> None:
    digest = announce(tmp_path, LEAGUES)

    moment = "submissions = { closes = 2099-03-01T18:00:00Z }\n"
    machine = '[[machines]]\nname = "one"\ncores = 2\n'
    assert digest == announce(tmp_path, LEAGUES.replace(HEAD, HEAD + moment) + machine + entry("a", "one"))
    assert 1 == len(load_cup(tmp_path).write("one").plan.agents)


def test_next_contest_of_a_league_is_no_league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    announce(tmp_path, LEAGUES)
    monkeypatch.chdir(tmp_path)

    ran = CliRunner().invoke(app, ["contest", "init", "next", "--from", "one"])

    assert 0 == ran.exit_code, ran.output
    assert load_plan(tmp_path / "next").plan.cup is None


def test_league_without_an_announcement_of_the_cup_is_refused(tmp_path: Path) -> None:
    cup = plan(tmp_path, LEAGUES)
    path = cup.write("one").path
    lines = [line for line in path.read_text().splitlines() if not line.startswith("cup =")]
    path.write_text("\n".join(lines))
    with closing(open_store(league := load_plan(path))) as store:
        announce_contest(store, league)

    with pytest.raises(InputError, match=r"one/contest.toml: announced without its cup"):
        cup.announce()
