"""Targets on the host: a file, listeners, bystanders, a killed judge; and what games leave there.

`python -m judge.attacks.scenes` makes a box, reports it, and waits to be killed.
"""

import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from threading import Event

from judge.attacks.attack import HarmError, Scene
from judge.attacks.programs import NAMES, build_attacks
from judge.base.errors import HostError
from judge.base.owner import Owner, directories
from judge.sandbox.box import Box, BoxPolicy, Channel, Limits, Tenant
from judge.sandbox.docker.engine import Engine
from judge.sandbox.docker.reaper import reap
from judge.sandbox.docker.renewal import KeptContainer
from judge.sandbox.machine.cgroup import parse_mounts
from judge.sandbox.machine.users import claim_user
from judge.sandbox.open_box import open_box

PATIENCE_S = 60.0

HOARD = ("processes", "hoard")

CANARY_TEXT = "what only the host should know\n"


@contextmanager
def canary(directory: Path) -> Iterator[Mapping[str, str]]:
    """A world-writable host file: `{canary}`, in `{directory}`."""
    directory.chmod(0o777)
    file = directory / "canary"
    file.write_text(CANARY_TEXT, encoding="ascii")
    file.chmod(0o666)
    yield {"canary": str(file), "directory": str(directory)}
    if file.is_symlink() or file.read_text(encoding="ascii") != CANARY_TEXT:
        raise HarmError("a host file was written")
    if file.stat().st_mode & 0o777 != 0o666:
        raise HarmError("the mode of a host file was changed")


@contextmanager
def listeners(directory: Path) -> Iterator[Mapping[str, str]]:
    """Host sockets: loopback `{port}`, abstract `{abstract}`, and `{named}`."""
    directory.chmod(0o777)
    names = {"abstract": f"judge-attack-{directory.name}", "named": str(directory / "socket")}
    with ExitStack() as stack:
        open_ = [
            stack.enter_context(socket.create_server(("127.0.0.1", 0))),
            stack.enter_context(_listening(f"\0{names['abstract']}")),
            stack.enter_context(_listening(names["named"])),
        ]
        names["port"] = str(open_[0].getsockname()[1])
        yield names
        for one, name in zip(open_, ("loopback", "abstract", "unix"), strict=True):
            one.setblocking(False)
            try:
                one.accept()[0].close()
            except BlockingIOError:
                continue
            raise HarmError(f"the host's {name} socket was reached")


def _listening(address: str) -> socket.socket:
    server = socket.socket(socket.AF_UNIX)
    server.bind(address)
    if not address.startswith("\0"):
        Path(address).chmod(0o777)
    server.listen()
    return server


@contextmanager
def bystanders(_directory: Path) -> Iterator[Mapping[str, str]]:
    """A similar process, and a box of another game, which must survive."""
    programs = build_attacks()
    tenant = Tenant("attack", programs, ("honest", "instant"), "native", 0, "bystander")
    with ExitStack() as stack:
        process = stack.enter_context(subprocess.Popen([programs / "honest", "instant"], stdin=subprocess.PIPE))
        stack.callback(process.kill)
        box = stack.enter_context(_start_box(tenant))
        yield {}
        if process.poll() is not None:
            raise HarmError("a process of the same name was ended")
        box.write(b"START 20\n")
        if not _says(box, b"OK"):
            raise HarmError("the box of another game was ended")


@contextmanager
def hoarder(_directory: Path) -> Iterator[Mapping[str, str]]:
    """Agent `{hoarder}` of another game in the same seat, which uses up its user's limits."""
    with closing(claim_user()) as user:
        tenant = Tenant("attack", build_attacks(), HOARD, "native", 0, "hoarder", uid=user.uid)
        with _start_box(tenant) as box:
            box.write(b"START 20\n")
            if not _says(box, b"OK"):
                raise HostError("the agent that uses up signals and pipes did not start")
            yield {"hoarder": str(user.uid)}


@contextmanager
def _start_box(tenant: Tenant) -> Iterator[Box]:
    with closing(open_box("docker", tenant, Limits(), BoxPolicy())) as box:
        box.prepare()
        box.enter()
        box.start()
        yield box


def _says(box: Box, word: bytes) -> bool:
    heard = b""
    deadline = time.monotonic() + PATIENCE_S
    while word not in heard and time.monotonic() < deadline:
        select.select([source.fd for source in box.sources], (), (), 0.1)
        for channel, data in (event for source in box.sources for event in source.read()):
            heard += data if channel is Channel.OUT else b""
    return word in heard


@contextmanager
def killed_judge(_directory: Path) -> Iterator[Mapping[str, str]]:
    """A judge that was killed during a game; this one cleans up."""
    command = [sys.executable, "-P", "-m", "judge.attacks.scenes"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as judge:
        if judge.stdout is None or not judge.stdout.readline():
            raise HostError("the judge to be killed did not start its game")
        judge.kill()
    reap()
    yield {}
    with closing(Engine()) as engine:
        marks = [container["Labels"]["judge.owner"] for container in engine.labelled("judge.owner")]
    if any(Owner.decode(mark).pid == judge.pid for mark in marks):
        raise HarmError("a judge that was killed has left a container")
    if any(owner and owner.pid == judge.pid for _, owner in directories()):
        raise HarmError("a judge that was killed has left a directory")


STALL_MS = 10.0
"""Undisturbed, a bystander's extra wait is below 1 ms."""
USUAL_S = 1.0
USUAL_FACTOR = 5


@contextmanager
def _measured_waits(kind: str, directory: Path) -> Iterator[list[float]]:
    """In milliseconds, after the block."""
    waits_ms: list[float] = []
    command = [sys.executable, "-P", "-m", "judge.attacks.bystander", kind, str(directory)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        if process.stdout is None or not process.stdout.readline():
            raise HostError("a bystander did not start")
        try:
            yield waits_ms
        finally:
            output, _ = process.communicate(timeout=PATIENCE_S)
    waits_ms += [float(word) for word in output.split()]


def _bystander(kind: str, words: str) -> Scene:
    @contextmanager
    def scene(directory: Path) -> Iterator[Mapping[str, str]]:
        with _measured_waits(kind, directory) as usual_ms:
            time.sleep(USUAL_S)
        with _measured_waits(kind, directory) as waits_ms:
            yield {}
        usual = usual_ms[1] if len(usual_ms) > 1 else 0.0
        if len(waits_ms) > 1 and waits_ms[1] > STALL_MS + USUAL_FACTOR * usual:
            raise HarmError(f"{words} waited for {waits_ms[0]:.0f} and {waits_ms[1]:.0f} ms")

    return scene


SLABS = Path("/proc/slabinfo")
MANY_LOCKS = 100_000


def _count_locks() -> int:
    """0 without permission; objects of all kinds if the kernel merged them."""
    with suppress(OSError):
        lines = SLABS.read_text(encoding="ascii").splitlines()[2:]
        counts = {kind: int(count) for kind, count, *_ in map(str.split, lines)}
        return counts.get("file_lock_cache", sum(counts.values()))
    return 0


@contextmanager
def counted_locks(_directory: Path) -> Iterator[Mapping[str, str]]:
    """Count the host's record locks during the attack."""
    before, most = _count_locks(), [0]
    done = Event()

    def watch_locks() -> None:
        while not done.wait(0.02):
            most[0] = max(most[0], _count_locks())

    with ThreadPoolExecutor(1) as pool:
        watching = pool.submit(watch_locks)
        try:
            yield {}
        finally:
            done.set()
            watching.result()
    if most[0] - before > MANY_LOCKS:
        raise HarmError(f"the host had {most[0] - before} additional record locks that were not charged to a box")


MANY_NAMES = 20_000


def _missing_names() -> int:
    return int(Path("/proc/sys/fs/dentry-state").read_text(encoding="ascii").split()[4])


@contextmanager
def counted_names(_directory: Path) -> Iterator[Mapping[str, str]]:
    """Count negative entries in the kernel's name cache, then remove the attack's."""
    before = _missing_names()
    yield {}
    left = _missing_names() - before
    names = build_attacks() / NAMES
    names.rmdir()
    names.mkdir()
    if left > MANY_NAMES:
        raise HarmError(f"{left} missing names are still cached by the host's kernel")


SCENES: Mapping[str, Scene] = {
    "beside_the_judge": _bystander("nap", "a process on the judge's core"),
    "bystanders": bystanders,
    "canary": canary,
    "counted_locks": counted_locks,
    "counted_names": counted_names,
    "hoarder": hoarder,
    "killed_judge": killed_judge,
    "listeners": listeners,
    "locks_a_file": _bystander("lock", "a process that locks its own file"),
}


HARMLESS = {"create", "attach", "detach", "start", "update", "pause", "unpause", "oom", "kill", "die", "destroy"}
"""Allowed Engine operations. Never copying files or running commands in a container."""


def find_leftovers(began_s: float, before: Collection[Path], kept: Collection[KeptContainer]) -> list[str]:
    """Leftovers of this process's games, and forbidden Engine operations, one line each.

    `began_s` is the time (`time.time`) before the games, `before` the `own_directories` at that time. `kept` containers
    may stay. Raises HostError if the Engine does not answer.
    """
    me = Owner.me().encode()
    stays = {container.id for container in kept}
    expected = {*before} | {container.directory for container in kept}
    with closing(Engine()) as engine:
        history = engine.history(f"judge.owner={me}", began_s, time.time())
        containers = engine.labelled(f"judge.owner={me}")
        volumes = engine.labelled_volumes(f"judge.owner={me}")
    ids = sorted({container for container, _ in history} - stays)
    return [
        *(f"the container {container['Id'][:12]} is left" for container in containers if container["Id"] not in stays),
        *(f"the volume {volume['Name']} is left" for volume in volumes),
        *(f"the Engine did {action} to {i[:12]}" for i, action in history if action.split(":")[0] not in HARMLESS),
        *(f"a directory is left: {path}" for path in own_directories() - expected),
        *_of_the_kernel(ids),
    ]


def own_directories() -> set[Path]:
    """Current directories of this process."""
    me = Owner.me()
    return {path for path, owner in directories() if owner == me}


def _of_the_kernel(ids: list[str]) -> Iterator[str]:
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            groups = (process / "cgroup").read_text(encoding="utf-8")
            yield from (f"process {process.name} is left" for i in ids if i in groups)
    mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    yield from (f"a mount of container {i[:12]} is left" for i in ids if i in mounts)
    for _, point in parse_mounts(mounts).values():
        for i in ids:
            for place in (point / "docker" / i, point / "system.slice" / f"docker-{i}.scope"):
                if place.exists():
                    yield f"a cgroup is left: {place}"


def wait_in_a_game() -> None:
    """Start a busy agent, freeze it, and wait."""
    tenant = Tenant("attack", build_attacks(), ("cpu", "ponder-thread"), "native", 0, "doomed")
    with _start_box(tenant) as box:
        box.freeze()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        signal.pause()


if __name__ == "__main__":
    wait_in_a_game()
