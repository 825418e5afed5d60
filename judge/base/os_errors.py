"""Errors of the operating system as errors of the judge."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from judge.base.errors import JudgeError

FULL_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Numbers of errors that free space on a disk removes."""


@contextmanager
def os_errors_as(kind: type[JudgeError], where: object, rest: str = "") -> Iterator[None]:
    """Raise an OSError of the block as `kind`: where it was, its reason, and the rest of the sentence."""
    try:
        yield
    except OSError as error:
        raise kind(f"{where}: {error.strerror}{rest}") from None
