"""Build scripts and macros of crates run where they are built, and reach no more than compilers do."""

import pytest

from judge.agents.program_files import program_digest
from judge.sandbox.docker.images import missing_images
from judge.sandbox.machine.users import AGENT_IDS, FIRST_AGENT_ID
from judge.sandbox.runtimes import recipes
from judge.submissions.trees import Built, TaskHost
from tests.submissions.building import built

pytestmark = pytest.mark.docker

IMAGE = "toolchain-cargo"
PACKAGE = '[package]\nname = "player"\nversion = "1.0.0"\nedition = "2021"\n'
MAIN = 'include!(concat!(env!("OUT_DIR"), "/made.rs"));\nfn main() { println!("{MADE}"); }\n'
MADE = 'std::fs::write(std::env::var("OUT_DIR").unwrap() + "/made.rs", "static MADE: i32 = 1;").unwrap();'


@pytest.fixture(autouse=True)
def cargo() -> None:
    """The image takes half a minute to build."""
    if missing_images([IMAGE]):
        pytest.skip(f"needs the image {IMAGE}: ./scripts/test --evidence languages")


def built_package(task_host: TaskHost, script: str, to: str = "built") -> Built:
    """What comes of a package whose build script does this first."""
    files = {"Cargo.toml": PACKAGE, "src/main.rs": MAIN, "build.rs": f"fn main() {{\n{script}\n{MADE}\n}}\n"}
    return built(task_host, files, to=to)


def test_the_same_sources_make_the_same_agent(task_host: TaskHost) -> None:
    for to in ("first", "second"):
        come = built_package(task_host, "", to=to)
        assert "" == come.failure, come.log

    assert program_digest(task_host.room / "first") == program_digest(task_host.room / "second")


def test_no_script_runs_without_the_right_to_run_build_results(
    task_host: TaskHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: the right comes from the image's file, and from nothing else."""
    without = recipes() | {IMAGE: recipes()[IMAGE].model_copy(update={"runs_built": False})}
    monkeypatch.setattr("judge.submissions.trees.recipes", lambda: without)

    come = built_package(task_host, "")

    assert "Permission denied" in come.log
    assert come.failure.startswith("the build failed: ")


REACHES = r"""
    use std::{fs, net, process::Command};
    let say = |what: &str, found: Result<String, std::io::Error>| println!("cargo:warning={what}: {found:?}");
    say("network", net::TcpStream::connect("127.0.0.1:80").map(|_| "connected".into()));
    say("shadow", fs::read_to_string("/etc/shadow"));
    say("engine", fs::metadata("/var/run/docker.sock").map(|_| "there".into()));
    say("input", fs::write("/agent/input/Cargo.toml", "x").map(|_| "written".into()));
    say("system", fs::write("/usr/bin/cc", "x").map(|_| "written".into()));
    fs::copy("/bin/true", "/home/agent/tree/true").unwrap();
    say("tree", Command::new("/home/agent/tree/true").status().map(|_| "run".into()));
    fs::remove_file("/home/agent/tree/true").unwrap();
    let id = Command::new("id").arg("-u").output().unwrap();
    println!("cargo:warning=user: {}", String::from_utf8_lossy(&id.stdout).trim());
"""


def test_a_build_script_reaches_nothing(task_host: TaskHost) -> None:
    come = built_package(task_host, REACHES)

    assert "" == come.failure, come.log
    said = dict(
        line.partition("warning: ")[2].partition("@")[2].partition(": ")[2].split(": ", 1)
        for line in come.log.splitlines()
        if line.startswith("warning: player@")
    )
    user = int(said.pop("user"))
    assert user in range(FIRST_AGENT_ID, FIRST_AGENT_ID + AGENT_IDS)
    assert {"network", "shadow", "engine", "input", "system", "tree"} == set(said)
    assert all(answer.startswith("Err(") for answer in said.values()), said
    assert "PermissionDenied" in said["tree"]


def test_crates_that_were_not_sent_are_asked_for(task_host: TaskHost) -> None:
    """They are wanted by a crate that was sent."""
    files = {
        "Cargo.toml": f'{PACKAGE}[dependencies]\nnear = {{ path = "near" }}\n',
        "src/main.rs": "fn main() {}",
        "near/Cargo.toml": f'{PACKAGE.replace("player", "near")}[dependencies]\nrand = "0.8"\n',
        "near/src/lib.rs": "",
    }

    come = built(task_host, files)

    assert "run `cargo vendor`, and send vendor/ too" in come.failure, come.log
