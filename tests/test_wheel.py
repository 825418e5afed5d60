"""A wheel of the judge, plain or compiled, is installed without a checkout, and does all that a checkout does."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

import judge
from judge import DISTRIBUTION
from judge.agents.agents import stage_agent
from judge.base.resources import BUILD_DIRECTORY, IMAGES
from judge.cluster.machine import code_digest
from judge.host.build_images import build_images
from judge.host.house_agents import build_house_agents
from judge.record.policy import policy_names
from tests.attacks.controls import CONTROLS
from tests.attacks.test_services import SERVICE_ATTACKS
from tests.cli.conftest import SHORT
from tests.corpus.archive import SOURCE, parts, read
from tests.examples import LANE, sized

ROOT = Path(__file__).parents[1]
PIP = (sys.executable, "-m", "pip", "--quiet", "--isolated", "--disable-pip-version-check")
LOCAL = ("--no-index", "--no-deps", "--no-build-isolation")
PLUGINS = {
    "chess": ("judge.protocols", "uci"),
    "cecp": ("judge.protocols", "cecp"),
    "go": ("judge.protocols", "gtp"),
    "gomocup": ("judge.commands", "rating-list"),
}
"""By plug-in, an entry point that it registers."""
INSTALLED = [*PLUGINS][: sized(1, len(PLUGINS))]
"""Plug-ins that are built and installed. The first one needs another distribution."""
NOT_SOURCES = shutil.ignore_patterns("__pycache__", "*.egg-info")
ATTACK_FILES = {f"judge/attacks/{path.name}" for path in (ROOT / "judge/attacks").iterdir() if path.is_file()}
SOURCES = ("pyproject.toml", "MANIFEST.in", "README.md", "LICENSE", "judge", "images", "policies")

pytestmark = [pytest.mark.docker, pytest.mark.slow, pytest.mark.xdist_group("wheel")]


@dataclass(frozen=True)
class Installed:
    """A judge in a virtual environment, with a home and a working directory of its own."""

    environment: Path
    home: Path
    directory: Path

    def run(self, program: str, *arguments: str) -> str:
        variables = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "XDG_", "VIRTUAL_ENV"))
        }
        variables |= {"HOME": str(self.home), "COLUMNS": "300"}
        return run_program(str(self.environment / "bin" / program), *arguments, cwd=self.directory, env=variables)

    def files(self) -> set[Path]:
        return {path for path in self.environment.rglob("*") if "__pycache__" not in path.parts}


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheels of the source distribution of this checkout and of the plug-ins."""
    place = tmp_path_factory.mktemp("wheel")
    source, sources, wheels = place / "source", place / "sdist", place / "wheels"
    copy_sources(source)
    make = "import sys; from setuptools.build_meta import build_sdist; build_sdist(sys.argv[1])"
    run_program(sys.executable, "-c", make, str(sources), cwd=source)
    shutil.rmtree(source)
    (sdist,) = sources.iterdir()
    assert f"contest_judge-{judge.__version__}.tar.gz" == sdist.name
    shutil.copytree(ROOT / "plugins", source, ignore=NOT_SOURCES)
    packages = [str(sdist), *(str(source / plugin) for plugin in INSTALLED)]
    run_program(*PIP, "wheel", *LOCAL, "--wheel-dir", str(wheels), *packages)
    return wheels


@pytest.fixture(scope="module")
def installed(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheels of the judge and of plug-ins, installed by name; they have the dependencies of the tests."""
    build_images()
    return _installed(wheels, tmp_path_factory.mktemp("installed"), *INSTALLED)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel of `./scripts/compile`, which takes minutes."""
    if LANE not in ("languages", "evidence"):
        pytest.skip("compiles for minutes: ./scripts/test --languages")
    place = tmp_path_factory.mktemp("compiled")
    run_program(str(ROOT / "scripts" / "compile"), str(place / "wheels"))
    return _installed(place / "wheels", place)


def _installed(wheels: Path, place: Path, *plugins: str) -> Installed:
    """An environment with distributions that pip finds by name among the wheels, and the dependencies of the tests."""
    environment, home, directory, packages = (place / name for name in ("environment", "home", "empty", "packages"))
    for folder in (home, directory, packages):
        folder.mkdir()
    venv.create(environment, symlinks=True)
    python = str(environment / "bin" / "python")
    # Without this checkout: pip must not find it.
    for installed in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for path in Path(installed).iterdir():
            if "judge" not in path.name and path.suffix != ".pth":
                (packages / path.name).symlink_to(path)
    purelib = run_program(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    (Path(purelib) / "dependencies.pth").write_text(f"{packages}\n")
    # The tests do not depend on python-chess, and no test here plays chess.
    (packages / "chess-1.11.dist-info").mkdir()
    (packages / "chess-1.11.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: chess\nVersion: 1.11\n")
    names = [f"{DISTRIBUTION}[web]", *(f"judge-{plugin}" for plugin in plugins)]
    run_program(*PIP, "--python", python, "install", "--no-index", "--find-links", str(wheels), "--no-compile", *names)
    return Installed(environment, home, directory)


def copy_sources(target: Path) -> None:
    """What a wheel is built from; a build writes beside its sources."""
    target.mkdir()
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target / name, symlinks=True, ignore=NOT_SOURCES)
        else:
            shutil.copy(ROOT / name, target / name)


def run_program(*command: str, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> str:
    """What a program prints; it must end well."""
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_nothing_in_it_weakens_the_judge_or_attacks_its_services(wheels: Path) -> None:
    (wheel,) = wheels.glob("contest_judge-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name).decode() for name in archive.namelist() if name.endswith((".py", ".toml"))}
    parts = {name for control in CONTROLS.values() for name in control.weaken}
    parts |= {attack.__name__ for attack in SERVICE_ATTACKS.values()}
    parts |= {"Control", "ControlSuite", r"Weak\w*", "switch_off", "weak_command"}
    is_defined = re.compile(
        rf"^ *(?:def|class) (?:{'|'.join(parts)})\b|^DEFENCES\b|^ *(?:from|import) tests\b", re.MULTILINE
    )

    assert ATTACK_FILES == {name for name in files if name.startswith("judge/attacks/")}
    assert [] == [name for name, text in files.items() if is_defined.search(text) or "--controls" in text]


@pytest.mark.parametrize("plugin", INSTALLED)
def test_plugin_is_installed_by_name_without_an_index(plugin: str, installed: Installed) -> None:
    group, name = PLUGINS[plugin]
    names = f"from importlib.metadata import entry_points; print(*entry_points(group={group!r}).names)"

    assert f"judge {judge.__version__}" == installed.run("judge", "--version").splitlines()[0]
    assert name in installed.run("python", "-c", names).split()


def test_it_has_its_policies_and_its_types(installed: Installed) -> None:
    listed = installed.run("judge", "policies")
    package = installed.run("python", "-c", "import judge; print(judge.__path__[0])").strip()

    assert Path(package).is_relative_to(installed.environment)
    *lines, where, how = listed.splitlines()
    assert policy_names() == [line.split()[0] for line in lines[1:]]
    assert f"The files are in {package}/data/policies; copy one to make your own." == where
    assert "  judge policies NAME --copy FILE" == how
    assert (Path(package) / "py.typed").is_file()


def test_it_is_the_same_judge_as_this_checkout(installed: Installed) -> None:
    """A contest on many machines takes only hosts that have the same code."""
    program = "from judge.cluster.machine import code_digest; print(code_digest())"

    assert code_digest() == installed.run("python", "-c", program).strip()


MANIFEST_OF_ANN = {"starter-gomocup-python": "mine", 'author = "judge"': 'author = "Ann"', "; to begin with": ""}
ABOUT_OF_ANN = {'name="starter"': 'name="mine"', 'author="me"': 'author="Ann"', 'country="XY"': 'country="CZ"'}


def test_it_builds_plays_and_checks(installed: Installed, tmp_path: Path) -> None:
    files = installed.files()

    built = installed.run("judge", "images", "build").splitlines()

    assert "judge/native:1 is current" in built
    assert "building house-instant" in built
    cache = installed.home / ".cache" / "judge" / judge.__version__
    assert _digests(BUILD_DIRECTORY, tmp_path / "ours") == _digests(cache, tmp_path / "its")

    policy = ("--policy", "gomocup-freestyle", *SHORT)
    played = installed.run("judge", "match", "house-instant", "house-python", *policy, "--quiet")
    assert played.splitlines()[1].startswith("house-python wins (win): 5 in a row")
    (record,) = (installed.directory / "records").glob("*.json")
    assert "ok: win, house-python wins" in installed.run("judge", "verify", str(record))

    mine = installed.directory / "mine"
    shutil.copytree(IMAGES / "starter-gomocup-python", mine)
    for name, text in {"agent.toml": MANIFEST_OF_ANN, "starter.py": ABOUT_OF_ANN}.items():
        file = mine / name
        for old, new in text.items():
            assert old in file.read_text()
            file.write_text(file.read_text().replace(old, new))
    *_, grade, following = installed.run("judge", "check", "mine", *policy).splitlines()
    assert re.fullmatch(r"pass: [0-9]+ passed", grade)
    assert following.startswith("next: play a game (judge match mine ")

    assert files == installed.files()


def test_a_compiled_one_verifies_every_record(compiled: Installed, tmp_path: Path) -> None:
    stored = [read(part, SOURCE) for part in parts() if part.startswith("records")]
    records = [text for texts in stored for text in texts.values()]
    for number, text in enumerate(records):
        (tmp_path / f"{number}.json").write_text(text)
    script = """
import sys
from pathlib import Path
from judge.record.spec import read_record
from judge.referee.verify import verify
print([problem for path in Path(sys.argv[1]).iterdir() for problem in verify(read_record(path)).problems])
"""

    assert len(records) == 200
    assert "[]\n" == compiled.run("python", "-c", script, str(tmp_path))


def test_a_compiled_one_plays_verifies_and_exports_the_same(compiled: Installed) -> None:
    """It plays in containers with the compiled modules; this checkout finds the same in its records."""
    file = compiled.run("python", "-c", "import judge.referee.referee; print(judge.referee.referee.__file__)")
    assert ".so" == Path(file.strip()).suffix
    compiled.run("judge", "images", "build")
    cup, here, there = (str(compiled.directory / name) for name in ("cup", "here", "there"))
    agents = ("--agent", "house-instant", "--agent", "house-strong")
    compiled.run("judge", "contest", "init", cup, "--policy", "gomocup-freestyle", *SHORT, *agents)
    compiled.run("judge", "contest", "run", cup)
    compiled.run("judge", "contest", "key", f"{cup}/organiser.key")

    compiled.run("judge", "contest", "export", there, cup)
    run_program(sys.executable, "-m", "judge.cli", "contest", "export", here, cup)

    assert "games replayed" in compiled.run("judge", "contest", "verify", here)
    assert "games replayed" in run_program(sys.executable, "-m", "judge.cli", "contest", "verify", there)
    assert run_program("diff", "--recursive", here, there) == ""


def _digests(folder: Path, staging: Path) -> dict[str, str]:
    """The digest of each house agent as it was built into a folder."""
    staging.mkdir()
    return {name: stage_agent(str(folder / name), staging).digest for name in build_house_agents()}
