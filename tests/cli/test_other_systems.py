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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("verify", "{record}"), ": ok: "),
        (("show", "{record}"), " wins"),
        (("convert", "--to", "psq", "--output", "{new}", "{record}"), ": 1 game"),
        (("contest", "verify", "{export}"), ": ok: "),
        (("stats", "{export}"), "ratings fit results"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_command_works_without_unix(exported: Public, tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    record, new = min((exported.directory / "records").glob("*.json")), tmp_path / "game.psq"
    assert said in judge(*(word.format(record=record, export=exported.directory, new=new) for word in words))
    assert words[0] != "convert" or new.read_text().startswith("Piskvorky")
