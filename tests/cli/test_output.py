"""A command whose output is lost, whose terminal is closed, or which meets an unexpected error ends with a sentence."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from judge.cli import app
from judge.cli.contest import app as contest_app
from judge.cli.cup import app as cup_app
from judge.cli.guard import TRACEBACK_VARIABLE
from judge.contest.contest import Contest, open_store
from judge.contest.plan import load_plan
from judge.contest_games import GameState
from tests.cli.brains import write_brain
from tests.cli.conftest import SHORT, Judge
from tests.cli.contests import JUDGE, left, line, running, slow_contest, workers, write_contest
from tests.patience import PATIENCE_S

CONTEST = Path("cup") / "contest.toml"
RECORD = "records/game-001.json"

WORDS: Mapping[str, tuple[str, ...]] = {
    "match": ("match", "house-instant", "house-instant", "--box", "process", "--set", "clock.turn_ms=500"),
    "show": ("show", RECORD),
    "check": ("check", "house-instant", "--box", "process"),
    "verify": ("verify", RECORD),
    "convert": ("convert", RECORD, "--to", "psq", "--out", "-"),
    "stats": ("stats", str(CONTEST)),
    "evaluate": ("evaluate", "nothing", "nothing"),
    "sprt": ("sprt", "10", "5", "3"),
    "submit": ("submit", "nothing.zip", "--contest", str(CONTEST)),
    "challenge": ("challenge", "mine", "other", "--url", "http://127.0.0.1:9"),
    "serve": ("serve", "nothing"),
    "serve-intake": ("serve-intake", "nothing"),
    "scheduler": ("scheduler", "--listen", "tcp://10.0.0.1:1"),
    "worker": ("worker",),
    "policies": ("policies", "list"),
    "agents": ("agents",),
    "doctor": ("doctor",),
    "selftest": ("selftest", "--list"),
    "schema": ("schema", "policy"),
    "verdicts": ("verdicts",),
    "submissions": ("submissions", "list", str(CONTEST)),
    "organisers": ("organisers", "--help"),
    "cluster": ("cluster", "keys", "keys", "10.0.0.1"),
    "images": ("images", "list"),
}
"""For each command words with which it prints something, or fails with a sentence."""

CONTEST_WORDS: Mapping[str, tuple[str, ...]] = {
    "init": ("init", "other", "--policy", "gomocup-standard"),
    "import": ("import", "nothing", "elsewhere"),
    "plan": ("plan", str(CONTEST)),
    "announce": ("announce", str(CONTEST)),
    "cosign": ("cosign", str(CONTEST)),
    "run": ("run", str(CONTEST)),
    "watch": ("watch", str(CONTEST)),
    "status": ("status", str(CONTEST), "--games"),
    "standings": ("standings", str(CONTEST)),
    "crosstable": ("crosstable", str(CONTEST)),
    "game": ("game", "1", str(CONTEST), "--record", "-"),
    "log": ("log", str(CONTEST)),
    "pause": ("pause", str(CONTEST)),
    "resume": ("resume", str(CONTEST)),
    "void": ("void", "1", str(CONTEST), "--why", "a test"),
    "disqualify": ("disqualify", "nobody", str(CONTEST), "--why", "a test"),
    "withdraw": ("withdraw", "nobody", str(CONTEST), "--why", "a test"),
    "enter": ("enter", "nobody", str(CONTEST), "--why", "a test"),
    "end-season": ("end-season", str(CONTEST), "--why", "a test"),
    "freeze-admissions": ("freeze-admissions", str(CONTEST), "--why", "a test"),
    "reopen-admissions": ("reopen-admissions", str(CONTEST), "--why", "a test"),
    "folders": ("folders", "list", str(CONTEST)),
    "key": ("key", "cup/organiser.key"),
    "export": ("export", str(CONTEST), "--out", "out", "--unsigned"),
    "compare": ("compare", "nothing", str(CONTEST)),
    "publish": ("publish", str(CONTEST), "--out", "pages"),
    "verify": ("verify", "nothing"),
    "backup": ("backup", str(CONTEST), "saved"),
    "restore": ("restore", "nothing", "restored"),
}


CUP_WORDS: Mapping[str, tuple[str, ...]] = {
    "init": ("init", "series"),
    "plan": ("plan", "nothing"),
    "announce": ("announce", "nothing"),
    "submit": ("submit", "nothing.zip", "nothing", "--league", "one"),
    "tokens": ("tokens", "nothing", "nothing"),
    "run": ("run", "nothing"),
    "status": ("status", "nothing"),
    "standings": ("standings", "nothing"),
    "export": ("export", "out", "nothing"),
    "verify": ("verify", "nothing"),
}


def commands(of: object) -> set[str]:
    return set(of.info.cls.places)  # type: ignore[attr-defined]


ALL = {
    **WORDS,
    **{f"contest {name}": ("contest", *words) for name, words in CONTEST_WORDS.items()},
    **{f"cup {name}": ("cup", *words) for name, words in CUP_WORDS.items()},
}


def test_all_commands_are_tried() -> None:
    assert commands(app) == {*WORDS, "contest", "cup"}
    assert commands(contest_app) == CONTEST_WORDS.keys()
    assert commands(cup_app) == CUP_WORDS.keys()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a contest that is over, and the record of one of its games."""
    found = tmp_path_factory.mktemp("output")
    write_contest(found / "cup", ["house-instant", "house-instant"], change=["clock.turn_ms=2000"])
    with running(found, "cup") as process:
        process.communicate(timeout=PATIENCE_S)
        assert 0 == process.returncode
    (found / "records").mkdir()
    words = [*JUDGE, "contest", "game", "1", "cup", "--record", RECORD]
    subprocess.run(words, cwd=found, check=True, capture_output=True, timeout=PATIENCE_S)
    return found


LOST = ("> /dev/full", ">&-", "| true")
"""To a full disk, to a closed file descriptor, and to a reader that has ended."""


@pytest.mark.docker
@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_no_command_ends_with_a_traceback_when_its_output_is_lost(folder: Path, name: str) -> None:
    """Each ends with a code and a sentence."""
    for where in LOST:
        command = f'"$@" {where}; exit ${{PIPESTATUS[0]}}'
        words = ["bash", "-c", command, "bash", *JUDGE, *ALL[name]]
        ended = subprocess.run(
            words, cwd=folder, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=PATIENCE_S, check=False
        )
        said = ended.stderr.decode()

        assert "Traceback" not in said, (where, said)
        assert "Exception ignored" not in said, (where, said)
        assert "unexpected error" not in said, (where, said)
        assert ended.returncode in (0, 1, 2, 141), (where, said)
        if ended.returncode not in (0, 141):
            assert said.strip(), where


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


def test_reader_that_ends_early_gets_no_message(tmp_path: Path) -> None:
    words = ["bash", "-c", '"$@" | true; exit ${PIPESTATUS[0]}', "bash", *JUDGE, "policies", "list"]
    ended = subprocess.run(words, cwd=tmp_path, stderr=subprocess.PIPE, timeout=PATIENCE_S, check=False)

    assert (141, b"") == (ended.returncode, ended.stderr)


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
    slow_contest(tmp_path / "cup", games=2)
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
