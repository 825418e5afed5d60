"""Whose each stone is, as a real brain was told it, command by command, against whose it was in the game."""

import re
from pathlib import Path

import pytest

from judge.referee.spec import GameRecord, RecordFile, read_record
from judge.referee.transcript import EntryKind, unseal
from tests.cli.conftest import Judge
from tests.examples import evidence

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("nothing_left")]

CLOCKS = (
    "--set", "clock.turn_ms=300", "--set", "clock.tolerance_ms=5000", "--set", "clock.starved_share=1",
)  # fmt: skip

BRAIN = """#!/usr/bin/env python3
import sys

def say(text):
    sys.stdout.write(text + "\\r\\n")
    sys.stdout.flush()

taken, asked = set(), ""
for line in sys.stdin:
    word, _, rest = line.strip().partition(" ")
    if word in ("SWAP2BOARD", "BOARD"):
        asked = word
    elif asked and word != "DONE":
        taken.add(tuple(map(int, word.split(",")[:2])))
    elif asked == "SWAP2BOARD":
        asked = ""
        say("SWAPPED")
    elif asked or word in ("TURN", "BEGIN"):
        asked = ""
        if word == "TURN":
            taken.add(tuple(map(int, rest.split(","))))
        x, y = next((x, y) for y in range(15) for x in range(0, 15, 2) if (x, y) not in taken)
        taken.add((x, y))
        say("%d,%d" % (x, y))
    elif word == "START":
        say("OK")
    elif word == "RESTART":
        taken = set()
        say("RESTARTED")
    elif word == "ABOUT":
        say('name="brain"')
    elif word == "END":
        break
"""
"""Plays where it does no harm; what it answers to SWAP2BOARD ... DONE and to RESTART is put in."""


@pytest.fixture
def brains(tmp_path: Path) -> dict[str, str]:
    """Brains for the opening: paths by what they do."""
    made = {}
    for name, swap2, restart in (
        ("takes-black", "SWAP", "OK"),
        ("knows-neither", "UNKNOWN", "UNKNOWN"),
        ("cannot", "ERROR not today", "OK"),
    ):
        path = tmp_path / f"{name}.py"
        path.write_text(BRAIN.replace('"SWAPPED"', f'"{swap2}"').replace('"RESTARTED"', f'"{restart}"'))
        made[name] = str(path)
    return made


def played(judge: Judge, tmp_path: Path, *words: str) -> RecordFile:
    ran = judge("match", *words, "--policy", "gomocup-swap2:fast", "--json", *CLOCKS)
    assert 0 == ran.code, ran.err
    (game,) = ran.games
    assert game["verdict"] in {"win", "draw"}, game
    assert 0 == judge("verify", game["record"]).code
    return read_record(tmp_path / game["record"])


def believed(file: RecordFile, seat: int) -> dict[str, bool]:
    """Every stone that the seat knows of at the end, and whether it takes it for its own."""
    board: dict[str, bool] = {}
    is_board = False
    for entry in unseal(file.transcript):
        if entry.seat != seat or entry.kind not in (EntryKind.READ, EntryKind.WROTE):
            continue
        for line in entry.data.decode().split("\r\n"):
            word, _, rest = line.partition(" ")
            if entry.kind is EntryKind.READ:
                if re.fullmatch(r"\d+,\d+", line):
                    board[line] = True
            elif word in ("START", "RESTART"):
                board = {}
            elif word == "TURN":
                board[rest] = False
            elif word == "TAKEBACK":
                del board[rest]
            elif word in ("BOARD", "DONE"):
                is_board = word == "BOARD"
            elif is_board:
                square, _, field = line.rpartition(",")
                board[square] = field == "1"
    return board


def owned(record: GameRecord) -> dict[str, int]:
    """Every stone of a game, and the seat that plays its colour at the end."""
    squares = [square for ply in record.plies for square in re.findall(r"\d+,\d+", ply.said)]
    last = record.plies[-1].seat
    return {square: last if (len(squares) - 1 - number) % 2 == 0 else 1 - last for number, square in enumerate(squares)}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param("house-strong", "house-renju", marks=evidence),
        pytest.param("house-strong", "takes-black", marks=evidence),
        ("knows-neither", "takes-black"),
        ("cannot", "takes-black"),
    ],
)
def test_brain_without_swap2board_knows_the_colour_of_each_stone(
    judge: Judge, tmp_path: Path, brains: dict[str, str], first: str, second: str
) -> None:
    """It lays stones one by one, and a swap makes others of them its own; each said once that it cannot."""
    file = played(judge, tmp_path, brains.get(first, first), brains.get(second, second))

    truth = owned(file.record)
    for seat in (0, 1):
        board = believed(file, seat)
        assert len(truth) - 1 <= len(board)
        assert {square: truth[square] == seat for square in board} == board
