"""Files of other programs and systems: read, or refused with the line and the fix. Nothing is dropped in silence."""

from pathlib import Path

import pytest

from judge.base.errors import InputError
from judge.catalog import game_entry
from judge.cli.submit_remote import _read_token
from judge.contest.opening_files import read_openings
from judge.contest.resolved_format import read_ratings_csv
from judge.formats.gomoku.formats import GOMOKU_FORMATS
from judge.formats.gomoku.record import FiveRecord
from judge.games.gomoku.requests import square_at
from judge.record.policy import load_policy

MOVES = "1. h8 i9 2. j7 1-0"
TAGS = '[White "a"]\n[Black "b"]\n[Result "1-0"]\n[Board "15x15"]\n'


def read(text: str) -> FiveRecord:
    (game,) = GOMOKU_FORMATS.read(text.encode(), "it")
    return game


@pytest.mark.parametrize(
    ("text", "moves", "outcome"),
    [
        *(
            (f"{before}{TAGS}\n{MOVES}\n", 3, "black")
            for before in (
                *("; a comment\n", "{ a comment }\n", "Games of the club\n\n", "% escaped\n; and a comment\n"),
                *("\ufeff\n", "Round 1:\n"),
            )
        ),
        # Size is a board.
        (f'[White "a"]\n[Black "b"]\n[Size "15"]\n\n{MOVES}\n', 3, "black"),
        # GomocupJudge has no moves.
        ('[White "a"]\n[Black "b"]\n[Result "0-1"]\n\n1. d4 d5 0-1\n', 0, "white"),
    ],
)
def test_pgn_of_others_is_read(text: str, moves: int, outcome: str) -> None:
    game = read(text)

    assert (moves, outcome, ("a", "b")) == (len(game.moves), game.outcome, game.names)
    assert (game.width, game.height) == ((15, 15) if moves else (0, 0))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # Moves before the first tag are not dropped.
        (f"{MOVES}\n\n{TAGS}\n{MOVES}\n", "it, line 1"),
        (f'[White "a"]\n\n{MOVES}\n', r'it, line 3: without the tag Board .*; write such as \[Board "15x15"\]'),
        (f"{TAGS}\n1. h8 i9 0-1\n", "it, line 3: the tag Result is 1-0, but the game ends with 0-1"),
    ],
)
def test_pgn_that_would_lose_something_is_refused(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read(text)


EXPECTED = [(square_at("h8"), square_at("i9"), square_at("j7")), (square_at("h8"), square_at("h9"))]

OPENING_FILES = {
    # tests/tournament/test_openings.py has lines.
    "pgn": f"; openings\n{TAGS}\n1. h8 i9 2. j7 1-0\n\n{TAGS}\n1. h8 h9 1-0\n".encode(),
    "sgf": b"(;GM[4]SZ[15];B[hh];W[ii];B[jg])\n(;GM[4]SZ[15];B[hh];W[hi])",
}


def openings(path: Path) -> object:
    policy = load_policy("gomocup-freestyle-15")
    written = game_entry("gomoku").openings(policy.game.options)
    assert written is not None
    return read_openings(path, written)


@pytest.mark.parametrize("name", OPENING_FILES)
def test_openings_of_every_form_are_read(name: str, tmp_path: Path) -> None:
    (tmp_path / "openings").write_bytes(OPENING_FILES[name])

    assert EXPECTED == openings(tmp_path / "openings")


def test_opening_of_a_psq_is_its_marked_stones(tmp_path: Path) -> None:
    (tmp_path / "a.psq").write_bytes(
        b"Piskvorky 15x15, 11:11, 1\r\n8,8,0\r\n9,9,0\r\n7,7,100\r\na.zip\r\nb.zip\r\n0\r\n"
    )

    assert [(square_at("h8"), square_at("i9"))] == openings(tmp_path / "a.psq")


@pytest.mark.parametrize(
    ("data", "fix"),
    [
        (b"\xffRenLib\xff\x03\x00", "a library of Renlib: save it as text, one opening per line, or as SGF"),
        (b"\xfd7zXZ\x00", "compressed with xz: compress it with gzip"),
        (b"BZh91AY", "compressed with bzip2: compress it with gzip"),
        (b"PK\x03\x04", "a zip archive: unpack it"),
    ],
)
def test_opening_file_of_another_kind_is_named(data: bytes, fix: str, tmp_path: Path) -> None:
    (tmp_path / "openings").write_bytes(data)
    with pytest.raises(InputError, match=fix):
        openings(tmp_path / "openings")


@pytest.mark.parametrize(
    "text",
    [
        "agent,rating\nanna,1500.5\nbert,1400\n",
        "Agent;Rating\r\nanna;1500,5\r\nbert;1400\r\n",
        "sep=;\r\nagent;rating\r\nanna;1500,5\r\nbert;1400\r\n;\r\n",
        "agent\trating\nanna\t1500.5\nbert\t1400\n\t\n",
        '"agent","rating"\n"anna","1500.5"\nbert,1400\n,\n',
    ],
)
def test_ratings_of_a_spreadsheet_are_read(text: str, tmp_path: Path) -> None:
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        (tmp_path / "ratings.csv").write_bytes(text.encode(encoding))
        found = read_ratings_csv(tmp_path / "ratings.csv", ["anna", "bert", "carl"])

        assert [1500.5, 1400, 0] == [found[name].rating for name in ("anna", "bert", "carl")]


def test_wrong_rating_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "ratings.csv").write_text("sep=;\nagent;rating\nanna;1,500,5\n")
    with pytest.raises(InputError, match=r"line 3: rating '1\.500\.5'"):
        read_ratings_csv(tmp_path / "ratings.csv", ["anna"])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
@pytest.mark.parametrize("text", ["{}", "{}\r\n", '"{}"\r\n', " '{}' ", "https://example.org/cup/author/#{}\r\n"])
def test_token_file_of_other_systems_is_read(text: str, encoding: str, tmp_path: Path) -> None:
    (tmp_path / "token").write_bytes(text.format("judge-0123456789abcdef").encode(encoding))

    assert "judge-0123456789abcdef" == _read_token(tmp_path / "token")


@pytest.mark.parametrize("data", [b"", b"two words", b"\xff\xfe\x00\xd8", b"a" * 9000, b"\x00" * 40])
def test_other_token_file_is_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "token").write_bytes(data)
    with pytest.raises(InputError, match="token"):
        _read_token(tmp_path / "token")
