"""A command whose output is lost, whose terminal is closed, or which meets an unexpected error ends with a sentence."""

import os
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from judge.cli import TRACEBACK_VARIABLE
from tests.cli.conftest import Judge
from tests.cli.contests import JUDGE, running, slow_contest, write_contest
from tests.forked import ForkedProcess
from tests.patience import PATIENCE_S

KINDS = {
    "sentences": "policies",
    "help": "contest --help",
    "a table": "contest standings cup",
    "JSON": "contest status cup --json",
    "a file": "show cup --game 1 --record -",
    "moves of a running game": "match house-instant house-instant --box process --set clock.turn_ms=500",
}
"""A command for each kind of output."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("output")
    write_contest(found / "cup", ["house-instant", "house-instant"], change=["clock.turn_ms=2000"])
    with running(found, "cup") as process:
        process.communicate(timeout=PATIENCE_S)
        assert 0 == process.returncode
    return found


FULL = "judge: standard output cannot be written: No space left on device"


@pytest.mark.docker
@pytest.mark.parametrize("kind", KINDS)
def test_a_command_whose_output_is_lost_ends_with_one_sentence(folder: Path, kind: str) -> None:
    """Without one if only its reader has ended."""
    reader, writer = os.pipe()
    os.close(reader)
    with Path("/dev/full").open("wb") as full, os.fdopen(writer, "wb") as pipe:
        (code, said), (code_without_reader, nothing) = (end_of(KINDS[kind], folder, each) for each in (full, pipe))

    assert (1, [FULL]) == (code, said.splitlines()[-1:])
    assert 141 == code_without_reader
    assert "standard output" not in nothing
    assert "Traceback" not in said + nothing
    assert "Exception ignored" not in said + nothing


def end_of(command: str, folder: Path, output: IO[bytes]) -> tuple[int, str]:
    """The exit code of a command, and what it says on standard error."""
    words, nothing = [*JUDGE, *command.split()], subprocess.DEVNULL
    with ForkedProcess[str](
        words, cwd=folder, stdin=nothing, stdout=output, stderr=subprocess.PIPE, text=True
    ) as process:
        _, said = process.communicate(timeout=PATIENCE_S)
    return process.returncode, said


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("> /dev/full", "judge: standard output cannot be written: No space left on device\n"),
        (">&-", "judge: standard output is closed\n"),
        ("> /dev/full 2> /dev/full", ""),
        (">&- 2>&-", ""),
    ],
)
def test_lost_output_is_one_sentence_and_exit_code_1(where: str, said: str, tmp_path: Path) -> None:
    words = ["bash", "-c", f'"$@" {where}; exit ${{PIPESTATUS[0]}}', "bash", *JUDGE, "policies"]
    ended = subprocess.run(words, cwd=tmp_path, stderr=subprocess.PIPE, timeout=PATIENCE_S, check=False)

    assert (1, said) == (ended.returncode, ended.stderr.decode())


def test_a_command_that_prints_nothing_does_not_need_its_output(tmp_path: Path) -> None:
    """Nor does it write into a file that it opens in the place of the closed stream."""
    words = ["bash", "-c", '"$@" >&- 2>&- <&-', "bash", *JUDGE, "contest", "key", "organiser.key"]
    ended = subprocess.run(words, cwd=tmp_path, timeout=PATIENCE_S, check=False)

    assert ended.returncode in (0, 1)
    assert (tmp_path / "organiser.key").read_bytes().startswith(b"-----BEGIN")


UNEXPECTED = """
from judge.cli import guarded
def command():
    print("before")
    raise {error}
guarded(command)
"""


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("KeyError('a\\x1b[31mb')", "judge: unexpected error: KeyError: 'a\\x1b[31mb'; "),
        ("MemoryError()", "judge: unexpected error: MemoryError: no message; "),
        (
            "PermissionError(13, 'Permission denied', 'x')",
            "judge: unexpected error: PermissionError: x: Permission denied",
        ),
        ("OSError(28, 'No space left on device', 'x')", "judge: x: No space left on device: free some space, and run"),
        ("RuntimeError('(sqlite3.OperationalError) database or disk is full')", "judge: the disk of the store is full"),
    ],
)
def test_an_unexpected_error_is_one_sentence_that_names_its_details(error: str, said: str, tmp_path: Path) -> None:
    words = [sys.executable, "-c", UNEXPECTED.format(error=error)]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    ended = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False)

    assert (1, "before\n") == (ended.returncode, ended.stdout)
    assert ended.stderr.startswith(said)
    assert 1 == ended.stderr.count("\n")
    for path in tmp_path.glob("judge-error-*"):
        assert str(path) in ended.stderr
        assert "Traceback" in path.read_text()
        assert 0o600 == path.stat().st_mode & 0o777
    assert ("unexpected" in said) is bool(list(tmp_path.iterdir()))

    shown = environment | {TRACEBACK_VARIABLE: "1"}
    asked = subprocess.run(words, env=shown, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert ("unexpected" in said) is ("Traceback" in asked.stderr)


@pytest.mark.docker
def test_contest_that_lost_its_output_ends_and_resumes_later(tmp_path: Path, judge: Judge) -> None:
    slow_contest(tmp_path / "cup", pause=0)
    with Path("/dev/full").open("wb") as full:
        code, said = end_of("contest run cup", tmp_path, full)

    assert (1, FULL) == (code, said.splitlines()[-1])
    assert "Traceback" not in said
    assert 0 == judge("contest", "run", "cup").code
    assert judge("contest", "status", "cup").out.startswith("cup: over, 2 of 2 games done\n")


def test_nohup_keeps_a_command_alive(tmp_path: Path) -> None:
    code = "import signal\nfrom judge.cli import guarded\nguarded(lambda: signal.raise_signal(signal.SIGHUP))"
    words = ["nohup", sys.executable, "-c", code]
    ended = subprocess.run(words, cwd=tmp_path, capture_output=True, timeout=PATIENCE_S, check=False)

    assert 0 == ended.returncode


@pytest.mark.parametrize(
    "arguments",
    [("verify",), ("show",), ("contest", "plan"), ("contest", "verify"), ("stats",), ("convert", "--to", "psq")],
)
def test_path_with_a_name_that_is_too_long_gets_a_sentence(judge: Judge, arguments: tuple[str, ...]) -> None:
    done = judge(*arguments, "x" * 300)

    assert done.code in (1, 2)
    assert "too long" in done.out + done.err
    assert "unexpected error" not in done.err
