"""`judge show`: listed in a pipe, stepped through on a terminal, drawn into files, and evidence on one page."""

import json
from pathlib import Path

import pytest

from judge.catalog.files import write_exports
from judge.record.spec import RecordFile, write_record
from judge.terminal.browse import Place, keys_of
from tests.cli.conftest import Judge
from tests.cli.contests import JUDGE
from tests.cli.terminal import Terminal, is_in_order
from tests.formats import recorded


def written(directory: Path, file: RecordFile) -> str:
    path = directory / "game.json"
    write_record(path, file)
    write_exports(file, path)
    return str(path)


@pytest.fixture
def game(tmp_path: Path) -> str:
    return written(tmp_path, recorded.gomoku())


def test_one_position_and_its_picture(judge: Judge, tmp_path: Path, game: str) -> None:
    ran = judge("show", game, "--ply", "2", "--svg", "two.svg")

    assert (0, "wrote two.svg\n") == (ran.code, ran.out)
    assert "2 of 9" in (tmp_path / "two.svg").read_text()
    assert "2 of 9: 2. a2" == judge("show", game, "--ply", "2").out.splitlines()[-1]
    assert "before the first answer" in judge("show", game, "--ply", "0").out
    assert "wrote all.gif\n" == judge("show", game, "--gif", "all.gif").out
    assert (tmp_path / "all.gif").read_bytes().startswith(b"GIF89a")


def test_what_is_verified_may_be_a_folder_and_needs_evidence(judge: Judge, tmp_path: Path, game: str) -> None:
    """Each file has one line or more, and none stops the others."""
    (tmp_path / "forged.json").write_text(Path(game).read_text().replace('"judge-record-3"', '"judge-record-9"'))

    assert (0, True) == ((ran := judge("verify", game)).code, ": ok: win, anna wins, 9 moves" in ran.out)
    ran = judge("verify", game.replace(".json", ".psq"), "no.json", str(tmp_path), code=1)
    for words in (
        "game.psq: FAILED\n  this format has no evidence to verify; name the game's record (.json)\n",
        "no.json: FAILED\n  No such file or directory\n",
        "'judge-record-9', and this version of judge reads 'judge-record-3'\n",
        "game.json: ok: ",
    ):
        assert words in ran.out
    assert "judge: .: Is a directory; name a file\n" == judge("convert", ".", "--to", "sgf").err


@pytest.mark.parametrize("option", ["--svg", "--gif"])
def test_a_picture_does_not_replace_its_record(judge: Judge, tmp_path: Path, game: str, option: str) -> None:
    (tmp_path / "link.json").symlink_to(game)
    before = Path(tmp_path / game).read_bytes()

    for name in (game, "link.json"):
        ran = judge("show", game, option, name)
        assert (2, f"judge: {name}: is a file that is read; choose another name\n") == (ran.code, ran.err)
    assert before == Path(tmp_path / game).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("game.json --ply 10", "judge: --ply 10: the game has 9 moves; give 0 to 9\n"),
        ("game.json --svg no/where.svg", "judge: no/where.svg: No such file or directory\n"),
        ("game.psq --evidence", "game.psq"),
        ("games --ply 3", "name one record"),
        ("empty", "has no records (*.json)"),
        ("broken", "broken"),
        ("gone", "gone"),
    ],
)
def test_a_mistake_is_one_sentence(
    judge: Judge, tmp_path: Path, game: str, folder: Path, arguments: str, words: str
) -> None:
    (tmp_path / "broken").write_bytes(b"{}\x1b[2J")
    (tmp_path / "empty").mkdir()

    ran = judge("show", *arguments.split())

    assert (2, "", 1) == (ran.code, ran.out, len(ran.err.splitlines()))
    assert words in ran.err
    assert "\x1b" not in ran.err


def test_a_changed_record_does_not_verify_and_is_shown_as_far_as_it_goes(judge: Judge, game: str) -> None:
    """tests/formats/test_changed_records.py changes each value."""
    document = json.loads(Path(game).read_text())
    document["record"]["spec"]["policy"]["clock"]["turn_ms"] = 4000
    Path(game).write_text(json.dumps(document))

    assert "shown only up to an error: the record departs from the rules" in judge("show", game, code=0).err
    assert 1 == judge("verify", game).code


def test_stepping_through_a_game_by_keys(tmp_path: Path, game: str) -> None:
    terminal = Terminal([*JUDGE, "show", game], tmp_path)
    terminal.until(lambda text: "0 of 9: before the first answer" in text)

    for keys, status in [
        ("n", "1 of 9: 1. a1"),
        ("\x1b[C\x1b[C", "3 of 9: 3. b1"),
        ("\x1b[D", "2 of 9: 2. a2"),
        ("\x1b[F", "9 of 9: 9. e1  anna wins"),
        ("\x1b[H", "0 of 9"),
        ("7\r", "7 of 9: 7. d1"),
        ("p", "6 of 9: 6. c2"),
        ("999\r", "9 of 9"),
    ]:
        terminal.type(keys)
        terminal.until(lambda text, status=status: status in text)  # type: ignore[misc]
    terminal.type("4")
    terminal.until(lambda text: "go to 4_" in text)
    terminal.type("q")
    terminal.to_the_end(0)

    assert is_in_order(terminal)


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (b"\x1b[C\x1bOD\x1b[5~\x1b[6~", ["right", "left", "pgup", "pgdn"]),
        (b"\x1b", ["\x1b"]),
        (b"\x1b[99;5xn", ["n"]),
        (b"\x1b[", []),
        (b"12\r\xff", ["1", "2", "\r", "\xff"]),
    ],
)
def test_terminal_input_as_keys(data: bytes, keys: list[str]) -> None:
    assert keys == list(keys_of(data))


def test_a_place_stays_within_the_game() -> None:
    place = Place(3)
    seen = []
    for key in ("p", "n", "d", "n", "u", "2", "\r", "9", "9", "\r", "²", "x", "G", "g"):
        place.press(key)
        seen.append(place.at)

    assert [0, 1, 3, 3, 0, 0, 2, 2, 2, 3, 3, 3, 3, 0] == seen


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    games = tmp_path / "games"
    games.mkdir()
    written(games, recorded.gomoku())
    write_record(games / "second.json", recorded.chess())
    (games / "third.json").write_text("no record")
    return games


def test_folder_is_listed_in_a_pipe(judge: Judge, folder: Path) -> None:
    lines = judge("show", str(folder), code=0).out.splitlines()
    assert "anna - bert" in lines[0]
    assert lines[0].endswith("9 moves  anna wins: 5 in a row, a1 to e1  game.json")
    assert lines[1].endswith("second.json")
    assert lines[2].startswith("   3  third.json: ")
    assert len(lines) == 3


def test_several_records_are_listed_and_explained(judge: Judge, folder: Path) -> None:
    files = [str(folder / name) for name in ("game.json", "second.json")]

    assert 2 == len(judge("show", *files).out.splitlines())
    assert 2 == judge("show", *files, "--evidence").out.count("No seat was at fault")


def test_game_of_a_list_is_opened_by_enter(tmp_path: Path, folder: Path) -> None:
    terminal = Terminal([*JUDGE, "show", str(folder)], tmp_path)
    terminal.until(lambda text: "3 games" in text)

    terminal.type("3\r\x1b[H\r")
    terminal.until(lambda text: "0 of 9: before the first answer" in text)
    terminal.type("q")
    terminal.until(lambda text: "3 games" in text)
    terminal.type("q")
    terminal.to_the_end(0)
