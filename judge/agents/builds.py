"""Selects how sources are built: by `[build]` of agent.toml, or by the names of the files.

The scripts in images/toolchain/build build them, in a box with the image that has the kind in `builds`.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from judge.agents.program_files import file_inside
from judge.base.bookkeeping import own_paths
from judge.base.durable_files import is_directory, is_file
from judge.base.errors import InputError
from judge.base.parsing import FrozenModel
from judge.base.resources import IMAGES
from judge.base.text import quote, sentence
from judge.sandbox.layout import HOME

AT = f"{HOME}/tree"
"""Fixed, because compilers store it in their output."""

SCRIPTS = IMAGES / "toolchain" / "build"

KINDS = {
    "c": (".c",),
    "c++": (".cpp", ".cc", ".cxx"),
    "clang": (),
    "rust": (".rs",),
    "java": (".java",),
    "python": (".py",),
    "make": ("Makefile", "makefile", "GNUmakefile"),
    "cmake": ("CMakeLists.txt",),
    "cargo": ("Cargo.toml",),
    "go": ("go.mod", ".go"),
    "maven": ("pom.xml",),
    "pascal": (".pas", ".pp", ".dpr", ".lpr"),
    "c#": (".cs",),
    "javascript": (".js", ".mjs"),
}
"""Build files and endings of sources that select a build."""

LANGUAGES_NOT_BUILT = {
    "F#": (".fs", ".fsproj"),
    "Visual Basic": (".vb", ".vbproj"),
    "Fortran": (".f", ".for", ".f77", ".f90", ".f95"),
    "Haskell": (".hs",),
    "TypeScript": (".ts",),
    "Kotlin": (".kt",),
    "Scala": (".scala",),
    "Swift": (".swift",),
    "OCaml": (".ml",),
    "Nim": (".nim",),
    "Zig": (".zig",),
    "D": (".d",),
    "Lua": (".lua",),
    "Ruby": (".rb",),
    "Perl": (".pl",),
    "Julia": (".jl",),
}
NOT_BUILT = sentence(f"no source that is built here ({', '.join(KINDS)}): send a program instead")

if TYPE_CHECKING:
    Kind = str
else:
    Kind = Literal[tuple(KINDS)]


class BuildTable(FrozenModel):
    """`[build]` of an agent.toml: how to build the agent from its sources."""

    kind: Kind | None = None
    """None: selected by the names of the files."""
    main: str = ""
    """The main program: a class (java, maven), a package (go), one of several programs (cargo, cmake), or a file.
    Empty: the only one, or the file with the language's usual name.
    """
    flags: tuple[str, ...] = ()
    """Additional words for the compiler (`-std=c++20`), make (a target, `CXX=g++`), cmake (`-DNAME=VALUE`) or cargo."""


@dataclass(frozen=True, slots=True)
class Build:
    """Arguments of a script, and the keys that the agent.toml lacks."""

    kind: Kind
    program: str
    main: str
    flags: tuple[str, ...]
    name: str
    missing: tuple[str, ...]

    @property
    def script(self) -> Path:
        return SCRIPTS / self.kind

    def __str__(self) -> str:
        """All that determines the build, on one line."""
        digest = hashlib.sha256((SCRIPTS / "common").read_bytes() + self.script.read_bytes()).hexdigest()
        words = {"kind": self.kind, "program": self.program, "main": self.main, "flags": self.flags}
        return json.dumps({**words, "name": self.name, "missing": self.missing, "script": digest})


@dataclass(frozen=True, slots=True)
class Sources:
    """`command` is empty if none is given."""

    tree: Path
    name: str
    command: tuple[str, ...] = ()
    table: BuildTable | None = None
    given_keys: frozenset[str] = frozenset()
    """Keys in its agent.toml."""

    def program(self) -> str:
        """The file to make."""
        first, *rest = *self.command, ""
        if first == "mono":
            return f"./{rest[0]}"
        if first.startswith("./"):
            return first
        return f"./{self.name}{'.bin' if is_directory(self.tree / self.name) else ''}"


def is_built(name: str) -> bool:
    """Such a file can select a build."""
    return bool(_build_files([name]) or _languages([name]))


def language_of(source: Path) -> str:
    """Unsupported languages of the files, or ""."""
    paths = own_paths(source) if source.is_dir() else iter([source])
    endings = {path.suffix.lower() for path in paths}
    return " and ".join(name for name, known in LANGUAGES_NOT_BUILT.items() if endings & {*known})


def build_for(sources: Sources) -> Build | None:
    """None if no build is needed. Raises InputError with the fix."""
    table = sources.table or BuildTable()
    if sources.table is None and sources.command and not _is_missing(sources):
        return None
    kind = table.kind or _kind_of(sources.tree)
    if kind is None:
        if sources.table is not None:
            raise InputError(sentence(f"[build] of agent.toml: there is {NOT_BUILT}"))
        return None
    needed = () if sources.command else ("name", "command", "runtime")
    missing = tuple(key for key in needed if key not in sources.given_keys)
    return Build(kind, sources.program(), table.main, table.flags, sources.name, missing)


def _is_missing(sources: Sources) -> bool:
    first, *rest = sources.command
    if first == "java":
        if any(sources.tree.rglob("*.class")):
            return False
        # .jar files do not suffice if the tree has the source of the main class.
        classes = {word.rpartition(".")[2] for word in rest}
        is_sent = any(path.stem in classes for path in sources.tree.rglob("*.java"))
        return is_sent or not any(sources.tree.rglob("*.jar"))
    if first == "mono":
        return not any(sources.tree.rglob("*.exe"))
    return first.startswith("./") and file_inside(sources.tree, first) is None


def _kind_of(tree: Path) -> Kind | None:
    """By the build file at the top, else by the only language of the sources."""
    found = _build_files(sorted(path.name for path in tree.iterdir() if is_file(path)))
    found = found or _languages(path.relative_to(tree).as_posix() for path in own_paths(tree) if is_file(path))
    if len(found) > 1:
        lines = " or ".join(f"[build] kind = {json.dumps(kind)}" for kind in found)
        names = " and ".join(quote(name, 80) for name in found.values())
        raise InputError(sentence(f"{names} select different builds: choose one in agent.toml: {lines}"))
    return next(iter(found), None)


def _build_files(names: Iterable[str]) -> dict[Kind, str]:
    kind_of = {name: kind for kind, names_of in KINDS.items() for name in names_of if not name.startswith(".")}
    return {kind_of[name]: name for name in names if name in kind_of}


def _languages(names: Iterable[str]) -> dict[Kind, str]:
    """The first source of each language; C next to C++ is compiled with it."""
    kind_of = {ending: kind for kind, endings in KINDS.items() for ending in endings if ending.startswith(".")}
    found: dict[Kind, str] = {}
    for name in names:
        if kind := kind_of.get(Path(name).suffix.lower()):
            found.setdefault(kind, name)
    return {kind: name for kind, name in found.items() if kind != "c" or "c++" not in found}
