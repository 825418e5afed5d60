"""A command whose output is lost, whose terminal is closed, or which meets an unexpected error ends with a sentence."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import IO

import pytest

from judge.cli.guard import TRACEBACK_VARIABLE
from judge.contest.contest import Contest, open_store
from judge.contest.plan import load_plan
from judge.contest_games import GameState
from tests.cli.brains import write_brain
from tests.cli.conftest import SHORT, Judge
from tests.cli.contests import JUDGE, left, line, running, slow_contest, workers, write_contest
from tests.forked import ForkedProcess
from tests.patience import PATIENCE_S

KINDS: Mapping[str, tuple[str, ...]] = {
    "sentences": ("policies", "list"),
    "help": ("contest", "--help"),
    "a table": ("contest", "standings", "cup"),
    "JSON": ("contest", "status", "cup", "--json"),
    "a file": ("contest", "game", "1", "cup", "--record", "-"),
    "moves of a running game": (
        *("match", "house-instant", "house-instant", "--box", "process", "--set", "clock.turn_ms=500"),
    ),
}
"""A command for each kind of output."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a contest that is over."""
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
    with Path("/dev/full").open("wb") as full:
        code, said = end_of(KINDS[kind], folder, full)

    assert (1, [FULL]) == (code, said.splitlines()[-1:])
    assert "Traceback" not in said
    assert "Exception ignored" not in said


@pytest.mark.docker
@pytest.mark.parametrize("kind", KINDS)
def test_a_command_whose_reader_has_ended_says_nothing_of_it(folder: Path, kind: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        code, said = end_of(KINDS[kind], folder, pipe)

    assert 141 == code
    assert "standard output" not in said
    assert "Traceback" not in said


def end_of(words: Sequence[str], folder: Path, output: IO[bytes]) -> tuple[int, str]:
    """The exit code of a command, and what it says on standard error."""
    with ForkedProcess[str](
        [*JUDGE, *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE, text=True
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
    words = ["bash", "-c", f'"$@" {where}; exit ${{PIPESTATUS[0]}}', "bash", *JUDGE, "policies", "list"]
    ended = subprocess.run(words, cwd=tmp_path, stderr=subprocess.PIPE, timeout=PATIENCE_S, check=False)

    assert (1, said) == (ended.returncode, ended.stderr.decode())


def test_a_command_that_prints_nothing_does_not_need_its_output(tmp_path: Path) -> None:
    """Nor does it write into a file that it opens in the place of the closed stream."""
    words = ["bash", "-c", '"$@" >&- 2>&- <&-', "bash", *JUDGE, "contest", "key", "organiser.key"]
    ended = subprocess.run(words, cwd=tmp_path, timeout=PATIENCE_S, check=False)

    assert ended.returncode in (0, 1)
    assert (tmp_path / "organiser.key").read_bytes().startswith(b"-----BEGIN")


UNEXPECTED = """
from judge.cli.guard import guarded
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

    asked = subprocess.run(
        words,
        env=environment | {TRACEBACK_VARIABLE: "1"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert ("unexpected" in said) is ("Traceback" in asked.stderr)


@pytest.mark.docker
def test_contest_that_lost_its_output_ends_and_resumes_later(tmp_path: Path, judge: Judge) -> None:
    slow_contest(tmp_path / "cup", pause=0)
    command = f"exec {sys.executable} -m judge.cli contest run cup > /dev/full"
    ended = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, stderr=subprocess.PIPE, timeout=PATIENCE_S, text=True, check=False
    )

    assert 1 == ended.returncode
    assert "judge: standard output cannot be written: No space left on device" == ended.stderr.splitlines()[-1]
    assert "Traceback" not in ended.stderr
    assert 0 == judge("contest", "run", "cup").code
    planned = load_plan(tmp_path / "cup")
    with closing(open_store(planned)) as store:
        assert 2 == store.counts(Contest(store, planned).name)[GameState.DONE]


@pytest.mark.docker
def test_contest_leaves_nothing_after_its_terminal_closes(tmp_path: Path) -> None:
    slow_contest(tmp_path / "cup", games=4, pause=1)
    with running(tmp_path, "cup") as process:
        line(process)
        pids = [process.pid, *workers(process.pid)]
        os.killpg(process.pid, signal.SIGHUP)
        _, said = process.communicate(timeout=PATIENCE_S)

    assert 143 == process.returncode
    assert "the terminal was closed" in said
    assert "Traceback" not in said
    assert [] == left(pids)


@pytest.mark.docker
def test_match_leaves_no_container_after_its_terminal_closes(tmp_path: Path) -> None:
    write_brain(tmp_path, "slow", "time.sleep(0.3)")
    words = ["match", "./slow.py", "house-instant", "--policy", "gomocup-fastgame", *SHORT]
    with subprocess.Popen(
        [*JUDGE, *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout
        for said in process.stdout:
            if said.strip().startswith("3."):
                break
        pids = [process.pid, *workers(process.pid)]
        os.killpg(process.pid, signal.SIGHUP)
        _, errors = process.communicate(timeout=PATIENCE_S)

    assert 143 == process.returncode
    assert "judge: the terminal was closed; the command ends" in errors
    assert [] == left(pids)


def test_nohup_keeps_a_command_alive(tmp_path: Path) -> None:
    code = "import signal\nfrom judge.cli.guard import guarded\nguarded(lambda: signal.raise_signal(signal.SIGHUP))"
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
