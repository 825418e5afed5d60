"""A PostgreSQL of a test's own, to be stopped, killed and started again."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest

SERVERS = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
"""`scripts/test` installs one."""


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


class Server:
    """A fresh cluster in a directory of its own, which listens on a socket there, and at `listen` if it is given."""

    def __init__(self, listen: str = "", port: int = 5432) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="judge-pg-"))
        self._listen, self.port = listen, port
        self._as_owner: list[str] = []
        if os.geteuid() == 0:
            # The server refuses to run as root.
            shutil.chown(self._folder, "postgres", "postgres")
            self._as_owner = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
        self._binaries = SERVERS[-1].parent
        self._run("initdb", "-D", str(self._data), "-A", "trust", "-U", "judge", "--no-sync", "-E", "UTF8")
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
            self._run("pg_ctl", "start", "-w", "-D", str(self._data), "-l", str(self._log), "-o", options)
        except subprocess.CalledProcessError as error:
            raise AssertionError(self._log.read_text()) from error
        self._runs = True

    def end(self, mode: Literal["fast", "immediate"] = "fast") -> None:
        """End it, and return when it has ended: its sessions first, or all at once, as when it crashes."""
        if self._runs:
            self._run("pg_ctl", "stop", "-w", "-D", str(self._data), "-m", mode)
            self._runs = False

    def remove(self) -> None:
        """End it, and give its room back."""
        self.end()
        shutil.rmtree(self._folder)

    def _run(self, name: str, *words: str) -> None:
        subprocess.run([*self._as_owner, self._binaries / name, *words], check=True, capture_output=True, cwd="/")
