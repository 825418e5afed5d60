"""The whole way, with the real gate: an archive goes in over a socket, an agent that may play comes out."""

import io
import os
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from judge.base.procfs import children_of
from judge.base.resources import BUILD_DIRECTORY
from judge.base.scheduling import SERVICE_NICENESS
from judge.host.house_agents import build_house_agents
from judge.submissions.check import CheckReport, Grade
from judge.submissions.service import IntakeDirectory, agent_of
from tests.cli.brains import write_brain
from tests.forked import ForkedProcess
from tests.web.intake.conftest import POLL_INTERVAL_S, Service, ended, make_contest, make_token, send

pytestmark = pytest.mark.docker


@contextmanager
def served(desk: IntakeDirectory, *command: str) -> Iterator[Service]:
    """A command that serves, as an organiser types it."""
    log = desk.folder / "intake.log"
    with log.open("w") as stderr:
        process = ForkedProcess(
            [sys.executable, "-m", "judge.cli", *command, "--listen", "127.0.0.1:0"],
            stderr=stderr,
            text=True,
        )
    try:
        yield Service(process, port_of(process, log), log)
    finally:
        process.terminate()
        assert 143 == process.wait()


def port_of(process: subprocess.Popen[str], log: Path) -> int:
    """The port that it says it listens on; it may first say what it removed of judges that other tests killed."""

    def said() -> list[str]:
        return [line for line in log.read_text().splitlines() if "removed what an earlier judge left" not in line]

    while len(lines := said()) < 2:
        assert process.poll() is None, lines
        time.sleep(POLL_INTERVAL_S)
    assert "cup on http://127.0.0.1:" in lines[0]
    assert "a reverse proxy with TLS in front" in lines[1]
    return int(lines[0].rpartition(":")[2])


def packed(folder: Path) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        archive.add(folder, ".")
    return buffer.getvalue()


def test_the_intake_is_served_alone(tmp_path: Path) -> None:
    desk = make_contest(tmp_path / "cup")
    with served(desk, "serve", str(desk.folder), "--intake-only") as service, service.client() as stranger:
        assert "cup" == stranger.get("/contest").json()["name"]
        assert 404 == stranger.get("/live.html").status_code


def test_archive_becomes_an_agent_or_reports_why_not(tmp_path: Path) -> None:
    build_house_agents()
    desk = make_contest(tmp_path / "cup")
    brain = write_brain(tmp_path, "refuser", start="ERROR I have no board")
    with served(desk, "serve", str(desk.folder)) as service, service.client(make_token(desk, "ada")) as ada:
        good = send(ada, packed(BUILD_DIRECTORY / "house-python"), "mine.tar.gz", name="mine")
        bad = send(ada, Path(brain).read_bytes(), "refuser.py")
        found = ended(ada, good)
        assert ("passed", "mine", 1) == (found["state"], found["name"], found["version"])
        assert ["received", "unpacked", "built", "staged", "checked"] == [step["stage"] for step in found["steps"]]
        assert "refused" == ended(ada, bad)["state"]
        # Requests wait for games; the clocks of a check do not.
        nice = partial(os.getpriority, os.PRIO_PROCESS)
        checkers = [pid for server in children_of(service.process.pid) for pid in children_of(server)]
        assert SERVICE_NICENESS == nice(service.process.pid)
        assert nice(0) == min(map(nice, checkers))
        report = CheckReport.model_validate(ada.get(f"/submissions/{bad}/report").json())
    assert Grade.FAIL is report.grade
    assert "I have no board" in report.findings[0].evidence
    register = desk.register()
    (entry,) = register.entries()
    register.close()
    agent = agent_of(desk, entry)
    assert ("mine", "ada") == (agent.manifest.name, agent.manifest.author)
    assert "house-python" == agent.calls_itself(desk.policy)
    assert (agent.program / "house-python.py").is_file()
    assert agent.program.parent == desk.agents
