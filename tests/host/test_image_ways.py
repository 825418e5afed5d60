"""Images by the Engine from a base image have the same files as those from the packages of this host.

No registry is needed: the base image is built from packages as well, and imported under the usual name.
"""

import hashlib
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import tracemalloc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import docker
import pytest

from judge.agents.agents import stage_agent
from judge.base.errors import HostError, InputError
from judge.base.owner import Owner, directories
from judge.base.resources import BUILD_DIRECTORY, DEFAULT_BASE
from judge.cli.images import list_images, show
from judge.games.types import Verdict
from judge.host import compilers, house_agents
from judge.host.build_images import build_images, build_recipes, find_recipe
from judge.host.build_ways import BuildOptions, EngineWay, choose_way, host_codename, remove_stages
from judge.host.dockerfile import BUILDER
from judge.host.root_tar import copy_layer, write_canonical
from judge.play.game import play
from judge.record.policy import load_policy
from judge.record.spec import GameSpec
from judge.referee.verify import verify
from judge.sandbox import static_builds
from judge.sandbox.docker.images import find_built
from judge.sandbox.runtimes import load_runtime, recipes
from tests.attacks.uploads import tarred
from tests.examples import evidence, of_evidence
from tests.private_engine import PrivateEngine, private_engine
from tests.sandbox.test_runtimes import wheel

pytestmark = [pytest.mark.docker, pytest.mark.long]

File = tuple[bytes, int, int, int, str, float, str]


def mirror() -> str:
    filters = (f"Codename: {host_codename()}", "Created-By: Packages")
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI)", *filters]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]


def apt_options() -> str:
    """Proxies and checks of this host."""
    lines = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=True).stdout.splitlines()
    return " ".join(line for line in lines if line.startswith(("Acquire::http", "Acquire::Check")))


def build_arguments() -> str:
    """For JUDGE_IMAGES_BUILD_ARGS: this host's way to its mirror, which the base image knows."""
    return shlex.join([f"APT_OPTIONS={apt_options()}"])


@contextmanager
def engine_with_base(scratch: Path) -> Iterator[PrivateEngine]:
    """A private Engine with a base image: the distribution's smallest system with apt, set up as published ones are."""
    if not shutil.which("mmdebstrap"):
        pytest.skip("no mmdebstrap: the base image is made by it")
    with private_engine() as engine, closing(engine.client()) as client:
        tar = scratch / "base.tar"
        apt = (f"--aptopt={apt_options()}", host_codename(), tar, f"deb {mirror()} {host_codename()} main")
        subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", *apt], check=True)
        repository, tag = DEFAULT_BASE.split(":")
        client.api.import_image_from_file(str(tar), repository=repository, tag=tag)
        yield engine


@pytest.fixture(scope="module")
def private(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateEngine]:
    with engine_with_base(tmp_path_factory.mktemp("base")) as engine:
        yield engine


@pytest.fixture
def engine(private: PrivateEngine, monkeypatch: pytest.MonkeyPatch) -> Iterator[docker.DockerClient]:
    monkeypatch.setenv("DOCKER_HOST", private.host)
    monkeypatch.setenv("JUDGE_IMAGES_BUILD_ARGS", build_arguments())
    with closing(private.client()) as client:
        yield client


def files_of(engine: docker.DockerClient, image: str, tar: Path) -> dict[str, File]:
    with tar.open("wb") as file:
        copy_layer(engine.api.get_image(image), file)
    with tarfile.open(tar) as archive:
        return {m.name: (m.type, m.mode, m.uid, m.gid, m.linkname, m.mtime, digest(archive, m)) for m in archive}


def digest(archive: tarfile.TarFile, member: tarfile.TarInfo) -> str:
    file = archive.extractfile(member) if member.isreg() else None
    return hashlib.sha256(file.read()).hexdigest() if file else ""


def stages(engine: docker.DockerClient) -> list[Any]:
    return [*engine.images.list(filters={"label": BUILDER}), *engine.containers.list(True, filters={"label": BUILDER})]


@pytest.mark.parametrize("name", ["keeper", *of_evidence("native", "python", "python2", "java", "wine")])
def test_both_ways_give_equal_files(engine: docker.DockerClient, tmp_path: Path, name: str) -> None:
    [packages] = build_images([name], options=BuildOptions(way="packages"))
    expected = files_of(engine, packages.id, tmp_path / "packages.tar")

    lines: list[str] = []
    [built] = build_images([name], lines.append)
    assert [f"judge/{name}:1 is current"] == lines
    assert built == packages
    [built] = build_images([name], options=BuildOptions(way="engine"))

    found = files_of(engine, built.id, tmp_path / "engine.tar")
    assert {} == {path: (expected.get(path), found.get(path)) for path, _ in expected.items() ^ found.items()}
    assert packages.content == built.content
    assert packages.facts.packages == built.facts.packages
    base = engine.images.get(DEFAULT_BASE).id
    assert ("packages", host_codename()) == (packages.facts.way, packages.facts.base)
    assert ("engine", base) == (built.facts.way, built.facts.base)
    assert [] == stages(engine)


def test_host_without_compiler_and_package_manager_builds_and_plays(
    engine: docker.DockerClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    compilers.host_compiles.cache_clear()
    for module in (compilers, static_builds):
        monkeypatch.setattr(module, "BUILD_DIRECTORY", tmp_path / "build")
    monkeypatch.setattr(house_agents, "house_agent_names", lambda: ["house-instant"])
    lines: list[str] = []

    build_images(["native"], lines.append, force=True)
    agents = house_agents.build_house_agents(lines.append)
    agent = stage_agent(str(agents["house-instant"]), tmp_path)
    policy = load_policy("gomocup-freestyle", ["game.options.width=5", "game.options.height=5"])
    seats = (agent.seat(policy), agent.seat(policy).model_copy(update={"name": "other"}))
    file = play(GameSpec(seats=seats, policy=policy), {agent.digest: agent.program})

    compilers.host_compiles.cache_clear()
    assert f"images are built from the base image {DEFAULT_BASE}, which the Engine has" in lines
    assert Verdict.VOID != file.record.verdict, file.record.reason
    assert {"native": find_built(recipes()["native"]).facts} == file.record.placement.images
    assert "engine" == file.record.placement.images["native"].way
    assert [] == list(verify(file).problems)


@evidence
def test_both_ways_add_a_wheel(engine: docker.DockerClient, tmp_path: Path) -> None:
    path = tmp_path / "runtime.toml"
    path.write_text(f'extends = "python"\nwheels = ["{wheel(tmp_path)}"]\n')
    recipe = load_runtime("snake", path)

    built = [build_recipes([recipe], options=BuildOptions(way=way))[0] for way in ("packages", "engine")]

    assert 1 == len({image.content for image in built})
    assert ["packages", "engine"] == [image.facts.way for image in built]


@evidence
def test_build_by_hand_gives_the_same_files(engine: docker.DockerClient, tmp_path: Path) -> None:
    [built] = build_images(["native"], options=BuildOptions(way="engine"))
    command = [sys.executable, "-m", "judge.cli", "images", "show", "native", "--context", str(tmp_path / "native")]
    subprocess.run(command, check=True)

    arguments = BuildOptions().arguments() | {"BUILDER": Owner.me().encode()}
    image, _ = engine.images.build(path=str(tmp_path / "native"), network_mode="host", buildargs=arguments)

    files_of(engine, str(image.id), tmp_path / "layer.tar")
    assert built.content == write_canonical(tmp_path / "layer.tar", tmp_path / "canonical.tar")
    engine.images.remove(str(image.id))
    remove_stages(engine)


def test_image_is_shown_as_it_is_and_as_it_would_be_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    list_images()
    state, *_ = [line for line in capsys.readouterr().out.splitlines() if line.startswith("judge/native:1: current")]
    show("native")
    assert [state, *(f"  {package}" for package in find_built(find_recipe("native")).facts.packages)] == (
        capsys.readouterr().out.splitlines()
    )
    show("native", dockerfile=True)
    text = capsys.readouterr().out
    show("native", context=tmp_path / "native")
    assert text == (tmp_path / "native" / "Dockerfile").read_text()
    with pytest.raises(InputError, match="name a new folder"):
        show("native", context=tmp_path / "native")


@evidence
def test_killed_build_is_cleared_by_the_next(engine: docker.DockerClient) -> None:
    code = "from judge.host.build_images import *; build_images(['keeper'], force=True)"
    build = subprocess.Popen([sys.executable, "-c", code])
    while not engine.containers.list(filters={"label": BUILDER}):
        assert build.poll() is None
    build.send_signal(signal.SIGKILL)
    build.wait()
    assert build.pid in [owner.pid for _, owner in directories(BUILD_DIRECTORY) if owner]

    build_images(["keeper"], force=True, options=BuildOptions(way="engine"))

    assert [] == stages(engine)
    assert build.pid not in [owner.pid for _, owner in directories(BUILD_DIRECTORY) if owner]


def test_interrupted_build_ends_before_it_is_complete(engine: docker.DockerClient) -> None:
    build = "build_images(['keeper'], print, BuildOptions(way='engine'), force=True)"
    code = f"from judge.cli import *; from judge.host.build_images import *; guarded(lambda: {build})"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        while not engine.containers.list(filters={"label": BUILDER}):
            assert process.poll() is None
        process.terminate()
        out, _ = process.communicate()

    assert 128 + signal.SIGTERM == process.returncode
    assert "unpacking" in out
    assert "importing" not in out
    assert [] == stages(engine)


NOWHERE = "127.0.0.1:1/debian:none"


def imported(engine: docker.DockerClient, files: Mapping[str, str], changes: Sequence[str] = ()) -> str:
    data = tarred(*((name, text.encode()) for name, text in files.items()))
    engine.api.import_image_from_data(data, "other", "1", changes=[*changes])
    return "other:1"


DEBIAN = "ID=debian\n"
BOOKWORM = {"usr/lib/os-release": f"{DEBIAN}VERSION_CODENAME=bookworm\n", "usr/bin/apt-get": ""}
FEDORA = 'ID=fedora\nPRETTY_NAME="Fedora Linux 43"\n'


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"usr/lib/os-release": FEDORA, "usr/bin/apt-get": ""}, "other:1 is Fedora Linux 43: images are built from"),
        ({"usr/lib/os-release": "ID=debian\n"}, "other:1 is .* without apt-get: .* --base IMAGE"),
        (BOOKWORM | {"usr/lib/os-release": f'{DEBIAN}VERSION_CODENAME="b 1"\n'}, "without VERSION_CODENAME"),
        ({"usr/lib/os-release": 'ID=\nPRETTY_NAME="\x1b[2J"\n', "usr/bin/apt-get": ""}, r"other:1 is \\x1b\[2J:"),
        ({"usr/lib/os-release/x": "", "usr/bin/apt-get": ""}, "other:1 is a system without /usr/lib/os-release"),
        ({"hello": ""}, "other:1 is a system without /usr/lib/os-release"),
    ],
    ids=["other distribution", "no apt", "no release", "odd name", "folder", "no system"],
)
def test_unsuitable_base_image_is_named(engine: docker.DockerClient, files: Mapping[str, str], why: str) -> None:
    with pytest.raises(InputError, match=why):
        build_images(["keeper"], options=BuildOptions(base=imported(engine, files)))
    assert [] == stages(engine)


def test_large_base_image_is_read_in_constant_memory(engine: docker.DockerClient) -> None:
    release = f"{DEBIAN}VERSION_CODENAME=bookworm\n"
    base = imported(engine, {"usr/lib/os-release": f"{release}{'#' * (32 << 20)}\n", "usr/bin/apt-get": release})

    tracemalloc.start()
    way = choose_way(engine, BuildOptions(way="engine", base=base), print)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert ("bookworm", engine.images.get(base).id) == (way.codename, way.base)
    assert peak < 16 << 20


def test_base_image_with_volumes_leaves_none(engine: docker.DockerClient) -> None:
    choose_way(engine, BuildOptions(way="engine", base=imported(engine, BOOKWORM, ["VOLUME /var"])), print)

    assert [] == engine.volumes.list()


def test_base_image_is_the_same_for_all_builds(engine: docker.DockerClient) -> None:
    base = engine.images.get(imported(engine, BOOKWORM)).id

    way = choose_way(engine, BuildOptions(way="engine", base="other:1"), print)
    imported(engine, BOOKWORM | {"usr/bin/apt-get": "another"})

    assert isinstance(way, EngineWay)
    assert (base, base) == (way.image, way.base)


def test_without_a_base_image_packages_are_used_or_the_error_names_the_ways_out(
    engine: docker.DockerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []
    base = engine.images.get(DEFAULT_BASE)
    base.tag("kept", "1")
    engine.images.remove(DEFAULT_BASE)
    try:
        assert "packages" == choose_way(engine, BuildOptions(), lines.append).way
        monkeypatch.setenv("PATH", "")
        with pytest.raises(HostError, match=r"--base IMAGE\. Without a base image: .* apt-get install mmdebstrap"):
            choose_way(engine, BuildOptions(), print)
    finally:
        base.tag(*DEFAULT_BASE.split(":"))

    assert [f"pulling the base image {DEFAULT_BASE}, once"] == lines[:-1]
    expected = f"images are built from this host's packages: the Engine has no base image {DEFAULT_BASE}"
    assert lines[-1].startswith(expected)


def test_base_image_that_is_named_and_missing_is_an_error(engine: docker.DockerClient) -> None:
    with pytest.raises(HostError, match=rf"^the Engine has no base image {NOWHERE} .*docker load.* --base IMAGE$"):
        choose_way(engine, BuildOptions(base=NOWHERE), print)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"way": "docker"}, "no way 'docker' .* engine or packages"),
        ({"base": "../containers/json"}, "'../containers/json' is no name of an image"),
        ({"base": "x; id"}, "'x; id' is no name of an image"),
        ({"build_args": ("MIRROR",)}, "write NAME=VALUE"),
        ({"build_args": ("MIROR=http://mirror",)}, "no build argument 'MIROR'; did you mean 'MIRROR'"),
    ],
)
def test_wrong_option_is_named(options: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        BuildOptions(**options)


def test_wrong_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_IMAGES_BASE", "")
    assert DEFAULT_BASE == BuildOptions().base

    monkeypatch.setenv("JUDGE_IMAGES_BUILD_ARGS", "APT_OPTIONS='open")
    with pytest.raises(InputError, match=r"^JUDGE_IMAGES_BUILD_ARGS: .* quote them as in a shell"):
        BuildOptions()
