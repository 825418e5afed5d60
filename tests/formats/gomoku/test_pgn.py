"""PGN: what rating programs would read, and what others wrote."""

from dataclasses import replace

import pytest

from judge.formats.gomoku.pgn import read_pgn, write_pgn
from judge.formats.gomoku.record import FiveRecord, Outcome
from tests.formats import games

GAME = replace(
    games.GAME,
    width=15,
    height=15,
    moves=((7, 7, 0), (8, 8, 0), (9, 6, 0)),
    opening=1,
    names=('fir"st', "sec\\ond"),
    outcome="black",
)

RESULT_ONLY = FiveRecord(width=0, height=0)
A_GAME = replace(RESULT_ONLY, names=("a", "?"))


def read(text: str) -> FiveRecord:
    (record,) = read_pgn(text.encode(), "cup.pgn")
    return record


def test_a_game_is_written_for_rating_programs() -> None:
    """White is who moves first, black's stones; the seven tags come first and in order."""
    assert write_pgn(GAME).decode() == (
        '[Event "cup"]\n'
        '[Site "?"]\n'
        '[Date "2024.05.31"]\n'
        '[Round "3"]\n'
        '[White "fir\\"st"]\n'
        '[Black "sec\\\\ond"]\n'
        '[Result "1-0"]\n'
        '[Termination "turn-time"]\n'
        '[Board "15x15"]\n'
        '[Rule "renju"]\n'
        '[OpeningStones "1"]\n'
        "\n"
        "1. h8 i9 2. j7 1-0\n"
        "\n"
    )


def test_a_long_game_is_wrapped() -> None:
    """Lines of at most 79 characters; squares beyond z have two letters."""
    long = replace(GAME, width=30, moves=tuple((x, y, 0) for y in range(15) for x in range(30)))
    lines = write_pgn(long).decode().splitlines()
    assert max(map(len, lines)) <= 79
    assert "ad15" in lines[-2]
    assert long.moves == read("\n".join(lines)).moves


@pytest.mark.parametrize(("outcome", "result"), [("black", "1-0"), ("white", "0-1"), ("draw", "1/2-1/2"), ("", "*")])
def test_the_result_is_the_first_movers(outcome: Outcome, result: str) -> None:
    """BayesElo and Ordo pass over a game that ends in *."""
    written = write_pgn(replace(RESULT_ONLY, names=("a", "b"), outcome=outcome)).decode()
    assert f'[Result "{result}"]\n\n{result}\n\n' in written
    assert outcome == read(written).outcome


FILES: dict[str, tuple[str, list[FiveRecord]]] = {
    # Their moves are always d4 d5: without a board they are nobody's.
    "games of GomocupJudge": (
        (
            '[White "0#A"]\n[Black "1#B"]\n[Result "1-0"]\n\n1. d4 d5 1-0\n\n'
            '[White "1#B"]\n[Black "0#A"]\n[Result "1/2-1/2"]\n\n1. d4 d5 1/2-1/2\n\n'
        ),
        [
            replace(RESULT_ONLY, names=("0#A", "1#B"), outcome="black"),
            replace(RESULT_ONLY, names=("1#B", "0#A"), outcome="draw"),
        ],
    ),
    # Black's tag first, no moves, a date with a time.
    "a game of c-gomoku-cli": (
        (
            '[Event "1"]\n[Date "2024.01.02 10:00:00"]\n[Round "1.1"]\n[Black "a"]\n[White "b"]\n'
            '[Result "0-1"]\n[Termination "White win by time forfeit"]\n[PlyCount "10"]\n0-1\n\n'
        ),
        [replace(RESULT_ONLY, names=("b", "a"), outcome="white", event="1", round="1.1", date="2024-01-02 10:00:00")],
    ),
    "another dash": ('[White "a"]\n[Result "1\u20130"]\n\n1\u22120', [replace(A_GAME, outcome="black")]),
    "dashes in names of tags": ('[White-Elo "2000"]\n[Time-Control "30+1"]\n[White "a"]\n*', [A_GAME]),
    # A file that says both is believed in what rating programs see.
    "a void game with a winner": ('[Result "1-0"]\n[Termination "void"]\n1-0', [replace(RESULT_ONLY, outcome="black")]),
    # Comments, escapes, annotations, variations in variations, tags on one line, no result at the end.
    "an odd file": (
        (
            '%made by hand\r\n[White "a"] [Board "15x15"]\r\n\r\n'
            "1. h8! {good; (really} i9 $3 (1... j9 (1... k9) 2. l9) ; to the end (\r\n2.j7?? k6 3.L5\r\n\r\n"
            '[Event "z\xfcrich"]\r\n[Event "twice"]'
        ),
        [
            replace(A_GAME, width=15, height=15, moves=((7, 7, 0), (8, 8, 0), (9, 6, 0), (10, 5, 0), (11, 4, 0))),
            replace(RESULT_ONLY, event="z\xfcrich"),
            replace(RESULT_ONLY, event="twice"),
        ],
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_files_of_others_are_read(name: str) -> None:
    text, games = FILES[name]

    assert games == list(read_pgn(text.encode("latin-1" if "\xfc" in text else "utf-8"), "cup.pgn"))


@pytest.mark.parametrize(
    "draw", ["1/2-1/2", "\u00bd-\u00bd", "\u00bd\u2013\u00bd", "1/2\u20131/2", "1/2", "\u00bd", "0.5-0.5", "0,5-0,5"]
)
def test_draws_of_other_programs_are_read(draw: str) -> None:
    tagged = f'[White "a"]\n[Result "{draw}"]\n[Board "15x15"]\n\n1. h8 {draw}\n\n'
    games = read_pgn(f'{tagged}[White "b"]\n\n{draw}\n\n{tagged}'.encode(), "cup.pgn")
    assert ["draw"] * 3 == [game.outcome for game in games]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        (r"C:\games\pbrain-a.exe", "C:\\games\\pbrain-a.exe"),
        (r"C:\new\temp\x", "C:\\new\\temp\\x"),
        (r"C:\\games", "C:\\games"),
        ("C:\\games\\", "C:\\games\\"),
        (r"say \"hi\"", 'say "hi"'),
        ('the "best" one', 'the "best" one'),
        ("a\u2013b - c\u2014d", "a\u2013b - c\u2014d"),
        ("[x] {y} (z); 1-0", "[x] {y} (z); 1-0"),
    ],
)
def test_names_of_other_programs_are_kept(written: str, name: str) -> None:
    for text in (f'[White "{written}"]\n[Black "b"]\n[Result "0-1"]\n0-1', f'[White "{written}"] [Black "b"] 0-1'):
        game = read(text)
        assert ((name, "b"), "white") == (game.names, game.outcome)
