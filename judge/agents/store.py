"""Agents' files by digest: complete, read-only, and checked when used.

    DIRECTORY/DIGEST/        an agent's files; the digest is `judge.agents.program_files.program_digest`
    DIRECTORY/.new-*/        incomplete files

An agent has no own image, only its runtime's.
"""

import io
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO

from judge.agents.program_files import MAX_BYTES, MAX_FILES, program_digest
from judge.base.durable_files import checked_sha256, sync
from judge.base.errors import HostError, InputError
from judge.base.locks import locked
from judge.base.text import quote
from judge.base.tree_tar import EXECUTABLE, PLAIN, TreeError, TreeMember, add_file, unpack_stream, write_stream

_NEW = ".new-"


class AgentStore:
    """Agents' files in a directory."""

    def __init__(self, directory: Path) -> None:
        """It is created when needed."""
        self._directory = directory

    def digests(self) -> frozenset[str]:
        if not self._directory.is_dir():
            return frozenset()
        return frozenset(path.name for path in self._directory.iterdir() if "." not in path.name)

    def path(self, digest: str) -> Path:
        """It may be missing. Raises ValueError for an invalid digest."""
        return self._directory / checked_sha256(digest)

    def get(self, digest: str) -> Path:
        """Raises InputError if files are missing or changed."""
        path = self.path(digest)
        if not path.is_dir() or program_digest(path) != digest:
            raise InputError(
                f"{path}: the agent's files are missing or were changed; restore them from a backup, or add the "
                "agent again"
            )
        return path

    def put(self, program: Path) -> Path:
        """Copy an agent's files durably, replacing damaged ones. Raises HostError."""
        if program.resolve().parent == self._directory.resolve():
            return program
        digest = program_digest(program)
        path = self.path(digest)
        with self._writing():
            if path.is_dir():
                if program_digest(path) == digest:
                    return path
                _remove(path)
            with tempfile.TemporaryDirectory(prefix=_NEW, dir=self._directory) as outer:
                new = Path(outer, "tree")
                shutil.copytree(program, new)
                self._add(new, path)
        return path

    def put_packed(self, digest: str, packed: BinaryIO) -> Path:
        """Unpack an output of `write_agent`. Raises InputError if `digest` does not match."""
        path = self.path(digest)
        with self._writing():
            if path.is_dir():
                return path
            with tempfile.TemporaryDirectory(prefix=_NEW, dir=self._directory) as outer:
                new = Path(outer, "tree")
                _unpack(packed, new)
                if program_digest(new) != digest:
                    raise InputError(f"the files that came for the agent {digest[:12]} are not its own")
                self._add(new, path)
        return path

    def remove_damaged(self, digest: str) -> None:
        """Remove an agent if its files were changed. Raises HostError."""
        path = self.path(digest)
        with self._writing():
            # Another thread may have stored it since the caller's check.
            if path.is_dir() and program_digest(path) != digest:
                _remove(path)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Also removes incomplete files of killed judges."""
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            with locked(self._directory / ".lock"):
                for half in self._directory.glob(f"{_NEW}*"):
                    _remove(half)
                yield
        except OSError as error:
            # `shutil` collects (source, target, reason).
            collected = error.args[0] if isinstance(error, shutil.Error) and error.args else []
            has_errors = isinstance(collected, list) and len(collected) > 0
            reason = str(collected[0][2]) if has_errors else error.strerror or str(error)
            raise HostError(
                f"{self._directory}: {reason}; the agent was not stored: make room there, and try again"
            ) from error

    def _add(self, new: Path, path: Path) -> None:
        """Agents run as other users. Directories stay writable, so that their owner can remove them."""
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
    """Return `write_agent`'s output."""
    buffer = io.BytesIO()
    write_agent(program, buffer)
    return buffer.getvalue()


def write_agent(program: Path, out: IO[bytes]) -> None:
    """Write a reproducible tar file."""
    with write_stream(out) as tar:
        for path in sorted(program.rglob("*")):
            if path.is_file():
                add_file(tar, path.relative_to(program).as_posix(), path)


def _unpack(packed: BinaryIO, target: Path) -> None:
    """Raises InputError for anything that `write_agent` does not write."""
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
    for path, _, _ in os.walk(tree):
        Path(path).chmod(0o755)
    shutil.rmtree(tree)
