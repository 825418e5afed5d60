"""A store on SQLite, and the same on a PostgreSQL of our own, which listens on a private socket alone."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from judge.store.contests import Store

SERVERS = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The URL of a fresh cluster; it is gone afterwards. `scripts/test` installs the server."""
    if not SERVERS:
        pytest.skip("there is no PostgreSQL server here; scripts/test installs one")
    folder = Path(tempfile.mkdtemp(prefix="judge-pg-"))
    as_owner: list[str] = []
    if os.geteuid() == 0:
        # The server refuses to run as root.
        shutil.chown(folder, "postgres", "postgres")
        as_owner = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
    binaries = SERVERS[-1].parent
    data = folder / "data"
    subprocess.run(
        [*as_owner, binaries / "initdb", "-D", data, "-A", "trust", "-U", "judge", "--no-sync", "-E", "UTF8"],
        check=True, capture_output=True, cwd="/",
    )  # fmt: skip
    server = subprocess.Popen(
        [*as_owner, binaries / "postgres", "-D", data, "-k", folder, "-c", "listen_addresses="],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/",
    )  # fmt: skip
    try:
        yield _answering(binaries, folder)
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()
        shutil.rmtree(folder)


def _answering(binaries: Path, folder: Path) -> str:
    """The URL, once the server takes connections."""
    for _ in range(600):
        done = subprocess.run(
            [binaries / "psql", "-h", folder, "-U", "judge", "-d", "postgres", "-c", "select 1"],
            check=False,
            capture_output=True,
        )
        if done.returncode == 0:
            return f"postgresql+psycopg://judge@/postgres?host={folder}"
    raise AssertionError(done.stderr.decode())


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty store."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'round.db'}"
    base: str = request.getfixturevalue("postgresql")
    engine = create_engine(base)
    with engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    engine.dispose()
    return base


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """An empty store."""
    opened = Store(url)
    yield opened
    opened.close()
