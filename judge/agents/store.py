"""Agents' files by the digest of what they hold: written before anybody names them, read-only, never half there.

    DIRECTORY/DIGEST/        the files of an agent; the digest is `judge.agents.agents.digest_of`
    DIRECTORY/.new-*/        what is being written, or was when a judge was killed

An agent is such a tree and the image of its runtime, and no image of its own: equal files are equal wherever they are
built, no instruction of a stranger's is ever run to make an image, and a tree is copied to another machine as it is.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from judge.agents.agents import digest_of
from judge.durable import sync
from judge.errors import HostError, InputError
from judge.locks import locked

_NEW = ".new-"


class Trees:
    """A directory of trees, each named by its digest."""

    def __init__(self, directory: Path) -> None:
        """The directory need not exist yet."""
        self._directory = directory

    def put(self, program: Path) -> str:
        """Take the files of `program` in; returns their digest. They are on disk, whole, when this returns.

        Raises HostError where the disk does not take them.
        """
        digest = digest_of(program)
        path = self.path(digest)
        try:
            with self._writing():
                if path.is_dir():
                    if digest_of(path) == digest:
                        return digest
                    remove(path)  # damaged: the same files fix it
                self._write(program, path)
        except OSError as error:
            raise HostError(
                f"{path}: {error.strerror}; the agent was not taken in, make room and process the upload again"
            ) from error
        return digest

    def get(self, digest: str) -> Path:
        """The directory of a tree; InputError where it is missing or is no longer what it was."""
        path = self.path(digest)
        if not path.is_dir():
            raise InputError(f"{path} is missing: bring it back from a copy, or process the upload again")
        if digest_of(path) != digest:
            raise InputError(f"{path}: its files are not those of its name: process the upload again")
        return path

    def path(self, digest: str) -> Path:
        """Where the tree of a digest lies; ValueError for what is no digest."""
        if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
            raise ValueError(f"not a SHA-256: {digest[:80]!r}")
        return self._directory / digest

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Hold the directory, having removed what a killed judge left half written."""
        self._directory.mkdir(parents=True, exist_ok=True)
        with locked(self._directory / ".lock"):
            for half in self._directory.glob(f"{_NEW}*"):
                remove(half)
            yield

    def _write(self, program: Path, path: Path) -> None:
        new = Path(tempfile.mkdtemp(prefix=_NEW, dir=self._directory))
        try:
            shutil.copytree(program, new, dirs_exist_ok=True)
            _seal(new)
            new.rename(path)
        except BaseException:
            remove(new)
            raise
        sync(self._directory)


def remove(tree: Path) -> None:
    """Remove a tree, read-only as it is; raises OSError."""
    for path, _, _ in os.walk(tree):
        Path(path).chmod(0o755)
    shutil.rmtree(tree)


def _seal(tree: Path) -> None:
    """Make everything read-only, for whatever user an agent will be, and bring it to the disk."""
    for name, _, files in os.walk(tree, topdown=False):
        directory = Path(name)
        for path in (directory / file for file in files):
            path.chmod(0o555 if path.stat().st_mode & 0o100 else 0o444)
            sync(path)
        directory.chmod(0o555)
        sync(directory)
