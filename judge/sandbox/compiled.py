"""What is C here is compiled by the host's gcc, statically; house agents only when they changed."""

from __future__ import annotations

import fcntl
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

CHECKOUT = Path(__file__).resolve().parents[2]
IMAGES = CHECKOUT / "images"
BUILD_DIRECTORY = CHECKOUT / ".build"

GCC_FLAGS = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-static")

_NEIGHBOUR = re.compile(r'#include "\.\./([a-z-]+)/')

Progress = Callable[[str], None]
"""Takes one line of plain text that says what is being done."""


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
    """Hold the lock `name` of the build folder: of two commands at once, the second finds it done."""
    BUILD_DIRECTORY.mkdir(exist_ok=True)
    with (BUILD_DIRECTORY / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def compile_static(sources: Iterable[Path], output: Path) -> None:
    """Compile C `sources` into the static program `output`, without warnings, in the folder of the first one.

    Raises `HostError` with the compiler's last lines when there is no gcc or it refuses.
    """
    files = list(sources)
    folder = files[0].parent
    names = [os.path.relpath(file, folder) for file in files]  # equal programs from any checkout
    command = ["gcc", *GCC_FLAGS, "-o", str(output), *names, "-lm"]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except FileNotFoundError:
        raise HostError("There is no gcc on this host: apt-get install gcc libc6-dev") from None
    if done.returncode != 0:
        tail = "\n".join(done.stderr.splitlines()[-12:])
        raise HostError(f"gcc could not compile {output.name} from {folder}:\n{tail}")


def house_agent_names() -> list[str]:
    """The agents that ship with the judge, sorted: the folders `images/house-*` with a manifest."""
    return sorted(p.parent.name for p in IMAGES.glob("house-*/agent.toml"))


def build_house_agents(progress: Progress | None = None) -> dict[str, Path]:
    """Make `.build/<name>/` for each house agent: its files, with the program in place of C sources.

    What is current is left alone. Returns the folder of each by name; `HostError` where gcc fails.
    """
    with build_lock("house"):
        return {name: _build_house_agent(IMAGES / name, progress) for name in house_agent_names()}


def _build_house_agent(source: Path, progress: Progress | None) -> Path:
    target = BUILD_DIRECTORY / source.name
    stamp = (
        BUILD_DIRECTORY / f"{source.name}.stamp"
    )  # beside the folder: what is in it is the agent, and counts
    digest = digest_of(*_folders_of(source), *GCC_FLAGS)
    if target.is_dir() and stamp.is_file() and stamp.read_text() == digest:
        return target
    if progress is not None:
        progress(f"building {source.name}")
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
    """Fill the new `folder`: everything that is not C, and the program that the C makes."""
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("*.c", "*.h", "__pycache__"))
    programs = [file for part in _folders_of(source) for file in sorted(part.glob("*.c"))]
    if programs:
        compile_static(programs, folder / source.name)
