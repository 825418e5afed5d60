"""Writes the Dockerfile of an image and the files that it needs: the build context."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from judge.base.durable_files import write_durably
from judge.base.resources import DEFAULT_BASE
from judge.sandbox.runtimes import INIT_SOURCES, ROOTFS_SCRIPT, ImageRecipe
from judge.sandbox.static_builds import GCC_FLAGS

COMPILER = "compiler"
"""Stage with a compiler in /rootfs."""
BUILDER = "judge.builder"
"""Label of a build's stages and containers: the process that builds."""

BUILD_ARGUMENTS = ("MIRROR", "APT_OPTIONS", "PIP_INDEX_URL")
"""Set by an organiser."""

_COMPILER_PACKAGES = ("gcc", "libc6-dev", "dash", "coreutils")
_APT_STAGE = f"""\
ARG BASE={DEFAULT_BASE}

# MIRROR: another mirror of the distribution; APT_OPTIONS: lines of an apt.conf. rootfs.sh describes each step.
FROM ${{BASE}} AS apt
USER 0
ARG MIRROR
ARG APT_OPTIONS
ENV MIRROR=${{MIRROR}} APT_OPTIONS=${{APT_OPTIONS}}
COPY rootfs.sh /judge/
"""
_COMPILER_STAGE = f"""\
# The compiler has its own root, because the base may have another libc.
FROM apt AS {COMPILER}
RUN /judge/rootfs.sh unpack /rootfs {" ".join(_COMPILER_PACKAGES)} && rm -r /rootfs/var
COPY init/ /rootfs/init/
RUN chroot /rootfs dash -c 'cd init && gcc {" ".join(GCC_FLAGS)} -o init *.c -lm'
"""
"""Equal in all Dockerfiles, so that the Engine runs it once."""

_LABEL = ("ARG BUILDER", f"LABEL {BUILDER}=${{BUILDER}}")

Files = Mapping[str, tuple[bytes, int]]
"""Contents and modes by path."""


def dockerfile(recipe: ImageRecipe) -> str:
    """A Dockerfile that any Engine with or without BuildKit builds."""
    about = f": {recipe.about}" if recipe.about else ""
    stages = [f"# {recipe.tag}{about}\n{_APT_STAGE}"]
    if recipe.runs_agents:
        stages.append(_COMPILER_STAGE)
    if recipe.runs_agents and recipe.steps_path:
        lines = ["COPY added/judge/inside/ /rootfs/inside/", "RUN chroot /rootfs dash /inside/compile.sh\n"]
        stages.append("\n".join([f"FROM {COMPILER} AS steps", *_LABEL, *lines]))
    stages.append(_files_stage(recipe))
    source, path = "files", "/rootfs"
    if recipe.steps_path:
        lines = ["COPY --from=files /rootfs /", 'RUN ["/judge/inside/inside.sh"]\n']
        stages.append("\n".join(["FROM scratch AS inside", *_LABEL, *lines]))
        source, path = "inside", "/"
    variables = "".join(f"ENV {name}={quoted(value)}\n" for name, value in environment(recipe).items())
    stages.append(f"FROM scratch\nCOPY --from={source} {path} /\n{variables}")
    return "\n".join(stages)


def _files_stage(recipe: ImageRecipe) -> str:
    packages = " \\\n        ".join(shlex.quote(package) for package in recipe.packages)
    release = f"RELEASE={recipe.release} " if recipe.release else ""
    lines = ["FROM apt AS files", *_LABEL]
    if recipe.wheels:
        lines += ["ARG PIP_INDEX_URL", "RUN /judge/rootfs.sh add-pip"]
    lines += [f"RUN {release}/judge/rootfs.sh unpack /rootfs \\\n        {packages}"]
    if recipe.runs_agents:
        lines += ["COPY --from=compiler /rootfs/init/init /rootfs/judge/init"]
    if recipe.programs or recipe.wheels or recipe.steps:
        lines += ["COPY added/ /rootfs/"]
    if recipe.steps_path:
        lines += ["COPY --from=steps /rootfs/inside/added/ /rootfs/"]
    return "\n".join([*lines, "RUN /judge/rootfs.sh finish /rootfs\n"])


def environment(recipe: ImageRecipe) -> dict[str, str]:
    """Variables of the image."""
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", **recipe.environment}


def quoted(value: str) -> str:
    """As the Engine reads it, which interprets quotes, backslashes and variables."""
    return '"' + "".join(f"\\{each}" if each in '"\\$' else each for each in value) + '"'


def added_files(recipe: ImageRecipe) -> Files:
    """Files that come into the image in addition to its packages, by their paths in it."""
    files = {f"usr/bin/{program.name}": (program.read_bytes(), 0o555) for program in recipe.program_paths}
    if recipe.wheels:
        lines = "".join(f"{line}\n" for line in recipe.wheels)
        files["judge/wheels/wheels.txt"] = (lines.encode(), 0o644)
        files |= {f"judge/wheels/{path.name}": (path.read_bytes(), 0o644) for path in recipe.wheel_paths}
    if steps := recipe.steps_path:
        files |= {f"judge/inside/{path.name}": _file(path) for path in sorted(steps.iterdir())}
    return files


def _file(path: Path) -> tuple[bytes, int]:
    return path.read_bytes(), 0o755 if path.suffix == ".sh" else 0o644


def context(recipe: ImageRecipe) -> Files:
    """All files of the build context, with the Dockerfile."""
    return {
        "Dockerfile": (dockerfile(recipe).encode(), 0o644),
        "rootfs.sh": _file(ROOTFS_SCRIPT),
        **{f"init/{path.name}": _file(path) for path in sorted(INIT_SOURCES.iterdir()) if recipe.runs_agents},
        **{f"added/{path}": file for path, file in added_files(recipe).items()},
    }


def write_files(files: Files, folder: Path) -> None:
    """Write them below `folder`. Raises OSError."""
    for name, (data, mode) in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_durably(path, data)
        path.chmod(mode)
