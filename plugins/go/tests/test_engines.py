"""gnugo of Debian's packages passes `judge check` in a container, and agrees with the score of its games."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import judge_go
import pytest

PROGRAM = shutil.which("gnugo", path="/usr/games:/usr/local/bin:/usr/bin")

pytestmark = [
    pytest.mark.engines,
    pytest.mark.skipif(os.environ.get("JUDGE_ENGINES") != "yes", reason="./scripts/test --engines runs them"),
    pytest.mark.skipif(PROGRAM is None, reason="gnugo is missing: apt-get install gnugo"),
]

POLICY = f"{Path(judge_go.__file__).parent / 'go.toml'}:fast"
LOADER = "/lib64/ld-linux-x86-64.so.2"
IN_IMAGE = re.compile(r"lib(c|m|dl|pthread)\.so\.[0-9]+")
RULES = ["--chinese-rules", "--positional-superko", "--capture-all-dead"]


def judge(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "judge.cli", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{arguments}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def make_agent(folder: Path, level: int, *options: str) -> Path:
    """A folder with the program, the libraries that the image lacks, and its manifest."""
    assert PROGRAM is not None
    agent = folder / f"gnugo-{level}"
    agent.mkdir()
    shutil.copy(PROGRAM, agent / "engine")
    linked = subprocess.run(["ldd", PROGRAM], check=True, capture_output=True, text=True).stdout
    for name, path in re.findall(r"(\S+) => (/\S+)", linked):
        if not IN_IMAGE.fullmatch(name):
            shutil.copy(path, agent / name)
    words = [LOADER, "--library-path", "/agent:.", "./engine", "--mode", "gtp", "--level", str(level), *RULES, *options]
    command = json.dumps(words)
    (agent / "agent.toml").write_text(f'name = "{agent.name}"\ncommand = {command}\nprotocol = "gtp"\n')
    return agent


def gnugo(*commands: str) -> list[str]:
    """The answers of gnugo, which counts with the judge's rules."""
    assert PROGRAM is not None
    done = subprocess.run(
        [PROGRAM, "--mode", "gtp", *RULES], input="\n".join(commands), check=True, capture_output=True, text=True
    )
    return [answer.strip() for answer in done.stdout.split("\n\n") if answer.strip()]


def float_result(result: str) -> str:
    """The notation of gnugo: B+12.0; 0 for a draw."""
    winner, plus, points = result.partition("+")
    return f"{winner}+{float(points):.1f}" if plus else result


def test_gnugo_passes_the_check(tmp_path: Path) -> None:
    agent = make_agent(tmp_path, 1)
    findings = json.loads(judge(tmp_path, "check", str(agent), "--policy", POLICY, "--json"))["findings"]

    assert [] == [finding for finding in findings if finding["grade"] != "pass"]
    assert {"begin", "capture", "ko", "pass", "game-second"} <= {finding["check"] for finding in findings}


def test_gnugo_agrees_with_the_score_of_its_games(tmp_path: Path) -> None:
    agents = [str(make_agent(tmp_path, level, "--never-resign")) for level in (1, 2)]
    games = json.loads(judge(tmp_path, "match", *agents, "--policy", POLICY, "--games", "2", "--json"))["games"]

    assert len(games) == 2
    for game in games:
        path = tmp_path / game["record"]
        record = json.loads(path.read_text())["record"]
        assert record["reason"].startswith("two passes: ")
        moves = [f"play {('black', 'white')[ply['seat']]} {ply['said']}" for ply in record["plies"]]
        played = gnugo("boardsize 9", "clear_board", "komi 7", *moves, "final_score")
        assert not [answer for answer in played if answer.startswith("?")]
        for score in (played[-1], gnugo(f"loadsgf {path.with_suffix('.sgf')}", "final_score")[-1]):
            assert f"= {float_result(record['result'])}" == score
    judge(tmp_path, "verify", *(game["record"] for game in games))


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="pondering needs two cores")
def test_gnugo_that_is_not_frozen_waits_for_its_next_command(tmp_path: Path) -> None:
    """An engine that searches in its own thread plays it, with the same policy."""
    thinker = tmp_path / "thinker"
    shutil.copytree(Path(judge_go.__file__).parent / "starter", thinker)
    code = (thinker / "starter.py").read_text()
    search = "import threading\nthreading.Thread(target=exec, args=('while True: pass',), daemon=True).start()\n"
    (thinker / "starter.py").write_text(code.replace("def main():", f"{search}\n\ndef main():"))
    agents = [str(make_agent(tmp_path, 1)), str(thinker)]
    options = ["--set", "clock.ponder=true", "--set", "game.options.max_moves=40", "--games", "1", "--json"]
    (game,) = json.loads(judge(tmp_path, "match", *agents, "--policy", POLICY, *options))["games"]
    record = json.loads((tmp_path / game["record"]).read_text())["record"]
    waiting, thinking = record["seats"]

    assert record["verdict"] in ("win", "draw"), record["reason"]
    assert len(record["placement"]["seat_cores"]) == 2
    assert thinking["cpu_ms"] > 1.5 * thinking["charged_ms"]
    assert waiting["cpu_ms"] <= 1.1 * waiting["charged_ms"] + 500
    assert "ok: " in judge(tmp_path, "verify", game["record"])
