"""Commands of a real user without root, who is in the group of the Engine's socket.

The user has its own copy of the code, and an interpreter that everybody may read.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from judge.base.resources import BUILD_DIRECTORY, IMAGES
from judge.host.build_images import build_images
from judge.host.house_agents import build_house_agents
from judge.sandbox.docker.requirements import ENGINE_FREEZES
from tests.cli.conftest import QUICK, Ran
from tests.examples import evidence
from tests.sandbox.conftest import NOBODY, SOCKET

ROOT = IMAGES.parent
POLICY = ("--policy", "gomocup-freestyle", *QUICK)
HELD = "A1,A9,B1,B3,B10,C1,C4,D1.kept,D5,D9,E1,F1,G1,I2,K1,O1"
"""Attacks on each promise that do not need an idle host."""

pytestmark = [
    pytest.mark.docker,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user"),
]


def interpreter() -> Path:
    """A Python of this version that every user may run."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for python in (Path(sys.executable).resolve(), Path("/usr/bin", version)):
        if python.exists() and all(folder.stat().st_mode & 0o001 for folder in python.parents):
            return python
    pytest.skip(f"other users may read no {version} of this host")


@dataclass(frozen=True)
class Member:
    """A user in the Engine's group, with a home."""

    home: Path
    python: Path

    def start(self, *words: str, **streams: Any) -> subprocess.Popen[str]:
        """Start `judge WORDS...` in its home."""
        libraries = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
        environment = {
            "HOME": str(self.home),
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": os.pathsep.join([str(self.home / "code"), *libraries]),
            "COLUMNS": "200",
        }
        return subprocess.Popen(
            [self.python, "-P", "-m", "judge.cli", *words],
            cwd=self.home,
            env=environment,
            user=NOBODY,
            group=NOBODY,
            extra_groups=[SOCKET.stat().st_gid],
            text=True,
            **streams,
        )

    def run(self, *words: str) -> Ran:
        """Run `judge WORDS...` to its end, which must be a good one."""
        with self.start(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            out, err = process.communicate()
        assert process.returncode == 0, out + err
        return Ran(process.returncode, out, err)


@pytest.fixture(scope="module")
def member() -> Iterator[Member]:
    """The user, with the images and house agents of this checkout."""
    python = interpreter()
    build_images(["native", "python", "keeper"])
    home = Path(tempfile.mkdtemp(prefix="judge-test-"))
    home.chmod(0o755)
    for name in ("judge", "images", "policies"):
        shutil.copytree(ROOT / name, home / "code" / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for agent in build_house_agents().values():
        shutil.copytree(agent, home / "code" / ".build" / agent.name)
        shutil.copy(BUILD_DIRECTORY / f"{agent.name}.stamp", home / "code" / ".build")
    for folder, _, names in os.walk(home):
        for path in (Path(folder), *(Path(folder, name) for name in names)):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    yield Member(home, python)
    shutil.rmtree(home)


def test_a_game_without_root_verifies_and_names_its_freezer(member: Member) -> None:
    assert ENGINE_FREEZES in member.run("match", "house-instant", "house-python", *POLICY, "--quiet").err
    (path,) = (member.home / "records").glob("*.json")
    placement = json.loads(path.read_text())["record"]["placement"]
    assert "engine" == placement["freezer"]
    assert placement["thaw_ms"] > 0
    assert ": ok: win" in member.run("verify", str(path)).out


@evidence
def test_without_root_an_agent_is_checked_and_a_contest_is_played_published_and_served(member: Member) -> None:
    assert " passed" in member.run("check", "house-python", *POLICY).out
    member.run("contest", "init", "cup", *POLICY, *("--agent", "house-instant", "--agent", "house-python"))
    member.run("contest", "key", "cup/organiser.key")
    assert ENGINE_FREEZES in member.run("contest", "run", "cup").err
    member.run("contest", "export", "published", "cup")
    assert "2 games replayed" in member.run("contest", "verify", "published", "--key", "cup/organiser.pem").out

    with member.start("serve", "cup", "--read-only", "--listen", "127.0.0.1:0", stderr=subprocess.PIPE) as service:
        assert service.stderr
        address = next(line.split("http://")[1].split()[0] for line in service.stderr if "http://127" in line)
        with urllib.request.urlopen(f"http://{address.rstrip('/')}/live.html") as page:
            assert page.status == 200
        service.send_signal(signal.SIGTERM)
        service.stderr.read()


@evidence
def test_without_root_defences_hold(member: Member) -> None:
    document = json.loads(member.run("selftest", "--only", HELD, "--json").out)
    assert [] == [attack["id"] for attack in document["attacks"] if not attack["held"]]
