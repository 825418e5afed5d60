"""The limits of files and sockets that this process may watch."""

import resource
from contextlib import suppress
from pathlib import Path

EPOLL_WATCHES = Path("/proc/sys/fs/epoll/max_user_watches")
"""Of a user, in all processes. An Engine and PID 1 of boxes take many (`judge.host.kernel_checks`)."""


def raise_descriptor_limit() -> int:
    """Raise the soft limit to the hard limit; return it. systemd's soft limit is 1,024, its hard limit 524,288."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def watchable_descriptors() -> int:
    """How many files and sockets this process may open and watch; raises its limit.

    Half of the user's watches are left to other processes.
    """
    found = raise_descriptor_limit()
    with suppress(OSError, ValueError):
        found = min(found, int(EPOLL_WATCHES.read_text(encoding="ascii")) // 2)
    return found
