"""Client of the container Engine. Every failure is a one-sentence `HostError`."""

from __future__ import annotations

import functools
import os
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.base.errors import HostError, NotReadyError

if TYPE_CHECKING:
    import docker

OLDEST_API = (1, 41)
"""Engine 20.10, the first API with private cgroup namespaces."""

PODMAN_HEADER = "Libpod-Api-Version"
"""In answers of Podman's imitation of the API."""

WAIT_TIMEOUT_S = 10

VERSION_TIMEOUT_S = 5

REQUEST_TIMEOUT_S = 60.0
"""After it the host is at fault."""

NO_IMAGE = "judge/none:0"

REMOVALS, REMOVAL_PAUSE_S = 5, 0.1


class EngineRefusalError(HostError):
    """`status` is the HTTP status."""

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.status = status


HISTORY_EVENTS = 256


class Engine:
    """Not thread-safe: each box has its own."""

    def __init__(self, timeout_s: float = REQUEST_TIMEOUT_S) -> None:
        with doing("answer"):
            self._client = connect(timeout_s).api
        self._hijacked = ExitStack()

    def info(self) -> Mapping[str, Any]:
        with doing("describe itself"):
            return _description(os.environ.get("DOCKER_HOST", ""))

    def create(self, config: Mapping[str, Any]) -> str:
        with doing("create a container"):
            return str(self._client.create_container_from_config(config)["Id"])  # type: ignore[no-untyped-call]

    def sees(self, *paths: Path) -> bool:
        """Whether its host has these paths.

        The Engine looks for the sources of mounts before it looks for the image, so it creates no container.
        """
        mounts = [{"Type": "bind", "Source": str(path), "Target": f"/{at}"} for at, path in enumerate(paths)]
        try:
            self.create({"Image": NO_IMAGE, "HostConfig": {"Mounts": mounts}})
        except EngineRefusalError as error:
            return error.status == HTTPStatus.NOT_FOUND
        raise HostError(f"The Engine has an image {NO_IMAGE}: remove it")

    def attach(self, container: str) -> socket.socket:
        with doing(f"attach to container {container[:12]}"):
            streams = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
            stream = self._client.attach_socket(container, params=streams)
            # the response also keeps it open
            self._hijacked.callback(getattr(stream, "_response", stream).close)
            attached: socket.socket = getattr(stream, "_sock", stream)
            attached.setblocking(False)
            return attached

    def start(self, container: str) -> None:
        with doing(f"start container {container[:12]}"):
            self._client.start(container)

    def state(self, container: str) -> Mapping[str, Any]:
        with doing(f"inspect container {container[:12]}"):
            return dict(self._client.inspect_container(container)["State"])

    def is_running(self, container: str) -> bool:
        """False also for a container that the Engine does not have."""
        try:
            return bool(self.state(container)["Running"])
        except EngineRefusalError:
            return False

    def counters(self, container: str) -> Mapping[str, Any]:
        with doing(f"measure container {container[:12]}"):
            return dict(self._client.stats(container, stream=False, one_shot=True))

    def count_events(self, container: str, event: str, until_s: float) -> int:
        """Count a container's events of a kind until `until_s` of the Engine's clock."""
        with doing(f"list the events of container {container[:12]}"):
            return sum(1 for _ in self._events(until_s, container=container, event=event))

    def has_forgotten(self, container: str, until_s: float) -> bool:
        """Whether the Engine was restarted since it started a container."""
        with doing(f"list the events of container {container[:12]}"):
            events = list(self._events(until_s))
        is_known = any((event.get("id"), event.get("Action")) == (container, "start") for event in events)
        return not is_known and len(events) < HISTORY_EVENTS

    def history(self, label: str, since_s: float, until_s: float) -> list[tuple[str, str]]:
        """(id, action) between two times of the Engine's clock. The Engine remembers a few hundred events in all."""
        with doing("list events"):
            events = self._events(until_s, since_s, type="container", label=label)
            return [(event["id"], event["Action"]) for event in events]

    def _events(self, until_s: float, since_s: float = 1, **filters: str) -> Iterator[Mapping[str, Any]]:
        events: Iterator[Mapping[str, Any]] = self._client.events(  # type: ignore[call-overload]
            since=since_s,
            until=until_s,  # whole seconds would miss the last events
            filters=filters or None,
            decode=True,
        )
        return events

    def wait(self, container: str) -> None:
        with doing(f"wait for container {container[:12]}"):
            self._client.wait(container, timeout=WAIT_TIMEOUT_S)

    def kill(self, container: str) -> None:
        with doing(f"kill container {container[:12]}"):
            self._client.kill(container)

    def pause(self, container: str) -> None:
        with doing(f"pause container {container[:12]}"):
            self._client.pause(container)

    def unpause(self, container: str) -> None:
        with doing(f"unpause container {container[:12]}"):
            self._client.unpause(container)

    def move(self, container: str, cores: Sequence[int]) -> None:
        with doing(f"move container {container[:12]}"):
            self._client.update_container(container, cpuset_cpus=",".join(map(str, cores)))

    def remove(self, container: str) -> None:
        """Kill and remove a container and its volumes, if it exists.

        Retries while the Engine writes to the directory.
        """
        for is_last in (*[False] * REMOVALS, True):
            try:
                with doing(f"remove container {container[:12]}"), ignoring(404, 409):
                    self._client.remove_container(container, v=True, force=True)
            except EngineRefusalError as error:
                if is_last or "directory not empty" not in str(error):
                    raise
                time.sleep(REMOVAL_PAUSE_S)
            else:
                return

    def create_volume(self, name: str, tmpfs: str, labels: Mapping[str, str]) -> None:
        """Mounted while a container uses it."""
        with doing(f"create the volume {name}"):
            self._client.create_volume(
                name, driver="local", driver_opts={"type": "tmpfs", "device": "tmpfs", "o": tmpfs}, labels=dict(labels)
            )

    def remove_volume(self, name: str) -> None:
        with doing(f"remove the volume {name}"), ignoring(404):
            self._client.remove_volume(name)

    def labelled_volumes(self, label: str) -> list[dict[str, Any]]:
        with doing("list volumes"):
            return list(self._client.volumes(filters={"label": label})["Volumes"] or ())

    def labelled(self, label: str) -> list[dict[str, Any]]:
        with doing("list containers"):
            return list(self._client.containers(all=True, filters={"label": label}))

    def close(self) -> None:
        self._hijacked.close()
        self._client.close()


def versions() -> str:
    """Versions of Engine and API in one line, or why the Engine does not answer."""
    try:
        with closing(Engine(VERSION_TIMEOUT_S)) as engine:
            said = engine.info()
    except HostError as error:
        return str(error)
    api = _api_version(os.environ.get("DOCKER_HOST", ""))
    return f"Docker Engine {said.get('ServerVersion')}, API {api}"


@contextmanager
def doing(what: str) -> Iterator[None]:
    """Convert errors of the Engine's client into a `HostError` that names the failed action."""
    import docker.errors
    import requests
    import urllib3.exceptions

    try:
        yield
    except docker.errors.APIError as error:
        status = error.response.status_code if error.response is not None else 500
        raise EngineRefusalError(f"The Engine refused to {what}: {error.explanation or error}", status) from error
    except (docker.errors.DockerException, requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
        at = os.environ.get("DOCKER_HOST") or "its usual socket"
        # Another attempt succeeds when the Engine is back; a request that takes too long may have a cause of its own.
        kind = HostError if isinstance(error, requests.Timeout) else NotReadyError
        raise kind(
            f"The Engine at {at} did not {what} ({_cause(error)}): see that it runs (`docker info`) and that you may "
            "use it"
        ) from error


def _cause(error: BaseException) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
        packed = (part for part in cause.args if isinstance(part, BaseException))
        cause = cause.__cause__ or cause.__context__ or next(packed, None)
    return str(error)


@contextmanager
def ignoring(*statuses: int) -> Iterator[None]:
    """These HTTP statuses mean that nothing is left to do."""
    import docker.errors

    try:
        yield
    except docker.errors.APIError as error:
        if error.response is None or error.response.status_code not in statuses:
            raise


def connect(timeout_s: float = REQUEST_TIMEOUT_S) -> docker.DockerClient:
    """The caller closes it and wraps requests in `doing`."""
    return _client(_api_version(os.environ.get("DOCKER_HOST", "")), timeout_s)


def _client(version: str, timeout_s: float) -> docker.DockerClient:
    import docker

    client = docker.from_env(version=version, timeout=timeout_s)  # type: ignore[arg-type]  # fractions are fine
    if client.api.base_url.startswith("http+docker:"):
        # Otherwise each request looks up proxies.
        client.api.trust_env = False
    return client


@functools.cache
def _description(_host: str) -> Mapping[str, Any]:
    with closing(connect()) as client:
        return dict(client.api.info())


@functools.cache
def _api_version(_host: str) -> str:
    """A ping, because a version request runs runc."""
    with closing(_client(".".join(map(str, OLDEST_API)), REQUEST_TIMEOUT_S)) as client:
        answer = client.api.get(f"{client.api.base_url}/_ping", timeout=REQUEST_TIMEOUT_S)
        answer.raise_for_status()
    if podman := answer.headers.get(PODMAN_HEADER):
        raise HostError(
            f"This is Podman {podman}, which cannot limit the size of volumes as Docker does: start a Docker Engine "
            "of version 20.10 or newer, or name its socket by DOCKER_HOST"
        )
    version = answer.headers.get("Api-Version", "0")
    if tuple(map(int, version.split("."))) < OLDEST_API:
        raise HostError(f"The Engine speaks API {version}; it must speak 1.41 or newer (Engine 20.10): update it")
    return str(version)
