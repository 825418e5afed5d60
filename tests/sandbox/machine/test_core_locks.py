"""Judges of one host take turns on its cores: who has one, who waits, and who blocks nobody."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import docker
import pytest

from judge.base.errors import InputError
from judge.host.build_images import build_images
from judge.sandbox.machine import cores
from judge.sandbox.machine.cores import (
    CoreLocks,
    available,
    core_of,
    holder_of,
    is_free,
    is_waited_for,
    take_one,
    waits,
    whole_cores,
)
from tests.patience import PATIENCE_S, until

HOLDER = """
import sys
from judge.sandbox.machine.cores import CoreLocks
with CoreLocks([int(word) for word in sys.argv[1:]], print):
    print("had", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Locks of four cores of one processor each, on a disk that /proc/locks calls as stat does."""
    directory = Path("/dev/shm") / f"judge-test-{os.getpid()}-{tmp_path.name}"
    directory.mkdir()
    for core in range(4):
        (directory / f"cpu{core}").touch()
    monkeypatch.setenv(cores.LOCKS_VARIABLE, str(directory))
    monkeypatch.setattr(cores, "core_of", lambda processor: processor)
    yield directory
    shutil.rmtree(directory)


@contextmanager
def holder(*cores: int) -> Iterator[subprocess.Popen[str]]:
    """A process that has cores, until the test is through with it."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", HOLDER, *map(str, cores)]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout
        assert "had\n" == process.stdout.readline()
        yield process
        process.kill()


def silent(text: str) -> None:
    raise AssertionError(text)


def test_core_holder_is_named_while_waiting_and_its_death_frees_the_core(directory: Path) -> None:
    messages: list[str] = []
    with holder(2) as process:
        waiting = CoreLocks((2,), messages.append)
        assert not waiting.take_if_free()
        thread = threading.Thread(target=waiting.__enter__, daemon=True)
        thread.start()
        until(lambda: bool(messages), "nobody is told of")
        process.send_signal(signal.SIGKILL)
        thread.join(PATIENCE_S)

    assert not thread.is_alive()
    assert waiting.waited
    (sentence,) = messages
    assert sentence.startswith("waiting for core 2: python")
    assert f"(process {process.pid}, running since 20" in sentence
    waiting.__exit__()


def test_a_free_core_is_taken_first_and_else_the_first_to_become_free(directory: Path) -> None:
    with holder(3) as third, holder(2):
        free = take_one([CoreLocks((core,), silent) for core in (3, 2, 1)])
        assert (1,) == free.processors

        messages: list[str] = []
        won: list[CoreLocks] = []
        wanted = [CoreLocks((core,), messages.append) for core in (2, 3)]
        thread = threading.Thread(target=lambda: won.append(take_one(wanted)), daemon=True)
        thread.start()
        until(lambda: 2 == len(messages), "not both are told of")
        third.kill()
        thread.join(PATIENCE_S)
        assert [(3,)] == [each.processors for each in won]
        free.__exit__()
        won[0].__exit__()
    assert is_free((2,), silent)


def test_other_cores_are_not_waited_for_once_one_is_taken(directory: Path) -> None:
    """A slot of two cores has its first one while it waits for its second one."""
    with holder(2) as second, holder(3) as third:
        wanted = [CoreLocks((1, 2), lambda _: None), CoreLocks((3,), lambda _: None)]

        def free_third() -> None:
            until(lambda: all(map(is_waited_for, (second.pid, third.pid))), "it does not wait for both")
            third.kill()

        freeing = threading.Thread(target=free_third)
        freeing.start()
        with take_one(wanted):
            freeing.join()
            assert not is_free((3,), silent)
            assert is_free((1,), silent)
            assert not is_waited_for(second.pid)
            assert not waits(os.getpid())


def test_interrupted_wait_for_one_of_two_cores_ends(directory: Path) -> None:
    with holder(2) as second, holder(3) as third:

        def interrupt() -> None:
            until(lambda: all(map(is_waited_for, (second.pid, third.pid))), "it does not wait for both")
            signal.pthread_kill(main_thread, signal.SIGINT)

        main_thread = threading.get_ident()
        interrupting = threading.Thread(target=interrupt)
        interrupting.start()
        with pytest.raises(KeyboardInterrupt):
            take_one([CoreLocks((core,), lambda _: None) for core in (2, 3)])
        interrupting.join()
        assert not waits(os.getpid())
    assert is_free((2, 3), silent)


def test_a_lock_that_is_had_is_entered_again_and_is_free_afterwards(directory: Path) -> None:
    had = take_one([CoreLocks((1,), silent)])
    for _ in range(2):
        with had:
            assert not is_free((1,), silent)
        assert is_free((1,), silent)


def test_cores_are_had_together_or_not_at_all_and_exclusively_unless_shared(directory: Path) -> None:
    with holder(2):
        assert not CoreLocks((1, 2), silent).take_if_free()
        assert is_free((1,), silent)
    with CoreLocks((1,), silent, shared=True), CoreLocks((1,), silent, shared=True):
        assert not is_free((1,), silent)
    assert is_free((1,), silent)


def test_all_hyperthreads_of_a_core_have_one_lock(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "core_of", lambda processor: processor % 2)
    with CoreLocks((1, 3), silent):
        assert not is_free((3,), silent)
        assert is_free((0, 2), silent)


def test_process_of_a_judge_is_named_by_its_command(directory: Path, tmp_path: Path) -> None:
    """As the worker of a contest: the command of the judge above it is what says something."""
    judge = tmp_path / "judge"
    judge.write_text(f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {HOLDER!r}, '1'])\n")
    command = [sys.executable, str(judge), "contest", "run", "c\x1bup"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        process.stdout.readline()
        said = holder_of(directory / "cpu1")
        assert process.stdin
        process.stdin.close()

    assert said.startswith(f"judge contest run c\x1bup (process {process.pid}, running since ")


@pytest.mark.parametrize("kind", ["link", "missing"])
def test_a_lock_that_is_a_link_or_missing_is_refused(directory: Path, kind: str) -> None:
    path = directory / "cpu1"
    path.unlink()
    if kind == "link":
        path.symlink_to("/etc/passwd")

    with pytest.raises(InputError, match=r"JUDGE_LOCKS: .*/cpu1 is not there, or a link"):
        CoreLocks((1,), silent)


def test_unwritten_pipe_blocks_no_reader(directory: Path) -> None:
    path = directory / "cpu1"
    path.unlink()
    os.mkfifo(path)
    with CoreLocks((1,), silent):
        assert not is_free((1,), silent)


def test_hidden_kernel_directory_gives_a_warning_with_its_consequence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(cores.LOCKS_VARIABLE, raising=False)
    monkeypatch.setattr(cores, "SIBLINGS", tmp_path)
    messages: list[str] = []

    with CoreLocks((0,), messages.append):
        pass

    (warning,) = messages
    assert "judges on this host do not know of each other: run one at a time" in warning


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The kernel's own lock of the lowest core, which is the judge's wherever there are two."""
    monkeypatch.delenv(cores.LOCKS_VARIABLE, raising=False)
    if len(whole_cores()) == 1:
        pytest.skip("a judge of this host may have the only core")
    return cores.SIBLINGS / f"cpu{core_of(min(available()))}"


def core_in(lock: Path) -> int:
    return int(lock.name.removeprefix("cpu"))


def test_another_user_sees_the_lock_and_may_have_it_next(kernels: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can be another user")
    as_nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    ask = [*as_nobody, "flock", "--nonblock", str(kernels), "true"]

    with CoreLocks((core_in(kernels),), silent):
        assert 0 != subprocess.run(ask, check=False).returncode
        assert holder_of(kernels).rpartition(" (")[2].startswith(f"process {os.getpid()}, ")
    subprocess.run(ask, check=True)


@pytest.mark.docker
def test_a_container_has_other_locks(kernels: Path) -> None:
    """What an agent could reach, if the profile of its box let it lock anything."""
    build_images(["python"])
    code = f"import fcntl, os; fcntl.flock(os.open('{kernels}', 0), fcntl.LOCK_EX | fcntl.LOCK_NB)"
    with closing(docker.from_env()) as client, CoreLocks((core_in(kernels),), silent):
        client.containers.run("judge/python:1", ["-c", code], entrypoint="python3", network_mode="none", remove=True)
