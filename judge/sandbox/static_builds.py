"""What is C or Java here is compiled by the host's gcc (statically) or javac; house agents only when they changed."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from judge.errors import HostError
from judge.locks import locked
from judge.resources import BUILD_DIRECTORY, IMAGES

GCC_FLAGS = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-static")
JAVAC_FLAGS = ("--release", "11", "-Xlint:all", "-Werror", "-g:none")
JAVAC_PACKAGE = "default-jdk-headless"

_NEIGHBOUR = re.compile(r'#include "\.\./([a-z-]+)/')

Progress = Callable[[str], None]
"""Takes one line of plain text that says what is being done."""


def unheard(line: str) -> None:
    """Progress that nobody asked for."""


def digest_of(*parts: str | bytes | Path) -> str:
    """SHA-256 (hex) over texts, bytes, and files or sorted folders (names and contents)."""
    total = hashlib.sha256()
    for part in parts:
        for piece in _pieces(part):
            total.update(len(piece).to_bytes(8, "big") + piece)
    return total.hexdigest()


def _pieces(part: str | bytes | Path) -> Iterator[bytes]:
    if isinstance(part, Path):
        for file in _files(part):
            yield str(file.relative_to(part.parent)).encode()
            yield file.read_bytes()
    else:
        yield part.encode() if isinstance(part, str) else part


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return sorted(f for f in path.rglob("*") if f.is_file() and "__pycache__" not in f.parts)


@contextmanager
def build_lock(name: str) -> Iterator[None]:
    """Hold the lock `name` of the build folder: of two commands at once, the second finds it done.

    Raises `HostError` where there can be no such folder.
    """
    try:
        BUILD_DIRECTORY.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(f"The folder {BUILD_DIRECTORY} cannot be made: {error.strerror}") from None
    with locked(BUILD_DIRECTORY / f"{name}.lock"):
        yield


def compile_static(sources: Iterable[Path], output: Path) -> None:
    """Compile C `sources` into the static program `output`, without warnings, in the folder of the first one.

    Raises `HostError` with the compiler's last lines when there is no gcc or it refuses.
    """
    files = list(sources)
    folder = files[0].parent
    names = [os.path.relpath(file, folder) for file in files]  # equal programs from any checkout
    _compile(["gcc", *GCC_FLAGS, "-o", str(output), *names, "-lm"], folder, "gcc libc6-dev")


def compile_java(sources: Iterable[Path], folder: Path) -> None:
    """Compile Java `sources` into class files in `folder`, without warnings; raises as `compile_static`."""
    files = list(sources)
    command = ["javac", *JAVAC_FLAGS, "-d", str(folder), *(f.name for f in files)]
    _compile(command, files[0].parent, JAVAC_PACKAGE)


def _compile(command: list[str], sources: Path, packages: str) -> None:
    """Run a compiler in the folder `sources`; `packages` of the distribution have it."""
    try:
        done = subprocess.run(command, cwd=sources, capture_output=True, text=True, errors="replace", check=False)
    except FileNotFoundError:
        raise HostError(f"There is no {command[0]} on this host: apt-get install {packages}") from None
    if done.returncode != 0:
        tail = "\n".join(done.stderr.splitlines()[-12:])
        raise HostError(f"{command[0]} could not compile {sources}:\n{tail}")


def house_agent_names() -> list[str]:
    """The agents that ship with the judge, sorted: the folders `images/house-*` with a manifest."""
    return sorted(p.parent.name for p in IMAGES.glob("house-*/agent.toml"))


def build_house_agents(progress: Progress | None = None) -> dict[str, Path]:
    """Make `BUILD_DIRECTORY/<name>/` for each house agent: its files, with the program in place of C sources.

    What is current is left alone; an agent in Java is left out where there is no javac, which nothing else needs.
    Returns the folder of each by name; `HostError` where a compiler fails.
    """
    say = progress or unheard
    with build_lock("house"):
        return {
            name: _build_house_agent(IMAGES / name, say)
            for name in house_agent_names()
            if _can_build(IMAGES / name, say)
        }


def _can_build(source: Path, say: Progress) -> bool:
    if not any(source.glob("*.java")) or shutil.which("javac"):
        return True
    say(f"{source.name} is left out: there is no javac here (apt-get install {JAVAC_PACKAGE})")
    return False


def _build_house_agent(source: Path, say: Progress) -> Path:
    target = BUILD_DIRECTORY / source.name
    stamp = BUILD_DIRECTORY / f"{source.name}.stamp"  # beside the folder: what is in it is the agent, and counts
    digest = digest_of(*_folders_of(source), *GCC_FLAGS, *JAVAC_FLAGS)
    if target.is_dir() and stamp.is_file() and stamp.read_text() == digest:
        return target
    say(f"building {source.name}")
    with tempfile.TemporaryDirectory(dir=BUILD_DIRECTORY) as scratch:
        fresh = Path(scratch) / "fresh"
        _assemble(source, fresh)
        stamp.unlink(missing_ok=True)
        if target.exists():
            target.rename(Path(scratch) / "old")
        fresh.rename(target)
    stamp.write_text(digest)
    return target


def _folders_of(agent: Path) -> list[Path]:
    """The agent's own folder, then those that it shares with others.

    To include `"../house-five/board.h"` makes all of house-five part of the program, and what that includes in turn.
    """
    folders = [agent]
    for folder in folders:
        for file in sorted(folder.glob("*.[ch]")):
            for name in _NEIGHBOUR.findall(file.read_text()):
                if agent.parent / name not in folders:
                    folders.append(agent.parent / name)
    return folders


def _assemble(source: Path, folder: Path) -> None:
    """Fill the new `folder`: everything that is not compiled, and what the compilers make of the rest."""
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("*.c", "*.h", "*.java", "__pycache__"))
    if programs := [file for part in _folders_of(source) for file in sorted(part.glob("*.c"))]:
        compile_static(programs, folder / source.name)
    if classes := sorted(source.glob("*.java")):
        compile_java(classes, folder)
