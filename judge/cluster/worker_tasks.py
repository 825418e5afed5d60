"""What the contest's host has a worker do: functions that dask runs in the worker's process."""

import asyncio
from collections.abc import Collection
from concurrent.futures import Future

from distributed import WorkerPlugin, get_worker

from judge.cluster.host import WorkerHost
from judge.cluster.messages import HostFacts, Key, RemoteJob
from judge.contest.worker import JobResult
from judge.errors import HostError


class AtHost(WorkerPlugin):
    """Lets what runs in a dask worker find the machine's host."""

    name = "judge"

    def __init__(self, host: WorkerHost) -> None:
        self.host = host


def _host() -> WorkerHost:
    plugin = get_worker().plugins.get(AtHost.name)
    if not isinstance(plugin, AtHost):
        raise HostError("this dask worker is none of judge worker's")
    return plugin.host


def look(contest: str, images: Collection[str]) -> HostFacts:
    """What this worker says of itself."""
    return _host().facts(contest, images)


def take_agent(digest: str, data: bytes) -> str:
    """Keep the files of an agent; its digest."""
    _host().take_agent(digest, data)
    return digest


async def play_remotely(job: RemoteJob, *_taken: str) -> JobResult:
    """Play a game, when its agents' files are `_taken`; if it is being played or was, that is the game."""
    return await _end_of(_host().play(job))


async def hand_over(key: Key) -> JobResult:
    """A match that was begun here for a contest that was out of reach since, when it has ended."""
    return await _end_of(_host().game(key))


def forget(keys: Collection[Key]) -> None:
    """The contest's host has these games."""
    _host().forget(keys)


def stop(keys: Collection[Key]) -> None:
    """Nobody wants these games any more."""
    _host().stop(keys)


async def _end_of(game: Future[JobResult]) -> JobResult:
    """Waiting may be given up; the game goes on."""
    ended = asyncio.wrap_future(game)
    ended.add_done_callback(lambda future: future.cancelled() or future.exception())
    return await asyncio.shield(ended)
