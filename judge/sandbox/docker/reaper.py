"""Removes leftovers of ended judges, and nothing that can belong to a running judge."""

import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from judge.base.errors import HostError
from judge.base.owner import Fate, Owner, directories, kill_marked, remove_directory
from judge.sandbox.docker.engine import Engine, EngineRefusalError
from judge.sandbox.machine.cores import CoreLocks

FOREIGN_AGE_S = 24 * 3600
"""Minimum of a stopped container with an unknown owner (another host, boot or user)."""

UNMARKED_AGE_S = 3600
"""Minimum of a directory without an owner's mark."""

REAP_TIMEOUT_S = 60.0

POLL_INTERVAL_S = 0.5


def reap(*, containers: bool = True) -> list[str]:
    """Remove everything without an owner: one line each.

    `containers` is False for commands that use only process boxes. Raises `HostError` if the Engine does not answer.
    """
    removed: list[str] = []
    if containers:
        with closing(Engine()) as engine:
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
    """Reserve cores after the leftovers of this user's ended judges are gone. Raises `HostError`."""
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
            time.sleep(POLL_INTERVAL_S)


def _reap_volumes(engine: Engine) -> Iterator[str]:
    """After the containers: volumes in use cannot be removed."""
    for volume in engine.labelled_volumes("judge.owner"):
        created = datetime.fromisoformat(volume["CreatedAt"]).timestamp()
        if is_rubbish({**volume, "Created": created, "State": "idle"}):
            with suppress(EngineRefusalError):
                engine.remove_volume(volume["Name"])
                yield f"volume {volume['Name']}"


def is_rubbish(container: Mapping[str, Any]) -> bool:
    """Whether a container cannot belong to a running judge."""
    try:
        fate = Owner.decode(container["Labels"]["judge.owner"]).fate()
    except ValueError:
        fate = Fate.UNKNOWN
    if fate is Fate.UNKNOWN:
        old = time.time() - container["Created"] > FOREIGN_AGE_S
        return old and container["State"] not in ("running", "paused", "restarting")
    return fate is Fate.GONE


def _is_forgotten(directory: Path) -> bool:
    try:
        return time.time() - directory.stat().st_mtime > UNMARKED_AGE_S
    except OSError:
        return False
