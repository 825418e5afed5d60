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
