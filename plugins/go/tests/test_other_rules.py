"""Random games, compared with the boards and SGF of sgfmill, and with GNU Go."""

import os
import random
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from judge_go.board import BLACK, Point, vertex
from judge_go.positions import Position
from judge_go.rules import Go, Play
from judge_go.sgf import GoSgf, write_sgf
from test_engines import PROGRAM

from judge.games.types import SEATS, RuleResult, decided
from tests.conformance.others import sample

pytestmark = [
    pytest.mark.engines,
    pytest.mark.timeout(7200),
    pytest.mark.skipif(os.environ.get("JUDGE_ENGINES") != "yes", reason="./scripts/test --engines runs them"),
]

Figure = Callable[[str, object], None]


def tries(game: Go, chance: random.Random) -> Iterator[tuple[Point | None, int, str]]:
    """Random points of a game until its end, legal or not, the seats, and the objections. Legal moves are then played.

    A single stone that was captured is often tried again at once.
    """
    side = chance.choice((3, 4, game.size, game.size))
    left, lost = chance.randrange(20, 5 * side * side), set[Point]()
    while game.end is None:
        left -= 1
        point: Point | None = (chance.randrange(side), chance.randrange(side))
        if len(lost) == 1 and chance.random() < 0.5:
            (point,) = lost
        elif left < 0 or chance.random() < 0.01:
            point = None
        seat, why = game.pending().seat, game.objection(point)
        yield point, seat, why
        if not why:
            before = game.board.stones().keys()
            game.apply(decided(Play(point)))
            lost = before - game.board.stones().keys()


class Mirror:
    """A board of sgfmill with the rules: no suicide, no repetition."""

    def __init__(self, boards: Any, size: int) -> None:
        self.board = boards.Board(size)
        self.size = size
        self.seen = {self.position(self.board)}

    def position(self, board: Any) -> frozenset[Any]:
        return frozenset(board.list_occupied_points())

    def objection(self, point: Point | None, seat: int) -> str:
        """The first word of the judge's sentence; an allowed move is played."""
        if point is None:
            return ""
        column, row = point
        if self.board.get(self.size - 1 - row, column) is not None:
            return "there"
        after = self.board.copy()
        after.play(self.size - 1 - row, column, "bw"[seat])
        if after.get(self.size - 1 - row, column) is None:
            return "suicide"
        if self.position(after) in self.seen:
            return "superko"
        self.board = after
        self.seen.add(self.position(after))
        return ""

    def stones(self) -> dict[Point, int]:
        return {
            (column, self.size - 1 - row): "bw".index(colour)
            for colour, (row, column) in self.board.list_occupied_points()
        }


def test_moves_stones_and_scores_are_those_of_sgfmill(record_property: Figure) -> None:
    boards = pytest.importorskip("sgfmill.boards", reason="sgfmill is missing: ./scripts/test --engines installs it")
    sgf = pytest.importorskip("sgfmill.sgf")
    sgf_moves = pytest.importorskip("sgfmill.sgf_moves")
    games, chance, tried, draws = sample(100), random.Random(1), Counter[str](), 0
    for number in range(games):
        size = chance.choice((9, 9, 13, 19))
        game = Go.from_options({"size": size, "komi": chance.choice((0.0, 0.5, 7.0, 7.5))})
        mirror = Mirror(boards, size)
        for point, seat, why in tries(game, chance):
            objection = mirror.objection(point, seat)
            assert objection == why.partition(" ")[0].rstrip(":"), (number, point, why)
            tried[objection or "legal"] += 1
        assert mirror.stones() == game.board.stones()
        black, white = game.score()
        lead = mirror.board.area_score() - game.options.komi
        assert lead == black - white
        assert isinstance(game.end, RuleResult)
        assert (None if lead == 0 else int(lead < 0)) == game.end.winner
        draws += lead == 0
        written = write_sgf(GoSgf({"KM": "0"}, size, Position((), BLACK, tuple(game.moves))))
        start, moves = sgf_moves.get_setup_and_moves(sgf.Sgf_game.from_bytes(written))
        assert start.is_empty()
        read = [("bw".index(colour), at and (at[1], size - 1 - at[0])) for colour, at in moves]
        assert read == game.moves
    assert {"legal", "there", "suicide", "superko"} == set(tried)
    record_property("figure", f"{games} games, {draws} of them draws, 0 differences; tries: {dict(tried)}")


@pytest.mark.skipif(PROGRAM is None, reason="gnugo is missing: apt-get install gnugo")
def test_legal_moves_and_stones_are_those_of_gnugo(record_property: Figure) -> None:
    assert PROGRAM is not None
    games, chance, tried = sample(20), random.Random(2), Counter[str]()
    for number in range(games):
        game = Go.from_options({"size": chance.choice((9, 13, 19))})
        commands, expected = [f"boardsize {game.size}", "clear_board"], ["=", "="]
        for point, seat, why in tries(game, chance):
            move = f"{('black', 'white')[seat]} {vertex(point, game.size)}"
            commands += [f"is_legal {move}"] if why else [f"is_legal {move}", f"play {move}"]
            expected += ["= 0"] if why else ["= 1", "="]
            tried["illegal" if why else "legal"] += 1
        text = "\n".join([*commands, "list_stones black", "list_stones white", "quit", ""])
        words = [PROGRAM, "--mode", "gtp", "--chinese-rules", "--positional-superko", "--forbid-suicide"]
        done = subprocess.run(words, input=text, check=True, capture_output=True, text=True)
        answers = [answer.strip() for answer in done.stdout.split("\n\n")]
        assert expected == answers[: len(expected)], number
        stones = [set(answer.removeprefix("=").split()) for answer in answers[len(expected) : len(expected) + 2]]
        found = game.board.stones().items()
        assert stones == [{vertex(point, game.size) for point, each in found if each == colour} for colour in SEATS]
    record_property("figure", f"{games} games, 0 differences; tries: {dict(tried)}")
