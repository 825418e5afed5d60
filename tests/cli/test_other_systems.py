"""Commands that read records and exports work on systems without Unix, such as authors' Windows machines."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.publish.public import Public

WITHOUT_UNIX = Path(__file__).with_name("without_unix.py")


def judge(*arguments: object) -> str:
    """What the command prints; it must succeed."""
    command = [sys.executable, str(WITHOUT_UNIX), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert 0 == done.returncode, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def record(exported: Public) -> Path:
    return min((exported.directory / "records").glob("*.json"))


def test_record_is_verified_without_unix(record: Path) -> None:
    assert ": ok: " in judge("verify", record)


def test_record_is_shown_without_unix(record: Path) -> None:
    assert " wins" in judge("show", record)


def test_record_is_converted_without_unix(record: Path, tmp_path: Path) -> None:
    judge("convert", "--to", "psq", "--output", tmp_path / "game.psq", record)

    assert (tmp_path / "game.psq").read_text().startswith("Piskvorky")


def test_export_is_verified_without_unix(exported: Public) -> None:
    assert ": ok: " in judge("contest", "verify", exported.directory)


def test_ratings_are_computed_without_unix(exported: Public) -> None:
    assert "ratings fit results" in judge("stats", exported.directory)
