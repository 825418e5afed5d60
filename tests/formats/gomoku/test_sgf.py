"""SGF: what viewers would read, and what others wrote."""

from dataclasses import replace

import pytest

from judge.base.errors import InputError
from judge.formats.gomoku.record import FiveRecord, Outcome
from judge.formats.gomoku.sgf import read_sgf, write_sgf
from tests.formats import games

GAME = replace(
    games.GAME,
    width=15,
    height=15,
    moves=((7, 7, 0), (8, 7, 1520)),
    opening=1,
    names=("first", "sec]ond: \\o/"),
    outcome="black",
)


def read(text: str) -> FiveRecord:
    (record,) = read_sgf(text.encode(), "game.sgf")
    return record


def test_a_game_is_written_in_ff4() -> None:
    """What FF[4] gives a meaning to is escaped; times and the opening are comments, as c-gomoku-cli has them."""
    assert write_sgf(GAME).decode() == (
        "(;FF[4]GM[4]CA[UTF-8]AP[judge]SZ[15]RU[renju]PB[first]PW[sec\\]ond\\: \\\\o/]"
        "EV[cup]RO[3]DT[2024-05-31]RE[B+T]GC[turn-time]\n"
        ";B[hh]C[opening move]\n"
        ";W[ih]C[1520ms])\n"
    )


def test_a_board_that_is_not_square_has_two_sizes() -> None:
    wide = replace(GAME, width=52, height=20, moves=((51, 19, 5),), opening=0)
    assert b"SZ[52:20]" in write_sgf(wide)
    assert b";B[Zt]" in write_sgf(wide)
    assert wide.moves == read_sgf(write_sgf(wide))[0].moves


def test_a_board_with_more_squares_than_letters_is_refused() -> None:
    with pytest.raises(InputError, match="letters for 52x52 squares, this game is of a 53x15"):
        write_sgf(replace(GAME, width=53))


PLAIN = FiveRecord(width=15, height=15)

FILES = {
    # Its rule is a number, its date has dots, its win a point; TE is its own.
    "a game of c-gomoku-cli": (
        (
            "(;FF[4]GM[4]GN[1]EV[a x b]DT[2024.01.02 10:00:00]RO[1.2]RU[4]SZ[15]PB[a]PW[b]RE[W+1]"
            "TE[White win by time forfeit]\n;B[hh]C[opening move];W[ii]C[opening move]\n"
            "\n;B[jj]C[15ms];W[kk]C[0ms])\n\n"
        ),
        replace(
            PLAIN,
            moves=((7, 7, 0), (8, 8, 0), (9, 9, 15), (10, 10, 0)),
            opening=2,
            rule="renju",
            names=("a", "b"),
            outcome="white",
            event="a x b",
            round="1.2",
            date="2024-01-02 10:00:00",
        ),
    ),
    # They are laid in turn, black first; in one node or in several.
    "set-up stones are the opening": (
        "(;GM[4]SZ[15]AB[hh][ii]AW[jj];AW[kk][mm]AB[ll];B[aa])",
        replace(PLAIN, moves=tuple((n, n, 0) for n in (7, 9, 8, 10, 11, 12, 0)), opening=6),
    ),
    # The first variation always comes first, so the main line ends where the first of them does.
    "the main line of variations": (
        "(;GM[4]SZ[15];B[hh](;W[ii];B[jj](;W[kk])(;W[ll]))(;W[mm];B[hh]))",
        replace(PLAIN, moves=((7, 7, 0), (8, 8, 0), (9, 9, 0), (10, 10, 0))),
    ),
    "a repeated or unknown result": (
        "(;GM[4]SZ[15]RE[B+];B[hh]RE[?];W[ii]RE[B+])",
        replace(PLAIN, moves=((7, 7, 0), (8, 8, 0)), outcome="black"),
    ),
    # A mark and text before the game, CR LF, long names of properties, soft line breaks, unknown properties.
    "an odd file": (
        (
            "\ufeffFrom a letter:\r\n( ;\r\nGaMe[4] SiZe[15]\r\nPlayerBlack[a\\\r\nb \\] c]XX[1][2:3]\r\n"
            "C[no time]; Black[hh]BL[3]KO[]\r\n;W[ii] C[7 ms\r\nlong thought])\r\nThe end."
        ),
        replace(PLAIN, moves=((7, 7, 0), (8, 8, 7)), names=("ab ] c", "")),
    ),
    "text before it": (
        "A file of a web site\n(c) somebody\n(;GM[4]SZ[15];B[hh])",
        replace(PLAIN, moves=((7, 7, 0),)),
    ),
    # No recursion.
    "a million parentheses": ("(;GM[4]SZ[15]" + "(;" * 100_000 + ")" * 100_001, PLAIN),
}


@pytest.mark.parametrize("name", FILES)
def test_files_of_others_are_read(name: str) -> None:
    text, game = FILES[name]

    assert game == read(text)


def test_names_in_another_encoding_are_read() -> None:
    assert ("é", "") == read_sgf("(;GM[4]SZ[15]PB[é])".encode("latin-1"))[0].names


@pytest.mark.parametrize(
    ("results", "outcome", "verdict"),
    [
        ("B+, B+F, 1-0, 黑胜, 黑方胜, 黑中盘胜, black wins", "black", ""),
        ("W+12.5, White+3.5, 0-1, 白胜43.5目, 白勝", "white", ""),
        ("W+R, W+Resign", "white", "resigned"),
        ("B+R, Black+R", "black", "resigned"),
        ("b+time", "black", "turn-time"),
        ("W+T", "white", "turn-time"),
        ("0, Draw, Jigo, 1/2-1/2, 和棋, 平局", "draw", ""),
        ("Void", "", "void"),
        ("?", "", ""),
    ],
)
def test_results_of_others_are_read(results: str, outcome: Outcome, verdict: str) -> None:
    for result in results.split(", "):
        record = read(f"(;GM[4]SZ[15]RE[{result}];B[hh])")
        assert (outcome, verdict) == (record.outcome, record.verdict), result


@pytest.mark.parametrize("result", ["who knows", "B", "黑", "Blackbird", "1:0", "+"])
def test_unknown_result_is_named(result: str) -> None:
    with pytest.raises(InputError, match=r"game.sgf, line 2: RE\[.*\] is no result; write RE\[B\+\]"):
        read(f"(;GM[4]SZ[15]\nRE[{result}];B[hh])")


@pytest.mark.parametrize("game", ["RE[B+][W+];B[hh]", "RE[B+]RE[W+];B[hh]", "RE[B+];B[hh]\n;W[ii]RE[0]"])
def test_two_results_of_a_game_are_refused(game: str) -> None:
    with pytest.raises(InputError, match=r"line [12]: RE\[(W\+|0)\] contradicts RE\[B\+\] of the same game"):
        read(f"(;GM[4]SZ[15]{game})")
