"""PostgreSQL: a server for all tests of a run, and one of a test's own, to be stopped, killed and started again."""

import atexit
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Literal

import pytest
from sqlalchemy import create_engine, text

from judge.base.locks import locked

SERVERS = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
"""`scripts/test` installs one."""


PLACE_VARIABLE = "JUDGE_TEST_POSTGRESQL"
"""Has the directory of the server that a test run shares."""


@contextmanager
def running(listen: str = "", port: int = 5432) -> Iterator["Server"]:
    """A server that runs, for a test; skipped where none is installed."""
    if not SERVERS:
        pytest.skip("there is no PostgreSQL server here; scripts/test installs one")
    found = Server(listen, port)
    try:
        found.start()
        yield found
    finally:
        found.remove()


@contextmanager
def database(kind: str) -> Iterator[str]:
    """The address of a contest's store: `sqlite` is a file in its folder, `postgresql` a server of the test's own."""
    if kind == "sqlite":
        yield "sqlite:///contest.db"
        return
    with running() as server:
        yield server.url


def share_server() -> None:
    """Let all processes of a test run use one server. The process that calls this ends it."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        place = Path(tempfile.mkdtemp(prefix="judge-test-pg-"))
        place.chmod(0o755)  # the server is another user
        os.environ[PLACE_VARIABLE] = str(place)
        atexit.register(_end_shared, place)


@cache
def shared_url() -> str:
    """A new database on the server of the test run, which is started if it is the first; skipped without PostgreSQL."""
    if not SERVERS:
        pytest.skip("there is no PostgreSQL server here; scripts/test installs one")
    place = Path(os.environ[PLACE_VARIABLE])
    with locked(place / "lock"):
        if not (place / "url").exists():
            server = Server(place=place)
            server.start()
            (place / "url").write_text(server.url)
    url = (place / "url").read_text()
    name = f"process_{os.getpid()}"
    execute(url, f"CREATE DATABASE {name}", isolation_level="AUTOCOMMIT")
    return url.replace("/postgres?", f"/{name}?")


def execute(url: str, *statements: str, **options: Any) -> None:
    """Run statements in a database. `options` are those of its engine."""
    engine = create_engine(url, **options)
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


def _end_shared(place: Path) -> None:
    for data in place.glob("judge-pg-*/data"):
        _run("pg_ctl", "stop", "-w", "-D", str(data), "-m", "fast")
    shutil.rmtree(place, ignore_errors=True)


def _run(name: str, *words: str) -> None:
    """Run a program of PostgreSQL. The server refuses to run as root."""
    as_owner = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] if os.geteuid() == 0 else []
    subprocess.run([*as_owner, SERVERS[-1].parent / name, *words], check=True, capture_output=True, cwd="/")


class Server:
    """A fresh cluster in a directory of its own, which listens on a socket there, and at `listen` if it is given."""

    def __init__(self, listen: str = "", port: int = 5432, place: Path | None = None) -> None:
        """`place`: where its directory is made; None: among the temporary files."""
        self._folder = Path(tempfile.mkdtemp(prefix="judge-pg-", dir=place))
        self._listen, self.port = listen, port
        if os.geteuid() == 0:
            shutil.chown(self._folder, "postgres", "postgres")
        _run("initdb", "-D", str(self._data), "-A", "trust", "-U", "judge", "--no-sync", "-E", "UTF8")
        if listen:
            with (self._data / "pg_hba.conf").open("a", encoding="ascii") as hosts:
                hosts.write("host all judge 0.0.0.0/0 trust\n")
        self._runs = False

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    @property
    def _log(self) -> Path:
        return self._folder / "log"

    @property
    def url(self) -> str:
        """By the socket in its directory."""
        return f"postgresql+psycopg://judge@/postgres?host={self._folder}&port={self.port}"

    def start(self) -> None:
        """Start it, and return when it takes connections."""
        options = f"-k {self._folder} -c listen_addresses={self._listen} -p {self.port}"
        try:
            _run("pg_ctl", "start", "-w", "-D", str(self._data), "-l", str(self._log), "-o", options)
        except subprocess.CalledProcessError as error:
            raise AssertionError(self._log.read_text()) from error
        self._runs = True

    def end(self, mode: Literal["fast", "immediate"] = "fast") -> None:
        """End it, and return when it has ended: its sessions first, or all at once, as when it crashes."""
        if self._runs:
            _run("pg_ctl", "stop", "-w", "-D", str(self._data), "-m", mode)
            self._runs = False

    def remove(self) -> None:
        """End it, and give its room back."""
        self.end()
        shutil.rmtree(self._folder)
