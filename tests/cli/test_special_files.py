"""A named pipe in the place of a file is refused by each command that reads one; none waits for a writer."""

import os
import sys
from pathlib import Path

import pytest

from tests import forked
from tests.publish.cups import STRONG_TO_WEAK, Cup

COMMANDS = (
    *("stats pipe", "stats --certainty pipe", "show pipe", "verify pipe", "convert pipe x.psq"),
    *("check pipe --policy gomocup-standard", "check house-python --policy pipe.toml"),
    *("match house-python house-python --policy pipe.toml", "submit pipe cup"),
    *("submit a.zip --url http://127.0.0.1:1/ --token-file pipe", "tokens make --from pipe cup"),
    *("contest plan pipe", "contest plan piped", "contest status pipe", "contest init next --from pipe"),
    *("contest init next --policy pipe.toml", "contest verify pipe", "contest verify cup --key pipe"),
    *("contest export public cup --key pipe", "contest restore pipe restored", "contest folders cup --from pipe"),
    *("contest cosign cup --from pipe", "worker pipe"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A contest, and named pipes without a writer."""
    outer = tmp_path_factory.mktemp("pipes")
    with Cup(outer / "cup", STRONG_TO_WEAK) as cup:
        cup.play(1)
    (outer / "piped").mkdir()
    for name in ("pipe", "pipe.toml", "piped/contest.toml"):
        os.mkfifo(outer / name, 0o600)
    return outer


@pytest.mark.parametrize("command", COMMANDS)
def test_named_pipe_is_refused_without_waiting(command: str, folder: Path) -> None:
    done = forked.run([sys.executable, "-m", "judge.cli", *command.split()], cwd=folder, text=True, timeout=60)
    assert 0 != done.returncode
    assert "unexpected error" not in done.stderr
    assert done.stderr.strip() or "a special file" in done.stdout
