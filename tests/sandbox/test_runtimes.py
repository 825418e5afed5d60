"""A runtime is data: a file says what it is made of, an image of it is found by its name."""

import base64
import hashlib
import re
import subprocess
import uuid
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import get_args

import docker
import pytest

from judge.agents.builds import Kind
from judge.base.errors import HostError, InputError
from judge.host.build_images import build_images, build_recipes
from judge.host.build_ways import run_script
from judge.host.dockerfile import added_files, context, dockerfile, write_files
from judge.sandbox.docker.images import RUNTIME, find_runtime, listing
from judge.sandbox.runtimes import ImageRecipe, image_that_builds, load_runtime, recipes, runtime_of_label
from tests.examples import of_evidence
from tests.sandbox.docker.test_images import labelled, run

ZEROS = "0" * 64
WHEEL = f'wheels = ["numpy==1.0 --hash=sha256:{ZEROS}"]\n'


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "runtime.toml"
    path.write_text(text)
    return path


@contextmanager
def imported(name: str, label: str) -> Iterator[docker.DockerClient]:
    """An empty image of this name, with a label."""
    with closing(docker.from_env()) as client:
        client.api.import_image_from_data(b"\0" * 1024, f"judge/{name}", "1", changes=[f"LABEL {RUNTIME}={label}"])
        yield client


def test_our_own_images_are_files_of_the_same_form() -> None:
    assert ["base", "keeper", "native", "python"] == [r.name for r in recipes().values() if not r.is_optional]
    assert ("python3",) == recipes()["python"].packages[-1:]
    assert recipes()["native"].packages == recipes()["java"].packages[:-1]
    assert all(recipe.about for recipe in recipes().values())
    assert ["toolchain-cargo"] == [name for name, recipe in recipes().items() if recipe.runs_built]
    for kind in get_args(Kind):
        assert [image_that_builds(kind)] == [name for name, recipe in recipes().items() if kind in recipe.builds]


def test_organiser_file_declares_the_contents_of_its_runtime(tmp_path: Path) -> None:
    path = written(tmp_path, 'extends = "python"\npackages = ["sqlite3"]\n[environment]\nTHREADS = "1"\n')

    recipe = load_runtime("snake", path)

    assert ("judge/snake:1", {"THREADS": "1"}) == (recipe.tag, recipe.environment)
    assert (*recipes()["python"].packages, "sqlite3") == recipe.packages
    known = recipe.model_copy(update={"folder": None, "programs": ()})
    assert known == runtime_of_label("snake", recipe.document)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('about = "a\\nRUN id"', r"runtime\.toml, line 1: about: "),
        ('package = ["x"]', r"runtime\.toml, line 1: unknown key 'package'; did you mean 'packages'\?"),
        ('\npackages = ["--add"]', r"runtime\.toml, line 2: packages\.0: "),
        ('script = "mine.sh"', "line 1: unknown key 'script'"),
        ("runs_built = true", "line 1: unknown key 'runs_built'"),
        ('extends = "wine"', r"extends: there is no 'wine' to extend; .*native.*python"),
        ('extends = "base"', "there is no 'base' to extend"),
        (WHEEL, r'wheels: they are for Python 3: add extends = "python"'),
        ('wheels = ["numpy==1.0"]', r"line 1: wheels\.0: "),
        (f'wheels = ["numpy>=1 --hash=sha256:{ZEROS}"]', r"line 1: wheels\.0: "),
        ('seccomp = "none"', "line 1: seccomp: "),
        ('[environment]\n"A=B" = "1"', "environment"),
        ('[environment]\nA = "1\\n2"', r"line 2: environment\.A: "),
        ('programs = ["gone"]', "programs: .*gone: No such file"),
        ('release = "../x"', "line 1: release: "),
    ],
)
def test_a_wrong_file_is_refused_with_the_line_or_the_field(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        load_runtime("snake", written(tmp_path, text))


@pytest.mark.parametrize("name", ["python", "Snake", "a/b", "", "x" * 41])
def test_a_name_is_the_organisers_own_and_one_that_an_image_can_have(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"another name|cannot be called"):
        load_runtime(name, written(tmp_path, ""))


@pytest.mark.parametrize(
    "more",
    [
        'packages = ["tar"]',
        'release = "bullseye"',
        'seccomp = "wine32"',
        'environment = { A = "1" }',
        'programs = ["p"]',
    ],
)
def test_the_digest_is_over_all_that_decides_the_image(tmp_path: Path, more: str) -> None:
    (tmp_path / "p").write_text("one")
    plain = load_runtime("snake", written(tmp_path, ""))
    other = load_runtime("snake", written(tmp_path, more))
    (tmp_path / "p").write_text("two")
    same = load_runtime("snake", tmp_path / "runtime.toml")

    assert plain.digest("bookworm") != other.digest("bookworm")
    assert ("programs" in more) == (same.digest("bookworm") != other.digest("bookworm"))


def test_packages_of_our_recipes_are_known_to_the_distribution() -> None:
    """Those of this release, by the host's own lists; without lists there is nothing to compare."""
    names = {p for recipe in recipes().values() if not recipe.release for p in recipe.packages if ":" not in p}
    known = {*subprocess.run(["apt-cache", "pkgnames"], capture_output=True, text=True, check=True).stdout.split()}
    if "gcc" not in known:
        return

    assert [] == sorted(name for name in names if not {*name.split("|")} & known)


@pytest.mark.parametrize("name", recipes())
def test_dockerfile_copies_what_its_context_has(name: str) -> None:
    recipe = recipes()[name]
    files = context(recipe)
    copies = re.findall(r"^COPY ([a-z][^ ]*)", dockerfile(recipe), re.MULTILINE)

    assert {path.partition("/")[0] for path in files} - {"Dockerfile"} == {path.partition("/")[0] for path in copies}
    assert [] == [path for path in copies if not any(name.startswith(path) for name in files)]
    assert all(package in dockerfile(recipe) for package in recipe.packages)


def wheel(folder: Path) -> str:
    """A wheel with one module; its line."""
    path = folder / "riddle-1.0-py3-none-any.whl"
    info = "riddle-1.0.dist-info"
    files = {
        "riddle.py": "ANSWER = 42\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: riddle\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(path, "w") as archive:
        record = ""
        for member, text in files.items():
            archive.writestr(member, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            record += f"{member},sha256={digest},{len(text)}\n"
        archive.writestr(f"{info}/RECORD", f"{record}{info}/RECORD,,\n")
    return f"riddle==1.0 --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"


def finished(recipe: ImageRecipe, folder: Path) -> Path:
    """A root file system with nothing but the names of a C library, of a Python, and the wheels."""
    root = folder / "root"
    (root / "var/cache/apt/archives").mkdir(parents=True)
    run_script(recipe, "merge-usr", str(root))
    (root / "var/cache/apt/archives/libc6_2.36-9_amd64.deb").touch()
    (root / "usr/bin/python3").symlink_to("python3.11")
    write_files(added_files(recipe), root)
    run_script(recipe, "finish", str(root))
    return root


def test_a_wheel_is_unpacked_for_the_python_of_the_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a current directory of other people's files, which are not imported."""
    (tmp_path / "current").mkdir()
    for module in ("pip", "json", "random"):
        (tmp_path / "current" / f"{module}.py").write_text("raise SystemExit('imported from the current directory')")
    monkeypatch.chdir(tmp_path / "current")
    recipe = load_runtime("snake", written(tmp_path, f'extends = "python"\nwheels = ["{wheel(tmp_path)}"]\n'))

    root = finished(recipe, tmp_path)

    packages = root / "usr/lib/python3/dist-packages"
    assert {"riddle.py", "METADATA", "WHEEL"} == {path.name for path in packages.rglob("*") if path.is_file()}, (
        "others name places of the host"
    )
    assert ["packages.txt"] == [path.name for path in (root / "judge").iterdir()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "why"),
    [("riddle", "does not match its hash in runtime.toml"), ("riddle-of-nobody", "put the wheels next to")],
)
def test_a_wheel_that_is_another_or_not_there_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, why: str
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    wheel(tmp_path)
    path = written(tmp_path, f'extends = "python"\nwheels = ["{name}==1.0 --hash=sha256:{ZEROS}"]\n')

    with pytest.raises((InputError, HostError), match=why):
        finished(load_runtime("snake", path), tmp_path)


@pytest.fixture
def name() -> Iterator[str]:
    """The name of a runtime, whose images go away."""
    name = f"test-{uuid.uuid4().hex[:20]}"
    yield name
    with closing(docker.from_env()) as client:
        for image in client.images.list(all=True, filters={"label": f"judge.image={name}"}):
            client.images.remove(str(image.id), force=True)


ASKED = (
    "import os, riddle, subprocess; print(riddle.ANSWER, os.environ['SAID'], os.path.exists(riddle.__cached__), "
    "subprocess.run(['hello'], capture_output=True, text=True).stdout.strip())"
)
SAID = "a \"b\" \\ $c 'd'"


@pytest.mark.docker
@pytest.mark.parametrize("extends", ["native", *of_evidence("python")])
def test_a_runtime_is_built_from_its_file_and_found_by_its_name(tmp_path: Path, name: str, extends: str) -> None:
    """The former image of its name is removed."""
    (tmp_path / "hello").write_text("#!/bin/sh\necho hello\n")
    wheels = f'wheels = ["{wheel(tmp_path)}"]\n' if extends == "python" else ""
    path = written(
        tmp_path,
        f'about = "asks"\nextends = "{extends}"\n{wheels}programs = ["hello"]\n'
        f"seccomp = \"toolchain\"\n[environment]\nSAID = '''{SAID}'''\n",
    )

    with pytest.raises(InputError, match=f"The runtime {name} is not built .*: judge images build {name} --from FILE"):
        find_runtime(name)
    with imported(name, f"{{}} judge.image={name} judge.recipe=old") as client:
        [built] = build_recipes([load_runtime(name, path)])

        assert [built.id] == labelled(client, f"judge.image={name}")
        assert built.current
        assert (built.id, "toolchain") == (find_runtime(name).id, find_runtime(name).recipe.seccomp)
        assert built.content == find_runtime(name).content
        assert [f"judge/{name}:1: current"] == [str(s).split(",")[0] for s in listing() if s.recipe.name == name]
        assert f"hello\n{SAID}\n" == run(client, built.id, "sh", "-c", "hello; printenv SAID")
        if wheels:
            assert f"42 {SAID} True hello\n" == run(client, built.id, "python3", "-c", ASKED)

    lines: list[str] = []
    assert [built] == build_recipes([load_runtime(name, path)], lines.append)
    assert [f"judge/{name}:1 is current"] == lines


@pytest.mark.docker
def test_image_built_on_a_runtime_is_not_a_runtime(name: str) -> None:
    """Labels go over to what is built upon an image, and its content is another."""
    build_images(["native"])
    with imported(name, "{} judge.image=numpy") as client:
        assert name not in {state.recipe.name for state in listing()}
        client.images.remove(f"judge/{name}:1")


@pytest.mark.docker
@pytest.mark.parametrize(
    ("label", "error"),
    [
        ("{{!}} judge.image={}", "the label of the image judge/{}:1: "),
        ("{{}} judge.image={} judge.recipe=old", "is out of date; run: judge images build {} --from FILE"),
    ],
    ids=["unreadable", "of another judge"],
)
def test_a_label_that_cannot_be_used_is_named_and_hides_no_other_image(name: str, label: str, error: str) -> None:
    with imported(name, label.format(name)):
        assert {*recipes()} <= {state.recipe.name for state in listing()}
        with pytest.raises((InputError, HostError), match=error.format(name)):
            find_runtime(name)
