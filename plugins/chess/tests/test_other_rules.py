"""Random games, compared with chess.js and Stockfish. Neither is related to python-chess, which the plug-in uses."""

import json
import random
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import chess
import pytest
from engines import ENGINES, NEED_ENGINES, program_of
from judge_chess.rules import Chess, Move

from judge.base.errors import InputError
from judge.games.types import AgentFault, Verdict, decided
from tests.conformance.others import sample

pytestmark = [*NEED_ENGINES, pytest.mark.timeout(7200)]

MOVES = 300
Figure = Callable[[str, object], None]


class Played(NamedTuple):
    """First position, moves, an illegal move at the end; for each position its legal moves, also as SAN, and end."""

    fen: str
    moves: Sequence[str]
    legal: Sequence[Sequence[str]]
    notation: Sequence[Sequence[str]]
    ends: Sequence[str]
    illegal: str


def starts(chance: random.Random) -> Iterator[str]:
    """The usual position in every third game, else random endgames."""
    while True:
        board = chess.Board()
        if chance.randrange(3):
            board.clear()
            men = [*"Kk", *chance.choices("QRBNPPPqrbnppp", k=chance.randrange(1, 7))]
            for man, square in zip(men, chance.sample(chess.SQUARES, len(men)), strict=True):
                board.set_piece_at(square, chess.Piece.from_symbol(man))
            board.turn = chance.random() < 0.5
            board.halfmove_clock = chance.randrange(99)
        if board.is_valid():
            yield board.fen()


def play(game: Chess, chance: random.Random) -> Played:
    """Play random legal moves. The last reply of an unfinished game is an illegal move, which loses."""
    fen, moves, legal, notation, ends, illegal = game.board.fen(), [], [], [], [], ""
    while True:
        legal.append(sorted(move.uci() for move in game.board.legal_moves))
        notation.append(sorted(game.board.san(move) for move in game.board.legal_moves))
        ends.append("" if game.end is None else game.end.reason)
        if game.end is not None:
            break
        if len(moves) == MOVES or chance.random() < 0.002:
            illegal = chance.choice(chess.SQUARE_NAMES) + chance.choice(chess.SQUARE_NAMES)
            if illegal not in legal[-1]:
                break
        moves.append(chance.choice(legal[-1]))
        game.apply(decided(Move(moves[-1])))
    if game.end is None:
        game.apply(decided(Move(illegal)))
        assert isinstance(game.end, AgentFault)
        assert game.end.verdict is Verdict.ILLEGAL
    return Played(fen, moves, legal, notation, ends, illegal or "a1a1")


def test_moves_and_ends_are_those_of_chess_js(record_property: Figure) -> None:
    games, chance, played, found = sample(100), random.Random(1), [], Counter[str]()
    openings = starts(chance)
    while len(played) < games:
        try:
            game = Chess.from_options({"position": next(openings)})
        except InputError:  # it ends the game
            continue
        played.append(play(game, chance))
    node = shutil.which("node")
    if node is None or subprocess.run([node, "-e", 'require("chess.js")'], capture_output=True, check=False).returncode:
        pytest.skip("chess.js or Node.js is missing: ./scripts/test --engines installs them with npm")
    text = "".join(json.dumps(game._asdict()) + "\n" for game in played)
    command = [node, str(Path(__file__).with_name("compare.cjs"))]
    done = subprocess.run(command, input=text, check=True, capture_output=True, text=True)
    for game, line in zip(played, done.stdout.splitlines(), strict=True):
        answer = json.loads(line)
        assert [position["moves"] for position in answer["positions"]] == list(game.notation), game
        for end, position in zip(game.ends, answer["positions"], strict=True):
            assert next(iter(position["ends"]), "") == end, game
        assert answer["refused"], game
        found["positions"] += len(game.legal)
        found[game.ends[-1] or "illegal move"] += 1
    record_property("figure", f"{games} games, 0 differences; positions and ends: {dict(found)}")


def test_moves_of_chess960_are_those_of_stockfish(record_property: Figure) -> None:
    program = program_of(next(engine for engine in ENGINES if engine.program == "stockfish"))
    if program is None:
        pytest.skip("stockfish is missing: apt-get install stockfish")
    games, chance, castlings = sample(20), random.Random(2), 0
    commands, all_legal = ["uci", "setoption name UCI_Chess960 value true"], []
    for _ in range(games):
        game = Chess.from_options({"variant": "chess960", "position": str(chance.randrange(960))})
        board = game.board.copy(stack=False)
        played = play(game, chance)
        for number, legal in enumerate(played.legal):
            commands += [f"position fen {played.fen} moves {' '.join(played.moves[:number])}", "go perft 1"]
            all_legal.append(legal)
            castlings += sum(board.is_castling(board.parse_uci(move)) for move in legal)
            if number < len(played.moves):
                board.push_uci(played.moves[number])
    text = "\n".join([*commands, "quit", ""])
    done = subprocess.run([program], input=text, check=True, capture_output=True, text=True)
    answers = [re.findall(r"^(\w+): 1$", each, re.MULTILINE) for each in done.stdout.split("Nodes searched: ")[:-1]]
    assert [sorted(answer) for answer in answers] == all_legal
    figure = f"{games} games, {len(all_legal)} positions with {castlings} castlings, 0 differences"
    record_property("figure", figure)
