"""The `judge` command for tests that run a whole contest by it, and machines in network namespaces."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import judge  # noqa: F401 - a fixture
from tests.cluster.cables import Cable, laid
from tests.cluster.machines import Cup, Machines

WORKERS = ("n1", "n2", "n3")
"""Each behind a cable of its own."""


@pytest.fixture
def cables() -> Iterator[list[Cable]]:
    with laid(len(WORKERS)) as found:
        yield found


@pytest.fixture
def joined(cables: list[Cable], tmp_path: Path) -> Iterator[Machines]:
    """A file for each of the workers, by which it joins over TLS; nothing runs yet."""
    found = Machines.behind(dict(zip(WORKERS, cables, strict=True)), tmp_path)
    yield found
    found.stop()


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    """In a folder next to that of a contest; nothing runs yet."""
    (tmp_path / "machines").mkdir()
    found = Machines(tmp_path / "machines")
    yield found
    found.stop()


@pytest.fixture
def cup(tmp_path: Path) -> Iterator[Cup]:
    found = Cup(tmp_path)
    yield found
    found.open_gate()
    found.store.close()
