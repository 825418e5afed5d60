"""What dask does for us and what it does not: one place for its settings, and its words come out of our log."""

import logging
from pathlib import Path

import dask

from judge.base.logs import adopt
from judge.cluster.bounded_messages import bound_messages

LOGGERS = ("distributed", "tornado", "asyncio")

SETTINGS = {
    "distributed.scheduler.active-memory-manager.start": False,
    # A game has one worker; the contest gives it to another.
    "distributed.scheduler.work-stealing": False,
    # No pages: they would be served without TLS.
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    # Nothing that wakes up often, for it would do so beside a running game.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.tick.limit": "30s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.system-monitor.disk": False,
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.diagnostics.nvml": False,
    "distributed.client.scheduler-info-interval": "1 minute",
    "distributed.comm.timeouts.connect": "10s",
    # A compressed part is unpacked before anybody can ask how large it is.
    "distributed.comm.compression": None,
    # Messages that were sent are not kept: they may have moves of many games.
    "distributed.admin.low-level-log-length": 0,
    # The files of an agent and the states of folders are large, and meant to be.
    "distributed.admin.large-graph-warning-threshold": "8 GiB",
}

NO_PAGES = "127.0.0.1:0"
"""Where dask's web servers listen, which have nothing to serve."""


def settle(scratch: Path | None = None) -> None:
    """Configure dask for this judge, whatever the machine's own files say, and log its messages as ours.

    `scratch` is for its files, if this process is to have any.
    """
    dask.config.set(SETTINGS | ({} if scratch is None else {"temporary-directory": str(scratch)}))
    bound_messages()
    adopt(*LOGGERS, level=logging.WARNING)
