"""Copies an agent's files, and computes their digest."""

import errno
import hashlib
import os
import shutil
import stat
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from judge.agents.programs import needs_executable_bit
from judge.base.bookkeeping import own_paths
from judge.base.durable_files import is_directory, is_file, is_link
from judge.base.errors import HostError, InputError
from judge.base.text import sentence

MAX_FILES = 10_000
MAX_BYTES = 1 << 30
MAX_DEPTH = 64
"""Names in a path. Python copies directories recursively."""


def file_inside(source: Path, word: str) -> Path | None:
    """The file that a word of a command names, if it is one of the agent's: others are of this host, not of the box."""
    if "\0" in word:
        return None
    file = Path(os.path.realpath(source / word))  # Path.resolve raises for loops
    return file if file.is_relative_to(os.path.realpath(source)) and is_file(file) else None


def program_digest(program: Path) -> str:
    """SHA-256 over files' names, executable bits and contents, ordered by name."""
    return digest_of_files(
        (
            path.relative_to(program).as_posix(),
            bool(path.stat().st_mode & stat.S_IXUSR),
            hashlib.sha256(path.read_bytes()).digest(),
        )
        for path in sorted(program.rglob("*"))
        if path.is_file()
    )


def digest_of_files(files: Iterable[tuple[str, bool, bytes]]) -> str:
    """`program_digest` of relative paths, executable bits and SHA-256, ordered as paths."""
    digest = hashlib.sha256()
    for path, is_executable, content in files:
        name = path.encode("utf-8", "surrogateescape")
        digest.update(len(name).to_bytes(4, "little") + name + (b"x" if is_executable else b"-") + content)
    return digest.hexdigest()


def similar_path(top: Path, name: str) -> str:
    """The path below `top` that differs from `name` in case or Unicode form; empty if missing or ambiguous."""
    found: list[str] = []
    for part in PurePosixPath(name).parts:
        try:
            names = os.listdir(top.joinpath(*found))  # noqa: PTH208
        except (OSError, ValueError):
            return ""
        same = [part] if part in names else [each for each in names if folded(each) == folded(part)]
        if len(same) != 1:
            return ""
        found += same
    return "/".join(found)


def folded(name: str) -> str:
    """Without case and Unicode form."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def new_directory(staging: Path, name: str) -> Path:
    """Any user can read it: the agent runs as another."""
    number = sum(1 for _ in staging.iterdir())
    path = staging / f"{number}-{name}"
    path.mkdir(mode=0o755)
    path.chmod(0o755)
    return path


def copy_directory(source: Path, target: Path) -> None:
    """Raises InputError for special files, and for too many."""
    total = 0
    for count, path in enumerate(_files(source)):
        total += path.stat().st_size
        if count >= MAX_FILES or total > MAX_BYTES:
            raise InputError(sentence(f"{source}: more than {MAX_FILES} files or {MAX_BYTES} bytes"))
        name = path.relative_to(source)
        if len(name.parts) > MAX_DEPTH:
            raise InputError(
                sentence(f"{source}: a file is deeper than {MAX_DEPTH} names: move it up, or leave it out")
            )
        to = target / name
        to.parent.mkdir(parents=True, exist_ok=True)
        copy_file(path, to, is_executable=bool(path.stat().st_mode & stat.S_IXUSR))
    for path in target.rglob("*"):
        if path.is_dir():
            path.chmod(0o755)


def copy_file(source: Path, target: Path, *, is_executable: bool) -> None:
    """Programs get an executable bit, which archives made on Windows lack."""
    try:
        shutil.copyfile(source, target)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise HostError(f"{target}: {error.strerror}: make room there, or set TMPDIR") from None
        raise InputError(f"{source}: {error.strerror}") from None
    target.chmod(0o755 if is_executable or needs_executable_bit(target) else 0o644)


def _files(source: Path) -> Iterator[Path]:
    """A link counts as its target."""
    root = os.path.realpath(source)
    for path in sorted(own_paths(source)):
        if is_link(path) and (fault := _fault_of_link(path, root)):
            raise InputError(f"{path}: {fault}")
        if is_directory(path):
            if not os.access(path, os.R_OK | os.X_OK):
                raise InputError(sentence(f"{path}: this directory cannot be read; permit it: chmod u+rx"))
            continue
        if not is_file(path):
            raise InputError(sentence(f"{path}: not a regular file; an agent is made of files and directories"))
        yield path


def _fault_of_link(path: Path, root: str) -> str:
    try:
        found = os.path.realpath(path, strict=True)
    except OSError as error:
        if error.errno == errno.ELOOP:
            return sentence("a link that leads to itself; remove it, or copy the file instead")
        return sentence(f"a link to {str(path.readlink())!r}, which is missing; remove it, or copy the file instead")
    if found != root and not found.startswith(f"{root.rstrip(os.sep)}{os.sep}"):
        return sentence("a link that leads out of the agent's directory; copy the file instead (cp -L)")
    if os.path.isdir(found):  # noqa: PTH112
        return sentence("a link to a directory; copy the directory instead (cp -rL)")
    return ""
