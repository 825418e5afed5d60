"""Workers in network namespaces of their own, over TLS: a pulled cable costs the time of a game and nothing else."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from judge.cluster.cluster import Cluster
from tests.cluster.cables import Cable
from tests.cluster.conftest import WORKERS
from tests.cluster.machines import Cup, Machines
from tests.examples import evidence


@pytest.fixture
def cup(tmp_path: Path) -> Iterator[Cup]:
    """Three games, which wait at their gate."""
    found = Cup(tmp_path)
    found.store.schedule("cup", found.games(1, 3))
    with closing(found.store):
        yield found


@pytest.fixture
def cluster(cables: list[Cable], joined: Machines, cup: Cup) -> Iterator[Cluster]:
    joined.start_scheduler()
    for name, cable in zip(WORKERS, cables, strict=True):
        joined.join(name, cable.inside)
    joined.wait_for_scheduler()
    with closing(cup.cluster(joined)) as found:
        yield found
        cup.open_gate()


def test_the_game_of_a_worker_that_is_cut_off_is_played_elsewhere(
    cup: Cup, cluster: Cluster, cables: list[Cable]
) -> None:
    cup.play_while_lost(cluster, "n2", cables[1].pull, cables[1].plug)

    cup.assert_played_once_without("n2")


@evidence
def test_a_game_that_waits_for_a_slot_goes_to_a_worker_that_has_one(
    cup: Cup, cluster: Cluster, cables: list[Cable]
) -> None:
    """It is not given to one that plays its own."""
    cup.play_in_steps(
        cluster,
        (lambda: cup.waiting() >= 3, cables[1].pull),
        (lambda: "worker n2 is lost" in cup.journal(), cables[1].plug),
        (lambda: cup.waiting() >= 4, cup.open_gate),
    )

    assert {(1, "accepted")} == {row[1:3] for row in cup.attempts()}
    assert set(WORKERS) == {host for *_, host in cup.attempts()}
