"""Errors outside a game, by who can fix them. A fault of an agent is a verdict, never an exception."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager


class JudgeError(Exception):
    """The text is one sentence for an operator to act on."""


class InputError(JudgeError):
    """Invalid input. The text names the file, line or field, and the fix."""


class HostError(JudgeError):
    """The Engine, the kernel or the disk failed. The game is void."""


class StoreLostError(HostError):
    """The database cannot be reached. The write did not happen, or its outcome is unknown."""


class StoreBusyError(StoreLostError):
    """Another session holds a database lock. Nothing was written; a retry may succeed."""


class StoreDamagedError(HostError):
    """The database is damaged. Only a backup helps."""


class NotReadyError(HostError):
    """The host lacks something, such as an image. The work can be retried later."""


FULL_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Numbers of errors of the operating system that free space on a disk removes."""


@contextmanager
def naming(place: object) -> Iterator[None]:
    """Let each InputError begin with the name of a file or an option."""
    try:
        yield
    except InputError as error:
        if str(error).startswith(f"{place}:"):
            raise
        raise InputError(f"{place}: {error}") from None


@contextmanager
def os_errors_as(kind: type[JudgeError], where: object, rest: str = "") -> Iterator[None]:
    """Raise an OSError of the block as `kind`: where it was, its reason, and the rest of the sentence."""
    try:
        yield
    except OSError as error:
        raise kind(f"{where}: {error.strerror}{rest}") from None
