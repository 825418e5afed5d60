"""Compiles C statically and Java; locks the build folder, and digests sources."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from judge.base.errors import HostError
from judge.base.locks import locked
from judge.base.resources import BUILD_DIRECTORY

GCC_FLAGS = ("-std=c11", "-O2", "-static")
"""Warnings are no errors: newer compilers have more."""
JAVAC_FLAGS = ("--release", "11", "-g:none")
JAVAC_PACKAGE = "default-jdk-headless"

Progress = Callable[[str], None]


def ignore_progress(line: str) -> None:
    """Say nothing."""


def content_digest(*parts: str | bytes | Path) -> str:
    """SHA-256 (hex) over texts, bytes, and files or sorted folders (names and contents)."""
    total = hashlib.sha256()
    for part in parts:
        for piece in _pieces(part):
            total.update(len(piece).to_bytes(8, "big") + piece)
    return total.hexdigest()


def _pieces(part: str | bytes | Path) -> Iterator[bytes]:
    if isinstance(part, Path):
        files = [part]
        if not part.is_file():
            files = sorted(f for f in part.rglob("*") if f.is_file() and "__pycache__" not in f.parts)
        for file in files:
            yield str(file.relative_to(part.parent)).encode()
            yield file.read_bytes()
    else:
        yield part.encode() if isinstance(part, str) else part


@contextmanager
def build_lock(name: str) -> Iterator[None]:
    """Lock `name` of the build folder. Raises `HostError` if this user cannot write there."""
    with ExitStack() as stack:
        try:
            BUILD_DIRECTORY.mkdir(parents=True, exist_ok=True)
            stack.enter_context(locked(BUILD_DIRECTORY / f"{name}.lock"))
        except OSError as error:
            raise HostError(
                f"{error.filename or BUILD_DIRECTORY}: {error.strerror}: nothing can be built; give the folder "
                f"{BUILD_DIRECTORY} to the user who builds"
            ) from None
        yield


def compile_static(sources: Iterable[Path], output: Path) -> None:
    """Compile C `sources` in the folder of the first.

    Raises `HostError` with the compiler's last lines if it fails or is missing.
    """
    files = list(sources)
    folder = files[0].parent
    names = [os.path.relpath(file, folder) for file in files]  # equal programs from any checkout
    _compile(["gcc", *GCC_FLAGS, "-o", str(output), *names, "-lm"], folder, "gcc libc6-dev")


def compile_java(sources: Iterable[Path], folder: Path) -> None:
    """Class files in `folder`; raises as `compile_static`."""
    files = list(sources)
    command = ["javac", *JAVAC_FLAGS, "-d", str(folder), *(f.name for f in files)]
    _compile(command, files[0].parent, JAVAC_PACKAGE)


def _compile(command: list[str], sources: Path, packages: str) -> None:
    """The distribution's `packages` have the compiler."""
    try:
        done = subprocess.run(command, cwd=sources, capture_output=True, text=True, errors="replace", check=False)
    except FileNotFoundError:
        raise HostError(f"There is no {command[0]} on this host: apt-get install {packages}") from None
    if done.returncode != 0:
        tail = "\n".join(done.stderr.splitlines()[-12:])
        raise HostError(f"{command[0]} could not compile {sources}:\n{tail}")
