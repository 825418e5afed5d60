"""The rules: captures, suicide, superko, area scoring, options, and hostile answers."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judge_go.board import BLACK, WHITE, Board, handicap_points, read_vertex, vertex
from judge_go.rules import Go, Play

from judge.base.errors import InputError
from judge.games.types import AgentFault, Reply, ReplyKind, RuleResult, Verdict, decided


def game_of(position: str = "", **options: Any) -> Go:
    return Go.from_options({"size": 9, "position": position, **options})


def play(game: Go, moves: str) -> Go:
    for word in moves.split():
        assert game.end is None, f"the game is over before {word}"
        game.apply(decided(Play(read_vertex(word, game.size)), word))
    return game


def drawing(game: Go) -> list[str]:
    stones = game.board.stones()
    return ["".join({BLACK: "X", WHITE: "O"}.get(stones.get((x, y)), ".") for x in range(9)) for y in range(9)]  # type: ignore[arg-type]


def position_of(*rows: str) -> str:
    """Rows from the top, X black and O white; missing rows at the bottom are empty."""
    found: dict[str, list[str]] = {"X": [], "O": []}
    for y, row in enumerate(rows):
        for x, cell in enumerate(row):
            if cell in found:
                found[cell].append(vertex((x, y), 9))
    return f"black {' '.join(found['X'])} white {' '.join(found['O'])} to black"


@pytest.mark.parametrize(
    ("rows", "move", "captured"),
    [
        (("OX", "."), "A8", {"A9"}),
        (("OOX", "X.X", ".X"), "B8", {"A9", "B9"}),
        ((".X.X", "XO.OX", ".X.X"), "C8", {"B8", "D8"}),
        ((".O", "X"), "A9", set()),
    ],
)
def test_stones_without_liberties_are_captured(rows: tuple[str, ...], move: str, captured: set[str]) -> None:
    game = game_of(position_of(*rows))
    before = game.board.stones()
    after = play(game, move).board.stones()

    assert {vertex(point, 9) for point in before if point not in after} == captured


@pytest.mark.parametrize(
    ("rows", "move"),
    [
        ((".O", "O"), "A9"),
        (("X.O", "OO"), "B9"),
        (("OXXO", "OX.O", ".OO"), "C8"),
    ],
)
def test_suicide_is_refused(rows: tuple[str, ...], move: str) -> None:
    game = play(game_of(position_of(*rows)), move)

    assert game.end == AgentFault(Verdict.ILLEGAL, 0, f"'{move}': suicide: the stone would have no liberty")


def test_capture_comes_before_suicide() -> None:
    game = play(game_of(position_of(".OX", "OX.", "X..")), "A9")

    assert game.end is None
    assert drawing(game)[0][:3] == "X.X"


def test_ko_may_be_retaken_only_after_another_move() -> None:
    ko = position_of("....", ".XO.", "X.XO", ".XO.")
    game = play(game_of(ko), "pass B7")  # white takes C7

    assert game.objection(read_vertex("C7", 9)) == "superko: the position would repeat an earlier one"
    play(game, "J1 J9 C7")
    assert game.end is None
    assert drawing(game)[2][:4] == "X.XO"


def test_triple_ko_is_ended_by_superko() -> None:
    rows = (".XO...XO.", "XO.O.X.XO", ".XO...XO.", ".........", ".XO......", "XO.O.....", ".XO......")
    game = play(game_of(position_of(*rows)), "C8 G8 C4 B8 H8")

    assert game.objection(read_vertex("B4", 9)) == "superko: the position would repeat an earlier one"
    assert play(game, "J1").end is None


def test_pass_does_not_count_as_a_repeated_position() -> None:
    game = play(game_of(), "pass D4 pass pass")

    assert isinstance(game.end, RuleResult)


@pytest.mark.parametrize(
    ("rows", "komi", "result", "reason"),
    [
        ((), 7.5, "W+7.5", "two passes: black 0, white 0 with komi 7.5"),
        (("....X",), 0.0, "B+81", "two passes: black 81, white 0 with komi 0"),
        (("....X...O",), 0.5, "W+0.5", "two passes: black 1, white 1 with komi 0.5"),
        (("...XO....",) * 9, 7.0, "W+16", "two passes: black 36, white 45 with komi 7"),
        (("....XO...",) * 9, 9.0, "0", "two passes: black 45, white 36 with komi 9"),
        (("....XO...",) * 9, 8.5, "B+0.5", "two passes: black 45, white 36 with komi 8.5"),
        # A dead stone counts as alive and makes the region neutral.
        (("O...XO...", *("....XO...",) * 8), 0.5, "W+28.5", "two passes: black 9, white 37 with komi 0.5"),
        # Neutral points between living groups (seki) count for neither side.
        (
            ("X.O......", "X.O......", *("XXO......",) * 7),
            0.5,
            "W+47.5",
            "two passes: black 16, white 63 with komi 0.5",
        ),
    ],
)
def test_area_is_counted(rows: tuple[str, ...], komi: float, result: str, reason: str) -> None:
    game = play(game_of(position_of(*rows) if rows else "", komi=komi), "pass pass")

    assert game.end is not None
    assert reason == game.end.reason
    assert result == game.result(("", ""))


def test_limit_of_moves_scores_the_board() -> None:
    game = play(game_of(max_moves=3), "E5 pass D5")

    assert game.end == RuleResult(Verdict.WIN, 0, "3 moves: black 81, white 0 with komi 7.5")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": 10}, "go options: size: 10 is no size; write 9, 13 or 19"),
        ({"komi": "six"}, "go options: komi: Input should be a valid number"),
        ({"komi": float("nan")}, "go options: komi: Input should be a finite number"),
        ({"komi": 6.25}, "go options: komi: 6.25 is no komi; write a whole number or a half, such as 6.5"),
        ({"komi": 1e9}, "go options: komi: Input should be less than or equal to 361"),
        ({"handicap": 1}, "handicap: 1 stones on 9x9; write 0 or a number from 2 to 9"),
        (
            {"handicap": 2, "position": "black D4"},
            "handicap: the position has its own stones; write handicap = 0 or leave them out",
        ),
        ({"position": "D4 D4"}, "position: move 2, D4: there is a stone"),
        ({"position": "D4 K10"}, "position: K10 is not on the 9x9 board"),
        ({"position": "D4 I5"}, "position: 'I5' is no point; write D4 Q16, black D4 Q16 moves C3, or an SGF"),
        ({"position": "D4 pass pass"}, "position: two passes end the game; leave out the last one"),
        (
            {"position": "black D4 pass"},
            "position: pass is no stone; write it after moves, such as D4 Q16, black D4 Q16 moves C3, or an SGF",
        ),
        ({"position": "black D4 D4"}, "position: two stones at D4"),
        ({"position": "black A9 white A8 B9"}, "position: stones next to B9 have no liberty; leave them out"),
        ({"position": "to red"}, "position: to 'red'; write to black or to white"),
        ({"position": "(;GM[4]SZ[9];B[aa])"}, "position, line 1: GM[4] is another game; Go is GM[1]"),
        ({"position": "(;SZ[19];B[aa])"}, "position, line 1: SZ[19]; the board has SZ[9]"),
        ({"position": "(;SZ[9];B[aj])"}, "position, line 1: 'aj' is no point of a 9x9 board; write such as dd"),
        (
            {"position": "(;SZ[9];B[aa];AW[bb])"},
            "position, line 1: AW changes stones during the game; keep only B and W",
        ),
        (
            {"position": "(;SZ[9];B[aa"},
            "position, line 1: '[aa' is not valid SGF here; close every game with ) and every value with ]",
        ),
    ],
)  # fmt: skip
def test_wrong_option_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refused:
        Go.from_options({"size": 9, **options})
    assert message == str(refused.value)


@pytest.mark.parametrize(
    ("reply", "verdict", "reason"),
    [
        (decided(Play((9, 0)), "K9"), Verdict.ILLEGAL, "'K9': not on the 9x9 board"),
        (decided(Play((0, -1)), "A10"), Verdict.ILLEGAL, "'A10': not on the 9x9 board"),
        (decided(Play((3, 5)), "D4"), Verdict.ILLEGAL, "'D4': there is a stone"),
        (Reply(ReplyKind.RESIGNED, "resign"), Verdict.RESIGNED, "resigned"),
        (Reply(ReplyKind.REFUSED, "genmove white: no"), Verdict.REFUSED, "refused to play: 'genmove white: no'"),
        (
            Reply(ReplyKind.UNREADABLE, "= e4\x1b[2J"),
            Verdict.UNREADABLE,
            r"'= e4\x1b[2J' is no move; white answers such as = D4 or = pass",
        ),
    ],
)
def test_wrong_answer_loses(reply: Reply, verdict: Verdict, reason: str) -> None:
    game = play(game_of(), "D4")
    game.apply(reply)

    assert game.end == AgentFault(verdict, 1, reason)
    assert game.result(("", "")) == ("B+R" if verdict is Verdict.RESIGNED else "B+F")


@pytest.mark.parametrize(
    ("size", "count", "points"),
    [
        (19, 2, "D4 Q16"),
        (19, 3, "D4 Q16 D16"),
        (19, 5, "D4 Q16 D16 Q4 K10"),
        (19, 6, "D4 Q16 D16 Q4 D10 Q10"),
        (19, 8, "D4 Q16 D16 Q4 D10 Q10 K4 K16"),
        (19, 9, "D4 Q16 D16 Q4 D10 Q10 K4 K16 K10"),
        (13, 4, "D4 K10 D10 K4"),
        (9, 5, "C3 G7 C7 G3 E5"),
    ],
)
def test_handicap_stones_are_on_the_fixed_points(size: int, count: int, points: str) -> None:
    assert sorted(vertex(point, size) for point in handicap_points(count, size)) == sorted(points.split())


def test_white_begins_with_a_handicap() -> None:
    game = Go.from_options({"size": 19, "handicap": 2, "position": "C3 pass"})

    assert game.pending().seat == 1
    assert game.moves == [(1, (2, 16)), (0, None)]
    assert len(game.board.stones()) == 3


@settings(deadline=None, max_examples=8)
@given(st.integers(0, 2**32))
def test_random_games_never_repeat_a_position_and_always_have_liberties(seed: int) -> None:
    chance = random.Random(seed)
    game = game_of(max_moves=200)
    seen = {game.board.position}
    while game.end is None:
        free = [(x, y) for x in range(9) for y in range(9) if not game.objection((x, y))]
        point = chance.choice(free) if free else None
        game.apply(decided(Play(point)))
        if point is not None:
            assert game.board.position not in seen
            seen.add(game.board.position)
        board = Board(9)
        stones = sorted(game.board.stones().items(), key=lambda each: chance.random())
        assert [board.play(at, colour) for at, colour in stones] == [0] * len(stones)
    assert sum(game.board.area()) <= 81
