"""Games in real containers on a worker: its images are the contest's, and what it leaves when killed is removed."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import docker
import pytest

from judge.host.build_images import build_images
from judge.referee.spec import RecordFile
from judge.referee.verify import verify
from judge.store.files import Files
from tests.cli.conftest import Judge
from tests.cluster.machines import Cup, Machines, until


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    """Starting them takes seconds of a core; each test starts what the one before it has killed."""
    build_images(["native", "python"])
    found = Machines(tmp_path_factory.mktemp("machines"))
    try:
        yield found
    finally:
        found.stop()


@pytest.fixture
def machines(room: Machines) -> Machines:
    room.fix("w1")
    room.wait_for_scheduler()
    return room


def boxes(match: str) -> list[str]:
    with closing(docker.from_env()) as client:
        found = client.containers.list(all=True, filters={"label": f"judge.match={match}"}, ignore_removed=True)
        return [str(container.id) for container in found]


@pytest.mark.alone
@pytest.mark.docker
def test_a_worker_that_is_killed_removes_its_containers_when_it_starts_again(
    machines: Machines, tmp_path: Path
) -> None:
    cup = Cup(tmp_path, box="docker")  # in a container there is no gate: the brain waits for ever
    cup.store.schedule("cup", cup.games(1, 1))
    with closing(cup.store), closing(cup.cluster(machines, ["native", "python"])) as cluster:
        while not cluster.free:
            cluster.wait(1.0)
        issued = cup.store.issue("cup", cluster.host)
        assert issued
        cluster.start(cup.job(issued))
        until(lambda: len(boxes(issued.id)) == 2 or bool(cluster.wait(0.1)), "two boxes")
        machines.workers["w1"].kill()
        machines.workers["w1"].wait()
        while "worker w1 is lost" not in cup.journal():
            cluster.wait(1.0)
        before = boxes(issued.id)
        machines.start_worker("w1")
        until(lambda: not set(before) & set(boxes(issued.id)), "its boxes are gone")
        cluster.kill()


@pytest.mark.docker
def test_a_contest_is_played_by_its_workers(machines: Machines, judge: Judge, tmp_path: Path) -> None:
    agents = ("--agent", "house-instant", "--agent", "house-strong")
    short = ("--set", "clock.turn_ms=200", "--set", "clock.starved_share=1", "--games", "2")
    made = judge("contest", "init", "cup", "--policy", "gomocup-freestyle", *agents, *short)
    assert 0 == made.code, made.err

    ran = judge("contest", "run", "cup/contest.toml", "--cluster", machines.address)

    assert 0 == ran.code, ran.err
    with closing(sqlite3.connect(tmp_path / "cup" / "contest.db")) as database:
        played = list(database.execute("select state, host, record from attempts"))
    assert [("accepted", "w1")] * 2 == [(state, host) for state, host, _ in played]
    for *_, digest in played:
        record = RecordFile.model_validate_json(Files(tmp_path / "cup" / "files").get(digest))
        assert () == tuple(verify(record).problems)
        assert {"docker"} == {box.split("-")[0] for box in record.record.placement.box}


@pytest.mark.docker
def test_a_worker_whose_images_are_others_is_given_no_games(
    machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if this host's image had been built of other packages."""
    cup = Cup(tmp_path, box="docker")
    monkeypatch.setattr("judge.cluster.cluster.image_contents", lambda names: dict.fromkeys(names, "other"))
    cup.store.schedule("cup", cup.games(1, 1))
    with closing(cup.store), closing(cup.cluster(machines, ["native"])) as cluster:
        while not cluster.free:
            cluster.wait(1.0)
        issued = cup.store.issue("cup", cluster.host)
        assert issued
        cluster.start(cup.job(issued))
        while "given no games" not in cup.journal():
            cluster.wait(1.0)

        assert 0 == cluster.free
    why = "the image native of w1 has other contents than the contest's"
    assert why in cup.journal()
    assert why in machines.says("w1")
