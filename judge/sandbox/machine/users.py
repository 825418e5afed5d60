"""Gives each running box a separate host user, because the kernel counts signals, timers and pipes per user.

A claim is a bound abstract AF_UNIX socket, visible to all judges. Judges in other network namespaces or hosts do not
see it, so the search starts at random. Ids of the host's users are skipped.
"""

import errno
import secrets
import socket
from contextlib import suppress
from dataclasses import dataclass

from judge.base.errors import HostError

FIRST_AGENT_ID = 20001
"""First user and group id of agents."""
AGENT_IDS = 4096
"""Number of ids, which is also the maximum number of simultaneous boxes on a host."""


@dataclass(frozen=True, slots=True)
class User:
    """Claimed until `close`."""

    uid: int
    _name: socket.socket

    def close(self) -> None:
        self._name.close()


def claim_user() -> User:
    """Claim a free user of the agents' ids. Raises HostError if all are taken."""
    start = secrets.randbelow(AGENT_IDS)
    for step in range(AGENT_IDS):
        uid = FIRST_AGENT_ID + (start + step) % AGENT_IDS
        if not _is_host_user(uid) and (name := _bound(f"\0judge-user-{uid}")):
            return User(uid, name)
    raise HostError(
        f"All {AGENT_IDS} users from {FIRST_AGENT_ID} on are those of boxes or users on this host: wait until other "
        "judges end"
    )


def _is_host_user(uid: int) -> bool:
    import pwd  # missing on Windows, where records can be read

    with suppress(KeyError):
        pwd.getpwuid(uid)
        return True
    return False


def _bound(address: str) -> socket.socket | None:
    name = socket.socket(socket.AF_UNIX)
    try:
        name.bind(address)
    except OSError as error:
        name.close()
        if error.errno == errno.EADDRINUSE:
            return None
        raise HostError(f"No user for a box can be claimed: {error.strerror}") from error
    return name
