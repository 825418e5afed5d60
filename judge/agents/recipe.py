"""Selects the build of a source tree, by its `[build]` table or its files.

Commands are lists of words, without a shell. Files are named with `./`, so that none is taken for an option. The build
must produce the played program; if the author names none, an agent.toml is added.
"""

import json
import platform
import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

from judge.agents.program_files import folded
from judge.agents.programs import python_words
from judge.base.bookkeeping import own_paths
from judge.base.durable_files import is_directory, is_file
from judge.base.errors import InputError
from judge.base.text import quote, sentence
from judge.base.toml_files import parse as parse_toml
from judge.sandbox.layout import HOME, PROGRAM, SCRATCH

AT = f"{HOME}/tree"
"""Fixed, because compilers store it in their output."""


class SourceLanguage(BaseModel):
    """How to build a language; `languages.toml` describes the keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    endings: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    rank: int = 0
    marks: tuple[str, ...] = ()
    mains: tuple[str, ...] = ()
    begins: str = ""
    tests: str = ""
    commands: tuple[tuple[str, ...], ...] = ()
    runtime: str = "native"
    start: tuple[str, ...] = ("./{program}",)
    program_ending: str = ""


class _Languages(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    built: dict[str, SourceLanguage]
    not_built: dict[str, tuple[str, ...]]


_LANGUAGES = _Languages.model_validate(tomllib.loads(Path(__file__).with_name("languages.toml").read_text()))
LANGUAGES = _LANGUAGES.built
MAKEFILES = LANGUAGES["make"].marks

if TYPE_CHECKING:
    Kind = str
else:
    Kind = Literal[tuple(LANGUAGES)]

NOT_BUILT = sentence(f"no source that is built here ({', '.join(LANGUAGES)}): send a program instead")
_MAX_READ_BYTES = 1 << 20
"""Limit per file."""
_MAX_SEARCHED_BYTES = 8 << 20
"""Limit for the main file."""
SIDE_FOLDERS = frozenset(
    {
        *("test", "tests", "testing", "unittest", "unittests", "spec", "bench", "benchmark", "benchmarks", "perf"),
        *("tool", "tools", "script", "scripts", "util", "utils", "contrib", "misc", "old", "attic", "backup"),
        *("example", "examples", "sample", "samples", "demo", "demos", "doc", "docs", "training", "tuning"),
    }
)
"""Left out if the build fails with them."""
_MAIN = re.compile(r"\bstatic\s+(?:final\s+)?void\s+main\s*\(")
_CRATES = ("dependencies", "build-dependencies", "dev-dependencies")
_CALLS_CARGO = re.compile(r"(?m)^(?:\t.*|[ \t]*\w+[ \t]*[:?]{0,2}=[ \t]*)\bcargo\b")
"""A command with cargo, or `CARGO = cargo`."""
_GO_REQUIRES = re.compile(r"(?m)^[ \t]*require\b")
_EXECUTABLE = re.compile(r"(?i)\badd_executable\s*\(\s*([\w.$\{\}-]+)")
_PROJECT_NAME = re.compile(r"\$\{(?:CMAKE_)?PROJECT_NAME\}")
_PROJECT = re.compile(r"(?i)\bproject\s*\(\s*([\w.-]+)")
_GO_MAIN = re.compile(r"(?m)^package[ \t]+main\b")
_MODULE = re.compile(r"<module>\s*([^<]{1,200}?)\s*</module>")
_MAIN_JAVA, _MAIN_RESOURCES = "src/main/java", "src/main/resources"
"""Program folders in Maven and Gradle."""
_PACKAGE = re.compile(r"(?m)^[ \t]*package[ \t]+([A-Za-z_][\w.]*)[ \t]*;")


class BuildTable(BaseModel):
    """`[build]` of an agent.toml: how to build the agent from its sources."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind | None = None
    """None: detected from the files."""
    main: str = ""
    """The main program: a file (rust, python, pascal, javascript), a class (java), a package (go), or one of several
    programs (cargo, cmake). Empty: the language's default.
    """
    flags: tuple[str, ...] = ()
    """Additional words for the compiler (`-std=c++20`), make (a target, `CXX=g++`), cmake (`-DNAME=VALUE`) or cargo."""


@dataclass(frozen=True, slots=True)
class BuildRecipe:
    """Commands, and missing agent.toml lines."""

    kind: Kind
    commands: tuple[tuple[str, ...], ...]
    manifest: str = ""
    fallbacks: tuple[tuple[tuple[str, ...], ...], ...] = ()
    """Alternatives with fewer sources."""

    def __str__(self) -> str:
        """All that determines the build, on one line."""
        fallbacks = {"fallbacks": self.fallbacks} if self.fallbacks else {}
        return json.dumps({"kind": self.kind, "commands": self.commands, "manifest": self.manifest, **fallbacks})


@dataclass(frozen=True, slots=True)
class Sources:
    """`command` is empty if none is given."""

    tree: Path
    name: str
    command: tuple[str, ...] = ()
    table: BuildTable | None = None
    said: frozenset[str] = frozenset()
    """Keys in its agent.toml."""

    def files(self, kind: Kind) -> list[str]:
        """As command words, ordered by name."""
        endings = LANGUAGES[kind].endings
        found = (path for path in own_paths(self.tree) if path.suffix.lower() in endings)
        return sorted(f"./{path.relative_to(self.tree).as_posix()}" for path in found if path.is_file())

    @property
    def program(self) -> str:
        first = self.command[0] if self.command else ""
        return first.removeprefix("./") if first.startswith("./") else self.name

    @property
    def flags(self) -> tuple[str, ...]:
        return self.table.flags if self.table else ()

    @property
    def main(self) -> str:
        return self.table.main if self.table else ""

    def manifest(self, runtime: str, *command: str) -> str:
        """The lines that an agent.toml without a command lacks."""
        if self.command:
            return ""
        words = ", ".join(map(json.dumps, command))
        lines = {"name": json.dumps(self.name), "command": f"[{words}]", "runtime": json.dumps(runtime)}
        return "".join(f"{key} = {value}\n" for key, value in lines.items() if key not in self.said)


def is_built(name: str) -> bool:
    """Such a file can start a build."""
    return any(name in each.marks or Path(name).suffix.lower() in each.endings for each in LANGUAGES.values())


def language_of(source: Path) -> str:
    """Unsupported languages of the files, or ""."""
    paths = own_paths(source) if source.is_dir() else iter([source])
    endings = {path.suffix.lower() for path in paths}
    return " and ".join(name for name, own in _LANGUAGES.not_built.items() if endings & {*own})


def recipe_for(sources: Sources) -> BuildRecipe | None:
    """None if no build is needed. Raises InputError with the fix."""
    if sources.table is None and sources.command and not _is_missing(sources):
        return None
    kind = (sources.table.kind if sources.table else None) or _kind_of(sources)
    if sources.table is not None and kind is None:
        raise InputError(sentence(f"[build] of agent.toml: there is {NOT_BUILT}"))
    return _RULES.get(kind, partial(_build, kind=kind))(sources) if kind else None


def _is_missing(sources: Sources) -> bool:
    first = sources.command[0]
    if first == "java":
        if any(sources.tree.rglob("*.class")):
            return False
        # .jar files do not suffice if the tree has the source of the main class.
        sent = {file.removesuffix(".java").replace("/", ".") for file in sources.files("java")}
        begins = any(source.endswith(f".{word}") for source in sent for word in sources.command[1:] if word)
        return begins or not any(sources.tree.rglob("*.jar"))
    if first == "mono":
        return not any(sources.tree.rglob("*.exe"))
    return first.startswith("./") and not is_file(sources.tree / first)


def _kind_of(sources: Sources) -> Kind | None:
    marked = {
        kind: mark
        for kind, language in LANGUAGES.items()
        for mark in reversed(language.marks)
        if (sources.tree / mark).is_file()
    }
    if "cargo" in marked and "make" in marked and _CALLS_CARGO.search(_read(sources.tree / marked["make"])):
        return "cargo"  # make's image has no cargo
    if marked:
        return next(iter(marked))
    by_kind = {kind: sources.files(kind) for kind in LANGUAGES}
    if any(not _is_aside(file) for files in by_kind.values() for file in files):
        by_kind = {kind: [file for file in files if not _is_aside(file)] for kind, files in by_kind.items()}
    for rank in sorted({language.rank for language in LANGUAGES.values()} - {0}):
        found = [kind for kind, language in LANGUAGES.items() if language.rank == rank and by_kind[kind]]
        found = [kind for kind in found if not any(kind in LANGUAGES[other].also for other in found)]
        at_top = [kind for kind in found if any(file.count("/") == 1 for file in by_kind[kind])]
        found = at_top if len(at_top) == 1 else found
        if len(found) > 1:
            raise InputError(
                sentence(
                    f"there are sources of {' and '.join(found)}: choose one in agent.toml, "
                    f'[build] kind = "{found[0]}", or add a Makefile'
                )
            )
        if found:
            return found[0]
    return None


def _is_aside(file: str) -> bool:
    return not SIDE_FOLDERS.isdisjoint(part.lower() for part in file.split("/")[1:-1])


def _selections(sources: Sources, files: Sequence[str], begins: str, tests: str) -> Iterator[Sequence[str]]:
    """Smaller ones: without tests and tools, which often have a `main`, then with a single main program."""
    own = [file for file in files if not _is_aside(file)] or list(files)
    if tests:
        tested = {file for file, text in _texts(sources, own) if re.search(tests, text)}
        own = [file for file in own if file not in tested] or own
    if len(own) < len(files):
        yield own
    starts = [file for file, text in _texts(sources, own) if re.search(begins, text)] if begins else []
    if len(starts) > 1 and (main := _likeliest(sources, starts)):
        yield [file for file in own if file == main or file not in starts]


def _likeliest(sources: Sources, files: Sequence[str]) -> str:
    """The file named like the program or `main`, or the topmost one; "" if unclear."""
    for stem in (Path(sources.main).stem, Path(sources.program).stem, sources.name, "main"):
        if len(named := [file for file in files if stem and Path(file).stem.lower() == stem.lower()]) == 1:
            return named[0]
    top = min(file.count("/") for file in files)
    above = [file for file in files if file.count("/") == top]
    return above[0] if len(above) == 1 else ""


def _texts(sources: Sources, files: Sequence[str]) -> Iterator[tuple[str, str]]:
    left = _MAX_SEARCHED_BYTES
    for file in files:
        text = _read(sources.tree / file)
        left -= len(text)
        if left < 0:
            return
        yield file, text


def _build(
    sources: Sources, kind: Kind, files: Sequence[str] | None = None, main: str = "", **values: str | Sequence[str]
) -> BuildRecipe:
    """`files` and `values` replace their names in braces."""
    language = LANGUAGES[kind]
    if files is None:
        files = _needed(sources, kind)
        if language.mains:
            main = _main(sources, kind, files, is_needed=not sources.command)
    known = {"flags": sources.flags, "program": _program(sources, language), "main": main, **_PLACES, **values}

    def commands(some: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        return tuple(_filled(words, {**known, "files": some}) for words in language.commands)

    fewer = (
        _selections(sources, files, language.begins, language.tests)
        if any("{files}" in words for words in language.commands)
        else ()
    )
    manifest = sources.manifest(language.runtime, *_filled(language.start, known)) if language.start else ""
    return BuildRecipe(kind, commands(files), manifest, tuple(map(commands, fewer)))


_PLACES = {"scratch": SCRATCH, "tree": AT, "judge": f"{PROGRAM}/judge"}


def _filled(words: Sequence[str], values: Mapping[str, str | Sequence[str]]) -> tuple[str, ...]:
    filled: list[str] = []
    for word in words:
        value = values.get(word[1:-1])
        filled += [word.format_map(values)] if value is None or isinstance(value, str) else value
    return tuple(filled)


def _program(sources: Sources, language: SourceLanguage) -> str:
    runner = language.start[:-1]
    words = sources.command[len(runner) :]
    if sources.command[: len(runner)] == runner and words and (runner or words[0].startswith("./")):
        return words[0].removeprefix("./")
    is_taken = is_directory(sources.tree / f"{sources.name}{language.program_ending}")
    return f"{sources.name}{'.bin' if is_taken else ''}{language.program_ending}"


def _main(sources: Sources, kind: Kind, files: Sequence[str], *, is_needed: bool) -> str:
    mains = LANGUAGES[kind].mains
    usual = [name for name in mains if (sources.tree / name).is_file()]
    main = sources.main or next(iter([*usual, *(files if len(files) == 1 else [])]), "")
    if not main and is_needed:
        raise InputError(sentence(f'{mains[0]} is missing: name the main program in agent.toml, [build] main = "…"'))
    return _inside(sources, main) if main else ""


def _cmake(sources: Sources) -> BuildRecipe:
    _needed(sources, "cmake")
    program = sources.main
    if not program:
        text = _read(sources.tree / "CMakeLists.txt")
        project = _PROJECT.search(text)
        names = [_PROJECT_NAME.sub(project[1] if project else "", name) for name in _EXECUTABLE.findall(text)]
        # A name with $ is computed.
        program = names[0] if len(names) == 1 and "$" not in names[0] else ""
    recipe = _build(sources, "cmake", (), program)
    return recipe if program else replace(recipe, manifest="")


def _go(sources: Sources) -> BuildRecipe:
    is_module = (sources.tree / "go.mod").is_file()
    if is_module and _GO_REQUIRES.search(_read(sources.tree / "go.mod")) and not _has_vendor(sources):
        raise InputError(
            sentence("go.mod requires modules, and there is no network: run `go mod vendor`, and send vendor/ too")
        )
    files = [file for file in sources.files("go") if not file.endswith("_test.go") and not file.startswith("./vendor/")]
    main = f"./{sources.main.removeprefix('./')}" if sources.main else _go_main(sources, files)
    if is_module:
        return _build(sources, "go", [main])
    _needed(sources, "go")
    return _build(sources, "go", [file for file in files if file.rpartition("/")[0] == main] or files)


def _go_main(sources: Sources, files: Sequence[str]) -> str:
    mains = {file.rpartition("/")[0] for file, text in _texts(sources, files) if _GO_MAIN.search(text)}
    mains = {folder for folder in mains if not _is_aside(f"{folder}/")} or mains
    if "." in mains or not mains:
        return "."
    if len(mains) > 1:
        found = sorted(mains)
        raise InputError(
            sentence(
                f"{len(found)} folders have a package main, {', '.join(found[:5])}: name the program in agent.toml, "
                f'[build] main = "{found[0]}"'
            )
        )
    return mains.pop()


def _cargo(sources: Sources) -> BuildRecipe:
    """A package with crates in vendor/."""
    _needed(sources, "cargo")
    cargo = _cargo_file(sources.tree)
    package = cargo.get("package")
    if not isinstance(package, dict):
        package = {"name": sources.main or _workspace_program(sources.tree)}
    if _has_far_crates(cargo) and not _has_vendor(sources):
        raise InputError(
            sentence("Cargo.toml has dependencies, and there is no network: run `cargo vendor`, and send vendor/ too")
        )
    bins = [str(each.get("name", "")) for each in cargo.get("bin", ()) if isinstance(each, dict)]
    name = sources.main or (bins[0] if len(bins) == 1 else str(package.get("name", "")))
    if not re.fullmatch(r"[\w-]+", name):
        raise InputError(
            sentence(f'Cargo.toml, package.name {quote(name, 40)}: name the program, [build] main = "…" in agent.toml')
        )
    vendor = (
        ("--config", 'source.crates-io.replace-with="sent"', "--config", 'source.sent.directory="vendor"')
        if _has_vendor(sources)
        else ()
    )
    return _build(sources, "cargo", (), name, vendor=vendor, target=f"{platform.machine()}-unknown-linux-gnu")


def _workspace_program(tree: Path) -> str:
    found = []
    for file in sorted(path for path in own_paths(tree) if path.name == "Cargo.toml" and path.parent != tree):
        package = parse_toml(file.relative_to(tree), _read(file)).get("package")
        if isinstance(package, dict) and (file.parent / "src" / "main.rs").is_file():
            found.append(str(package.get("name", "")))
    if len(found) == 1:
        return found[0]
    if not found:
        raise InputError(sentence("Cargo.toml has no [package], and no package of the workspace has a src/main.rs"))
    raise InputError(
        sentence(
            f"the workspace has the programs {', '.join(map(quote, found[:5]))}: name one in agent.toml, "
            f"[build] main = {json.dumps(found[0])}"
        )
    )


def _has_far_crates(cargo: dict[str, Any]) -> bool:
    places = [cargo, *(table for table in _values(cargo.get("target")) if isinstance(table, dict))]
    wanted = [place.get(key) for place in places for key in _CRATES]
    return any("path" not in crate if isinstance(crate, dict) else True for table in wanted for crate in _values(table))


def _values(value: object) -> list[Any]:
    return [*value.values()] if isinstance(value, dict) else []


def _has_vendor(sources: Sources) -> bool:
    return (sources.tree / "vendor").is_dir()


def _pascal(sources: Sources) -> BuildRecipe:
    files = _needed(sources, "pascal")
    programs = [file for file, text in _texts(sources, files) if re.search(LANGUAGES["pascal"].begins, text)]
    programs = [file for file in programs if not _is_aside(file)] or programs
    main = sources.main or (_likeliest(sources, programs) if programs else "")
    if not main:
        raise InputError(
            sentence(f'{len(programs)} files could be the main program: name one in agent.toml, [build] main = "…"')
        )
    return _build(sources, "pascal", (), _inside(sources, main))


def _rust(sources: Sources) -> BuildRecipe:
    edition = _edition(sources.tree)
    files = _needed(sources, "rust")
    return _build(sources, "rust", (), _main(sources, "rust", files, is_needed=True), edition=edition)


def _edition(tree: Path) -> str:
    if not (tree / "Cargo.toml").is_file():
        return "2021"
    cargo = _cargo_file(tree)
    package = cargo.get("package")
    package = package if isinstance(package, dict) else {}
    if cargo.get("dependencies") or cargo.get("build-dependencies"):
        raise InputError(sentence('Cargo.toml has dependencies, which only Cargo supports: set kind = "cargo"'))
    if package.get("build") or (tree / "build.rs").is_file():
        raise InputError(sentence('only Cargo runs build.rs: set kind = "cargo"'))
    edition = str(package.get("edition", "2015"))
    if edition not in ("2015", "2018", "2021"):
        raise InputError(sentence(f"Cargo.toml, package.edition {edition[:20]!r}: there are 2015, 2018 and 2021"))
    return edition


def _cargo_file(tree: Path) -> dict[str, Any]:
    return parse_toml(Path("Cargo.toml"), _read(tree / "Cargo.toml"))


def _java(sources: Sources) -> BuildRecipe:
    """All classes and submitted .jar files are on one path; of Maven's and Gradle's layout, only the program.

    Annotation processors are in .jar files; without any, javac must not search.
    """
    files = _needed(sources, "java")
    if (sources.tree / _MAIN_JAVA).is_dir():
        files = [file for file in files if file.startswith(f"./{_MAIN_JAVA}/")] or files
    files = [file for file in files if Path(file).name != "module-info.java"] or files
    found = (path.relative_to(sources.tree) for path in sources.tree.rglob("*.jar") if path.is_file())
    # Maven and Gradle start from .jar files in a folder named wrapper.
    jars = sorted(path.as_posix() for path in found if "wrapper" not in path.parts and ":" not in path.as_posix())
    resources = [_MAIN_RESOURCES] if (sources.tree / _MAIN_RESOURCES).is_dir() else []
    path = ":".join([".", *resources, *jars])
    needs = ("-cp", path) if jars else ("-proc:none",)
    main = sources.main or ("" if sources.command else _main_class(sources, files))
    return _build(sources, "java", files, main, needs=needs, path=path)


def _maven(sources: Sources) -> BuildRecipe:
    """One module. Maven copies the libraries next to its classes."""
    _needed(sources, "maven")
    files = [file for file in sources.files("java") if file.startswith(f"./{_MAIN_JAVA}/")]
    if modules := _MODULE.findall(_read(sources.tree / "pom.xml")):
        raise InputError(
            sentence(
                f"pom.xml has the modules {', '.join(map(quote, modules[:5]))}, and a project of one module is built: "
                'set in agent.toml [build] kind = "java", which compiles the sources of all together'
            )
        )
    main = sources.main or ("" if sources.command else _main_class(sources, files))
    has_libraries = "<dependency>" in _read(sources.tree / "pom.xml")
    path = "./target/classes:target/dependency/*" if has_libraries else "./target/classes"
    recipe = _build(sources, "maven", (), main, path=path)
    return recipe if has_libraries else replace(recipe, commands=recipe.commands[:1])


def _main_class(sources: Sources, files: list[str]) -> str:
    found = {}
    own = [file for file in files if not _is_aside(file)] or files
    for file, text in _texts(sources, own):
        if _MAIN.search(text):
            package = _PACKAGE.search(text)
            found[f"{package[1]}.{Path(file).stem}" if package else Path(file).stem] = file
    if "Main" in found or len(found) == 1:
        return "Main" if "Main" in found else next(iter(found))
    what = f"{len(found)} classes have a main method" if found else "no class has a main method"
    raise InputError(sentence(f'{what}: name the main program in agent.toml, [build] main = "…"'))


def _cs(sources: Sources) -> BuildRecipe:
    """Attributes of an assembly may occur once."""
    files = [file for file in _needed(sources, "c#") if not file.endswith(("AssemblyInfo.cs", "AssemblyAttributes.cs"))]
    return _build(sources, "c#", files)


def _python(sources: Sources) -> BuildRecipe:
    """Only the syntax is checked."""
    files = _needed(sources, "python")
    files = [file for file in files if not _is_aside(file)] or files
    main = _main(sources, "python", files, is_needed=not sources.command)
    if main and (words := python_words(sources.tree / main))[0] == "python2":
        # No image has a Python 2 compiler.
        return BuildRecipe("python", (), sources.manifest("python2", *words, main))
    begins = main or next((word for word in sources.command[1:] if f"./{word.removeprefix('./')}" in files), "")
    recipe = _build(sources, "python", (), begins.removeprefix("./"))
    return recipe if begins else replace(recipe, commands=())


_RULES: dict[Kind, Callable[[Sources], BuildRecipe]] = {
    "rust": _rust,
    "java": _java,
    "python": _python,
    "cmake": _cmake,
    "cargo": _cargo,
    "go": _go,
    "c#": _cs,
    "maven": _maven,
    "pascal": _pascal,
}


def _needed(sources: Sources, kind: Kind) -> list[str]:
    language = LANGUAGES[kind]
    required = (kind,) if language.endings else language.also
    if required and not any(map(sources.files, required)):
        endings = " or ".join(ending for own in required for ending in LANGUAGES[own].endings)
        raise InputError(sentence(f'agent.toml: build.kind = "{kind}", but there is no file that ends in {endings}'))
    if not required and not any((sources.tree / mark).is_file() for mark in language.marks):
        raise InputError(
            sentence(f'agent.toml: build.kind = "{kind}", but there is no {language.marks[-1]} at the top')
        )
    return [file for own in (kind, *language.also) for file in sources.files(own)]


def _inside(sources: Sources, main: str) -> str:
    names = {file.removeprefix("./") for kind in LANGUAGES for file in sources.files(kind)}
    main = main.removeprefix("./")
    same = [name for name in names if folded(name) == folded(main)]
    if main not in names and len(same) == 1:
        if unicodedata.normalize("NFC", same[0]) != unicodedata.normalize("NFC", main):
            raise InputError(
                sentence(
                    f"agent.toml: build.main = {quote(main, 80)}: names differ in case: write {quote(same[0], 80)}"
                )
            )
        main = same[0]
    if main not in names:
        raise InputError(sentence(f"agent.toml: build.main = {quote(main, 80)} is no source file of the tree"))
    return main


def _read(path: Path) -> str:
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        return file.read(_MAX_READ_BYTES)
