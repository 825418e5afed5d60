"""`.psq` files: what Piskvork would read, and what others wrote."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.errors import InputError
from judge.games.types import Verdict
from judge.records.psq import LONGEST_NAME, Move, PsqRecord, read_psq, safe_name, write_psq

MOVES = ((7, 7, 0), (8, 7, 0), (8, 8, 1520), (0, 14, 7))
NAMES = ("first.zip", "second.zip")


def psq(*lines: str, end: str = "\r\n") -> bytes:
    return "".join(line + end for line in lines).encode("latin-1")


def test_a_game_is_written_as_piskvork_writes_it() -> None:
    """Squares from 1, ms of each move, black's name first, the code last, CR LF everywhere."""
    assert write_psq(15, 15, MOVES, NAMES, Verdict.WIN) == (
        b"Piskvorky 15x15, 11:11, 0\r\n"
        b"8,8,0\r\n"
        b"9,8,0\r\n"
        b"9,9,1520\r\n"
        b"1,15,7\r\n"
        b"first.zip\r\n"
        b"second.zip\r\n"
        b"0\r\n"
    )


@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_has_a_code(verdict: Verdict) -> None:
    """The rules end a game with 0, time with 15, every other fault with -2, nobody with -1."""
    rules = {Verdict.WIN, Verdict.DRAW, Verdict.FOUL}
    times = {Verdict.START_TIME, Verdict.TURN_TIME, Verdict.MATCH_TIME}
    code = 0 if verdict in rules else 15 if verdict in times else -2
    if verdict is Verdict.VOID:
        code = -1
    assert read_psq(write_psq(15, 15, MOVES, NAMES, verdict.value)).code == code


def test_a_word_that_is_no_verdict_is_refused() -> None:
    """A new verdict must get its code, not a silent guess."""
    with pytest.raises(ValueError, match="boredom"):
        write_psq(15, 15, MOVES, NAMES, "boredom")


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
        ("x" * 500, "x" * LONGEST_NAME),
    ],
)
def test_a_name_becomes_one_safe_line(name: str, safe: str) -> None:
    """Nothing in a name can end its line, look like a move or a number, or reach a terminal."""
    assert safe_name(name) == safe
    assert safe_name(safe) == safe


@st.composite
def games(draw: st.DrawFn) -> tuple[int, int, tuple[Move, ...]]:
    width, height = draw(st.integers(5, 60)), draw(st.integers(5, 60))
    squares = st.tuples(st.integers(0, width - 1), st.integers(0, height - 1))
    taken = draw(st.lists(squares, max_size=30, unique=True))
    return width, height, tuple((x, y, draw(st.integers(0, 10**9))) for x, y in taken)


@settings(deadline=None)
@given(games(), st.tuples(st.text(), st.text()), st.sampled_from(Verdict))
def test_what_is_written_is_read_back(
    game: tuple[int, int, tuple[Move, ...]], names: tuple[str, str], verdict: Verdict
) -> None:
    """Board, moves, times and safe names of any game survive, with any line end."""
    width, height, moves = game
    written = write_psq(width, height, moves, names, verdict)
    record = read_psq(written)
    assert (record.width, record.height, record.moves) == game
    assert record.names == (safe_name(names[0]), safe_name(names[1]))
    assert read_psq(written.replace(b"\r\n", b"\n")) == record
    assert read_psq(written.replace(b"\r\n", b"\r")) == record
    assert write_psq(width, height, moves, record.names, verdict) == written


@settings(deadline=None)
@given(st.binary())
def test_rubbish_is_a_record_or_an_input_error(data: bytes) -> None:
    """No bytes make the reader fail in any other way."""
    for text in (data, b"Piskvorky 15x15, 11:11, 0\n" + data):
        with suppress(InputError):
            read_psq(text)


def test_a_game_between_people_has_no_names() -> None:
    """Saved by hand in Piskvork: two or three numbers a move, a code, and nobody's name."""
    data = psq("Piskvorky 20x18, 0:5, 0", "1,1", "20,18,300", "0")
    assert read_psq(data) == PsqRecord(20, 18, ((0, 0, 0), (19, 17, 300)), None, 0)


def test_the_second_player_may_have_started() -> None:
    """The header's last number says whose the first stone is; names come as (black, white)."""
    data = psq("Piskvorky 15x15, 11:11, 1", "8,8,20", "white.zip", "black.zip", "0")
    assert read_psq(data).names == ("black.zip", "white.zip")


def test_a_record_of_gomocup_is_read() -> None:
    """GomocupJudge ends in -1 and adds winner and tournament, which are kept as they stand."""
    data = psq("Piskvorky 15x15, 11:11, 0", "8,8,0", "A.zip", "B.zip", "-1", "1,2024", end="\n")
    assert read_psq(data) == PsqRecord(15, 15, ((7, 7, 0),), ("A.zip", "B.zip"), -1, "1,2024")


def test_small_differences_are_forgiven() -> None:
    """A byte order mark, blank lines and blanks, names without a code, a negative time."""
    data = b"\xef\xbb\xbf" + psq("", "Piskvorky 15x15,11:11 ,0 ")
    data += psq(" 8 , 8 , -10 ", "", "A", "Z\xfcrich\x85") + b"\n\n"
    assert read_psq(data) == PsqRecord(15, 15, ((7, 7, -10),), ("A", "Z\xfcrich?"), None)


def test_only_a_header_is_an_empty_game() -> None:
    """A game that ended before its first stone is still a record."""
    assert read_psq(b"Piskvorky 15x15, 11:11, 0") == PsqRecord(15, 15, (), None, None)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], "game.psq, line 1: no header; write it such as Piskvorky 15x15, 11:11, 0"),
        (["8,8,0"], "game.psq, line 1: no header"),
        (["Piskvorky 15x15"], "game.psq, line 1: no header"),
        (["Piskvorky 0x15, 11:11, 0"], "game.psq, line 1: no header"),
        (["H", "16,1,0"], "game.psq, line 2: 16,1,0 is off the 15x15 board; squares run from 1,1"),
        (["H", "1,0,0"], "game.psq, line 2: 1,0,0 is off the 15x15 board"),
        (["H", "8,8", "", "8,8,5"], "game.psq, line 4: 8,8,5 is on the square of line 2; remove"),
        (["H", "8,8,0", "8;9;0", "9,9,0", "A", "B", "0"], "game.psq, line 3: '8;9;0' is no move"),
        (["H", "8,8,0", "9,x,0", "A", "0"], "game.psq, line 3: '9,x,0' is no move"),
        (["H", "8,8,0", "9,9999", "0"], "game.psq, line 3: '9,9999' is no move"),
        (["H", "8,8,0", "A", "B", "lost"], "game.psq, line 3: 'A' is no move (x,y or x,y,ms), and"),
        (["H", "8,8,0", "\x1b[2J"], "game.psq, line 3: '?[2J' is no move"),
    ],
)
def test_a_mistake_is_named_with_its_line(lines: list[str], said: str) -> None:
    """The error names file, line, what stands there, and what should."""
    header = "Piskvorky 15x15, 11:11, 0"
    with pytest.raises(InputError) as refused:
        read_psq(psq(*(header if line == "H" else line for line in lines)), "game.psq")
    assert str(refused.value).startswith(said)
