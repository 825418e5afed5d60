"""Errors of the operating system as errors of the judge."""

from collections.abc import Iterator
from contextlib import contextmanager

from judge.base.errors import JudgeError


@contextmanager
def os_errors_as(kind: type[JudgeError], where: object, rest: str = "") -> Iterator[None]:
    """Raise an OSError of the block as `kind`: where it was, its reason, and the rest of the sentence."""
    try:
        yield
    except OSError as error:
        raise kind(f"{where}: {error.strerror}{rest}") from None
