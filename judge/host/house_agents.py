"""Builds the house agents when their sources changed."""

import re
import shutil
from pathlib import Path

from judge.base.resources import IMAGES, house_agent_names
from judge.host.compilers import JAVAC_FLAGS, JAVAC_PACKAGE, compile_java, compile_static, has_javac, rebuild_folder
from judge.sandbox.static_builds import GCC_FLAGS, Progress, build_lock, content_digest, ignore_progress

_NEIGHBOUR = re.compile(r'#include "\.\./([a-z-]+)/')


def build_house_agents(progress: Progress = ignore_progress) -> dict[str, Path]:
    """Build `BUILD_DIRECTORY/<name>/` for each house agent: its files, with C sources compiled.

    Without javac, Java agents are skipped. Returns folders by name; raises `HostError`.
    """
    built: dict[str, Path] = {}
    with build_lock("house"):
        for name in house_agent_names():
            if any((IMAGES / name).glob("*.java")) and not has_javac():
                progress(
                    f"{name} is left out: there is no javac here (judge images build toolchain, or apt-get install "
                    f"{JAVAC_PACKAGE})"
                )
            else:
                built[name] = _build_house_agent(IMAGES / name, progress)
    return built


def _build_house_agent(source: Path, say: Progress) -> Path:
    def build(folder: Path) -> None:
        say(f"building {source.name}")
        sources = shutil.ignore_patterns("*.c", "*.h", "*.java", "__pycache__")
        shutil.copytree(source, folder, ignore=sources, dirs_exist_ok=True)
        if programs := [file for part in _folders_of(source) for file in sorted(part.glob("*.c"))]:
            compile_static(programs, folder / source.name)
        if classes := sorted(source.glob("*.java")):
            compile_java(classes, folder)

    return rebuild_folder(source.name, content_digest(*_folders_of(source), *GCC_FLAGS, *JAVAC_FLAGS), build)


def _folders_of(agent: Path) -> list[Path]:
    """The folder and those that it includes, recursively.

    An include of `"../house-five/board.h"` makes all of house-five part of the program.
    """
    folders = [agent]
    for folder in folders:
        for file in sorted(folder.glob("*.[ch]")):
            for name in _NEIGHBOUR.findall(file.read_text()):
                if agent.parent / name not in folders:
                    folders.append(agent.parent / name)
    return folders
