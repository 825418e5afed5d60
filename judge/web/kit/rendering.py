"""Pages and files that are computed from records: once for all clients that wait, in turn, within bounds of memory.

A task of a large record runs in a process, which ends when all its clients have gone. Its result is a file.
"""

import asyncio
import hashlib
import os
import resource
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from starlette.responses import FileResponse, Response
from starlette.types import Receive, Scope, Send

from judge.base.errors import InputError, os_errors_as
from judge.base.logs import get_logger
from judge.base.owner import owned_directory
from judge.base.scheduling import lower_priority
from judge.base.worker_processes import Worker, wait
from judge.sandbox.machine.cores import available
from judge.store.files import Files
from judge.web.kit import logs
from judge.web.kit.lanes import Lane, run_to_the_end, while_connected
from judge.web.kit.networks import client_of

LARGE_RECORD_BYTES = 1 << 20
"""Larger records are read in a process."""

MAX_PAGE_RECORD_BYTES = 8 << 20
"""A larger record has no page of its game, only a download."""

CACHE_BYTES, CACHED_FILES_BYTES = 64 << 20, 1 << 30
"""Of results in memory and on disk."""

TASK_S, TASK_MEMORY_BYTES = 120.0, 1 << 30
"""Limits of a process."""

POLL_INTERVAL_S = 0.02

Result = TypeVar("Result")

Cached = TypeVar("Cached")

log = get_logger()


class ByteCache(Generic[Cached]):
    """Values with sizes. The least recently used are dropped."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._values: OrderedDict[object, tuple[Cached, int]] = OrderedDict()

    def get(self, key: object) -> Cached | None:
        found = self._values.get(key)
        if found is None:
            return None
        self._values.move_to_end(key)
        return found[0]

    def put(self, key: object, value: Cached, size: int) -> None:
        """Add a value; one that alone is too large is dropped."""
        self.remove(key)
        self._values[key] = value, size
        self._bytes += size
        while self._bytes > self._most_bytes:
            self.remove(next(iter(self._values)))

    def remove(self, key: object) -> None:
        if key in self._values:
            value, size = self._values.pop(key)
            self._bytes -= size
            self.drop(value)

    def drop(self, value: Cached) -> None:
        """Called with a removed value."""


class FileCache(ByteCache[Path]):
    """Files with sizes, which are removed when they are dropped."""

    def drop(self, value: Path) -> None:
        value.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class RecordTask:
    """What is computed from a stored record: `compute(files, digest, *arguments)`, with values that can be pickled."""

    files: Path
    digest: str
    compute: Callable[..., bytes]
    arguments: tuple[Any, ...] = ()

    @property
    def key(self) -> str:
        """The same for the same result."""
        parts = (self.compute.__qualname__, self.files, self.digest, self.arguments)
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    @property
    def record_bytes(self) -> int:
        """Size of the record. Raises InputError if it is missing."""
        path = Files(self.files).path(self.digest)
        with os_errors_as(InputError, path, ", but the store refers to it"):
            return path.stat().st_size

    def result(self) -> bytes:
        return self.compute(self.files, self.digest, *self.arguments)

    def write(self, path: Path) -> None:
        path.write_bytes(self.result())


Rendered = bytes | Path
"""The bytes of a result, or a file with them."""


@dataclass(slots=True)
class _Flight:
    task: "asyncio.Task[Rendered]"
    waiting: int = 0


@dataclass(slots=True)
class _Shared:
    """For all contests of a process."""

    results: ByteCache[bytes] = field(default_factory=lambda: ByteCache(CACHE_BYTES))
    large_results: FileCache = field(default_factory=lambda: FileCache(CACHED_FILES_BYTES))
    large: Lane = field(default_factory=Lane)
    files: ExitStack = field(default_factory=ExitStack)
    folder: Path | None = None
    number: int = 0

    def new_path(self) -> Path:
        if self.folder is None:
            self.folder = self.files.enter_context(owned_directory())
        self.number += 1
        return self.folder / str(self.number)


class Renderer:
    """Computes tasks for small records in a separate thread, and for large records in a process."""

    def __init__(self, shared: _Shared | None = None) -> None:
        self._shared = _Shared() if shared is None else shared
        self._small = Lane()
        self._flights: dict[str, _Flight] = {}

    def with_same_caches(self) -> "Renderer":
        """Another one with the same caches. Tasks of one do not wait for those of the other, but for large records."""
        return Renderer(self._shared)

    def close(self) -> None:
        """Remove the files, also those of others with the same caches."""
        self._shared.files.close()

    async def render(self, receive: Receive, client: str, task: RecordTask) -> Rendered:
        """The result of a task. Raises ClientDisconnect if the client goes, and the errors of the task."""
        key = task.key
        found = self._shared.results.get(key) or self._shared.large_results.get(key)
        if found is not None:
            return found
        flight = self._flights.get(key)
        if flight is None:
            flight = self._flights[key] = _Flight(asyncio.create_task(self._compute(key, client, task)))
        flight.waiting += 1
        try:
            return await while_connected(receive, asyncio.shield(flight.task))
        finally:
            flight.waiting -= 1
            if not flight.waiting:
                flight.task.cancel()
                if self._flights.get(key) is flight:
                    del self._flights[key]

    async def _compute(self, key: str, client: str, task: RecordTask) -> Rendered:
        size = await run_to_the_end(lambda: task.record_bytes)
        if size > LARGE_RECORD_BYTES:
            async with self._shared.large.turn(client):
                path = self._shared.new_path()
                await _write_in_process(task, path)
            self._shared.large_results.put(key, path, path.stat().st_size)
            return path
        async with self._small.turn(client):
            data = await run_to_the_end(task.result)
        self._shared.results.put(key, data, len(data))
        return data


async def _write_in_process(task: RecordTask, path: Path) -> None:
    worker: Worker[None] = Worker(_prepare, available())
    try:
        worker.start(task.write, path)
        async with asyncio.timeout(TASK_S):
            while not wait([worker], 0):
                await asyncio.sleep(POLL_INTERVAL_S)
        worker.result()
    except (MemoryError, TimeoutError) as error:
        log.warning("a record is too large to be shown", record=task.digest, error=type(error).__name__)
        raise InputError("this record is too large to be shown") from None
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    finally:
        worker.kill()


class RenderedResponse(Response):
    """The result of a task, rendered when it is sent."""

    def __init__(self, renderer: Renderer, task: RecordTask, kind: str, headers: Mapping[str, str]) -> None:
        super().__init__()
        self._renderer = renderer
        self._task = task
        self._kind = kind
        self._more = headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = await self._renderer.render(receive, client_of(scope), self._task)
        await response_of(found, self._kind, self._more)(scope, receive, send)


def response_of(found: Rendered, kind: str, headers: Mapping[str, str]) -> Response:
    """A result as a response; a file is sent in pieces."""
    if isinstance(found, Path):
        return FileResponse(found, media_type=kind, headers=dict(headers))
    return Response(found, media_type=kind, headers=dict(headers))


# --- in the process --------------------------------------------------------------------------------------------------


def _prepare(processors: Collection[int]) -> None:
    os.sched_setaffinity(0, processors)
    logs.configure()
    lower_priority()
    resource.setrlimit(resource.RLIMIT_DATA, (TASK_MEMORY_BYTES, TASK_MEMORY_BYTES))
