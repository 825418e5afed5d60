"""Boxes of every kind on this host, and an agent that does what it is told."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import docker
import pytest

from judge.host.build_images import build_images
from judge.sandbox.box import BoxKind, BoxPolicy, Limits, Tenant
from judge.sandbox.docker import requirements
from judge.sandbox.machine import cgroup
from judge.sandbox.open_box import open_box
from judge.sandbox.static_builds import GCC_FLAGS, compile_on_host
from tests import examples
from tests.sandbox.guest import Guest

NOBODY = 65534
BARE_FLAGS = (*GCC_FLAGS, "-nostdlib", "-ffreestanding", "-fno-stack-protector")
SOCKET = Path("/var/run/docker.sock")

Lodge = Callable[..., Guest]


@dataclass(frozen=True)
class Variant:
    """One way to have a box."""

    name: str
    kind: BoxKind = "docker"
    transport: str = "auto"
    as_group_member: bool = False
    """Without root, as a member of the group that may use the Engine."""
    as_stranger: bool = False
    """As where the Engine is on another machine: nothing of the kernel's is to be found."""

    @property
    def marks(self) -> list[pytest.MarkDecorator]:
        return [pytest.mark.docker] if self.kind == "docker" else []


PIPES = Variant("docker-pipes")
ATTACH = Variant("docker-attach", transport="attach")
GROUP = Variant("docker-group", as_group_member=True)
REMOTE = Variant("docker-remote", as_stranger=True)
PROCESS = Variant("process", kind="process")


def of(*variants: Variant, evidence: Collection[Variant] = ()) -> pytest.MarkDecorator:
    """Run a test in these kinds of box, and in some more for the evidence, where the judge does the same in both."""
    each = [pytest.param(one, id=one.name, marks=one.marks) for one in variants]
    each += [pytest.param(one, id=one.name, marks=[*one.marks, examples.evidence]) for one in evidence]
    return pytest.mark.parametrize("variant", each, indirect=True)


@pytest.fixture(scope="session")
def program() -> Iterator[Path]:
    """A staged program that every user may read: the agents of this directory, compiled."""
    staged = Path(tempfile.mkdtemp(prefix="judge-test-"))
    staged.chmod(0o755)
    agents = Path(__file__).parent / "agents"
    for source in agents.glob("*.c"):
        compile_on_host([source], staged / source.stem)
    for folder, flags in (("bare", BARE_FLAGS), ("bare32", (*BARE_FLAGS, "-m32"))):
        for source in (agents / folder).glob("*.c"):
            subprocess.run(["gcc", *flags, "-o", staged / source.stem, source], check=True)
    for file in staged.iterdir():
        file.chmod(0o755)
    (staged / "notes.txt").write_text("no program\n", encoding="ascii")
    (staged / "garbage").write_bytes(b"\x7fELF garbage")
    (staged / "garbage").chmod(0o755)
    yield staged
    shutil.rmtree(staged)


@pytest.fixture(scope="session")
def native() -> None:
    """The images of the runtime `native` and of a keeper of folders."""
    build_images(["native", "keeper"])


@pytest.fixture
def variant(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Variant]:
    """The kind of box of this test, and the circumstances that it is for."""
    chosen: Variant = getattr(request, "param", PIPES)
    if chosen.kind == "docker":
        request.getfixturevalue("native")
    if chosen.as_stranger:
        monkeypatch.setattr(cgroup, "find_cgroups", lambda pid, container: None)
        monkeypatch.setattr(requirements, "host_obstacle", lambda *_: "they share no kernel")
    with without_root() if chosen.as_group_member else nullcontext():
        yield chosen


@contextmanager
def without_root() -> Iterator[None]:
    """Be a user without rights who may use the Engine, where this is root."""
    if os.geteuid() != 0:
        yield
        return
    group, groups = os.getegid(), os.getgroups()
    os.setgroups([SOCKET.stat().st_gid])
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(group)
        os.setgroups(groups)


@pytest.fixture
def lodge(variant: Variant, program: Path) -> Iterator[Lodge]:
    """Make boxes of the test's kind; all are closed at its end. `fields` are those of a tenant."""
    guests: list[Guest] = []

    def make(
        *command: str,
        limits: Limits | None = None,
        policy: BoxPolicy | None = None,
        staged: Path = program,
        **fields: Any,
    ) -> Guest:
        usual = Tenant("puppet", staged, command or ("puppet",), "native", 0, "test")
        chosen = policy or BoxPolicy()
        if variant.transport != "auto":
            chosen = chosen.model_copy(update={"transport": variant.transport})
        box = open_box(variant.kind, replace(usual, **fields), limits or Limits(), chosen)
        guests.append(Guest(box, staged))
        return guests[-1]

    yield make
    for guest in guests:
        guest.close()


@pytest.fixture
def guest(lodge: Lodge) -> Guest:
    return lodge("puppet").move_in()


@pytest.fixture
def outsider() -> Iterator[docker.DockerClient]:
    """Somebody else who may use the Engine."""
    with closing(docker.from_env()) as client:
        yield client
