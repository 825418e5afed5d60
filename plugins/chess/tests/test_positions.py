"""Openings as text, EPD and PGN: their notations, and the message for each mistake."""

import gzip
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judge_chess.positions import read_opening, read_start

from judge.base.errors import InputError
from judge.catalog import game_entry
from judge.contest.opening_files import read_openings

zstd: Any = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
NO_FEN = "is no FEN; write board, colour, castling and en passant square"
SPANISH = "startpos moves e2e4 e7e5 g1f3 b8c6 f1b5"


@pytest.mark.parametrize(
    ("text", "opening"),
    [
        ("", ""),
        ("startpos", "startpos"),
        ("  startpos  moves  e2e4 ", "startpos moves e2e4"),
        ("1. e4 e5 2. Nf3 Nc6 3. Bb5", SPANISH),
        ("1.e4 e5 2.Nf3 Nc6 3.Bb5 *", SPANISH),
        (chess.STARTING_FEN, "startpos"),
        ('4k3/8/8/8/8/8/8/R3K3 w Q - bm Ra8#; id "x";', "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1"),
        ("4k3/8/8/8/8/8/8/4K2R\tw\tK\t-\t0\t1\r\n", "4k3/8/8/8/8/8/8/4K2R w K - 0 1"),
        ("4k3/8/8/8/8/8/8/4K2R w H - 0 0", "4k3/8/8/8/8/8/8/4K2R w K - 0 1"),
        ("4k3/8/8/8/8/8/8/R3K3 w Q - 7 30 moves a1a2", "4k3/8/8/8/8/8/8/R3K3 w Q - 7 30 moves a1a2"),
    ],
)
def test_notations(text: str, opening: str) -> None:
    assert opening == read_opening(text, chess960=False)


def test_chess960_accepts_a_number_and_x_fen() -> None:
    assert read_opening("518", chess960=True) == "startpos"
    first = chess.Board.from_chess960_pos(0).fen()
    assert first == read_opening("0", chess960=True)
    assert first == read_opening(first, chess960=True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "8/8/8/8/8/8/8/8 w - -",
            "position: 8/8/8/8/8/8/8/8 w - - 0 1 is illegal: no white king, no black king, empty",
        ),
        ("4k3/8/8/8/8/8/8/4K2R w KQ -", "position: 4k3/8/8/8/8/8/8/4K2R w KQ - 0 1 is illegal: bad castling rights"),
        ("4k2R/8/8/8/8/8/8/4K3 w - - 0 1", "position: 4k2R/8/8/8/8/8/8/4K3 w - - 0 1 is illegal: opposite check"),
        ("4k3/8/8/8/8/8/8/4K2R", f"position: '4k3/8/8/8/8/8/8/4K2R' {NO_FEN}"),
        ("4k3/8/8/8/8/8/8/4K2R w KX -", f"position: '4k3/8/8/8/8/8/8/4K2R w KX -' {NO_FEN}"),
        ("4k3/8/8/8/8/8/8/4K2R w K - 1.5 1", "position: '1.5 1' are no counters of a FEN; write such as 0 1"),
        ("4k3/8/8/8/8/8/8/4K2RR w K - 0 1", "position: '4k3/8/8/8/8/8/8/4K2RR w K - 0 1' is no FEN: "),
        (
            "rnbqkbnr/pppppppp/8/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            (
                "position: 'rnbqkbnr/pppppppp/8/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1' is no FEN: expected 8 rows in"
                " position part of fen: 'rnbqkbnr/pppppppp/8/8/8/8/8/PPPPPPPP/RNBQKBNR'"
            ),
        ),
        (
            "9/8/8/8/8/8/8/4K2k w - - 0 1",
            (
                "position: '9/8/8/8/8/8/8/4K2k w - - 0 1' is no FEN: invalid character in position part of fen: "
                "'9/8/8/8/8/8/8/4K2k'"
            ),
        ),
        ("4k3/8/8/8/8/8/8/R7 w - - 0 1", "position: 4k3/8/8/8/8/8/8/R7 w - - 0 1 is illegal: no white king"),
        ("KK2k3/8/8/8/8/8/8/8 w - - 0 1", "position: KK2k3/8/8/8/8/8/8/8 w - - 0 1 is illegal: too many kings"),
        ("R3k3/8/8/8/8/8/4r3/4K3 w - - 0 1", "position: R3k3/8/8/8/8/8/4r3/4K3 w - - 0 1 is illegal: opposite check"),
        ("P3k3/8/8/8/8/8/8/4K3 w - - 0 1", "position: P3k3/8/8/8/8/8/8/4K3 w - - 0 1 is illegal: pawns on backrank"),
        ("4k3/8/8/8/8/8/8/R3K3 w - e3 0 1", "position: 4k3/8/8/8/8/8/8/R3K3 w - e3 0 1 is illegal: invalid ep square"),
        (
            "4k3/8/8/8/8/8/8/4K2R W - - 0 1",
            (
                "position: '4k3/8/8/8/8/8/8/4K2R W - - 0 1' is no FEN: expected 'w' or 'b' for turn part of fen: "
                "'4k3/8/8/8/8/8/8/4K2R W - - 0 1'"
            ),
        ),
        ("4k3/8/8/8/8/8/8/4K2R w KQkqK - 0 1", f"position: '4k3/8/8/8/8/8/8/4K2R w KQkqK - 0 1' {NO_FEN}"),
        ("4k3/8/8/8/8/8/8/4K2R w - - -1 1", "position: '-1 1' are no counters of a FEN; write such as 0 1"),
        ("startpos e2e4", f"position: 'startpos e2e4' {NO_FEN}"),
        ("startpos moves 0000", f"position: move 1, '0000', is illegal in {chess.STARTING_FEN}"),
        ("e4 -- d4", "position: '--' is neither a FEN nor a legal move in "),
        ('[Event "a"]\n\n1. e4 -- 2. d4 *', "position: move 2, '0000', is illegal in "),
        (
            "8/P3k3/8/8/8/8/8/4K3 w - - 0 1 moves a7a8Q",
            "position: move 1, 'a7a8Q', is illegal in 8/P3k3/8/8/8/8/8/4K3 w - - 0 1",
        ),
        (
            "8/P3k3/8/8/8/8/8/4K3 w - - 0 1 moves a7a8",
            "position: move 1, 'a7a8', is illegal in 8/P3k3/8/8/8/8/8/4K3 w - - 0 1",
        ),
        ("startpos moves f2f3 e7e5 g2g4 d8h4 e2e4", "position: move 5, 'e2e4', is illegal in "),
        ("startpos moves e2e5", f"position: move 1, 'e2e5', is illegal in {chess.STARTING_FEN}"),
        ("e4 e9", "position: 'e9' is neither a FEN nor a legal move in "),
        ("961", "position: '961' is neither a FEN nor a legal move in "),
    ],
)
def test_mistakes_are_named(text: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        read_opening(text, chess960=False)
    assert str(refused.value).startswith(said)


def test_number_outside_chess960_is_refused() -> None:
    with pytest.raises(InputError) as refused:
        read_opening("960", chess960=True)
    assert str(refused.value) == "position: '960' needs a first position; write a FEN and moves"


@settings(deadline=None)
@given(st.text("kqrbnpKQRBNP12345678/ w-e4moves0.", max_size=60), st.booleans())
def test_any_text_is_an_opening_or_an_input_error(text: str, chess960: bool) -> None:
    try:
        opening = read_opening(text, chess960=chess960)
    except InputError:
        return
    assert opening == read_opening(opening, chess960=chess960)
    read_start(opening, chess960=chess960).board()


EPD = """# two positions
rnbqkb1r/pp2pppp/3p1n2/8/3NP3/8/PPP2PPP/RNBQKB1R w KQkq - id "one";

r1bqkbnr/1ppp1ppp/p1n5/4p3/B3P3/5N2/PPPP1PPP/RNBQK2R b KQkq -
"""

PGN = """[Event "a"]
[Result "*"]

1. e4 {a comment} e5 (1... c5) *

[Event "b"]
[SetUp "1"]
[FEN "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1"]
[Result "*"]

1. Ra8+ *
"""


def openings_of(path: Path, **options: str) -> list[object]:
    openings = game_entry("chess").openings(options)
    assert openings is not None
    return list(read_openings(path, openings))


@pytest.mark.parametrize("compress", [bytes, gzip.compress, zstd.compress])
def test_files_of_epd_and_pgn_are_read(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    (tmp_path / "book.epd").write_bytes(compress(EPD.encode()))
    (tmp_path / "book.pgn").write_bytes(compress(PGN.encode()))

    assert openings_of(tmp_path / "book.epd") == [
        "rnbqkb1r/pp2pppp/3p1n2/8/3NP3/8/PPP2PPP/RNBQKB1R w KQkq - 0 1",
        "r1bqkbnr/1ppp1ppp/p1n5/4p3/B3P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 0 1",
    ]
    assert openings_of(tmp_path / "book.pgn") == [
        "startpos moves e2e4 e7e5",
        "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1 moves a1a8",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (PGN.replace("e5", "e6 2. Ke3"), ", line 1: PGN: \"illegal san: 'Ke3' in "),
        (PGN.replace("Ra8+", "Rb8+"), ", line 6: PGN: \"illegal san: 'Rb8' in "),
        ("startpos moves e2e4\n4k3/8 w - -\n", ", line 2: position: '4k3/8 w - - 0 1' is no FEN: "),
    ],
)
def test_mistakes_of_files_are_named_with_their_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "book"
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        openings_of(path)
    assert said in str(refused.value)


def test_first_openings_of_a_hundred_thousand_lines_are_read_without_the_rest(tmp_path: Path) -> None:
    """The rest is not chess."""
    path = tmp_path / "book.epd.zst"
    path.write_bytes(zstd.compress((EPD + "no opening\n" * 100_000).encode()))
    openings = game_entry("chess").openings({})
    assert openings is not None

    assert 2 == len(read_openings(path, openings, 2))


CANONICAL = [
    ("4k3/8/8/8/8/8/4P3/4K3  w - - 007 0", "4k3/8/8/8/8/8/4P3/4K3 w - - 7 1"),
    ("r3k2r/8/8/8/8/8/8/R3K2R w QKqk -", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"),
    ("rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 2",) * 2,
    ("4k3/8/8/8/8/8/8/Q~3K3 b - - 0 1", "4k3/8/8/8/8/8/8/Q3K3 b - - 0 1"),
]


@pytest.mark.parametrize(("text", "opening"), CANONICAL)
def test_opening_has_one_notation(text: str, opening: str) -> None:
    found: list[chess.Board] = []
    assert opening == read_opening(text, chess960=False, check=found.append)
    assert found == [chess.Board(opening)]
    assert opening == chess.Board(opening).fen(en_passant="fen")


def test_each_opening_of_a_file_is_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    openings = game_entry("chess").openings({})
    assert openings is not None
    parsed: list[str] = []
    set_fen = chess.Board.set_fen

    def counted(board: chess.Board, fen: str) -> None:
        parsed.append(fen)
        set_fen(board, fen)

    monkeypatch.setattr(chess.Board, "set_fen", counted)
    path = tmp_path / "openings.epd"
    path.write_text("".join(f"4k3/8/8/8/8/8/4P3/4K3 w - - {number} 1\n" for number in range(99)))
    assert 99 == len(read_openings(path, openings))
    assert 99 == len(parsed)
