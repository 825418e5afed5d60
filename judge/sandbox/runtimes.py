"""Runtimes and other images as data.

Ours are the files of images/runtimes. An organiser's image has such a file in a label.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal, TypeVar

from pydantic import Field, StringConstraints

from judge.base.durable_files import sha256_of
from judge.base.errors import InputError, os_errors_as
from judge.base.parsing import FailFastTuple, FrozenModel, parse_json
from judge.base.resources import IMAGES
from judge.base.text import suggest
from judge.base.toml_files import parse, read_text, validated
from judge.sandbox.box import WINE
from judge.sandbox.static_builds import GCC_FLAGS, content_digest

RECIPES = IMAGES / "runtimes"
ROOTFS_SCRIPT = IMAGES / "rootfs.sh"
INIT_SOURCES = IMAGES / "init"

NAME = r"[a-z0-9][a-z0-9._-]{0,39}"
"""Name of an organiser's runtime; the Engine does not accept capitals."""

Package = Annotated[
    str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9+.-]*(:[a-z0-9]+)?(\|[a-z0-9][a-z0-9+.-]*)*$", max_length=200)
]
"""Alternatives are separated by bars; the first that the distribution has is used."""
WheelLine = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9.!+_-]+( --hash=sha256:[0-9a-f]{64})+$")
]
"""pip's requirements format with a version and wheel hashes, one per machine and Python version."""
Variable = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=100)]
Line = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f-\x9f]*$", max_length=200)]
Value = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]*$", max_length=1000)]
Release = Annotated[str, StringConstraints(pattern=r"^[a-z]*$", max_length=40)]
File = TypeVar("File", bound="RuntimeFile")


class RuntimeFile(FrozenModel):
    """A runtime.toml."""

    about: Line = ""
    """One sentence for `judge images list`."""
    extends: str = "native"
    """A runtime of judge whose packages are included; empty: none."""
    packages: FailFastTuple[Package] = ()
    """Packages of the distribution; their dependencies are installed as well."""
    release: Release = ""
    """An earlier release of the distribution (such as `bullseye`) from which all packages come."""
    wheels: FailFastTuple[WheelLine] = ()
    """Wheels for Python 3: `"numpy==1.26.4 --hash=sha256:…"`. A wheel next to the file is preferred to pip's index. All
    needed wheels must be listed.
    """
    environment: dict[Variable, Value] = Field(default_factory=dict)
    """Variables that every program of the runtime receives."""
    seccomp: Literal["", "native", "toolchain", "wine32", "engine"] = ""
    """The seccomp profile that its programs need; empty: the policy's."""
    programs: tuple[str, ...] = ()
    """Scripts for /usr/bin, by their paths relative to the file."""
    provides: FailFastTuple[str] = ()
    """Modules, programs and libraries (`scipy`, `perl`, `libgfortran.so.5`) for which a report names the runtime; those
    of its wheels need no mention."""


class ImageRecipe(RuntimeFile):
    """A runtime.toml with its name, or a file of images/runtimes, which has more fields.

    `packages` include those of the runtime that it extends.
    """

    name: str
    folder: Path | None = None
    """Of the file; None for a runtime that is known by its label."""
    document: str = ""
    """Label of an organiser's runtime."""
    runs_agents: bool = True
    """Whether it is a runtime, with PID 1 of a box in it."""
    is_optional: bool = True
    steps: str = ""
    """Folder with compile.sh, which compiles files for the image into `added`, and inside.sh, the image's last step."""
    builds: tuple[str, ...] = ()
    runs_built: bool = False
    """Whether a build runs programs from /tmp, as Cargo does with build scripts and macros."""

    @property
    def tag(self) -> str:
        return f"judge/{self.name}:1"

    @property
    def build_command(self) -> str:
        return f"judge images build {self.name}{' --from FILE' if self.document else ''}"

    @property
    def steps_path(self) -> Path | None:
        return (RECIPES / self.steps).resolve() if self.steps else None

    @property
    def program_paths(self) -> tuple[Path, ...]:
        return tuple(self.folder / program for program in self.programs) if self.folder else ()

    @property
    def wheel_paths(self) -> tuple[Path, ...]:
        """Wheels next to the file that it names."""
        names = tuple(f"{line.split()[0].lower().replace('==', '-').replace('_', '-')}-" for line in self.wheels)
        found = sorted(self.folder.glob("*.whl")) if self.folder and names else ()
        return tuple(path for path in found if path.name.lower().replace("_", "-").startswith(names))

    def has(self, word: str) -> bool:
        """Whether it, unlike others, provides a module, program or library."""
        wheels = {wheel.partition("==")[0].lower().replace("-", "_") for wheel in self.wheels}
        return word in self.provides or word.lower() in wheels

    def digest(self, codename: str) -> str:
        """SHA-256 (hex) of everything that the image depends on, except the mirror."""
        init = (INIT_SOURCES, *GCC_FLAGS) if self.runs_agents else ()
        steps = filter(None, (self.steps_path,))
        if self.document:
            return content_digest(ROOTFS_SCRIPT, codename, *init, self.document)
        more = (self.release, *self.wheels, *(f"{key}={value}" for key, value in self.environment.items()))
        return content_digest(
            ROOTFS_SCRIPT, codename, *self.packages, *init, *self.program_paths, *steps, *filter(None, more)
        )


class BuiltRuntime(RuntimeFile):
    """All that decides an organiser's runtime, as the label of its image has it."""

    extends: Literal[""] = Field(default="", exclude=True)
    programs: dict[str, str] = Field(default_factory=dict)  # type: ignore[assignment]
    """SHA-256 of the files, by name."""


@cache
def recipes() -> dict[str, ImageRecipe]:
    """Our images by name, first those always built. Raises InputError."""
    files = {
        path.stem: _read(path, ImageRecipe, {"name": path.stem, "folder": RECIPES})
        for path in sorted(RECIPES.glob("*.toml"))
    }
    found = [file.model_copy(update={"packages": _packages(file, files)}) for file in files.values()]
    return {recipe.name: recipe for recipe in sorted(found, key=lambda recipe: (recipe.is_optional, recipe.name))}


def image_that_builds(kind: str) -> str:
    """Image in which such sources are built."""
    return next(recipe.name for recipe in recipes().values() if kind in recipe.builds)


def _packages(file: ImageRecipe, files: dict[str, ImageRecipe]) -> tuple[str, ...]:
    return (*(_packages(files[file.extends], files) if file.extends else ()), *file.packages)


def load_runtime(name: str, path: Path) -> ImageRecipe:
    """Recipe of the runtime.toml at `path`. Raises InputError naming file and fix."""
    if name in recipes():
        raise InputError(f"{name} is one of the judge's own images: give the runtime of {path} another name")
    if not re.fullmatch(NAME, name):
        raise InputError(f"a runtime cannot be called {name!r}: a-z, 0-9, dot, dash and underscore, at most 40")
    file = _read(path, RuntimeFile)
    packages = file.packages
    if file.extends:
        base = recipes().get(file.extends)
        if base is None or not base.runs_agents or base.name == WINE or base.release:
            others = (r for r in recipes().values() if r.runs_agents and r.name != WINE)
            fit = [r.name for r in others if not (r.release or r.builds)]
            raise InputError(f"{path}: extends: there is no {file.extends!r} to extend; {suggest(file.extends, fit)}")
        packages = (*base.packages, *packages)
    if file.wheels and not any(package.startswith("python3") for package in packages):
        raise InputError(f'{path}: wheels: they are for Python 3: add extends = "python"')
    digests = {}
    for name_of_program in file.programs:
        program = path.parent / name_of_program
        with os_errors_as(InputError, f"{path}: programs: {program}"):
            digests[program.name] = sha256_of(program)
    built = BuiltRuntime(**file.model_dump() | {"extends": "", "packages": packages, "programs": digests})
    recipe = _own(name, built)
    return recipe.model_copy(update={"programs": file.programs, "folder": path.parent})


def runtime_of_label(name: str, label: str) -> ImageRecipe:
    """Recipe from the label of an organiser's image. Raises InputError."""
    return _own(name, parse_json(BuiltRuntime, label, f"the label of the image judge/{name}:1"))


def _own(name: str, built: BuiltRuntime) -> ImageRecipe:
    return ImageRecipe(name=name, document=built.model_dump_json(), **built.model_dump(exclude={"programs"}))


def _read(path: Path, model: type[File], more: Mapping[str, object] = MappingProxyType({})) -> File:
    text = read_text(path, "a runtime.toml")
    return validated(model, parse(path, text) | dict(more), path, text)
