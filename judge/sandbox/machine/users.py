"""Gives each running box a separate host user, because the kernel counts signals, timers and pipes per user.

A claim is a bound abstract AF_UNIX socket, visible to all judges. Judges in other network namespaces or hosts do not
see it: the search starts at random, and policies can have separate ranges.
"""

import errno
import secrets
import socket
from dataclasses import dataclass
from pathlib import Path

from judge.base.errors import HostError
from judge.sandbox.box import BoxPolicy
from judge.sandbox.layout import account_lines


@dataclass(frozen=True, slots=True)
class User:
    """Claimed until `close`."""

    uid: int
    _name: socket.socket

    def close(self) -> None:
        self._name.close()


def claim_user(policy: BoxPolicy) -> User:
    """Claim a free user of the policy's range. Raises HostError if all are taken."""
    start = secrets.randbelow(policy.uids)
    for step in range(policy.uids):
        uid = policy.uid + (start + step) % policy.uids
        if name := _bound(f"\0judge-user-{uid}"):
            return User(uid, name)
    raise HostError(
        f"All {policy.uids} users from {policy.uid} on are those of boxes on this host: raise box.uids in the policy"
    )


def write_accounts(directory: Path, uid: int) -> None:
    """Readable by every user. Raises OSError."""
    for name, text in account_lines(uid).items():
        path = directory / name
        path.write_text(text, encoding="ascii")
        path.chmod(0o644)


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
