"""`.psq` files: what Piskvork would read, and what others wrote."""

from dataclasses import replace

import pytest

from judge.base.errors import InputError
from judge.formats.gomoku.formats import first_game
from judge.formats.gomoku.piskvork import MAX_NAME_CHARACTERS, safe_name
from judge.formats.gomoku.psq import read_psq, write_psq, write_psq_gomocupjudge
from judge.formats.gomoku.record import WINNERS, FiveRecord, Outcome
from judge.formats.steps import Stepped
from judge.games.types import Verdict
from tests.formats import games
from tests.games.test_gomoku import full_board_order
from tests.hostile import assert_bounded

GAME = replace(games.GAME, width=15, height=15, names=("first.zip", "second.zip"), event="Renju 2024")

ROW_OF_BLACK = tuple((x, y, 20) for x in range(5) for y in range(2))[:-1]


def psq(*lines: str, end: str = "\r\n") -> bytes:
    return "".join(line + end for line in lines).encode("latin-1")


def test_a_game_is_written_as_piskvork_writes_it() -> None:
    """Squares from 1, ms of each move, black's name first, the code last, CR LF everywhere."""
    assert write_psq(replace(GAME, verdict="win")) == (
        b"Piskvorky 15x15, 11:11, 0\r\n8,8,0\r\n9,8,0\r\n9,9,1520\r\n1,15,7\r\nfirst.zip\r\nsecond.zip\r\n0\r\n"
    )


RULES = {Verdict.WIN, Verdict.DRAW, Verdict.FOUL}
TIMES = {Verdict.START_TIME, Verdict.TURN_TIME, Verdict.MATCH_TIME}


@pytest.mark.parametrize(
    ("verdict", "outcome", "code"),
    [
        *((verdict, "white", 0) for verdict in sorted(RULES)),
        *((verdict, "white", 15) for verdict in sorted(TIMES)),
        *((Verdict.VOID, outcome, -1) for outcome in ("white", "")),
        *((verdict, "white", -2) for verdict in sorted({*Verdict} - RULES - TIMES - {Verdict.VOID})),
        # 15 and -2 say that the side to move lost: where it did not, only -1 does not lie.
        (Verdict.TURN_TIME, "black", -1),
    ],
)
def test_every_verdict_has_a_code(verdict: Verdict, outcome: Outcome, code: int) -> None:
    written = write_psq(replace(GAME, verdict=verdict.value, outcome=outcome))

    assert str(code) == written.decode().splitlines()[-1]
    assert outcome == "white" or read_psq(written).outcome == ""


def test_a_word_that_is_no_verdict_is_refused() -> None:
    """A new verdict must get its code, not a silent guess."""
    with pytest.raises(ValueError, match="boredom"):
        write_psq(replace(GAME, verdict="boredom"))


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("pbrain-rapfi 2.1.zip", "pbrain-rapfi 2.1.zip"),
        ("Žluťoučký kůň", "Zlutoucky kun"),
        ("two\r\nlines\x85and\u2028more", "two lines and more"),
        ("8,8,0", "_8_8_0"),
        ("-2", "_-2"),
        ("7z.zip", "_7z.zip"),
        ("../<b>evil\x1b[2J", "_..__b_evil__2J"),
        ("五子棋", "___"),
        ("", "_"),
        (" \t ", "_"),
        ("x" * 500, "x" * MAX_NAME_CHARACTERS),
    ],
)
def test_a_name_becomes_one_safe_line(name: str, safe: str) -> None:
    assert safe_name(name) == safe
    assert safe_name(safe) == safe


NAMES = ("A", "Z\xfcrich\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}")
STONES = ((7, 7, 0), (8, 8, 31))

FILES = {
    # Saved by hand in Piskvork: two or three numbers a move, a code, and nobody's name.
    "a game between people": (
        ["Piskvorky 20x18, 0:5, 0", "1,1", "20,18,300", "0"],
        FiveRecord(width=20, height=18, moves=((0, 0, 0), (19, 17, 300))),
    ),
    # The header's last number says whose the first stone is; names come as (black, white).
    "the second player started": (
        ["Piskvorky 15x15, 11:11, 1", "8,8,20", "white.zip", "black.zip", "0"],
        FiveRecord(width=15, height=15, moves=((7, 7, 20),), names=("black.zip", "white.zip")),
    ),
    "a record of Gomocup": (
        ["Piskvorky 15x15, 11:11, 0", "8,8,0", "9,9,31", "A.zip", "B.zip", "-1", "1,2024"],
        FiveRecord(
            width=15, height=15, moves=STONES, opening=1, names=("A.zip", "B.zip"), outcome="white", event="2024"
        ),
    ),
    # Blank lines and blanks, names in Windows-1252 without a code, a negative time.
    "small differences": (
        ["", "Piskvorky 15x15,11:11 ,0 ", " 8 , 8 , -10 ", "", "A", "Z\xfcrich\x9b", "", ""],
        FiveRecord(width=15, height=15, moves=((7, 7, 0),), names=NAMES),
    ),
    # A game that ended before its first stone is still a record.
    "only a header": (["Piskvorky 15x15, 11:11, 0"], FiveRecord(width=15, height=15)),
}


@pytest.mark.parametrize("end", ["\r\n", "\n"], ids=ascii)
@pytest.mark.parametrize("name", FILES)
def test_files_of_others_are_read(name: str, end: str) -> None:
    lines, record = FILES[name]

    assert record == read_psq(psq(*lines, end=end))


@pytest.mark.parametrize(
    ("stones", "code", "outcome", "verdict"),
    [
        (ROW_OF_BLACK, "0", "black", "win"),
        (ROW_OF_BLACK[:8], "15", "white", "turn-time"),
        (ROW_OF_BLACK[:7], "15", "black", "turn-time"),
        (ROW_OF_BLACK[:8], "-2", "white", ""),
        (ROW_OF_BLACK[:8], "-1", "", ""),
        (ROW_OF_BLACK, "-1", "", ""),
        (ROW_OF_BLACK[:8], "16", "", ""),
        # Free style's win, renju's foul: without the rule nobody knows.
        ((*ROW_OF_BLACK[:8], (5, 0, 9), (9, 9, 9), (4, 0, 9)), "0", "", ""),
        (tuple((x, y, 9) for y in range(15) for x in range(15) if y % 4 < 2), "0", "", ""),
    ],
)
def test_winner_is_read_from_code_and_stones(
    stones: tuple[tuple[int, int, int], ...], code: str, outcome: Outcome, verdict: str
) -> None:
    """0: a five of the last stone wins. 15 and -2: whoever was to move lost. Otherwise nobody knows."""
    lines = [f"{x + 1},{y + 1},{ms}" for x, y, ms in stones]
    record = read_psq(psq("Piskvorky 15x15, 11:11, 0", *lines, "A", "B", code))
    assert (outcome, verdict) == (record.outcome, record.verdict)


def test_a_board_that_is_nearly_full_is_a_draw() -> None:
    """Piskvork ends a game when 25 squares are left."""
    lines = [f"{x + 1},{y + 1},9" for x, y in full_board_order(15)[:200]]
    assert "draw" == read_psq(psq("Piskvorky 15x15, 11:11, 0", *lines, "A", "B", "0")).outcome
    assert "" == read_psq(psq("Piskvorky 15x15, 11:11, 0", *lines[:-1], "A", "B", "0")).outcome


def test_a_played_stone_of_no_time_is_not_the_openings() -> None:
    """The first is written as 1 ms, so that the opening before it can be told."""
    quick = replace(GAME, moves=((7, 7, 0), (8, 7, 0), (8, 8, 0), (0, 14, 0)))
    written = write_psq(quick)
    assert b"9,9,1\r\n1,15,0\r\n" in written
    assert 2 == read_psq(written).opening


def test_a_game_is_written_as_gomocupjudge_writes_it() -> None:
    """Always -1, then who won and the tournament: 2 is white where the opening is even."""
    assert write_psq_gomocupjudge(GAME).endswith(b"first.zip\r\nsecond.zip\r\n-1\r\n2,Renju 2024\r\n")


@pytest.mark.parametrize("opening", [0, 1, 2, 3])
@pytest.mark.parametrize("outcome", [*WINNERS, "draw"])
def test_an_odd_opening_turns_the_winners_number_round(opening: int, outcome: Outcome) -> None:
    """Player 1 moves first after the opening: with an odd one that is white, named second."""
    stones = tuple((x, y, 0 if n < opening else 9) for n, (x, y, _) in enumerate(GAME.moves))
    game = replace(GAME, moves=stones, opening=opening, outcome=outcome)
    first_is_black = opening % 2 == 0
    number = 0 if outcome == "draw" else 1 if (outcome == "black") == first_is_black else 2

    written = write_psq_gomocupjudge(game)

    assert f"{number},Renju 2024" == written.decode().splitlines()[-1]
    again = read_psq(written)
    assert (outcome, opening, "Renju 2024") == (again.outcome, again.opening, again.event)


def test_a_game_that_does_not_count_has_no_winner_in_it() -> None:
    """GomocupJudge has no number for it: the line is left out."""
    written = write_psq_gomocupjudge(replace(GAME, outcome="", verdict="void", names=None))
    assert written.endswith(b"_\r\n_\r\n-1\r\n")
    assert "" == read_psq(written).outcome


def test_long_game_is_drawn_in_linear_work() -> None:
    """All positions share the stones."""
    moves = [f"{number % 60 + 1},{number // 60 + 1},0" for number in range(3600)]
    data = "\n".join(["Piskvorky 60x60, 11:11, 0", *moves, "a.zip", "b.zip", "-1", ""]).encode()
    found: list[Stepped] = []

    assert_bounded(lambda: found.append(first_game(data, "it")), len(data))
    view = found[-1].steps[2000].view
    assert view is not None
    assert (2000, [(19, 33)], 2000) == (len(view.tokens), [*view.marks], view.tokens[19, 33].number)
    assert (20, 33) not in view.tokens


def test_board_that_no_rule_has_is_not_drawn() -> None:
    with pytest.raises(InputError, match="its board of 61x20 is too large"):
        first_game(b"Piskvorky 61x20, 11:11, 0\n1,1,0\na.zip\nb.zip\n-1\n", "it")
