"""The whole way of an upload: what its author hears, what is kept of it, and what is not when the judge is killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from dataclasses import replace
from pathlib import Path

import docker
import pytest

from judge.agents import agents
from judge.agents.agents import Agent
from judge.agents.program_files import program_digest
from judge.agents.store import AgentStore
from judge.base.errors import HostError, NotReadyError
from judge.base.owner import DIRECTORY_PREFIX, Fate, Owner, directories
from judge.base.resources import BUILD_DIRECTORY, IMAGES
from judge.host.house_agents import build_house_agents
from judge.play.venue import Slot
from judge.record.policy import load_policy
from judge.sandbox.docker import images
from judge.sandbox.docker.reaper import reap
from judge.sandbox.machine.cores import available
from judge.store.types import UploadStep
from judge.submissions.check import Grade
from judge.submissions.intake import IntakeLimits
from judge.submissions.pipeline import Stage, UploadJob, UploadOutcome, process_upload
from tests.examples import evidence, of_lanes
from tests.patience import PATIENCE_S
from tests.submissions.archives import Files, zipped
from tests.submissions.check import flawed
from tests.submissions.workplaces import Anywhere

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("tools")]

JUDGE = """
import sys
from pathlib import Path
from judge.record.policy import load_policy
from judge.submissions.intake import IntakeLimits
from judge.submissions.pipeline import UploadJob, process_upload
from tests.submissions.workplaces import Anywhere
job = UploadJob(Path(sys.argv[1]), "bot.zip", load_policy("qchess-2013"), Path(sys.argv[2]))
process_upload(job, limits=IntakeLimits(), workplace=Anywhere())
"""

POLICY = load_policy("qchess-2013")
"""Of a contest whose games are short."""
STARTER = IMAGES / "starter-qchess-cpp"

Send = Callable[..., UploadOutcome]


@pytest.fixture(scope="session", autouse=True)
def house() -> None:
    """The house agents, of which one sits opposite at the gate."""
    build_house_agents()


@pytest.fixture
def send(tmp_path: Path) -> Iterator[Send]:
    """Process an upload; nothing of it stays outside of `tmp_path/agents`."""

    def run(data: bytes, filename: str, **more: object) -> UploadOutcome:
        upload = tmp_path / "upload"
        upload.write_bytes(data)
        fields = {key: more.pop(key) for key in ("name", "author", "why_not_named") if key in more}
        job = UploadJob(upload, filename, more.pop("policy", POLICY), tmp_path / "agents", **fields)  # type: ignore[arg-type]
        return process_upload(job, **{"limits": IntakeLimits(), "workplace": Anywhere()} | more)  # type: ignore[arg-type]

    yield run
    assert [] == left_by(os.getpid())


def left_by(pid: int) -> list[str]:
    """The containers and directories of a judge, alive or dead."""
    with closing(docker.from_env()) as client:
        found = client.api.containers(all=True, filters={"label": "judge.owner"})
    mine = [c["Id"] for c in found if Owner.decode(c["Labels"]["judge.owner"]).pid == pid]
    return mine + [str(path) for path, owner in directories() if owner and owner.pid == pid]


class Host(Anywhere):
    """Cores for the upload, and a slot."""

    def __init__(self, aside: int, slot: int) -> None:
        self._aside, self._slot = (aside,), Slot((slot,))

    def aside(self) -> AbstractContextManager[tuple[int, ...]]:
        return nullcontext(self._aside)

    def slot(self) -> AbstractContextManager[Slot]:
        return nullcontext(self._slot)


def test_a_build_which_can_run_programs_of_its_author_is_made_in_a_slot(send: Send) -> None:
    cores = sorted(available())
    first, last = cores[0], cores[-1]
    makefile = b"all:\n\tgrep Cpus_allowed_list /proc/self/status\n\tfalse\n"
    outcome = send(zipped({"bot/Makefile": makefile}), "bot.zip", workplace=Host(first, last))

    assert "the build failed" in outcome.refusal
    assert f"Cpus_allowed_list:\t{last}".expandtabs() in outcome.log


def files_of(directory: Path) -> Files:
    return {f"bot/{path.name}": path.read_bytes() for path in directory.iterdir()}


def taken(outcome: UploadOutcome) -> Agent:
    """The agent that an upload has become."""
    assert "" == outcome.refusal, (outcome.log, outcome.report)
    assert outcome.agent
    return outcome.agent


def test_sources_become_an_agent_that_passed_the_gate(send: Send, tmp_path: Path) -> None:
    heard: list[UploadStep] = []
    files = dict(files_of(STARTER))
    for old, new in ((b'"starter-qchess-cpp"', b'"mine"'), (b"; to begin with", b"")):
        assert old in files["bot/agent.toml"]
        files["bot/agent.toml"] = files["bot/agent.toml"].replace(old, new)
    files["bot/Thumbs.db"] = b"x"

    outcome = send(zipped(files), "starter.zip", on_step=heard.append, author="Ann")

    agent = taken(outcome)
    assert list(Stage) == [step.stage for step in outcome.steps]
    assert heard == list(outcome.steps)
    assert all(step.ok for step in heard)
    assert "left out: " in outcome.steps[1].text
    assert outcome.report
    assert Grade.PASS is outcome.report.grade
    assert "g++ -std=c++17 -O2" in outcome.log
    assert ("mine", "Ann") == (agent.manifest.name, agent.manifest.author)
    assert tmp_path / "agents" / agent.digest == agent.program
    assert agent.program == AgentStore(tmp_path / "agents").get(agent.digest)
    assert images.find_runtime("native").id == outcome.runtime_image
    origin = outcome.origin
    assert images.find_runtime("toolchain").content == origin.toolchain
    assert 64 == len(origin.upload) == len(origin.unpacker) == len(origin.runtime)
    assert '"kind": "make"' in origin.recipe

    again = send(zipped(files), "starter.zip", name="other")

    assert ("other", agent.digest) == (taken(again).manifest.name, taken(again).digest)
    assert again.origin == replace(origin, filename=again.origin.filename)


def test_plain_program_is_an_agent(send: Send) -> None:
    policy = load_policy("gomocup-fastgame", ["game.options.width=15", "game.options.height=15"])
    program = (BUILD_DIRECTORY / "house-instant" / "house-instant").read_bytes()

    outcome = send(
        zipped({"pbrain-quick.exe": b"\x7fELF", "pbrain-quick64": program}),
        "quick.zip",
        policy=policy,
    )

    agent = taken(outcome)
    assert ("quick", "native") == (agent.manifest.name, agent.manifest.runtime)
    assert ("pbrain-quick.exe", "pbrain-quick64") == agent.executables
    assert "there is nothing to build" == outcome.steps[2].text


def test_one_file_is_enough(send: Send) -> None:
    source = (IMAGES / "starter-qchess-python" / "starter.py").read_bytes()

    outcome = send(source, "mine.py", name="theirs")

    agent = taken(outcome)
    assert "the syntax of Python was checked" == outcome.steps[2].text
    assert ("python3", "mine.py") == agent.manifest.command
    assert ("theirs", "mine") == (agent.manifest.name, agent.calls_itself(POLICY))


def test_name_that_is_taken_is_refused_before_the_check(send: Send) -> None:
    source = (IMAGES / "starter-qchess-python" / "starter.py").read_bytes()

    outcome = send(source, "mine.py", why_not_named=lambda name: f"another agent is called {name!r}")

    assert ("another agent is called 'mine'", Stage.STAGED) == (outcome.refusal, outcome.steps[-1].stage)


def test_missing_keys_of_a_source_manifest_follow_from_the_build(send: Send) -> None:
    """As the report of a refused build proposes it: a table with flags, and nothing else."""
    source = (IMAGES / "starter-qchess-java" / "Starter.java").read_text()
    source = source.replace("class Starter", "/* é */ class Starter", 1)
    files = {
        "latin/Starter.java": source.encode("latin-1"),
        "latin/agent.toml": b'author = "Ann"\n[build]\nflags = ["-encoding", "ISO-8859-1"]\n',
    }

    manifest = taken(send(zipped(files), "latin.zip")).manifest

    assert ("latin", "Ann", "java") == (manifest.name, manifest.author, manifest.runtime)
    assert ("java", "-cp", ".", "Starter") == manifest.command


NEEDS_LF = flawed.reading("(l.strip() for l in open(0, newline='\\n') if l != 'BEGIN\\r\\n')")
TOML = b'name = "own"\ncommand = ["python3", "x.py"]\nruntime = "python"\n[build]\nkind = "python"\nmain = "x.py"\n'


@pytest.mark.parametrize(
    ("data", "filename", "called"),
    [
        pytest.param(NEEDS_LF.encode(), "pbrain-x.py", "pbrain-x", marks=evidence),
        (zipped({"x.py": NEEDS_LF.encode(), "agent.toml": TOML}), "x.zip", "own"),
        (
            zipped({"\N{SLIGHTLY SMILING FACE}": f"#!/usr/bin/env python3\n{NEEDS_LF}".encode()}),
            "x.zip",
            "slight_smile",
        ),
    ],
    ids=["a file", "agent.toml", "an emoji"],
)
def test_agent_that_needs_lf_plays_with_lf(send: Send, data: bytes, filename: str, called: str) -> None:
    policy = load_policy("gomocup-fastgame", ["clock.start_ms=2500", "clock.turn_ms=1000"])

    outcome = send(data, filename, policy=policy, name="given")

    agent = taken(outcome)
    assert outcome.report
    ending = next(finding for finding in outcome.report.findings if finding.check == "line-ending")
    assert (Grade.WARNING, "lf") == (ending.grade, outcome.report.line_ending)
    assert ending.fix.startswith('none is needed: it takes part with line_ending = "lf"')
    assert outcome.report.digest == agent.digest == program_digest(agent.program)
    assert ("given", called) == (agent.manifest.name, agent.calls_itself(policy))
    assert {"line_ending": "lf"} == agent.seat(policy).protocol_options


def test_an_agent_that_hangs_is_refused_with_the_place(send: Send) -> None:
    """The policy would wait for it for two hours, and again for each of the next questions."""
    source = flawed.hearing("if command == 'SWAP2BOARD':\n    __import__('time').sleep(10000)")

    outcome = send(
        source.encode(),
        "sleeper.py",
        policy=load_policy("gomocup-swap2"),
        limits=IntakeLimits(check_s=8),
    )

    assert (Stage.CHECKED, False) == (outcome.steps[-1].stage, outcome.steps[-1].ok)
    assert (
        "its check took more than 8 s and was stopped in the check of opening; the last command that it was sent was "
        "'SWAP2BOARD'"
    ) == outcome.refusal
    assert outcome.agent


def test_refusal_of_an_agent_that_crashes_begins_with_its_exception(send: Send) -> None:
    outcome = send(b"[][0]\n", "crasher.py")

    what, error, *_ = outcome.refusal.split("; ")
    assert what == "failed checks: game-first, game-second (see the report)"
    assert error == "it failed with IndexError: list index out of range in crasher.py, line 1"


def test_slow_to_read_manifest_is_refused_at_once(send: Send) -> None:
    """A parser that needs time with the square of its input would be ended by the kernel first."""
    files = {"agent.toml": b".".join([b"a"] * 32_000) + b" = 1"}

    outcome = send(zipped(files), "bot.zip", limits=IntakeLimits(read_s=5))

    assert "line 1: a key has more than 10 parts" in outcome.refusal


REFUSED = {
    "name": (b"x", "bot.rar", Stage.UNPACKED, "archives are .zip"),
    "syntax": (b"def f(:\n", "bot.py", Stage.BUILT, "the build failed: SyntaxError: bot.py, line 1: "),
    "no-agent": (zipped({"notes": b"x", "b": b""}), "a.zip", Stage.STAGED, "agent.toml is missing"),
    "key": (
        zipped({"agent.toml": b'name = "a"\ncommand = ["./a"]\n[build]\nkind = "\\u001b[2Jperl"'}),
        "a.zip",
        Stage.BUILT,
        "agent.toml: build.kind: Input should be 'c', 'c++', 'clang', 'rust', 'java', 'python', 'make', 'cmake', ",
    ),
    "runtime": (
        zipped({"agent.toml": b'name = "a"\ncommand = ["./a"]\nruntime = "../x"', "a": b"#!"}),
        "a.zip",
        Stage.STAGED,
        "policy qchess-2013 admits native, python, java, python2; ask for one of these",
    ),
    "choice": (
        zipped({"a/info": b"x", "b/info": b"x"}),
        "agents.zip",
        Stage.UNPACKED,
        "there are the agents 'a', 'b': call the archive",
    ),
    "protocol": (
        zipped({"agent.toml": b'name = "a"\ncommand = ["./a"]\nprotocol = "agi"', "a": b"#!"}),
        "a.zip",
        Stage.CHECKED,
        "agi",
    ),
    "plays-badly": (b"print('hello')\n", "bot.py", Stage.CHECKED, "failed checks:"),
    "crafted": (b"\x7fELF" + bytes(200), "bot", Stage.CHECKED, "failed checks:"),  # H8
}
OF_FULL_LANE = ("name", "syntax", "no-agent", "crafted")
"""One of each stage."""


@pytest.mark.parametrize("case", of_lanes(REFUSED, OF_FULL_LANE))
def test_errors_are_reported_in_one_sentence(case: str, send: Send) -> None:
    data, filename, stage, why = REFUSED[case]

    outcome = send(data, filename)

    assert why in outcome.refusal
    assert (stage, False) == (outcome.steps[-1].stage, outcome.steps[-1].ok)
    assert outcome.refusal == outcome.steps[-1].text
    assert all(step.text.isprintable() for step in outcome.steps)
    assert DIRECTORY_PREFIX not in outcome.refusal
    assert (stage is Stage.CHECKED) == (outcome.agent is not None)


def test_an_upload_may_be_too_large_and_the_name_that_a_contest_gives_must_be_one(send: Send, tmp_path: Path) -> None:
    outcome = send(bytes(101), "bot", limits=IntakeLimits(upload_bytes=100))

    assert "it has 101 bytes; an upload may have 100" == outcome.refusal
    assert not (tmp_path / "agents").exists()
    assert "the name 'a b': A-Z, a-z, 0-9" in send(b"x", "bot", name="a b").refusal


def test_host_failure_does_not_blame_the_upload(send: Send, tmp_path: Path) -> None:
    upload = tmp_path / "upload"
    upload.write_bytes(zipped(files_of(STARTER)))
    alone = {**os.environ, "DOCKER_HOST": f"unix://{tmp_path}/nobody"}
    words = [sys.executable, "-c", JUDGE, str(upload), str(tmp_path / "agents")]
    done = subprocess.run(words, env=alone, capture_output=True, text=True, check=False)
    assert "judge.base.errors.NotReadyError" in done.stderr, "it is tried again without end"

    (tmp_path / "agents").write_text("no directory")
    with pytest.raises(HostError, match="agents"):
        send(b"print()", "bot.py")
    (tmp_path / "agents").unlink()
    assert send(b"print()", "bot.py").agent


def test_an_upload_waits_for_house_agents_that_are_not_built(
    send: Send, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agents, "BUILD_DIRECTORY", tmp_path / "nothing built")

    with pytest.raises(NotReadyError, match="run: judge images build"):
        send((IMAGES / "starter-qchess-python" / "starter.py").read_bytes(), "bot.py")


@pytest.mark.alone
def test_a_judge_that_is_killed_in_a_build_leaves_nothing_after_the_next_start(
    tmp_path: Path,
) -> None:
    upload = tmp_path / "upload"
    upload.write_bytes(zipped({"Makefile": b"all:\n\tsleep 1000\n", "a": b""}))
    judge = subprocess.Popen([sys.executable, "-c", JUDGE, upload, tmp_path / "agents"])
    try:
        deadline = time.monotonic() + PATIENCE_S
        while not is_building(judge.pid):
            assert judge.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
    finally:
        judge.send_signal(signal.SIGKILL)
        judge.wait()
    assert left_by(judge.pid)

    reap()

    assert [] == left_by(judge.pid)
    assert not (tmp_path / "agents").exists()


def is_building(pid: int) -> bool:
    """Whether a judge's box runs `sleep`."""
    with closing(docker.from_env()) as client:
        for container in client.containers.list(filters={"label": "judge.game=build"}, ignore_removed=True):
            owner = Owner.decode(container.labels["judge.owner"])
            if owner.pid == pid and owner.fate() is Fate.ALIVE:
                with suppress(docker.errors.APIError):
                    return any("sleep" in line[-1] for line in container.top()["Processes"])
    return False
