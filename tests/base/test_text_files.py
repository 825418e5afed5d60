"""Encodings of files that other programs wrote."""

import codecs
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.base.errors import InputError
from judge.base.text_files import decode_file, encoding_of, find_codec, reencode
from judge.formats.gomoku.formats import GOMOKU_FORMATS
from judge.formats.gomoku.record import FiveRecord
from tests.examples import examples

Writer = Callable[[tuple[str, str]], str]

NAMES = {
    "gbk": ("王小明", "诚誠"),
    "gb2312": ("王小明", "中文"),
    "GB18030": ("王小明", "㐀"),
    "Big5": ("功許", "蓋"),
    "Shift_JIS": ("ソース", "表十"),
    "EUC-JP": ("ソース", "表"),
    "EUC-KR": ("바둑", "오목"),
    "windows-1250": ("Žofinka", "Łukasz"),
    "windows-1251": ("Иванов", "Петров"),
    "windows-1252": ("Zürich", "Œuvre"),
    "windows-1254": ("I\u015f\u0131k", "Ça\u011f"),
    "KOI8-R": ("Иванов", "Петров"),
    "ISO-8859-2": ("Žofinka", "Łukasz"),
    "UTF-8": ("Žofinka", "王小明"),
    "utf8": ("Žofinka", "王小明"),
}
"""Names that an encoding can hold; the second byte of some letters is a backslash or a bracket."""

MOVES = ";B[hh];W[ii];B[hg];W[ig];B[hf];W[if];B[he];W[ie];B[hd])"


def read(data: bytes) -> FiveRecord:
    (game,) = GOMOKU_FORMATS.read(data, "game")
    assert isinstance(game, FiveRecord)
    return game


def sgf(names: tuple[str, str], charset: str = "") -> str:
    declared = f"CA[{charset}]" if charset else ""
    return f"(;GM[4]{declared}SZ[15]PB[{names[0]}]PW[{names[1]}]RE[B+]{MOVES}"


def psq(names: tuple[str, str]) -> str:
    return "\r\n".join(["Piskvorky 15x15, 11:11, 0", "8,8,0", "9,9,10", *names, "-1", "1,cup", ""])


def pgn(names: tuple[str, str]) -> str:
    return f'[White "{names[0]}"]\n[Black "{names[1]}"]\n[Result "1-0"]\n\n1-0\n'


def rec(names: tuple[str, str]) -> str:
    return "\r\n".join([*names, "7,7,0", "8,8,5", "-1", ""])


@pytest.mark.parametrize("charset", NAMES)
def test_charset_of_an_sgf_is_used(charset: str) -> None:
    codec = find_codec(charset)
    assert codec is not None
    game = read(sgf(NAMES[charset], charset).encode(codec))
    assert (NAMES[charset], "black") == (game.names, game.outcome)


@pytest.mark.parametrize(("letters", "charset"), [("誠", "gbk"), ("ソ表", "cp932")])
def test_charset_after_a_name_with_brackets_is_used(letters: str, charset: str) -> None:
    """The second byte of these letters ends or escapes a value for a reader of single bytes."""
    game = read(f"(;GM[4]PB[{letters}]PW[b]CA[{charset}]SZ[15]RE[W+]{MOVES}".encode(charset))
    assert ((letters, "b"), "white") == (game.names, game.outcome)


def test_charset_in_a_comment_is_text() -> None:
    game = read("(;GM[4]SZ[15]C[say CA[gbk\\]]PB[é]RE[B+];B[hh])".encode())
    assert ("é", "") == game.names


def test_plain_games_with_several_charsets_are_read() -> None:
    data = (sgf(("a", "b"), "gbk") + sgf(("c", "d"), "UTF-8")).encode()
    assert [("a", "b"), ("c", "d")] == [game.names for game in GOMOKU_FORMATS.read(data, "game")]


@pytest.mark.parametrize(
    "charset", ["klingon", "rot13", "unicode_escape", "idna", "utf-7", "base64", "zip", "\x00", "x" * 39]
)
def test_unknown_charset_of_an_sgf_is_refused_by_name(charset: str) -> None:
    with pytest.raises(InputError, match=r"game, line 2: CA\[.*\] is an unknown encoding; write CA\[UTF-8\]"):
        read(f"(;GM[4]\nCA[{charset}]SZ[15]PB[é];B[hh])".encode("latin-1"))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"(;GM[4]CA[UTF-8]SZ[15]\n;B[hh]\n;W[ii]C[\xff])", "line 3: byte 0xff is invalid in utf-8"),
        (b'[White "\x81"]\n[Result "1-0"]\n1-0\n', "line 1: byte 0x81 is invalid in cp1252"),
        (codecs.BOM_UTF8 + b'[Result "1-0"]\n[White "Caf\xe9"]\n1-0\n', "line 2: byte 0xe9 is invalid in utf-8"),
        (
            sgf(("王", "b"), "gbk").encode("gbk") + b"\n" + sgf(("王", "b"), "big5").encode("big5"),
            "line 2: CA differs from the encoding of the games before it",
        ),
    ],
)
def test_invalid_bytes_are_refused_with_their_line(data: bytes, words: str) -> None:
    with pytest.raises(InputError, match=f"game, {words}"):
        read(data)


@pytest.mark.parametrize("write", [psq, pgn, rec, sgf])
@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_unicode_names_are_read_in_every_format(write: Writer, codec: str) -> None:
    names = ("Žofinka", "五子棋")
    assert names == read(write(names).encode(codec)).names


@pytest.mark.parametrize("write", [psq, pgn, rec, sgf])
def test_other_names_are_read_as_windows_1252_and_reported_as_a_guess(write: Writer) -> None:
    data = write(("Zürich", "Š")).encode("cp1252")
    assert ("Zürich", "Š") == read(data).names
    assert GOMOKU_FORMATS.guesses_encoding(data)
    assert not GOMOKU_FORMATS.guesses_encoding(write(("Zürich", "b")).encode())


@pytest.mark.parametrize("write", [psq, pgn, rec, sgf])
def test_encoding_of_the_user_wins(write: Writer) -> None:
    data = reencode(write(("Иванов", "Петров")).encode("cp866"), "cp866", "game")
    assert ("Иванов", "Петров") == read(data).names
    declared = sgf(("Иванов", "b"), "GBK").encode("cp1251")
    assert ("Иванов", "b") == read(reencode(declared, "windows-1251", "game")).names


@settings(deadline=None, max_examples=examples(300))
@given(
    st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"]), max_size=40),
    st.sampled_from(["utf-8", "utf-16", "utf-8-sig"]),
)
def test_unicode_text_is_decoded_unchanged(text: str, codec: str) -> None:
    assert text == decode_file(text.encode(codec), "file") or text.startswith("\ufeff")


@settings(deadline=None, max_examples=examples(300))
@given(st.binary(max_size=200))
def test_any_bytes_are_text_or_an_input_error(data: bytes) -> None:
    encoding_of(data)
    try:
        text = decode_file(data, "file")
    except InputError as error:
        text = str(error)
    assert "\r" not in text
