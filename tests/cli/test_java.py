"""Agents in Java, from classes or a .jar, in an image built when it is asked for, with a heap that fits the box."""

import shutil
import zipfile
from pathlib import Path

import pytest

from judge.host.build_images import build_images
from judge.host.house_agents import build_house_agents
from judge.referee.spec import read_record
from judge.sandbox.static_builds import compile_java
from tests.cli.conftest import QUICK, Judge

pytestmark = pytest.mark.docker

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


@pytest.fixture(scope="module", autouse=True)
def java() -> None:
    """The runtime, which `judge images build` alone leaves out."""
    build_images(["java"])


@pytest.fixture
def brain(tmp_path: Path) -> Path:
    """A folder of classes that say how large their heap may become."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "Main.java").write_text(BRAIN)
    folder = tmp_path / "brain"
    folder.mkdir()
    compile_java([source / "Main.java"], folder)
    return folder


def test_the_house_agent_in_java_plays(judge: Judge) -> None:
    played = judge("match", "house-java", "house-instant", "--policy", "gomocup-standard", *QUICK, "--json")

    assert [game["verdict"] for game in played.games] == ["win"]
    assert [game["winner"] for game in played.games] == [0]


def test_a_jar_is_an_agent_and_its_heap_keeps_below_its_cap(judge: Judge, tmp_path: Path, brain: Path) -> None:
    with zipfile.ZipFile(tmp_path / "talker.jar", "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nMain-Class: Main\n")
        jar.write(brain / "Main.class", "Main.class")

    memory = ("--set", "limits.memory_bytes=500000000")
    played = judge(
        "match", "talker.jar", "house-instant", "--policy", "gomocup-freestyle", *QUICK, *memory, "--json"
    )  # fmt: skip

    record = read_record(tmp_path / played.games[0]["record"]).record
    cap = record.spec.policy.enforced().cap_bytes
    assert 0.55 < int(record.seats[0].about["heap"]) / cap <= 0.6


def test_an_author_s_own_options_go_before_the_image_s(judge: Judge, tmp_path: Path, brain: Path) -> None:
    (brain / "agent.toml").write_text(
        'name = "talker"\nruntime = "java"\ncommand = ["java", "-Xmx64m", "-cp", ".", "Main"]\n'
    )

    played = judge("match", "brain", "house-instant", "--policy", "gomocup-freestyle", *QUICK, "--json")

    seat = read_record(tmp_path / played.games[0]["record"]).record.seats[0]
    assert int(seat.about["heap"]) <= 64 << 20


def test_without_javac_the_agent_in_java_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    lines: list[str] = []

    built = build_house_agents(lines.append)

    assert "house-java" not in built
    assert "house-instant" in built
    assert lines == ["house-java is left out: there is no javac here (apt-get install default-jdk-headless)"]
