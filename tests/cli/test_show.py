"""`judge show`: listed in a pipe, stepped through on a terminal, drawn into files, and evidence on one page."""

import json
import sys
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image

from judge.catalog.files import write_exports
from judge.referee.spec import RecordFile, write_record
from judge.terminal.browse import Place, keys_of
from tests.cli.brains import write_brain
from tests.cli.conftest import Judge
from tests.cli.terminal import Terminal, is_in_order
from tests.records import recorded

FORMAT = ("--policy", "gomocup-standard:fast", "--box", "process", "--json")


def written(directory: Path, file: RecordFile) -> str:
    path = directory / "game.json"
    write_record(path, file)
    write_exports(file, path)
    return str(path)


@pytest.fixture
def game(tmp_path: Path) -> str:
    return written(tmp_path, recorded.gomoku())


def test_a_game_is_listed_in_a_pipe(judge: Judge, game: str) -> None:
    ran = judge("show", game)

    lines = ran.out.splitlines()
    assert 0 == ran.code
    assert "\x1b" not in ran.out
    assert lines[0].endswith(": anna - bert")
    assert "   1. anna                 0,0 a1              3.0 ms" == lines[1]
    assert " 1(●|●|●|●|●)· · · · · · · · · ·" == lines[11].rstrip()
    assert ["9 of 9: 9. e1", "anna wins: 5 in a row, a1 to e1"] == lines[-2:]


def test_one_position(judge: Judge, game: str) -> None:
    lines = judge("show", game, "--ply", "2").out.splitlines()

    assert " 2[○]· · · · · · · · · · · · · ·" == lines[3].rstrip()
    assert "2 of 9: 2. a2" == lines[-1]
    assert "before the first answer" in judge("show", game, "--ply", "0").out


def test_a_position_that_is_not_there_is_a_mistake(judge: Judge, game: str) -> None:
    ran = judge("show", game, "--ply", "10")

    assert (2, "judge: --ply 10: the game has 9 moves; give 0 to 9\n") == (ran.code, ran.err)


@pytest.mark.parametrize("family", [recorded.gomoku, recorded.stratego_game, recorded.chess, recorded.quantum])
def test_pictures_of_every_family(judge: Judge, tmp_path: Path, family: object) -> None:
    file: RecordFile = family()  # type: ignore[operator]
    ran = judge("show", written(tmp_path, file), "--svg", "a.svg", "--gif", "a.gif")

    assert (0, "wrote a.svg\nwrote a.gif\n") == (ran.code, ran.out)
    ElementTree.fromstring((tmp_path / "a.svg").read_text())  # noqa: S314 our own file
    animation = Image.open(BytesIO((tmp_path / "a.gif").read_bytes()))
    assert len(file.record.plies) + 1 == animation.n_frames  # type: ignore[attr-defined]


def test_a_picture_of_one_position(judge: Judge, tmp_path: Path, game: str) -> None:
    judge("show", game, "--ply", "3", "--svg", "three.svg")

    assert "3 of 9" in (tmp_path / "three.svg").read_text()


def test_a_picture_that_cannot_be_written_names_its_file(judge: Judge, game: str) -> None:
    ran = judge("show", game, "--svg", "no/where.svg")

    assert (2, "judge: no/where.svg: No such file or directory\n") == (ran.code, ran.err)


@pytest.mark.parametrize("ending", [".psq", ".log"])
def test_files_of_gomocup_are_shown(judge: Judge, tmp_path: Path, ending: str) -> None:
    family = recorded.gomoku if ending == ".psq" else recorded.chess
    path = Path(written(tmp_path, family())).with_suffix(ending)

    ran = judge("show", str(path))

    assert 0 == ran.code
    assert "anna" in ran.out
    assert len(family().record.plies) < len(ran.out.splitlines())


def test_a_changed_record_is_shown_as_far_as_it_goes(judge: Judge, tmp_path: Path, game: str) -> None:
    document = json.loads(Path(game).read_text())
    document["record"]["spec"]["policy"]["clock"]["turn_ms"] = 4000
    Path(game).write_text(json.dumps(document))

    ran = judge("show", game)

    assert 0 == ran.code
    assert "shown only up to an error: the record departs from the rules" in ran.err


def test_invalid_game_gives_one_sentence(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"{}\x1b[2J")

    for path in ("x", "gone"):
        ran = judge("show", path)
        assert (2, "", 1) == (ran.code, ran.out, len(ran.err.splitlines()))
        assert "\x1b" not in ran.err


# --- a terminal ------------------------------------------------------------------------------------------------------


def browsed(tmp_path: Path, path: str) -> Terminal:
    return Terminal([sys.executable, "-m", "judge.cli", "show", path], tmp_path, 80, 24)


def test_stepping_through_a_game_by_keys(tmp_path: Path, game: str) -> None:
    terminal = browsed(tmp_path, game)
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
    terminal.to_the_end()

    assert 0 == terminal.code
    assert is_in_order(terminal)


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (b"nq", ["n", "q"]),
        (b"\x1b[C\x1bOD\x1b[5~\x1b[6~", ["n", "p", "u", "d"]),
        (b"\x1b", ["q"]),
        (b"\x1b[99;5xn", ["n"]),
        (b"\x1b[", []),
        (b"12\r", ["1", "2", "\r"]),
        (b"\xff", ["\xff"]),
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


# --- evidence --------------------------------------------------------------------------------------------------------


def test_the_evidence_of_a_real_fault_on_one_page(judge: Judge, tmp_path: Path) -> None:
    """A real process that says an illegal move, after words that a terminal would obey."""
    bad = write_brain(
        tmp_path,
        "bad",
        "sys.stderr.write('why \\x1b[2J')\nsay('MESSAGE \\x1b]0;x\\x07')\nsay('20,3')",
    )
    record = judge("match", bad, "house-instant", *FORMAT).games[0]["record"]

    ran = judge("show", record, "--evidence")

    assert 0 == ran.code
    assert "\x1b" not in ran.out
    for words in (
        "bad (seat 0) lost: illegal",
        "> BEGIN\\r",
        "< 20,3\\r",
        "32 30 2c 33 0d 0a",
        "allowed   6000 ms, tolerance included",
        'game.options.rule = "standard"',
        f"judge verify {record}",
    ):
        assert words in ran.out, ran.out
    assert len(ran.out.splitlines()) < 66


def test_no_fault_has_no_evidence(judge: Judge, game: str) -> None:
    ran = judge("show", game, "--evidence")

    assert "No seat was at fault: the rules of the game ended it." in ran.out


def test_evidence_is_of_records_only(judge: Judge, game: str) -> None:
    ran = judge("show", str(Path(game).with_suffix(".psq")), "--evidence")

    assert (2, 1) == (ran.code, len(ran.err.splitlines()))


# --- several games ---------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    games = tmp_path / "games"
    games.mkdir()
    written(games, recorded.gomoku())
    write_record(games / "second.json", recorded.chess())
    (games / "third.json").write_text("no record")
    return games


def test_folder_is_listed_in_a_pipe(judge: Judge, folder: Path) -> None:
    ran = judge("show", str(folder))

    lines = ran.out.splitlines()
    assert 0 == ran.code
    assert "anna - bert" in lines[0]
    assert lines[0].endswith("9 moves  anna wins: 5 in a row, a1 to e1  game.json")
    assert lines[1].endswith("second.json")
    assert lines[2].startswith("   3  third.json: ")
    assert len(lines) == 3


def test_several_records_are_listed_and_explained(judge: Judge, folder: Path) -> None:
    files = [str(folder / name) for name in ("game.json", "second.json")]

    assert 2 == len(judge("show", *files).out.splitlines())
    assert 2 == judge("show", *files, "--evidence").out.count("No seat was at fault")


def test_options_of_one_game_are_refused_for_a_folder(judge: Judge, folder: Path, tmp_path: Path) -> None:
    assert "name one record" in judge("show", str(folder), "--ply", "3").err
    (tmp_path / "empty").mkdir()
    assert "has no records (*.json)" in judge("show", str(tmp_path / "empty")).err


def test_game_of_a_list_is_opened_by_enter(tmp_path: Path, folder: Path) -> None:
    terminal = browsed(tmp_path, str(folder))
    terminal.until(lambda text: "3 games" in text)

    terminal.type("3\r\x1b[H\r")
    terminal.until(lambda text: "0 of 9: before the first answer" in text)
    terminal.type("q")
    terminal.until(lambda text: "3 games" in text)
    terminal.type("q")
    terminal.to_the_end()

    assert 0 == terminal.code
