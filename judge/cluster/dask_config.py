"""Settings and logging of dask."""

import logging
from pathlib import Path

import dask

from judge.base.logs import adopt
from judge.cluster.bounded_messages import bound_messages

LOGGERS = ("distributed", "tornado", "asyncio")

SETTINGS = {
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.scheduler.work-stealing": False,
    # No web pages without TLS.
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    # No background work during games.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.tick.limit": "30s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.system-monitor.disk": False,
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.diagnostics.nvml": False,
    "distributed.client.scheduler-info-interval": "1 minute",
    "distributed.comm.timeouts.connect": "10s",
    # Sizes must be checked before decompression.
    "distributed.comm.compression": None,
    # No kept messages, such as moves of many games.
    "distributed.admin.low-level-log-length": 0,
    # Agents' files and folder states are large.
    "distributed.admin.large-graph-warning-threshold": "8 GiB",
}

NO_PAGES = "127.0.0.1:0"


def settle(scratch: Path | None = None) -> None:
    """Configure dask and log its messages. `scratch`: for its files."""
    dask.config.set(SETTINGS | ({} if scratch is None else {"temporary-directory": str(scratch)}))
    bound_messages()
    adopt(*LOGGERS, level=logging.WARNING)
