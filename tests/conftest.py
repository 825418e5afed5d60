"""What holds for every test: the processes that it starts obey signals as they do in a terminal, judges of other test
runs on this host do not wait for those of this one, and tests that run side by side do not see each other's files.
"""

import atexit
import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from itertools import groupby
from multiprocessing import util
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import structlog
from hypothesis import settings

from judge.base.resources import BUILD_DIRECTORY
from judge.base.worker_processes import give_sockets_a_directory
from judge.sandbox.docker.reaper import reap
from judge.sandbox.machine.cores import LOCKS_VARIABLE
from tests.examples import FAST, examples
from tests.forked import fork_workers
from tests.store.server import share_server

if TYPE_CHECKING:
    from tests.publish.cups import Cup
    from tests.publish.public import Public
    from tests.site.browser import Browser

pytest_plugins = ["tests.figures"]

gc.disable()  # until all tests are collected

HERE = Path(__file__).parent


STARTS_PROCESSES = (
    *("cli", "cluster", "export", "faults", "house_agents", "publish", "site", "starters", "verify"),
    *("web/authors/test_home.py", "web/intake", "web/live", "web/organisers", "web/test_player.py"),
)
"""Folders and modules whose tests start dozens of judges, services or agents."""

# No test depends on how fast the host is.
settings.register_profile("whole", deadline=None)
settings.load_profile("whole")

if FAST:
    # All of their tests are `slow`: to import them costs as much as the tests that are left.
    collect_ignore = list(STARTS_PROCESSES)
    settings.register_profile("fast", max_examples=examples(settings().max_examples), deadline=None)
    settings.load_profile("fast")


def pytest_configure(config: pytest.Config) -> None:
    """Tests side by side have their files in memory; one that is alone in its process may measure a disk."""
    if config.getoption("numprocesses", None) and (place := _place_in_memory()):
        os.environ["PYTEST_DEBUG_TEMPROOT"] = place


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What starts processes takes more than a moment; what takes longest begins first, so that no core waits for it."""
    for path, of_file in groupby(items, lambda item: item.path):
        is_slow = any(path.is_relative_to(HERE / place) for place in STARTS_PROCESSES)
        for item in of_file:
            if is_slow:
                item.add_marker(pytest.mark.slow)
            if item.get_closest_marker("alone") and "mark.alone" not in path.read_text():
                raise pytest.UsageError(f"{path} has to say mark.alone: scripts/test looks for it there")
    _begin_with_the_longest(items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name binary data after its argument: a compressed file has the time in it, and all workers need the same ids."""
    return argname if isinstance(val, bytes) and not val.isascii() else None


@pytest.fixture
def disk() -> Iterator[Path]:
    """An empty directory on a disk; other files of tests may be in memory."""
    with tempfile.TemporaryDirectory(dir=BUILD_DIRECTORY) as directory:
        yield Path(directory)


@pytest.fixture(autouse=True)
def default_logs() -> Iterator[None]:
    """No test sees the log configuration of a command that another test ran in this process."""
    yield
    structlog.reset_defaults()


@pytest.fixture(scope="session")
def cup(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Cup]":
    from tests.contests import ROUND_ROBIN

    with ROUND_ROBIN.contest(tmp_path_factory.mktemp("cup")) as cup:
        yield cup


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> "Public":
    from tests.contests import ROUND_ROBIN

    return ROUND_ROBIN.export(tmp_path_factory.mktemp("exported"))


@pytest.fixture
def copy(exported: "Public", tmp_path: Path) -> "Public":
    """An export that a test may change."""
    return exported.copy_to(tmp_path)


@pytest.fixture(scope="session")
def logged(tmp_path_factory: pytest.TempPathFactory) -> "Public":
    """The export of two agents whose first game was void once: a log of eleven leaves."""
    from tests.contests import LOGGED

    return LOGGED.export(tmp_path_factory.mktemp("logged"))


@pytest.fixture
def logged_copy(logged: "Public", tmp_path: Path) -> "Public":
    """The same, which a test may change."""
    return logged.copy_to(tmp_path)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Browser]":
    from tests.site.browser import Browser, find_browser

    program = find_browser()
    if program is None:
        pytest.skip("there is no browser here; scripts/test installs one")
    browser = Browser(program, tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


def pytest_sessionfinish() -> None:
    """Remove the directories of judges that tests have killed."""
    reap(containers=False)


def pytest_collection_finish() -> None:
    """Thousands of tests stay to the end: the garbage collector need not look at them again and again."""
    gc.freeze()
    gc.enable()


def _begin_with_the_longest(items: list[pytest.Item], workers: int) -> None:
    """Put the tests marked `long` at the beginning of the parts into which `--dist worksteal` divides the list."""
    longest = [item for item in items if item.get_closest_marker("long")]
    others = [item for item in items if not item.get_closest_marker("long")]
    items.clear()
    for worker in range(workers):
        items += longest[worker::workers]
        items += others[len(others) * worker // workers : len(others) * (worker + 1) // workers]


def _obey_signals() -> None:
    """Obey signals as in the foreground of a terminal, in this process and in those that it starts.

    A shell's background job ignores SIGINT and SIGQUIT, a program of nohup SIGHUP. Programs inherit what is ignored,
    but no handler. After SIGHUP a run continues. Python itself ignores SIGPIPE and SIGXFSZ, and not in its children.
    """
    for number in {signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM}:
        if signal.getsignal(number) is not signal.SIG_IGN:
            continue
        if number == signal.SIGINT:
            signal.signal(number, signal.default_int_handler)
        elif number == signal.SIGHUP:
            signal.signal(number, lambda *_: None)
        else:
            signal.signal(number, signal.SIG_DFL)


def _start_python_at_once() -> None:
    """Agents that are processes run `python3`, which may be a version manager's script that looks for it each time."""
    os.environ["PATH"] = f"{Path(sys.executable).resolve().parent}{os.pathsep}{os.environ['PATH']}"


def _have_locks_of_our_own() -> None:
    """Give this process and its children their own locks of the cores (`judge.sandbox.machine.cores`).

    Tests that run side by side do not take turns: what one agent uses of a core must not make another lose.
    """
    if LOCKS_VARIABLE not in os.environ or "PYTEST_XDIST_WORKER" in os.environ:
        directory = Path(tempfile.mkdtemp(prefix="judge-test-locks-", dir="/dev/shm"))
        atexit.register(shutil.rmtree, directory, ignore_errors=True)
        for core in range(os.sysconf("SC_NPROCESSORS_CONF")):
            (directory / f"cpu{core}").touch()
        os.environ[LOCKS_VARIABLE] = str(directory)


MEMORY = "/dev/shm"
ROOM_BYTES = 6 << 30


def _place_in_memory() -> str | None:
    """A directory for the files of tests, which wait much for disks. None without room for them, or for programs."""
    found = os.statvfs(MEMORY)
    return MEMORY if found.f_bavail * found.f_frsize > ROOM_BYTES and not found.f_flag & os.ST_NOEXEC else None


def _have_temporary_files_of_our_own() -> None:
    """A judge removes what dead judges have left among the temporary files: each process of a run has its own."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        directory = Path(tempfile.mkdtemp(prefix="judge-test-", dir=_place_in_memory()))
        directory.chmod(0o1777)  # as /tmp: some tests are another user
        atexit.register(shutil.rmtree, directory, ignore_errors=True)
        os.environ["TMPDIR"] = tempfile.tempdir = str(directory)


def _keep_sockets_apart() -> None:
    """Tests look for directories of this process; that of its fork server is not among them."""
    directory = tempfile.mkdtemp(prefix="judge-test-")
    util.Finalize(None, shutil.rmtree, (directory, True), exitpriority=-102)  # after -101, which removes its contents
    before, tempfile.tempdir = tempfile.tempdir, directory
    give_sockets_a_directory()
    tempfile.tempdir = before


_obey_signals()
_start_python_at_once()
_keep_sockets_apart()
_have_locks_of_our_own()
_have_temporary_files_of_our_own()
share_server()
fork_workers()
