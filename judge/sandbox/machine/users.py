"""Each running box has a user of its own, because the kernel counts signals, timers and pipes by user.

A judge claims a user by binding its name in the abstract namespace of AF_UNIX sockets. Every judge of the host sees the
claim, there is no file to leave behind, and the kernel takes the name back from a dead process. Judges in network
namespaces of their own, or on other hosts of the same Engine, do not see it: each starts to search at random, and a
policy may give each a range of its own.
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
    """A user (and its group) of the host's that nobody else claims until `close`."""

    uid: int
    _name: socket.socket

    def close(self) -> None:
        """Release the user."""
        self._name.close()


def claim_user(policy: BoxPolicy) -> User:
    """A free user of the policy's range; HostError if there is none."""
    start = secrets.randbelow(policy.uids)
    for step in range(policy.uids):
        uid = policy.uid + (start + step) % policy.uids
        if name := _bound(f"\0judge-user-{uid}"):
            return User(uid, name)
    raise HostError(
        f"All {policy.uids} users from {policy.uid} on are those of boxes on this host: raise box.uids in the policy"
    )


def write_accounts(directory: Path, uid: int) -> None:
    """Write the account files of an agent's container to a directory; every user can read them. Raises OSError."""
    for name, text in account_lines(uid).items():
        path = directory / name
        path.write_text(text, encoding="ascii")
        path.chmod(0o644)


def _bound(address: str) -> socket.socket | None:
    """A socket of this name; None if another process has it."""
    name = socket.socket(socket.AF_UNIX)
    try:
        name.bind(address)
    except OSError as error:
        name.close()
        if error.errno == errno.EADDRINUSE:
            return None
        raise HostError(f"No user for a box can be claimed: {error.strerror}") from error
    return name
