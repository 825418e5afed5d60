"""The house agents: compiled when their sources changed, otherwise taken as they are."""

import re
import shutil
import tempfile
from pathlib import Path

from judge.base.resources import BUILD_DIRECTORY, IMAGES
from judge.sandbox.static_builds import (
    GCC_FLAGS,
    JAVAC_FLAGS,
    JAVAC_PACKAGE,
    Progress,
    build_lock,
    compile_java,
    compile_static,
    content_digest,
    ignore_progress,
)

_NEIGHBOUR = re.compile(r'#include "\.\./([a-z-]+)/')


def house_agent_names() -> list[str]:
    """The agents that ship with the judge, sorted: the folders `images/house-*` with a manifest."""
    return sorted(p.parent.name for p in IMAGES.glob("house-*/agent.toml"))


def build_house_agents(progress: Progress = ignore_progress) -> dict[str, Path]:
    """Make `BUILD_DIRECTORY/<name>/` for each house agent: its files, with the program in place of C sources.

    What is current is left alone; an agent in Java is left out where there is no javac, which nothing else needs.
    Returns the folder of each by name; `HostError` where a compiler fails.
    """
    built: dict[str, Path] = {}
    with build_lock("house"):
        for name in house_agent_names():
            if any((IMAGES / name).glob("*.java")) and not shutil.which("javac"):
                progress(f"{name} is left out: there is no javac here (apt-get install {JAVAC_PACKAGE})")
            else:
                built[name] = _build_house_agent(IMAGES / name, progress)
    return built


def _build_house_agent(source: Path, say: Progress) -> Path:
    target = BUILD_DIRECTORY / source.name
    stamp = BUILD_DIRECTORY / f"{source.name}.stamp"  # beside the folder: what is in it is the agent, and counts
    digest = content_digest(*_folders_of(source), *GCC_FLAGS, *JAVAC_FLAGS)
    if target.is_dir() and stamp.is_file() and stamp.read_text() == digest:
        return target
    say(f"building {source.name}")
    with tempfile.TemporaryDirectory(dir=BUILD_DIRECTORY) as scratch:
        fresh = Path(scratch) / "fresh"
        shutil.copytree(source, fresh, ignore=shutil.ignore_patterns("*.c", "*.h", "*.java", "__pycache__"))
        if programs := [file for part in _folders_of(source) for file in sorted(part.glob("*.c"))]:
            compile_static(programs, fresh / source.name)
        if classes := sorted(source.glob("*.java")):
            compile_java(classes, fresh)
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
