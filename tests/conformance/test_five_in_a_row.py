"""Games and fouls of five in a row, compared with the library `renju`, GomocupJudge and Piskvork."""

import ctypes
import random
import shutil
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from judge.catalog.files import read_steps
from judge.games.gomoku import Gomoku
from judge.games.gomoku.requests import Square, Stone
from judge.games.types import RuleResult, Verdict, decided
from tests.conformance.others import library, program, sample
from tests.corpus.archive import SOURCE, parts, read
from tests.examples import RecordFigure, evidence
from tests.games.test_renju import crowd, foul_on, free_squares

pytestmark = [pytest.mark.slow, evidence]

CONTINUES, FOUL, DRAW = "continues", "foul", "draw"
COLOUR_WINS = ("black", "white")

Referee = Callable[[int, int, int], str]
"""The result after a stone on a column and row, of a colour."""


def result_of(game: Gomoku) -> str:
    match game.end:
        case None:
            return CONTINUES
        case RuleResult(winner=None):
            return DRAW
        case RuleResult(verdict=Verdict.FOUL):
            return FOUL
        case RuleResult(winner=int(winner)):
            return COLOUR_WINS[winner ^ game.black]
        case end:
            raise AssertionError(end)


def next_stone(game: Gomoku, chance: random.Random) -> Square:
    """A free square next to as many stones of the active player as possible, of four random ones."""
    request = game.pending()
    squares = {(x, y) for x, y, colour in request.stones if colour == request.colour}
    taken = {(x, y) for x, y, _ in request.stones}
    free = [(x, y) for x in range(game.width) for y in range(game.height) if (x, y) not in taken]
    offered = chance.sample(free, min(4, len(free)))
    return max(
        offered, key=lambda at: sum((at[0] + dx, at[1] + dy) in squares for dx in (-1, 0, 1) for dy in (-1, 0, 1))
    )


def compare_games(rule: str, games: int, referee_of: Callable[[int], Referee], seed: int) -> tuple[int, Counter[str]]:
    """Play random games; after each stone both results are equal. Returns the stones, and the ends of games."""
    chance, ends, stones = random.Random(seed), Counter[str](), 0
    for _ in range(games):
        size = chance.choice((5, 9, 15, 15, 20))
        game = Gomoku.from_options({"width": size, "height": size, "rule": rule, "draw_at": size * size})
        referee = referee_of(size)
        while game.end is None:
            (x, y), colour = next_stone(game, chance), len(game.stones) & 1
            game.apply(decided(Stone(x, y)))
            assert referee(x, y, colour) == result_of(game), (rule, size, game.stones)
            stones += 1
        ends[result_of(game)] += 1
    return stones, ends


def recorded_games(folder: Path, *rules: str) -> Iterator[tuple[str, Gomoku]]:
    """Names and games of the corpus: of these rules, on square boards, ended by the rules. `folder` is for files."""
    for part in (name for name in parts() if not name.startswith("contest-")):
        for name, text in read(part, SOURCE).items():
            path = folder / "game.json"
            path.write_bytes(text.encode("utf-8", "surrogatepass"))
            game = read_steps(path).game
            if not isinstance(game, Gomoku) or not isinstance(game.end, RuleResult):
                continue
            if game.rule in rules and not game.options.continuous and game.width == game.height:
                yield name, game


def referee_of_library(renju: ModuleType, rule: str) -> Callable[[int], Referee]:
    def referee_of(size: int) -> Referee:
        board = renju.RenjuBoard(board_size=size, rule=rule)

        def judge(x: int, y: int, _: int) -> str:
            status, reason = (value.name for value in board.play_move(x, y))
            by_reason: dict[str, str] = {
                "NORMAL": CONTINUES,
                "DRAW": DRAW,
                "FIVE_IN_A_ROW": status.removesuffix("_WIN").lower(),
            }
            return by_reason.get(reason, FOUL)

        return judge

    return referee_of


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("rule", ["freestyle", "standard", "renju"])
def test_games_end_as_in_the_library_renju(
    rule: str, monkeypatch: pytest.MonkeyPatch, record_property: RecordFigure
) -> None:
    games = sample(60)
    renju = library("renju", monkeypatch)
    stones, ends = compare_games(rule, games, referee_of_library(renju, rule), 1)
    record_property("figure", f"{rule}: {games} games, {stones} stones, 0 differences; ends: {dict(ends)}")


def test_recorded_games_end_as_in_the_library_renju(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: RecordFigure
) -> None:
    renju, compared = library("renju", monkeypatch), 0
    for name, game in recorded_games(tmp_path, "freestyle", "standard", "renju"):
        judge = referee_of_library(renju, game.rule)(game.width)
        results = [judge(*stone) for stone in game.stones]
        assert results == [CONTINUES] * (len(results) - 1) + [result_of(game)], name
        compared += 1
    assert compared >= 20
    record_property("figure", f"{compared} recorded games, 0 differences")


@pytest.mark.timeout(7200)
def test_forbidden_squares_are_those_of_the_library_renju(
    monkeypatch: pytest.MonkeyPatch, record_property: RecordFigure
) -> None:
    library("renju", monkeypatch)
    find_foul = import_module("renju.check_forbid").get_foul_type
    chance, positions, squares, fouls = random.Random(2), sample(60), 0, 0
    for _ in range(positions):
        position = crowd(chance)
        columns = [[0] * position.height for _ in range(position.width)]
        for colour, stones in enumerate((position.black, position.white), 1):
            for x, y in stones:
                columns[x][y] = colour
        for x, y in free_squares(position):
            is_foul = foul_on(position, (x, y)) is not None
            assert bool(find_foul(columns, x, y)) == is_foul, (position, x, y)
            squares, fouls = squares + 1, fouls + is_foul
    assert fouls
    record_property("figure", f"{positions} positions, {squares} squares, {fouls} of them forbidden, 0 differences")


def referee_of_gomocup_judge(folder: Path, rule: int, patch: pytest.MonkeyPatch) -> Callable[[int], Referee]:
    patch.syspath_prepend(folder / "client")
    for name in ("psutil", "socketio"):  # for its processes and its server
        patch.setitem(sys.modules, name, ModuleType(name))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        match = import_module("ai_match").ai_match

    def referee_of(size: int) -> Referee:
        played = match(size, [], "", "", "new", "new", rule=rule)
        stones = 0

        def judge(x: int, y: int, colour: int) -> str:
            nonlocal stones
            stones += 1
            answer = played.make_move(x, y, colour + 1)
            if answer == 0:
                return DRAW if stones == size * size else CONTINUES
            return {1: COLOUR_WINS[colour], -2: FOUL}[answer]

        return judge

    return referee_of


@pytest.mark.timeout(7200)
@pytest.mark.parametrize(
    ("rule", "number"), [("freestyle", 0), ("standard", 1), ("renju", 4), ("caro-overline", 8), ("caro", 9)]
)
def test_games_end_as_in_gomocup_judge(
    rule: str, number: int, monkeypatch: pytest.MonkeyPatch, record_property: RecordFigure
) -> None:
    referee_of = referee_of_gomocup_judge(program("GomocupJudge"), number, monkeypatch)
    games = sample(100)
    stones, ends = compare_games(rule, games, referee_of, 3)
    record_property("figure", f"{rule}: {games} games, {stones} stones, 0 differences; ends: {dict(ends)}")


@pytest.mark.timeout(7200)
def test_forbidden_squares_are_those_of_piskvork(tmp_path: Path, record_property: RecordFigure) -> None:
    shutil.copy(program("Piskvork") / "source/renju.cpp", tmp_path / "other.cpp")
    for header in ("hdr.h", "piskvork.h"):  # of Windows
        (tmp_path / header).touch()
    ours = Path(__file__).with_name("piskvork.cpp")
    compiled = tmp_path / "piskvork.so"
    subprocess.run(["g++", "-w", "-O1", "-shared", "-fPIC", f"-I{tmp_path}", "-o", compiled, ours], check=True)
    is_forbidden = ctypes.CDLL(str(compiled)).is_forbidden
    chance, positions, squares, fouls = random.Random(4), sample(300), 0, 0
    for _ in range(positions):
        position = crowd(chance)
        cells = bytearray(position.width * position.height)
        for colour, stones in enumerate((position.black, position.white), 1):
            for x, y in stones:
                cells[y * position.width + x] = colour
        for x, y in free_squares(position):
            is_foul = foul_on(position, (x, y)) is not None
            assert bool(is_forbidden(position.width, position.height, bytes(cells), x, y)) == is_foul, (position, x, y)
            squares, fouls = squares + 1, fouls + is_foul
    assert fouls
    record_property("figure", f"{positions} positions, {squares} squares, {fouls} of them forbidden, 0 differences")
