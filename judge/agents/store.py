"""Agents by digest: their files are on the disk whole before anybody names them, read-only, and checked when used.

    DIRECTORY/DIGEST/        the files of an agent; the digest is `judge.agents.agents.program_digest`
    DIRECTORY/.new-*/        what is being written, or was when a judge was killed

An agent is such a tree and the image of its runtime, and no image of its own: equal files are equal wherever they are
built, no instruction of a stranger's is ever run to make an image, and a tree is copied to another machine as it is.
"""

import io
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO

from judge.agents.agents import MAX_BYTES, MAX_FILES, program_digest
from judge.base.durable_files import sync
from judge.base.errors import HostError, InputError
from judge.base.locks import locked
from judge.base.text import quote
from judge.base.tree_tar import EXECUTABLE, PLAIN, TreeError, TreeMember, add_file, unpack_stream, write_stream

_NEW = ".new-"


class AgentStore:
    """A directory with the files of agents."""

    def __init__(self, directory: Path) -> None:
        """The directory need not exist yet."""
        self._directory = directory

    def digests(self) -> frozenset[str]:
        """The digests of the agents whose files are here."""
        if not self._directory.is_dir():
            return frozenset()
        return frozenset(path.name for path in self._directory.iterdir() if "." not in path.name)

    def path(self, digest: str) -> Path:
        """The directory of an agent's files, which may be missing; ValueError if `digest` is no SHA-256."""
        if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
            raise ValueError(f"not a SHA-256: {digest[:80]!r}")
        return self._directory / digest

    def get(self, digest: str) -> Path:
        """The directory of an agent's files; InputError if they are missing or are not those of the digest."""
        path = self.path(digest)
        if not path.is_dir() or program_digest(path) != digest:
            raise InputError(
                f"{path}: the agent's files are missing or were changed; bring them back from a copy, or add the "
                "agent again"
            )
        return path

    def put(self, program: Path) -> Path:
        """Copy the files of an agent; returns their directory. They survive a loss of power when this returns.

        Damaged files are replaced. Raises HostError if the disk does not take them.
        """
        if program.resolve().parent == self._directory.resolve():
            return program
        digest = program_digest(program)
        path = self.path(digest)
        with self._writing():
            if path.is_dir():
                if program_digest(path) == digest:
                    return path
                _remove(path)
            with self._new() as new:
                shutil.copytree(program, new)
                self._add(new, path)
        return path

    def put_packed(self, digest: str, packed: BinaryIO) -> Path:
        """Unpack what `write_agent` made elsewhere; InputError if it holds anything but the files of `digest`."""
        path = self.path(digest)
        with self._writing():
            if path.is_dir():
                return path
            with self._new() as new:
                _unpack(packed, new)
                if program_digest(new) != digest:
                    raise InputError(f"the files that came for the agent {digest[:12]} are not its own")
                self._add(new, path)
        return path

    def remove(self, digest: str) -> None:
        """Remove the files of an agent. Raises HostError."""
        with self._writing():
            if self.path(digest).is_dir():
                _remove(self.path(digest))

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Lock the directory and remove what a killed judge left half written."""
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            with locked(self._directory / ".lock"):
                for half in self._directory.glob(f"{_NEW}*"):
                    _remove(half)
                yield
        except OSError as error:
            # `shutil` collects the errors of a tree, as (from, to, why) each.
            collected = error.args[0] if isinstance(error, shutil.Error) and error.args else []
            has_errors = isinstance(collected, list) and len(collected) > 0
            reason = str(collected[0][2]) if has_errors else error.strerror or str(error)
            raise HostError(
                f"{self._directory}: {reason}; the agent was not stored: make room there, and try again"
            ) from error

    @contextmanager
    def _new(self) -> Iterator[Path]:
        """A path for a tree that is being written; if the tree is still there at the end, it is removed."""
        outer = Path(tempfile.mkdtemp(prefix=_NEW, dir=self._directory))
        try:
            yield outer / "tree"
        finally:
            _remove(outer)

    def _add(self, new: Path, path: Path) -> None:
        """Make the files read-only, because agents run as other users, bring them to the disk, and name them.

        Directories stay writable for their owner, who may want to remove them.
        """
        for name, _, files in os.walk(new, topdown=False):
            directory = Path(name)
            for file in (directory / file for file in files):
                file.chmod(0o555 if file.stat().st_mode & 0o100 else 0o444)
                sync(file)
            directory.chmod(0o755)
            sync(directory)
        new.rename(path)
        sync(self._directory)


def pack_agent(program: Path) -> bytes:
    """What `write_agent` writes."""
    buffer = io.BytesIO()
    write_agent(program, buffer)
    return buffer.getvalue()


def write_agent(program: Path, out: IO[bytes]) -> None:
    """Write the files of an agent as a tar file: same files, same bytes."""
    with write_stream(out) as tar:
        for path in sorted(program.rglob("*")):
            if path.is_file():
                add_file(tar, path.relative_to(program).as_posix(), path)


def _unpack(packed: BinaryIO, target: Path) -> None:
    """Unpack the files of an agent that came from another host; InputError for what `write_agent` does not write."""
    names: set[str] = set()
    total_bytes = 0

    def path_of(member: TreeMember) -> str:
        nonlocal total_bytes
        total_bytes += member.size
        path = PurePosixPath(member.name)
        is_plain = path.parts and not path.is_absolute() and ".." not in path.parts and str(path) == member.name
        is_fit = is_plain and not member.is_directory and member.mode in (EXECUTABLE, PLAIN)
        if not is_fit or member.name in names or len(names) >= MAX_FILES or total_bytes > MAX_BYTES:
            raise InputError(f"not the files of an agent: {quote(member.name, 80)}")
        names.add(member.name)
        return member.name

    try:
        unpack_stream(packed, target, path_of)
    except TreeError as error:
        raise InputError(f"not the files of an agent: the archive {error}") from None
    except ValueError as error:
        raise InputError(f"not the files of an agent: {error}") from None


def _remove(tree: Path) -> None:
    """Remove a tree, read-only as it may be; raises OSError."""
    for path, _, _ in os.walk(tree):
        Path(path).chmod(0o755)
    shutil.rmtree(tree)
