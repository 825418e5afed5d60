"""The commands of examples/compose/README.md: services in containers, the process that plays outside, what is killed
comes back, and a backup is restored.
"""

import http.client
import json
import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import pytest

from judge.base.resources import IMAGES
from judge.contest.plan import BroadcastPlan
from judge.contest.run_lock import player_of
from tests.cli.brains import packed_agent
from tests.examples import evidence
from tests.patience import until
from tests.site.browser import Browser
from tests.store.server import SERVERS
from tests.test_wheel import SOURCES
from tests.web.live.watching import free_port

pytestmark = [pytest.mark.docker, pytest.mark.long, evidence]

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples/compose"
USER = 23456
"""Who plays on the host and runs in the containers; not in /etc/passwd."""
PLAYER = "judge serve cup --only-play"
SYSTEM_PYTHON = "/usr/bin/python3"
"""Of the version that is in the containers, and readable for all users."""
PACKAGES = ("bash", "coreutils", "dash", "grep", "libc-bin", "python3", "python3-venv", "nginx-light", "curl")

IMAGE = """FROM {base}
LABEL {project}=
ENV PATH=/usr/local/bin:/usr/bin:/usr/sbin:{postgresql} LANG=C.UTF-8
RUN echo 'judge:x:{user}:{user}::/:/bin/sh' >>/etc/passwd \\
    && ln -sfn /run /var/run && mkdir -p /var/lib/postgresql/data && chmod 1777 /var/lib/postgresql/data
ENTRYPOINT ["entrypoint"]
"""

ENTRYPOINT = """#!/bin/bash
# What the image `postgres` promises of POSTGRES_USER, POSTGRES_PASSWORD_FILE, POSTGRES_INITDB_ARGS and PGDATA.
set -e
if [[ $1 == postgres && ! -s $PGDATA/PG_VERSION ]]; then
    mkdir -p "$PGDATA"
    initdb --username="$POSTGRES_USER" --pwfile="$POSTGRES_PASSWORD_FILE" $POSTGRES_INITDB_ARGS
    echo "CREATE DATABASE $POSTGRES_USER" | postgres --single -j postgres
fi
exec "$@"
"""


def run(*words: str, **options: Any) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return str(done.stdout)


def compose_command() -> str:
    for words in (["docker", "compose", "version"], ["docker-compose", "version"]):
        if shutil.which(words[0]) and not subprocess.run(words, capture_output=True, check=False).returncode:
            return " ".join(words[:-1])
    pytest.skip("docker compose is not here: apt-get install docker-compose")


@dataclass
class Services:
    """A copy of the example, whose commands its user types. `project` names all containers, volumes and images."""

    folder: Path
    project: str
    compose: str
    port: int = field(default_factory=free_port)
    environment: dict[str, str] = field(default_factory=dict)
    NAMES: ClassVar = ("database", "judge", "proxy")

    def __post_init__(self) -> None:
        image = f"{self.project}/services:1"
        self.environment = {
            "HOME": str(self.folder.parent / "home"),
            "PATH": f"{self.folder.parent}/venv/bin:{os.environ['PATH']}",
            "PGHOST": f"{self.folder}/run",
            "PGPASSFILE": f"{self.folder}/secrets/pgpass",
            "PGUSER": "judge",
            "COMPOSE_PROJECT_NAME": self.project,
            "JUDGE_IMAGE": f"{self.project}/judge:1",
            "PYTHON_IMAGE": image,
            "POSTGRESQL_IMAGE": image,
            "NGINX_IMAGE": image,
            "PIP_NO_INDEX": "1",
            "HTTPS_PORT": f"127.0.0.1:{self.port}",
        } | {key: os.environ[key] for key in ("DOCKER_HOST",) if key in os.environ}

    @property
    def url(self) -> str:
        return f"https://localhost:{self.port}/cup"

    @property
    def as_user(self) -> Mapping[str, Any]:
        """Options of subprocess: the user, in the group that may use the Engine."""
        socket = Path(os.environ.get("DOCKER_HOST", "").removeprefix("unix://") or "/var/run/docker.sock")
        who = {"user": USER, "group": USER, "extra_groups": [socket.stat().st_gid]}
        return who | {"cwd": self.folder, "env": self.environment}

    def type(self, commands: str) -> str:
        """What the commands print; each must succeed."""
        for old, new in {
            "docker compose": self.compose,
            "cp .../contest_judge-*.whl": f"cp {self.folder.parent}/wheels/*",
            ".../fullchain.pem": f"{self.folder.parent}/certificate.pem",
            ".../privkey.pem": f"{self.folder.parent}/certificate.key",
            "https://cup.example.org/cup": self.url,
            "--game gomoku": "--game gomoku --turn-ms 200 --match-ms 10000 --games 4 --agent house-instant",
        }.items():
            commands = commands.replace(old, new)
        return run("bash", "-euc", commands, **self.as_user, timeout=500)

    @contextmanager
    def playing(self) -> Iterator[None]:
        with (self.folder.parent / "player.log").open("w") as log:
            process = subprocess.Popen(PLAYER.split(), stderr=log, stdin=subprocess.DEVNULL, **self.as_user)
        try:
            yield
            assert process.poll() is None
        finally:
            process.terminate()
            process.wait(60)

    def inspected(self, name: str) -> Any:
        (container,) = self.left("ps", "--all", f"--filter=label=com.docker.compose.service={name}")
        return json.loads(run("docker", "inspect", container))[0]

    def left(self, *words: str) -> list[str]:
        """The ids of what the Engine has of the project."""
        label = f"--filter=label=com.docker.compose.project={self.project}"
        return run("docker", *words, "--quiet", label).split()

    def are_healthy(self) -> bool:
        return all(self.inspected(name)["State"].get("Health", {}).get("Status") == "healthy" for name in self.NAMES)

    def kill(self, name: str) -> None:
        """Kill the first process of a container, as the kernel does without memory."""
        before = self.inspected(name)
        os.kill(before["State"]["Pid"], signal.SIGKILL)
        until(lambda: self.inspected(name)["RestartCount"] > before["RestartCount"], f"{name} is not started again")

    @contextmanager
    def request(self, path: str) -> Iterator[http.client.HTTPResponse]:
        trusting = ssl.create_default_context(cafile=self.folder.parent / "certificate.pem")
        with closing(http.client.HTTPSConnection("localhost", self.port, timeout=60, context=trusting)) as connection:
            connection.request("GET", f"/cup/{path}")
            yield connection.getresponse()

    def page(self, path: str) -> tuple[int, str]:
        with self.request(path) as response:
            return response.status, response.read().decode(errors="replace")


@pytest.fixture
def services() -> Iterator[Services]:
    """The example with images that have the packages of this host; nothing of it is left."""
    if os.geteuid() != 0 or shutil.which("mmdebstrap") is None or not SERVERS:
        pytest.skip("needs root, mmdebstrap and PostgreSQL's programs, as ./scripts/test has them")
    compose = compose_command()
    place = Path(tempfile.mkdtemp(prefix="judge-compose-"))
    place.chmod(0o755)
    found = Services(place / "compose", f"judge-test-{os.getpid()}", compose)
    try:
        prepare(found, place)
        yield found
    finally:
        contest = found.folder / "cup/contest.toml"
        if contest.exists() and (player := player_of(contest.parent)) is not None:
            os.kill(int(player), signal.SIGKILL)
        subprocess.run([*compose.split(), "down", "--volumes"], **found.as_user, capture_output=True, check=False)
        for which in (f"label={found.project}", f"reference={found.project}/*"):  # newest first
            images = dict.fromkeys(run("docker", "image", "ls", "--quiet", f"--filter={which}").split())
            subprocess.run(["docker", "image", "rm", "--force", *images], capture_output=True, check=False)
        shutil.rmtree(place)


def prepare(services: Services, place: Path) -> None:
    """Wheels, an environment with them, a certificate, and an image that is Python, PostgreSQL and nginx."""
    shutil.copytree(EXAMPLE, services.folder)
    (services.folder / "authors.txt").write_text("Ada L.\n")
    (place / "home").mkdir()
    source, wheels = place / "source", place / "wheels"
    source.mkdir()
    for name in SOURCES:
        run("cp", "--recursive", "--no-target-directory", str(ROOT / name), str(source / name))
    run(*f"{sys.executable} -m pip wheel -q --no-index --no-deps --no-build-isolation -w {wheels} {source}".split())
    (wheel,) = wheels.iterdir()
    python = f"{place}/venv/bin/python"
    run(SYSTEM_PYTHON, "-m", "venv", str(place / "venv"))
    constraints = f"--constraint={ROOT}/constraints.txt"
    needed = f"{wheel}[web,postgresql]"
    run(python, "-m", "pip", "download", "-q", "--only-binary=:all:", constraints, f"--dest={wheels}", needed)
    run(python, "-m", "pip", "install", "-q", "--no-index", f"--find-links={wheels}", needed)
    key = f"req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout {place}/certificate.key"
    names = f"-days 1 -subj /CN=localhost -addext subjectAltName=DNS:localhost -out {place}/certificate.pem"
    run("openssl", *key.split(), *names.split())
    for path in (place, *place.iterdir(), *services.folder.rglob("*")):
        os.chown(path, USER, USER)

    base, server, added = f"{services.project}/base:1", SERVERS[-1].parent, place / "added/usr/local/bin"
    added.mkdir(parents=True)
    (added / "entrypoint").write_text(ENTRYPOINT)
    (added / "entrypoint").chmod(0o755)
    packages = (*PACKAGES, f"postgresql-{server.parent.name}")
    environment = os.environ | {"JUDGE_ADDED": str(place / "added")}
    run(str(IMAGES / "rootfs.sh"), "build", f"{place}/base.tar", *packages, env=environment)
    run("docker", "import", f"{place}/base.tar", base)
    dockerfile = IMAGE.format(base=base, postgresql=server, user=USER, project=services.project)
    run("docker", "build", "--tag", services.environment["NGINX_IMAGE"], "-", input=dockerfile)


@pytest.mark.timeout(1800)  # builds images, and plays twice
def test_contest_in_containers_survives_kills_and_is_restored(services: Services, browser: Browser) -> None:
    page = (EXAMPLE / "README.md").read_text()
    set_up, back_up, restore = re.findall(r"^```console\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    folder = services.folder
    browser.trust_any_certificate()

    services.type("judge images build keeper")
    services.type(set_up.removesuffix(f"{PLAYER}\n"))
    until(services.are_healthy, "a service is not healthy")
    check_restrictions(services)
    links = dict(re.findall(r"(.+): (http\S+)", (folder / "cup/links.txt").read_text()))
    with services.playing():
        browser.visit(links["Ada L."])
        browser.wait_for("document.getElementById('upload')?.hidden === false")
        browser.choose("file", packed_agent(folder.parent))
        browser.ask("document.querySelector('#upload button').click()")
        browser.wait_for("document.getElementById('state')?.textContent === 'passed'")
        browser.visit(links["organiser"])
        browser.wait_for("document.body.innerText.includes('Signed in as organiser')")
        browser.leave()
        plan = folder / "cup/contest.toml"
        now = datetime.now(UTC).isoformat()
        plan.write_text(re.sub(r"(?m)^(closes|starts) = .*$", rf"\1 = {now}", plan.read_text()))
        for name in ("judge", "database"):
            until(lambda: is_playing(services), "no game is played")
            services.kill(name)
        until(services.are_healthy, "a service does not come back")
        until(lambda: is_exported(services), "there is no export")
        assert 200 == services.page("export.tar.gz")[0]
        browser.visit(f"{services.url}/live.html")
        browser.wait_for("document.body.innerText.includes('First place')")
        browser.leave()
        check_limit_of_streams(services)
    assert "ok: cup, 4 games replayed" in services.type("judge contest verify cup")

    services.type(back_up)
    services.type("docker compose down --volumes")
    assert [] == [*services.left("ps", "--all"), *services.left("volume", "ls"), *services.left("network", "ls")]
    (folder / "cup").rename(folder / "former")
    services.type(restore.removesuffix(f"{PLAYER}\n"))
    until(services.are_healthy, "a restored service is not healthy")
    assert "First place" in services.page("live.html")[1]
    with services.playing():
        until(lambda: is_exported(services), "there is no export of the restored contest")
        assert 200 == services.page("export.tar.gz")[0]
    assert "ok: cup, 4 games replayed" in services.type("judge contest verify cup")


def is_playing(services: Services) -> bool:
    state = json.loads(services.type("judge contest status cup --json"))
    return bool(state.get("games", {}).get("running"))


def is_exported(services: Services) -> bool:
    return '"event": "exported"' in (services.folder.parent / "player.log").read_text()


def check_restrictions(services: Services) -> None:
    """By the Engine, and by the kernel for a new process and the first one."""
    for name in services.NAMES:
        container = services.inspected(name)
        options = container["HostConfig"]
        status = run("docker", "exec", container["Id"], "cat", "/proc/1/status")
        kernel = dict(line.split(":\t", 1) for line in status.splitlines())
        assert (f"{USER}\t" * 4).strip() == kernel["Uid"]
        assert ("0" * 16, "1") == (kernel["CapBnd"], kernel["NoNewPrivs"])
        assert options["ReadonlyRootfs"]
        assert min(options["Memory"], options["PidsLimit"]) > 0
        assert (name == "proxy") == any(options["PortBindings"].values())
        assert not any("docker" in mount["Source"] for mount in container["Mounts"] if mount["Type"] == "bind")
        assert "unless-stopped" == options["RestartPolicy"]["Name"]


def check_limit_of_streams(services: Services) -> None:
    """One address has a number of streams; a client with another address is served."""
    allowed = BroadcastPlan().connections_per_address
    with ExitStack() as stack:
        streams = [stack.enter_context(services.request("events?since=0")) for _ in range(2 * allowed + 10)]
        assert [200] * allowed + [429] * (allowed + 10) == [each.status for each in streams]
        ask = "from urllib.request import *; import ssl; print(urlopen('https://proxy/cup/health/live', None, 30, "
        script = f"{ask}context=ssl._create_unverified_context()).status)"
        judge = services.inspected("judge")["Id"]
        assert "200\n" == run("docker", "exec", judge, "python3", "-c", script)
