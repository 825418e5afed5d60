"""A person plays: line by line in a pipe, by keys on a terminal, in every game, and sees no more than the seat may."""

import json
import os
import re
from pathlib import Path

import pytest

from judge.record.spec import RecordFile, read_record
from judge.referee.verify import verify
from tests import forked
from tests.cli.brains import write_brain
from tests.cli.conftest import Judge, Ran
from tests.cli.contests import JUDGE
from tests.cli.terminal import begin_match, is_in_order
from tests.examples import evidence, of_evidence

PATIENT = ("--set", "clock.turn_ms=60000", "--set", "clock.match_ms=0", "--box", "process")
FREESTYLE = ("--policy", "gomocup-freestyle", *PATIENT)
STRATEGO = ("--policy", "stratego-2012", *PATIENT)
ENEMY_ROWS = ("b# " * 10).strip()


def play(tmp_path: Path, typed: str, *arguments: str, code: int = 0) -> Ran:
    """`judge match ARGUMENTS...` with this text in its stdin."""
    done = forked.run([*JUDGE, "match", *arguments], cwd=tmp_path, input=typed, text=True, timeout=300)
    assert code == done.returncode, done.stderr
    return Ran(done.returncode, done.stdout, done.stderr)


def the_record(tmp_path: Path) -> RecordFile:
    (path,) = (tmp_path / "records").glob("*.json")
    file = read_record(path)
    assert () == tuple(verify(file).problems)
    return file


def test_a_person_wins_in_a_pipe_and_no_slip_loses(tmp_path: Path) -> None:
    ran = play(tmp_path, "h8\nhello\nh8\nz99\nh9\nH10\n7,10\n7 11\n", "me", "house-instant", *FREESTYLE)

    assert "'hello' is not a square: type h8 or 7,7; again:" in ran.out
    assert "7,7 (h8) is taken by stone 1 (black); again:" in ran.out
    assert "off the 20x20 board" in ran.out
    assert "me wins (win): 5 in a row, h8 to h12" in ran.out
    record = the_record(tmp_path).record
    assert ("person", "person") == (record.spec.seats[0].protocol, record.spec.seats[0].runtime)
    assert ("person", "process") == record.placement.box
    # A person has no clock, and the agent is told that it plays one.
    assert 0 == record.seats[0].charged_ms
    assert record.plies[0].ms > 0
    assert 0 == record.spec.seats[1].protocol_options["game_type"]


def test_a_person_may_have_a_clock(tmp_path: Path) -> None:
    limits = [word for limit in ("turn_ms=100", "tolerance_ms=0") for word in ("--set", f"clock.{limit}")]
    silent, writing = os.pipe()
    try:
        words = [*JUDGE, "match", "me", "house-instant", *FREESTYLE, "--clock", "policy", *limits]
        done = forked.run(words, cwd=tmp_path, stdin=silent, timeout=300)
        assert 0 == done.returncode, done.stderr
    finally:
        os.close(silent)
        os.close(writing)

    record = the_record(tmp_path).record
    assert ("turn-time", 1) == (record.verdict, record.winner)


@pytest.mark.parametrize("typed", ["", *of_evidence("h8\n"), "h8"])
def test_leaving_early_leaves_no_record(tmp_path: Path, typed: str) -> None:
    ran = play(tmp_path, typed, "me", "house-instant", *FREESTYLE, code=130)

    assert "you left the game; it has no result" in ran.err
    assert "Traceback" not in ran.err
    assert [] == list((tmp_path / "records").iterdir())


FIFTHS = "\n".join(f"{column}{row}" for column in "ghk" for row in (5, 6, 9, 10))
SQUARES = "\n".join(f"{column}{row}" for column in 2 * "abcdefghijklmno" for row in range(1, 16))
ROWS = "FB9B4596B9\nBB67859589\n7B48365978\n9612s79383"
SLIPS = "auto\n0 0 UP\nno_move\n0 3 DOWN"
FIVE_STONES = f"h8\ni9\nj7\nswap\n{FIFTHS}"

TYPED = {
    # policy, agents, what is typed before the person resigns, words of a question or complaint, an answer
    "three stones": ("gomocup-swap2", "me house-instant", "h8 i9\nh8 i9 j7", "2 stones where 3 are asked for", ""),
    "swap": ("gomocup-swap2", "house-instant me", "?\nswap", "swap (play black), or place a white stone", "SWAP"),
    "two fifths": ("agi-renju:rif", "me house-agi-instant", FIVE_STONES, "offer 2 squares", ""),
    "fifths": ("agi-renju:yamaguchi", "me house-agi-instant", FIVE_STONES, "squares for black's fifth stone", ""),
    # Whatever the agent has laid: what is typed first and fits is taken.
    "choice": ("agi-renju:rif", "house-agi-instant me", f"h8\ni9\nh7\ng8\n{SQUARES}", "is not one of the fifth", ""),
    # The agent answers in the corner: six in a row is an overline.
    "overline": ("renju-15", "me house-instant", "e8\nf8\ng8\ni8\nj8\nh8", "overline at 7,7 (h8): whoever", "9,7"),
    "set-up": ("stratego-2012", "house-stratego-instant me", f"{ROWS}\nauto", "bad set-up: row 4: too many", ""),
    # What costs an agent a turn.
    "slips": ("stratego-2012:tolerant", "me house-stratego-instant", SLIPS, "; again:", "0 3 DOWN"),
}


@pytest.mark.parametrize("name", [pytest.param(each, marks=[evidence] * (each == "two fifths")) for each in TYPED])
def test_a_person_is_asked_again_until_the_answer_fits(tmp_path: Path, name: str) -> None:
    policy, agents, typed, asked, answer = TYPED[name]

    assert asked in play(tmp_path, f"{typed}\nresign\n", *agents.split(), "--policy", policy, *PATIENT).out
    record = the_record(tmp_path).record
    assert record.verdict in ("resigned", "win")
    me = agents.split().index("me")
    assert not answer or answer in [ply.said for ply in record.plies if ply.seat == me]


def test_stratego_shows_a_person_its_own_army_only(tmp_path: Path) -> None:
    typed = "FB99\nauto\n0 3 UP\n0 3 DOWN\n1 3 1 4\nresign\n"
    ran = play(tmp_path, typed, "me", "house-stratego-instant", *STRATEGO)

    assert "'FB99' has 4 pieces: a row has 10; again:" in ran.out
    assert "Coords outside board" in ran.out or "ILLEGAL" in ran.out
    record = the_record(tmp_path).record
    assert "0 3 DOWN" in [ply.said for ply in record.plies]
    # Of the enemy nothing but where it stands, and what was told of fights.
    rows = [ply.said for ply in record.plies if ply.seat == 1][:4]
    assert 4 == len(rows)
    assert all(row not in ran.out for row in rows)
    shown = ran.out[: ran.out.index("game 1:")]
    assert f"7 {ENEMY_ROWS}" in shown
    assert {"#"} == set(re.findall(r"\bb([0-9sBF#])", shown))


def test_quantum_chess_shows_no_hidden_type(tmp_path: Path) -> None:
    policy = ("--policy", "qchess-2013", *PATIENT)
    typed = "0 1\n3 7\nhello\n0 0\nresign\n" + "resign\n"
    ran = play(tmp_path, typed, "me", "house-qchess-instant", *policy)

    assert "COLOUR black not white; again:" in ran.out
    first = ran.out[: ran.out.index("select a piece")]
    assert "R/?" in first
    assert "/?P" not in first
    assert "/?Q" not in first
    the_record(tmp_path)


def test_contests_and_checks_refuse_a_person(judge: Judge, tmp_path: Path) -> None:
    checked = judge("check", "me", "--policy", "gomocup-freestyle", "--box", "process")
    begun = judge("contest", "init", "cup", "--policy", "gomocup-freestyle", "--agent", "me")
    (tmp_path / "agent.toml").write_text('name = "x"\ncommand = ["./x"]\nprotocol = "person"\nruntime = "native"\n')
    manifest = judge("match", ".", "house-instant", "--policy", "gomocup-freestyle", code=2)

    for ran in (checked, begun):
        assert "a person plays only in `judge match`" in ran.err
    assert "that of a person, not of a program" in manifest.err


def test_a_person_plays_by_keys_and_letters(tmp_path: Path) -> None:
    terminal = begin_match(tmp_path, "me", "house-instant", *FREESTYLE)

    terminal.until(lambda text: "you: place a black stone" in text and "▶  ●  black me" in text)
    terminal.type("?")
    terminal.until(lambda text: "a square: h8 or 7,7" in text)
    terminal.type("?k9\r")
    terminal.until(lambda text: " 9 · · · · · · · · · · ●" in text and "you: place" in text)
    terminal.type("k9\r")
    terminal.until(lambda text: "is taken by stone" in text)
    terminal.type("10,9\r")
    terminal.until(lambda text: "10 · · · · · · · · · · ●" in text and "you: place" in text)
    # The cursor begins in the middle of the board, on k11.
    terminal.type("\x1b[B")
    terminal.until(lambda text: "<·>" in text)
    terminal.type("\r")
    terminal.until(lambda text: "<●>" in text and "you: place" in text)
    terminal.type("\x1bOB\r")
    terminal.until(lambda text: "12 · · · · · · · · · ·<●>" in text and "you: place" in text)
    terminal.type("\x1b[B\r")
    assert "me wins (win): 5 in a row, k9 to k13" in terminal.to_the_end(0)
    assert is_in_order(terminal)
    the_record(tmp_path)


def test_stratego_on_a_terminal_by_the_cursor(tmp_path: Path) -> None:
    terminal = begin_match(tmp_path, "me", "house-stratego-instant", *STRATEGO)

    terminal.until(lambda text: "set up row 1 of 4" in text)
    terminal.type("auto\r")
    terminal.until(lambda text: "turn 1: move a RED piece" in text and (text.count("b#"), text.count("rF")) == (40, 1))
    # From the middle, 5 5, to 9 3 and from there to 9 4.
    terminal.type("\x1b[A" + "\x1b[C" * 4 + "\x1b[A" * 2 + "\r")
    terminal.until(lambda text: "> 9 3_" in text)
    terminal.type("\x1b[B\r")
    terminal.until(lambda text: "RED 9 3 DOWN OK" in text and "turn 2: move" in text)
    terminal.type("resign\r")
    assert "surrendered" in terminal.to_the_end(0)
    rows = [ply.said for ply in the_record(tmp_path).record.plies if ply.seat == 1][:4]
    written = terminal.written.decode("utf-8", "replace")
    assert all(row not in written for row in rows)
    assert is_in_order(terminal)


def test_a_hostile_agent_writes_nothing_on_the_persons_terminal(tmp_path: Path) -> None:
    brain = write_brain(tmp_path, "loud", "say('MESSAGE \\x1b]0;owned\\x07 my plan')")
    terminal = begin_match(tmp_path, "me", brain, *FREESTYLE)

    terminal.until(lambda text: "you: place a black stone" in text)
    terminal.type("k11\r")
    terminal.until(lambda text: "white a1" in text)
    terminal.type("resign\r")
    terminal.to_the_end()

    assert b"\x1b]0;owned" not in terminal.written
    # What an agent says beside its moves is not for its opponent.
    assert b"my plan" not in terminal.written


@pytest.mark.docker
@pytest.mark.usefixtures("nothing_left")
def test_a_person_plays_an_agent_in_its_container(tmp_path: Path) -> None:
    ran = play(
        tmp_path, "h8\nh9\nh10\nh11\nh12\n", "me", "house-instant",
        "--policy", "gomocup-freestyle", "--folders", "kept", "--json",
    )  # fmt: skip

    assert ("win", 0) == (ran.games[0]["verdict"], ran.games[0]["winner"])
    record = json.loads((tmp_path / ran.games[0]["record"]).read_text())["record"]
    assert "person" == record["placement"]["box"][0]
    assert {} == record["seats"][0]["folders"]
    the_record(tmp_path)


@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["ctrl-c", "ctrl-d"])
def test_a_person_leaves_the_game_and_the_terminal_in_order(tmp_path: Path, key: str) -> None:
    terminal = begin_match(tmp_path, "me", "house-instant", *FREESTYLE)
    terminal.until(lambda text: "you: place a black stone" in text)

    terminal.type(key)
    assert "you left the game; it has no result" in terminal.to_the_end(130)
    assert is_in_order(terminal)
    assert [] == list((tmp_path / "records").iterdir())
