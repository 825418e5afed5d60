"""The corpus: records and contests, and all texts that are computed from them."""

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import chdir
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from judge.base.errors import InputError
from judge.sandbox.machine.cores import LOCKS_VARIABLE
from tests.corpus.archive import SOURCE, TEXT, differences, parts, path_of, read, write
from tests.corpus.contests import contest_texts, forgery_texts
from tests.corpus.records import record_texts

VERSION = "0.3.0"
"""Of the judge in all records and texts."""


def texts(part: str) -> dict[str, str]:
    """What is computed now from a source."""
    source = read(part, SOURCE)
    with (
        TemporaryDirectory() as folder,
        TemporaryDirectory() as locks,
        chdir(folder),
        patch("judge.__version__", VERSION),
        patch.dict(os.environ, {LOCKS_VARIABLE: locks}),
    ):
        for core in range(os.sysconf("SC_NPROCESSORS_CONF")):
            Path(locks, f"cpu{core}").touch()  # nothing runs on this host
        if part.startswith("contest-"):
            return {**dict(contest_texts(part, source)), **dict(forgery_texts(part, Path(folder)))}
        found: dict[str, str] = {}
        for number, (record, text) in enumerate(source.items()):
            place = Path(str(number))
            place.mkdir()
            with chdir(place):
                found |= {f"{record}: {name}": each for name, each in record_texts(text)}
        return found


def compare(part: str, is_renewed: bool = False) -> list[str]:
    """A line for each text of a part that differs from the stored one, which is replaced if `is_renewed`.

    Raises InputError, with the name of the part, if its source cannot be read.
    """
    try:
        now = texts(part)
    except InputError as error:
        raise InputError(f"{part}: {error}") from error
    found = [f"{part}: {line}" for line in differences(read(part, TEXT), now)]
    if is_renewed:
        write(part, TEXT, now)
    return found


def compare_all(is_renewed: bool) -> Iterator[str]:
    """The differences of all parts, which two processes look for."""
    with ProcessPoolExecutor(2) as workers:
        for found in workers.map(partial(compare, is_renewed=is_renewed), parts()):
            yield from found
    for part in set(parts(TEXT)) - set(parts()):
        yield f"{part}: has no source"
        if is_renewed:
            path_of(part, TEXT).unlink()
