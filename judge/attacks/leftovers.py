"""Finds leftovers of a game on the host."""

import time
from collections.abc import Collection, Iterator
from contextlib import closing, suppress
from pathlib import Path

from judge.base.owner import Owner, directories
from judge.sandbox.docker.engine import Engine
from judge.sandbox.docker.renewal import KeptContainer
from judge.sandbox.machine.cgroup import parse_mounts

HARMLESS = {"create", "attach", "detach", "start", "update", "pause", "unpause", "oom", "kill"}
HARMLESS |= {"die", "destroy"}
"""Allowed Engine operations. Never copying files or running commands in a container."""


def leftovers(began_s: float, before: Collection[Path], kept: Collection[KeptContainer]) -> list[str]:
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
