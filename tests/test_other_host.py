"""A host without a package manager, a compiler and root: an installed wheel plays, publishes and verifies a contest.

The host is a root file system of Debian's files. It has an Engine with a base image and no registry.
"""

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from judge.base.owner import remove_directory
from judge.host.build_ways import PackagesWay, host_codename
from judge.sandbox.runtimes import ImageRecipe
from tests.examples import evidence
from tests.host.test_image_ways import build_arguments, engine_with_base
from tests.private_engine import PrivateEngine
from tests.test_wheel import LOCAL, ROOT, copy_sources, run_program

USER = 4321
PACKAGES = ("base-files", "bash", "coreutils", "dash", "libc-bin", "libstdc++6", "python3-venv")
"""numpy's wheel needs the C++ library."""
MISSING = ("apt-get", "cc", "dpkg", "gcc", "mmdebstrap")
PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
"""The index is that of the host's configuration."""
RELEASE = 'ID=other\nID_LIKE="fedora"\nPRETTY_NAME="Another distribution"\n'

pytestmark = [pytest.mark.docker, pytest.mark.long, pytest.mark.timeout(1800), evidence]


@dataclass(frozen=True)
class OtherHost:
    """Its root file system, a folder that it shares with the Engine under the same path, and the Engine."""

    root: Path
    shared: Path
    engine: PrivateEngine
    wheels: Path

    def run(self, script: str) -> str:
        """What a script of the user prints, in the user's home. It must end well."""
        socket = Path(self.engine.host.removeprefix("unix://"))
        variables = {
            "HOME": "/home/guest",
            "USER": "guest",
            "PATH": "/usr/bin:/bin",
            "TMPDIR": str(self.shared),
            "DOCKER_HOST": "unix:///run/docker.sock",
            "JUDGE_IMAGES_BUILD_ARGS": build_arguments(),
        }
        binds = {"/proc": "proc", "/sys": "sys", "/dev": "dev", self.shared: f"./{self.shared}"}
        binds |= {self.wheels: "wheels", socket: "run/docker.sock"}
        mounts = [shlex.join(["mount", "--rbind", str(source), target]) for source, target in binds.items()]
        ids = (f"--userspec={USER}:{USER}", f"--groups={socket.stat().st_gid}")
        words = [f"{name}={value}" for name, value in variables.items()]
        inside = shlex.join(["chroot", *ids, ".", "/usr/bin/env", "-i", *words, "/bin/sh", "-ec", f"cd; {script}"])
        lines = "\n".join([*mounts, f"exec {inside}"])
        return run_program("unshare", "--mount", "--propagation", "private", "sh", "-ec", lines, cwd=self.root)


@pytest.fixture
def other_host(tmp_path: Path) -> Iterator[OtherHost]:
    """The host, with a folder of wheels."""
    base, shared = tmp_path / "base", Path(tempfile.mkdtemp(prefix="judge-test-"))
    base.mkdir()
    with engine_with_base(base) as engine:
        host = OtherHost(tmp_path / "root", shared, engine, tmp_path / "wheels")
        _make_root(host, tmp_path / "system")
        copy_sources(tmp_path / "source")
        subprocess.run([*PIP, "wheel", *LOCAL, "--wheel-dir", host.wheels, tmp_path / "source"], check=True)
        (wheel,) = host.wheels.iterdir()
        download = ("download", "--only-binary", ":all:", "--constraint", ROOT / "constraints.txt")
        subprocess.run([*PIP, *download, "--dest", host.wheels, wheel], check=True)
        Path(engine.host.removeprefix("unix://")).parent.chmod(0o755)
        yield host
    remove_directory(shared)


def _make_root(host: OtherHost, scratch: Path) -> None:
    scratch.mkdir()
    recipe = ImageRecipe(name="other", packages=PACKAGES, runs_agents=False)
    with closing(host.engine.client()) as client:
        tar = PackagesWay(host_codename()).make(client, recipe, scratch)
    host.root.mkdir()
    subprocess.run(["tar", "--extract", "--file", tar, "--directory", host.root], check=True)
    for program in host.root.glob("usr/bin/dpkg*"):
        program.unlink()
    assert [] == [name for name in MISSING if (host.root / "usr/bin" / name).exists()]
    home, release = host.root / "home/guest", host.root / "etc/os-release"
    for folder in ("home/guest", f"./{host.shared}", "proc", "sys", "dev", "wheels"):
        (host.root / folder).mkdir(parents=True, exist_ok=True)
    (host.root / "run/docker.sock").touch()
    release.unlink(missing_ok=True)
    release.write_text(RELEASE, encoding="ascii")
    os.chown(home, USER, USER)
    host.shared.chmod(0o1777)


def test_a_wheel_plays_publishes_and_verifies_a_contest(other_host: OtherHost) -> None:
    pip = "env/bin/pip install --quiet --no-index --find-links /wheels"

    output = other_host.run(
        f"python3 -m venv env; {pip} /wheels/contest_judge-*.whl; mkdir empty; cd empty; ../env/bin/judge quickstart"
    )

    assert "images are built from the base image" in output
    assert "way engine" in output
    assert "quickstart/published: ok: quickstart, 6 games replayed, schedule and tables computed again" in output
    assert "Look at it: /home/guest/empty/quickstart/published/index.html" in output
    assert (other_host.root / "home/guest/empty/quickstart/published/index.html").is_file()
