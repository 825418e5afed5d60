"""PGN of records: python-chess, `judge show` and `judge convert` read it."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import chess
import chess.pgn
import judge_chess
import pytest
from judge_chess.game import board_view
from judge_chess.pgn import looks_like_pgn, read_pgn, write_pgn

from judge.base.errors import InputError
from judge.catalog import game_entry
from judge.catalog.files import read_games, read_steps

PACKAGE = Path(judge_chess.__file__).parent
STARTER = str(PACKAGE / "starter")
POLICY = str(PACKAGE / "chess.toml")
FAST = ("--box", "process", "--set", "clock.control=1.5", "--json")

GAME = b"""[Event "cup"]
[White "one"]
[Black "two"]
[Result "0-1"]
[TimeControl "60"]

1. f3 { [%eval -0.50,9] [%clk 0:00:59.5] [%emt 0:00:00.5] } 1... e5 { [%eval #-3,12] [%clk 0:00:58] } 2. g4 Qh4# 0-1
"""


def match(folder: Path, *arguments: str) -> list[Path]:
    """Play with the starter; returns the records."""
    command = [sys.executable, "-m", "judge.cli", "match", STARTER, STARTER, "--policy", POLICY, *FAST, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == 0, done.stderr
    return [folder / game["record"] for game in json.loads(done.stdout)["games"]]


def test_exported_game_is_read_by_python_chess(tmp_path: Path) -> None:
    (record,) = match(tmp_path, "--opening", "1. e4 e5")
    game = chess.pgn.read_game(io.StringIO(record.with_suffix(".pgn").read_text()))
    document = json.loads(record.read_text())["record"]

    assert game is not None
    assert game.errors == []
    assert document["result"] == game.headers["Result"]
    assert game.headers["TimeControl"] == "1.5"
    assert ["e2e4", "e7e5", *(ply["said"] for ply in document["plies"])] == [m.uci() for m in game.mainline_moves()]
    clocks = [node.clock() for node in game.mainline()][2:]
    assert all(clock is not None and 0 <= clock < 1.5 for clock in clocks)
    assert clocks[0::2] == sorted(clocks[0::2], reverse=True)  # type: ignore[type-var]


def test_chess960_game_is_exported_with_its_start(tmp_path: Path) -> None:
    (record,) = match(tmp_path, "--set", "game.options.variant=chess960")
    game = chess.pgn.read_game(io.StringIO(record.with_suffix(".pgn").read_text()))

    assert game is not None
    assert game.errors == []
    assert game.headers["Variant"] == "Chess960"
    assert game.board().chess960
    verify = [sys.executable, "-m", "judge.cli", "verify", str(record)]
    assert "ok: " in subprocess.run(verify, capture_output=True, text=True, check=True).stdout


def test_pgn_is_shown_and_converted_without_loss(tmp_path: Path) -> None:
    path = tmp_path / "game.pgn"
    path.write_bytes(GAME)
    shown = read_steps(path)
    found = read_games(path)

    assert shown.names == ("one", "two")
    assert [step.said for step in shown.steps] == ["", "f3", "e5", "g4", "Qh4#"]
    assert shown.steps[2].left_ms == (59500, 58000)
    assert shown.steps[-1].view.caption == "2... Qh4#"
    (game,) = found.games
    (again,) = read_pgn(write_pgn(game), "again")
    assert game.moves == again.moves
    assert game.tags.items() <= again.tags.items()


def test_pgn_of_five_in_a_row_is_not_taken_for_chess() -> None:
    assert looks_like_pgn(GAME)
    assert not looks_like_pgn(b'[Event "a"]\n[Board "15x15"]\n\n1. d4 d5 2. e4 e5 1-0\n')
    assert not looks_like_pgn(b'[Event "a"]\n\n1. d4 d5 1-0\n')
    assert not looks_like_pgn(b"1. d4 d5")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (GAME.replace(b"Qh4#", b"Qh5#"), "x.pgn, game 1: \"illegal san: 'Qh5' in "),
        (b"", "x.pgn: no PGN game"),
    ],
)
def test_illegal_pgn_is_named(data: bytes, said: str) -> None:
    with pytest.raises(InputError) as refused:
        read_pgn(data, "x.pgn")
    assert str(refused.value).startswith(said)


def test_view_has_pieces_and_the_last_move() -> None:
    board = chess.Board()
    board.push_uci("e2e4")
    view = board_view(board)

    assert view.caption == "1. e4"
    assert {(4, 6), (4, 4)} == set(view.marks)
    assert (view.tokens[4, 0].faces[0].name, view.tokens[4, 0].side) == ("king", 1)
    assert (view.tokens[4, 4].faces[0].name, view.tokens[4, 4].side) == ("pawn", 0)
    assert game_entry("chess").words_are_public
