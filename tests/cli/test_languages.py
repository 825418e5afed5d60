"""A program in each language is built in its image and plays a game in its runtime, where the policy admits it."""

import zipfile
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

import pytest

from judge.agents.builds import Kind
from judge.agents.manifest import read_manifest
from judge.base.owner import owned_directory
from judge.host.build_images import build_images
from judge.host.compilers import compile_java
from judge.record.spec import read_record
from judge.sandbox.box import BoxPolicy
from judge.sandbox.docker.images import missing_images
from judge.sandbox.runtimes import image_that_builds
from judge.submissions.intake import IntakeLimits
from judge.submissions.trees import TaskHost, build_of, build_tree
from tests.cli.conftest import QUICK, Judge
from tests.cli.test_windows_programs import launcher
from tests.examples import evidence

HERE = Path(__file__).parents[1] / "languages"
PLAYERS = {"numpy": HERE / "numpy", "node": HERE / "node", "python2": HERE / "python2" / "player"}
"""By the runtime that they ask for."""

pytestmark = pytest.mark.docker


def built(*names: str) -> None:
    """Skip where one of these images is not built: together they take minutes, and one of each kind is always there."""
    if missing := missing_images(names):
        pytest.skip(f"needs the images {', '.join(missing)}: ./scripts/test --evidence languages")
    build_images(["native", "keeper", *names])


def match(judge: Judge, player: Path, runtime: str) -> None:
    built(runtime)

    played = judge(
        "match", str(player), "house-instant", "--policy", "gomocup-freestyle:fast", "--json",
        "--set", f"admits=['native', '{runtime}']", code=0,
    )  # fmt: skip

    [game] = played.games
    assert "win" == game["verdict"]
    assert judge("verify", game["record"]).code == 0


@pytest.mark.parametrize("runtime", ["numpy", "python2", pytest.param("node", marks=evidence)])
def test_a_program_plays_in_its_runtime(judge: Judge, runtime: str) -> None:
    match(judge, PLAYERS[runtime], runtime)


SOURCES: dict[str, Kind] = {
    "go": "go",
    "cargo": "cargo",
    "cmake": "cmake",
    "clang": "clang",
    "pascal": "pascal",
    "mono": "c#",
    "node": "javascript",
    "java": "java",
    "maven": "maven",
}
"""The kinds of sources, by their folder."""

ONLY_EVIDENCE = {"cargo", "java", "maven"}
"""tests/submissions/test_build.py builds them in the full lane."""


def complete(tree: Path, folder: str) -> None:
    """Add to a copy of the sources what cannot lie beside them: a library, compiled, for those in Java."""
    if folder == "node":
        (tree / "agent.toml").unlink()  # it makes the folder one that is played as it is
    elif folder == "java":
        add_library(tree / "lib" / "words.jar")
    elif folder == "maven":
        copytree(HERE / "java", tree / "src" / "main" / "java")
        place = tree / "repository" / "org" / "example" / "words" / "1.0"
        add_library(place / "words-1.0.jar")
        who = "<groupId>org.example</groupId><artifactId>words</artifactId><version>1.0</version>"
        (place / "words-1.0.pom").write_text(f"<project><modelVersion>4.0.0</modelVersion>{who}</project>")


def add_library(jar: Path) -> None:
    jar.parent.mkdir(parents=True)
    with TemporaryDirectory() as folder:
        compile_java([HERE / "words" / "words" / "Words.java"], Path(folder))
        with zipfile.ZipFile(jar, "w") as archive:
            archive.write(Path(folder) / "words" / "Words.class", "words/Words.class")


@pytest.mark.parametrize("folder", [pytest.param(each, marks=[evidence] * (each in ONLY_EVIDENCE)) for each in SOURCES])
def test_sources_are_built_and_the_result_plays(judge: Judge, tmp_path: Path, folder: str) -> None:
    tree = tmp_path / folder
    copytree(HERE / folder, tree)
    complete(tree, folder)
    build = build_of(tree, folder)
    assert build
    assert SOURCES[folder] == build.kind
    built(image_that_builds(build.kind))

    with owned_directory() as room:
        done = build_tree(tree, build, room / "built", IntakeLimits(), TaskHost(BoxPolicy(freeze="none"), (), room))
        assert "" == done.failure, done.log
        match(judge, room / "built", read_manifest(room / "built" / "agent.toml").runtime)


def test_dotnet_program_with_a_windows_library_gets_a_hint(judge: Judge, tmp_path: Path) -> None:
    """Its own words say only that the library is not found, and it lies beside the program."""
    tree = tmp_path / "tree"
    copytree(HERE / "mono", tree)
    source = tree / "Player.cs"
    source.write_text(source.read_text().replace('"OK"', '"ERROR file rules.dll not found."'))
    build = build_of(tree, "mono")
    assert build
    built("toolchain-mono", "mono")

    with owned_directory() as room:
        done = build_tree(tree, build, room / "built", IntakeLimits(), TaskHost(BoxPolicy(freeze="none"), (), room))
        assert "" == done.failure, done.log
        # A library of Windows is a program, except for one bit.
        data = bytearray(launcher("setuptools/cli-64.exe").read_bytes())
        data[int.from_bytes(data[60:64], "little") + 23] |= 0x20
        (room / "built" / "rules.dll").write_bytes(data)
        checked = judge("check", str(room / "built"), "--policy", "gomocup-freestyle")

    assert "fix: rules.dll is a library of Windows, which .NET cannot load here" in checked.out


def test_a_runtime_that_the_policy_does_not_admit_is_refused(judge: Judge) -> None:
    refused = judge("check", str(PLAYERS["numpy"]), "--policy", "gomocup-freestyle")

    assert refused.code != 0
    assert "runtime 'numpy': policy gomocup-freestyle admits native, python, java, wine, mono; ask" in refused.err
    assert '"mono", "numpy"]' in refused.err


def test_a_file_is_for_one_runtime(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "runtime.toml").write_text('package = ["x"]\n')

    why = "name the one runtime that runtime.toml is for: judge images build NAME --from runtime.toml"
    for names in ([], ["a", "b"]):
        refused = judge("images", "build", *names, "--from", "runtime.toml")
        assert (2, True) == (refused.code, why in refused.err), refused.err


BRAIN = """
public class Main {
    public static void main(String[] arguments) {
        var requests = new java.util.Scanner(System.in);
        while (requests.hasNextLine()) {
            String line = requests.nextLine();
            if (line.startsWith("START")) System.out.println("OK");
            if (line.equals("ABOUT")) System.out.printf("heap=\\"%d\\"%n", Runtime.getRuntime().maxMemory());
            if (line.equals("BEGIN")) System.out.println("0,nothing");
            if (line.equals("END")) return;
        }
    }
}
"""


def test_the_house_agent_in_java_plays(judge: Judge) -> None:
    build_images(["java"])

    played = judge("match", "house-java", "house-instant", "--policy", "gomocup-standard", *QUICK, "--json")

    assert [("win", 0)] == [(game["verdict"], game["winner"]) for game in played.games]


def test_heap_of_a_jar_keeps_below_its_cap_and_an_author_s_option_goes_first(judge: Judge, tmp_path: Path) -> None:
    build_images(["java"])
    (tmp_path / "Main.java").write_text(BRAIN)
    folder = tmp_path / "brain"
    folder.mkdir()
    compile_java([tmp_path / "Main.java"], folder)
    command = '["java", "-Xmx64m", "-cp", ".", "Main"]'
    (folder / "agent.toml").write_text(f'name = "talker"\nruntime = "java"\ncommand = {command}\n')
    with zipfile.ZipFile(tmp_path / "talker.jar", "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nMain-Class: Main\n")
        jar.write(folder / "Main.class", "Main.class")

    game = ("house-instant", "--policy", "gomocup-freestyle", *QUICK, "--set", "limits.memory_bytes=500000000")
    of_jar, of_folder = (
        read_record(tmp_path / judge("match", agent, *game, "--json").games[0]["record"]).record
        for agent in ("talker.jar", "brain")
    )

    cap = of_jar.spec.policy.enforced().cap_bytes
    assert 0.55 < int(of_jar.seats[0].about["heap"]) / cap <= 0.6
    assert int(of_folder.seats[0].about["heap"]) <= 64 << 20
