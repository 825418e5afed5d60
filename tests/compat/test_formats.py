"""Records of format 2 are replayed; records of format 1 are refused."""

import lzma
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judge.base.errors import InputError
from judge.cli import app
from judge.referee.spec import read_record
from judge.referee.verify import verify

FOLDER = Path(__file__).parent / "format-2"
NAMES = sorted(path.name.removesuffix(".json.xz") for path in FOLDER.iterdir())


def record(name: str, folder: Path) -> Path:
    path = folder / f"{name}.json"
    path.write_bytes(lzma.decompress((FOLDER / f"{name}.json.xz").read_bytes()))
    return path


@pytest.mark.parametrize("name", NAMES)
def test_a_record_of_format_2_verifies_and_is_shown(name: str, tmp_path: Path) -> None:
    path = record(name, tmp_path)

    file = read_record(path)
    found = CliRunner().invoke(app, ["show", str(path)])

    assert "judge-record-2" == file.record.format
    assert [] == verify(file).problems
    assert 0 == found.exit_code, found.output


@pytest.mark.parametrize("name", ["gomocup", "odd", "picky", "swap2"])
def test_a_record_of_format_2_is_converted_to_sgf(name: str, tmp_path: Path) -> None:
    sgf = tmp_path / "game.sgf"

    found = CliRunner().invoke(app, ["convert", "--to", "sgf", "-o", str(sgf), str(record(name, tmp_path))])

    assert 0 == found.exit_code, found.output
    assert sgf.read_text().startswith("(;")


def test_a_changed_record_of_format_2_is_found(tmp_path: Path) -> None:
    path = record("swap2", tmp_path)
    path.write_text(path.read_text().replace("scribe", "wrong"))

    assert verify(read_record(path)).problems


def test_a_record_of_format_1_is_refused_with_the_version_that_reads_it(tmp_path: Path) -> None:
    path = record("gomocup", tmp_path)
    path.write_text(path.read_text().replace("judge-record-2", "judge-record-1"))

    with pytest.raises(InputError) as refused:
        read_record(path)
    assert f"{path}: not a record of a game: record.format: judge 0.1.0 (commit 08c8ff3) wrote this, and this " in str(
        refused.value
    )
    assert str(refused.value).endswith("use judge 0.1.0 (commit 08c8ff3)")
