"""A game and a protocol that the judge does not have come in a wheel, and every command knows them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import forked
from tests.cli.terminal import Terminal, is_in_order

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("plugin")]

SOURCE = Path(__file__).parent / "connect_four"
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory in which the plugin's wheel is installed."""
    work = tmp_path_factory.mktemp("plugin")
    shutil.copytree(SOURCE, work / "source")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    options = ["--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "wheel", *options, "-w", work, work / "source"], check=True)
    [wheel] = work.glob("*.whl")
    subprocess.run([*pip, "install", *options, "--target", work / "site", wheel], check=True)
    return work / "site"


@pytest.fixture
def here(site: Path, tmp_path: Path) -> Path:
    """A directory with the plugin's policy and its agent."""
    shutil.copy(site / "connect_four/connect-four.toml", tmp_path)
    shutil.copytree(site / "connect_four/example", tmp_path / "mine")
    manifest = tmp_path / "mine/agent.toml"
    manifest.write_text(manifest.read_text().replace('author = "judge"', 'author = "Ann"'))
    return tmp_path


def judge(site: Path, here: Path, *arguments: str, code: int = 0, typed: str = "") -> str:
    """The stdout of a command with the plugin on its path; of one that fails with `code`, its stderr."""
    command = [sys.executable, "-m", "judge.cli", *arguments]
    environment = os.environ | {"PYTHONPATH": f"{site}:{ROOT}"}
    done = forked.run(command, cwd=here, env=environment, input=typed, text=True)
    assert done.returncode == code, f"{arguments}\n{done.stdout}\n{done.stderr}"
    output: str = done.stdout if code == 0 else done.stderr
    return output


MATCH = ("match", "mine", "mine", "--policy", "connect-four.toml", "--json")


def test_match_in_processes_is_shown_drawn_and_verified(site: Path, here: Path) -> None:
    output = judge(site, here, *MATCH, "--box", "process", "--games", "2", "--opening", "4 4")
    games = json.loads(output)["games"]
    record = games[0]["record"]

    assert [("win", "four in a line")] * 2 == [(game["verdict"], game["reason"]) for game in games]
    assert "4 4 4 4 3 3 3 3 3 3 5 2 6\n" == (here / record).with_suffix(".c4").read_text()
    assert "again.c4: 1 game" in judge(site, here, "convert", record, "--to", "c4", "-o", "again.c4")
    assert (here / record).with_suffix(".c4").read_bytes() == (here / "again.c4").read_bytes()
    assert "ok: win" in judge(site, here, "verify", record)
    assert "15. column 6" in judge(site, here, "show", record)
    judge(site, here, "show", record, "--ply", "5", "--svg", "position.svg")
    assert "5. column 4" in (here / "position.svg").read_text()


def test_openings_of_a_file_come_again_mirrored(site: Path, here: Path) -> None:
    (here / "openings.txt").write_text("1 2  # the edge\n")
    arguments = ("--opening", "openings.txt", "--transform", "--games", "4", "--box", "process")
    games = json.loads(judge(site, here, *MATCH, *arguments))["games"]
    specs = [json.loads((here / game["record"]).read_text())["record"]["spec"] for game in games]

    assert [[0, 0], [1, 0]] == specs[0]["opening"] == specs[1]["opening"]
    assert [[6, 0], [5, 0]] == specs[2]["opening"] == specs[3]["opening"]


def test_errors_are_reported_in_the_games_own_words(site: Path, here: Path) -> None:
    game = ("match", "mine", "mine", "--policy", "connect-four.toml", "--box", "process")

    assert "'9' is no column" in judge(site, here, *game, "--opening", "9", code=2)
    option = ("--set", "game.options.width=9")
    assert "has no option 'width'" in judge(site, here, *game, *option, code=2)
    output = judge(site, here, *game, "--set", "game.protocol=qchess", code=2)
    assert "the protocol qchess carries quantum-chess, not connect-four; connect-four is played in drop" in output


def test_a_person_plays_line_by_line(site: Path, here: Path) -> None:
    game = ("match", "me", "mine", "--policy", "connect-four.toml", "--box", "process")
    output = judge(site, here, *game, typed="?\nten\n9\n1\n1\n1\nresign\n")

    assert "a column: 1 to 7" in output
    assert "'ten' is no column: type a number from 1 to 7; again:" in output
    assert "there is no column 9; again:" in output
    assert "example-drop wins" in output
    (record,) = (here / "records").glob("*.json")
    assert "ok: " in judge(site, here, "verify", str(record))


def test_a_person_plays_on_a_terminal_by_number_and_by_cursor(site: Path, here: Path) -> None:
    command = [sys.executable, "-m", "judge.cli", "match", "me", "mine", "--policy", "connect-four.toml"]
    path = {"PYTHONPATH": f"{site}:{ROOT}"}
    terminal = Terminal([*command, "--box", "process", "--set", "clock.match_ms=0"], here, 80, 24, path)

    terminal.until(lambda text: "you: drop a disc" in text)
    terminal.type("?")
    terminal.until(lambda text: "a column: 1 to 7" in text)
    terminal.type("?1\r")
    terminal.until(lambda text: "column 1" in text and text.count("column") > 1 and "you: drop a disc" in text)
    # The cursor begins in the middle, in column 4; a step to the left is column 3.
    terminal.type("\x1b[A\x1b[D")
    terminal.until(lambda text: "<" in text)
    terminal.type("\r")
    terminal.until(lambda text: "column 3" in text and "you: drop a disc" in text)
    terminal.type("resign\r")
    terminal.to_the_end()

    assert 0 == terminal.code
    assert is_in_order(terminal)
    (record,) = (here / "records").glob("*.json")
    said = [ply["said"] for ply in json.loads(record.read_text())["record"]["plies"] if ply["seat"] == 0]
    assert ["1", "3", "resign"] == said


def test_without_the_wheel_the_game_is_unknown(here: Path) -> None:
    game = ("match", "mine", "mine", "--policy", "connect-four.toml")

    assert "no protocol is called 'drop'" in judge(here, here, *game, code=2)


@pytest.mark.docker
def test_match_in_containers(site: Path, here: Path) -> None:
    games = json.loads(judge(site, here, *MATCH))["games"]
    record = json.loads((here / games[0]["record"]).read_text())["record"]

    assert "win" == games[0]["verdict"]
    assert ["docker-pipes"] * 2 == record["placement"]["box"]


@pytest.mark.docker
def test_a_check_asks_the_game_s_questions(site: Path, here: Path) -> None:
    check = ("check", "mine", "--policy", "connect-four.toml", "--json")
    findings = json.loads(judge(site, here, *check))["findings"]

    names = ["start", "begin", "win", "block", "time", "memory", "quiet", "end"]
    assert [*names, "game-first", "game-second"] == [finding["check"] for finding in findings]
    assert {"pass"} == {finding["grade"] for finding in findings}


@pytest.mark.docker
def test_check_finds_agents_that_do_not_block(site: Path, here: Path) -> None:
    agent = here / "mine/example-drop.py"
    text = agent.read_text()
    agent.write_text(text.replace("if any(wins", "if False and any(wins"))
    assert text != agent.read_text()

    check = ("check", "mine", "--policy", "connect-four.toml", "--json")
    findings = {f["check"]: f for f in json.loads(judge(site, here, *check))["findings"]}

    assert "warning" == findings["block"]["grade"]
    what = "the opponent has three: it answered column 4, wanted column 1"
    assert what == findings["block"]["evidence"]


@pytest.mark.docker
def test_a_contest_is_played_published_and_verified(site: Path, here: Path) -> None:
    cup = here / "cup"
    cup.mkdir()
    agents = "".join(f'[[agents]]\npath = "../mine"\nname = "{name}"\n' for name in ("one", "two"))
    head = 'name = "cup"\npolicy = "../connect-four.toml"\n[format]\nname = "round-robin"\ngames = 2\n'
    (cup / "contest.toml").write_text(head + agents)

    judge(site, here, "contest", "run", "cup")
    judge(site, here, "contest", "key", "cup/organiser.key")
    judge(site, here, "contest", "export", "public", "cup")

    assert "public: ok: cup, 2 games replayed" in judge(site, here, "contest", "verify", "public")
    page = (here / "public/games/00001.html").read_text()
    assert "four in a line" in page
    assert "<svg" in page
    assert "first" in page
    assert "../viewer.js" in page
    assert '[White "two"]' in (here / "public/games.pgn").read_text()


def test_no_line_of_the_judge_knows_the_game() -> None:
    for path in (ROOT / "judge").rglob("*.py"):
        assert "connect_four" not in path.read_text().lower(), path
        assert "connect-four" not in path.read_text().lower(), path
