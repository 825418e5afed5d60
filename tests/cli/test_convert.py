"""`judge convert`: what is written where, what is refused, and that nothing is written where anything is wrong."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judge.base.errors import InputError
from judge.catalog.files import read_games
from judge.cli import app
from judge.formats.gomoku.formats import GOMOKU_FORMATS
from judge.record.spec import write_record
from tests.formats import recorded
from tests.formats.games import GAME
from tests.referee.games import BLACK_ROW, WHITE_ROW, a_file, brain, play


def convert(*words: str | Path) -> Sequence[str]:
    """What `judge convert` prints, line by line."""
    done = CliRunner().invoke(app, ["convert", *map(str, words)], catch_exceptions=False)
    assert 0 == done.exit_code, done.output
    return done.stdout.splitlines()


@pytest.fixture
def game(tmp_path: Path) -> Path:
    """A game as a `.psq`."""
    path = tmp_path / "game.psq"
    path.write_bytes(GOMOKU_FORMATS.write([GAME], "psq"))
    return path


@pytest.fixture
def record(tmp_path: Path) -> Path:
    path = tmp_path / "record-1.json"
    write_record(path, a_file(play(brain(*BLACK_ROW), brain(*WHITE_ROW))))
    return path


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    """Three games in one SGF file, the last without a result."""
    path = tmp_path / "cup.sgf"
    games = [GAME, replace(GAME, round="4"), replace(GAME, outcome="", verdict="void")]
    path.write_bytes(GOMOKU_FORMATS.write(games, "sgf"))
    return path


def test_converted_record_is_written_next_to_its_source(record: Path) -> None:
    """tests/corpus has all formats."""
    assert [f"{record.with_suffix('.sgf')}: 1 game"] == convert(record, "--to", "sgf")
    (game,) = read_games(record.with_suffix(".sgf")).games

    assert (("black", "white"), "black", "win") == (game.names, game.outcome, game.verdict)


def test_games_go_to_one_file_to_numbered_files_or_to_a_directory(record: Path, game: Path, cup: Path) -> None:
    """Games without a result are counted, for a rating program will not count them."""
    folder = cup.parent
    target = folder / "all.pgn"

    assert [f"{target}: 5 games, 1 without a result"] == convert(record, game, cup, "--to", "pgn", "-o", target)
    assert ["black", "white", "white", "white", ""] == [read.outcome for read in read_games(target).games]
    convert(cup, "--to", "psq")
    assert ["cup-1.psq", "cup-2.psq", "cup-3.psq"] == sorted(path.name for path in folder.glob("cup-*.psq"))
    convert(game, cup, "--to", "pgn", "-o", f"{folder}/new/")
    convert(game, "--to", "sgf", "-o", folder / "new")
    assert ["cup.pgn", "game.pgn", "game.sgf"] == sorted(path.name for path in (folder / "new").iterdir())


def test_encoding_option_reads_a_file_that_names_none(tmp_path: Path) -> None:
    path = tmp_path / "old.pgn"
    path.write_bytes('[White "Иванов"]\n[Black "b"]\n[Result "1-0"]\n\n1-0\n'.encode("cp1251"))
    done = CliRunner().invoke(app, ["convert", str(path), "--to", "pgn", "-o", str(tmp_path / "new.pgn")])
    assert (0, True) == (done.exit_code, "read as cp1252, because it names no encoding" in done.stderr)
    convert(path, "--to", "pgn", "-o", tmp_path / "new.pgn", "--force", "--encoding", "windows-1251")
    assert '[White "Иванов"]' in (tmp_path / "new.pgn").read_text(encoding="utf-8")
    wrong = CliRunner().invoke(app, ["convert", str(path), "--to", "pgn", "--encoding", "klingon", "--force"])
    assert "'klingon' is an unknown encoding" in str(wrong.exception)


def test_name_that_a_format_cannot_hold_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_bytes(GOMOKU_FORMATS.write([replace(GAME, names=("中文", "plain"))], "sgf"))
    done = CliRunner().invoke(app, ["convert", str(path), "--to", "psq"], catch_exceptions=False)
    assert f"{tmp_path / 'game.psq'}: psq has no letters for the name 中文: written with other letters\n" == done.stderr


def test_files_are_overwritten_only_on_request(game: Path) -> None:
    target = game.with_suffix(".sgf")
    target.write_text("mine")

    with pytest.raises(InputError, match="exists; --force overwrites it"):
        convert(game, "--to", "sgf")
    assert "mine" == target.read_text()
    convert(game, "--to", "sgf", "--force")
    before = game.read_bytes()
    with pytest.raises(InputError, match="is a file that is read; choose another name"):
        convert(game, target, "--to", "sgf", "-o", game, "--force")
    assert before == game.read_bytes()
    assert GAME.moves == read_games(target).games[0].moves


def test_nothing_is_written_where_anything_is_wrong(game: Path, cup: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.psq"
    bad.write_bytes(b"Piskvorky 15x15, 11:11, 0\n99,1,0\n")
    small = tmp_path / "small.sgf"
    small.write_bytes(GOMOKU_FORMATS.write([replace(GAME, width=15, height=15, moves=(), opening=0)], "sgf"))
    twin = tmp_path / "game.other"
    twin.write_bytes(game.read_bytes())
    chess = tmp_path / "chess.json"
    write_record(chess, recorded.chess())
    before = sorted(tmp_path.iterdir())

    for words, said in (
        ([game, bad, "--to", "pgn"], "bad.psq, line 2: 99,1,0 is off"),
        ([game, small, "--to", "rec"], "small.rec: a .rec is always of a 20x20 board"),
        ([game, twin, "--to", "sgf"], "two of the files would be written here"),
        ([game, chess, "--to", "sgf"], "chess.json: a game of quantum-chess cannot be written as sgf, only as log"),
        ([game, cup, "--to", "psq", "-o", tmp_path / "one.psq"], "holds one game, not 4"),
        ([game, "--to", "p\x1bgn"], r"--to p\x1bgn: use one of psq, psq-gomocupjudge, sgf"),
        ([tmp_path / "nowhere", "--to", "sgf"], "nowhere: No such file"),
    ):
        with pytest.raises(InputError) as refused:
            convert(*words)  # type: ignore[arg-type]
        assert said in str(refused.value)
    assert before == sorted(tmp_path.iterdir())
