"""Whole games through the command line, in process boxes: they are verified, exported and shown."""

import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import judge_go
import pytest
from judge_go.game import ENTRY, QUESTIONS, answer_harmlessly, board_view
from judge_go.rules import Go, Play, PlayOrPass
from judge_go.sgf import looks_like_go, read_sgf, steps_of_sgf, write_sgf

from judge.base.errors import InputError
from judge.catalog import game_entry
from judge.catalog.files import read_games, read_steps
from judge.contest.opening_files import read_openings
from judge.games.person import UnclearError
from judge.games.types import ReplyKind
from judge.render.board import Words, draw_board
from judge.render.svg import write_svg

zstd: Any = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
ROOT = Path(__file__).parents[3]
PACKAGE = Path(judge_go.__file__).parent
STARTER = str(PACKAGE / "starter")
POLICY = f"{PACKAGE / 'go.toml'}:fast"
FIVE = str(Path(__file__).parent / "five")
GOMOCUP = str(ROOT / "examples/agent")


def judge(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "judge.cli", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == 0, f"{arguments}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def match(folder: Path, *arguments: str) -> list[Path]:
    """Play; returns the records."""
    games = json.loads(judge(folder, "match", *arguments, "--box", "process", "--json"))["games"]
    return [folder / game["record"] for game in games]


@pytest.mark.parametrize(
    ("changes", "first"),
    [
        ([], 0),
        (["--opening", "black D4 E5 white F6 moves C3"], 0),
        (["--set", "game.options.size=13", "--set", "game.options.handicap=3"], 1),
    ],
)
def test_game_of_two_starters_is_played_out_verified_and_exported(
    tmp_path: Path, changes: list[str], first: int
) -> None:
    (record,) = match(tmp_path, STARTER, STARTER, "--policy", POLICY, *changes)
    document = json.loads(record.read_text())["record"]
    (game,) = read_games(record.with_suffix(".sgf")).games
    shown = read_steps(record.with_suffix(".sgf"))

    assert document["verdict"] in ("win", "draw")
    assert document["reason"].startswith("two passes: black ")
    assert document["plies"][0]["seat"] == first
    assert "ok: " in judge(tmp_path, "verify", str(record))
    assert [ply["said"] for ply in document["plies"]] == [step.said for step in shown.steps[-len(document["plies"]) :]]
    assert shown.result == document["result"] == game.tags["RE"]
    assert shown.names == ("starter-gtp-1", "starter-gtp-2")
    assert game.times[-1].left_ms is not None
    assert write_sgf(read_sgf(write_sgf(game), "again")[0]) == write_sgf(game)
    # No stone can be captured: the board is played out.
    black, white = map(int, re.findall(r"(?:black|white) (\d+)", document["reason"]))
    assert black + white >= game.size**2 - 4


def test_gtp_engine_plays_five_in_a_row_against_a_gomocup_agent(tmp_path: Path) -> None:
    records = match(tmp_path, FIVE, GOMOCUP, "--policy", "gomocup-freestyle:fast", "--games", "2")
    documents = [json.loads(record.read_text())["record"] for record in records]

    assert [document["verdict"] for document in documents] == ["win", "win"]
    assert all("in a row" in document["reason"] for document in documents)
    assert {seat["protocol"] for seat in documents[0]["spec"]["seats"]} == {"gtp-gomoku", "gomocup"}
    assert "ok: " in judge(tmp_path, "verify", *map(str, records))


def test_gtp_engine_is_refused_for_a_policy_that_it_cannot_play(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "judge.cli",
        "match",
        FIVE,
        GOMOCUP,
        "--policy",
        "gomocup-swap2",
        "--box",
        "process",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=os.environ)

    assert done.returncode != 0
    assert (
        "has no commands for AnswerSwap, ColoursSettled, LayStones of gomoku; choose another policy or agent"
        in done.stderr
    )


# --- SGF, boards, openings and texts ---------------------------------------------------------------------------------

SGF = rb"""(;FF[4]GM[1]SZ[9]KM[6.5]PB[one\]two]PW[b]RE[W+R]AB[cg:dg][gc]AW[ee]PL[W]C[hello (;]
;W[dd]WL[59.5]C[500ms];B[](;W[tt])(;W[aa]))
"""


def test_sgf_of_others_is_read() -> None:
    (game,) = read_sgf(SGF, "game.sgf")
    shown = steps_of_sgf(game, board_view)

    assert game.tags == {"KM": "6.5", "PB": "one]two", "PW": "b", "RE": "W+R"}
    assert [step.said for step in shown.steps] == ["", "D6", "pass", "pass"]
    assert len(shown.steps[0].view.tokens) == 4
    assert shown.steps[1].left_ms == (None, 59500)
    assert shown.names == ("one]two", "b")


def test_sgf_is_recognised_by_its_game() -> None:
    assert looks_like_go(SGF)
    assert not looks_like_go(b"(;FF[4]GM[4]SZ[15];B[hh])")
    assert not looks_like_go(b"(;SZ[15];B[hh])")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(;GM[1]SZ[99])", "game.sgf, line 1: SZ[99] is no size; write 1 to 25"),
        ("(;GM[1]SZ[9]\n;B[jj])", "game.sgf, line 2: 'jj' is no point of a 9x9 board; write such as dd"),
        ("(;GM[1]SZ[9]\n\n;B[aa]AE[bb])", "game.sgf, line 3: AE changes stones during the game; keep only B and W"),
        ("(;GM[1]CA[x-none]\n)", "game.sgf, line 1: CA[x-none] is an unknown encoding; write CA[UTF-8]"),
        ("", "game.sgf, line 1: no game; one begins such as (;GM[1]SZ[19]"),
    ],
)
def test_wrong_sgf_is_refused_with_the_line(text: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        read_sgf(text.encode(), "game.sgf")
    assert message == str(refused.value)


def test_sgf_with_a_stone_on_another_is_not_shown() -> None:
    (game,) = read_sgf(b"(;GM[1]SZ[9];B[aa];W[aa])", "game.sgf")
    with pytest.raises(InputError) as refused:
        steps_of_sgf(game, board_view)
    assert str(refused.value) == "move 2, white A9: there is a stone; correct the SGF"


def test_openings_are_read_from_text_and_sgf_files() -> None:
    openings = ENTRY.openings({"size": 9})
    lines = ["# comment", "D4 G7  # two", "", "(;GM[1]SZ[9]C[a (\\] b]", ";B[dd])(;AB[cc][gg])", "black C3 to black"]
    found = [(number, openings.parse(text)) for number, text in openings.split(f"{line}\n" for line in lines)]

    assert found == [(2, "D4 G7"), (4, "D6"), (5, "black C7 G3"), (6, "black C3 to black")]
    with pytest.raises(InputError) as refused:
        openings.parse("(;SZ[9];B[aa];B[bb])")
    assert str(refused.value) == (
        "position: the colours of the moves must alternate; write pass between two moves of one colour"
    )


@pytest.mark.parametrize("compress", [bytes, gzip.compress, zstd.compress])
def test_openings_are_read_from_compressed_sgf(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "openings.sgf"
    path.write_bytes(compress(b"(;GM[1]SZ[9];B[dd]\n;W[ee])\n(;SZ[9]AB[cc][gg]AW[dc])\n"))

    assert ["D6 E5", "black C7 G3 white D7"] == list(read_openings(path, ENTRY.openings({"size": 9})))


def test_board_has_names_numbers_and_the_last_move() -> None:
    game = Go.from_options({"size": 9, "position": "black C3 moves D4 pass"})
    view = ENTRY.view(game)

    assert (view.columns[8], view.rows[0], view.caption) == ("J", "9", "2. black pass")
    assert {at: (token.side, token.number) for at, token in view.tokens.items()} == {(2, 6): (0, 0), (3, 5): (1, 1)}
    assert "<svg" in write_svg(draw_board(view, Words(("one", "two"))))


def test_person_types_points_and_passes() -> None:
    words, request = ENTRY.person(), PlayOrPass(0, 9)

    assert words.answer(request, "d4").decision == Play((3, 5))
    assert words.answer(request, words.square(3, 5)).said == "D4"
    assert words.answer(request, "pass").decision == Play(None)
    assert words.question(request) == "black to move"
    with pytest.raises(UnclearError) as unclear:
        words.answer(request, "i4")
    assert str(unclear.value) == "'i4' is no point: type D4 or pass"


@pytest.mark.parametrize("size", [9, 13, 19])
def test_questions_of_the_check_are_answered_legally(size: int) -> None:
    questions = game_entry("go").questions({"size": size})
    assert questions is not None
    assert len(questions.asked) == len(QUESTIONS)
    for question in questions.asked:
        game = Go.from_options({"size": size, "position": question.opening})
        game.apply(answer_harmlessly(game.pending()))
        assert game.end is None
        assert questions.opponent(game.pending()).kind is ReplyKind.DECIDED


def test_ko_of_the_check_cannot_be_retaken_at_once() -> None:
    position = next(position for check, _, position, _, _ in QUESTIONS if check == "ko")
    game = Go.from_options({"size": 9, "position": position})

    assert game.objection((3, 7)) == "superko: the position would repeat an earlier one"
