"""Games in real containers on a worker with an Engine of its own: it gets the contest's images, and leaves nothing."""

import io
import json
import sqlite3
import tarfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import docker
import pytest

from judge.base.errors import HostError, InputError
from judge.broadcast.log import LOG_FILE
from judge.host.build_images import build_images
from judge.host.image_files import ImageParcel, export_image, import_image, refuse_unlike
from judge.record.spec import RecordFile
from judge.referee.verify import verify
from judge.sandbox.box import ImageFacts
from judge.sandbox.docker.images import NO_IMAGE, image_facts
from judge.store.files import Files
from tests.attacks.uploads import tarred
from tests.broadcast.logs import of_games, whole
from tests.cli.conftest import Judge
from tests.cluster.machines import Cup, Machines
from tests.examples import evidence
from tests.patience import until
from tests.private_engine import PrivateEngine, private_engine

ZEROS = "0" * 64


@pytest.fixture(scope="module")
def engine() -> Iterator[PrivateEngine]:
    """The worker's; nobody has built an image there."""
    with private_engine() as found:
        yield found


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory, engine: PrivateEngine) -> Iterator[Machines]:
    """Starting them takes seconds of a core; each test starts what the one before it has killed."""
    build_images(["native", "python", "keeper"])
    found = Machines(tmp_path_factory.mktemp("machines"))
    found.environment = {"DOCKER_HOST": engine.host}
    try:
        yield found
    finally:
        found.stop()


@pytest.fixture
def machines(room: Machines) -> Machines:
    room.fix("w1")
    room.wait_for_scheduler()
    return room


def boxes(engine: PrivateEngine, game: str) -> list[str]:
    with closing(engine.client()) as client:
        found = client.containers.list(all=True, filters={"label": f"judge.game={game}"}, ignore_removed=True)
        return [str(container.id) for container in found]


@pytest.mark.alone
@pytest.mark.docker
def test_restarted_worker_removes_its_old_containers(machines: Machines, engine: PrivateEngine, tmp_path: Path) -> None:
    cup = Cup(tmp_path, box="docker")  # in a container there is no gate: the brain waits for ever
    cup.store.schedule("cup", cup.games(1, 1))
    with closing(cup.store), closing(cup.cluster(machines, ["native", "python"])) as cluster:
        issued = cup.begin_when_free(cluster)
        until(lambda: len(boxes(engine, issued.id)) == 2 or bool(cluster.wait(0.1)), "two boxes")
        machines.workers["w1"].kill()
        machines.workers["w1"].wait()
        while "worker w1 is lost" not in cup.journal():
            cluster.wait(1.0)
        before = boxes(engine, issued.id)
        machines.start_worker("w1")
        until(lambda: not set(before) & set(boxes(engine, issued.id)), "its boxes are gone")
        cluster.kill()


@pytest.mark.docker
def test_worker_without_images_plays(machines: Machines, engine: PrivateEngine, judge: Judge, tmp_path: Path) -> None:
    with closing(engine.client()) as client:
        for image in client.images.list():
            client.images.remove(str(image.id), force=True)
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
    events = [json.loads(line) for line in (tmp_path / "cup" / LOG_FILE).read_bytes().splitlines()]
    moves = {(event["game"], event["attempt"]): event["moves"] for event in events if event["type"] == "ended"}
    assert 2 == len(moves)
    assert {key: whole(count) for key, count in moves.items()} == of_games(events)
    log = judge("contest", "journal", "cup")
    for name in ("native", "keeper"):
        assert f"worker w1 is sent the image {name}" in log.out
        assert f"the image {name}" in machines.says("w1")
    assert not (tmp_path / "cup" / ".parcels").exists()
    assert [] == list((machines.folder / "w1" / "arrivals").glob("*.partial"))


@pytest.mark.docker
@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"base": f"sha256:{ZEROS}"}, "another way or base image"),
        pytest.param({"content": ZEROS}, "other contents", marks=evidence),
    ],
)
def test_worker_with_different_images_gets_no_games(
    machines: Machines,
    engine: PrivateEngine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: dict[str, str],
    what: str,
) -> None:
    """As if this host's image had been built from something else."""
    parcel = export_image("native", tmp_path / "native")
    changed = parcel.facts.model_copy(update=change)
    with monkeypatch.context() as there:
        there.setenv("DOCKER_HOST", engine.host)
        import_image(parcel, tmp_path / "native")
    cup = Cup(tmp_path, box="docker")
    monkeypatch.setattr("judge.cluster.cluster.image_facts", lambda names: dict.fromkeys(names, changed))
    cup.store.schedule("cup", cup.games(1, 1))
    with closing(cup.store), closing(cup.cluster(machines, ["native"])) as cluster:
        cup.begin_when_free(cluster)
        while "given no games" not in cup.journal():
            cluster.wait(1.0)

        assert 0 == cluster.free
    why = f"the image native of w1 has {what} than the contest's"
    assert why in cup.journal()
    assert why in machines.says("w1")


@pytest.fixture
def strange(tmp_path: Path) -> Iterator[tuple[ImageParcel, Path]]:
    with closing(docker.from_env()) as client:
        name = f"judge-test-{tmp_path.name.replace('_', '-')}"
        client.api.import_image_from_data(tarred(("hello.txt", b"hello")), name, "1")
        try:
            yield export_image(f"{name}:1", tmp_path / "image"), tmp_path / "image"
        finally:
            client.images.remove(f"{name}:1")


@pytest.mark.docker
def test_an_image_that_is_not_ours_comes_by_its_id(
    engine: PrivateEngine, strange: tuple[ImageParcel, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    parcel, path = strange
    monkeypatch.setenv("DOCKER_HOST", engine.host)
    assert {parcel.name: NO_IMAGE} == image_facts([parcel.name])
    refuse_unlike(parcel)
    with pytest.raises(HostError, match=f"{parcel.name} is for s390x, but this host is"):
        refuse_unlike(parcel.model_copy(update={"architecture": "s390x"}))

    for lie, why in LIES:
        with pytest.raises(InputError, match=why):
            import_image(*lie(parcel, path))
    import_image(parcel, path)

    assert {parcel.name: parcel.facts} == image_facts([parcel.name])


def _changed(parcel: ImageParcel, path: Path, **more: bytes) -> tuple[ImageParcel, Path]:
    """The archive with members that are others, or more."""
    data = _members(path) | {name.replace("_json", ".json"): text for name, text in more.items()}
    changed = path.with_name("changed")
    changed.write_bytes(tarred(*data.items()))
    return parcel, changed


def _members(path: Path) -> dict[str, bytes]:
    with tarfile.open(path) as tar:
        return {member.name: (tar.extractfile(member) or io.BytesIO()).read() for member in tar if member.isfile()}


def _named(parcel: ImageParcel, path: Path) -> tuple[ImageParcel, Path]:
    manifest: Any = json.loads(_members(path)["manifest.json"])
    manifest[0]["RepoTags"] = ["judge/native:1"]
    return _changed(parcel, path, manifest_json=json.dumps(manifest).encode())


def _other(parcel: ImageParcel, name: str = "", content: str = ZEROS) -> ImageParcel:
    return parcel.model_copy(update={"name": name or parcel.name, "facts": ImageFacts(content=content)})


LIES = (
    (_named, "holds something else"),
    (lambda parcel, path: _changed(parcel, path, repositories=b"{}"), "holds something else"),
    (lambda parcel, path: _changed(parcel, path, manifest_json=b"[]"), "cannot be read"),
    (lambda parcel, path: (parcel, path.parent / "none"), "cannot be read"),
    (lambda parcel, path: (_other(parcel, content=f"sha256:{ZEROS}"), path), "holds something else"),
    (lambda parcel, path: (parcel.model_copy(update={"name": "judge/other:1"}), path), "of the judge's own"),
    (lambda parcel, path: (_other(parcel, "toolchain"), path), "not those"),
    (lambda parcel, path: (_other(parcel, "other"), path), "no image other of"),
)
"""Of who holds the contest's key; no image comes by them."""
