"""A PostgreSQL of a test's own, to be stopped, killed and started again."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    @property
    def url(self) -> str:
        """By the socket in its directory."""
        return f"postgresql+psycopg://judge@/postgres?host={self._folder}&port={self.port}"

    def start(self) -> None:
        """Start it, and return when it takes connections."""
        self._process = subprocess.Popen(
            [*self._as_owner, self._binaries / "postgres", "-D", self._data, "-k", self._folder,
             "-c", f"listen_addresses={self._listen}", "-p", str(self.port)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/",
        )  # fmt: skip
        words = ["-h", str(self._folder), "-p", str(self.port), "-U", "judge", "-d", "postgres", "-c", "select 1"]
        for _ in range(600):
            done = subprocess.run([self._binaries / "psql", *words], check=False, capture_output=True)
            if done.returncode == 0:
                return
        raise AssertionError(done.stderr.decode())

    def end(self, by: signal.Signals = signal.SIGINT) -> None:
        """End it: SIGINT ends its sessions first, SIGQUIT ends all at once, as when it crashes."""
        if self._process is not None:
            self._process.send_signal(by)
            self._process.wait()
            self._process = None

    def remove(self) -> None:
        """End it, and give its room back."""
        self.end()
        shutil.rmtree(self._folder)

    def _run(self, name: str, *words: str) -> None:
        subprocess.run([*self._as_owner, self._binaries / name, *words], check=True, capture_output=True, cwd="/")
