"""Workers in network namespaces of their own, over TLS: a pulled cable costs the time of a game and nothing else."""

from pathlib import Path

from tests.cluster.cables import Cable
from tests.cluster.conftest import WORKERS
from tests.cluster.machines import Cup, Machines


def test_the_game_of_a_worker_that_is_cut_off_is_played_elsewhere(
    cables: list[Cable], joined: Machines, tmp_path: Path
) -> None:
    joined.start_scheduler()
    for name, cable in zip(WORKERS, cables, strict=True):
        joined.join(name, cable.inside)
    joined.wait_for_scheduler()
    cup = Cup(tmp_path)
    cup.store.schedule("cup", cup.games(1, 3))
    cluster = cup.cluster(joined)
    try:
        cup.play_while_lost(cluster, "n2", cables[1].pull, cables[1].plug)
    finally:
        cup.open_gate()
        cluster.close()
        cup.store.close()

    cup.assert_played_once_without("n2")


def test_a_game_that_waits_for_a_slot_goes_to_a_worker_that_has_one(
    cables: list[Cable], joined: Machines, tmp_path: Path
) -> None:
    """It is not given to one that plays its own."""
    joined.start_scheduler()
    for name, cable in zip(WORKERS, cables, strict=True):
        joined.join(name, cable.inside)
    joined.wait_for_scheduler()
    cup = Cup(tmp_path)
    cup.store.schedule("cup", cup.games(1, 3))
    cluster = cup.cluster(joined)
    try:
        cup.play_in_steps(
            cluster,
            (lambda: cup.waiting() >= 3, cables[1].pull),
            (lambda: "worker n2 is lost" in cup.journal(), cables[1].plug),
            (lambda: cup.waiting() >= 4, cup.open_gate),
        )
    finally:
        cup.open_gate()
        cluster.close()
        cup.store.close()

    assert {(1, "accepted")} == {row[1:3] for row in cup.attempts()}
    assert set(WORKERS) == {host for *_, host in cup.attempts()}
