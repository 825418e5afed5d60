"""Directories that are complete or missing."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from judge.base.errors import HostError, InputError


@contextmanager
def new_directories(places: Sequence[Path], what: str, failure: str) -> Iterator[Sequence[Path]]:
    """Yield where to write `places`; these directories are renamed at the end, the first one last, or removed.

    Raises InputError if a place has files, HostError if writing fails. `what` and `failure` are words of the errors.
    """
    for place in places:
        if place.exists() and not (place.is_dir() and not any(place.iterdir())):
            raise InputError(f"{place}: exists; {what} is never overwritten, name another directory")
    partials = [place.absolute().with_name(f".{place.name}.partial") for place in places]
    try:
        for partial in partials:
            shutil.rmtree(partial, ignore_errors=True)
        yield partials
        for partial, place in reversed([*zip(partials, places, strict=True)]):
            partial.replace(place)
    except OSError as error:
        raise HostError(f"{error.filename or places[0]}: {error.strerror}: {failure}") from None
    finally:
        for partial in partials:
            shutil.rmtree(partial, ignore_errors=True)
