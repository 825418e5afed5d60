"""What holds for every test: the processes that it starts obey signals as they do in a terminal, judges of other test
runs on this host do not wait for those of this one, and tests that run side by side do not see each other's files.
"""

import atexit
import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest

from judge.sandbox.core_locks import VARIABLE

HERE = Path(__file__).parent


STARTS_PROCESSES = ("cli", "cluster", "faults", "house_agents", "intake", "publish", "starters")
"""The rooms whose tests start judges, services or agents by the dozen."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What starts processes takes more than a moment."""
    for item in items:
        if item.path.relative_to(HERE).parts[0] in STARTS_PROCESSES:
            item.add_marker(pytest.mark.slow)


def _obey_signals() -> None:
    """A shell's background job ignores Ctrl-C, and so would all that tests start; a handler is not passed on to them.

    SIGPIPE and SIGXFSZ are ignored by Python itself, which gives them back to its children.
    """
    for number in {signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM}:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


def _have_locks_of_our_own() -> None:
    """A lock for each core, as `judge.sandbox.core_locks` has them, for this run and all that it starts."""
    if VARIABLE not in os.environ:
        directory = Path(tempfile.mkdtemp(prefix="judge-test-locks-", dir="/dev/shm"))
        atexit.register(shutil.rmtree, directory, ignore_errors=True)
        for core in range(os.sysconf("SC_NPROCESSORS_CONF")):
            (directory / f"cpu{core}").touch()
        os.environ[VARIABLE] = str(directory)


def _have_temporary_files_of_our_own() -> None:
    """A judge removes what dead judges have left among the temporary files: each process of a run has its own."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        directory = Path(tempfile.mkdtemp(prefix="judge-test-"))
        directory.chmod(0o1777)  # as /tmp: some tests are another user
        atexit.register(shutil.rmtree, directory, ignore_errors=True)
        os.environ["TMPDIR"] = tempfile.tempdir = str(directory)


_obey_signals()
_have_locks_of_our_own()
_have_temporary_files_of_our_own()
