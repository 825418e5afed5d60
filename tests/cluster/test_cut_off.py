"""Workers in network namespaces of their own, over TLS: a pulled cable costs the time of a game and nothing else."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.cluster.join_file import invite
from judge.cluster.keys import make_keys
from judge.cluster.security import parse_address
from tests.cluster.cables import Cable, laid
from tests.cluster.machines import Cup, Machines

WORKERS = ("n1", "n2", "n3")


@pytest.fixture
def cables() -> Iterator[list[Cable]]:
    with laid(len(WORKERS)) as found:
        yield found


@pytest.fixture
def machines(cables: list[Cable], tmp_path: Path) -> Iterator[Machines]:
    (keys,) = make_keys(tmp_path / "keys", ["everybody"], 1)
    found = Machines(tmp_path, host="0.0.0.0", scheme="tls", keys=keys)  # noqa: S104 - of all cables
    try:
        found.start_scheduler()
        for name, cable in zip(WORKERS, cables, strict=True):
            (file,) = invite(tmp_path / "keys", [name], parse_address(f"tls://{cable.here}:{found.port}"), 1)
            found.join(name, file, cable.inside)
        found.wait_for_scheduler()
        yield found
    finally:
        found.stop()


def test_the_game_of_a_worker_that_is_cut_off_is_played_elsewhere(
    cables: list[Cable], machines: Machines, tmp_path: Path
) -> None:
    cup = Cup(tmp_path)
    cup.store.schedule("cup", cup.games(1, 3))
    machines.host = "127.0.0.1"
    cluster = cup.cluster(machines)
    try:
        cup.play_while_lost(cluster, "n2", cables[1].pull, cables[1].plug)
    finally:
        cup.open_gate()
        cluster.close()
        cup.store.close()

    cup.assert_played_once_without("n2")
