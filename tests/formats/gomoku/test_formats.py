"""Every format of five in a row: what is written is read back, and no text or bytes of strangers break it."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.base.errors import InputError
from judge.base.text import one_line
from judge.catalog.files import read_games
from judge.formats.gomoku.formats import GOMOKU_FORMATS, SIDE
from judge.formats.gomoku.record import FiveRecord
from tests.examples import examples, sized
from tests.formats.games import (
    ANY_SIDE,
    GAME,
    HOSTILE,
    as_gomocupjudge_keeps,
    as_pgn_keeps,
    as_psq_keeps,
    as_sgf_keeps,
    records,
)

FORMATS = GOMOKU_FORMATS.by_name

KEEPS: Mapping[str, Callable[[FiveRecord], FiveRecord]] = {
    "psq": as_psq_keeps,
    "psq-gomocupjudge": as_gomocupjudge_keeps,
    "sgf": as_sgf_keeps,
    "pgn": as_pgn_keeps,
    "rec": lambda record: replace(as_psq_keeps(record), names=as_gomocupjudge_keeps(record).names),
}
"""What of a game each format keeps, beside who won."""

SIDES_OF = {"rec": st.just(SIDE)}

HOSTILE_BYTES = [text.encode("utf-8", "replace") for text in HOSTILE]

PIECES = [
    *("(", "(;", ")", "[", "]", "[a", '[A "', '[A "\\"', "{", "\\", ";", " ", "\n", "%\n"),
    *("1.", "8,8\n", "(;B[aa", "AB[aa]", "(;A[]B[])"),
]
"""What could send a careless reader back to where it came from."""

IN_FULL = ("sgf", "pgn")
"""The formats that keep the end in full."""


def read(data: bytes, name: str) -> FiveRecord:
    (record,) = FORMATS[name].read(data, "game")
    return record


@pytest.mark.parametrize("name", FORMATS)
@settings(deadline=None, max_examples=examples(sized(50, 100)))
@given(data=st.data())
def test_written_data_round_trips(tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject) -> None:
    """What the format keeps comes back the same, with any line end; who won is never told wrongly. Nothing is lost
    twice, and the file is known by its content.
    """
    record = data.draw(records(SIDES_OF.get(name, ANY_SIDE)))

    written = FORMATS[name].write(record)
    again = read(written, name)

    expected = KEEPS[name](record)
    if name not in IN_FULL:
        assert again.outcome in (record.outcome, "")
        assert again.outcome == record.outcome or name != "psq-gomocupjudge"
        expected = replace(expected, outcome=again.outcome, verdict=again.verdict)
    assert expected == again
    plain = written.replace(b"\r\n", b"\n")
    assert again == read(plain, name) == read(plain.replace(b"\n", b"\r"), name)
    assert again == read(b"\xef\xbb\xbf" + written, name)
    if again.outcome == record.outcome:
        assert written == FORMATS[name].write(again)
    path = tmp_path_factory.mktemp("known") / "file"
    path.write_bytes(written)
    assert again == read_games(path).games[0]


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
@pytest.mark.parametrize("name", FORMATS)
def test_no_name_breaks_a_format(name: str, text: str) -> None:
    """Whatever a stranger calls an agent or an event: one game, these stones, printable lines."""
    hostile = replace(GAME, names=(text, text), event=text, round=text, date=text)
    written = FORMATS[name].write(hostile)
    again = read(written, name)

    assert (again,) == tuple(GOMOKU_FORMATS.read(written, "game"))
    assert (GAME.moves if name == "pgn" else again.moves, again.opening) == (GAME.moves, GAME.opening)
    assert GAME.outcome == again.outcome
    shown = written.decode()
    assert set() == {c for c in shown if not c.isprintable()} - {"\r", "\n"}
    for said in (*(again.names or ()), again.event, again.round, again.date):
        assert one_line(said) == said


@pytest.mark.parametrize("name", FORMATS)
@settings(deadline=None, max_examples=examples(sized(75, 150)))
@given(data=st.data())
def test_rubbish_is_a_record_or_an_input_error(name: str, data: st.DataObject) -> None:
    """No bytes make a reader fail in any other way, and what it makes of them every writer takes or refuses."""
    written = FORMATS[name].write(GAME)
    cut = st.integers(0, len(written))
    begin, end = sorted((data.draw(cut), data.draw(cut)))
    rubbish = data.draw(st.binary(max_size=40) | st.sampled_from(HOSTILE_BYTES))
    for mangled in (rubbish, written[:begin] + rubbish + written[end:]):
        with suppress(InputError):
            for record in FORMATS[name].read(mangled, "game"):
                for form in FORMATS.values():
                    with suppress(InputError):
                        assert form.read(form.write(record), "game")


@pytest.mark.parametrize("piece", PIECES, ids=ascii)
@pytest.mark.parametrize("name", FORMATS)
def test_a_file_is_read_in_one_go(name: str, piece: str) -> None:
    """The same piece many times: a reader that went back for each would take hours."""
    start, pieces = FORMATS[name].write(GAME), piece.encode() * sized(20_000, 100_000)
    for data in (pieces, start[: len(start) // 2] + pieces):
        FORMATS[name].looks_like(data[:65536])
        with suppress(InputError):
            FORMATS[name].read(data, "game")


@pytest.mark.parametrize("name", ["sgf", "pgn"])
def test_a_file_may_hold_many_games(name: str) -> None:
    games = [replace(GAME, round=str(number)) for number in range(3)]
    written = GOMOKU_FORMATS.write(games, name)

    assert ["0", "1", "2"] == [game.round for game in FORMATS[name].read(written, "game")]
    with pytest.raises(InputError, match=r"a \.psq file holds one game, not 3"):
        GOMOKU_FORMATS.write(games, "psq")


def test_a_result_without_a_board_fits_pgn_alone(tmp_path: Path) -> None:
    """What a rating program reads is no game to look at."""
    bare = FiveRecord(width=0, height=0, names=("a", "b"), outcome="black")

    assert bare == read(FORMATS["pgn"].write(bare), "pgn")
    for name in ("psq", "psq-gomocupjudge", "sgf", "rec"):
        with pytest.raises(InputError, match="'a' - 'b': only the result is known"):
            FORMATS[name].write(bare)


HEADER = "Piskvorky 15x15, 11:11, 0"

MISTAKES: dict[str, list[tuple[str, str]]] = {
    "psq": [
        ("", "line 1: no header; write it such as Piskvorky 15x15, 11:11, 0"),
        ("8,8,0", "line 1: no header"),
        ("Piskvorky 15x15", "line 1: no header"),
        ("Piskvorky 0x15, 11:11, 0", "line 1: no header"),
        (f"{HEADER}\n16,1,0", "line 2: 16,1,0 is off the 15x15 board; squares run from 1,1"),
        (f"{HEADER}\n1,0,0", "line 2: 1,0,0 is off the 15x15 board"),
        (f"{HEADER}\n8,8\n\n8,8,5", "line 4: 8,8,5, stone 2, is on the square of stone 1; remove"),
        (f"{HEADER}\n8,8,0\n8;9;0\n9,9,0\nA\nB\n0", "line 3: '8;9;0' is not a move"),
        (f"{HEADER}\n8,8,0\n9,x,0\nA\n0", "line 3: '9,x,0' is not a move"),
        (f"{HEADER}\n8,8,0\n9,9999\n0", "line 3: '9,9999' is not a move"),
        (f"{HEADER}\n8,8,0\nA\nB\nlost", "line 3: 'A' is not a move (x,y or x,y,ms), and"),
        (f"{HEADER}\n8,8,0\n\x1b[2J", "line 3: '\\x1b[2J' is not a move"),
    ],
    "rec": [
        ("", "line 1: the names of black and white come first"),
        ("a\n", "line 2: the names"),
        ("a\nb\n7,7,0\n7,7,0\n", "line 4: 7,7,0, stone 2, is on the square of stone 1"),
        ("a\nb\n20,7,0\n", "line 3: 20,7,0 is off the 20x20 board; squares run from 0,0 to 19,19"),
        ("a\nb\n7,7,0\nrubbish\n", "line 4: 'rubbish' is neither a move"),
        ("a\nb\n7,7,0\n0\n0\n", "line 4: '0' is neither a move"),
    ],
    "sgf": [
        ("", "line 1: no game"),
        ("(;GM[1]SZ[19])", "line 1: GM[1] is another game; five in a row is GM[4]"),
        ("(;GM[4])", "line 1: '' is no size; write SZ[15]"),
        *(
            (f"(;SZ[15]{go};B[hh])", "line 1: without GM, KM or HA means Go; five in a row is GM[4]")
            for go in ("KM[6.5]", "HA[2]", "KM[0]RU[Chinese]")
        ),
        ("(;\nSZ[53])", "line 2: '53' is no size"),
        ("(;SZ[0])", "line 1: '0' is no size"),
        ("(;SZ[15];B[])", "line 1: '' is no square; write column and row, such as hh"),
        ("(;SZ[15];B[h8])", "line 1: 'h8' is no square"),
        ("(;SZ[15];B[pp])", "line 1: pp is off the 15x15 board; squares run from aa to oo"),
        ("(;SZ[15]\n;B[hh]\n;W[hh])", "line 3: hh, stone 2, is on the square of stone 1"),
        ("(;SZ[15]\n;W[hh])", "line 2: W moves out of turn"),
        ("(;SZ[15];AB[hh]\n;AB[ii])", "line 2: AB has 1 stones and AW 0; they must alternate, white first"),
        ("(;SZ[15];B[hh];W[ii]\n;AB[jj])", "line 2: AB and AW after a move"),
        ("(;SZ[15]\nPB[open", "line 2: '[open' is not valid SGF here"),
        ("(;SZ[15]\n1", "line 2: '1' is not valid SGF here"),
        ("(;SZ[15]\n;B[hh]", "line 2: '' is not valid SGF here; close every game with )"),
    ],
    "pgn": [
        ("", "line 1: no game"),
        ("\n1. d4 d5 1-0", "line 2: no tag before it"),
        ('[White "a"]\n[Result "2-0"]', "line 2: '2-0' is no result; it is one of 1-0, 0-1"),
        ('[White "a]\n', "line 1: '[White' is unknown in PGN; write a tag such as [White \"a\"]"),
        ('[White "a"]\n\n1. h8 2-0', "line 3: '2-0' is unknown in PGN; a game has squares, comments"),
        ('[White "a"]\n{open', "line 2: '{open' is unknown in PGN"),
        ('[Board "0x0"]\n', "line 1: '0x0' is no board; write such as 15x15"),
        ('[Board "15x15"]\n\n1. d4 O-O 1-0', "line 3: 'O-O' is no square; write such as h8"),
        ('[Board "15x15"]\n\n1. d4\nd4', "line 4: d4, stone 2, is on the square of stone 1"),
        ('[Board "15x15"]\n\n1. p1', "line 3: p1 is off the 15x15 board; squares run from a1 to o15"),
        ('[Board "15x15"]\n[OpeningStones "3"]\n1. d4 e5 *', "line 2: '3' is no number of stones"),
    ],
}


@pytest.mark.parametrize(("name", "text", "said"), [(name, *each) for name in MISTAKES for each in MISTAKES[name]])
def test_a_mistake_is_named_with_its_line(name: str, text: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        read(text.encode(), name)
    assert str(refused.value).startswith(f"game, {said}")


REC = replace(GAME, moves=((7, 7, 0), (19, 0, 1520)), opening=1, verdict="crash")


def test_rec_is_written_as_piskvork_writes_it() -> None:
    assert b"first\r\nsecond\r\n7,7,0\r\n19,0,1520\r\n-2\r\n" == FORMATS["rec"].write(REC)


def test_another_board_is_refused() -> None:
    """The format has no word for the size."""
    for width, height in ((15, 15), (20, 19)):
        with pytest.raises(InputError, match=f"always of a 20x20 board, this game of a {width}x"):
            FORMATS["rec"].write(replace(REC, width=width, height=height))


def test_names_of_any_look_are_names() -> None:
    """They are told by their place; no code, any line end, blank lines."""
    record = read(b"\r7,7,7\r-2\r\r19,19\r0,0,30\r", "rec")
    assert (("7,7,7", "-2"), ((19, 19, 0), (0, 0, 30))) == (record.names, record.moves)
    assert FORMATS["rec"].looks_like(b"\r7,7,7\r-2\r\r19,19\r0,0,30\r")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "neither a record"),
        (b"\x89PNG\r\n", r"neither a record \(.json\) nor a game in a known format: .psq, .sgf, .pgn, .rec \(gomoku\)"),
        (b"{}", "not a record of a game"),
        (b" {nonsense", "not a record of a game"),
    ],
)
def test_a_file_of_another_kind_is_named(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "what.ever"
    path.write_bytes(content)
    with pytest.raises(InputError, match=said) as refused:
        read_games(path)
    assert str(path) in str(refused.value)
