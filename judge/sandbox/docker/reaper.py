"""Removes what boxes of judges that are gone have left behind; never touches what may belong to a live one."""

import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from judge.base.errors import HostError
from judge.sandbox.docker.engine import Engine, EngineRefusalError
from judge.sandbox.machine.core_locks import CoreLocks
from judge.sandbox.machine.owner import Fate, Owner, directories, kill_marked, remove_directory

FOREIGN_AGE_S = 24 * 3600
"""How old a stopped container must be where its owner is unknown (another host, an earlier boot, another user)."""

UNMARKED_AGE_S = 3600
"""How old a directory must be that its maker did not live to mark."""

REAP_TIMEOUT_S = 60.0
"""How long the Engine may take for an answer, and a container for its end."""

LOOK_S = 0.5
"""How often the Engine is asked again to remove a container."""


def reap(*, containers: bool = True) -> list[str]:
    """Remove what has no owner any more; returns a line for each thing removed. Called at a judge command's start.

    Without `containers` the Engine is not asked: for commands that use process boxes only. Raises `HostError` where
    the Engine does not answer.
    """
    removed: list[str] = []
    if containers:
        with closing(Engine(REAP_TIMEOUT_S)) as engine:
            removed += _reap_containers(engine)
            removed += _reap_volumes(engine)
    for directory, owner in directories():
        if owner.fate() is Fate.GONE if owner else _is_forgotten(directory):
            kill_marked(directory)
            remove_directory(directory)
            removed.append(f"directory {directory}")
    return removed


@contextmanager
def alone_on(cores: CoreLocks) -> Iterator[None]:
    """Have cores, on which nothing runs any more that a dead judge of this user has left. Raises `HostError`."""
    with cores:
        if cores.waited or any(owner and owner.fate() is Fate.GONE for _, owner in directories()):
            for line in reap():
                cores.tell(f"removed what an earlier judge left: {line}")
        yield


def _reap_containers(engine: Engine) -> Iterator[str]:
    for container in engine.labelled("judge.owner"):
        if is_rubbish(container):
            _remove(engine, container["Id"])
            labels = container["Labels"]
            yield f"container {container['Id'][:12]} of game {labels.get('judge.game')}"


def _remove(engine: Engine, container: str) -> None:
    """Kill and remove a container, waiting for one that is in a call that nothing interrupts: it uses its cores."""
    deadline = time.monotonic() + REAP_TIMEOUT_S
    while True:
        try:
            return engine.remove(container)
        except EngineRefusalError as error:
            if time.monotonic() > deadline:
                raise HostError(
                    f"What an earlier judge left cannot be ended yet, and uses the cores of its game ({error}): "
                    "try again in a minute; if it stays so, restart the host"
                ) from error
            time.sleep(LOOK_S)


def _reap_volumes(engine: Engine) -> Iterator[str]:
    """After the containers: the Engine does not remove a volume that one of them uses."""
    for volume in engine.labelled_volumes("judge.owner"):
        created = datetime.fromisoformat(volume["CreatedAt"]).timestamp()
        if is_rubbish({**volume, "Created": created, "State": "idle"}):
            with suppress(EngineRefusalError):  # in use
                engine.remove_volume(volume["Name"])
                yield f"volume {volume['Name']}"


def is_rubbish(container: Mapping[str, Any]) -> bool:
    """Whether a container, as the Engine lists it, can belong to no live judge."""
    try:
        fate = Owner.decode(container["Labels"]["judge.owner"]).fate()
    except ValueError:
        fate = Fate.UNKNOWN
    if fate is Fate.UNKNOWN:
        old = time.time() - container["Created"] > FOREIGN_AGE_S
        return old and container["State"] not in ("running", "paused", "restarting")
    return fate is Fate.GONE


def _is_forgotten(directory: Path) -> bool:
    """Whether a directory without a mark is too old for its maker to be about to mark it."""
    try:
        return time.time() - directory.stat().st_mtime > UNMARKED_AGE_S
    except OSError:
        return False
