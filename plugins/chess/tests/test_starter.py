"""The starters know the same legal moves as python-chess, and pass `judge check`."""

import importlib.util
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import chess
import judge_chess
import pytest
from judge_chess.game import ENTRY, QUESTIONS, answer_harmlessly
from judge_chess.rules import Chess, ChooseMove, Move

from judge.games.person import UnclearError
from judge.games.types import ReplyKind

PACKAGE = Path(judge_chess.__file__).parent
STARTER = PACKAGE / "starter/starter.py"
COMPILERS = {"starter_c": "cc", "starter_cpp": "c++"}


@pytest.fixture(scope="module")
def starter(monkeypatch_module: pytest.MonkeyPatch) -> ModuleType:
    """The starter's module; its input is empty."""
    spec = importlib.util.spec_from_file_location("starter", STARTER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def monkeypatch_module(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch, (tmp_path_factory.mktemp("empty") / "stdin").open("w+") as empty:
        patch.setattr(sys, "stdin", empty)
        yield patch


@pytest.mark.parametrize("chess960", [False, True])
def test_starter_has_the_legal_moves_of_random_games(starter: ModuleType, chess960: bool) -> None:
    chance = random.Random(1)
    for _ in range(10):
        board = chess.Board.from_chess960_pos(chance.randrange(960)) if chess960 else chess.Board()
        for _ in range(100):
            starter_board = starter.Board(board.fen())
            legal = sorted(board.uci(move) for move in board.legal_moves)
            assert legal == sorted(
                starter_board.write(move, chess960) for move in starter_board.moves() if starter_board.play(move)
            ), board.fen()
            if not legal:
                break
            board.push_uci(chance.choice(legal))


@pytest.fixture(scope="module", params=COMPILERS)
def compiled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A compiled starter's folder."""
    if shutil.which(COMPILERS[request.param]) is None:
        pytest.skip(f"{COMPILERS[request.param]} is missing: apt-get install g++ make")
    folder = tmp_path_factory.mktemp("compiled") / request.param
    shutil.copytree(PACKAGE / request.param, folder, ignore=shutil.ignore_patterns("starter"))
    made = subprocess.run(["make"], cwd=folder, capture_output=True, text=True, check=False)
    assert (made.returncode, made.stderr) == (0, "")
    return folder


def answers_of(folder: Path, lines: Sequence[str]) -> str:
    text = "\n".join(lines) + "\n"
    return subprocess.run([folder / "starter"], input=text, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("chess960", [False, True])
def test_compiled_starter_has_the_legal_moves_of_random_games(compiled: Path, chess960: bool) -> None:
    chance = random.Random(2)
    lines = [f"setoption name UCI_Chess960 value {str(chess960).lower()}"]
    expected = []
    for _ in range(40):
        board = chess.Board.from_chess960_pos(chance.randrange(960)) if chess960 else chess.Board()
        first = board.fen()
        moves: list[str] = []
        while any(board.legal_moves) and len(moves) < 150:
            lines += [f"position fen {first} moves {' '.join(moves)}", "go perft 1"]
            expected.append(sorted(board.uci(move) for move in board.legal_moves))
            moves.append(chance.choice(expected[-1]))
            board.push_uci(moves[-1])
    said = answers_of(compiled, lines).split("Nodes searched:")[:-1]

    found = [sorted(line.partition(":")[0] for line in part.splitlines() if ": 1" in line) for part in said]
    assert len(expected) == len(found) > 3000
    assert [] == [pair for pair in zip(expected, found, strict=True) if pair[0] != pair[1]]


@pytest.mark.parametrize(
    ("fen", "depth", "count"),
    [
        (chess.STARTING_FEN, 4, 197281),
        ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 3, 97862),
        ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 4, 43238),
        ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", 3, 9467),
        ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", 3, 62379),
    ],
)
def test_compiled_starter_counts_the_moves_of_known_positions(compiled: Path, fen: str, depth: int, count: int) -> None:
    """Source: Chess Programming Wiki, Perft Results."""
    said = answers_of(compiled, [f"position fen {fen}", f"go perft {depth}"])

    assert f"Nodes searched: {count}" == said.splitlines()[-1]


def check(agent: Path, variant: str) -> None:
    """The check finds the text that an author replaces; on a loaded host also slow answers."""
    policy = f"{PACKAGE / 'chess.toml'}{variant}"
    command = [sys.executable, "-m", "judge.cli", "check", str(agent), "--policy", policy, "--box", "process", "--json"]
    short = ["--set", "clock.control=5", "--set", "game.options.max_moves=8", "--set", "clock.starved_share=1"]
    done = subprocess.run([*command, *short], capture_output=True, text=True, check=False, env=os.environ)
    findings = json.loads(done.stdout)["findings"]

    assert {"about"} == {each["check"] for each in findings if each["grade"] != "pass"} - {"time"}, findings
    assert {"mate", "castling", "en-passant", "promotion", "repetition", "game-second"} <= {
        each["check"] for each in findings
    }


@pytest.mark.parametrize("variant", ["", ":chess960"])
def test_compiled_starter_passes_the_check(compiled: Path, variant: str) -> None:
    check(compiled, variant)


def test_starter_in_python_passes_the_check() -> None:
    check(STARTER.parent, "")


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question[1])
@pytest.mark.parametrize("variant", ["chess", "chess960"])
def test_right_answers_of_questions_mate(question: tuple[Any, ...], variant: str) -> None:
    _, _, position, _, _, answers = question
    game = Chess.from_options({"position": position, "variant": variant})
    board = game.board
    for answer in answers.split()[:1]:
        board.push(board.parse_uci(answer))
        assert board.is_checkmate()
        board.pop()
    mates = []
    for move in list(board.legal_moves):
        board.push(move)
        mates += [move] * board.is_checkmate()
        board.pop()
    assert {board.uci(move) for move in mates} <= set(answers.split()) or not answers


def test_questions_are_answered_legally_by_the_interviewer() -> None:
    questions = ENTRY.questions({})
    for question in questions.asked:
        game = Chess.from_options({"position": question.opening})
        assert answer_harmlessly(game.pending()).kind is ReplyKind.DECIDED


def test_person_types_either_notation() -> None:
    words, request = ENTRY.person(), ChooseMove(0)

    assert Move("e2e4") == words.answer(request, "e4").decision
    assert Move("g1f3") == words.answer(request, " Nf3 ").decision
    assert words.question(request) == "white to move"
    assert words.square(4, 4) == "e4"
    with pytest.raises(UnclearError) as unclear:
        words.answer(request, "e5")
    assert str(unclear.value) == "'e5' is not a legal move: type e2e4 or Nf3"
