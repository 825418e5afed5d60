"""`judge images prune`: what a policy, contest or record names stays, other copies go, one's own images never."""

import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import docker
import pytest

from judge.base.resources import BUILD_DIRECTORY
from judge.contest.begin import begin
from judge.contest.contest import open_store
from judge.contest.plan import load_plan
from judge.host.prune import DerivedImage, remove_unnamed
from judge.sandbox.docker.images import find_runtime
from tests.cli.conftest import SHORT, Judge
from tests.sandbox.docker.test_images import import_image, labelled

AN_ID = "sha256:" + "ab" * 32
SOURCE = "sha256:" + "cd" * 32

POLICY = """
name = "own"
game = { name = "gomoku", options = { width = 20, height = 20, rule = "freestyle" } }
[runtimes]
mine = "TAG"
"""

CONTEST = """
name = "cup"
policy = "own.toml"
agents = [{ path = "agent", name = "one" }, { path = "agent", name = "two" }]
[format]
name = "round-robin"
games = 2
"""

Copied = Callable[[], tuple[str, str]]


@pytest.fixture
def others(client: docker.DockerClient, tmp_path: Path) -> Path:
    """A file that names every copy that was there before: this Engine is not the test's alone."""
    path = tmp_path / "others.toml"
    path.write_text("".join(f'"{image}" = "{image}"\n' for image in copies(client)))
    return path


@pytest.fixture
def copied(client: docker.DockerClient, others: Path) -> Iterator[Copied]:
    """Make a local image and the copy that boxes run in; the tag and the copy's id."""
    tags: list[str] = []

    def make() -> tuple[str, str]:
        tags.append(f"judge-test/{uuid.uuid4().hex}:1")
        import_image(client, tags[-1])
        return tags[-1], find_runtime(tags[-1]).id

    yield make
    before = others.read_text()
    for image in copies(client):
        if image not in before:
            client.images.remove(image)
    for tag in tags:
        client.images.remove(tag)


def copies(client: docker.DockerClient) -> set[str]:
    return set(labelled(client, "judge.derived"))


def every(client: docker.DockerClient) -> set[str]:
    return {str(image.id) for image in client.images.list(all=True)}


def write_policy(folder: Path, tag: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "own.toml"
    path.write_text(POLICY.replace("TAG", tag))
    return path


def write_agent(folder: Path) -> Path:
    path = shutil.copytree(BUILD_DIRECTORY / "house-instant", folder / "agent")
    manifest = path / "agent.toml"
    manifest.write_text(manifest.read_text().replace('"native"', '"mine"'))
    return path


@pytest.mark.alone
@pytest.mark.docker
def test_unreferenced_files_are_removed_and_others_stay(
    judge: Judge, client: docker.DockerClient, copied: Copied, tmp_path: Path
) -> None:
    by_policy, by_record, by_contest, by_nobody = (copied() for _ in range(4))

    write_policy(tmp_path / "policies", by_policy[0])
    played = write_policy(tmp_path / "played", by_record[0])
    write_agent(tmp_path)
    game = ("match", "agent", "house-instant", "--policy", str(played), *SHORT, "--out", "records")
    assert judge(*game, "--games", "1").code == 0
    shutil.rmtree(tmp_path / "played")
    cup = write_policy(tmp_path / "cup", by_contest[0]).parent
    write_agent(cup)
    (cup / "contest.toml").write_text(CONTEST)
    with closing(open_store(load_plan(cup))) as store:
        begin(store, load_plan(cup), {})
    write_policy(cup, "judge-test/another:1")

    tried = judge("images", "prune", "--dry-run", code=0)
    assert f"would be removed: {by_nobody[1]} of {by_nobody[0]}" in tried.out
    assert {each for _, each in (by_policy, by_record, by_contest, by_nobody)} <= copies(client)

    ran = judge("images", "prune", ".")
    left = copies(client)
    assert f"removed: {by_nobody[1]} of {by_nobody[0]}" in ran.out
    assert "1 of " in ran.out.splitlines()[-1]
    assert by_nobody[1] not in left
    assert {by_policy[1], by_record[1], by_contest[1]} <= left
    assert "own.toml: " in ran.out
    assert "named by contest cup: " in ran.out
    client.images.get(by_nobody[0])  # one's own image is never removed


@pytest.mark.alone
@pytest.mark.docker
def test_a_copy_that_runs_or_is_built_upon_stays(client: docker.DockerClient, copied: Copied, others: Path) -> None:
    named = dict.fromkeys(others.read_text().replace('"', " ").split(), "the test")
    (_, used), (_, idle) = copied(), copied()
    container = client.containers.create(used, ["x"], network_mode="none")
    try:
        found = {each.id: each.kept for each in remove_unnamed(named)}
    finally:
        container.remove()
    assert found[used] == "used by a container"
    assert found[idle] == ""
    assert used in copies(client)
    assert idle not in copies(client)


@pytest.mark.alone
@pytest.mark.docker
def test_build_steps_are_copied_and_the_untagged_source_stays(
    client: docker.DockerClient, copied: Copied, others: Path
) -> None:
    named = dict.fromkeys(others.read_text().replace('"', " ").split(), "the test")
    before = every(client)
    tag, _ = copied()
    source = str(client.images.get(tag).id)
    client.images.remove(tag, noprune=True)
    try:
        assert [each for each in remove_unnamed(named) if not each.kept]
        assert every(client) == before | {source}
    finally:
        client.images.get(source).tag(*tag.split(":"))


@pytest.mark.docker
@pytest.mark.parametrize(("place", "words"), [((), "contest.toml: policy: "), (("nowhere",), "nowhere does not exist")])
def test_a_contest_that_cannot_be_read_stops_it(
    judge: Judge, client: docker.DockerClient, copied: Copied, tmp_path: Path, place: tuple[str, ...], words: str
) -> None:
    _, copy = copied()
    (tmp_path / "contest.toml").write_text(CONTEST)

    ran = judge("images", "prune", *place)

    assert (2, True) == (ran.code, words in ran.err)
    assert copy in copies(client)


def test_an_image_is_named_by_tag_digest_or_id_its_own_or_its_source_s() -> None:
    names = frozenset({"local/own:1", "local/newest:latest", "judge/derived:cdcd"})
    image = DerivedImage(AN_ID, SOURCE, names, 1)

    assert all(map(image.is_named_by, [*names, "local/newest", AN_ID, AN_ID.removeprefix("sha256:"), SOURCE[:19]]))
    assert not any(map(image.is_named_by, ["local/own", "cdcd", "native", ""]))
