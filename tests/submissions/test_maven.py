"""Maven builds without a network, and says what it lacks."""

from pathlib import Path

import pytest

from judge.agents.builds import Sources, build_for
from judge.agents.program_files import program_digest
from judge.sandbox.docker.images import missing_images
from judge.submissions.intake import IntakeLimits
from judge.submissions.trees import Built, TaskHost, build_tree

pytestmark = pytest.mark.docker

IMAGE = "toolchain-maven"
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId><artifactId>player</artifactId><version>1.0</version>
  <properties>
    <maven.compiler.release>11</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  {}
</project>
"""
MAIN = "package player;\nclass Main {{\n    public static void main(String[] words) {{ {} }}\n}}\n"
DEPENDENCY = (
    "<dependency><groupId>org.example</groupId><artifactId>gone</artifactId><version>1.0</version></dependency>"
)
PLUGIN = "<plugin><artifactId>maven-compiler-plugin</artifactId><version>99.0</version></plugin>"


@pytest.fixture(autouse=True)
def maven() -> None:
    """The image takes half a minute to build."""
    if missing_images([IMAGE]):
        pytest.skip(f"needs the image {IMAGE}: ./scripts/test --evidence languages")


def built(task_host: TaskHost, pom: str = "", statement: str = "", to: str = "built") -> Built:
    tree = task_host.room / f"sent-{to}"
    source = tree / "src" / "main" / "java" / "player" / "Main.java"
    source.parent.mkdir(parents=True)
    source.write_text(MAIN.format(statement))
    (tree / "pom.xml").write_text(POM.format(pom))
    build = build_for(Sources(tree, "bot"))
    assert build
    return build_tree(tree, build, task_host.room / to, IntakeLimits(), task_host)


def test_the_same_sources_make_the_same_agent(task_host: TaskHost) -> None:
    for to in ("first", "second"):
        come = built(task_host, to=to)
        assert "" == come.failure, come.log

    assert (task_host.room / "first" / "target" / "player-1.0.jar").is_file()
    assert program_digest(task_host.room / "first") == program_digest(task_host.room / "second")


@pytest.mark.parametrize(
    ("pom", "statement", "words"),
    [
        ("", "return 1;", "Main.java:[3,54] incompatible types"),
        ("", "org.example.Words words;", "org.example is missing in Java and in the upload"),
        (f"<dependencies>{DEPENDENCY}</dependencies>", "", "`mvn -Dmaven.repo.local=repository package`"),
        (f"<build><plugins>{PLUGIN}</plugins></build>", "", "leave out the versions of plugins"),
    ],
)
def test_errors_are_reported_with_the_fix(task_host: TaskHost, pom: str, statement: str, words: str) -> None:
    come = built(task_host, pom, statement)

    assert come.failure.startswith("the build failed: [ERROR] ")
    assert words in come.failure, come.log
    assert not Path(task_host.room / "built").exists()
