"""A guest: systemd as PID 1 over this host's files, in its own namespaces. It changes nothing of the host."""

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.patience import until

ROOT = Path(__file__).resolve().parents[3]
SYSTEMD = Path("/lib/systemd/systemd")

CONTROLLERS = ("systemd", "cpu", "cpuacct", "cpuset", "memory", "pids", "devices", "freezer", "blkio")

BOOT = Path(__file__).with_name("boot_guest.sh")


class Guest:
    """A running guest. `init` is its PID 1, as this host numbers it."""

    def __init__(self, init: int) -> None:
        self._enter = ("nsenter", "-t", str(init), "-a", "-r", "env", "-C", "/srv/judge")

    def run(self, *command: str, text: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run([*self._enter, *command], input=text, capture_output=True, text=True, check=False)

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([*self._enter, *command])

    def write(self, path: str, text: str) -> None:
        """Write a file below /srv/judge, for the user judge."""
        done = self.run("sh", "-c", f"mkdir -p $(dirname {path}) && cat > {path} && chown -R judge: .", text=text)
        assert 0 == done.returncode, done.stderr

    def state(self, unit: str, *keys: str) -> list[str]:
        return [self.run("systemctl", "show", unit, "--value", "-p", key).stdout.strip() for key in keys]

    def control(self, verb: str, unit: str) -> None:
        done = self.run("systemctl", verb, unit)
        assert 0 == done.returncode, done.stderr + self.journal(unit)

    def journal(self, unit: str) -> str:
        return self.run("journalctl", "--no-pager", "-o", "cat", "-u", unit).stdout

    def answers(self, url: str) -> bool:
        program = f"import urllib.request as r; r.urlopen({url!r}, timeout=5).read()"
        return 0 == self.run("python3", "-c", program).returncode


@contextmanager
def booted(folder: Path) -> Iterator[Guest]:
    """Boot a guest, and end it with all its processes. Skips the test where this is not possible."""
    for program in ("unshare", "nsenter", "ip"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not here")
    if not SYSTEMD.exists():
        pytest.skip(f"{SYSTEMD} is not here")
    if os.geteuid() != 0:
        pytest.skip("a guest needs root")
    groups = [Path("/sys/fs/cgroup", each, f"judge-guest-{os.getpid()}") for each in _hierarchies()]
    log = folder / "guest.log"
    (folder / "guest").mkdir()
    try:
        for group in groups:
            group.mkdir()
            _let_use_processors(group)
    except OSError as error:
        for group in filter(Path.exists, groups):
            group.rmdir()
        pytest.skip(f"no cgroup for a guest: {error}")
    words = [folder / "guest", ROOT, sys.base_prefix, sysconfig.get_path("purelib"), " ".join(CONTROLLERS)]
    namespaces = ["--pid", "--mount", "--uts", "--ipc", "--cgroup", "--net", "--fork", "--kill-child"]
    command = ["unshare", *namespaces, "bash", str(BOOT), *map(str, words)]

    def enter() -> None:
        for group in groups:
            (group / "cgroup.procs").write_text("0")

    try:
        with log.open("wb") as out:
            outer = subprocess.Popen(command, stdout=out, stderr=out, preexec_fn=enter)
        try:
            yield _ready(outer, log)
        finally:
            outer.kill()
            outer.wait()
    finally:
        for group in groups:
            until(lambda group=group: _is_removed(group), f"{group} has processes")  # type: ignore[misc]


def _ready(outer: subprocess.Popen[bytes], log: Path) -> Guest:
    children = Path(f"/proc/{outer.pid}/task/{outer.pid}/children")

    def init() -> int:
        found = children.read_text().split() if children.exists() else []
        return int(found[0]) if found and Path(f"/proc/{found[0]}/comm").read_text() == "systemd\n" else 0

    def is_up() -> bool:
        if outer.poll() is not None:
            pytest.skip(f"a guest does not boot here: {log.read_text()[-300:]}")
        return bool(init()) and Guest(init()).run("systemctl", "is-active", "--quiet", "guest.target").returncode == 0

    until(is_up, "the guest does not boot")
    return Guest(init())


def _hierarchies() -> list[str]:
    root = Path("/sys/fs/cgroup")
    if (root / "cgroup.controllers").exists():
        return [""]
    return [each for each in CONTROLLERS if (root / each).is_dir()]


def _let_use_processors(group: Path) -> None:
    """A new group of `cpuset` in version 1 has no processors."""
    for name in ("cpuset.cpus", "cpuset.mems"):
        if (group / name).exists() and not (group / name).read_text().strip():
            (group / name).write_text((group.parent / name).read_text())


def _is_removed(group: Path) -> bool:
    for path in sorted(group.glob("**/"), reverse=True):
        try:
            for pid in (path / "cgroup.procs").read_text().split():
                os.kill(int(pid), signal.SIGKILL)
            path.rmdir()
        except (OSError, ValueError):
            pass
    return not group.exists()
