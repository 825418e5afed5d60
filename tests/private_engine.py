"""An Engine of a test's own."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import docker
import pytest

from judge.base.procfs import started_ticks
from tests.patience import PATIENCE_S


class PrivateEngine:
    """An Engine that nobody else uses, to be stopped and killed: all that it has is in one directory."""

    IMAGES = ("judge/python:1", "judge/native:1", "judge/keeper:1")

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._daemon: subprocess.Popen[bytes] | None = None
        self.host = f"unix://{directory / 'socket'}"

    def start(self) -> None:
        """Start it, and return when it answers."""
        places = {"--data-root": "data", "--exec-root": "exec", "--pidfile": "pid"}
        words = [word for key, name in places.items() for word in (key, self._directory / name)]
        networks = ("iptables", "ip6tables", "ip-forward", "ip-masq")
        options = ["--bridge", "none", *(f"--{name}=false" for name in networks)]
        with (self._directory / "log").open("ab") as log:
            self._daemon = subprocess.Popen(
                ["dockerd", "--host", self.host, *words, *options], stdout=log, stderr=log, start_new_session=True
            )
        deadline = time.monotonic() + PATIENCE_S
        while not self.answers():
            if self._daemon.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"no Engine: {(self._directory / 'log').read_text()[-2000:]}")

    def answers(self) -> bool:
        with suppress(OSError), closing(socket.socket(socket.AF_UNIX)) as door:
            door.connect(str(self._directory / "socket"))
            with closing(self.client()) as client:
                return bool(client.ping())
        return False

    def client(self) -> docker.DockerClient:
        return docker.DockerClient(base_url=self.host, version="1.41", timeout=120)

    def load(self) -> None:
        with closing(docker.from_env()) as usual, closing(self.client()) as client:
            for tag in self.IMAGES:
                client.images.load(b"".join(usual.images.get(tag).save(named=True)))

    def end(self, by: signal.Signals) -> None:
        """End the daemon, and return when it and its containerd have ended."""
        assert self._daemon
        pid_file = self._directory / "exec" / "containerd" / "containerd.pid"
        containerd = int(pid_file.read_text())
        self._daemon.send_signal(by)
        self._daemon.wait(PATIENCE_S)
        while started_ticks(containerd) is not None:  # it ends with the daemon, a little later
            time.sleep(0.01)
        # where nobody reaps it, a new daemon would take it for alive
        pid_file.unlink(missing_ok=True)

    def remove(self) -> None:
        """End everything of it and give its room back."""
        if self._daemon and self._daemon.poll() is None:
            self.end(signal.SIGTERM)
        for process in self._shims():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        mounts = [line.split(" ")[4] for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()]
        for mount in reversed(mounts):
            if mount.startswith(f"{self._directory}/"):
                subprocess.run(["umount", "--lazy", mount], check=False)
        shutil.rmtree(self._directory, ignore_errors=True)

    def _shims(self) -> list[int]:
        """What a killed daemon left running: its helpers have its directory among their words."""
        mine = str(self._directory).encode()
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if mine in (path / "cmdline").read_bytes() and int(path.name) != os.getpid():
                    found.append(int(path.name))
        return found


@contextmanager
def private_engine() -> Iterator[PrivateEngine]:
    """One that runs, and has nothing."""
    if os.geteuid() != 0 or not shutil.which("dockerd"):
        pytest.skip("only root can start an Engine of its own")
    private = PrivateEngine(Path(tempfile.mkdtemp(prefix="judge-test-engine-")))
    try:
        private.start()
        yield private
    finally:
        private.remove()
