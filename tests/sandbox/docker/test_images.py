"""The images are built from this host's packages, give an agent nothing extra, and are built once."""

import io
import tarfile
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import docker
import pytest

from judge.base.errors import HostError, InputError
from judge.host.build_images import build_images, check_rootfs
from judge.sandbox.docker.images import find_images, find_runtime, listing
from judge.sandbox.runtimes import ImageRecipe, recipes
from tests.attacks.uploads import special, tarred
from tests.examples import evidence, of_evidence

TAGS = [recipe.tag for recipe in recipes().values() if not recipe.is_optional]
SAMPLED_TAGS = ["judge/keeper:1", "judge/python:1", *of_evidence("judge/base:1", "judge/native:1")]


@pytest.fixture(scope="module")
def engine() -> Iterator[docker.DockerClient]:
    build_images()
    with closing(docker.from_env()) as client:
        yield client


@pytest.fixture
def local_image(engine: docker.DockerClient) -> Iterator[str]:
    """An image that somebody else made: a file system with one file, no shell, nothing of ours."""
    tag = f"judge-test/{uuid.uuid4().hex}:1"
    import_image(engine, tag)
    yield tag
    for derived in labelled(engine, f"judge.derived={image_id(engine, tag)}"):
        engine.images.remove(derived)
    engine.images.remove(tag)


def import_image(engine: docker.DockerClient, tag: str, *changes: str) -> None:
    repository, version = tag.split(":")
    data = tarred(("hello.txt", b"hello"))
    engine.api.import_image_from_data(data, repository, version, changes=list(changes))


def image_id(engine: docker.DockerClient, tag: str) -> str:
    return str(engine.images.get(tag).id)


def run(engine: docker.DockerClient, image: str, *command: str) -> str:
    output = engine.containers.run(image, list(command), network_mode="none", read_only=True, remove=True)
    assert isinstance(output, bytes)
    return output.decode()


@pytest.mark.docker
@pytest.mark.parametrize("tag", SAMPLED_TAGS)
def test_an_image_lists_its_packages_and_has_no_setuid_file_and_no_package_manager(
    engine: docker.DockerClient, tag: str
) -> None:
    packages = run(engine, tag, "cat", "/judge/packages.txt").splitlines()
    assert "libc6" in {line.split()[0] for line in packages}
    assert all(len(line.split()) == 2 for line in packages), "name and version"
    assert engine.images.get(tag).labels["judge.packages"].split(",") == packages
    paths = ["/var/lib", "/var/cache", "/etc/apt", "/usr/share/doc", "/usr/share/locale"]
    wanted = " -o ".join(["-perm /6000", *(f"-path {path}" for path in paths)]).split()
    assert run(engine, tag, "find", "/", "-xdev", "(", *wanted, ")") == ""


@pytest.mark.docker
@pytest.mark.parametrize("name", ["native", "python"])
def test_a_runtime_has_pid_1_and_the_mount_points(engine: docker.DockerClient, name: str) -> None:
    paths = ("/judge/init", "/io", "/agent", "/home/agent", "/tmp")
    modes = run(engine, find_runtime(name).id, "stat", "-c", "%a %u", *paths)
    assert modes.splitlines() == ["511 0", "755 0", "755 0", "755 0", "1777 0"]


@pytest.mark.docker
def test_native_runs_dynamically_linked_programs(engine: docker.DockerClient) -> None:
    known = run(engine, find_runtime("native").id, "/usr/sbin/ldconfig", "-p")
    for library in ("libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libgomp.so.1"):
        assert library in known


PYTHON = """
import bz2, ctypes, decimal, json, lzma, multiprocessing, os, pathlib, sqlite3, ssl, unittest, zlib
print(os.path.exists(json.__cached__), json.dumps({'é': 1}, ensure_ascii=False))
files = list(pathlib.Path('/usr/lib').rglob('*.pyc'))
print(len(files) > 500, [str(file) for file in files if file.read_bytes()[4:8] != bytes([1, 0, 0, 0])])
"""
"""No module is looked at to see whether it is compiled: the image would depend on when and where it was built."""


@pytest.mark.docker
def test_python_has_its_whole_library_compiled(engine: docker.DockerClient) -> None:
    assert run(engine, find_runtime("python").id, "python3", "-c", PYTHON) == 'True {"é": 1}\nTrue []\n'


@pytest.mark.docker
def test_a_second_build_has_nothing_to_do(engine: docker.DockerClient) -> None:
    lines: list[str] = []
    before = [state for state in listing() if state.recipe.tag in TAGS]
    assert build_images(progress=lines.append) == before
    assert sorted(lines) == sorted(f"{tag} is current" for tag in TAGS)


@evidence
@pytest.mark.docker
def test_building_again_gives_the_same_bytes_and_removes_the_former_image(
    engine: docker.DockerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"test-{uuid.uuid4().hex}"
    monkeypatch.setitem(recipes(), name, ImageRecipe(name=name, packages=("libc6", "dash"), runs_agents=False))
    try:
        [first] = build_images([name])
        [second] = build_images([name], force=True)
        assert first.id != second.id
        assert first.content == second.content
        assert labelled(engine, f"judge.image={name}") == [second.id]
    finally:
        for image in labelled(engine, f"judge.image={name}"):
            engine.images.remove(image, force=True)


def labelled(engine: docker.DockerClient, label: str) -> list[str]:
    return [str(image.id) for image in engine.images.list(filters={"label": label})]


@pytest.mark.docker
def test_image_removed_during_listing_is_not_found(
    engine: docker.DockerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = f"judge.test={uuid.uuid4().hex}"
    kept, removed = (f"judge-test/{uuid.uuid4().hex}:1" for _ in range(2))
    for tag in (kept, removed):
        import_image(engine, tag, f"LABEL {mark} for={tag}")
    list_images = engine.api.images

    def list_and_remove(**filters: Any) -> Any:
        summaries = list_images(**filters)
        engine.images.remove(removed)
        return summaries

    monkeypatch.setattr(engine.api, "images", list_and_remove)
    try:
        assert [[kept]] == [image.tags for image in find_images(engine, mark)]
    finally:
        engine.images.remove(kept)


@pytest.mark.docker
def test_missing_and_outdated_runtimes_name_the_command(
    engine: docker.DockerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"test-{uuid.uuid4().hex}"
    monkeypatch.setitem(recipes(), name, ImageRecipe(name=name, packages=("libc6",)))
    with pytest.raises(HostError, match=f"is missing; run: judge images build {name}"):
        find_runtime(name)
    monkeypatch.delitem(recipes(), name)
    monkeypatch.setitem(recipes(), "native", recipes()["native"].model_copy(update={"packages": ("libc6",)}))
    with pytest.raises(HostError, match="is out of date; run: judge images build native"):
        find_runtime("native")
    current = {state.recipe.name: state.current for state in listing() if not state.recipe.is_optional}
    assert current == {"base": True, "keeper": True, "native": False, "python": True}


@pytest.mark.docker
def test_a_local_image_gets_pid_1_once(engine: docker.DockerClient, local_image: str) -> None:
    by_tag = find_runtime(local_image).id
    by_id = find_runtime(image_id(engine, local_image)).id
    assert by_tag == by_id == find_runtime(by_tag).id, "made once, and fit to be used itself"
    assert find_runtime("judge/native:1").id == find_runtime("native").id, "one of ours is itself"
    assert engine.images.get(by_tag).labels["judge.derived"] == image_id(engine, local_image)
    assert read_file(engine, by_tag, "/hello.txt") == (b"hello", 0o644)
    content, mode = read_file(engine, by_tag, "/judge/init")
    assert content.startswith(b"\x7fELF")
    assert mode == 0o511


def read_file(engine: docker.DockerClient, image: str, path: str) -> tuple[bytes, int]:
    container = engine.containers.create(image, ["/judge/init"], network_mode="none")
    try:
        chunks, _ = container.get_archive(path)
        with tarfile.open(fileobj=io.BytesIO(b"".join(chunks))) as archive:
            member = archive.getmembers()[0]
            file = archive.extractfile(member)
            assert file is not None
            return file.read(), member.mode & 0o7777
    finally:
        container.remove()


@pytest.mark.docker
@pytest.mark.parametrize("change", ["VOLUME /data", "ONBUILD RUN id"])
def test_an_image_that_brings_room_or_commands_is_refused(engine: docker.DockerClient, change: str) -> None:
    tag = f"judge-test/{uuid.uuid4().hex}:1"
    import_image(engine, tag, change)
    try:
        with pytest.raises(InputError, match="cannot be a box"):
            find_runtime(tag)
    finally:
        engine.images.remove(tag)


@pytest.mark.docker
def test_an_image_that_is_not_here_is_not_fetched_and_an_unknown_name_is_the_users_mistake() -> None:
    with pytest.raises(InputError, match="no image judge-test/nowhere:9 on this Engine, and the"):
        find_runtime("judge-test/nowhere:9")
    with pytest.raises(InputError, match="no image natve; there are base, keeper, native, python"):
        build_images(["natve"])


def test_without_an_engine_the_host_is_at_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    with pytest.raises(HostError, match=r"The Engine at tcp://127\.0\.0\.1:1 did not list images"):
        listing()


def assert_refused(tmp_path: Path, words: str, *members: tuple[str, bytes] | tarfile.TarInfo) -> None:
    tar = tmp_path / "rootfs.tar"
    tar.write_bytes(tarred(*members))
    with pytest.raises(HostError, match=words):
        check_rootfs(recipes()["base"], tar)


@pytest.mark.parametrize("mode", [0o4755, 0o2755])
def test_a_setuid_file_is_never_imported(tmp_path: Path, mode: int) -> None:
    su = special("./su", tarfile.REGTYPE)
    su.mode = mode
    assert_refused(tmp_path, r"\./su has setuid", ("./judge/packages.txt", b"a 1\n"), su)


@pytest.mark.parametrize(
    "packages", [None, b"", b"a\n", b"a 1,b 2\n", b"a 1\x1b[2J\n", b"\xff 1\n", b"a 1\n" + b" " * (2 << 20)]
)
def test_an_odd_list_of_packages_is_never_imported(tmp_path: Path, packages: bytes | None) -> None:
    members = [] if packages is None else [("./judge/packages.txt", packages)]
    assert_refused(tmp_path, r"judge/packages\.txt is no list of packages", *members)


@pytest.mark.parametrize("name", ["./dev", "tmp/", ".//x/../agent"])
def test_a_link_in_the_place_of_a_mount_point_is_never_imported(tmp_path: Path, name: str) -> None:
    assert_refused(tmp_path, "is no directory", special(name, tarfile.SYMTYPE, "/etc"))
