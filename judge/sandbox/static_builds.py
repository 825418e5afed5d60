"""Compiles C on this host; locks of the build folder, and digests of sources."""

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


def static_command(sources: Iterable[Path], output: str) -> tuple[list[str], Path]:
    """Command that compiles C, and the folder in which it runs: equal programs from any checkout."""
    files = list(sources)
    folder = files[0].parent
    return ["gcc", *GCC_FLAGS, "-o", output, *(os.path.relpath(file, folder) for file in files), "-lm"], folder


def compile_on_host(sources: Iterable[Path], output: Path) -> None:
    """Compile C `sources` by gcc. Raises `HostError` with its last lines if it fails or is missing."""
    command, folder = static_command(sources, str(output))
    run_compiler(command, folder, "gcc libc6-dev")


def run_compiler(command: list[str], folder: Path, packages: str) -> None:
    """`packages` has the compiler. Raises as `compile_on_host`."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    except FileNotFoundError:
        raise HostError(f"There is no {command[0]} on this host: apt-get install {packages}") from None
    if done.returncode != 0:
        tail = "\n".join(done.stderr.splitlines()[-12:])
        raise HostError(f"{command[0]} could not compile {folder}:\n{tail}")
