"""`judge match` and `judge verify`, whole, in real containers: each bad thing has its verdict and leaves nothing."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import docker
import pytest

from judge.host.build_images import build_images
from judge.sandbox.machine.cores import whole_cores
from tests.cli.brains import write_brain
from tests.cli.conftest import QUICK, Judge, orphans
from tests.cli.running import begin, thinking
from tests.examples import evidence, of_evidence
from tests.patience import PATIENCE_S

# A loaded test machine starves agents, which is void, and right: here nobody is starved, whatever else runs.
NOT_STARVED = ("--set", "clock.starved_share=1")
WHOLE_BOARD = ("--set", "game.options.width=20", "--set", "game.options.height=20")
FAST = ("--policy", "gomocup-fastgame", "--json", *QUICK, *NOT_STARVED)

EATS_MEMORY = "x = []\nwhile True: x.append(bytearray(1 << 20))"

# What needs a kernel; tests/conformance/test_gomocup_misbehaviour.py has the misbehaviour of programs.
# name: the trick when a move is due, the verdict, words of the reason
BAD = {
    "exits": ("sys.exit(3)", "crash", "exited with code 3"),
    "kills-itself": ("os.kill(os.getpid(), signal.SIGKILL)", "crash", "signal 9 (SIGKILL)"),
    "burns": ("while True: pass", "turn-time", "did not answer within the turn"),
    "eats-memory": (EATS_MEMORY, "memory", "cap of"),
    "child-eats-memory": (f"subprocess.call([sys.executable, '-c', {EATS_MEMORY!r}])", "memory", "cap of"),
    "floods": ("while True: os.write(1, b'MESSAGE ' + b'x' * 60000)", "output", "the bound of a turn"),
}
ONLY_EVIDENCE = ("exits", "eats-memory")
"""Of the kinds of which another one is also played."""


@pytest.mark.docker
@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("name", [pytest.param(name, marks=[evidence] * (name in ONLY_EVIDENCE)) for name in BAD])
def test_agent_errors_are_agent_faults(judge: Judge, tmp_path: Path, name: str) -> None:
    trick, verdict, words = BAD[name]
    bad = write_brain(tmp_path, name, trick)
    turn = ("--set", f"clock.turn_ms={1000 if verdict == 'turn-time' else 60000}")

    ran = judge("match", bad, "house-instant", *FAST, *turn, "--set", "limits.memory_bytes=33554432", code=0)

    game = ran.games[0]
    assert (verdict, 1) == (game["verdict"], game["winner"])
    assert [verdict, None] == [seat["fault"] for seat in game["seats"]]
    assert words in game["reason"]
    verified = judge("verify", game["record"])
    assert (0, True) == (verified.code, ": ok: " in verified.out), verified.out


SLEEPS_TWICE = """
time.sleep(left_s - 0.006 if len(taken) < 2 else 5)
"""
READS_TIME = """
global left_s
if rest.startswith("time_left "): left_s = int(rest.split()[1]) / 1000 + TOLERANCE_S
"""


@pytest.mark.docker
@pytest.mark.usefixtures("nothing_left")
def test_agent_that_sleeps_in_its_last_milliseconds_is_not_starved(judge: Judge, tmp_path: Path) -> None:
    """Such a time is shorter than the steps by which the kernel counts a processor's use."""
    sleeps = write_brain(tmp_path, "sleeps", SLEEPS_TWICE, "TOLERANCE_S = 1", other=READS_TIME)
    clock = [f"clock.{key}" for key in ("match_ms=1000", "turn_ms=20000", "tolerance_ms=1000")]
    options = (*QUICK, *(word for change in clock for word in ("--set", change)), "--set", "attempts=1")

    ran = judge("match", sleeps, "house-instant", "--policy", "gomocup-fastgame", "--json", *options, code=0)

    assert ("match-time", 1) == (ran.games[0]["verdict"], ran.games[0]["winner"])


@pytest.mark.docker
@pytest.mark.skipif(os.geteuid() != 0, reason="only root has a mount namespace of its own")
@pytest.mark.usefixtures("nothing_left")
def test_slow_thinker_is_late_where_cgroups_are_hidden(tmp_path: Path) -> None:
    """As `ip netns exec` hides them: what it used itself is not taken for what others took of its core."""
    bad = write_brain(tmp_path, "burns", "while True: pass")
    hide = ["unshare", "--mount", "sh", "-c", 'umount --lazy --recursive /sys/fs/cgroup && exec "$@"', "sh"]
    options = ("--policy", "gomocup-fastgame", "--json", *QUICK, "--set", "clock.turn_ms=1500")

    ran = subprocess.run(
        [*hide, sys.executable, "-m", "judge.cli", "match", bad, "house-instant", *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )

    (game,) = json.loads(ran.stdout)["games"]
    assert ("turn-time", 1) == (game["verdict"], game["winner"])
    assert "the Engine's cgroups are hidden" in ran.stderr


@pytest.mark.docker
@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("transport", ["pipes", *of_evidence("attach")])
def test_two_instant_agents_fill_the_board(judge: Judge, tmp_path: Path, transport: str) -> None:
    ran = judge("match", "house-instant", "house-instant", *FAST, *WHOLE_BOARD, "--set", f"box.transport={transport}")

    game = ran.games[0]
    assert ("draw", None, 400) == (game["verdict"], game["winner"], game["moves"])
    record = json.loads((tmp_path / game["record"]).read_text())["record"]
    assert [f"docker-{transport}"] * 2 == record["placement"]["box"]


ENDS_ITS_SEARCH = """
import select
plain = say

def say(text):
    plain(text)
    if "," in text:
        until = time.process_time() + 0.001
        while time.process_time() < until:
            pass
        if select.select([0], [], [], 0)[0]:
            sys.exit("part of a request was taken for the word that ends a search")
"""


@pytest.mark.alone  # within 20 ms of its answer the agent must get a millisecond of a core
@pytest.mark.docker
@pytest.mark.usefixtures("nothing_left")
def test_agent_reading_pending_input_after_its_answer_is_stopped_afterwards(judge: Judge, tmp_path: Path) -> None:
    brain = write_brain(tmp_path, "searches", at_once=ENDS_ITS_SEARCH)

    game = judge("match", brain, "house-instant", *FAST).games[0]

    assert game["verdict"] in ("win", "draw"), game["reason"]


@pytest.mark.docker
@pytest.mark.usefixtures("nothing_left")
def test_games_alternate_colours_and_play_each_opening_twice(judge: Judge, tmp_path: Path) -> None:
    openings = tmp_path / "openings.txt"
    openings.write_text("c3d4e2\n0,0, 1,1\n")

    games = judge(
        "match", "house-instant", "house-stamp", *FAST, "--set", "clock.turn_ms=60000",
        "--games", "4", "--opening", str(openings),
    ).games  # fmt: skip

    assert [["house-instant", "house-stamp"], ["house-stamp", "house-instant"]] * 2 == [
        [seat["name"] for seat in game["seats"]] for game in games
    ]
    psq = [(tmp_path / game["record"]).with_suffix(".psq").read_bytes() for game in games]
    first, second = b"3,3,0\r\n4,4,0\r\n5,2,0\r\n", b"4,4,0\r\n5,5,0\r\n"
    for text, stones in zip(psq, [first, first, second, second], strict=True):
        assert text.startswith(b"Piskvorky 6x6, 11:11, 0\r\n" + stones), text[:100]


@pytest.mark.docker
@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize(
    ("game", "policy", "words"),
    [
        pytest.param("stratego", "stratego-2012", b"\nhouse-stratego RED VICTORY ", marks=evidence),
        pytest.param("stratego", "stratego-2011", b"\nhouse-stratego RED VICTORY ", marks=evidence),
        ("stratego", "stratego-seed", b"\nhouse-stratego RED VICTORY "),
        pytest.param("qchess", "qchess-2013", b" : white\n# EOF\n", marks=evidence),
        ("qchess", "qchess-seed:classical", b" : white\n# EOF\n"),
    ],
)
def test_the_ucc_contests_play_in_the_same_boxes(
    judge: Judge, tmp_path: Path, game: str, policy: str, words: bytes
) -> None:
    agents = (f"house-{game}", f"house-{game}-instant")
    patient = ("--set", "clock.turn_ms=20000", *NOT_STARVED)
    played = judge("match", *agents, "--policy", policy, "--json", *patient).games[0]

    assert ("win", 0) == (played["verdict"], played["winner"])
    log = (tmp_path / played["record"]).with_suffix(".log")
    assert words in log.read_bytes()
    result = played["result"].encode()
    assert words.strip() in result if game == "stratego" else result == b"white"
    assert 0 == judge("verify", played["record"], str(log)).code


@pytest.mark.parametrize(
    ("game", "line"), [("stratego-2012", "result house-stratego RED VICTORY "), ("qchess-2013", "result white")]
)
def test_the_line_that_the_original_managers_print_of_a_result_is_printed(judge: Judge, game: str, line: str) -> None:
    name = f"house-{game.partition('-')[0]}"
    ran = judge(
        *("match", name, f"{name}-instant", "--policy", game, "--box", "process", "--quiet"),
        *("--set", "clock.turn_ms=60000"),
    )

    assert 1 == sum(each.startswith(line) for each in ran.out.splitlines())


def test_a_repeated_match_keeps_the_records_of_the_first(judge: Judge) -> None:
    """The same agents, options and seed have the same game."""
    command = ("match", "house-instant", "house-instant", *FAST, "--box", "process")
    first, second, third = (judge(*command).games[0]["record"] for _ in range(3))

    assert [first.replace(".json", f"-repeat-{number}.json") for number in (1, 2)] == [second, third]
    assert 0 == judge("verify", first, second, third).code


def test_a_time_control_decides_a_game(judge: Judge, tmp_path: Path) -> None:
    """The slow agent has less time than its opponent; the evidence and the replay agree."""
    slow = write_brain(tmp_path, "slow", "time.sleep(0.1)")
    strict = (*FAST, "--box", "process", "--set", "clock.tolerance_ms=0")

    game = judge("match", slow, "house-instant", *strict, "--clock", "0.3+0.05,60", code=0).games[0]
    assert ("match-time", 1) == (game["verdict"], game["winner"])
    assert 0 == judge("verify", game["record"]).code
    shown = judge("show", game["record"], "--evidence").out
    assert "control   0.3+0.05: 0.3 s a game, 0.05 s more after each answer" in shown
    assert "added by" in shown
    assert 'clock.control = "0.3+0.05,60"' in shown


@pytest.mark.docker
@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("number", [*of_evidence(signal.SIGTERM), signal.SIGHUP])
def test_terminated_judge_removes_its_containers(
    tmp_path: Path, client: docker.DockerClient, number: signal.Signals
) -> None:
    slow = write_brain(tmp_path, "slow", "time.sleep(60)")
    with begin(tmp_path, "match", slow, "house-instant", *FAST, "--set", "clock.turn_ms=60000") as process:
        thinking(client, process)
        process.send_signal(number)
        _, err = process.communicate()

    assert 143 == process.returncode
    assert (number == signal.SIGHUP) == ("judge: the terminal was closed; the command ends" in err)


def test_process_box_prints_plain_lines_and_warns_that_it_isolates_nothing(judge: Judge) -> None:
    ran = judge("match", "house-python", "house-instant", "--policy", "gomocup-fastgame", "--box", "process", code=0)

    assert "WARNING: --box process isolates nothing" in ran.err
    assert "\x1b" not in ran.out
    assert ran.out.splitlines()[1].startswith("   1. house-python")
    assert "wins (win)" in ran.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("house-strong house-pyton", "such as house-python"),
        ("house-strong house-python --opening h8h8", "h8"),
        ("house-strong house-python --opening no/file.txt", "neither a file nor an opening"),
        ("house-strong house-python --box vm", "docker or process"),
        ("house-strong house-python --clock 60s", "judge: --clock '60s': clock.control: '60s': the time of the"),
        ("house-strong house-python --set clock=5", "judge: --set 'clock=5': clock: it should be a table with"),
        ("house-strong house-python --out /dev/null", "name a directory"),
        ("house-strong house-qchess", "house-qchess speaks qchess, which carries quantum-chess, not gomoku"),
        ("house-agi house-strong --policy gomocup-freestyle", "house-agi speaks agi"),
        ("me me", "a person plays"),
        ("human house-instant", "a person plays only in `judge match`"),
    ],
)
def test_a_mistake_of_the_person_is_one_sentence(judge: Judge, arguments: str, words: str) -> None:
    ran = judge("match", "--policy", "gomocup-fastgame", *arguments.split())

    assert (2, "") == (ran.code, ran.out)
    assert words in ran.err
    assert 1 == len(ran.err.strip().splitlines())


# Whatever else runs on this machine: the verdict of a game is tested here, not its agents' clocks.
CLOCKS = (
    "--set", "clock.turn_ms=50", "--set", "clock.match_ms=60000", "--set", "clock.tolerance_ms=5000", *NOT_STARVED,
)  # fmt: skip


@pytest.mark.docker
@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize(
    "game",
    [
        "house-renju house-agi renju-15",
        # A brain that says UNKNOWN to SWAP2BOARD.
        "house-renju house-strong gomocup-swap2",
        *of_evidence("house-agi house-agi agi-renju:rif", "house-renju house-renju gomocup-caro"),
        *of_evidence("house-agi house-renju renju-15", "house-agi house-agi agi-renju:yamaguchi"),
        *of_evidence("house-agi house-agi agi-renju:chinese-swap", "house-renju house-renju gomocup-swap2"),
        *of_evidence("house-strong house-renju gomocup-swap2", "house-renju house-renju gomocup-caro:overline"),
    ],
)
def test_a_game_of_each_dialect_ends_by_its_rules_and_verifies(judge: Judge, game: str) -> None:
    black, white, policy = game.split()
    (played,) = judge("match", black, white, "--policy", policy, "--json", *CLOCKS, code=0).games
    assert played["verdict"] in {"win", "draw"}, played
    assert [None, None] == [seat["fault"] for seat in played["seats"]]
    assert 0 == judge("verify", played["record"]).code


def test_openings_of_a_file_are_shuffled_and_turned(judge: Judge, tmp_path: Path) -> None:
    """Four games of two openings' passes: both colours each, and no position twice."""
    (tmp_path / "openings.txt").write_text("a1b3\nc1e2\n")
    ran = judge("match", "house-instant", "house-instant", "--policy", "gomocup-standard", "--json",
                "--opening", "openings.txt", "--shuffle", "--transform", "--seed", "3",
                "--set", "game.options.draw_at=10", "--games", "8", "--box", "process", *CLOCKS)  # fmt: skip
    specs = [json.loads((tmp_path / game["record"]).read_text())["record"]["spec"] for game in ran.games]
    openings = [tuple(map(tuple, spec["opening"])) for spec in specs]
    assert openings[::2] == openings[1::2]
    assert 4 == len(set(openings))


ONE_GAME = ("--policy", "gomocup-fastgame", *QUICK, "--set", "clock.starved_share=1")
LONG = (*ONE_GAME, "--set", "clock.turn_ms=60000")


@pytest.fixture
def two_cores() -> Iterator[tuple[int, ...]]:
    before = os.sched_getaffinity(0)
    cores = whole_cores()[:2]
    os.sched_setaffinity(0, sum(cores, ()))
    yield cores[-1]
    os.sched_setaffinity(0, before)


@contextmanager
def begun(directory: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "judge.cli", *words]
    with subprocess.Popen(command, cwd=directory, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


@pytest.mark.alone
@pytest.mark.docker
def test_second_of_two_matches_waits_and_plays_when_the_first_is_killed(
    two_cores: tuple[int, ...], tmp_path: Path
) -> None:
    """What the dead one left on the core is gone before the second plays there."""
    build_images(["native", "python", "keeper"])
    slow = write_brain(tmp_path, "slow", "time.sleep(60)")
    with begun(tmp_path, "match", slow, "house-instant", *LONG) as first:
        with closing(docker.from_env()) as client:
            thinking(client, first)
        with begun(tmp_path, "match", "house-instant", "house-instant", *ONE_GAME) as second:
            assert second.stderr
            said = next((line for line in second.stderr if "waiting" in line), "")
            who = rf"judge: waiting for core {two_cores[0]}: judge match .*\(process {first.pid}, running since "
            assert re.match(who, said), said
            assert second.poll() is None
            first.send_signal(signal.SIGKILL)
            out, err = second.communicate()

    assert 0 == second.returncode, err
    assert "drawn (draw)" in out
    assert "waiting" not in err
    assert not orphans()
