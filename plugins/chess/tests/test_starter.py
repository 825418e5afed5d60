"""The starter in Python knows the same legal moves as python-chess."""

import importlib.util
import random
import sys
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

STARTER = Path(judge_chess.__file__).parent / "starter/starter.py"


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
            own = starter.Board(board.fen())
            legal = sorted(board.uci(move) for move in board.legal_moves)
            assert legal == sorted(own.write(move, chess960) for move in own.moves() if own.play(move)), board.fen()
            if not legal:
                break
            board.push_uci(chance.choice(legal))


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
